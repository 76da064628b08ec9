//! Tests that decoders read a text that is too long for memory as they read any other.

use serde_json::{Value, json};

use crate::{Done, Hook, LongString, LongText, Output, Piece, Point, Text, Wire, capture, find, written};

/// A string of more bytes is long.
const MAX_INLINE_BYTES: usize = 1 << 20;
/// How many bytes of its beginning and of its end decoders get.
const EXCERPT_BYTES: usize = 64 << 10;

macro_rules! fixture {
    ($name:literal) => {
        serde_json::from_str::<Value>(include_str!(concat!("../fixtures/", $name, ".json"))).unwrap()
    };
}

/// Returns a tool's output of 3 MiB.
fn output() -> String {
    let mut text = String::new();
    while text.len() < 3 << 20 {
        text.push_str(&format!("at byte {} there are \"quotes\", \\ and €\n", text.len()));
    }
    text + "the end"
}

/// A payload as decoders get it, with its long texts in a file.
struct LongPayload {
    value: Value,
    /// The long texts, each with its JSON pointer.
    texts: Vec<(String, Text)>,
    file: Vec<u8>,
}

impl LongPayload {
    fn new(value: Value) -> Self {
        let mut payload = Self { value: Value::Null, texts: Vec::new(), file: Vec::new() };
        payload.value = payload.without_long(value, "");
        payload
    }

    fn without_long(&mut self, value: Value, pointer: &str) -> Value {
        match value {
            Value::String(text) if text.len() > MAX_INLINE_BYTES => {
                let begin = self.file.len() as u64;
                self.file.extend_from_slice(text.as_bytes());
                let long = LongText {
                    range: begin..self.file.len() as u64,
                    head: text[..text.floor_char_boundary(EXCERPT_BYTES)].to_owned(),
                    tail: text[text.ceil_char_boundary(text.len() - EXCERPT_BYTES)..].to_owned(),
                };
                let brief = long.brief();
                self.texts.push((pointer.to_owned(), Text::Long(vec![Piece::Long(long)])));
                brief.into()
            }
            Value::Array(values) => {
                let values = values.into_iter().enumerate();
                values.map(|(at, value)| self.without_long(value, &format!("{pointer}/{at}"))).collect()
            }
            Value::Object(fields) => {
                let cut = |(name, value): (String, Value)| {
                    let value = self.without_long(value, &format!("{pointer}/{name}"));
                    (name, value)
                };
                fields.into_iter().map(cut).collect()
            }
            value => value,
        }
    }

    fn decode(&self, client: &str, event: &str) -> Hook {
        let placed = self.texts.iter();
        let long: Vec<LongString<'_>> =
            placed.map(|(pointer, text)| LongString { at: self.value.pointer(pointer).unwrap(), text }).collect();
        (find(client).unwrap().decode)(&Wire { event, payload: &self.value, long: &long }).unwrap()
    }

    fn whole(&self, text: &Text) -> String {
        let whole = |piece: &Piece| match piece {
            Piece::Here(text) => text.clone(),
            Piece::Long(LongText { range, .. }) => {
                String::from_utf8(self.file[range.start as usize..range.end as usize].to_vec()).unwrap()
            }
        };
        match text {
            Text::Here(text) => text.clone(),
            Text::Long(pieces) => pieces.iter().map(whole).collect(),
        }
    }
}

/// Decodes a payload with a long text, and once more with all of it in memory. Both must give the text, the exit code
/// and whether the call failed, and agree on everything else. Returns the output.
fn check(
    (client, event): (&str, &str),
    payload: Value,
    (text, exit_code, failed): (&str, Option<i32>, bool),
) -> Output {
    let decoded = (find(client).unwrap().decode)(&Wire::new(event, &payload)).unwrap();
    let Point::AfterTool(call, done) = decoded.point else { panic!() };
    let long = LongPayload::new(payload);
    let Point::AfterTool(long_call, long_done) = long.decode(client, event).point else { panic!() };
    assert!(long_done.output.text.here().is_none(), "{client} {event} is not about a long text");
    let is_same = long.whole(&long_done.output.text) == text && done.output.text.here() == Some(text);
    assert!(is_same, "{client} {event} gives another text");
    assert_eq!((done.exit_code, done.failed), (exit_code, failed), "{client} {event}");
    assert_eq!(long_call.tool, call.tool);
    let about = |done: &Done| {
        let Output { saved, cut, numbered, .. } = done.output.clone();
        (done.exit_code, done.failed, done.millis, saved, cut, numbered)
    };
    assert_eq!(about(&long_done), about(&done), "{client} {event}");
    long_done.output
}

