//! Tests which entries are found, in which order, and what is shown of them.

use weir_core::{EntryKind, Level, NewEntry, Query, Scope};
use weir_store::{Hit, Store};

use crate::support::{
    NOW, at, day, entry, here, keep, keep_at, new_store, noisy_word, note, note_on, open, references, run, scope_in,
    search, sweep,
};

/// Keeps each text as an entry of its own, and checks which are found, in this order.
fn check(texts: &[&str], query: &str, found: &[&str]) {
    let (_folder, mut store) = new_store();
    let titled = |text: &str| NewEntry { title: "untitled".into(), ..run(text) };
    let kept: Vec<_> = texts.iter().map(|text| keep(&mut store, titled(text)).reference).collect();
    let hits = search(&mut store, query);
    let text_of = |hit: &Hit| texts[kept.iter().position(|reference| *reference == hit.entry.reference).unwrap()];
    assert_eq!(hits.iter().map(text_of).collect::<Vec<_>>(), found, "searching for `{query}`");
}

/// Like [`check`], for entries identified by their titles, in any order.
fn check_titles(titles: &[&str], query: &str, found: &[&str]) {
    let (_folder, mut store) = new_store();
    for title in titles {
        keep(&mut store, NewEntry { title: (*title).into(), ..run(format!("text {}", titles.len())) });
    }
    let mut hits: Vec<String> = search(&mut store, query).into_iter().map(|hit| hit.entry.title).collect();
    hits.sort();
    let mut expected = found.to_vec();
    expected.sort_unstable();
    assert_eq!(hits, expected, "searching for `{query}`");
}

#[test]
fn many_outputs_with_the_same_passage_leave_room_for_others() {
    let (_folder, mut store) = new_store();
    for _ in 0..60 {
        keep(&mut store, run("pool exhausted"));
    }
    let other = format!("{} pool {}", "something else ".repeat(20), "entirely ".repeat(20));
    let other = keep(&mut store, run(other)).reference;
    let hits = store.search(&here(), &Query::new("pool exhausted", 5)).unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.also.len()).collect::<Vec<_>>(), [59, 0]);
    assert_eq!(hits[1].entry.reference, other);
}

#[test]
fn an_accent_is_found_however_it_is_encoded() {
    let (composed, decomposed) = ("a r\u{e9}sum\u{e9}", "a re\u{301}sume\u{301}");
    for (text, query) in [(composed, decomposed), (decomposed, composed), (decomposed, decomposed)] {
        check(&[text, "other"], query, &[text]);
    }
}

#[test]
fn korean_is_found_however_it_is_encoded() {
    let (composed, decomposed) = ("검색 기능", "\u{1100}\u{1165}\u{11b7}\u{1109}\u{1162}\u{11a8} 기능");
    for (text, query) in [(composed, decomposed), (decomposed, composed), (decomposed, decomposed)] {
        check(&[text, "other"], query, &[text]);
    }
    check(&[decomposed, "other"], "검색", &[decomposed]);
}

#[test]
fn all_terms_come_before_any_and_any_is_accepted() {
    let texts = ["the pool is large", "a timeout happened early", "the pool has a timeout", "nothing of it", "or this"];
    check(&texts, "pool timeout", &[texts[2], texts[0], texts[1]]);
    check(&texts, "pool unknownword", &[texts[0], texts[2]]);
    check(&texts, "unknownword another", &[]);
    // All of the words once, against one of them many times in a shorter text.
    check(
        &["pool pool pool pool", "this pool is the one that has a timeout", "no", "nor"],
        "timeout of the pool",
        &["this pool is the one that has a timeout", "pool pool pool pool"],
    );
}

#[test]
fn hyphens_quotes_and_operators_are_taken_as_written() {
    let texts = ["the dry-run mode", "run it when it is dry", "a dry martini"];
    check(&texts, "dry-run", &[texts[0], texts[1], texts[2]]);
    let texts = ["phrase that is not exact", "exact phrase here", "none of it"];
    check(&texts, "\"exact phrase\"", &[texts[1]]);
    check(&texts, "\"exact phrase", &[texts[1]]);
    // `NOT` is a word like any other, and the first text has it.
    check(&texts, "exact AND NOT phrase OR (", &[texts[0], texts[1]]);
    check(&["it's \"quoted\"", "other"], "it's \"quoted\"", &["it's \"quoted\""]);
}

