//! Tests that what was said in sessions is found, shown once, and forgotten with proof.

use std::time::Duration;

use weir_core::{EntryKind, Event, EventKind, Limits, Origin, Priority, Query};
use weir_store::{HistoryFilter, HookRun, Spool, SpoolRecord};

use crate::dump::{look_at, number};
use crate::support::{at, entry, forget, here, keep, open, scope_in, these};

fn event(kind: EventKind, text: &str) -> Event {
    Event { kind, priority: Priority::P1, text: text.to_owned(), data: None, whole: None }
}

fn query(text: &str) -> Query {
    Query { kind: Some(EntryKind::Said), ..Query::new(text, 5) }
}

#[test]
fn what_was_said_is_found_by_what_it_was_and_by_whom() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let told = [
        event(EventKind::Prompt, "port the tokenizer to the new lexer"),
        event(EventKind::Correction, "never log the token of the tokenizer"),
        event(EventKind::Error, "cargo test: tokenizer panicked at byte 12"),
        event(EventKind::Said, "Next I will fuzz the tokenizer."),
        event(EventKind::Tool, "ran tokenizer --bench"),
        event(EventKind::Prompt, "go on"),
    ];
    for (nth, event) in told.iter().enumerate() {
        store.append(&here(), event, at(nth as i64)).unwrap();
    }
    let hits = store.search(&here(), &query("tokenizer")).unwrap().hits;
    let mut found: Vec<_> =
        hits.iter().map(|hit| (hit.entry.source.clone().unwrap(), hit.entry.origin, hit.entry.at)).collect();
    found.sort();
    // The turn repeats the other three, and they become one hit with it.
    let expected = [("correction", Origin::User, 1), ("turn", Origin::Model, 0)];
    assert_eq!(found, expected.map(|(source, origin, time)| (source.to_owned(), origin, at(time))));
    // Another search adds nothing, and the history contains each event once.
    assert!(store.take_in_said(Duration::from_secs(1)).unwrap());
    for (source, origin) in
        [("correction", Origin::User), ("error", Origin::Tool), ("prompt", Origin::User), ("said", Origin::Model)]
    {
        let only = Query { source: Some(source.to_owned()), ..query("tokenizer") };
        let hits = store.search(&here(), &only).unwrap().hits;
        assert_eq!(hits.iter().map(|hit| hit.entry.origin).collect::<Vec<_>>(), [origin], "{source}");
    }
    let filter = HistoryFilter { limit: 100, ..HistoryFilter::default() };
    assert_eq!(store.history(&here(), &filter).unwrap().len(), told.len());
}

#[test]
fn a_sentence_its_prompt_and_the_note_about_it_are_one_hit() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let sentence = "clamp the day to the last of the month";
    store.append(&here(), &event(EventKind::Prompt, &format!("fix the calendar, and {sentence}")), at(0)).unwrap();
    store.append(&here(), &event(EventKind::Decision, sentence), at(1)).unwrap();
    store.append(&here(), &event(EventKind::Prompt, "who owns the month view"), at(2)).unwrap();
    let search = |store: &mut weir_store::Store| {
        let hits = store.search(&here(), &Query::new("clamp the day of the month", 5)).unwrap().hits;
        hits.iter().map(|hit| (hit.entry.kind, hit.also.len())).collect::<Vec<_>>()
    };
    assert_eq!(search(&mut store), [(EntryKind::Said, 1), (EntryKind::Said, 0)]);
    // A note was kept on purpose, so it goes before the sentence that it repeats.
    keep(&mut store, entry(EntryKind::Note, sentence));
    assert_eq!(search(&mut store), [(EntryKind::Note, 2), (EntryKind::Said, 0)]);
}

#[test]
fn a_search_looks_at_entries_that_were_not_said_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    for file in 0..4_200 {
        keep(&mut store, entry(EntryKind::File, format!("file {file}")));
    }
    store.append(&here(), &event(EventKind::Tool, "ran the formatter"), at(1)).unwrap();
    assert!(store.take_in_said(Duration::from_secs(5)).unwrap());
    let looked_at_to = number(&look_at(&folder.path().join("log.db")), "SELECT said_to FROM totals");
    assert!(looked_at_to > 4_200, "{looked_at_to}");
    store.append(&here(), &event(EventKind::Prompt, "port the tokenizer"), at(2)).unwrap();
    assert_eq!(store.search(&here(), &query("tokenizer")).unwrap().hits.len(), 1);
}

