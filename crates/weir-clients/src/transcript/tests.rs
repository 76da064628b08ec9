//! Tests the reading of short sessions in the format of each client.

use std::io::BufReader;
use std::path::Path;

use expect_test::expect;
use serde_json::json;
use weir_check::Checked;
use weir_core::Timestamp;

use super::*;

/// Reads rows and describes the resulting sessions.
fn check(rows: &[Value]) -> Checked {
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    Checked(shown(&text))
}

fn shown(text: &str) -> String {
    let Some(transcript) = read(&mut BufReader::new(text.as_bytes())).unwrap() else {
        return "not a transcript".to_owned();
    };
    let mut lines = vec![format!("{} skipped", transcript.skipped.count)];
    for session in &transcript.sessions {
        let (client, key) = (session.client().name, &session.key);
        lines.push(format!("{client} {} {key} {}", session.version, session.model));
        lines.extend(session.steps.iter().map(|step| match step {
            Step::Prompt { text } => format!("  prompt {text:?}"),
            Step::Said { text, request } => format!("  said in {request} {text:?}"),
            Step::Called { given, request } => format!("  called in {request} {given:?}"),
            Step::Compacted { text } => format!("  compacted, {} bytes", text.len()),
            Step::Result(result) => {
                format!("  {} {} gave {:?}, failed {}", result.name, result.input, result.text, result.failed)
            }
        }));
        let number = |used: &Usage| [used.input, used.cache_write, used.cache_write_hour, used.cache_read, used.output];
        lines.extend(session.requests.iter().map(|used| format!("  used {:?}", number(used))));
        let place = Place { session: "s", folder: Path::new("/p"), transcript: Path::new("/t"), subagent: "" };
        for step in &session.steps {
            for told in session.told(step.clone(), &place) {
                let wire = crate::Wire::new(told.event, &told.payload);
                let hook = (session.client().decode)(&wire).unwrap();
                assert_eq!((hook.session.as_str(), hook.folder.as_path()), ("s", Path::new("/p")));
                lines.push(format!("  hook {} {}", told.event, point(&hook.point)));
            }
        }
    }
    lines.join("\n")
}

fn point(point: &crate::Point) -> String {
    match point {
        crate::Point::AfterTool(call, done) => format!("{:?} {:?}", call.tool, done.output.text.brief()),
        point => format!("{point:?}"),
    }
}

