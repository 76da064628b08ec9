//! Tests that advice works: brings the store into the state in which a hint is printed, runs the hint exactly as
//! printed, and checks that it solves the problem.

use std::path::{Path, PathBuf};
use std::process::Output;

use crate::support::{Home, WEIR, files_below, said};

/// Returns a home with a project, whose store has a note and a large indexed file.
fn filled() -> Home {
    let mut home = Home::new();
    home.programs.insert(0, Path::new(WEIR).parent().unwrap().to_owned());
    home.write("docs/guide.md", large_text());
    home.note(&["the pool is small"]);
    home.ok(&["index", "docs"]);
    home
}

impl Home {
    /// Runs a line like a person who copies it into a shell.
    fn shell(&self, line: &str) -> Output {
        self.command("sh", &["-c", line]).output().unwrap()
    }

    fn file(&self, name: &str) -> PathBuf {
        let is_it = |path: &PathBuf| path.iter().any(|part| part == "projects") && path.ends_with(name);
        files_below(self.path()).into_iter().find(is_it).unwrap()
    }

    fn text_files(&self) -> Vec<PathBuf> {
        let is_text = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "zst");
        files_below(self.path()).into_iter().filter(is_text).collect()
    }

    /// Returns the file with the text of the guide, if nothing else is stored.
    fn guide_text(&self) -> PathBuf {
        let [only] = self.text_files().try_into().unwrap();
        only
    }

    /// Runs statements on a database of the project's store.
    fn edit(&self, name: &str, sql: &str) {
        let python = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
        let edited = self.command("python3", &["-c", python]).arg(self.file(name)).arg(sql).output().unwrap();
        assert!(edited.status.success(), "{}", said(&edited));
    }

    fn finds(&self, word: &str) -> bool {
        let output = self.weir(&["search", word]);
        assert!(matches!(output.status.code(), Some(0 | 3)), "{}", said(&output));
        output.status.success()
    }

    fn assert_healthy(&self) {
        let output = self.weir(&["doctor"]);
        let text = said(&output);
        let bad = text.lines().filter(|line| line.starts_with("✗") && line.contains("store")).collect::<Vec<_>>();
        assert!(bad.is_empty(), "{text}");
    }
}

/// Returns a text that is larger than what the log stores in its own pages.
fn large_text() -> String {
    let line = |n: u64| format!("# Chapter {n}\n\n{}\n\n", blake3::hash(&n.to_le_bytes()).to_hex());
    "# The guide\n\nmanometer\n\n".to_owned() + &(0..2_000).map(line).collect::<String>()
}

/// Returns the commands that a hint or a fix tells to run: the text in backticks, after `start over:`, or the whole
/// line.
fn advised(output: &Output) -> Vec<String> {
    let text = said(output);
    let hints =
        text.lines().filter_map(|line| line.trim().strip_prefix("hint: ").or(line.trim().strip_prefix("fix: ")));
    let mut commands = Vec::new();
    for hint in hints {
        if let Some((_, command)) = hint.split_once("start over: ") {
            commands.push(command.to_owned());
        } else if hint.starts_with("weir ") {
            commands.push(hint.to_owned());
        } else {
            commands
                .extend(hint.split('`').skip(1).step_by(2).filter(|word| word.starts_with("weir")).map(str::to_owned));
        }
    }
    assert!(!commands.is_empty(), "nothing is advised: {text}");
    commands
}

#[test]
fn a_damaged_index_is_made_again() {
    let home = filled();
    std::fs::write(home.file("index.db"), [7; 50_000]).unwrap();
    let refused = home.weir(&["search", "pool"]);
    assert_eq!(refused.status.code(), Some(4));
    let done = home.shell(&advised(&refused)[0]);
    assert!(home.finds("pool") && home.finds("manometer"), "{}", said(&done));
    home.assert_healthy();
}

#[test]
fn an_index_of_a_newer_version_is_made_again() {
    let home = filled();
    home.edit("index.db", "INSERT INTO migrations VALUES (1, '0099_future', 'ff', ''); PRAGMA user_version = 2");
    let refused = home.weir(&["search", "pool"]);
    assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
    home.shell(&advised(&refused)[0]);
    assert!(home.finds("pool"));
    home.assert_healthy();
}

#[test]
fn a_damaged_log_is_moved_away_and_the_store_begins_again() {
    let home = filled();
    std::fs::write(home.file("log.db"), [7; 50_000]).unwrap();
    begin_again(&home);
}

#[test]
fn a_log_of_a_development_version_is_moved_away_and_the_store_begins_again() {
    let home = filled();
    // The development versions had 15 migrations, of which the first had the name of the one that there is now.
    home.edit(
        "log.db",
        "UPDATE migrations SET checksum = 'ff'; INSERT INTO migrations VALUES (1, '0002_runs', 'ff', '');
         PRAGMA user_version = 15",
    );
    let refused = home.weir(&["search", "pool"]);
    assert!(said(&refused).contains("error: a development version of Weir wrote the store: "), "{}", said(&refused));
    begin_again(&home);
}

/// Follows the advice to move a store away, and checks that a new one takes its place.
fn begin_again(home: &Home) {
    let refused = home.weir(&["note", "another"]);
    assert_eq!(refused.status.code(), Some(4));
    let moved = home.shell(&advised(&refused)[0]);
    assert!(moved.status.success(), "{}", said(&moved));
    // No answer comes from earlier entries.
    for n in 0..6 {
        assert!(home.weir(&["note", &format!("lighthouse {n}")]).status.success());
    }
    assert!(home.finds("lighthouse") && !home.finds("manometer") && !home.finds("pool"));
    home.assert_healthy();
}

