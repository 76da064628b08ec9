//! Listening to a team's server.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use super::Team;
use super::session_end::PAUSE_SECONDS;
use crate::support::{TIMEOUT, age, said, wait_until};

/// A process that ends with the test.
struct Watching(Child);

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_note_comes_at_once_to_who_watches_and_leaves_at_once() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    let mut command = ben.home.weir_command(&["sync", "--watch"]);
    let mut watching = Watching(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(watching.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().contains("received 0 notes"));
    let mark = || ben.mark().metadata().unwrap().modified().unwrap();
    let first = mark();
    ana.note("The pool has ten connections.", &["--topic", "pool"]);
    ana.sync();
    assert!(lines.next().unwrap().contains("received 1 note"));
    assert!(lines.next().unwrap().contains("by ana: "));
    assert!(ben.search("connections").contains("by ana (teammate)"));
    let second = mark();
    assert!(second > first);
    // The pause after which a hook syncs is over, but somebody listens.
    age(&ben.mark(), PAUSE_SECONDS);
    assert!(!ben.starts_a_sync("Stop"));
    ben.note("The pool is opened late.", &[]);
    assert!(lines.next().unwrap().contains("sent 1 record"));
    assert!(!team.finds(&ana, "opened late").as_array().unwrap().is_empty());
    drop(watching);
    age(&ben.mark(), PAUSE_SECONDS);
    assert!(ben.starts_a_sync("Stop"));
    ben.wait_for_the_sync();
}

#[test]
fn a_note_comes_while_a_client_is_open() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    let _open = ben.home.server();
    ana.note("The pool has ten connections.", &[]);
    ana.sync();
    assert!(wait_until(TIMEOUT, || ben.search("connections").contains("by ana (teammate)")));
    ben.wait_for_the_sync();
}

#[test]
fn one_process_listens_and_a_connection_that_ends_ends_it() {
    let (team, _ana) = Team::new();
    let ben = team.invite("ben");
    let mut command = ben.home.weir_command(&["sync", "--watch"]);
    let mut watching = Watching(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(watching.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.next().unwrap();
    let taken = || said(&ben.home.weir(&["sync", "--watch"]));
    assert!(wait_until(TIMEOUT, || taken().contains("another process does already")));
    ben.home.ok(&["sync", "--stop"]);
    assert!(wait_until(TIMEOUT, || watching.0.try_wait().unwrap().is_some()));
    assert!(said(&ben.home.weir(&["sync", "--watch"])).contains("not connected"));
}
