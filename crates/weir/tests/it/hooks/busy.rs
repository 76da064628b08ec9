//! Hooks while another process holds the log: they do not wait long, and none of their events is lost.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Session, numbers};

/// Far above what a hook waits, and far below what any other call does, since the test machine may be slow.
const MAX_HOOK_TIME: Duration = Duration::from_secs(12);

impl Session {
    fn store(&self) -> PathBuf {
        let mut stores = std::fs::read_dir(self.data().join("projects")).unwrap();
        stores.next().unwrap().unwrap().path()
    }

    /// Takes the lock of the log until the returned connection is dropped.
    fn lock(&self) -> Connection {
        let connection = Connection::open(self.store().join("log.db")).unwrap();
        connection.execute_batch("PRAGMA busy_timeout = 30000; BEGIN IMMEDIATE").unwrap();
        connection
    }

    fn prompt(&self, text: &str) -> Value {
        self.hook("UserPromptSubmit", json!({ "prompt": text }))
    }

    fn prompts(&self) -> Vec<String> {
        let events = self.events().into_iter();
        events.filter(|(kind, _)| kind == "prompt").map(|(_, text)| text).collect()
    }
}

#[test]
fn a_hook_gives_up_on_the_lock_and_the_next_call_takes_in_what_it_told() {
    let session = Session::new();
    session.prompt("before");
    let lock = session.lock();
    let begun = Instant::now();
    session.prompt("first while locked");
    // An output that is held for the first time costs two writes, and both wait only once.
    assert_eq!(session.ran("seq 1 30000", &numbers(30_000)), Value::Null, "what is not kept is left alone");
    session.prompt("second while locked");
    assert!(begun.elapsed() < MAX_HOOK_TIME, "{:?}", begun.elapsed());
    assert!(session.store().join("spool").exists());
    let while_locked = std::time::SystemTime::now();
    drop(lock);
    session.prompt("after");
    assert_eq!(session.prompts(), ["before", "first while locked", "second while locked", "after"]);
    assert_eq!(session.prompts().len(), 4, "taken in once");
    assert!(!session.store().join("spool").exists(), "nothing is left");
    assert_eq!(session.faults(), "");

    // With its original time, and with the text of the output.
    let log = Connection::open(session.store().join("log.db")).unwrap();
    let at: i64 =
        log.query_row("SELECT at FROM events WHERE text LIKE '%second while locked%'", [], |row| row.get(0)).unwrap();
    let locked_until = while_locked.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis() as i64;
    assert!(at <= locked_until, "{at} is after {locked_until}");
    let reference: String =
        log.query_row("SELECT reference FROM entries WHERE title = 'seq 1 30000'", [], |row| row.get(0)).unwrap();
    assert_eq!(session.ok(&["get", &reference, "--raw"]), numbers(30_000));
}

#[test]
fn a_session_that_starts_while_the_log_is_locked_gets_its_guide() {
    let session = Session::new();
    session.prompt("Port the parser to the new grammar, and keep the old tests");
    session.hook("PreCompact", json!({ "trigger": "manual", "custom_instructions": "" }));
    let lock = session.lock();
    let begun = Instant::now();
    let answer = session.hook("SessionStart", json!({ "source": "compact" }));
    assert!(begun.elapsed() < MAX_HOOK_TIME, "{:?}", begun.elapsed());
    assert!(answer.to_string().contains("Port the parser"), "{answer}");
    drop(lock);
    assert_eq!(session.prompts().len(), 1);
    assert_eq!(session.faults(), "");
}

#[test]
fn eight_hooks_at_once_while_locked_are_all_taken_in_once() {
    let session = Session::new();
    session.prompt("before");
    let lock = session.lock();
    let call = |number: usize| session.prompt(&format!("number {number}"));
    std::thread::scope(|scope| (0..8).for_each(|number| drop(scope.spawn(move || call(number)))));
    drop(lock);
    // Eight concurrent hooks take them in between them.
    let call = |number: usize| session.prompt(&format!("number {number}"));
    std::thread::scope(|scope| (8..16).for_each(|number| drop(scope.spawn(move || call(number)))));
    let mut prompts = session.prompts();
    prompts.sort();
    let mut expected: Vec<String> = (0..16).map(|number| format!("number {number}")).collect();
    expected.push("before".to_owned());
    expected.sort();
    assert_eq!(prompts, expected);
    assert!(!session.store().join("spool").exists());
}
