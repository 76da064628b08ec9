//! What must not go wrong: exchanges at the same moment, plans that are only looked at, and teammates who go too far.

use std::path::PathBuf;

use serde_json::json;

use super::{Person, Team, files};
use crate::support::{feed, parsed, said, text};

/// A word that only one note has.
const MARKER: &str = "zyxwoquvark";

/// Returns the files of Weir's data on a machine that have the word anywhere in their bytes.
fn files_with_the_marker(person: &Person) -> Vec<PathBuf> {
    let has_it = |path: &PathBuf| text(&std::fs::read(path).unwrap()).to_lowercase().contains(MARKER);
    files(&person.home.data()).into_iter().filter(has_it).collect()
}

#[test]
fn exchanges_at_the_same_moment_send_each_note_once() {
    let (team, ana) = Team::new();
    for number in 0..12 {
        ana.note(&format!("Note {number} about otters."), &[]);
    }
    let reports: Vec<serde_json::Value> = std::thread::scope(|threads| {
        let all: Vec<_> = (0..4).map(|_| threads.spawn(|| ana.sync())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(reports.iter().map(|report| report["sent"].as_u64().unwrap()).sum::<u64>(), 12, "{reports:?}");
    assert!(reports.iter().all(|report| report["new_host"] == false), "{reports:?}");
    let ben = team.invite("ben");
    assert_eq!(ben.home.json(&["notes", "--all"])["notes"].as_array().unwrap().len(), 12);
}

#[test]
fn an_output_that_was_named_in_a_dry_run_stays_here() {
    let (team, ana) = Team::new();
    ana.home.write("plan.md", "# Plan\n\nThe zebra crosses at noon.\n");
    ana.home.ok(&["index", "plan.md"]);
    let found = ana.home.json(&["search", "zebra"]);
    let reference = found["queries"][0]["hits"][0]["reference"].as_str().unwrap();
    let shown = ana.home.ok(&["sync", "--dry-run", "--include", reference]);
    assert!(shown.contains("zebra"), "{shown}");
    assert_eq!(ana.sync()["sent"], 0);
    assert_eq!(team.finds(&ana, "zebra"), json!([]));
}

#[test]
fn what_was_to_be_shared_with_one_team_is_not_shared_with_the_next() {
    let (team, ana) = Team::new();
    let (other, eve) = Team::new();
    ana.home.write("plan.md", "# Plan\n\nThe zebra crosses at noon.\n");
    ana.home.ok(&["index", "plan.md"]);
    let found = ana.home.json(&["search", "zebra"]);
    let reference = found["queries"][0]["hits"][0]["reference"].as_str().unwrap();
    ana.home.ok(&["sync", "--include", reference]);
    assert_eq!(team.finds(&ana, "zebra").as_array().unwrap().len(), 1);
    crate::support::write(&ana.home.at("token"), &eve.token);
    ana.connect(other.server.url(), &[]);
    assert_eq!(other.finds(&eve, "zebra"), json!([]));
}

#[test]
fn connecting_again_brings_nothing_twice() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    let reference = ana.note("Otters hold hands.", &[]);
    ana.sync();
    ben.sync();
    for person in [&ana, &ben] {
        person.home.ok(&["sync", "--stop"]);
        person.connect(team.server.url(), &[]);
    }
    ana.sync();
    for person in [&ana, &ben] {
        assert_eq!(person.home.json(&["notes", "--all"])["notes"].as_array().unwrap().len(), 1);
    }
    assert_eq!(team.finds(&ben, "otters").as_array().unwrap().len(), 1);
    ana.forget(&reference);
    ana.sync();
    assert!(ben.home.ok(&["sync"]).contains("was removed by ana, here too; nothing is left of it"));
}

#[test]
fn two_revisions_in_a_row_replace_what_the_team_has() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    ana.note("The pool has ten connections.", &["--topic", "pool"]);
    ana.sync();
    ben.sync();
    // The second one is never sent, and replaces the first.
    ana.note("The pool has twelve connections.", &["--topic", "pool"]);
    ana.note("The pool has twenty connections.", &["--topic", "pool"]);
    ana.sync();
    ben.sync();
    let listed = ben.home.ok(&["notes", "--all"]);
    assert!(listed.contains("twenty") && !listed.contains("forked:"), "{listed}");
    assert!(listed.contains("superseded by"), "{listed}");
}

#[test]
fn somebody_whose_notes_are_not_taken_confirms_nothing() {
    let (team, ana) = Team::new();
    let (ben, eve) = (team.invite("ben"), team.invite("eve"));
    ben.home.configure("[team]\nfrom = [\"ana\"]\n");
    let kept = ana.home.server().call("ctx_annotate", &json!({ "text": "Otters hold hands." }));
    let reference = kept.split("[ctx:").nth(1).and_then(|rest| rest.get(..10)).unwrap().to_owned();
    ana.sync();
    eve.sync();
    eve.home.ok(&["notes", "--confirm", &reference]);
    eve.sync();
    ben.sync();
    let found = ben.search("otters");
    assert!(found.contains("by ana (teammate)") && found.contains("not confirmed by a person"), "{found}");
    assert!(!found.contains("by eve"), "{found}");
    ben.home.configure("");
    ben.sync();
    let found = ben.search("otters");
    assert!(!found.contains("not confirmed") && found.contains("confirmed on the team by eve"), "{found}");
}

#[test]
fn no_file_of_either_machine_has_a_word_of_what_was_forgotten() {
    let (team, ana) = Team::new();
    let ben = team.invite("ben");
    let reference = ana.note(&format!("The {MARKER} is behind the painting."), &["--topic", "vault"]);
    ana.sync();
    ben.sync();
    for person in [&ana, &ben] {
        assert!(!files_with_the_marker(person).is_empty(), "the word must be in files to be missed");
    }
    ana.forget(&reference);
    ana.sync();
    ben.sync();
    for person in [&ana, &ben] {
        assert_eq!(files_with_the_marker(person), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_token_from_standard_input_is_kept_only_as_long_as_it_is_used() {
    let (team, ana) = Team::new();
    let stored = || std::fs::read_dir(ana.home.data().join("team-tokens")).map_or(0, Iterator::count);
    let connect = |url: &str, more: &[&str]| {
        let options = ["sync", "--server", url, "--token-file", "-", "--project", super::PROJECT, "--json"];
        feed(ana.home.weir_command(&[&options, more].concat()), ana.token.as_bytes())
    };
    let url = team.server.url();
    assert!(!connect("http://127.0.0.1:9", &[]).status.success());
    assert_eq!(stored(), 0, "nothing was connected");
    assert!(connect(url, &["--dry-run"]).status.success());
    assert_eq!(stored(), 0, "a dry run connects nothing");
    let connected = connect(url, &[]);
    assert!(connected.status.success(), "{}", said(&connected));
    assert_eq!(stored(), 1);
    let stopped = parsed(&ana.home.weir(&["sync", "--stop", "--json"]));
    assert_eq!((stored(), &stopped["token"]["deleted"]), (0, &json!(true)), "{stopped}");
}
