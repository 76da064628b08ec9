//! Tests semantic search with the built-in model, and what happens to vectors.

use weir_core::{EntryKind, Limits, NewEntry, Query};
use weir_embed::{Embed, EmbedError};
use weir_store::{Findings, Store};

use crate::semantic::{self, embed_all, embed_some, model};
use crate::support::{
    NOW, assert_healthy, at, day, entry, forget, here, keep, keep_at, new_store, note, note_on, open, references, run,
    these,
};

fn ask(store: &mut Store, text: &str, limit: usize) -> Findings {
    ask_by(model(), store, text, limit)
}

fn ask_by(model: &dyn Embed, store: &mut Store, text: &str, limit: usize) -> Findings {
    semantic::search(store, model, &query(text, limit)).unwrap()
}

fn ask_for_words(store: &mut Store, text: &str, limit: usize) -> Findings {
    store.search(&here(), &query(text, limit)).unwrap()
}

fn query(text: &str, limit: usize) -> Query {
    Query { now: Some(day(1)), ..Query::new(text, limit) }
}

const TEXTS: [&str; 5] = [
    "The database pool is limited to sixteen connections.",
    "Deployments to production happen on Tuesdays.",
    "Images are resized before they are uploaded.",
    "The invoice template is written in German.",
    "Passwords are hashed with argon2.",
];

#[test]
fn what_shares_no_word_is_found_by_meaning_and_says_so() {
    let (_folder, mut store) = new_store();
    let kept: Vec<_> = TEXTS.iter().map(|text| keep(&mut store, note(text)).reference).collect();
    embed_all(&mut store, model());
    for (question, expected) in [("releasing software", 1), ("scale pictures", 2), ("credential encryption", 4)] {
        let found = ask(&mut store, question, 1);
        assert_eq!(references(&found.hits), [kept[expected]], "{question}");
        assert!(found.hits[0].by_meaning, "{question}: {:?}", found.hits[0]);
    }
    let by_word = ask(&mut store, "argon2", 1);
    assert!(!by_word.hits[0].by_meaning);
}

#[test]
fn without_a_model_words_alone_decide_and_without_vectors_it_is_said() {
    let (_folder, mut store) = new_store();
    for text in TEXTS {
        keep(&mut store, note(text));
    }
    assert!(ask_for_words(&mut store, "releasing software", 5).hits.is_empty());
    let found = ask(&mut store, "production", 5);
    assert_eq!((found.hits.len(), found.without_vectors), (1, TEXTS.len() as u64));
    embed_all(&mut store, model());
    assert_eq!(ask(&mut store, "production", 5).without_vectors, 0);
}

/// Small rows are merged into larger ones, and every vector is still in its place.
#[test]
fn vectors_are_found_however_they_came_in() {
    let (_folder, mut one_by_one) = new_store();
    let (_folder, mut at_once) = new_store();
    for n in 0..70 {
        let text = format!("{} number {n} of {}", TEXTS[n % 5], n * 7);
        keep(&mut one_by_one, run(&text));
        keep(&mut at_once, run(&text));
        assert_eq!(embed_some(&mut one_by_one, model(), 1_000).unwrap(), 0);
    }
    embed_all(&mut at_once, model());
    for question in ["resize pictures", "number 13 of 91", "images scaled"] {
        let show = |store: &mut Store| -> Vec<(String, u64)> {
            let hits = ask(store, question, 70).hits.into_iter();
            hits.map(|hit| (hit.excerpt, hit.score.to_bits())).collect()
        };
        let found = show(&mut one_by_one);
        assert!(found.len() >= 10, "{question}: {}", found.len());
        assert_eq!(found, show(&mut at_once), "{question}");
    }
    assert_healthy(&mut one_by_one);
}

