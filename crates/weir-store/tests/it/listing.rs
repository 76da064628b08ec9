//! Tests the lists that people look through: pages of sessions, entries of a time, and what a store has in numbers.

use weir_core::time::DAY;
use weir_core::{EntryKind, Scope, SessionKey, Timestamp};
use weir_store::{EntryFilter, SessionFilter, Store};

use crate::support::{HOUR, NOW, at, day, entry, event, here, keep_at, new_store, note_on, run, session_key};

fn happen(store: &mut Store, client: &str, key: &str, now: Timestamp) {
    let session = SessionKey { client: client.into(), key: key.into() };
    store.append(&Scope { session: Some(session), ..here() }, &event("something"), now).unwrap();
}

fn paged(store: &Store, filter: &SessionFilter) -> Vec<String> {
    let mut filter = filter.clone();
    let mut keys = Vec::new();
    loop {
        let page = store.sessions_page(&filter).unwrap();
        assert!(page.len() <= filter.limit);
        let Some(last) = page.last() else { return keys };
        filter.before = Some(last.place.clone());
        keys.extend(page.into_iter().map(|session| format!("{}/{}", session.place.client, session.place.key)));
    }
}

#[test]
fn pages_have_every_session_once_and_the_newest_first() {
    let (_folder, mut store) = new_store();
    for (client, key, now) in
        [("b", "one", at(1)), ("a", "two", at(2)), ("a", "same", at(3)), ("b", "same", at(3)), ("b", "three", at(3))]
    {
        happen(&mut store, client, key, now);
    }
    let all = ["b/three", "b/same", "a/same", "a/two", "b/one"];
    for limit in 1..7 {
        assert_eq!(paged(&store, &SessionFilter { limit, ..SessionFilter::default() }), all, "{limit} at a time");
    }
    let of_client = SessionFilter { client: Some("a".into()), limit: 1, ..SessionFilter::default() };
    assert_eq!(paged(&store, &of_client), ["a/same", "a/two"]);
    assert_eq!(store.session_counts().unwrap(), [("a".to_owned(), Some(2)), ("b".to_owned(), Some(3))]);
}

#[test]
fn a_session_knows_those_beside_it() {
    let (_folder, mut store) = new_store();
    for (key, minutes) in [("first", 1), ("second", 2), ("third", 3)] {
        happen(&mut store, "a", key, at(minutes));
    }
    let beside = |key: &str| {
        let session = store.session(&SessionKey { client: "a".into(), key: key.into() }).unwrap().unwrap();
        let (earlier, later) = store.sessions_beside(&session.place).unwrap();
        [earlier, later].map(|session| session.map(|session| session.key))
    };
    assert_eq!(beside("first"), [None, Some("second".into())]);
    assert_eq!(beside("second"), [Some("first".into()), Some("third".into())]);
    assert_eq!(beside("third"), [Some("second".into()), None]);
    assert_eq!(store.session(&session_key("none")).unwrap(), None);
}

#[test]
fn a_session_counts_on_the_days_on_which_something_happened() {
    let (_folder, mut store) = new_store();
    let from = Timestamp(NOW.0.div_euclid(DAY) * DAY);
    for days in [0, 3] {
        happen(&mut store, "a", "long", from.plus_days(days));
    }
    happen(&mut store, "a", "short", from);
    let key = SessionKey { client: "a".into(), key: "long".into() };
    assert_eq!(store.active_days(&key, from, 5).unwrap(), [true, false, false, true, false]);
    assert_eq!(store.active_days(&session_key("none"), from, 2).unwrap(), [false, false]);
    let active = SessionFilter { active_since: Some(from.plus_days(1)), limit: 9, ..SessionFilter::default() };
    assert_eq!(paged(&store, &active), ["a/long"]);
}

#[test]
fn entries_of_some_kinds_are_listed_without_being_used() {
    let (_folder, mut store) = new_store();
    let old = keep_at(&mut store, run("old"), NOW).reference;
    let output = keep_at(&mut store, run("an output"), day(1)).reference;
    keep_at(&mut store, entry(EntryKind::Document, "a document"), day(1));
    let page = keep_at(&mut store, entry(EntryKind::Page, "a page"), Timestamp(day(1).0 + HOUR)).reference;
    let list = |limit| {
        let kinds = vec![EntryKind::Run, EntryKind::Page];
        store.entries(&here(), &EntryFilter { kinds, since: day(1), limit }).unwrap()
    };
    let found: Vec<_> = list(5).entries.iter().map(|entry| entry.reference).collect();
    assert_eq!((found, list(5).is_whole), (vec![page, output], true));
    assert_eq!((list(1).entries.len(), list(1).is_whole), (1, false));
    assert_eq!(store.entry(&here(), old).unwrap().map(|entry| entry.reference), Some(old));
    assert_eq!(store.session_of(&here(), old).unwrap(), here().session);
}

#[test]
fn a_store_says_what_it_has() {
    let (_folder, mut store) = new_store();
    assert_eq!((store.overview().unwrap().entries, store.overview().unwrap().newest), (0, None));
    let day_of = |now: Timestamp| Timestamp(now.0.div_euclid(DAY) * DAY);
    keep_at(&mut store, note_on("pool", "one"), NOW);
    keep_at(&mut store, note_on("pool", "two"), day(1));
    keep_at(&mut store, run("x".repeat(900)), day(1));
    keep_at(&mut store, run("x".repeat(900)), day(2));
    let overview = store.overview().unwrap();
    assert_eq!((overview.entries, overview.notes, overview.sessions), (4, Some(2), Some(1)));
    assert_eq!(overview.newest, Some(day(2)));
    assert!(overview.bytes > 1_000, "{overview:?}");
    let kept = store.kept_by_day(day_of(NOW), 4).unwrap();
    assert_eq!((kept.len(), kept[2], kept[3]), (4, 0, 0), "a text counts on the day on which it was first kept");
    assert!(kept[0] > 0 && kept[1] > 0, "{kept:?}");
}
