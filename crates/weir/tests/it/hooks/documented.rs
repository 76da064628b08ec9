//! Cursor and VS Code, which call by documented formats: what is held back, what is told, and that no call is answered
//! twice.

use serde_json::{Value, json};

use super::{Session, numbers, reference};

impl Session {
    /// Calls a hook of any client with its own fields and those of this session. Returns the answer, or `null`.
    fn documented(&self, client: &str, event: &str, common: &Value, more: Value) -> Value {
        let mut told = common.clone();
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.raw_hook(client, event, told.to_string().as_bytes());
        if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() }
    }

    fn cursor(&self) -> Value {
        json!({ "conversation_id": "c1", "cursor_version": "2.4.20", "workspace_roots": [self.project()] })
    }

    fn vscode(&self) -> Value {
        json!({ "timestamp": "2026-02-09T10:30:00.000Z", "sessionId": "v1", "cwd": self.project() })
    }
}

/// Returns a long result of an MCP tool, which is JSON in a string.
fn long_result() -> Value {
    json!({
        "tool_name": "MCP:query", "tool_use_id": "t1", "tool_input": {}, "duration": 5,
        "tool_output": json!({ "content": [{ "type": "text", "text": numbers(20_000) }] }).to_string(),
    })
}

#[test]
fn cursor_gets_a_digest_for_mcp_tools_only() {
    let session = Session::new();
    let answer = session.documented("cursor", "postToolUse", &session.cursor(), long_result());
    let shown = answer["updated_mcp_tool_output"]["content"][0]["text"].as_str().unwrap();
    let last = session.ok(&["get", reference(shown), "--lines", "19998-20000"]);
    assert!(["19998", "19999", "20000"].iter().all(|line| last.contains(line)), "{last}");
    let shell = json!({
        "tool_name": "Shell", "tool_use_id": "t2", "tool_input": { "command": "seq 20000" },
        "tool_output": json!({ "exitCode": 0, "stdout": numbers(20_000) }).to_string(),
    });
    assert_eq!(session.documented("cursor", "postToolUse", &session.cursor(), shell), Value::Null);
    assert_eq!(session.faults(), "");
}

#[test]
fn a_guide_waits_for_the_first_tool_call_after_a_compaction() {
    let tool = json!({
        "tool_name": "Read", "tool_use_id": "t3", "tool_input": {}, "tool_output": "", "tool_response": "",
    });
    for (client, prompt, compaction, after) in [
        ("cursor", "beforeSubmitPrompt", "preCompact", "postToolUse"),
        ("vscode", "UserPromptSubmit", "PreCompact", "PostToolUse"),
    ] {
        let session = Session::new();
        let common = if client == "cursor" { session.cursor() } else { session.vscode() };
        let asked = json!({ "prompt": "Add token refresh to the login flow" });
        assert_eq!(session.documented(client, prompt, &common, asked), Value::Null);
        assert_eq!(session.documented(client, compaction, &common, json!({ "trigger": "auto" })), Value::Null);
        let told = session.documented(client, after, &common, tool.clone()).to_string();
        assert!(told.contains("Add token refresh to the login flow"), "{client}: {told}");
        assert_eq!(session.documented(client, after, &common, tool.clone()), Value::Null, "{client}: once");
    }
}

#[test]
fn calls_through_the_settings_of_other_clients_leave_nothing() {
    let session = Session::new();
    let prompt = json!({ "prompt": "Add token refresh" });
    session.documented("claude", "UserPromptSubmit", &session.vscode(), prompt.clone());
    session.documented("copilot", "userPromptSubmitted", &session.vscode(), prompt.clone());
    session.documented("claude", "UserPromptSubmit", &session.cursor(), prompt.clone());
    session.documented("vscode", "UserPromptSubmit", &session.vscode(), prompt);
    assert_eq!(session.events(), [("prompt".to_owned(), "Add token refresh".to_owned())]);
    assert_eq!(session.faults(), "");
}
