//! Clones that share a store, with real repositories: only after the user agreed, and until the user ends it.
#![expect(clippy::disallowed_methods, reason = "the tests start the program and git")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// What the first clone knows.
const NOTE: &str = "The ferry leaves at seven";

/// A home with clones of one repository.
struct Home(TempDir);

impl Home {
    /// Returns a home with a repository `first`, which has a note.
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        home.repository("first", "https://user:hunter2hunter2@Example.org/team/project.git");
        home.ok("first", &["note", NOTE]);
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn repository(&self, name: &str, remote: &str) {
        std::fs::create_dir(self.path(name)).unwrap();
        self.git(name, &["init", "-q"]);
        self.git(name, &["remote", "add", "origin", remote]);
        std::fs::write(self.path(name).join("pool.rs"), "16").unwrap();
        self.git(name, &["add", "pool.rs"]);
        self.git(name, &["commit", "-q", "-m", name]);
    }

    /// Clones the first repository. Its remote is written differently.
    fn new_clone(&self, name: &str) {
        self.git("first", &["clone", "-q", ".", self.path(name).to_str().unwrap()]);
        self.git(name, &["remote", "set-url", "origin", "git@example.org:team/project"]);
    }

    fn git(&self, project: &str, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.path(project)).env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"]);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn command(&self, project: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(arguments).current_dir(self.path(project)).env_clear().stdin(Stdio::null());
        command.env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin").env("WEIR_HOOK_SECONDS", "60");
        command
    }

    fn weir(&self, project: &str, arguments: &[&str]) -> Output {
        self.command(project, arguments).output().unwrap()
    }

    fn ok(&self, project: &str, arguments: &[&str]) -> String {
        let output = self.weir(project, arguments);
        assert!(output.status.success(), "{project} {arguments:?}: {}", said(&output));
        said(&output)
    }

    fn fails(&self, project: &str, arguments: &[&str], code: i32) -> String {
        let output = self.weir(project, arguments);
        assert_eq!(output.status.code(), Some(code), "{project} {arguments:?}: {}", said(&output));
        said(&output)
    }

    fn notes(&self, project: &str) -> Vec<String> {
        let output = self.weir(project, &["notes", "--json"]);
        let review: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let notes = review["notes"].as_array().cloned().unwrap_or_default();
        let mut titles: Vec<String> = notes.iter().map(|note| note["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        titles
    }

    fn doubts(&self, project: &str, title: &str) -> Vec<Value> {
        let output = self.weir(project, &["notes", "--json"]);
        let review: Value = serde_json::from_slice(&output.stdout).unwrap();
        let note = review["notes"].as_array().unwrap().iter().find(|note| note["title"] == title).unwrap();
        note["doubts"].as_array().unwrap().iter().map(|doubt| doubt["doubt"].clone()).collect()
    }

    fn prompt(&self, project: &str, text: &str) {
        let payload = json!({
            "session_id": "s", "cwd": self.path(project), "hook_event_name": "UserPromptSubmit", "prompt": text,
        });
        let mut command = self.command(project, &["hook", "claude", "UserPromptSubmit"]);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn two_clones_share_notes_once_the_user_agrees() {
    let home = Home::new();
    home.new_clone("second");
    assert_eq!(home.notes("second"), [""; 0], "a clone has a store of its own");
    home.ok("second", &["adopt", "--yes"]);
    assert_eq!(home.notes("second"), [NOTE]);
    home.ok("second", &["note", "And returns at nine"]);
    assert_eq!(home.notes("first"), ["And returns at nine", NOTE]);
    assert!(home.ok("first", &["search", "returns nine"]).contains("And returns at nine"));
    // Hooks and folders below the root use the same store.
    home.prompt("second", "Look into the timetable");
    assert!(home.ok("first", &["history"]).contains("Look into the timetable"));
    std::fs::create_dir(home.path("second/src")).unwrap();
    assert!(home.ok("second/src", &["search", "ferry"]).contains(NOTE));
    let doctor = home.ok("second", &["doctor"]);
    let first = home.path("first").display().to_string();
    assert!(doctor.contains(&format!("second, with the store of {first}")), "{doctor}");
    assert!(!home.ok("first", &["doctor"]).contains("with the store of"));
}

#[test]
fn an_identity_alone_opens_nothing() {
    let home = Home::new();
    // It has the same root commit and the same remote, like any copy that someone made.
    home.new_clone("evil");
    home.prompt("evil", "What is known here?");
    for arguments in [&["search", "ferry"][..], &["history"], &["notes", "--all"], &["export"], &["doctor"]] {
        let said = said(&home.weir("evil", arguments));
        assert!(!said.contains(NOTE), "{arguments:?}: {said}");
    }
    let refused = home.fails("evil", &["adopt"], 6);
    assert!(refused.contains("you did not agree") && !refused.contains("--yes"), "{refused}");
    assert_eq!(home.notes("evil"), [""; 0]);
    assert!(!home.0.path().join(".local/share/weir/shared").exists());
}

#[test]
fn an_empty_store_suggests_the_other_clone_without_naming_it() {
    let home = Home::new();
    home.new_clone("second");
    let first = home.path("first").display().to_string();
    for arguments in [&["history"][..], &["search", "ferry"], &["doctor"]] {
        let said = said(&home.weir("second", arguments));
        assert!(said.contains("has the same remote") && said.contains("weir adopt"), "{arguments:?}: {said}");
        assert!(!said.contains(&first), "{arguments:?}: {said}");
    }
    home.repository("third", "https://example.org/another/project");
    assert!(!said(&home.weir("third", &["history"])).contains("weir adopt"));
}

#[test]
fn the_own_store_is_kept_and_used_again_after_undo() {
    let home = Home::new();
    home.new_clone("second");
    home.ok("second", &["note", "Known before"]);
    let answer = home.ok("second", &["adopt", "--yes", "../first"]);
    assert!(answer.contains("own store with 1 entry is kept"), "{answer}");
    assert_eq!(home.notes("second"), [NOTE]);
    home.ok("second", &["note", "Known meanwhile"]);
    assert!(home.fails("second", &["adopt", "--yes"], 2).contains("already uses the store of"));
    let answer = home.ok("second", &["adopt", "--undo"]);
    assert!(answer.contains("own store again"), "{answer}");
    assert_eq!(home.notes("second"), ["Known before"]);
    assert_eq!(home.notes("first"), ["Known meanwhile", NOTE]);
    assert!(home.fails("second", &["adopt", "--undo"], 2).contains("already uses its own store"));
}

#[test]
fn only_clones_of_one_repository_share_a_store() {
    let home = Home::new();
    home.repository("other", "https://example.org/team/project");
    assert!(home.fails("other", &["adopt", "--yes"], 3).contains("no other clone"));
    assert!(home.fails("other", &["adopt", "--yes", "../first"], 2).contains("it is not a clone of this repository"));
    std::fs::create_dir(home.path("plain")).unwrap();
    assert!(home.fails("plain", &["adopt", "--yes"], 2).contains("it is not a git repository"));
    assert!(home.fails("plain", &["adopt", "--yes", "../first"], 2).contains("still there"));
    // A shallow clone does not know its first commit, but the user does.
    let first = format!("file://{}", home.path("first").display());
    home.git("first", &["commit", "-q", "--allow-empty", "-m", "more"]);
    home.git("first", &["clone", "-q", "--depth", "1", &first, "../shallow"]);
    assert!(home.fails("shallow", &["adopt", "--yes"], 2).contains("it is a shallow clone"));
    home.ok("shallow", &["adopt", "--yes", "../first"]);
    assert_eq!(home.notes("shallow"), [NOTE]);
}

#[test]
fn a_clone_that_shares_leads_to_the_store_that_it_shares() {
    let home = Home::new();
    home.new_clone("second");
    home.new_clone("third");
    home.ok("second", &["adopt", "--yes"]);
    home.ok("third", &["adopt", "--yes", "../second"]);
    home.ok("second", &["adopt", "--undo"]);
    assert_eq!(home.notes("third"), [NOTE]);
    // Whose store is shared cannot share another.
    home.ok("second", &["note", "Known in the second"]);
    let refused = home.fails("first", &["adopt", "--yes", "../second"], 2);
    assert!(refused.contains(&format!("shared by {}", home.path("third").display())), "{refused}");
    home.new_clone("fourth");
    let several = home.fails("fourth", &["adopt", "--yes"], 2);
    assert!(several.contains("several clones") && several.contains("/second"), "{several}");
}

#[test]
fn clones_follow_a_store_whose_owner_was_moved() {
    let home = Home::new();
    home.new_clone("second");
    home.ok("second", &["adopt", "--yes"]);
    std::fs::rename(home.path("first"), home.path("moved")).unwrap();
    assert_eq!(home.notes("second"), [NOTE], "the store does not depend on the folder");
    let answer = home.ok("moved", &["adopt", "../first"]);
    assert!(answer.contains(&format!("{} still shares it", home.path("second").display())), "{answer}");
    home.ok("second", &["note", "Known after the move"]);
    assert_eq!(home.notes("moved"), ["Known after the move", NOTE]);
}

#[test]
fn a_clone_that_is_gone_leaves_its_store_to_the_next() {
    let home = Home::new();
    // The identity is known once someone has asked for it.
    assert!(home.ok("first", &["doctor"]).contains("✓ repository: repo:"));
    home.new_clone("second");
    std::fs::remove_dir_all(home.path("first")).unwrap();
    assert!(home.fails("second", &["adopt"], 6).contains("you did not agree"));
    home.ok("second", &["adopt", "--yes"]);
    assert_eq!(home.notes("second"), [NOTE]);
    assert!(home.fails("second", &["adopt", "--undo"], 2).contains("already uses its own store"));
}

#[test]
fn each_clone_doubts_notes_by_its_own_files() {
    let home = Home::new();
    home.new_clone("second");
    home.ok("second", &["adopt", "--yes"]);
    home.ok("first", &["note", "The pool has 16 connections", "--files", "pool.rs"]);
    let bound = "The pool has 16 connections";
    assert_eq!(home.doubts("second", bound), Vec::<Value>::new());
    std::fs::write(home.path("second/pool.rs"), "32").unwrap();
    assert_eq!(home.doubts("second", bound), [json!("file_changed")]);
    assert_eq!(home.doubts("first", bound), Vec::<Value>::new());
    // Of a commit that this clone does not have, it knows nothing.
    home.git("first", &["checkout", "-q", "-b", "elsewhere"]);
    home.git("first", &["commit", "-q", "--allow-empty", "-m", "unknown to the second"]);
    home.ok("first", &["note", "Known elsewhere"]);
    assert_eq!(home.doubts("second", "Known elsewhere"), Vec::<Value>::new());
}

#[test]
fn credentials_of_a_remote_are_neither_shown_nor_stored() {
    let home = Home::new();
    let doctor = home.ok("first", &["doctor"]);
    let root = home.git("first", &["rev-list", "--max-parents=0", "HEAD"]);
    assert!(doctor.contains(&format!("repo:{root}@example.org/team/project")), "{doctor}");
    assert!(!doctor.contains("hunter2"), "{doctor}");
    home.new_clone("second");
    home.ok("second", &["adopt", "--yes"]);
    for file in files(&home.0.path().join(".local/share/weir")) {
        let bytes = std::fs::read(&file).unwrap();
        assert!(!bytes.windows(7).any(|part| part == b"hunter2"), "{}", file.display());
    }
}
