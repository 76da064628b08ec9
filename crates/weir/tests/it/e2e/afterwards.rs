//! Where the work goes on when its session does not: after `/clear`, in a fork, and in a new session.

use serde_json::json;

use super::hooked::PROMPTS;
use super::{Outcome, TestHome, claude, codex, text};

const SESSION: &str = "11111111-2222-4333-8444-888888888888";

/// Makes the project a repository with a branch of its own.
fn on_branch(place: TestHome) -> TestHome {
    place.write("project/.git/HEAD", "ref: refs/heads/export\n");
    place.write("project/.git/objects/info/packs", "");
    place.write("project/.git/refs/heads/.keep", "");
    place
}

/// Says everything there is to say in Claude Code, and stops at an error.
fn worked() -> TestHome {
    let place = on_branch(claude::place());
    place.set_up("claude");
    let [first, correction, decision, nothing] = PROMPTS;
    claude::run(&place, "says_end.json", &["--print", first, "--session-id", SESSION]);
    claude::run(&place, "says_end.json", &["--print", correction, "--resume", SESSION]);
    claude::run(&place, "says_end.json", &["--print", decision, "--resume", SESSION]);
    claude::run(&place, "claude_stops.json", &["--print", nothing, "--resume", SESSION]);
    place
}

/// Checks that the last request has what we tell, below a first line, and in that the goal, the correction, the
/// decision and the error. Returns it.
fn check_told(place: &TestHome, outcome: &Outcome, head: &str) -> String {
    let request = outcome.requests.last().unwrap()["body"].to_string();
    let at = request.find(head).unwrap_or_else(|| panic!("no {head} in {request}"));
    let told = request[at..].split("\",\"").next().unwrap_or_default().split("\"}").next().unwrap_or_default();
    let [goal, correction, decision, _] = PROMPTS;
    // The command that failed has the error in it, and is there too.
    for expected in [goal, correction, decision, ": error: no such table: invoices"] {
        assert_eq!(told.matches(expected).count(), 1, "{expected} in {told}");
    }
    assert_eq!(request.matches(head).count(), 1, "{request}");
    place.assert_no_faults();
    told.to_owned()
}

/// Checks that the last request has what was asked last on the branch, and nothing about a failure.
fn check_welcomed(place: &TestHome, outcome: &Outcome) {
    let request = outcome.requests.last().unwrap()["body"].to_string();
    let at = request.find(NEW).unwrap_or_else(|| panic!("no {NEW} in {request}"));
    let told = request[at..].split("\",\"").next().unwrap_or_default().split("\"}").next().unwrap_or_default();
    let [_, correction, decision, nothing] = PROMPTS;
    for expected in ["session on branch export:", decision, nothing] {
        assert_eq!(told.matches(expected).count(), 1, "{expected} in {told}");
    }
    assert!(!told.contains("no such table") && !told.contains(correction), "{told}");
    place.assert_no_faults();
}

const NEW: &str = "What is known about this project";
const FORKED: &str = "Where this session stood";

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn claude_code_knows_the_work_after_clear() {
    let place = worked();
    let asked = ["/clear", "What now?"]
        .map(|words| json!({ "type": "user", "message": { "role": "user", "content": words } }).to_string() + "\n");
    place.write("stdin", &asked.concat());
    let stream = ["--print", "--input-format=stream-json", "--output-format=stream-json", "--verbose"];
    let outcome = claude::run(&place, "says_end.json", &[&stream[..], &["--resume", SESSION]].concat());
    let last = outcome.requests.last().unwrap();
    assert!(!last["body"]["messages"].to_string().contains("\"tool_use\""), "the conversation is gone");
    check_welcomed(&place, &outcome);
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn claude_code_knows_the_work_in_a_new_session() {
    let place = worked();
    check_welcomed(&place, &claude::run(&place, "says_end.json", &["--print", "Hello"]));
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn claude_code_knows_the_work_in_a_fork_that_is_compacted() {
    let place = worked();
    let forked = ["--print", "Try it with tabs", "--resume", SESSION, "--fork-session"];
    let outcome = claude::run(&place, "claude_compacts_at_once.json", &forked);
    assert_eq!(outcome.ruled("compaction").len(), 1);
    // The client has brought back the conversation, so nothing is told before that.
    assert!(!outcome.ruled("compaction")[0]["body"].to_string().contains(FORKED));
    let told = check_told(&place, &outcome, FORKED);
    assert!(told.contains("- model: I stop here: the header row comes next."), "{told}");
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn codex_knows_the_work_in_a_new_session_and_in_a_fork() {
    let place = on_branch(codex::place());
    place.set_up("codex");
    let [first, correction, decision, nothing] = PROMPTS;
    let begun = codex::run(&place, "says_end.json", &[first]);
    let begun: serde_json::Value = serde_json::from_str(begun.stdout.lines().next().unwrap()).unwrap();
    let session = text(&begun["thread_id"]);
    codex::run(&place, "says_end.json", &["resume", session, correction]);
    codex::run(&place, "says_end.json", &["resume", session, decision]);
    codex::run(&place, "codex_stops.json", &["resume", session, nothing]);
    check_welcomed(&place, &codex::run(&place, "says_end.json", &["Hello"]));
    let forked = codex::run(&place, "codex_compacts_at_once.json", &["fork", session, "Try it with tabs"]);
    // What the model had said before the fork, its request has answered.
    let told = check_told(&place, &forked, FORKED);
    assert!(!told.contains("SCRIPTED-SUMMARY"), "the model has it: {told}");
}
