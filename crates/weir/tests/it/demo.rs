//! `weir demo`: shows what it is meant to show, touches nothing, and leaves nothing behind.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Home, TIMEOUT, WEIR, files_below, said, text, wait_until};

/// Returns a home whose temporary files are in a folder of their own.
fn home() -> Home {
    let home = Home::new();
    fs::create_dir(home.at("temporary")).unwrap();
    home
}

fn demo(home: &Home, arguments: &[&str]) -> std::process::Command {
    let mut command = home.command(WEIR, &[&["demo"], arguments].concat());
    command.env("TMPDIR", home.at("temporary"));
    command
}

#[test]
fn a_person_reads_each_step_without_and_with_weir() {
    let home = home();
    // What cannot be read does not matter, since nothing of it is read.
    home.configure("this is not TOML");
    let output = demo(&home, &[]).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    let shown = text(&output.stdout);
    for part in [
        "1. A test run", "2. A flood", "3. A compaction", "without Weir: ", "with Weir: ", "\nIn all, ", "█",
        "weir replay",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    assert!(!shown.contains("<<<") && !shown.contains('\u{1b}'), "{shown}");
    assert_eq!(files_below(home.path()), [home.at(".config/weir/config.toml")]);
    assert_eq!(fs::read_dir(home.at("temporary")).unwrap().count(), 0);
}

#[test]
fn the_figures_are_the_tokens_of_the_texts() {
    let home = home();
    let output = demo(&home, &["--json"]).output().unwrap();
    let data: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
    let sum = |side: &str| {
        let steps = data["steps"].as_array().unwrap().iter();
        let counted = steps.map(|step| {
            let tokens = weir_tokens::count(step[side]["text"].as_str().unwrap());
            assert_eq!(step[side]["tokens"], tokens);
            tokens
        });
        counted.sum::<usize>()
    };
    assert_eq!(data["steps"].as_array().unwrap().len(), 3);
    assert_eq!((&data["without"], &data["with"]), (&sum("without").into(), &sum("with").into()));
    assert!(sum("with") * 3 < sum("without"), "{data}");
}

#[test]
fn a_demo_that_is_interrupted_leaves_nothing_behind() {
    let home = home();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut child = demo(&home, &[]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let has_begun = || fs::read_dir(home.at("temporary")).unwrap().count() > 0;
        let mut ended = None;
        assert!(wait_until(TIMEOUT, || has_begun() || {
            ended = child.try_wait().unwrap();
            ended.is_some()
        }));
        if ended.is_none() {
            let _ = kill_process(Pid::from_child(&child), signal);
        }
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 130)), "{signal:?}: {code:?}");
        assert!(!has_begun(), "{signal:?}: {:?}", files_below(&home.at("temporary")));
    }
    assert_eq!(files_below(home.path()), Vec::<std::path::PathBuf>::new());
}