#[test]
fn scripts_without_spaces_are_found_by_one_two_and_more_characters() {
    let texts = ["全文検索機能を実装する", "設定を変える"];
    for query in ["検索", "検索機能", "索", "検", "実装する", "全"] {
        check(&texts, query, &[texts[0]]);
    }
    check(&texts, "設定", &[texts[1]]);
    check(&["接続プールの大きさ", "other"], "プール", &["接続プールの大きさ"]);
    check(&["연결 풀의 크기", "other"], "연결", &["연결 풀의 크기"]);
    check(&["Rust検索engine", "other"], "検索", &["Rust検索engine"]);
    for query in ["rust", "engine", "Rust 検索", "検索engine"] {
        check(&["Rust検索engine", "other"], query, &["Rust検索engine"]);
    }
    check(&["调用parseUrl函数", "other"], "url", &["调用parseUrl函数"]);
    // Thai: a word with a tone mark within a sentence.
    let thai = "ระบบค\u{e49}นหาไฟล\u{e4c}";
    check(&[thai, "other"], "ค\u{e49}นหา", &[thai]);
    check(&texts, "ない", &[]);
}

#[test]
fn titles_are_searched_like_texts() {
    let titles = ["検索機能", "parseHttpRequest failed", "Größe geändert", "cargo test -p weir"];
    check_titles(&titles, "検索", &[titles[0]]);
    check_titles(&titles, "索", &[titles[0]]);
    check_titles(&titles, "http", &[titles[1]]);
    check_titles(&titles, "grosse groesse grösse größe", &[titles[2]]);
    check_titles(&titles, "test", &[titles[3]]);
}

#[test]
fn names_are_found_by_their_parts() {
    let texts = ["fn parseHTTPRequest(input)", "let max_pool_size = 16;", "use src/index/search.rs:42 here"];
    for query in ["parse", "request", "http request", "parseHTTPRequest", "parsehttprequest", "ParseHttpRequest"] {
        check(&texts, query, &[texts[0]]);
    }
    for query in ["pool", "max_pool_size", "pool_size", "poolSize"] {
        check(&texts, query, &[texts[1]]);
    }
    for query in ["src/index/search.rs", "search.rs", "index/search", "search.rs:42"] {
        check(&texts, query, &[texts[2]]);
    }
}

#[test]
fn beginnings_and_insides_of_words_are_found() {
    let texts = ["a misconfiguration of the deployment", "nothing"];
    for query in ["deploy*", "misconf*", "configur", "ploymen", "PLOYMEN", "sconfigurat"] {
        check(&texts, query, &[texts[0]]);
    }
    check(&texts, "xploymen", &[]);
    // All three-letter pieces of the query are there, but not in this order.
    check(&["mnopq opqrs", "qrsmnop"], "mnopqrs", &[]);
}

#[test]
fn accents_case_and_forms_of_a_word_do_not_matter() {
    check(&["the café is naïve"], "cafe", &["the café is naïve"]);
    check(&["the cafe"], "CAFÉ", &["the cafe"]);
    check(&["cafe\u{301} decomposed"], "café", &["cafe\u{301} decomposed"]);
    check(&["connections were pooled"], "connection pooling", &["connections were pooled"]);
}

#[test]
fn limit_means_limit_for_entries_of_the_same_title() {
    let (_folder, mut store) = new_store();
    for n in 0..50 {
        keep(&mut store, NewEntry { title: "Configuration".into(), ..run(format!("option number {n}")) });
    }
    for limit in [0, 1, 2, 3, 10, 49, 50] {
        for query in ["configuration", "option", "onfigurat"] {
            let hits = store.search(&here(), &Query::new(query, limit)).unwrap().hits;
            assert_eq!((hits.len(), references(&hits).len()), (limit, limit), "`{query}`");
        }
    }
    assert_eq!(search(&mut store, "configuration").len(), 50);
}

