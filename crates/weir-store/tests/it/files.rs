//! Tests what a session knows of files, and for how long.

use weir_core::{Event, EventKind, Priority, Scope, Timestamp};
use weir_store::{Selection, SessionFile};

use crate::support::{NOW, at, forget, here, open, scope_in};

fn file(path: &str, at: Timestamp) -> SessionFile {
    SessionFile {
        path: path.into(),
        hash: "00".into(),
        bytes: 30,
        lines: 3,
        tokens: 9,
        outline_tokens: None,
        known_at: at,
        edits: 0,
        active: true,
        was_read: true,
        shown: true,
    }
}

fn told() -> Event {
    Event { kind: EventKind::File, priority: Priority::P4, text: "read it".into(), data: None, whole: None }
}

#[test]
fn a_session_knows_its_own_files_and_one_of_them_is_active() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let other = scope_in(Some("main"), Some("another"));
    assert_eq!(store.keep_session_file(&here(), &file("a", NOW), &told()).unwrap(), None);
    assert_eq!(store.keep_session_file(&here(), &file("b", NOW), &told()).unwrap().as_deref(), Some("a"));
    assert_eq!(store.keep_session_file(&here(), &file("b", NOW), &told()).unwrap(), None, "it was active already");
    assert_eq!(store.keep_session_file(&other, &file("a", NOW), &told()).unwrap(), None);
    let active = |scope: &Scope| {
        let files = store.session_files(scope).unwrap();
        files.into_iter().map(|file| (file.path, file.active)).collect::<Vec<_>>()
    };
    assert_eq!(active(&here()), [("b".to_owned(), true), ("a".to_owned(), false)]);
    assert_eq!(active(&other), [("a".to_owned(), true)]);
    // Without a session, nothing is recorded.
    let nobody = scope_in(None, None);
    assert_eq!(store.keep_session_file(&nobody, &file("a", NOW), &told()).unwrap(), None);
    assert!(store.session_files(&nobody).unwrap().is_empty());
}

#[test]
fn only_the_last_used_files_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    for n in 0..450 {
        store.keep_session_file(&here(), &file(&format!("f{n}"), NOW), &told()).unwrap();
    }
    let files = store.session_files(&here()).unwrap();
    assert_eq!((files.len(), files[0].path.as_str(), files[399].path.as_str()), (400, "f449", "f50"));
}

#[test]
fn who_forgets_a_session_or_a_time_forgets_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let other = scope_in(Some("main"), Some("another"));
    for (n, scope) in [here(), other.clone()].iter().enumerate() {
        store.keep_session_file(scope, &file("old", at(n as i64)), &told()).unwrap();
        store.keep_session_file(scope, &file("new", at(90_000)), &told()).unwrap();
    }
    forget(&mut store, &Selection { before: Some(at(50_000)), ..Selection::default() });
    for scope in [&here(), &other] {
        let left: Vec<String> = store.session_files(scope).unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(left, ["new"]);
    }
    let session = here().session.map(|session| session.key);
    forget(&mut store, &Selection { session, ..Selection::default() });
    assert!(store.session_files(&here()).unwrap().is_empty());
    assert_eq!(store.session_files(&other).unwrap().len(), 1);
    forget(&mut store, &Selection { everything: true, ..Selection::default() });
    assert!(store.session_files(&other).unwrap().is_empty());
}

#[test]
fn a_path_is_redacted_and_found_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let path = "logs/API_KEY=Xk93jfQpLmZ81vbTnR24.txt"; // typos: allow
    store.keep_session_file(&here(), &file(path, NOW), &told()).unwrap();
    let found = store.session_file(&here(), path).unwrap().unwrap();
    assert!(!found.path.contains("Xk93jfQpLmZ81vbTnR24"), "{}", found.path); // typos: allow
}
