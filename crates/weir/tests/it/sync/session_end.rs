//! Exchanges that hooks start after a session or a turn.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Person, Team};
use crate::support::{TIMEOUT, age, said, text, wait_until};

/// How long a hook may take here. An exchange with a server that does not answer takes a minute.
const MAX_HOOK_TIME: Duration = Duration::from_secs(20);
/// Longer than the pause between two exchanges that hooks start, in seconds.
pub(super) const PAUSE_SECONDS: u64 = 301;

/// A server that takes connections and never answers.
struct SilentServer(TcpListener);

impl SilentServer {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    /// Waits for a request. Returns its first line and the connection, which is open until it is dropped.
    fn request(&self) -> (String, TcpStream) {
        let mut accepted = None;
        assert!(
            wait_until(TIMEOUT, || {
                accepted = self.0.accept().ok();
                accepted.is_some()
            }),
            "nobody connects"
        );
        let (stream, _) = accepted.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut first = String::new();
        BufReader::new(&stream).read_line(&mut first).unwrap();
        (first, stream)
    }
}

impl Person {
    pub(super) fn mark(&self) -> PathBuf {
        let projects = std::fs::read_dir(self.home.data().join("projects")).unwrap();
        projects.map(|one| one.unwrap().path().join("team.mark")).find(|path| path.exists()).unwrap()
    }

    /// Calls a hook that ends a session or a turn. Returns whether it has started an exchange, which renews the mark.
    pub(super) fn starts_a_sync(&self, event: &str) -> bool {
        let time = || self.mark().metadata().unwrap().modified().unwrap();
        let before = time();
        self.home.hook("s1", event, &json!({ "reason": "exit", "last_assistant_message": "done" }));
        time() != before
    }

    /// Returns whether a process of an exchange runs.
    fn is_syncing(&self) -> bool {
        let project = self.home.project().display().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let commands = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        commands.map(|line| text(&line)).any(|line| line.contains(&project) && line.contains("\0sync\0"))
    }

    pub(super) fn wait_for_the_sync(&self) {
        assert!(wait_until(TIMEOUT, || !self.is_syncing()), "the exchange never ends");
    }
}

#[test]
fn a_hook_starts_a_sync_that_it_does_not_wait_for_at_most_every_five_minutes() {
    let (_team, ana) = Team::new();
    let silent = SilentServer::new();
    ana.database(|db| db.execute("UPDATE connection SET server = ?1", [silent.url()]));
    for event in ["Stop", "SessionEnd"] {
        assert!(!ana.starts_a_sync(event), "{event}: the project was connected a moment ago");
    }
    age(&ana.mark(), PAUSE_SECONDS);
    let started = Instant::now();
    assert!(ana.starts_a_sync("SessionEnd"));
    let took = started.elapsed();
    let (request, connection) = silent.request();
    assert!(request.starts_with("GET /health "), "{request}");
    assert!(ana.is_syncing() && took < MAX_HOOK_TIME, "the hook has waited: {took:?}");
    for event in ["SessionEnd", "Stop"] {
        assert!(!ana.starts_a_sync(event), "{event}: an exchange began a moment ago");
    }
    drop(connection);
    ana.wait_for_the_sync();
    let checked = said(&ana.home.weir(&["doctor"]));
    assert!(checked.contains("the last sync failed: cannot reach the team server"), "{checked}");

    age(&ana.mark(), PAUSE_SECONDS);
    assert!(ana.starts_a_sync("Stop"), "a turn ends too, and the pause is over");
    drop(silent.request());
    ana.wait_for_the_sync();
}

#[test]
fn a_note_leaves_after_the_session_in_which_it_was_written() {
    let (team, ana) = Team::new();
    ana.note("The painting hides the vault.", &[]);
    age(&ana.mark(), PAUSE_SECONDS);
    assert!(ana.starts_a_sync("SessionEnd"));
    assert!(wait_until(TIMEOUT, || team.finds(&ana, "painting").as_array().unwrap().len() == 1), "it never came");
    ana.wait_for_the_sync();
}