#[test]
fn a_lost_text_of_an_indexed_file_is_read_again() {
    let home = filled();
    std::fs::write(home.guide_text(), b"").unwrap();
    assert!(home.finds("pool"), "the rest is found");
    let ill = home.weir(&["doctor"]);
    assert_eq!(ill.status.code(), Some(3), "{}", said(&ill));
    assert_eq!(advised(&ill)[0], "weir index");
    assert!(home.shell("weir index docs").status.success());
    home.assert_healthy();
    assert!(home.finds("manometer"));
}

#[test]
fn a_lost_text_of_a_file_that_is_gone_is_dropped() {
    let home = filled();
    std::fs::remove_file(home.guide_text()).unwrap();
    home.shell("rm -r docs");
    let ill = home.weir(&["doctor"]);
    assert_eq!(advised(&ill), ["weir doctor --drop-lost"]);
    home.shell(&advised(&ill)[0]);
    home.assert_healthy();
    assert!(home.finds("pool") && !home.finds("manometer"));
}

#[test]
fn a_lost_output_is_dropped() {
    let home = filled();
    let before = home.text_files();
    let kept = home.shell("head -c 90000 /dev/urandom | base64 > big.txt; weir run 'cat big.txt'");
    assert!(kept.status.success(), "{}", said(&kept));
    let lost = home.text_files().into_iter().find(|file| !before.contains(file)).unwrap();
    std::fs::remove_file(lost).unwrap();
    let exported = home.weir(&["export"]);
    assert_eq!(exported.status.code(), Some(3), "{}", said(&exported));
    assert!(said(&exported).contains("exported 1 entry without the text"), "{}", said(&exported));
    let ill = home.weir(&["doctor"]);
    assert_eq!(ill.status.code(), Some(3), "{}", said(&ill));
    assert_eq!(advised(&ill), ["weir doctor --drop-lost"]);
    home.shell(&advised(&ill)[0]);
    home.assert_healthy();
    assert!(home.finds("pool") && home.finds("manometer"));
}

#[test]
fn a_lost_text_says_what_to_do_when_it_is_asked_for() {
    let home = filled();
    let found = said(&home.weir(&["search", "manometer", "--json"]));
    let reference = found.split("\"reference\": \"").nth(1).or(found.split("\"reference\":\"").nth(1)).unwrap();
    let reference = &reference[..reference.find('"').unwrap()];
    std::fs::write(home.guide_text(), b"").unwrap();
    let refused = home.weir(&["get", reference]);
    assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
    assert_eq!(advised(&refused), ["weir doctor", "weir index"]);
}

#[test]
fn a_store_of_another_project_is_removed() {
    let home = filled();
    let store = home.file("log.db").parent().unwrap().to_owned();
    let other = home.at("other");
    std::fs::create_dir(&other).unwrap();
    let in_other = |arguments: &[&str]| home.weir_in(&other, arguments);
    assert!(in_other(&["note", "elsewhere"]).status.success());
    let is_other = |path: &PathBuf| path.ends_with("log.db") && !path.starts_with(&store);
    let theirs = files_below(store.parent().unwrap()).into_iter().find(is_other).unwrap();
    let theirs = theirs.parent().unwrap();
    for name in ["log.db", "log.db-wal", "log.db-shm"] {
        let _ = std::fs::remove_file(theirs.join(name));
        let _ = std::fs::copy(store.join(name), theirs.join(name));
    }
    let refused = in_other(&["search", "pool"]);
    assert_eq!(refused.status.code(), Some(4), "{}", said(&refused));
    assert!(said(&refused).contains("remove it"), "{}", said(&refused));
    std::fs::remove_dir_all(theirs).unwrap();
    assert!(in_other(&["note", "again"]).status.success());
}

#[test]
fn a_level_without_a_name_gets_one() {
    let home = filled();
    let refused = home.weir(&["note", "for this session", "--scope", "session"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("WEIR_SESSION"));
    let kept = home.shell("WEIR_SESSION=s1 weir note 'for this session' --scope session");
    assert!(kept.status.success(), "{}", said(&kept));
}

#[test]
fn a_plan_that_changed_is_made_again() {
    let home = filled();
    let refused = home.weir(&["forget", "--project", "--confirm", "00000000"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    let planned = said(&home.weir(&["forget", "--project"]));
    let confirmation = planned.split("--confirm ").nth(1).unwrap().split_whitespace().next().unwrap();
    let done = home.weir(&["forget", "--project", "--confirm", confirmation]);
    assert!(done.status.success() && !home.finds("pool"), "{}", said(&done));
}

#[test]
fn a_store_over_its_quota_is_brought_back_by_forgetting_documents() {
    let home = filled();
    home.configure("[retention]\nquota_mb = 0\n");
    let ill = home.weir(&["doctor"]);
    assert_eq!(ill.status.code(), Some(3), "{}", said(&ill));
    assert!(said(&ill).contains("weir forget --source FOLDER"), "{}", said(&ill));
    let plan = said(&home.shell("weir forget --source docs"));
    let confirmation = plan.split("--confirm ").nth(1).unwrap().split_whitespace().next().unwrap();
    assert!(home.shell(&format!("weir forget --source docs --confirm {confirmation}")).status.success());
    home.configure("[retention]\nquota_mb = 1\n");
    home.assert_healthy();
}
