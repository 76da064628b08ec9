//! Tests that turns and fixes are found, replaced when they go on, and forgotten with any event that they repeat.

use weir_core::{EntryKind, Event, EventKind, Priority, Query, WhyGone};
use weir_store::{Found, Hit, Selection, Store};

use crate::support::{at, forget, here, new_store, these};

fn event(kind: EventKind, text: &str, data: &str) -> Event {
    let data = Some(data.to_owned()).filter(|data| !data.is_empty());
    Event { kind, priority: Priority::P2, text: text.to_owned(), data, whole: None }
}

/// Appends events to the session of [`here`], one a second from this second on.
fn tell(store: &mut Store, second: i64, events: &[Event]) {
    for (nth, event) in events.iter().enumerate() {
        store.append(&here(), event, at((second + nth as i64) * 1_000)).unwrap();
    }
}

fn of(store: &mut Store, source: &str, text: &str) -> Vec<Hit> {
    let query = Query { kind: Some(EntryKind::Said), source: Some(source.to_owned()), ..Query::new(text, 5) };
    store.search(&here(), &query).unwrap().hits
}

fn a_turn() -> [Event; 3] {
    [
        event(EventKind::Prompt, "find out why the pool leaks", ""),
        event(EventKind::File, "edited src/pool.rs", r#"{"path":"src/pool.rs","how":"edited","names":"release_all"}"#),
        event(EventKind::Said, "The tokenizer kept a reference.", ""),
    ]
}

#[test]
fn a_turn_is_found_once_it_has_ended_and_before_its_request() {
    let (_folder, mut store) = new_store();
    tell(&mut store, 0, &a_turn()[..2]);
    assert!(of(&mut store, "turn", "release_all").is_empty());
    tell(&mut store, 2, &a_turn()[2..]);
    let hits = of(&mut store, "turn", "release_all");
    assert_eq!(hits.len(), 1);
    let expected = "Asked (user): \"find out why the pool leaks\"\nChanged: src/pool.rs\nNames: release_all\nSaid (model): \
                    The tokenizer kept a reference.";
    assert_eq!(hits[0].excerpt, expected);
    let hits = store.search(&here(), &Query::new("why does the pool leak", 5)).unwrap().hits;
    let found: Vec<_> = hits.iter().map(|hit| (hit.entry.source.as_deref(), hit.also.len())).collect();
    assert_eq!(found[0], (Some("turn"), 1), "{found:?}");
    assert_eq!(of(&mut store, "prompt", "why does the pool leak").len(), 1);
}

#[test]
fn a_turn_that_goes_on_has_one_entry() {
    let (_folder, mut store) = new_store();
    tell(&mut store, 0, &a_turn());
    let first = of(&mut store, "turn", "pool")[0].entry.reference;
    let next = event(EventKind::File, "edited src/lexer.rs", r#"{"path":"src/lexer.rs","how":"edited"}"#);
    tell(&mut store, 10, &[next, event(EventKind::Prompt, "now the lexer", "")]);
    let hits = of(&mut store, "turn", "pool");
    assert_eq!(hits.len(), 1);
    assert!(hits[0].excerpt.contains("Changed: src/{pool.rs, lexer.rs}"), "{}", hits[0].excerpt);
    let gone = store.get(&here(), first, at(20_000)).unwrap();
    assert!(matches!(gone, Found::Gone(gone) if gone.why == WhyGone::Replaced));
}

#[test]
fn a_turn_that_is_found_by_its_last_names_shows_its_beginning() {
    let (_folder, mut store) = new_store();
    let names: Vec<String> = (0..400).map(|nth| format!("lexer_rule_{nth}")).collect();
    let data = format!(r#"{{"path":"src/rules.rs","how":"edited","names":"{}"}}"#, names.join(" "));
    let [asked, _, said] = a_turn();
    tell(&mut store, 0, &[asked, event(EventKind::File, "edited src/rules.rs", &data), said]);
    let hits = of(&mut store, "turn", "lexer_rule_399");
    assert_eq!(hits.len(), 1);
    assert!(hits[0].excerpt.starts_with("Asked (user): \"find out why the pool leaks\""), "{}", hits[0].excerpt);
}

/// Checks that forgetting what this query finds leaves nothing of the turn's entry, and says so before.
fn check_forgotten(source: &str, text: &str, word: &str, entries: usize) {
    let (_folder, mut store) = new_store();
    tell(&mut store, 0, &a_turn());
    let reference = of(&mut store, source, text)[0].entry.reference;
    let plan = store.plan_to_forget(&here(), &these(&[reference])).unwrap();
    assert_eq!(plan.entries.len(), entries, "{plan:?}");
    let forgotten = forget(&mut store, &these(&[reference]));
    assert!(forgotten.remaining.iter().all(|(_, left)| *left == 0), "{forgotten:?}");
    assert!(store.search(&here(), &Query::new(word, 5)).unwrap().hits.is_empty());
    assert!(of(&mut store, "turn", "pool leaks tokenizer").is_empty());
}

#[test]
fn a_turn_is_forgotten_with_any_event_that_it_repeats() {
    check_forgotten("said", "tokenizer", "tokenizer", 2);
    check_forgotten("prompt", "pool leaks", "leaks", 2);
}

#[test]
fn everything_that_a_turn_repeats_is_forgotten_with_it() {
    check_forgotten("turn", "tokenizer", "leaks", 3);
}

#[test]
fn a_turn_is_forgotten_with_an_event_of_a_time() {
    let (_folder, mut store) = new_store();
    tell(&mut store, 0, &a_turn());
    assert_eq!(of(&mut store, "turn", "pool").len(), 1);
    forget(&mut store, &Selection { since: Some(at(2_000)), ..Selection::default() });
    assert!(of(&mut store, "turn", "pool").is_empty());
    assert_eq!(of(&mut store, "prompt", "pool").len(), 1);
}

#[test]
fn a_failure_that_was_fixed_is_one_entry_with_what_fixed_it() {
    let (_folder, mut store) = new_store();
    let subject = r#"{"subject":"cargo test"}"#;
    let failed = event(EventKind::Error, "cargo test: the tokenizer panicked", subject);
    tell(&mut store, 0, &[event(EventKind::Prompt, "run the tests", ""), failed]);
    assert_eq!(of(&mut store, "error", "tokenizer").len(), 1);
    let changed = event(EventKind::File, "edited src/lexer.rs", r#"{"path":"src/lexer.rs","how":"edited"}"#);
    let fixed = event(EventKind::Fix, "passes again: cargo test: the tokenizer panicked", subject);
    tell(&mut store, 5, &[changed, fixed]);
    let hits = of(&mut store, "fix", "tokenizer");
    assert_eq!(hits.len(), 1);
    let expected = "Failed: cargo test: the tokenizer panicked\nPasses again after a change of src/lexer.rs";
    assert_eq!(hits[0].excerpt, expected);
    assert!(of(&mut store, "error", "tokenizer").is_empty());
    let plan = store.plan_to_forget(&here(), &these(&[hits[0].entry.reference])).unwrap();
    assert_eq!((plan.entries.len(), plan.events), (1, 3));
}
