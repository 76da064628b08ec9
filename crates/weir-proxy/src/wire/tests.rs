//! Tests of the formats: which results a body has, and that a replacement changes nothing else.

use expect_test::{Expect, expect};

use super::*;

fn check(format: &WireFormat, body: &str, expected: Expect) {
    let Some(conversation) = (format.read)(body) else { return expected.assert_eq("not of this format") };
    let mut lines = vec![format!("conversation {}, {:?}", conversation.name(), conversation.face())];
    for ResultText { literal, about } in &conversation.results {
        let (name, input) = conversation.call(&about.call);
        let (new, failed) = (if about.is_new { "new" } else { "old" }, if about.failed { ", failed" } else { "" });
        lines.push(format!("{} of {name} {input}, {new}{failed}: {literal}", about.call));
    }
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn messages_of_anthropic() {
    check(
        &anthropic::FORMAT,
        r#"{ "model": "m", "tools": [{ "name": "Bash", "input_schema": { "properties": { "command": {} } } }],
            "messages": [
              { "role": "user", "content": "Count" },
              { "role": "assistant", "content": [
                { "type": "text", "text": "I will" },
                { "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": { "command": "seq 9" } }] },
              { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "toolu_1", "content": "1\n2" }] },
              { "role": "assistant", "content": [
                { "type": "tool_use", "id": "toolu_2", "name": "Read", "input": { "file_path": "a" } },
                { "type": "tool_use", "id": "toolu_3", "name": "mcp__p__l", "input": {} }] },
              { "content": [
                { "is_error": true, "content": "gone", "tool_use_id": "toolu_2", "type": "tool_result", "x": [1] },
                { "type": "tool_result", "tool_use_id": "toolu_3", "content": [
                  { "type": "text", "text": "one" }, { "type": "image", "source": { "text": "no" } },
                  { "text": "tw\u006f", "cache_control": { "type": "ephemeral" }, "type": "text" }] },
                { "type": "tool_result", "tool_use_id": "toolu_4" },
                { "type": "text", "text": "and then" }], "role": "user" }] }"#,
        expect![[r#"
            conversation toolu_1, Some(Terminal)
            toolu_1 of Bash {"command":"seq 9"}, old: "1\n2"
            toolu_2 of Read {"file_path":"a"}, new, failed: "gone"
            toolu_3 of mcp__p__l {}, new: "one"
            toolu_3 of mcp__p__l {}, new: "tw\u006f""#]],
    );
}

#[test]
fn messages_of_chat_completions() {
    check(
        &chat::FORMAT,
        r#"{ "messages": [
              { "role": "system", "content": "s" }, { "role": "user", "content": [{ "type": "text", "text": "u" }] },
              { "role": "assistant", "content": null, "tool_calls": [
                { "id": "call_1", "type": "function",
                  "function": { "name": "bash", "arguments": "{\"command\":\"ls\"}" } },
                { "id": "call_2", "type": "custom", "custom": { "name": "patch", "input": "*** Begin" } }] },
              { "role": "tool", "tool_call_id": "call_1", "content": "a" },
              { "role": "tool", "tool_call_id": "call_2", "content": [{ "type": "text", "text": "b" }] }],
            "tools": [{ "type": "function", "function": { "name": "weir_ctx_get", "parameters": {} } }] }"#,
        expect![[r#"
            conversation call_1, Some(Mcp)
            call_1 of bash {"command":"ls"}, new: "a"
            call_2 of patch {"input":"*** Begin"}, new: "b""#]],
    );
}

