//! Tests forgetting: what a selection selects, that only a confirmed plan is carried out, and that nothing of it is
//! left in any file.

use std::path::Path;

use weir_core::{EntryKind, Level, Limits, NewEntry, Note, Reference, note::BoundFile};
use weir_store::{Forgotten, HistoryFilter, Selection, Spool, SpoolRecord, Store, StoreError};

use crate::dump;
use crate::support::{
    NOW, at, event, forget, get, here, keep, keep_at, new_store, noise, noisy_word, note, note_on, note_with, open,
    plain_note, run, scope_in, search, state, sweep, text, these,
};

/// Fills a store with something for every condition to select. The numbers are milliseconds after the start.
fn furnished(store: &mut Store) -> Vec<(&'static str, Reference)> {
    let in_session = |session| scope_in(Some("main"), Some(session));
    let sourced = |text: &str| NewEntry { source: Some("cargo test".into()), ..run(text) };
    let mut kept = Vec::new();
    let entries = [
        ("old run", "s1", sourced("old run's text"), 0),
        ("new run", "s2", sourced("new run's text"), 50),
        ("first", "s1", note_on("pool", "the pool has 16"), 10),
        ("second", "s2", note_on("pool", "the pool has 32"), 60),
        ("page", "s2", NewEntry { level: Level::Session, ..run("a page for one session") }, 70),
    ];
    for (name, session, entry, milliseconds) in entries {
        kept.push((name, store.keep(&in_session(session), entry, at(milliseconds)).unwrap().reference));
    }
    for (session, milliseconds) in [("s1", 5), ("s1", 55), ("s2", 65)] {
        let text = format!("event of {session} at {milliseconds}");
        store.append(&in_session(session), &event(text), at(milliseconds)).unwrap();
    }
    kept
}

/// Checks that a selection selects these entries, that exactly these are removed, and that the rest stays with its
/// text.
fn check(selection: Selection, entries: &[&str], events: usize) {
    let (_folder, mut store) = new_store();
    let kept = furnished(&mut store);
    let selection = Selection {
        // References are random, so selections contain the position in the list instead.
        references: selection.references.iter().map(|r| kept[position(*r)].1).collect(),
        ..selection
    };
    let plan = store.plan_to_forget(&here(), &selection).unwrap();
    let name_of = |reference: Reference| kept.iter().find(|(_, r)| *r == reference).unwrap().0;
    let mut chosen: Vec<&str> = plan.entries.iter().map(|entry| name_of(entry.reference)).collect();
    chosen.sort_unstable();
    let mut expected = entries.to_vec();
    expected.sort_unstable();
    assert_eq!((chosen, plan.events), (expected, events), "{selection:?}");
    let done = store.forget(&here(), &selection, &plan.confirmation, NOW).unwrap();
    assert_eq!((done.entries, done.events), (entries.len(), events), "{selection:?}");
    assert_proven(&done);
    let reader = scope_in(Some("main"), Some("s2"));
    for (name, reference) in &kept {
        let expected = if entries.contains(name) { "forgotten" } else { "here" };
        let found = match store.get(&reader, *reference, NOW).unwrap() {
            weir_store::Found::Here(_) => "here",
            weir_store::Found::Gone(gone) => gone.why.as_str(),
            weir_store::Found::Never => "never",
        };
        assert_eq!(found, expected, "{name} after {selection:?}");
        assert_eq!(store.text(&reader, *reference).unwrap().is_some(), expected == "here");
    }
    let left = store.history(&reader, &HistoryFilter { limit: 100, ..HistoryFilter::default() }).unwrap();
    let events_left = left.iter().filter(|moment| moment.logged.event.text.starts_with("event of")).count();
    assert_eq!(events_left, 3 - events, "{selection:?}");
    crate::support::assert_healthy(&mut store);
}

/// Returns a placeholder for the entry at a position of [`furnished`].
fn number(position: u64) -> Reference {
    Reference::from_bits(position)
}