#[test]
fn claude_code() {
    let row = |kind: &str, message: Value| json!({ "type": kind, "sessionId": "c1", "version": "2.1.39", "message": message });
    let used = json!({
        "input_tokens": 3, "cache_creation_input_tokens": 100, "cache_read_input_tokens": 50, "output_tokens": 7,
        "cache_creation": { "ephemeral_1h_input_tokens": 40 },
    });
    let said = |part: Value| {
        row("assistant", json!({ "id": "m1", "model": "claude-opus-4-5", "content": [part], "usage": used }))
    };
    let mut result =
        row("user", json!({ "content": [{ "type": "tool_result", "tool_use_id": "t1", "content": "1\tone" }] }));
    result["toolUseResult"] = json!({ "type": "text", "file": { "filePath": "/p/a.rs", "content": "one" } });
    let failed = json!({ "type": "tool_result", "tool_use_id": "t2", "content": [{ "type": "text", "text": "no" }], "is_error": true });
    let mut compacted = row("user", json!({ "content": "all of it" }));
    compacted["isCompactSummary"] = json!(true);
    check(&[
        row("user", json!({ "content": "do it" })),
        said(json!({ "type": "text", "text": "yes" })),
        said(json!({ "type": "tool_use", "id": "t1", "name": "Read", "input": { "file_path": "/p/a.rs" } })),
        result,
        said(json!({ "type": "tool_use", "id": "t2", "name": "Bash", "input": { "command": "false" } })),
        row("user", json!({ "content": [failed] })),
        compacted,
    ])
    .shows(&expect![[r#"
        0 skipped
        claude 2.1.39 c1 claude-opus-4-5
          prompt "do it"
          said in 0 "yes"
          called in 0 "{\"file_path\":\"/p/a.rs\"}"
          Read {"file_path":"/p/a.rs"} gave "1\tone", failed false
          called in 0 "{\"command\":\"false\"}"
          Bash {"command":"false"} gave "no", failed true
          compacted, 9 bytes
          used [3, 60, 40, 50, 7]
          hook UserPromptSubmit Prompt { text: "do it" }
          hook PostToolUse Read { path: "/p/a.rs", part: false } "one"
          hook PostToolUseFailure Shell { command: "false" } "no"
          hook PreCompact BeforeCompaction
          hook SubagentStop AfterCompaction { summary: "all of it" }
          hook SessionStart SessionStart(Compact)
          hook PostCompact AfterCompaction { summary: "all of it" }"#]]);
}

#[test]
fn the_first_rows_of_claude_code_may_not_say_whose_they_are() {
    let first = json!({ "type": "file-history", "messageId": "m0", "isUpdate": false });
    let prompt = json!({ "type": "user", "sessionId": "c1", "message": { "content": "do it" } });
    let cleared = json!({
        "type": "system", "subtype": "microcompact_boundary", "sessionId": "c1", "content": "Context microcompacted",
        "microcompactMetadata": { "trigger": "auto", "tokensSaved": 26741, "compactedToolIds": ["t1"] },
    });
    check(&[first.clone(), first.clone(), prompt, cleared]).shows(&expect![[r#"
        0 skipped
        claude  c1 
          prompt "do it"
          hook UserPromptSubmit Prompt { text: "do it" }"#]]);
    check(&[first]).shows(&expect!["not a transcript"]);
    let other = json!({ "unknown": 1 });
    let prompt = json!({ "type": "user", "sessionId": "c1", "message": { "content": "do it" } });
    check(&[other, prompt]).shows(&expect![[r#"
        1 skipped
        claude  c1 
          prompt "do it"
          hook UserPromptSubmit Prompt { text: "do it" }"#]]);
}

#[test]
fn what_a_fork_of_claude_code_repeats_is_found() {
    let row = |uuid: &str, kind: &str, message: Value| {
        let mut row = json!({ "type": kind, "sessionId": "c", "uuid": uuid });
        row["message"] = message;
        row
    };
    let prompt = |uuid: &str| row(uuid, "user", json!({ "content": "do it" }));
    let said = |uuid: &str, id: &str| {
        let usage = json!({ "input_tokens": 3 });
        row(uuid, "assistant", json!({ "id": id, "content": [{ "type": "text", "text": "yes" }], "usage": usage }))
    };
    let mut seen = SeenMessages::default();
    let mut copied = |rows: &[Value]| {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        let mut transcript = read(&mut text.as_bytes()).unwrap().unwrap();
        let session = &mut transcript.sessions[0];
        session.find_copies(&mut seen);
        (session.copied.steps, session.copied.requests, session.own_requests(), session.is_copy())
    };
    let parent = [prompt("u1"), said("u2", "m1"), said("u3", "m2")];
    assert_eq!(copied(&parent), (0, 0, 2, false));
    let mut renamed = said("u9", "m1");
    renamed["forkedFrom"] = json!({ "messageUuid": "u2" });
    assert_eq!(copied(&[prompt("u1"), renamed, prompt("u4"), said("u5", "m3")]), (2, 1, 1, false));
    assert_eq!(copied(&parent), (3, 2, 0, true));
    // Without identifiers, equal messages are not copies.
    let nameless = [prompt(""), said("", "m1")];
    assert_eq!(copied(&nameless), (0, 0, 1, false));
    assert_eq!(copied(&nameless), (0, 0, 1, false));
}

#[test]
fn rows_of_the_other_formats() {
    let seeds = include_str!("../../../../fuzz/seeds/transcript.txt");
    let shown: Vec<String> = seeds.split("%%\n").skip(4).map(shown).collect();
    expect![[r#"
        0 skipped
        qwen  s x
          prompt "do it"
          said in 0 "yes"
          called in 0 "{\"command\":\"ls\"}"
          run_shell_command {"command":"ls"} gave "Output: a\nExit Code: 0", failed false
          compacted, 3 bytes
          used [6, 0, 0, 3, 1]
          hook UserPromptSubmit Prompt { text: "do it" }
          hook PostToolUse Shell { command: "ls" } "Output: a"
          hook PreCompact BeforeCompaction
          hook PostCompact AfterCompaction { summary: "all" }
          hook SessionStart SessionStart(Compact)
        0 skipped
        copilot 1.0.102 s x
          prompt "do it"
          said in 0 "yes"
          called in 0 "{\"command\":\"ls\"}"
          bash {"command":"ls"} gave "a\n<shellId: 0 completed with exit code 0>", failed false
          compacted, 3 bytes
          used [6, 0, 0, 3, 1]
          hook userPromptSubmitted Prompt { text: "do it" }
          hook postToolUse Shell { command: "ls" } "a"
          hook preCompact BeforeCompaction
        0 skipped
        plain  a 
          prompt "do it"
          said in 0 "yes"
          compacted, 3 bytes
          hook UserPromptSubmit Prompt { text: "do it" }
          hook PreCompact BeforeCompaction
          hook SubagentStop AfterCompaction { summary: "all" }
          hook SessionStart SessionStart(Compact)
          hook PostCompact AfterCompaction { summary: "all" }
        plain  b 
          Bash {"command":"ls"} gave "a", failed true
          hook PostToolUseFailure Shell { command: "ls" } "a""#]]
    .assert_eq(&shown.join("\n"));
}

#[test]
fn what_is_streamed_says_when_and_where() {
    let row = |number: u64| {
        json!({
            "type": "user", "sessionId": "s", "uuid": format!("u{number}"), "cwd": "/p", "gitBranch": "main",
            "isSidechain": number % 2 == 1, "agentId": if number % 2 == 1 { json!("a1") } else { Value::Null },
            "timestamp": "2026-01-31T12:00:00Z", "message": { "content": "x".repeat(400_000) },
        })
    };
    let text: String = (0..10).map(|number| format!("{}\n", row(number))).collect();
    let mut parts = Vec::new();
    let skipped = stream(&mut format!("{text}{{\n").as_bytes(), &mut |part: Part| {
        assert_eq!((part.session.folder.as_str(), part.session.branch.as_str()), ("/p", "main"));
        let steps: Vec<(String, Option<Timestamp>)> =
            part.steps.into_iter().map(|dated| (dated.message, dated.at)).collect();
        parts.push((part.session.subagent, steps));
        ControlFlow::Continue(())
    });
    assert_eq!(skipped.unwrap().unwrap(), Skipped { count: 1, lines: vec![11] });
    assert!(parts.len() > 4, "{} parts", parts.len());
    let of = |subagent: &str| -> Vec<String> {
        let own = parts.iter().filter(|(of, _)| of == subagent).flat_map(|(_, steps)| steps);
        own.map(|(message, at)| format!("{message} {:?}", at.map(|at| at.0))).collect()
    };
    let expected = |numbers: [u64; 5]| numbers.map(|number| format!("u{number} Some(1769860800000)")).to_vec();
    assert_eq!((of(""), of("a1")), (expected([0, 2, 4, 6, 8]), expected([1, 3, 5, 7, 9])));
}

#[test]
fn codex() {
    let row = |kind: &str, payload: Value| json!({ "type": kind, "payload": payload });
    let item = |payload: Value| row("response_item", payload);
    let used = json!({ "input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 9 });
    let count = row("event_msg", json!({ "type": "token_count", "info": { "last_token_usage": used } }));
    check(&[
        row("session_meta", json!({ "id": "x1", "cli_version": "0.98.0" })),
        row("turn_context", json!({ "model": "gpt-5.2" })),
        item(json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "do it" }] })),
        item(
            json!({ "type": "function_call", "name": "exec_command", "arguments": "{\"cmd\":\"ls\"}", "call_id": "1" }),
        ),
        count.clone(),
        item(json!({ "type": "function_call_output", "call_id": "1", "output": "Wall time: 1 s\nOutput:\na\nb\n" })),
        count,
        item(
            json!({ "type": "custom_tool_call", "name": "apply_patch", "input": "*** Update File: a", "call_id": "2" }),
        ),
        item(json!({ "type": "custom_tool_call_output", "call_id": "2", "output": "done" })),
        row("compacted", json!({ "message": "all of it" })),
    ])
    .shows(&expect![[r#"
        0 skipped
        codex 0.98.0 x1 gpt-5.2
          prompt "do it"
          called in 0 "{\"cmd\":\"ls\"}"
          Bash {"command":"ls"} gave "a\nb\n", failed false
          called in 1 "*** Update File: a"
          apply_patch {"input":"*** Update File: a"} gave "done", failed false
          compacted, 9 bytes
          used [0, 40, 0, 60, 9]
          hook UserPromptSubmit Prompt { text: "do it" }
          hook PostToolUse Shell { command: "ls" } "a\nb\n"
          hook PostToolUse Edit { path: "a" } "done"
          hook PreCompact BeforeCompaction
          hook SessionStart SessionStart(Compact)"#]]);
}

#[test]
fn what_claude_code_says_in_the_place_of_an_answer_is_not_the_models() {
    let failed =
        json!({ "id": "m1", "model": "<synthetic>", "content": [{ "type": "text", "text": "API Error: 529" }] });
    let rows = [
        json!({ "type": "user", "sessionId": "c1", "message": { "content": "do it" } }),
        json!({ "type": "assistant", "sessionId": "c1", "message": failed }),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let transcript = read(&mut text.as_bytes()).unwrap().unwrap();
    assert_eq!(transcript.sessions[0].steps, [Step::Prompt { text: "do it".to_owned() }]);
    assert_eq!((transcript.sessions[0].requests.len(), transcript.skipped.count), (0, 0));
}

#[test]
fn a_subagent_of_opencode_belongs_to_the_session_of_its_parent() {
    let info = json!({ "id": "o2", "version": "1.1.53", "directory": "/p", "projectID": "x", "parentID": "o1" });
    let part = json!({ "id": "p1", "sessionID": "o2", "messageID": "m1", "type": "text", "text": "look" });
    let message = json!({ "info": { "id": "m1", "sessionID": "o2", "role": "user" }, "parts": [part] });
    let text = json!({ "info": info, "messages": [message] }).to_string();
    let sessions = read(&mut text.as_bytes()).unwrap().unwrap().sessions;
    assert_eq!((sessions[0].key.as_str(), sessions[0].subagent.as_str()), ("o1", "o2"));
    assert_eq!(sessions[0].steps, [Step::Prompt { text: "look".to_owned() }]);
}

#[test]
fn a_subagent_of_codex_belongs_to_the_session_of_its_parent() {
    let source = json!({ "subagent": { "thread_spawn": { "parent_thread_id": "parent", "depth": 1 } } });
    let rows = [
        json!({ "type": "session_meta", "payload": { "id": "child", "source": source } }),
        json!({ "type": "response_item", "payload": { "type": "message", "id": "msg_1", "role": "user", "content": "look" } }),
    ];
    let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let sessions = read(&mut text.as_bytes()).unwrap().unwrap().sessions;
    assert_eq!((sessions[0].key.as_str(), sessions[0].subagent.as_str()), ("parent", "child"));
    assert!(sessions[0].has_copies("msg_1") && !sessions[0].has_copies("2"));
}

#[test]
fn opencode() {
    let part = |id: &str, kind: &str, more: Value| {
        let mut part = json!({ "id": id, "sessionID": "o1", "messageID": "m2", "type": kind });
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        part
    };
    let read = json!({ "tool": "read", "callID": "c1", "state": {
        "status": "completed", "input": { "filePath": "/p/a.rs" }, "output": "<file>\n00001| one\n</file>", "metadata": {},
    } });
    let failed = json!({ "tool": "bash", "callID": "c2", "state": { "status": "error", "input": { "command": "x" }, "error": "no" } });
    let used = json!({ "tokens": { "input": 10, "output": 2, "reasoning": 3, "cache": { "read": 5, "write": 4 } } });
    let rows = [
        json!({ "id": "p1", "worktree": "/p" }),
        json!({ "id": "m2", "sessionID": "o1", "role": "assistant", "modelID": "gpt-5.2" }),
        part("p4", "step-finish", used),
        part("p2", "tool", read),
        part("p3", "tool", failed),
        json!({ "id": "m1", "sessionID": "o1", "role": "user" }),
        json!({ "id": "p1", "sessionID": "o1", "messageID": "m1", "type": "text", "text": "do it" }),
        json!({ "id": "m3", "sessionID": "o1", "role": "assistant", "summary": true }),
        json!({ "id": "p9", "sessionID": "o1", "messageID": "m3", "type": "text", "text": "all of it" }),
        json!({ "id": "p1", "sessionID": "o2", "messageID": "m9", "type": "text", "text": "another" }),
        json!({ "neither": 1 }),
    ];
    check(&rows).shows(&expect![[r#"
        1 skipped
        opencode  o1 gpt-5.2
          prompt "do it"
          called in 0 "{\"filePath\":\"/p/a.rs\"}"
          read {"filePath":"/p/a.rs"} gave "<file>\n00001| one\n</file>", failed false
          called in 0 "{\"command\":\"x\"}"
          bash {"command":"x"} gave "no", failed true
          compacted, 9 bytes
          used [10, 4, 0, 5, 5]
          hook chat.message Prompt { text: "do it" }
          hook tool.execute.after Read { path: "/p/a.rs", part: false } "<file>\n00001| one\n</file>"
          hook experimental.session.compacting BeforeCompaction
        opencode  o2 
          said in 0 "another""#]]);
}

#[test]
fn subagents_of_older_claude_code_stand_apart_from_the_conversation() {
    let row = |kind: &str, side: bool, id: &str| {
        let message = json!({ "id": id, "content": [{ "type": "text", "text": id }], "usage": { "input_tokens": 1 } });
        json!({ "type": kind, "sessionId": "c", "isSidechain": side, "message": message })
    };
    let rows = [
        json!({ "type": "summary", "leafUuid": "u" }),
        row("user", false, "ask"),
        row("assistant", false, "m1"),
        row("user", true, "task"),
        row("assistant", true, "s1"),
        row("assistant", false, "m2"),
    ];
    check(&rows).shows(&expect![[r#"
        0 skipped
        claude  c 
          prompt "ask"
          said in 0 "m1"
          said in 1 "m2"
          used [1, 0, 0, 0, 0]
          used [1, 0, 0, 0, 0]
          hook UserPromptSubmit Prompt { text: "ask" }
        claude  c 
          prompt "task"
          said in 0 "s1"
          used [1, 0, 0, 0, 0]
          hook UserPromptSubmit Prompt { text: "task" }"#]]);
    // The transcript of a subagent alone is one conversation.
    let alone: String =
        [row("user", true, "task"), row("assistant", true, "s1")].iter().map(|row| format!("{row}\n")).collect();
    assert_eq!(read(&mut alone.as_bytes()).unwrap().unwrap().sessions.len(), 1);
}

#[test]
fn the_hooks_of_a_subagent_name_the_transcript_of_its_session() {
    let row = json!({ "type": "user", "sessionId": "c", "message": { "content": "hi" } }).to_string();
    let session = read(&mut row.as_bytes()).unwrap().unwrap().sessions.remove(0);
    for (path, expected) in [("/p/s1.jsonl", "/p/s1.jsonl"), ("/p/s1/subagents/agent-2.jsonl", "/p/s1.jsonl")] {
        let place = Place { session: "s", folder: Path::new("/p"), transcript: Path::new(path), subagent: "" };
        assert_eq!(session.told(session.steps[0].clone(), &place)[0].payload["transcript_path"], expected);
    }
}

#[test]
fn an_export_of_opencode() {
    let user = json!({ "id": "m1", "sessionID": "o1", "role": "user" });
    let part = json!({ "id": "p1", "sessionID": "o1", "messageID": "m1", "type": "text", "text": "do it" });
    let export = json!({
        "info": { "id": "o1", "version": "1.2.3" },
        "messages": [{ "info": user, "parts": [part] }],
    });
    let expected = "0 skipped\nopencode 1.2.3 o1 \n  prompt \"do it\"\n  hook chat.message Prompt { text: \"do it\" }";
    assert_eq!(shown(&serde_json::to_string_pretty(&export).unwrap()), expected);
}

#[test]
fn gemini() {
    let call = json!({
        "id": "c1", "name": "run_shell_command", "args": { "command": "ls" }, "status": "success", "resultDisplay": "a",
        "result": [{ "functionResponse": { "response": { "output": "Output: a\nProcess Group PGID: 1" } } }],
    });
    let read = json!({
        "id": "c2", "name": "read_file", "args": { "absolute_path": "/p/a.rs", "offset": 5 }, "status": "success",
        "result": [{ "functionResponse": { "response": { "output": "five" } } }],
    });
    let tokens = json!({ "input": 100, "cached": 60, "output": 5, "thoughts": 4 });
    let chat = json!({ "sessionId": "g1", "projectHash": "h", "messages": [
        { "id": "1", "type": "user", "content": [{ "text": "do it" }] },
        { "id": "2", "type": "gemini", "content": "yes", "toolCalls": [call, read], "tokens": tokens, "model": "gemini-3-pro-preview" },
        { "id": "3", "type": "user", "content": [{ "text": "<state_snapshot>all of it" }] }, // tidy: allow(snapshot): the client's word
    ] });
    let expected = expect![[r#"
        0 skipped
        gemini  g1 gemini-3-pro-preview
          prompt "do it"
          said in 0 "yes"
          called in 0 "{\"command\":\"ls\"}"
          run_shell_command {"command":"ls"} gave "Output: a\nProcess Group PGID: 1", failed false
          called in 0 "{\"absolute_path\":\"/p/a.rs\",\"offset\":5}"
          read_file {"file_path":"/p/a.rs","start_line":5} gave "five", failed false
          compacted, 25 bytes
          used [40, 0, 0, 60, 9]
          hook BeforeAgent Prompt { text: "do it" }
          hook AfterTool Shell { command: "ls" } "a"
          hook AfterTool Read { path: "/p/a.rs", part: true } "five"
          hook PreCompress BeforeCompaction"#]];
    expected.assert_eq(&shown(&chat.to_string()));
    assert_eq!(shown(&serde_json::to_string_pretty(&chat).unwrap()), shown(&chat.to_string()));
    // Newer versions write rows, and write a message again when it has grown.
    let mut rows = format!("{}\n", json!({ "sessionId": "g1", "projectHash": "h" }));
    rows +=
        &format!("{}\n", json!({ "$set": { "messages": [{ "id": "0", "type": "user", "content": "where it is" }] } }));
    rows += &format!("{}\n", json!({ "id": "2", "type": "gemini", "content": "y" }));
    rows += &format!("{}\n", json!({ "$set": { "lastUpdated": "now" } }));
    rows += &format!("{}\n", json!({ "id": "5", "type": "user", "content": [{ "functionResponse": {} }] }));
    rows = chat["messages"].as_array().unwrap().iter().fold(rows, |rows, message| format!("{rows}{message}\n"));
    let moved = shown(&rows);
    assert!(moved.starts_with("0 skipped") && moved.contains("prompt \"where it is\""), "{moved}");
    assert!(
        moved.contains("said in 0 \"yes\"") && !moved.contains("\"y\"") && !moved.contains("prompt \"\""),
        "{moved}"
    );
}

#[test]
fn what_is_broken_is_counted_and_skipped() {
    let good = json!({ "type": "user", "sessionId": "c", "message": { "content": "hi" } });
    let bad = ["{\"type\":", "null", "[]", "\u{fffd}", "{\"sessionId\":\"c\"}", "7"];
    let text: String = bad.iter().fold(format!("{good}\n"), |text, row| format!("{text}{row}\n{good}\n"));
    let transcript = read(&mut BufReader::new(text.as_bytes())).unwrap().unwrap();
    assert_eq!((transcript.skipped.count, transcript.sessions[0].steps.len()), (6, 7));
    // The very first row is broken.
    let transcript = read(&mut BufReader::new(format!("{{\"a\n{good}\n").as_bytes())).unwrap().unwrap();
    assert_eq!((transcript.skipped.count, transcript.sessions[0].steps.len()), (1, 1));
    for other in ["", "{}", "[1]\n", "{\"type\":\"x\"}\n", "text"] {
        assert!(read(&mut BufReader::new(other.as_bytes())).unwrap().is_none(), "{other}");
    }
}

#[test]
fn half_a_character_does_not_cost_a_row() {
    let row = r#"{"type":"user","sessionId":"c","message":{"content":"hi \ud83d"}}"#;
    let transcript = read(&mut BufReader::new(row.as_bytes())).unwrap().unwrap();
    let expected = [Step::Prompt { text: "hi \u{fffd}".to_owned() }];
    assert_eq!((transcript.skipped.count, transcript.sessions[0].steps.as_slice()), (0, &expected[..]));
}

#[test]
fn a_row_of_another_shape_is_no_reason_to_panic() {
    let shapes =
        [json!(null), json!(1), json!("x"), json!([[]]), json!({ "a": {} }), json!([{ "type": "tool_result" }])];
    for shape in &shapes {
        for key in ["message", "payload", "messages", "content", "state", "toolUseResult", "info", "tokens", "id"] {
            for kind in ["user", "assistant", "response_item", "tool", "gemini", "compacted", "step-finish"] {
                let mut row =
                    json!({ "type": kind, "sessionId": "c", "sessionID": "c", "id": "i", "projectHash": "h" });
                row[key] = shape.clone();
                for start in [
                    json!({ "type": "x", "sessionId": "c" }),
                    json!({ "type": "x", "payload": {} }),
                    json!({ "worktree": "/" }),
                ] {
                    let _ = shown(&format!("{start}\n{row}\n"));
                }
            }
        }
    }
}