#[test]
fn what_was_said_is_forgotten_with_its_event() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.append(&here(), &event(EventKind::Prompt, "the password of staging is in the vault"), at(0)).unwrap();
    store.append(&here(), &event(EventKind::Prompt, "deploy the staging server tonight"), at(1)).unwrap();
    let hits = store.search(&here(), &query("vault")).unwrap().hits;
    let selection = these(&[hits[0].entry.reference]);
    let plan = store.plan_to_forget(&here(), &selection).unwrap();
    assert_eq!((plan.entries.len(), plan.events), (1, 1));
    forget(&mut store, &selection);
    assert!(store.search(&here(), &query("vault")).unwrap().hits.is_empty());
    let filter = HistoryFilter { limit: 100, ..HistoryFilter::default() };
    let history = store.history(&here(), &filter).unwrap();
    assert!(history.iter().all(|moment| !moment.logged.event.text.contains("vault")), "{history:?}");
    assert_eq!(store.search(&here(), &query("staging")).unwrap().hits.len(), 1);
}

fn parts_of(whole: &str) -> [Event; 2] {
    [event(EventKind::Prompt, "the plan [pasted: 6 KiB]"), event(EventKind::Data, "pasted 6 KiB")]
        .map(|event| Event { whole: Some(whole.to_owned()), ..event })
}

/// Returns the events of the log that show only a part of their text, with its reference, oldest first.
fn with_whole(store: &weir_store::Store) -> Vec<(EventKind, weir_core::Reference)> {
    let filter = HistoryFilter { limit: 100, ..HistoryFilter::default() };
    let history = store.history(&here(), &filter).unwrap();
    let said = history.iter().rev().filter(|moment| moment.logged.event.kind != EventKind::Gone);
    said.filter_map(|moment| Some((moment.logged.event.kind, moment.logged.reference?))).collect()
}

#[test]
fn the_whole_text_of_an_event_is_one_entry_of_its_session() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let scope = scope_in(None, Some("s"));
    let whole = format!("{}\npassword = \"hunter2hunter2\"\nRequirement 41 column", "Requirement 1 row\n".repeat(300));
    let seen = HookRun { client: "test".into(), event: "Prompt".into(), at: at(1), micros: 5, output: None };
    store.record(&scope, &parts_of(&whole), &seen).unwrap();
    let parts = with_whole(&store);
    assert_eq!(parts.len(), 2);
    assert_eq!((parts[0].0, parts[1].0, parts[0].1), (EventKind::Prompt, EventKind::Data, parts[1].1));
    let text = store.text(&scope, parts[0].1).unwrap().unwrap().all().unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.ends_with("Requirement 41 column") && !text.contains("hunter2"), "{text}");
    let hits = store.search(&scope, &query("Requirement 41 column")).unwrap().hits;
    let is_whole = |hit: &weir_store::Hit| (hit.entry.reference, hit.entry.origin) == (parts[0].1, Origin::User);
    assert!(!hits.is_empty() && hits.iter().all(is_whole), "{hits:?}");
    // Another session has an entry of its own, and so is forgotten on its own.
    store.append(&scope_in(None, Some("t")), &parts_of(&whole)[0], at(2)).unwrap();
    assert_eq!(with_whole(&store).len(), 3);
    let plan = store.plan_to_forget(&scope, &these(&[parts[0].1])).unwrap();
    assert_eq!((plan.entries.len(), plan.events), (1, 2));
    let session = weir_store::Selection { session: Some("s".to_owned()), ..Default::default() };
    let plan = store.plan_to_forget(&scope, &session).unwrap();
    assert_eq!((plan.entries.len(), plan.events), (1, 2));
    forget(&mut store, &session);
    assert_eq!(with_whole(&store).len(), 1);
}

#[test]
fn a_whole_text_survives_the_spool() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let spooled = SpoolRecord { told: parts_of("line 1\nline 2").to_vec(), ..SpoolRecord::default() };
    Spool::beside(folder.path()).put(&scope_in(None, Some("s")), &spooled, &Limits::default(), at(3)).unwrap();
    assert_eq!(store.take_in().unwrap(), 1);
    let parts = with_whole(&store);
    assert_eq!(parts.len(), 2);
    assert_eq!(store.text(&here(), parts[0].1).unwrap().unwrap().all().unwrap(), b"line 1\nline 2");
}

#[test]
fn processes_that_search_at_the_same_time_take_in_everything_once() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let folder = &folder;
            scope.spawn(move || {
                let mut store = open(folder.path());
                for number in 0..120 {
                    let text = format!("request {number} of writer {writer}");
                    store.append(&here(), &event(EventKind::Prompt, &text), at(number)).unwrap();
                    if number % 3 == 0 {
                        store.take_in_said(Duration::from_secs(5)).unwrap();
                    }
                }
            });
        }
    });
    let mut store = open(folder.path());
    assert!(store.take_in_said(Duration::from_secs(60)).unwrap());
    let everything = weir_store::Selection { source: Some("prompt".to_owned()), ..Default::default() };
    let plan = store.plan_to_forget(&here(), &everything).unwrap();
    assert_eq!((plan.entries.len(), plan.events), (720, 720));
}
