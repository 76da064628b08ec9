//! Lines that a conversation has been shown are not shown again.

use serde_json::{Value, json};

use super::{Home, Session, reference, shown, write};

fn function(number: usize) -> String {
    format!("fn step_{number}(input: u64) -> u64 {{\n    input.wrapping_mul({number}) + 7\n}}\n\n")
}

fn source(numbers: std::ops::Range<usize>) -> String {
    numbers.map(function).collect()
}

/// Returns the payload of Claude Code's Read tool.
fn read(input: Value, content: &str) -> Value {
    let lines = content.lines().count();
    json!({
        "tool_name": "Read", "tool_input": input, "tool_use_id": "toolu_1",
        "tool_response": { "type": "text", "file": {
            "filePath": input["file_path"], "content": content, "numLines": lines, "startLine": 1, "totalLines": lines,
        } },
    })
}

impl Session {
    fn reads(&self, path: &str, content: &str) -> Value {
        self.hook("PostToolUse", read(json!({ "file_path": self.project().join(path) }), content))
    }

    fn shown_file(&self, path: &str, content: &str) -> String {
        let answer = self.reads(path, content);
        let text = answer["hookSpecificOutput"]["updatedToolOutput"]["file"]["content"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }
}

#[test]
fn a_changed_file_is_shown_without_what_did_not_change() {
    let session = Session::new();
    assert_eq!(session.reads("src/a.rs", &source(0..40)), Value::Null);
    let changed = source(0..20) + "const NEW: u64 = 1;\n" + &source(20..40);
    let text = session.shown_file("src/a.rs", &changed);
    let lines: Vec<&str> = text.lines().collect();
    let [first, new, second] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(*new, "const NEW: u64 = 1;");
    let reference = reference(&text);
    // The client numbers the lines itself, and counts a remark as one line.
    assert_eq!(
        *first,
        format!(
            "[weir: lines 1-80 left out, unchanged from the read of src/a.rs; whole text: {reference}; add 79 to the line numbers below]"
        )
    );
    assert!(
        second.contains("lines 82-161 left out") && second.contains("add 158 to the line numbers below"),
        "{second}"
    );
    assert_eq!(session.ok(&["get", reference, "--raw"]), changed);
    assert_eq!(session.faults(), "");
}

#[test]
fn a_part_that_the_shell_prints_is_known_from_a_read() {
    let session = Session::new();
    session.reads("src/a.rs", &source(0..40));
    let numbered: String =
        source(10..30).lines().enumerate().map(|(at, line)| format!("{:6}\t{line}\n", at + 41)).collect();
    let answer = session.ran("nl -b a src/a.rs | sed -n 41,120p", &numbered);
    assert!(shown(&answer).starts_with("[weir: lines 1-80 left out, unchanged from the read of src/a.rs;"), "{answer}");
    assert!(!shown(&answer).contains("line numbers below"), "the numbers are the text's own: {answer}");
}

#[test]
fn what_the_model_wrote_is_not_shown_again() {
    let session = Session::new();
    let path = session.project().join("src/new.rs");
    let text = source(0..30);
    let input = json!({ "file_path": path, "content": text });
    session.hook(
        "PostToolUse",
        json!({ "tool_name": "Write", "tool_input": input, "tool_response": { "type": "create" } }),
    );
    let shown = session.shown_file("src/new.rs", &text);
    assert!(shown.contains("unchanged from what you wrote to src/new.rs"), "{shown}");
}

#[test]
fn the_same_call_again_is_answered_whole() {
    let session = Session::new();
    let text = source(0..40);
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
    assert!(session.shown_file("src/a.rs", &text).contains("lines 1-160 left out"));
    assert_eq!(session.reads("src/a.rs", &text), Value::Null, "asked twice for the same, it is wanted");
}

#[test]
fn compaction_and_other_conversations_begin_with_nothing_shown() {
    let session = Session::new();
    let text = source(0..40);
    session.reads("src/a.rs", &text);
    let other = Session { home: Home::new(), key: "s2".to_owned() };
    assert_eq!(other.reads("src/a.rs", &text), Value::Null);
    let in_subagent = |mut payload: Value| {
        payload["agent_id"] = json!("a1");
        payload["agent_type"] = json!("explore");
        payload
    };
    let input = json!({ "file_path": session.project().join("src/a.rs") });
    let answer = session.hook("PostToolUse", in_subagent(read(input, &text)));
    assert_eq!(answer, Value::Null, "a subagent has a conversation of its own");
    session.hook("SessionStart", json!({ "source": "compact" }));
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
    assert!(session.shown_file("src/a.rs", &text).contains("lines 1-160 left out"));
}

#[test]
fn a_file_whose_edit_was_refused_is_shown_whole() {
    let session = Session::new();
    let text = source(0..40);
    session.reads("src/a.rs", &text);
    let input = json!({ "file_path": session.project().join("src/a.rs"), "old_string": "x", "new_string": "y" });
    session.hook(
        "PostToolUseFailure",
        json!({ "tool_name": "Edit", "tool_input": input, "error": "String to replace not found" }),
    );
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
}

#[test]
fn lines_of_a_part_have_their_numbers_in_the_file() {
    let session = Session::new();
    session.reads("src/a.rs", &source(0..40));
    let input = json!({ "file_path": session.project().join("src/a.rs"), "offset": 41, "limit": 40 });
    let mut part = read(input, &source(10..20));
    part["tool_response"]["file"]["startLine"] = json!(41);
    let answer = session.hook("PostToolUse", part);
    let text = answer["hookSpecificOutput"]["updatedToolOutput"]["file"]["content"].as_str();
    assert!(text.unwrap_or_else(|| panic!("{answer}")).starts_with("[weir: lines 41-80 left out"), "{answer}");
}

#[test]
fn nothing_is_left_out_once_the_server_drops_results() {
    let session = Session::new();
    let text = source(0..40);
    session.reads("src/a.rs", &text);
    let transcript = session.home.path().join(".claude/projects/p/s1.jsonl");
    let row = r#"{"type":"assistant","message":{"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":4}]}}}"#;
    write(&transcript, format!("{row}\n"));
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
    let answer = session.shown_file("src/a.rs", &(text.clone() + "more\n"));
    assert!(answer.contains("lines 1-160 left out"), "what was shown since then counts: {answer}");
}

#[test]
fn nothing_is_left_out_once_the_user_goes_back() {
    let session = Session::new();
    let text = source(0..40);
    session.reads("src/a.rs", &text);
    let row = |kind: &str, name: &str, parent: &str| {
        format!(r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"{kind}","message":{{}},"uuid":"{name}"}}"#)
            + "\n"
    };
    let turn = row("user", "a", "0") + &row("assistant", "b", "a");
    write(&session.home.path().join(".claude/projects/p/s1.jsonl"), turn + &row("user", "c", "a"));
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
}

#[test]
fn small_results_of_a_tool_that_is_left_alone_stay_whole() {
    let session = Session::new();
    write(&session.home.path().join(".config/weir/config.toml"), "[hold]\noff = [\"Read\"]\n");
    let text = source(0..10);
    session.reads("src/a.rs", &text);
    assert!(text.len() < 1_000);
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
}

#[test]
fn it_can_be_turned_off() {
    let session = Session::new();
    write(&session.home.path().join(".config/weir/config.toml"), "[hold]\nrepeats = false\n");
    let text = source(0..40);
    session.reads("src/a.rs", &text);
    assert_eq!(session.reads("src/a.rs", &text), Value::Null);
}
