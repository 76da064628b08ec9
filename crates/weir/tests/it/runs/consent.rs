//! Rules that ask: the user is asked through the client if it supports that; otherwise, the answer is no.

use serde_json::{Value, json};

use super::configured;
use crate::support::{text, write};

const RULES: &str = "[policy]\nask = [\"Bash(touch *)\"]\n";

/// Checks a run that needs consent, in a client that gives this answer, or that cannot ask if `None`.
fn check(answer: Option<&str>, runs: bool) {
    let home = configured(RULES);
    let capabilities = answer.map_or(json!({}), |_| json!({ "elicitation": {} }));
    let mut server = home.server_with(&capabilities);
    let call = server.begin("ctx_execute", json!({ "code": "touch made; echo done" }));
    if let Some(action) = answer {
        let question = server.receive();
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let message = question["params"]["message"].as_str().unwrap();
        assert!(
            message.contains("`touch made` needs confirmation (rule `Bash(touch *)` in ")
                && message.contains("echo done"),
            "{message}"
        );
        server.reply(&question["id"], json!({ "action": action, "content": {} }));
    }
    let answered: Value = server.receive();
    assert_eq!((&answered["id"], &answered["result"]["isError"]), (&json!(call), &json!(!runs)), "{answered}");
    assert_eq!(home.project().join("made").exists(), runs, "{answered}");
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
    let home = configured(RULES);
    let output = home.weir(&["run", "touch made"]);
    assert_eq!(output.status.code(), Some(126));
    assert!(text(&output.stderr).contains("you were not asked or did not agree"), "{}", text(&output.stderr));
    assert!(!home.project().join("made").exists());
}

/// Returns what the user is asked about a call, refusing it, and the answer of the call.
fn asked(tool: &str, arguments: Value) -> (Option<String>, String) {
    let home = configured(RULES);
    home.write(".vscode/tasks.json", "{ \"old\": 1 }\n");
    let mut server = home.server_with(&json!({ "elicitation": {} }));
    server.begin(tool, arguments);
    let first = server.receive();
    if first["method"] != "elicitation/create" {
        return (None, first["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned());
    }
    server.reply(&first["id"], json!({ "action": "decline", "content": {} }));
    let answer = server.receive()["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (first["params"]["message"].as_str().map(str::to_owned), answer)
}

#[test]
fn all_of_the_code_is_shown_as_it_is() {
    let (question, _) = asked("ctx_execute", json!({ "code": "touch made\n  cat a\u{202e}b\necho last" }));
    let question = question.unwrap();
    assert!(question.contains("touch made\n  cat a<U+202E>b\necho last"), "{question}");
    let (question, _) = asked("ctx_execute", json!({ "code": format!("touch made;{}rm -rf x", " ".repeat(200)) }));
    assert!(question.unwrap().contains("touch made; <200 spaces> rm -rf x"));
}

#[test]
fn nobody_is_asked_about_what_cannot_be_shown() {
    let hidden = format!("touch made{}cat ~/.aws/credentials", "\n".repeat(80));
    let long = format!("touch made # {}", "x".repeat(5_000));
    for code in [hidden, long] {
        let (question, answer) = asked("ctx_execute", json!({ "code": code }));
        assert_eq!(question, None);
        assert!(answer.contains("can be shown in full") && answer.contains("hint: shorten it"), "{answer}");
    }
}

#[test]
fn a_write_is_shown_with_its_text() {
    let write = json!({ "path": ".vscode/tasks.json", "text": "{ \"new\": 2 }", "overwrite": true });
    let (question, _) = asked("context_write", write);
    let question = question.unwrap();
    assert!(question.contains(".vscode/tasks.json") && question.contains("{ \"new\": 2 }"), "{question}");
    let edit = json!({ "path": ".vscode/tasks.json", "old": "\"old\": 1", "new": "\"new\": 2" });
    let (question, _) = asked("context_edit", edit);
    let question = question.unwrap();
    assert!(question.contains("- \"old\": 1\n+ \"new\": 2"), "{question}");
}

#[test]
fn settings_where_a_variable_says_deny_and_do_not_allow() {
    let home = configured(RULES);
    let folder = home.at("elsewhere");
    write(
        &folder.join("settings.json"),
        r#"{"permissions": {"deny": ["Bash(rm *)"], "allow": ["Read(//**)", "Bash(touch *)"]}}"#,
    );
    for (script, verdict) in [("rm x", "deny"), ("touch x", "ask"), ("ls", "allow")] {
        let mut command = home.weir_command(&["policy", "check", "--json", script]);
        let output = command.env("CLAUDE_CONFIG_DIR", &folder).output().unwrap();
        let judged: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(judged["verdict"], verdict, "{judged}");
    }
}