fn position(reference: Reference) -> usize {
    (0..100).find(|bits| Reference::from_bits(*bits) == reference).unwrap() as usize
}

/// Asserts that forgetting checked everything and found nothing.
fn assert_proven(done: &Forgotten) {
    let places: Vec<&str> = done.remaining.iter().map(|(place, _)| *place).collect();
    for place in ["entries", "events", "runs", "texts", "documents", "chunks", "words", "vectors"] {
        assert!(places.contains(&place), "nobody looked at {place}: {done:?}");
    }
    assert!(done.remaining.iter().all(|(_, left)| *left == 0), "{done:?}");
    assert!(done.logs_emptied, "{done:?}");
}

#[test]
fn each_condition_chooses_what_it_says() {
    let none = Selection::default();
    check(Selection { references: vec![number(0), number(3), number(0)], ..none.clone() }, &["old run", "second"], 0);
    check(Selection { topic: Some("pool".into()), ..none.clone() }, &["first", "second"], 0);
    check(Selection { source: Some("cargo test".into()), ..none.clone() }, &["old run", "new run"], 0);
    check(Selection { session: Some("s1".into()), ..none.clone() }, &["old run", "first"], 2);
    check(Selection { since: Some(at(55)), ..none.clone() }, &["second", "page"], 2);
    check(Selection { before: Some(at(55)), ..none.clone() }, &["old run", "first", "new run"], 1);
    check(Selection { everything: true, ..none }, &["old run", "first", "new run", "second", "page"], 3);
}

#[test]
fn several_conditions_must_all_hold() {
    let none = Selection::default();
    let topic = Some("pool".to_owned());
    check(Selection { topic: topic.clone(), session: Some("s2".into()), ..none.clone() }, &["second"], 0);
    check(Selection { topic: topic.clone(), before: Some(at(60)), ..none.clone() }, &["first"], 0);
    check(Selection { topic, source: Some("cargo test".into()), ..none.clone() }, &[], 0);
    check(Selection { since: Some(at(5)), before: Some(at(51)), ..none.clone() }, &["first", "new run"], 1);
    check(Selection { session: Some("s1".into()), since: Some(at(10)), ..none.clone() }, &["first"], 1);
    check(Selection { references: vec![number(0)], session: Some("s2".into()), ..none.clone() }, &[], 0);
    check(Selection { everything: true, session: Some("s1".into()), ..none.clone() }, &["old run", "first"], 2);
    check(Selection { everything: true, before: Some(at(55)), ..none }, &["old run", "first", "new run"], 1);
}

#[test]
fn what_does_not_exist_chooses_nothing_and_removes_nothing() {
    let none = Selection::default();
    check(none.clone(), &[], 0);
    check(Selection { session: Some("nobody".into()), ..none.clone() }, &[], 0);
    check(Selection { session: Some("nobody".into()), everything: true, ..none.clone() }, &[], 0);
    check(Selection { topic: Some("nothing".into()), ..none.clone() }, &[], 0);
    check(Selection { source: Some("nowhere".into()), ..none.clone() }, &[], 0);
    check(Selection { since: Some(at(1_000)), ..none.clone() }, &[], 0);
    check(Selection { before: Some(at(-1_000)), ..none }, &[], 0);
}

#[test]
fn titles_are_shown_only_where_they_are_seen() {
    let (_folder, mut store) = new_store();
    furnished(&mut store);
    let everything = Selection { everything: true, ..Selection::default() };
    let plan = store.plan_to_forget(&scope_in(Some("main"), Some("s1")), &everything).unwrap();
    let hidden = plan.entries.iter().filter(|entry| entry.title.is_none()).count();
    assert_eq!(hidden, 1, "the page of the other session: {plan:?}");
}

