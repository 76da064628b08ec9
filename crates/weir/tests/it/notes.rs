//! The review of notes as a person uses it, in real repositories.

use std::path::{Path, PathBuf};
use std::process::Output;

use expect_test::expect;
use serde_json::{Value, json};
use weir_core::{EntryKind, Level, Limits, NewEntry, Note, NoteKind, Origin, ProjectKey, Scope, Timestamp};
use weir_store::{Owner, Store};

use crate::support::{Home, parsed, text};

impl Home {
    /// Returns a home whose project is a repository with one commit.
    fn with_git() -> Self {
        let home = Self::new();
        home.git(&["init", "-q"]);
        home.commit("1");
        home
    }

    /// Creates a commit. Only the message distinguishes two commits in the same second on the same parent.
    fn commit(&self, message: &str) -> String {
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    fn doubts(&self, reference: &str) -> Value {
        let review = self.json(&["notes"]);
        let notes = review["notes"].as_array().unwrap();
        let of_note = notes.iter().find(|note| note["reference"] == reference).unwrap();
        of_note["doubts"].clone()
    }

    /// Stores a note of the user's as if it had been written this many days ago.
    fn note_of_days_ago(&self, days: i64, title: &str) {
        self.note_by(Origin::User, days, title);
    }

    fn note_by(&self, origin: Origin, days: i64, title: &str) {
        self.notes_by(origin, days, &[title]);
    }

    fn notes_by(&self, origin: Origin, days: i64, titles: &[impl AsRef<str>]) {
        let folder = std::fs::read_dir(self.data().join("projects")).unwrap().next().unwrap().unwrap().path();
        let key = ProjectKey(format!("path:{}", self.project().display()));
        let mut store = Store::open(&folder, Owner::Project(key.clone()), Limits::default()).unwrap();
        let (scope, at) =
            (Scope::project(key), Timestamp(jiff::Timestamp::now().as_millisecond() - days * 24 * 60 * 60 * 1000));
        for title in titles.iter().map(AsRef::as_ref) {
            let entry = NewEntry {
                text: title.into(),
                note: Some(Note::new(NoteKind::Warning)),
                ..NewEntry::new(EntryKind::Note, origin, Level::Project, title)
            };
            store.keep(&scope, entry, at).unwrap();
        }
    }
}

fn changed(path: &str) -> Value {
    json!([{ "doubt": "file_changed", "path": path }])
}

/// Stores a note of each category, and two that are in none.
fn with_each_sort(home: &Home) {
    home.write("pool.rs", "16");
    home.note(&["The pool has 8 connections", "--topic", "pool", "--kind", "decision"]);
    home.note(&["The pool has 16 connections", "--topic", "pool", "--kind", "decision", "--files", "pool.rs"]);
    home.note(&["Tests need port 7071", "--kind", "convention"]);
    home.note_of_days_ago(29, "Kept lately");
    home.note_of_days_ago(31, "Kept long ago");
    home.write("pool.rs", "32");
}

#[test]
fn notes_are_listed_and_those_to_look_at_are_counted() {
    let home = Home::new();
    home.check(
        &["notes"],
        expect![[r#"
            no notes yet; add one with `weir note "…"`
            exit 3"#]],
    );
    with_each_sort(&home);
    let listed = home.ok(&["notes"]);
    let titles = ["Kept lately", "Kept long ago", "The pool has 16 connections", "pool.rs has changed since"];
    titles.iter().for_each(|title| assert!(listed.contains(title), "{title}: {listed}"));
    assert!(!listed.contains("The pool has 8 connections"), "superseded: {listed}");
    let end = "\n\n5 notes: 1 may be out of date, 1 superseded, 1 never read\n\
               → may be out of date: weir notes --stale\n→ superseded: weir notes --superseded\n\
               → never read: weir notes --unused\n";
    assert!(listed.ends_with(end), "{listed}");
}

#[test]
fn nightly_every_note_is_reviewed_however_many_there_are() {
    const COUNT: usize = 5_001;
    let home = Home::new();
    home.note(&["The first one"]);
    let titles: Vec<String> = (1..COUNT).map(|number| format!("Note {number}")).collect();
    home.notes_by(Origin::User, 0, &titles);
    let said = home.ok(&["notes"]);
    assert!(said.contains(&format!("\n{COUNT} notes: ")), "{said}");
    assert_eq!(home.json(&["notes", "--all"])["notes"].as_array().unwrap().len(), COUNT);
}

#[test]
fn a_review_lists_the_sorts_asked_for() {
    let home = Home::new();
    with_each_sort(&home);
    home.check(
        &["notes", "--stale"],
        expect![[r#"
            5 notes: 1 may be out of date, 1 superseded, 1 never read

            may be out of date:
            [REF] DATE decision on pool: The pool has 16 connections
              pool.rs has changed since
            → if still true: weir note "…" --supersedes REF --files …; if not: weir notes --remove REF
            exit 0"#]],
    );
    home.check(
        &["notes", "--unused", "--superseded"],
        expect![[r#"
            5 notes: 1 may be out of date, 1 superseded, 1 never read

            superseded:
            [REF] DATE decision on pool: The pool has 8 connections
              superseded by [REF]
            → kept as history; to remove one: weir notes --remove REF

            never read:
            [REF] DATE warning: Kept long ago
            → to read one: weir get REF; to remove one: weir notes --remove REF
            exit 0"#]],
    );
    home.check(
        &["notes", "--all"],
        expect![[r#"
            5 notes: 1 may be out of date, 1 superseded, 1 never read

            may be out of date:
            [REF] DATE decision on pool: The pool has 16 connections
              pool.rs has changed since
            → if still true: weir note "…" --supersedes REF --files …; if not: weir notes --remove REF

            superseded:
            [REF] DATE decision on pool: The pool has 8 connections
              superseded by [REF]
            → kept as history; to remove one: weir notes --remove REF

            never read:
            [REF] DATE warning: Kept long ago
            → to read one: weir get REF; to remove one: weir notes --remove REF

            the others:
            [REF] DATE convention: Tests need port 7071
            [REF] DATE warning: Kept lately
            exit 0"#]],
    );
    let stale = home.json(&["notes", "--stale"]);
    assert_eq!(stale["notes"].as_array().unwrap().len(), 1);
    assert_eq!(stale["notes"][0]["sorts"], json!(["stale"]));
    assert_eq!(stale["notes"][0]["doubts"], changed("pool.rs"));
}

#[test]
fn reading_a_note_is_a_use_of_it_and_a_review_is_none() {
    let home = Home::new();
    home.note(&["something new"]);
    home.note_of_days_ago(40, "something old");
    let unused = || home.json(&["notes", "--unused"])["notes"].clone();
    let reference = unused()[0]["reference"].as_str().unwrap().to_owned();
    home.json(&["search", "old"]);
    assert_eq!(unused().as_array().unwrap().len(), 1, "neither a review nor a search is a use");
    home.json(&["get", &reference]);
    assert_eq!(unused(), json!([]));
}

#[test]
fn a_note_from_another_branch_says_so_until_that_is_merged() {
    let home = Home::with_git();
    let on_main = home.note(&["from the first commit"]);
    home.git(&["checkout", "-q", "-b", "feature/x"]);
    let commit = home.commit("2");
    let on_branch = home.note(&["from the branch"]);
    home.commit("3");
    assert_eq!(home.doubts(&on_main), json!([]), "an ancestor is in HEAD");
    assert_eq!(home.doubts(&on_branch), json!([]), "an ancestor is in HEAD");
    home.git(&["checkout", "-q", "main"]);
    home.commit("4");
    let expected = json!([{ "doubt": "other_branch", "commit": commit, "branch": "feature/x" }]);
    assert_eq!(home.doubts(&on_branch), expected);
    assert_eq!(home.doubts(&on_main), json!([]));
    home.git(&["merge", "-q", "--no-ff", "-m", "merged", "feature/x"]);
    assert_eq!(home.doubts(&on_branch), json!([]));
}

#[test]
fn a_work_tree_has_its_own_head_and_its_own_files() {
    let home = Home::with_git();
    home.write("pool.rs", "16");
    home.git(&["add", "pool.rs"]);
    home.commit("5");
    let note = home.note(&["about the pool", "--files", "pool.rs"]);
    home.git(&["worktree", "add", "-q", "-b", "old", "../other", "HEAD~1"]);
    assert_eq!(home.doubts(&note), json!([]));
    let other = home.project().with_file_name("other");
    let review = parsed(&home.weir(&["-C", other.to_str().unwrap(), "notes", "--json"]));
    let doubts: Vec<&Value> =
        review["notes"][0]["doubts"].as_array().unwrap().iter().map(|doubt| &doubt["doubt"]).collect();
    assert_eq!(doubts, ["file_gone", "other_branch"]);
}

#[test]
fn where_git_cannot_tell_nothing_is_said() {
    let home = Home::with_git();
    home.git(&["checkout", "-q", "-b", "feature/x"]);
    home.commit("6");
    let note = home.note(&["from the branch"]);
    home.git(&["checkout", "-q", "main"]);
    assert_eq!(home.doubts(&note).as_array().unwrap().len(), 1);
    let without_git = home.weir_command(&["notes", "--json"]).env("PATH", "/nowhere").output().unwrap();
    assert_eq!(only_doubts(&without_git), json!([]), "git is not installed");
    let shallow = home.project().join(".git/shallow");
    std::fs::write(&shallow, home.git(&["rev-parse", "HEAD"])).unwrap();
    assert_eq!(home.doubts(&note), json!([]), "the repository is shallow");
    std::fs::remove_file(shallow).unwrap();
    home.git(&["branch", "-q", "-D", "feature/x"]);
    home.git(&["reflog", "expire", "--expire=now", "--all"]);
    home.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(home.doubts(&note), json!([]), "the commit is no longer there");
    let git = home.project().join(".git");
    std::fs::rename(&git, git.with_file_name("not-git")).unwrap();
    assert_eq!(home.weir(&["notes"]).status.code(), Some(3), "it is another project now, and has no notes");
}

#[test]
fn a_note_of_the_user_is_not_doubted_for_the_files_of_another_project() {
    let home = Home::new();
    home.write("pool.rs", "16");
    let note = home.note(&["seen everywhere", "--scope", "user", "--files", "pool.rs"]);
    let other = home.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("pool.rs"), "of another project").unwrap();
    let from_other = || only_doubts(&home.weir(&["-C", other.to_str().unwrap(), "notes", "--json"]));
    assert_eq!(from_other(), json!([]));
    home.write("pool.rs", "32");
    let full = home.project().join("pool.rs");
    assert_eq!(from_other(), changed(full.to_str().unwrap()));
    assert_eq!(home.doubts(&note), changed(full.to_str().unwrap()));
}

#[test]
fn a_review_changes_nothing_in_the_repository() {
    let home = Home::with_git();
    home.git(&["checkout", "-q", "-b", "feature/x"]);
    home.commit("7");
    home.note(&["from the branch"]);
    home.git(&["checkout", "-q", "main"]);
    let before = listing(&home.project());
    home.json(&["notes"]);
    assert_eq!(listing(&home.project()), before);
}

/// Returns the doubts about the only note in an answer.
fn only_doubts(output: &Output) -> Value {
    let review = parsed(output);
    assert_eq!(review["notes"].as_array().unwrap().len(), 1, "{review}");
    review["notes"][0]["doubts"].clone()
}

/// Returns every path below a folder, with its modification time.
fn listing(folder: &Path) -> Vec<(PathBuf, std::time::SystemTime)> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let about = entry.metadata().unwrap();
            all.push((entry.path(), about.modified().unwrap()));
            folders.extend(about.is_dir().then(|| entry.path()));
        }
    }
    all.sort();
    all
}

#[test]
fn a_search_and_a_look_at_a_note_say_what_is_doubtful() {
    let home = Home::with_git();
    home.write("pool.rs", "16");
    let reference = home.note(&["The pool has 16 connections", "--files", "pool.rs"]);
    let said = |arguments: &[&str]| text(&home.weir(arguments).stdout);
    assert!(!said(&["search", "pool connections"]).contains("since"));
    home.write("pool.rs", "32");
    for arguments in [["search", "pool connections"], ["get", reference.trim_matches(['[', ']'])]] {
        let text = said(&arguments);
        let head = text.lines().next().unwrap_or_default();
        assert!(head.ends_with("; pool.rs has changed since"), "{arguments:?}: {text}");
    }
    let found = home.json(&["search", "pool connections"]);
    assert_eq!(found["queries"][0]["hits"][0]["doubts"][0]["doubt"], "file_changed", "{found}");
}

#[test]
fn the_user_confirms_what_a_model_noted() {
    let home = Home::new();
    let own = home.note(&["The pool has 16 connections"]);
    home.note_by(Origin::Model, 0, "The pool starves above 16 connections");
    let listed = home.json(&["notes", "--all"]);
    let by_model = listed["notes"].as_array().unwrap().iter().find(|note| note["origin"] == "model").unwrap();
    assert_eq!(by_model["confirmed_at"], Value::Null);
    let reference = by_model["reference"].as_str().unwrap();
    let confirmed = home.json(&["notes", "--confirm", reference]);
    assert_eq!(confirmed["confirmed"], json!([reference]));
    for arguments in [&["get", reference][..], &["search", "starves"], &["notes", "--all"]] {
        let said = text(&home.weir(arguments).stdout);
        assert!(said.contains("confirmed"), "{arguments:?}: {said}");
    }
    let said = text(&home.weir(&["get", &own]).stdout);
    assert!(!said.contains("confirmed"), "{said}");
    let missing = home.weir(&["notes", "--confirm", "zzzzzzzzzz"]);
    assert!(!missing.status.success());
    assert!(text(&missing.stderr).contains("cannot confirm [ctx:zzzzzzzzzz]: there is no such note"));
}
