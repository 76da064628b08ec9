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
fn a_remark_names_the_output_that_has_the_lines() {
    let session = Session::new();
    session.reads("src/a.rs", &source(0..40));
    let more = source(0..40) + &source(100..110);
    assert!(shown(&session.ran("cat src/a.rs src/b.rs", &more)).contains("fn step_100"));
    let answer = session.ran("cat src/*.rs", &(more + "the end\n"));
    let remarks: Vec<&str> = shown(&answer).lines().filter(|line| line.starts_with("[weir: ")).collect();
    let [first, second] = remarks.as_slice() else { panic!("{answer}") };
    assert!(first.contains("lines 1-160 left out, unchanged from the read of src/a.rs"), "{first}");
    assert!(
        second.contains("lines 161-200 left out, unchanged from the output of `cat src/a.rs src/b.rs`"),
        "{second}"
    );
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

/// Checks that a file that was shown is shown again once the transcript has these rows, and that what is shown from
/// then on counts.
fn check_lost(rows: &str) {
    let session = Session::new();
    let text = source(0..40);
    write(&session.transcript(), row("user", "a", "0") + &row("assistant", "b", "a"));
    session.reads("src/a.rs", &text);
    let before = std::fs::read_to_string(session.transcript()).unwrap();
    write(&session.transcript(), before + rows);
    assert_eq!(session.reads("src/a.rs", &text), Value::Null, "{rows}");
    let answer = session.shown_file("src/a.rs", &(text + "more\n"));
    assert!(answer.contains("lines 1-160 left out"), "what was shown since then counts: {answer}");
}

fn row(kind: &str, name: &str, parent: &str) -> String {
    format!(r#"{{"parentUuid":"{parent}","isSidechain":false,"type":"{kind}","message":{{}},"uuid":"{name}"}}"#) + "\n"
}

#[test]
fn nothing_is_left_out_once_the_conversation_was_shortened() {
    let edits = r#""applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":4}]"#;
    check_lost(&format!("{{\"type\":\"assistant\",\"message\":{{\"context_management\":{{{edits}}}}}}}\n"));
    check_lost("{\"type\":\"system\",\"subtype\":\"microcompact_boundary\",\"content\":\"Context microcompacted\"}\n");
    // It went on elsewhere, where nobody told us.
    check_lost("{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"content\":\"Conversation compacted\"}\n");
    check_lost(&(row("user", "c", "b") + &row("assistant", "d", "c") + &row("user", "e", "b")));
    // The first prompt since then follows an earlier message.
    check_lost(&row("user", "c", "a"));
}

#[test]
fn nothing_is_left_out_while_the_transcript_does_not_say_what_the_conversation_has() {
    let session = Session::new();
    let text = source(0..40);
    let turn = row("user", "a", "0") + &row("assistant", "b", "a");
    write(&session.transcript(), &turn);
    session.reads("src/a.rs", &text);
    std::fs::remove_file(session.transcript()).unwrap();
    std::fs::create_dir(session.transcript()).unwrap();
    assert_eq!(session.reads("src/a.rs", &text), Value::Null, "it cannot be read");
    std::fs::remove_dir(session.transcript()).unwrap();
    write(&session.transcript(), &turn[..20]);
    assert_eq!(session.reads("src/a.rs", &(text.clone() + "b\n")), Value::Null, "it is another one");
    assert!(session.shown_file("src/a.rs", &(text + "c\n")).contains("lines 1-160 left out"));
}

#[test]
fn a_conversation_that_continues_in_another_transcript_begins_with_nothing_shown() {
    let session = Session::new();
    let text = source(0..40);
    let shown = |transcript: &str| {
        let path = session.home.path().join(transcript);
        write(&path, "{}\n");
        let ran = json!({
            "session_id": "c1", "cwd": session.project(), "transcript_path": path, "tool_name": "Bash",
            "tool_use_id": "call_1", "tool_input": { "command": "cat src/a.rs" }, "tool_response": text,
        });
        String::from_utf8(session.raw_hook("codex", "PostToolUse", ran.to_string().as_bytes())).unwrap()
    };
    assert_eq!(shown("rollout-1.jsonl"), "");
    assert_eq!(shown("rollout-2.jsonl"), "", "the user went back");
    assert!(shown("rollout-2.jsonl").contains("lines 1-160 left out"));
}

#[test]
fn a_turn_that_goes_on_keeps_what_was_shown() {
    let session = Session::new();
    let text = source(0..40);
    // An old compaction is behind everything that was shown.
    let old = "{\"type\":\"system\",\"subtype\":\"compact_boundary\"}\n".to_owned();
    let turn = old + &row("user", "a", "0") + &row("assistant", "b", "a");
    write(&session.transcript(), &turn);
    session.reads("src/a.rs", &text);
    write(&session.transcript(), turn + &row("user", "c", "b") + &row("assistant", "d", "c"));
    assert!(session.shown_file("src/a.rs", &text).contains("lines 1-160 left out"));
}

#[test]
fn what_the_client_cut_was_not_shown() {
    let session = Session::new();
    let text = source(0..700);
    assert!(text.len() > 30_000);
    let files: Vec<(Value, String)> = vec![
        (super::bash("git diff main", &text), source(600..640)),
        (
            json!({
                "tool_name": "Grep", "tool_input": { "pattern": "fn" },
                "tool_response": { "mode": "content", "content": source(1000..1500), "numLines": 2000 },
            }),
            source(1400..1440),
        ),
    ];
    for (payload, later) in files {
        assert_eq!(session.hook("PostToolUse", payload), Value::Null, "the client shows its beginning");
        assert_eq!(session.reads("src/later.rs", &later), Value::Null);
    }
    // It has shown the first 2,000 characters.
    let shown = session.shown_file("src/first.rs", &(source(0..20) + &source(500..520)));
    assert!(shown.starts_with("[weir: lines 1-80 left out, unchanged from the output of `git diff main`"), "{shown}");
    assert!(shown.contains("fn step_500"), "{shown}");
}

#[test]
fn a_client_that_drops_texts_without_a_word_is_shown_them_again() {
    let session = Session::new();
    let text = source(0..40);
    let call = |client: &str, event: &str, payload: Value| {
        let answer = session.raw_hook(client, event, payload.to_string().as_bytes());
        String::from_utf8(answer).unwrap()
    };
    let read = |folder: &std::path::Path| {
        let about = json!({ "tool": "read", "sessionID": "ses_1", "callID": "c", "args": { "filePath": "a.rs" } });
        let display = json!({ "type": "file", "text": text, "truncated": false });
        json!({ "directory": folder, "input": about, "output": { "output": text, "metadata": { "display": display } } })
    };
    let prompt = |folder: &std::path::Path| {
        let parts = json!([{ "type": "text", "text": "go on" }]);
        json!({ "directory": folder, "input": { "sessionID": "ses_1" }, "output": { "parts": parts } })
    };
    let folder = session.project();
    let in_opencode = || call("opencode", "tool.execute.after", read(&folder));
    assert_eq!(in_opencode(), "");
    assert!(in_opencode().contains("lines 1-160 left out"), "the same turn");
    call("opencode", "chat.message", prompt(&folder));
    assert_eq!(in_opencode(), "", "the client may have cleared it");

    let in_qwen = || {
        let read = json!({
            "session_id": "q", "cwd": folder, "tool_name": "read_file", "tool_input": { "file_path": "a.rs" },
            "tool_response": { "llmContent": text },
        });
        call("qwen", "PostToolUse", read)
    };
    assert_eq!((in_qwen(), in_qwen()), (String::new(), String::new()));
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