#[test]
fn a_confirmation_of_an_outdated_plan_is_refused_with_nothing_removed() {
    let (_folder, mut store) = new_store();
    let kept = furnished(&mut store);
    for selection in [
        Selection { everything: true, ..Selection::default() },
        Selection { topic: Some("pool".into()), ..Selection::default() },
        Selection { session: Some("s1".into()), ..Selection::default() },
    ] {
        let plan = store.plan_to_forget(&here(), &selection).unwrap();
        keep_at(&mut store, note_on("pool", "the pool has 64"), at(100));
        let before = dump::index(_folder.path());
        let refused = store.forget(&here(), &selection, &plan.confirmation, NOW);
        assert!(matches!(refused, Err(StoreError::PlanChanged)), "{refused:?}");
        dump::assert_same(&before, &dump::index(_folder.path()));
        assert!(kept.iter().take(4).all(|(_, reference)| state(&mut store, *reference) == "here"));
    }
    let refused = store.forget(&here(), &these(&[kept[0].1]), "", NOW);
    assert!(matches!(refused, Err(StoreError::PlanChanged)), "{refused:?}");
}

/// The index, and anything else that remembers a position in the log, must not miss what comes after forgetting.
#[test]
fn a_place_in_the_order_is_never_given_twice() {
    let none = Selection::default();
    for selection in [
        Selection { session: Some("s1".into()), ..none.clone() },
        Selection { since: Some(NOW), ..none.clone() },
        Selection { before: Some(at(1)), ..none.clone() },
        Selection { everything: true, ..none },
    ] {
        let (_folder, mut store) = new_store();
        let mut last = 0;
        for round in 0..4 {
            // The newest record is an event in one round and an entry in the next.
            let kept = keep(&mut store, note(format!("entry {round}"))).reference;
            let mut newest =
                store.history(&here(), &HistoryFilter { limit: 1, ..HistoryFilter::default() }).unwrap()[0].logged.seq;
            if round % 2 == 0 {
                newest = store.append(&here(), &event("an event"), NOW).unwrap();
            }
            assert!(newest > last, "{newest} came after {last}: {selection:?}");
            assert_proven(&forget(&mut store, &selection));
            assert_eq!(state(&mut store, kept), "forgotten", "{selection:?}");
            assert!(search(&mut store, "entry").is_empty(), "{selection:?}");
            last = newest;
        }
        assert!(store.append(&here(), &event("the last"), NOW).unwrap() > last, "{selection:?}");
        keep(&mut store, note("found again"));
        assert_eq!(search(&mut store, "found").len(), 1, "{selection:?}");
    }
}

#[test]
fn a_text_that_another_entry_has_stays_and_is_counted() {
    let (_folder, mut store) = new_store();
    let one = keep(&mut store, run("twice the same")).reference;
    let two = keep(&mut store, run("twice the same")).reference;
    let done = forget(&mut store, &these(&[one]));
    assert_eq!((done.entries, done.blobs, done.shared_blobs), (1, 0, 1));
    assert_eq!(text(&store, two), b"twice the same");
    assert_eq!(search(&mut store, "twice").len(), 1);
}

#[test]
fn a_text_whose_entries_all_go_is_not_counted_as_shared() {
    let (_folder, mut store) = new_store();
    let both = [(); 2].map(|()| keep(&mut store, run("twice the same")).reference);
    let done = forget(&mut store, &these(&both));
    assert_eq!((done.entries, done.blobs, done.shared_blobs), (2, 1, 0));
}

#[test]
fn forgetting_a_successor_makes_the_older_note_current_again() {
    let (_folder, mut store) = new_store();
    let first = keep(&mut store, note_on("pool", "16")).reference;
    let second = keep(&mut store, note_on("pool", "32")).reference;
    assert_eq!(get(&mut store, first).superseded_by, Some(second));
    forget(&mut store, &these(&[second]));
    assert_eq!(get(&mut store, first).superseded_by, None);
}

/// An unusual word, searched for in every form that could be left behind.
const MARKER: &str = "Zyxwoquvark";

fn assert_nowhere(folder: &Path, word: &str) {
    for form in [word.to_owned(), word.to_lowercase(), word.to_uppercase()] {
        let found = dump::files_with(folder, &form);
        assert!(found.is_empty(), "`{form}` is still in {found:?}");
    }
}