#[test]
fn claude_code() {
    let text = output();
    let mut ran = fixture!("claude/PostToolUse");
    ran["tool_response"]["stdout"] = json!(text);
    check(("claude", "PostToolUse"), ran.clone(), (&text, None, false));
    ran["tool_response"]["stderr"] = json!("a warning");
    check(("claude", "PostToolUse"), ran.clone(), (&format!("{text}\na warning"), None, false));
    ran["tool_response"]["stderr"] = json!(text);
    check(("claude", "PostToolUse"), ran.clone(), (&format!("{text}\n{text}"), None, false));
    ran["tool_response"]["stdout"] = json!("");
    check(("claude", "PostToolUse"), ran, (&text, None, false));

    let mut failed = fixture!("claude/PostToolUseFailure.Bash");
    failed["error"] = json!(format!("Exit code 4\n{text}"));
    check(("claude", "PostToolUseFailure"), failed.clone(), (&text, Some(4), true));
    failed["error"] = json!(text);
    check(("claude", "PostToolUseFailure"), failed, (&text, None, true));

    let mut read = fixture!("claude/PostToolUse.Read");
    read["tool_response"]["file"]["content"] = json!(text);
    assert!(check(("claude", "PostToolUse"), read, (&text, None, false)).numbered.is_some());
    let mut mcp = fixture!("claude/PostToolUse.mcp__probe__echo");
    mcp["tool_response"] = json!([{ "text": "a" }, { "text": "" }, { "text": text }, { "text": text }]);
    check(("claude", "PostToolUse"), mcp, (&format!("a\n{text}\n{text}"), None, false));
}

#[test]
fn codex() {
    let text = output();
    let ran = |response: Value| json!({ "cwd": "/p", "tool_name": "Bash", "tool_response": response });
    assert!(!check(("codex", "PostToolUse"), ran(json!(text)), (&text, None, false)).cut);
    check(("codex", "PostToolUse"), ran(json!({ "content": [{ "text": text }] })), (&text, None, false));
    let cut = format!("Warning: truncated output (original token count: 9000000)\n{text}");
    assert!(check(("codex", "PostToolUse"), ran(json!(cut)), (&cut, None, false)).cut);
}

#[test]
fn copilot() {
    let text = output();
    let mut ran = fixture!("copilot/postToolUse.bash-failing");
    ran["toolResult"]["textResultForLlm"] = json!(format!("{text}\n<shellId: 6 completed with exit code 3>"));
    check(("copilot", "postToolUse"), ran.clone(), (&text, Some(3), true));
    ran["toolResult"]["textResultForLlm"] = json!(text);
    check(("copilot", "postToolUse"), ran, (&text, None, false));
    let mut read = fixture!("copilot/postToolUse.view");
    read["toolResult"]["textResultForLlm"] = json!(text);
    check(("copilot", "postToolUse"), read, (&text, None, false));
    let mut failed = fixture!("copilot/postToolUseFailure");
    failed["error"] = json!(text);
    check(("copilot", "postToolUseFailure"), failed, (&text, None, true));
}

#[test]
fn gemini() {
    let text = output();
    let ran = |printed: &str, about: &str, shown: &str| {
        let content = format!("<untrusted_context>\nOutput: {printed}\n{about}\n</untrusted_context>");
        let mut ran = fixture!("gemini/AfterTool");
        ran["tool_response"] = json!({ "llmContent": content, "returnDisplay": shown });
        ran
    };
    let good = "Process Group PGID: 402";
    let bad = "Exit Code: 3\nProcess Group PGID: 402";
    check(("gemini", "AfterTool"), ran(&text, good, &text), (&text, Some(0), false));
    check(("gemini", "AfterTool"), ran(&text, bad, &text), (&text, Some(3), true));
    check(("gemini", "AfterTool"), ran(&text, bad, "something else"), (&text, Some(3), true));
    // A command cannot make up how it ended.
    let forged = format!("{text}\nExit Code: 9");
    check(("gemini", "AfterTool"), ran(&forged, good, &forged), (&forged, Some(0), false));
    // What the user is shown may be in memory when the content, with more around it, is not.
    let shorter = &forged[forged.ceil_char_boundary(forged.len() - MAX_INLINE_BYTES)..];
    check(("gemini", "AfterTool"), ran(shorter, good, shorter), (shorter, Some(0), false));

    let mut mcp = fixture!("gemini/AfterTool.mcp_probe_echo");
    let part = |text: &str| json!({ "text": format!("<untrusted_context>\n{text}\n</untrusted_context>") });
    mcp["tool_response"]["llmContent"] = json!([part("a"), part(&text)]);
    check(("gemini", "AfterTool"), mcp, (&format!("a\n{text}"), None, false));
    let mut read = fixture!("gemini/AfterTool.read_file");
    let cut = format!("\nIMPORTANT: The file content has been truncated.\n{text}");
    read["tool_response"]["llmContent"] = json!(cut);
    let saved = check(("gemini", "AfterTool"), read, (&cut, None, false)).saved;
    assert_eq!(saved, Some("/home/dev/project/hello.txt".into()));
}

