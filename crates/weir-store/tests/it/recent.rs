//! Tests what is newest in a store: requests across sessions, and notes of one level.

use weir_core::{Event, EventKind, Level, NewEntry, Priority, Timestamp};
use weir_store::Store;

use crate::support::{NOW, at, new_store, note, scope_in};

fn tell(store: &mut Store, session: &str, kind: EventKind, text: &str, now: Timestamp) {
    let event = Event { kind, priority: Priority::P1, text: text.to_owned(), data: None, whole: None };
    store.append(&scope_in(None, Some(session)), &event, now).unwrap();
}

fn newest(store: &Store, most: usize) -> Vec<(String, String)> {
    let prompts = store.newest_prompts(most).unwrap();
    prompts.into_iter().map(|prompt| (prompt.session.key, prompt.text)).collect()
}

fn check(found: &[(String, String)], expected: &[(&str, &str)]) {
    let found: Vec<(&str, &str)> = found.iter().map(|(key, text)| (key.as_str(), text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn requests_of_all_sessions_come_in_the_order_of_time() {
    let (_folder, mut store) = new_store();
    check(&newest(&store, 3), &[]);
    // A session that began first and goes on.
    for (session, text, minute) in [("old", "a", 0), ("new", "b", 1), ("old", "c", 2), ("new", "d", 3), ("old", "e", 4)]
    {
        tell(&mut store, session, EventKind::Prompt, text, at(minute * 60_000));
        tell(&mut store, session, EventKind::Tool, "ran", at(minute * 60_000 + 1));
    }
    check(&newest(&store, 3), &[("old", "e"), ("new", "d"), ("old", "c")]);
    check(&newest(&store, 9), &[("old", "e"), ("new", "d"), ("old", "c"), ("new", "b"), ("old", "a")]);
}

#[test]
fn many_sessions_without_a_request_do_not_hide_those_with_one() {
    let (_folder, mut store) = new_store();
    tell(&mut store, "asks", EventKind::Prompt, "do it", NOW);
    for n in 0..60 {
        tell(&mut store, &format!("silent {n}"), EventKind::Tool, "ran", at(1 + n));
    }
    check(&newest(&store, 10), &[("asks", "do it")]);
}

#[test]
fn notes_of_one_level_are_those_that_are_visible() {
    let (_folder, mut store) = new_store();
    for (level, work) in [(Level::Project, "main"), (Level::Work, "main"), (Level::Work, "side")] {
        let entry = NewEntry { level, title: format!("{level} {work}"), ..note(format!("{level} {work}")) };
        store.keep(&scope_in(Some(work), None), entry, NOW).unwrap();
    }
    let titles = |level: Level| -> Vec<String> {
        let notes = store.newest_notes_at(&scope_in(Some("main"), None), level, 9).unwrap();
        notes.into_iter().map(|note| note.title).collect()
    };
    assert_eq!(titles(Level::Work), ["work main"]);
    assert_eq!(titles(Level::Project), ["project main"]);
    assert!(titles(Level::Session).is_empty());
}