/// Asserts that pieces that only this word has are no longer in the vocabulary.
fn assert_no_pieces(folder: &Path, word: &str) {
    let lower = word.to_lowercase();
    let pieces: Vec<String> = lower.as_bytes().windows(3).map(|p| String::from_utf8(p.to_vec()).unwrap()).collect();
    let lines = dump::index(folder);
    let left = lines.iter().filter(|line| {
        (line.starts_with("piece") && pieces.iter().any(|piece| line.contains(&format!("Text(\"{piece}\")"))))
            || line.to_lowercase().contains(&lower)
    });
    let left: Vec<&String> = left.collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn words_that_a_killed_process_was_forgetting_go_with_the_next_ones() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("stays"));
    let next = keep(&mut store, note("the next to go")).reference;
    // A process has removed an entry from the index, and was killed before it forgot the entry's words.
    dump::meddle_with(&folder.path().join("index.db"))
        .execute_batch(&format!(
            "INSERT INTO vocabulary (id, word) VALUES (1000, '^{word}$');
             INSERT INTO spellings (rowid, word) VALUES (1000, '^{word}$');
             UPDATE progress SET residue = 1 WHERE id = 1;",
            word = MARKER.to_lowercase()
        ))
        .unwrap();
    forget(&mut store, &these(&[next]));
    assert_no_pieces(folder.path(), MARKER);
    crate::support::assert_healthy(&mut store);
}

#[test]
fn what_was_set_aside_for_inspection_is_removed_too() {
    let (folder, mut store) = new_store();
    let kept = keep(&mut store, note(MARKER)).reference;
    for name in ["index.db.damaged", "index.db.damaged-wal"] {
        std::fs::write(folder.path().join(name), MARKER).unwrap();
    }
    forget(&mut store, &these(&[kept]));
    assert_nowhere(folder.path(), MARKER);
    let spool = Spool::beside(folder.path());
    std::fs::create_dir(spool.folder()).unwrap();
    std::fs::write(spool.folder().join("000000000000002-x.unreadable"), MARKER).unwrap();
    forget(&mut store, &Selection { everything: true, ..Selection::default() });
    assert_nowhere(folder.path(), MARKER);
}

