//! Runs in the background: they can be read and ended, do not outlive what they should not, and lose no output.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::answers::reference;
use super::configured;
use crate::support::{Home, Server, TIMEOUT, text, wait_until};

/// Prints a line, signals that it is running, and continues.
const GOES_ON: &str = "echo begun; touch up; while :; do echo another line; sleep 0.05; done";
/// How long a process may outlive what it belongs to.
const MAX_OUTLIVING: Duration = Duration::from_secs(5);

fn started(home: &Home, server: &mut Server, more: &serde_json::Value) -> String {
    let mut arguments = json!({ "code": GOES_ON, "background": true });
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = server.said("ctx_execute", &arguments);
    home.wait_for("up");
    reference(&answer)
}

fn keepers(home: &Home) -> Vec<u32> {
    let mark = format!("HOME={}\0", home.path().display());
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has = |pid: &u32, file: &str, words: &str| {
        let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).contains(words)
    };
    let ours = |pid: &u32| has(pid, "environ", &mark);
    numbers.filter(ours).filter(|pid| has(pid, "cmdline", "background-run")).collect()
}

fn wait_for_text(home: &Home, reference: &str, words: &str) -> String {
    let mut got = String::new();
    let there = wait_until(TIMEOUT, || {
        got = text(&home.weir(&["get", reference]).stdout);
        got.contains(words)
    });
    assert!(there, "no `{words}` in {got}");
    got
}

fn files_left(home: &Home) -> Vec<String> {
    let projects = std::fs::read_dir(home.path().join(".local/share/weir/projects")).unwrap().flatten();
    let runs =
        projects.flat_map(|project| std::fs::read_dir(project.path().join("runs")).into_iter().flatten().flatten());
    runs.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn it_is_read_while_it_goes_on_and_ended_on_request() {
    let home = Home::with_programs();
    let mut server = home.server();
    let reference = started(&home, &mut server, &json!({}));
    let got = wait_for_text(&home, &reference, "\nanother line");
    assert!(got.contains("still running: echo begun"), "{got}");
    let ended = server.said("ctx_execute", &json!({ "end": reference }));
    assert!(ended.contains("ended "), "{ended}");
    let got = wait_for_text(&home, &reference, "ended: cancelled");
    assert!(got.contains("begun\nanother line"), "{got}");
    assert!(home.ok(&["search", "begun"]).contains(&reference), "it is found by its words");
    assert!(wait_until(MAX_OUTLIVING, || keepers(&home).is_empty() && files_left(&home).is_empty()));
    let again = home.weir(&["run", "--end", &reference]);
    assert_eq!(again.status.code(), Some(125), "{}", text(&again.stderr));
}

#[test]
fn it_ends_with_its_session_unless_it_is_kept() {
    for (kept, how) in [(false, "close"), (false, "kill"), (true, "close")] {
        let home = Home::with_programs();
        let mut server = home.server();
        let reference = started(&home, &mut server, &json!({ "keep": kept }));
        match how {
            "kill" => server.process.kill().unwrap(),
            _ => drop(server.input.take()),
        }
        server.process.wait().unwrap();
        if kept {
            let got = wait_for_text(&home, &reference, "\nanother line");
            assert!(got.contains("still running"), "{got}");
            home.ok(&["run", "--end", &reference]);
        }
        assert!(wait_until(MAX_OUTLIVING, || keepers(&home).is_empty()), "{how}: {:?}", keepers(&home));
        wait_for_text(&home, &reference, "ended: cancelled");
    }
}

#[test]
fn what_it_printed_survives_the_one_that_looks_after_it() {
    let home = Home::with_programs();
    let mut server = home.server();
    let reference = started(&home, &mut server, &json!({}));
    wait_for_text(&home, &reference, "\nanother line");
    for keeper in keepers(&home) {
        assert!(Command::new("kill").args(["-9", &keeper.to_string()]).status().unwrap().success());
    }
    let got = wait_for_text(&home, &reference, "ended: lost");
    assert!(got.contains("begun\nanother line"), "{got}");
    assert!(files_left(&home).is_empty(), "{:?}", files_left(&home));
}

#[test]
fn secrets_are_redacted_before_it_is_over() {
    let home = Home::with_programs();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let code = format!("echo token {token}; touch up; sleep 60");
    let reference = reference(&home.ok(&["run", "--background", &code]));
    let got = wait_for_text(&home, &reference, "\ntoken");
    assert!(got.contains("[redacted:") && !got.contains(&token), "{got}");
    home.ok(&["run", "--end", &reference]);
    let got = wait_for_text(&home, &reference, "ended: cancelled");
    assert!(got.contains("[redacted:") && !got.contains(&token), "{got}");
}

#[test]
fn what_cannot_be_run_is_said_at_once() {
    let home = configured("[policy]\ndeny = [\"Bash(sudo *)\"]\n");
    let denied = home.weir(&["run", "--background", "sudo id"]);
    assert_eq!(denied.status.code(), Some(126), "{}", text(&denied.stderr));
    assert!(keepers(&home).is_empty());
}