#[test]
fn outputs_that_share_a_passage_are_one_hit_that_names_the_others() {
    let (_folder, mut store) = new_store();
    let log = |first: &str| format!("{first}\n\nfix: the needle is in the haystack again\n");
    let same = [1, 2, 3].map(|_| keep(&mut store, run(log("commit one"))).reference);
    let other = keep(&mut store, run("another needle")).reference;
    let notes = [1, 2].map(|_| keep(&mut store, note("a needle that was noted")).reference);
    let hits = store.search(&here(), &Query::new("needle", 10)).unwrap().hits;
    let shown = references(&hits);
    assert_eq!(shown.iter().filter(|reference| same.contains(reference)).count(), 1, "{hits:#?}");
    assert!(shown.contains(&other) && notes.iter().all(|note| shown.contains(note)), "{hits:#?}");
    let hit = hits.iter().find(|hit| same.contains(&hit.entry.reference)).unwrap();
    let mut all = hit.also.clone();
    all.push(hit.entry.reference);
    all.sort_unstable();
    let mut expected = same.to_vec();
    expected.sort_unstable();
    assert_eq!(all, expected);
    assert!(hits.iter().filter(|other| other.entry.reference != hit.entry.reference).all(|hit| hit.also.is_empty()));
}

#[test]
fn limit_means_limit_for_sections_of_one_entry() {
    let (_folder, mut store) = new_store();
    let section = |n: usize| format!("# Configuration\noption number {n}\n{}\n\n", "filler words here ".repeat(120));
    let text: String = (0..50).map(section).collect();
    keep(&mut store, NewEntry { title: "manual".into(), ..entry(EntryKind::Document, &text) });
    let hits = store.search(&here(), &Query::new("configuration", 50)).unwrap().hits;
    let mut ordinals: Vec<u32> = hits.iter().map(|hit| hit.ordinal).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    assert_eq!(ordinals.len(), 50);
    for n in [0, 17, 49] {
        let hits = search(&mut store, &format!("\"option number {n}\""));
        assert!(hits[0].excerpt.contains(&format!("option number {n}\n")), "{n}: {}", hits[0].excerpt);
    }
}

/// Checks which entries a query with filters finds, given one word in entries of all kinds, places and times.
fn check_filter(filter: impl Fn(&mut Query), scope: &Scope, found: &[&str]) {
    let (_folder, mut store) = new_store();
    let made = [
        ("run", EntryKind::Run, Level::Project, scope_in(Some("main"), Some("s1")), Some("a.rs"), 0),
        ("page", EntryKind::Page, Level::Project, scope_in(Some("main"), Some("s2")), Some("b.rs"), 10),
        ("work", EntryKind::Document, Level::Work, scope_in(Some("main"), Some("s1")), None, 20),
        ("session", EntryKind::Run, Level::Session, scope_in(Some("side"), Some("s1")), None, 30),
        ("side", EntryKind::Import, Level::Project, scope_in(Some("side"), None), None, 40),
    ];
    for (title, kind, level, scope, source, milliseconds) in made {
        let source = source.map(Into::into);
        let entry = NewEntry { title: title.into(), level, source, ..entry(kind, format!("needle {title}")) };
        store.keep(&scope, entry, at(milliseconds)).unwrap();
    }
    for text in ["needle", "eedl"] {
        let mut query = Query::new(text, 100);
        filter(&mut query);
        let mut titles: Vec<_> =
            store.search(scope, &query).unwrap().hits.into_iter().map(|hit| hit.entry.title).collect();
        titles.sort();
        let mut expected = found.to_vec();
        expected.sort_unstable();
        assert_eq!(titles, expected, "{query:?}");
    }
}