#[test]
fn damaged_records_of_the_spool_are_forgotten_by_session_and_by_time() {
    let check = |selection: Selection, left: &[&str], remaining: usize| {
        let (folder, mut store) = new_store();
        store.append(&here(), &event("something"), NOW).unwrap();
        let spool = Spool::beside(folder.path());
        std::fs::create_dir(spool.folder()).unwrap();
        for (name, bytes) in [("early", r#"{"session":["test","s1"],"#), ("late", r#"{"session":["test","s2"],"#)] {
            let at = if name == "early" { NOW.0 } else { NOW.0 + 1_000 };
            std::fs::write(spool.folder().join(format!("{at:015}-{name}.unreadable")), bytes).unwrap();
        }
        let forgotten = forget(&mut store, &selection);
        let files = std::fs::read_dir(spool.folder()).into_iter().flatten().flatten();
        let mut names: Vec<String> = files.map(|file| file.file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names.len(), left.len(), "{selection:?}: {names:?}");
        assert!(names.iter().zip(left).all(|(name, left)| name.contains(left)), "{selection:?}: {names:?}");
        let spool =
            forgotten.remaining.iter().filter(|(place, _)| *place == "spool").map(|(_, left)| left).sum::<usize>();
        assert_eq!(spool, remaining, "{selection:?}");
    };
    let none = Selection::default;
    check(Selection { session: Some("s1".into()), ..none() }, &["late"], 1);
    check(Selection { since: Some(at(500)), ..none() }, &["early"], 1);
    check(Selection { before: Some(at(500)), ..none() }, &["late"], 1);
    check(Selection { everything: true, ..none() }, &[], 0);
}

#[test]
fn what_waits_in_the_spool_is_forgotten_too() {
    let (folder, mut store) = new_store();
    let told = SpoolRecord { told: vec![event(MARKER)], ..SpoolRecord::default() };
    let everything = Selection { everything: true, ..Selection::default() };
    let plan = store.plan_to_forget(&here(), &everything).unwrap();
    Spool::beside(folder.path()).put(&here(), &told, &Limits::default(), NOW).unwrap();
    // The plan did not show it, so nothing is forgotten yet.
    let changed = store.forget(&here(), &everything, &plan.confirmation, NOW);
    assert_eq!(changed, Err(StoreError::PlanChanged));
    forget(&mut store, &everything);
    assert_nowhere(folder.path(), MARKER);
}

/// Puts the marker in every place that takes a text, small and large, compressed or not.
fn strew(store: &mut Store, marker: &str) -> Vec<Reference> {
    let bound = BoundFile { path: format!("src/{marker}.rs"), hash: "00".into() };
    let note = Note {
        topic: Some(marker.into()),
        files: vec![bound],
        branch: Some(marker.into()),
        commit: Some(marker.into()),
        ..plain_note()
    };
    // Letters that hardly compress get a file of their own, which contains the marker as it is.
    let large = [marker.as_bytes(), &noise(7, 100_000)].concat();
    let entries = [
        NewEntry { title: marker.into(), source: Some(format!("/src/{marker}")), ..run(format!("see {marker} here")) },
        NewEntry { title: marker.into(), source: Some(format!("/src/{marker}")), ..note_with(note, marker) },
        NewEntry { title: marker.into(), ..run(large) },
    ];
    entries.map(|entry| keep(store, entry).reference).to_vec()
}

#[test]
fn nothing_is_left_of_what_was_forgotten_in_any_file() {
    let (folder, mut store) = new_store();
    let kept = strew(&mut store, MARKER);
    assert!(dump::files_with(folder.path(), MARKER).len() >= 2, "the marker must lie in files to be missed");
    let done = forget(&mut store, &these(&kept));
    assert_eq!((done.entries, done.blobs), (3, 3));
    assert_proven(&done);
    assert_nowhere(folder.path(), MARKER);
    assert_no_pieces(folder.path(), MARKER);
    drop(store);
    assert_nowhere(folder.path(), MARKER);
}

#[test]
fn nothing_is_left_when_everything_is_forgotten() {
    let (folder, mut store) = new_store();
    strew(&mut store, MARKER);
    let elsewhere = scope_in(Some(MARKER), Some(MARKER));
    for n in 0..300 {
        store.append(&elsewhere, &event(format!("{n} {MARKER}")), NOW).unwrap();
    }
    let done = forget(&mut store, &Selection { everything: true, ..Selection::default() });
    assert_eq!((done.entries, done.events), (3, 300));
    assert_proven(&done);
    assert_nowhere(folder.path(), MARKER);
    assert_no_pieces(folder.path(), MARKER);
}

/// A store with some history: pages were filled, split, emptied and filled again, which leaves copies of rows in the
/// unused part of a page.
#[test]
fn nothing_is_left_in_a_store_with_a_past() {
    let (folder, mut store) = new_store();
    let filler = |n: u64| {
        let words: Vec<String> = (0..40).map(|k| noisy_word(n * 100 + k, 4 + (k % 7) as usize)).collect();
        words.join(" ")
    };
    let marker_of = |n: u64| format!("Qz{}", noisy_word(90_000 + n, 10));
    let mut marked = Vec::new();
    let mut others = Vec::new();
    for n in 0..240 {
        let text = filler(n);
        if n % 3 == 0 {
            let marker = marker_of(n);
            let titled = NewEntry {
                title: marker.clone(),
                source: Some(marker.clone()),
                ..note(format!("{text} {marker} {text}"))
            };
            marked.push((keep(&mut store, titled).reference, marker.clone()));
            store.append(&here(), &event(marker), at(-1_000)).unwrap();
        } else {
            others.push(keep(&mut store, NewEntry { title: text.clone(), ..entry_of(n, &text) }).reference);
        }
        if n % 7 == 0 && !others.is_empty() {
            let old = others.remove((n as usize * 31) % others.len());
            forget(&mut store, &these(&[old]));
        }
    }
    for part in marked.chunks(20) {
        let references: Vec<Reference> = part.iter().map(|(reference, _)| *reference).collect();
        assert_proven(&forget(&mut store, &these(&references)));
    }
    assert_proven(&forget(&mut store, &Selection { before: Some(NOW), ..Selection::default() }));
    let left: Vec<String> = marked
        .iter()
        .flat_map(|(_, marker)| [marker.clone(), marker.to_lowercase()])
        .filter_map(|form| {
            let found = dump::files_with(folder.path(), &form);
            (!found.is_empty()).then(|| format!("{form} in {found:?}"))
        })
        .collect();
    assert!(left.is_empty(), "{} of {} forms are left:\n{}", left.len(), marked.len() * 2, left.join("\n"));
    assert!(others.iter().all(|reference| state(&mut store, *reference) == "here"));
    crate::support::assert_healthy(&mut store);
}

fn entry_of(n: u64, text: &str) -> NewEntry {
    let kinds = [EntryKind::Run, EntryKind::Document, EntryKind::Page];
    crate::support::entry(kinds[(n % 3) as usize], text)
}

/// In a large index the words of a small entry are wiped one by one; in the tests above, the index is rewritten.
#[test]
fn nothing_is_left_of_a_small_entry_in_a_large_index() {
    let (folder, mut store) = new_store();
    let filler = |n: u64| (0..12).map(|k| noisy_word(n * 50 + k, 5) + " ").collect::<String>();
    let mut marked = Vec::new();
    for n in 0..900 {
        let marker = format!("Qz{}", noisy_word(80_000 + n, 10));
        let text = if n % 90 == 40 { format!("{} {marker} {}", filler(n), filler(n + 1)) } else { filler(n) };
        let kept = keep(&mut store, run(text)).reference;
        if n % 90 == 40 {
            marked.push((kept, marker));
        }
    }
    for (reference, marker) in &marked {
        assert!(!dump::files_with(folder.path(), marker).is_empty());
        assert_proven(&forget(&mut store, &these(&[*reference])));
        assert_nowhere(folder.path(), marker);
    }
    crate::rebuild::check_rebuild(folder.path(), &mut store);
}

/// Expiry is quick and leaves words in the index until they are merged away. Forgetting everything removes these too.
#[test]
fn nothing_is_left_of_what_expired_once_everything_is_forgotten() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("a note that stays"));
    keep(&mut store, run(format!("{MARKER} in a run")));
    assert_eq!(sweep(&mut store, NOW.plus_days(31)).expired, 1);
    assert!(search(&mut store, MARKER).is_empty());
    assert_proven(&forget(&mut store, &Selection { everything: true, ..Selection::default() }));
    assert_nowhere(folder.path(), MARKER);
    assert_no_pieces(folder.path(), MARKER);
}

#[test]
fn space_is_given_back() {
    let (folder, mut store) = new_store();
    let references: Vec<Reference> = (0..60).map(|n| keep(&mut store, note(noisy_word(n, 12_000))).reference).collect();
    forget(&mut store, &these(&references[..1]));
    let size = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().len();
    let before = (size("log.db"), size("index.db"));
    forget(&mut store, &these(&references[1..]));
    let after = (size("log.db"), size("index.db"));
    assert!(after.0 < before.0 / 2 && after.1 < before.1 / 2, "{before:?} became {after:?}");
}

#[test]
fn a_process_that_is_open_but_idle_holds_nothing_back() {
    let (folder, mut store) = new_store();
    let kept = keep(&mut store, run(MARKER)).reference;
    let mut other = open(folder.path());
    assert_eq!(search(&mut other, MARKER).len(), 1);
    let done = forget(&mut store, &these(&[kept]));
    assert_proven(&done);
    assert_nowhere(folder.path(), MARKER);
    assert!(search(&mut other, MARKER).is_empty());
}
