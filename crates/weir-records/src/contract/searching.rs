//! Properties of searching.

use proptest::prelude::any;

use super::*;

/// Any word may match, more words rank higher, and every filter holds.
pub fn words_are_found_within_filters(new: NewShelf<'_>) {
    let shelf = new();
    let given = |kind, source: &str, text: &str| NewRecord {
        source: Some(source.into()),
        ..NewRecord::new(kind, Audience::Team, "plain", text)
    };
    let early = shelf.keep(&ana(), given(EntryKind::Note, "src/db/pool.rs", "alpha beta"), Timestamp(NOW.0 - 5_000));
    let early = early.unwrap().id;
    let late = shelf.keep(&ben(), given(EntryKind::Document, "src/db.rs", "alpha gammaray"), NOW).unwrap().id;
    let search = |query: SearchQuery| -> Vec<_> {
        shelf.search(&ana(), &query).unwrap().hits.iter().map(|hit| hit.kept.record.id).collect()
    };
    let alpha = || SearchQuery::new("alpha", 10);
    let sorted = |mut ids: Vec<crate::RecordId>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(search(alpha())), sorted(vec![early, late]));
    assert_eq!(search(SearchQuery::new("alpha beta unknown", 10))[0], early);
    assert_eq!(search(SearchQuery::new("\"alpha gammaray\"", 10)), [late]);
    assert_eq!(search(SearchQuery::new("gamma*", 10)), [late]);
    assert_eq!(search(SearchQuery::new("plain", 1)).len(), 1);
    assert_eq!(search(SearchQuery::new("delta", 10)), []);
    assert_eq!(search(SearchQuery::new("alpha", 0)), []);
    assert_eq!(search(SearchQuery { kind: Some(EntryKind::Note), ..alpha() }), [early]);
    assert_eq!(search(SearchQuery { author: Some(ben().user), ..alpha() }), [late]);
    assert_eq!(search(SearchQuery { since: Some(Timestamp(NOW.0 - 1)), ..alpha() }), [late]);
    for folder in ["src/db", "src/db/", "src/db/pool.rs"] {
        assert_eq!(search(SearchQuery { source: Some(folder.into()), ..alpha() }), [early], "{folder}");
    }
    assert_eq!(search(SearchQuery { source: Some("src/d".into()), ..alpha() }), []);
    assert_eq!(search(SearchQuery { source: Some("%".into()), ..alpha() }), []);
}

/// Any text is a query: operators, quotes and bytes of the engine's syntax are only words, and words still match.
pub fn any_query_is_safe(new: NewShelf<'_>) {
    let shelf = new();
    let kept = keep(&shelf, &ana(), "a drop in the ocean");
    let hostile = [
        "", " ", "\"", "\"\"", "*", "a*b*", "NOT", "AND OR NOT", "NEAR(a b)", "body:x", "{body title}: x", "^x", "-x",
        "x + y", "'; DROP TABLE records; --", "\0", "\u{202e}", "%", "_", "\\", "((((", "🦀", "é", "検",
        "\" OR 1=1 --",
    ];
    for text in hostile {
        shelf.search(&ana(), &SearchQuery::new(text, 5)).unwrap();
        let hits = found(&shelf, &ana(), &format!("{text} ocean"));
        let first = hits.first().map(|record| record.id);
        // A quote that is open takes the word into its phrase.
        assert!(first == Some(kept.id) || text.contains('"'), "{text}");
    }
    let long = "ocean ".repeat(50_000);
    assert_eq!(found(&shelf, &ana(), &long).len(), 1);
    for_all(64, any::<String>(), |text| {
        let query = SearchQuery { source: Some(text.clone()), ..SearchQuery::new(text, 5) };
        shelf.search(&ana(), &query).unwrap();
    });
}

/// A query with a vector is answered, and the answer says whether the vector was used.
pub fn an_unused_vector_is_declared(new: NewShelf<'_>) {
    let shelf = new();
    let kept = keep(&shelf, &ana(), "by words");
    let query = SearchQuery { vector: Some(vec![0.5; 8]), ..SearchQuery::new("words", 5) };
    let with = shelf.search(&ana(), &query).unwrap();
    assert!(with.hits.iter().any(|hit| hit.kept.record.id == kept.id));
    let without = shelf.search(&ana(), &SearchQuery::new("words", 5)).unwrap();
    assert!(!without.used_vector);
    // A backend without vectors gives the same answer with one.
    assert!(with.used_vector || with.hits == without.hits);
}
