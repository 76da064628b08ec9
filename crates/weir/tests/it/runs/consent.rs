//! Rules that ask: the user is asked through the client where it offers that, and otherwise the answer is no.

use serde_json::{Value, json};

use super::world::{World, text};

const RULES: &str = "[policy]\nask = [\"Bash(touch *)\"]\n";

/// What becomes of a run that asks, in a client that answers so; none when it cannot be asked.
fn check(answer: Option<&str>, runs: bool) {
    let world = World::configured(RULES);
    let capabilities = answer.map_or(json!({}), |_| json!({ "elicitation": {} }));
    let mut server = world.server_with(capabilities);
    let call = server.begin("ctx_execute", json!({ "code": "touch made; echo done" }));
    if let Some(action) = answer {
        let question = server.receive();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("`touch made` asks, by `Bash(touch *)` in ") && message.contains("echo done"),
            "{message}"
        );
        server.answer(&question["id"], json!({ "action": action, "content": {} }));
    }
    let answered: Value = server.receive();
    assert_eq!((&answered["id"], &answered["result"]["isError"]), (&json!(call), &json!(!runs)), "{answered}");
    assert_eq!(world.project().join("made").exists(), runs, "{answered}");
}

#[test]
fn a_yes_runs_it() {
    check(Some("accept"), true);
}

#[test]
fn a_no_does_not() {
    check(Some("decline"), false);
    check(Some("cancel"), false);
}

#[test]
fn without_anyone_to_ask_the_answer_is_no() {
    check(None, false);
    let world = World::configured(RULES);
    let output = world.weir(&["run", "touch made"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output.stderr).contains("the user was not there to be asked"), "{}", text(&output.stderr));
    assert!(!world.project().join("made").exists());
}