#[test]
fn a_filter_changes_what_is_found_and_not_the_order() {
    let (_folder, mut store) = new_store();
    for number in 1..=20 {
        let text = format!("{} {}", "parser ".repeat(number % 7 + 1), "and other words ".repeat(number));
        keep(&mut store, if number % 3 == 0 { note(text) } else { run(text) });
    }
    let all = Query::new("parser words", 20);
    let hits = store.search(&here(), &all).unwrap().hits;
    let (all_notes, _): (Vec<_>, Vec<_>) = hits.into_iter().partition(|hit| hit.entry.kind == EntryKind::Note);
    let notes = store.search(&here(), &Query { kind: Some(EntryKind::Note), ..all }).unwrap().hits;
    assert_eq!(references(&notes), references(&all_notes));
    assert_eq!(notes.len(), 6);
}

#[test]
fn filters_choose_by_place_kind_source_and_time() {
    let main = scope_in(Some("main"), Some("s1"));
    check_filter(|_| (), &main, &["run", "page", "work", "session", "side"]);
    check_filter(|query| query.within = Some(Level::Project), &main, &["run", "page", "work", "session", "side"]);
    check_filter(|query| query.within = Some(Level::Work), &main, &["run", "page", "work"]);
    check_filter(|query| query.within = Some(Level::Session), &main, &["run", "work", "session"]);
    check_filter(|query| query.kind = Some(EntryKind::Run), &main, &["run", "session"]);
    check_filter(|query| query.kind = Some(EntryKind::Note), &main, &[]);
    check_filter(|query| query.source = Some("a.rs".into()), &main, &["run"]);
    check_filter(|query| query.source = Some("a.r".into()), &main, &[]);
    check_filter(|query| query.since = Some(at(20)), &main, &["work", "session", "side"]);
    let nowhere = scope_in(None, None);
    check_filter(|_| (), &nowhere, &["run", "page", "side"]);
    check_filter(|query| query.within = Some(Level::Work), &nowhere, &[]);
    check_filter(|query| query.within = Some(Level::Session), &nowhere, &[]);
    let same_key = weir_core::SessionKey { client: "other".into(), key: "s1".into() };
    let other_client = Scope { session: Some(same_key), ..scope_in(Some("side"), None) };
    check_filter(|_| (), &other_client, &["run", "page", "side"]);
}

/// Asserts that no hit of a superseded note is above a hit of its successor.
fn assert_in_succession(hits: &[Hit]) {
    for (position, hit) in hits.iter().enumerate() {
        let above = hits[position + 1..].iter().any(|other| Some(other.entry.reference) == hit.entry.superseded_by);
        let order: Vec<_> = hits.iter().map(|hit| (hit.entry.reference, hit.ordinal)).collect();
        assert!(!above, "hit {position} stands above its successor: {order:?}");
    }
}

#[test]
fn a_superseded_note_is_found_below_its_successor() {
    let (_folder, mut store) = new_store();
    let first = keep(&mut store, note_on("pool", "pool pool pool")).reference;
    let second = keep(&mut store, note_on("pool", "the pool is sized by the number of cores, says the pool's author"));
    let third = keep(&mut store, note_on("pool", format!("pool {}", "and many other words ".repeat(20)))).reference;
    let hits = search(&mut store, "pool");
    assert_eq!(references(&hits), [third, second.reference, first]);
    assert_in_succession(&hits);
}

#[test]
fn every_part_of_a_superseded_note_is_below_every_part_of_its_successor() {
    let (_folder, mut store) = new_store();
    let dense = |n: usize| format!("pool {n} {}\n\n", "pool ".repeat(200));
    let sparse = |n: usize| format!("pool {n} {}\n\n", "other words in it ".repeat(100));
    keep(&mut store, note_on("pool", (0..8).map(dense).collect::<String>()));
    keep(&mut store, note_on("pool", (0..8).map(sparse).collect::<String>()));
    let hits = search(&mut store, "pool");
    assert!(hits.len() >= 12, "{}", hits.len());
    assert_in_succession(&hits);
}

/// Returns the line of the text that contains the needle, from 1.
fn line_of(text: &str, needle: &str) -> u64 {
    1 + text[..text.find(needle).unwrap()].matches('\n').count() as u64
}

