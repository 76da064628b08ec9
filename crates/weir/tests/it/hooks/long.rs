//! Outputs that are too long for memory: every client's are read like any other, whatever the client puts around them.

use serde_json::{Value, json};

use super::{Session, numbers, reference};

/// Returns a tool's output of more than 3 MiB, with lines such as clients write around outputs.
fn output() -> String {
    let text = format!("Exit Code: 9\n\"quoted\" \\ € 𝄞 \u{1}0\u{1}\n{}Exit code 9\nthe end", numbers(470_000));
    assert!(text.len() > 3 << 20);
    text
}

/// Calls a hook after a tool. Returns what the model sees instead of the output: the text at a JSON pointer in the
/// answer.
fn shown(session: &Session, (client, event): (&str, &str), mut payload: Value, pointer: &str) -> String {
    for (name, value) in [("session_id", json!("s1")), ("sessionId", json!("s1")), ("cwd", json!(session.project()))] {
        payload[name] = value;
    }
    let answer = session.raw_hook(client, event, payload.to_string().as_bytes());
    let answer: Value = serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{client} {event}: {error}"));
    answer.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("{client} {event}: {answer}")).to_owned()
}

/// Checks that the output of a command is stored as it was printed, with its exit code.
fn check(session: &Session, shown: &str, text: &str, exit_code: Option<i32>) {
    let held = reference(shown);
    assert!(session.ok(&["get", held, "--raw"]) == text, "what is stored is not what was printed: {shown}");
    let about: Value = serde_json::from_str(&session.ok(&["get", held, "--json"])).unwrap();
    assert_eq!(about["exit_code"], json!(exit_code), "{shown}");
    assert_eq!(about["bytes"], text.len(), "{shown}");
    assert_eq!(session.faults(), "");
}

/// Checks that the session's only error has this exit code. Some clients take no replacement for the output of a
/// command that failed, so that only its events are kept.
fn check_error(session: &Session, text: &str, exit_code: i32) {
    let exported = session.ok(&["export"]);
    let rows = exported.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let errors: Vec<Value> = rows.filter(|row| row["kind"] == "error").collect();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!((error["text"].as_str(), &error["data"]["exit"]), (Some(text), &json!(exit_code)));
    assert_eq!(session.faults(), "");
}

#[test]
fn claude_code() {
    let (session, text) = (Session::new(), output());
    let answer = session.ran("seq", &text);
    check(&session, super::shown(&answer), &text, None);
    // Both streams, one of which looks like a place where a long text was.
    let mut both = super::bash("seq", "\u{1}0\u{1}");
    both["tool_response"]["stderr"] = json!(text);
    let answer = session.hook("PostToolUse", both);
    check(&session, super::shown(&answer), &format!("\u{1}0\u{1}\n{text}"), None);
    let failed = json!({
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": "cargo build" },
        "error": format!("Exit code 101\n{text}\nerror: could not compile `weir`"),
    });
    assert_eq!(session.hook("PostToolUseFailure", failed), Value::Null);
    check_error(&session, "cargo build: error: could not compile `weir`", 101);
}

#[test]
fn codex() {
    let (session, text) = (Session::new(), output());
    let payload = json!({ "tool_name": "Bash", "tool_input": { "command": "seq" }, "tool_response": text });
    let shown = shown(&session, ("codex", "PostToolUse"), payload, "/reason");
    check(&session, &shown, &text, None);
}

#[test]
fn copilot() {
    let (session, text) = (Session::new(), output());
    let said = format!("{text}\n<shellId: 6 completed with exit code 3>");
    let payload = json!({
        "toolName": "bash", "toolArgs": { "command": "seq" },
        "toolResult": { "resultType": "success", "textResultForLlm": said },
    });
    let shown = shown(&session, ("copilot", "postToolUse"), payload, "/modifiedResult/textResultForLlm");
    check(&session, &shown, &text, Some(3));
    assert!(shown.starts_with("exit 3"), "{shown}");
}

#[test]
fn gemini() {
    let (session, text) = (Session::new(), output());
    let said = |about: &str| format!("<untrusted_context>\nOutput: {text}\n{about}\n</untrusted_context>");
    for (about, exit_code) in [("Exit Code: 3\nProcess Group PGID: 402", 3), ("Process Group PGID: 402", 0)] {
        let payload = json!({
            "tool_name": "run_shell_command", "tool_input": { "command": "seq" },
            "tool_response": { "llmContent": said(about), "returnDisplay": text },
        });
        let shown = shown(&session, ("gemini", "AfterTool"), payload, "/reason");
        check(&session, &shown, &text, Some(exit_code));
        assert!(shown.starts_with(&format!("exit {exit_code}")), "{shown}");
    }
}

#[test]
fn opencode() {
    let (session, text) = (Session::new(), output());
    let payload = json!({
        "directory": session.project(),
        "input": { "tool": "bash", "sessionID": "s1", "callID": "c1", "args": { "command": "seq" } },
        "output": { "title": "seq", "metadata": { "output": text, "exit": 3, "truncated": false }, "output": text },
    });
    let shown = shown(&session, ("opencode", "tool.execute.after"), payload, "/output");
    check(&session, &shown, &text, Some(3));
}

#[test]
fn qwen() {
    let (session, text) = (Session::new(), output());
    let said = |printed: &str, code: i32| {
        let end = format!("Error: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: (none)");
        format!("Command: cargo build\nDirectory: (root)\nOutput: {printed}\n{end}")
    };
    let called = json!({ "tool_name": "run_shell_command", "tool_input": { "command": "cargo build" } });
    let mut payload = called.clone();
    payload["tool_response"] = json!({ "llmContent": said(&text, 0), "returnDisplay": text });
    let shown = shown(&session, ("qwen", "PostToolUse"), payload, "/stopReason");
    check(&session, &shown, &text, Some(0));
    let mut failed = called;
    failed["session_id"] = json!("s1");
    failed["cwd"] = json!(session.project());
    failed["error"] = json!(said(&format!("{text}\nerror: could not compile `weir`"), 3));
    assert!(session.raw_hook("qwen", "PostToolUseFailure", failed.to_string().as_bytes()).is_empty());
    check_error(&session, "cargo build: error: could not compile `weir`", 3);
}