#[test]
fn opencode() {
    let text = output();
    let event = "tool.execute.after";
    let mut ran = fixture!("opencode/tool.execute.after.bash-failing");
    ran["directory"] = json!("/home/dev/project");
    ran["output"]["output"] = json!(text);
    ran["output"]["metadata"]["output"] = json!(text);
    check(("opencode", event), ran, (&text, Some(3), true));
    let mut read = fixture!("opencode/tool.execute.after.read");
    read["directory"] = json!("/home/dev/project");
    read["output"]["metadata"]["display"]["text"] = json!(text);
    check(("opencode", event), read, (&text, None, false));
    let mut mcp = fixture!("opencode/tool.execute.after.probe_echo");
    mcp["directory"] = json!("/home/dev/project");
    mcp["output"]["content"][0]["text"] = json!(text);
    check(("opencode", event), mcp, (&text, None, false));
}

#[test]
fn qwen() {
    let text = output();
    let said = |command: &str, code: i32| {
        let end = format!("Error: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: (none)");
        format!("Command: {command}\nDirectory: (root)\nOutput: {text}\n{end}")
    };
    let mut ran = fixture!("qwen/PostToolUse");
    ran["tool_response"] = json!({ "llmContent": said("echo PLAIN", 0), "returnDisplay": text });
    check(("qwen", "PostToolUse"), ran.clone(), (&text, Some(0), false));
    let mut failed = fixture!("qwen/PostToolUseFailure.run_shell_command-failing");
    failed["error"] = json!(said("echo FAILING; exit 3", 3));
    check(("qwen", "PostToolUseFailure"), failed, (&text, Some(3), true));

    let path = "/home/dev/.qwen/tmp/8b77/run_shell_command_0b98.output";
    let cut = "Tool output was too large and has been truncated.\nThe full output has been saved to: ";
    ran["tool_response"] = json!({
        "llmContent": format!("{cut}{path}\nOutput: 1\nError: (none)\nExit Code: 0\n"),
        "returnDisplay": format!("{text}\nOutput too long and was saved to: {path}"),
    });
    check(("qwen", "PostToolUse"), ran, (&text, Some(0), false));

    let mut read = fixture!("qwen/PostToolUse.read_file");
    let part = format!("Showing lines 1-524 of 1501 total lines.\n\n---\n\n{text}");
    read["tool_response"]["llmContent"] = json!(part);
    let saved = check(("qwen", "PostToolUse"), read, (&part, None, false)).saved;
    assert_eq!(saved, Some("/home/dev/project/hello.txt".into()));
    let mut mcp = fixture!("qwen/PostToolUse.mcp__probe__echo");
    mcp["tool_response"]["llmContent"] = json!([{ "text": text }]);
    check(("qwen", "PostToolUse"), mcp, (&text, None, false));
}

#[test]
fn no_text_passes_for_a_long_one() {
    let text = output();
    let mut ran = fixture!("claude/PostToolUse");
    ran["tool_response"]["stderr"] = json!(text);
    let brief = LongPayload::new(ran.clone()).value["tool_response"]["stderr"].as_str().unwrap().to_owned();
    for forged in ["\u{1}0\u{1}", brief.as_str()] {
        ran["tool_response"]["stdout"] = json!(forged);
        check(("claude", "PostToolUse"), ran.clone(), (&format!("{forged}\n{text}"), None, false));
    }
}

#[test]
fn an_input_that_is_too_long_is_known_to_be_cut() {
    let decoded = |content: String| {
        let mut wrote = fixture!("claude/PostToolUse.Write");
        wrote["tool_input"]["content"] = json!(content);
        let Point::AfterTool(call, _) = LongPayload::new(wrote).decode("claude", "PostToolUse").point else { panic!() };
        (call.input_is_whole, written(&call))
    };
    assert_eq!(decoded("abc\n".to_owned()), (true, vec!["abc\n".to_owned()]));
    assert_eq!(decoded(output()), (false, Vec::new()));
}

#[test]
fn commands_in_the_background_are_known() {
    for (client, event, name, field) in [
        ("claude", "PreToolUse", "Bash", "run_in_background"),
        ("gemini", "BeforeTool", "run_shell_command", "is_background"),
        ("qwen", "PreToolUse", "run_shell_command", "is_background"),
    ] {
        for value in [true, false] {
            let input = json!({ "command": "npm start", field: value });
            let payload = json!({ "cwd": "/p", "tool_name": name, "tool_input": input });
            let Point::BeforeTool(call) = LongPayload::new(payload).decode(client, event).point else { panic!() };
            assert_eq!(call.background, value, "{client}");
        }
    }
}

#[test]
fn both_ends_of_a_long_output_are_searched_for_the_failure() {
    let mut failed = fixture!("claude/PostToolUseFailure.Bash");
    failed["tool_input"]["command"] = json!("cargo build");
    failed["error"] = json!(format!("Exit code 101\n{}\nerror: could not compile `weir`", output()));
    let events = capture::events(&LongPayload::new(failed).decode("claude", "PostToolUseFailure"));
    let [event] = &events[..] else { panic!("{events:?}") };
    assert_eq!(event.text, "cargo build: error: could not compile `weir`");
    assert!(event.data.as_ref().unwrap().contains("\"exit\":101"), "{event:?}");
}