#[test]
fn an_excerpt_stands_around_the_match_and_knows_its_line() {
    let filler = |n: u64| format!("{n} nothing of interest is said on this line of the log, {}\n", noisy_word(n, 20));
    for place in [0u64, 3, 20, 399, 20_000] {
        let mut text: String = (0..place).map(filler).collect();
        text.push_str("the needle stands here\n");
        text.extend((place..place + 40).map(filler));
        for query in ["needle", "eedle stands", "eedl"] {
            let (_folder, mut store) = new_store();
            keep(&mut store, run(&text));
            let hits = search(&mut store, query);
            let hit = &hits[0];
            assert!(hit.excerpt.contains("the needle stands here"), "{place} {query}: {}", hit.excerpt);
            assert!(hit.partial && hit.excerpt.len() <= 500, "{place} {query}");
            let first_line = hit.excerpt.lines().next().unwrap();
            assert_eq!(hit.line, line_of(&text, first_line), "{place} {query}: {first_line}");
        }
    }
}

#[test]
fn an_excerpt_says_whether_it_is_the_whole_entry() {
    let (_folder, mut store) = new_store();
    let short = keep(&mut store, run("a short needle")).reference;
    let mut text = "filler of the first chunk\n".repeat(90);
    text.push_str("\nthe needle at the end\n");
    let long = keep(&mut store, run(&text)).reference;
    for query in ["needle", "eedl"] {
        for hit in search(&mut store, query) {
            assert_eq!(hit.partial, hit.entry.reference == long, "{query}: {hit:?}");
        }
    }
    assert!(short != long);
}

#[test]
fn a_word_on_the_seam_of_two_frames_is_found() {
    const FRAME: usize = 1 << 20;
    for overlap in [1, 5, 11] {
        let mut text = "lines of a log go here\n".repeat(FRAME / 23 + 1);
        text.truncate(FRAME - overlap);
        text.pop();
        text.push_str("\nseamneedleß ends here\nand it goes on");
        let (_folder, mut store) = new_store();
        keep(&mut store, run(&text));
        let hits = search(&mut store, "seamneedleß");
        assert_eq!(hits.len(), 1, "{overlap} bytes before the seam");
        assert_eq!(hits[0].line, line_of(&text, hits[0].excerpt.lines().next().unwrap()));
    }
}

#[test]
fn an_empty_text_is_found_by_its_title() {
    let (_folder, mut store) = new_store();
    let kept = keep(&mut store, NewEntry { title: "cargo fmt".into(), ..run("") }).reference;
    assert_eq!(references(&search(&mut store, "fmt")), [kept]);
}

#[test]
fn the_order_is_the_same_every_time() {
    let (folder, mut store) = new_store();
    for n in 0..60 {
        keep_at(&mut store, run(format!("same words in every text {n}")), at(n));
    }
    let order = |store: &mut Store, query: &str| -> Vec<_> {
        search(store, query).into_iter().map(|hit| (hit.entry.reference, hit.ordinal, hit.score.to_bits())).collect()
    };
    for query in ["same words", "every 2", "ame wor", "text"] {
        let first = order(&mut store, query);
        assert!(first.len() >= 20, "`{query}` finds {}", first.len());
        assert_eq!(first, order(&mut store, query));
        assert_eq!(first, order(&mut open(folder.path()), query));
        store.rebuild_index(|_| ()).unwrap();
        assert_eq!(first, order(&mut store, query), "after rebuilding");
    }
}

#[test]
fn what_has_no_letter_finds_nothing_and_what_is_gone_is_not_found() {
    let (_folder, mut store) = new_store();
    keep(&mut store, run("some words"));
    for query in ["", " ", "\"\"", "*", "-", "&& ||", "\0", "😀"] {
        assert!(search(&mut store, query).is_empty(), "`{query}`");
    }
    assert_eq!(search(&mut store, "words").len(), 1);
    sweep(&mut store, day(400));
    assert!(search(&mut store, "words").is_empty() && NOW < day(400));
}