#[test]
fn forgetting_takes_the_vector_and_later_ones_stay() {
    let (folder, mut store) = new_store();
    let kept: Vec<_> = TEXTS.iter().map(|text| keep(&mut store, note(text)).reference).collect();
    embed_all(&mut store, model());
    let done = forget(&mut store, &these(&kept[1..2]));
    assert!(done.remaining.contains(&("vectors", 0)), "{done:?}");
    assert!(
        ask(&mut store, "releasing software to production", 5).hits.iter().all(|hit| hit.entry.reference != kept[1])
    );
    assert_eq!(references(&ask(&mut store, "scale pictures", 1).hits), [kept[2]]);
    // The newest entry is removed, and the one after it has a vector of its own.
    forget(&mut store, &these(&kept[4..]));
    let new = keep(&mut store, note("The logo is blue.")).reference;
    embed_all(&mut store, model());
    drop(store);
    let mut store = open(folder.path());
    assert_eq!(references(&ask(&mut store, "colour of the emblem", 1).hits), [new]);
}

#[test]
fn nothing_is_said_to_wait_for_vectors_once_it_is_gone() {
    let (_folder, mut store) = new_store();
    keep(&mut store, note(TEXTS[0]));
    embed_all(&mut store, model());
    let gone = keep(&mut store, note(TEXTS[1])).reference;
    forget(&mut store, &these(&[gone]));
    embed_all(&mut store, model());
    assert_eq!(ask(&mut store, "database", 5).without_vectors, 0);
}

#[test]
fn rebuilding_makes_the_vectors_again() {
    let (_folder, mut store) = new_store();
    TEXTS.iter().for_each(|text| drop(keep(&mut store, note(text))));
    embed_all(&mut store, model());
    let before = ask(&mut store, "releasing software", 3);
    store.rebuild_index(|_| ()).unwrap();
    assert!(ask(&mut store, "releasing software", 3).without_vectors > 0);
    embed_all(&mut store, model());
    assert_eq!(ask(&mut store, "releasing software", 3), before);
}

/// A model with two numbers that may fail, to check that a store works with any model.
struct Tiny {
    name: &'static str,
    fails: bool,
}

impl Embed for Tiny {
    fn name(&self) -> &str {
        self.name
    }

    fn width(&self) -> usize {
        2
    }

    fn is_quick(&self) -> bool {
        false
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        if self.fails {
            return Err(EmbedError::Unanswered("no answer".into()));
        }
        Ok(texts.iter().map(|text| Some(if text.contains("blue") { vec![1.0, 0.0] } else { vec![0.0, 1.0] })).collect())
    }
}

#[test]
fn another_model_begins_again_and_a_failing_one_leaves_words() {
    let (_folder, mut store) = new_store();
    let blue = keep(&mut store, note("The logo is blue.")).reference;
    keep(&mut store, note("Nothing of that kind."));
    embed_all(&mut store, model());
    let tiny = Tiny { name: "tiny", fails: false };
    let found = ask_by(&tiny, &mut store, "blue", 2);
    assert_eq!(found.without_vectors, 0, "the vectors of another model do not count as missing");
    embed_all(&mut store, &tiny);
    assert_eq!(references(&ask_by(&tiny, &mut store, "blueish", 1).hits), [blue]);
    let failing = Tiny { name: "other", fails: true };
    assert!(embed_some(&mut store, &failing, 10).is_err());
    assert_eq!(references(&ask_by(&failing, &mut store, "logo", 5).hits), [blue]);
}

#[test]
fn documents_are_not_ordered_by_when_they_were_indexed() {
    let (_folder, mut store) = new_store();
    let text = |word: &str| format!("The office wifi password is changed every {word}.");
    let old = keep_at(&mut store, entry(EntryKind::Document, text("month")), NOW).reference;
    keep_at(&mut store, entry(EntryKind::Document, text("week")), at(10));
    embed_all(&mut store, model());
    let hits = ask(&mut store, "wifi password every month", 2).hits;
    assert_eq!(hits[0].entry.reference, old);
}

