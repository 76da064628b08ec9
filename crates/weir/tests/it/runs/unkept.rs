//! Runs whose output cannot be stored: it is shown nevertheless, and the answer does not suggest running it again.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::support::{Home, parsed};

impl Home {
    fn store(&self) -> PathBuf {
        self.ok(&["note", "so that there is a store"]);
        let mut stores = std::fs::read_dir(self.data().join("projects")).unwrap();
        stores.next().unwrap().unwrap().path()
    }
}

#[test]
fn a_run_shows_its_output_though_another_process_holds_the_store() {
    let home = Home::with_programs();
    let lock = Connection::open(home.store().join("log.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let output = home.weir(&["run", "echo once >> side-effect; echo visible output; exit 3"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    assert!(shown.starts_with("exit 3 in "), "{shown}");
    assert!(
        shown.contains("visible output") && shown.contains("its output was not stored: the store is busy"),
        "{shown}"
    );
    // The answer names the process that holds the lock, which is this one.
    assert!(shown.contains(&format!("held by process {}", std::process::id())), "{shown}");
    assert!(!shown.contains("try again") && !shown.contains("[ctx:"), "{shown}");
    assert_eq!(std::fs::read_to_string(home.project().join("side-effect")).unwrap(), "once\n");
    let answer = parsed(&home.weir(&["run", "--json", "echo visible output"]));
    assert!(answer["reference"].is_null() && answer["not_kept"].is_string(), "{answer}");
    assert_eq!(answer["text"], "visible output\n");
}

#[test]
fn of_an_output_that_cannot_be_written_both_ends_are_shown() {
    let home = Home::with_programs();
    let store = home.store();
    let _ = std::fs::remove_dir_all(store.join("blobs"));
    // A file in place of the folder for texts: as with a full disk, nothing can be written.
    std::fs::write(store.join("blobs"), "in the way").unwrap();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let code = format!(
        "echo the very first line; echo {secret}; seq 1 300000; echo {secret}; echo the very last line; exit 4"
    );
    let output = home.weir(&["run", &code]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    for part in ["the very first line", "the very last line", "left out", "was not stored"] {
        assert!(shown.contains(part), "no `{part}` in {shown}");
    }
    assert!(!shown.contains(secret) && shown.len() < 20_000, "{shown}");
}

#[test]
fn doctor_names_who_holds_the_store_and_does_not_wait_for_it() {
    let home = Home::with_programs();
    let lock = Connection::open(home.store().join("log.db")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = Instant::now();
    let output = home.weir(&["doctor"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(shown.contains(&format!("held by process {}", std::process::id())), "{shown}");
}