#[test]
fn items_of_responses() {
    check(
        &responses::FORMAT,
        r#"{ "instructions": "i", "input": [
              { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "d" }] },
              { "role": "user", "content": "u" }, { "type": "reasoning", "id": "rs_1", "summary": [] },
              { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "exec_command",
                "arguments": "{\"cmd\": \"ls\"}" },
              { "type": "function_call_output", "id": "fco_1", "call_id": "call_1", "output": "old" },
              { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "t" }] },
              { "type": "function_call", "call_id": "call_2", "name": "lines", "namespace": "mcp__probe",
                "arguments": "{}" },
              { "type": "custom_tool_call", "call_id": "call_3", "name": "apply_patch", "input": "*** Begin" },
              { "type": "local_shell_call", "call_id": "call_4", "action": { "type": "exec", "command": ["ls"] } },
              { "type": "function_call_output", "call_id": "call_2", "output": [
                { "type": "input_text", "text": "Wall time: 1 seconds" }, { "type": "input_image", "image_url": "x" },
                { "type": "input_text", "text": "two" }] },
              { "type": "custom_tool_call_output", "call_id": "call_3", "output": "three" },
              { "type": "local_shell_call_output", "id": "call_4", "output": "four" },
              { "type": "function_call_output", "call_id": "call_5", "output": { "content": "five" } },
              { "type": "message", "role": "user", "content": [] }],
            "tools": [{ "type": "namespace", "name": "mcp__x", "tools": [{ "name": "run", "parameters": {
              "properties": { "command": {} } } }] }, { "type": "function", "name": "exec_command", "parameters": {
              "properties": { "cmd": { "type": "string" } } } }] }"#,
        expect![[r#"
            conversation call_1, Some(Terminal)
            call_1 of exec_command {"cmd":"ls"}, old: "old"
            call_2 of mcp__probe__lines {}, new: "Wall time: 1 seconds"
            call_2 of mcp__probe__lines {}, new: "two"
            call_3 of apply_patch {"input":"*** Begin"}, new: "three"
            call_4 of local_shell {"type":"exec","command":["ls"]}, new: "four""#]],
    );
}

#[test]
fn without_a_tool_to_read_on_there_is_none() {
    for tools in [
        "",
        r#", "tools": []"#,
        r#", "tools": [{ "name": "weather", "input_schema": { "properties": { "city": {} } } }]"#,
    ] {
        check(&anthropic::FORMAT, &format!(r#"{{ "messages": [] {tools} }}"#), expect!["conversation , None"]);
    }
    let bash = r#"{ "messages": [], "tools": [{ "type": "bash_20250124", "name": "bash" }] }"#;
    check(&anthropic::FORMAT, bash, expect!["conversation , Some(Terminal)"]);
    let mcp = r#"{ "messages": [],
        "tools": [{ "name": "mcp__x__y", "input_schema": { "properties": { "command": {} } } }] }"#;
    check(&anthropic::FORMAT, mcp, expect!["conversation , None"]);
}

#[test]
fn what_is_not_of_a_format_is_not_understood() {
    for body in ["", "null", "[]", "{}", r#"{ "messages": 1 }"#, r#"{ "messages": ["x"] }"#, r#"{ "messages": [] "#] {
        check(&anthropic::FORMAT, body, expect!["not of this format"]);
        check(&chat::FORMAT, body, expect!["not of this format"]);
        check(&responses::FORMAT, body, expect!["not of this format"]);
    }
    check(&responses::FORMAT, r#"{ "input": "just a prompt" }"#, expect!["not of this format"]);
}

#[test]
fn formats_are_known_by_the_end_of_the_path() {
    let known = |path: &str| format_of(&Method::POST, path).and_then(|format| format.paths.first().copied());
    assert_eq!(known("/v1/messages"), Some("/v1/messages"));
    assert_eq!(known("/v1/messages/count_tokens"), Some("/v1/messages/count_tokens"));
    assert_eq!(known("/api/v1/chat/completions"), Some("/chat/completions"));
    assert_eq!(known("/v1/responses"), Some("/responses"));
    assert_eq!(known("/v1/responses/compact"), Some("/responses"));
    for path in ["/v1/messages/batches", "/v1/models", "/v1/responses/resp_1", "/"] {
        assert_eq!(known(path), None, "{path}");
    }
    assert!(format_of(&Method::GET, "/v1/responses").is_none());
}

#[test]
fn a_replacement_changes_nothing_else() {
    let body = "{\"a\" : 1e2, \"b\":\"\\u00e9\", \"c\":[ \"x\", \"x\" ]}\r\n";
    let part = |from: usize| &body[from..from + 3];
    let first = body.find("\"x\"").unwrap();
    let second = body.rfind("\"x\"").unwrap();
    assert_eq!(splice(body, &[]), body);
    assert_eq!(splice(body, &[(part(second), "\"yy\"".to_owned())]), body.replace(" \"x\" ]", " \"yy\" ]"));
    let both = [(part(first), "1".to_owned()), (part(second), "2".to_owned())];
    assert_eq!(splice(body, &both), "{\"a\" : 1e2, \"b\":\"\\u00e9\", \"c\":[ 1, 2 ]}\r\n");
    assert_eq!(splice(body, &[("\"x\"", "lost".to_owned())]), body, "the part of another text");
}