#[test]
fn of_equals_the_more_recent_goes_first_when_the_time_is_known() {
    let (_folder, mut store) = new_store();
    let old = keep_at(&mut store, run("the needle is here, says one"), NOW).reference;
    let new = keep_at(&mut store, run("the needle is here, says two"), day(60)).reference;
    let mut find = |now| references(&store.search(&here(), &Query { now, ..Query::new("needle", 5) }).unwrap().hits);
    assert_eq!(find(Some(day(61))), [new, old]);
    assert_eq!(find(None), [old, new]);
}

#[test]
fn a_misspelt_word_is_corrected_also_beside_correct_ones() {
    let (_folder, mut store) = new_store();
    let kept = keep(&mut store, note_on("pool", "The connection pool is exhausted under load")).reference;
    keep(&mut store, note("The load of the laundry"));
    for (question, written, meant) in [
        ("conection pool", "conection", "connection"),       // typos: allow
        ("exhuasted", "exhuasted", "exhausted"),             // typos: allow
        ("conncetion exhaustd", "conncetion", "connection"), // typos: allow
        ("pol exhausted under load", "", ""),
    ] {
        let found = ask_for_words(&mut store, question, 1);
        assert_eq!(references(&found.hits), [kept], "{question}");
        let corrected = found.corrected.iter().any(|pair| *pair == (written.into(), meant.into()));
        assert!(written.is_empty() || corrected, "{question}: {:?}", found.corrected);
    }
    let found = ask_for_words(&mut store, "qzxvw load", 5);
    assert_eq!((found.unknown.as_slice(), found.corrected.len()), (&["qzxvw".to_owned()][..], 0));
    assert!(ask_for_words(&mut store, "connection", 5).corrected.is_empty(), "what is known is not corrected");
}

/// A word is forgotten with its last text, even by another process, and learnt again when it returns.
#[test]
fn words_that_come_again_after_forgetting_are_found_by_a_part() {
    let (folder, mut store) = new_store();
    let mut other = open(folder.path());
    let parts = |store: &mut Store| references(&ask_for_words(store, "onnectio", 5).hits).len();
    for forgets_itself in [true, false] {
        let kept = keep(&mut store, note("the connection")).reference;
        assert_eq!(parts(&mut store), 1);
        forget(if forgets_itself { &mut store } else { &mut other }, &these(&[kept]));
        assert_eq!(parts(&mut store), 0);
        let again = keep(&mut store, note("the connection again")).reference;
        assert_eq!(parts(&mut store), 1, "forgets itself: {forgets_itself}");
        forget(&mut store, &these(&[again]));
    }
    let everything = weir_store::Selection { everything: true, ..Default::default() };
    keep(&mut store, note("the connection"));
    forget(&mut store, &everything);
    keep(&mut store, note("the connection"));
    assert_eq!(parts(&mut store), 1);
}

#[test]
fn the_same_text_again_goes_below_what_is_new() {
    let (_folder, mut store) = new_store();
    for n in 0..5 {
        keep_at(&mut store, run("error: the needle broke"), at(n));
    }
    let other = keep_at(&mut store, run("a longer text about something else that has a needle in it"), at(9)).reference;
    let hits = ask_for_words(&mut store, "needle", 6).hits;
    assert_eq!((hits.len(), hits[0].also.len()), (2, 4), "nothing is hidden");
    assert_eq!(hits[1].entry.reference, other);
}

#[test]
fn a_source_stands_for_what_is_below_it() {
    let (_folder, mut store) = new_store();
    for source in ["docs", "docs/a.md", "docs/deep/b.md", "docs-old/c.md", "doc", "docs0"] {
        let entry = NewEntry { source: Some(source.into()), ..entry(EntryKind::Document, format!("needle {source}")) };
        keep(&mut store, entry);
    }
    for source in ["docs", "docs/"] {
        let query = Query { source: Some(source.into()), ..Query::new("needle", 10) };
        let hits = store.search(&here(), &query).unwrap().hits;
        let mut found: Vec<_> = hits.into_iter().filter_map(|hit| hit.entry.source).collect();
        found.sort();
        assert_eq!(found, ["docs", "docs/a.md", "docs/deep/b.md"]);
    }
    assert!(Limits::default().quota_bytes > 0);
}
