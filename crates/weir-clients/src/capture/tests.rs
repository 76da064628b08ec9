//! Tests the events that hooks turn into.

mod fixtures;
mod languages;
mod names;
mod tools;
mod words;

use proptest::prelude::*;
use serde_json::{Value, json};
use weir_check::Checked;
use weir_core::Event;

use super::{events, fixes};
use crate::{AcceptedReplies, Done, Hook, Output, Point, Text, Tool, ToolCall};

/// Compares the events of a hook, one per line.
fn check(hook: &Hook) -> Checked {
    Checked(shown(&events(hook)))
}

fn shown(events: &[Event]) -> String {
    let line = |event: &Event| {
        let Event { kind, priority, text, data, .. } = event;
        let data = data.as_ref().map(|data| format!(" {data}")).unwrap_or_default();
        format!("{kind} {priority} | {text} |{data}").trim_end().to_owned()
    };
    events.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn hook(point: Point) -> Hook {
    Hook {
        session: "s".into(),
        folder: "/home/dev/project".into(),
        shell: None,
        transcript: None,
        subagent: None,
        point,
        takes: AcceptedReplies::default(),
    }
}

fn prompt(text: &str) -> Hook {
    hook(Point::Prompt { text: text.into() })
}

/// A tool call with its output.
fn used(name: &str, tool: Tool, output: &str) -> Hook {
    used_with(name, tool, &json!({}), output)
}

fn used_with(name: &str, tool: Tool, input: &Value, output: &str) -> Hook {
    let output = Output { text: Text::Here(output.into()), ..Output::default() };
    hook(Point::AfterTool(call(name, tool, input), Done { output, ..Done::default() }))
}

fn call(name: &str, tool: Tool, input: &Value) -> ToolCall {
    let (name, input) = (name.into(), input.clone());
    ToolCall { key: None, name, tool, input, input_is_whole: true, background: false }
}

/// A tool call that failed with this code.
fn failing(mut hook: Hook, code: Option<i32>) -> Hook {
    if let Point::AfterTool(_, done) = &mut hook.point {
        done.failed = true;
        done.exit_code = code;
    }
    hook
}

fn shell(command: &str, output: &str) -> Hook {
    used("Bash", Tool::Shell { command: command.into() }, output)
}

fn failed_shell(command: &str, code: i32, output: &str) -> Hook {
    failing(shell(command, output), Some(code))
}

fn in_subagent(mut hook: Hook) -> Hook {
    hook.subagent = Some(crate::Subagent { key: "a1".into(), kind: "Explore".into() }); // tidy: allow(agent): the same
    hook
}

/// Texts that break careless code: quotes, escapes, tags, other scripts, and the phrases that are searched for.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "'", "\"", "`", "$(", ")", "<<EOF\n", "EOF\n", "\n", "\r", "\u{1b}[31m", "\u{2028}", "é", "日本", "😀", " ",
        "```", "<", "<system-reminder>", "</system-reminder>", "git commit -m ", "git -C ", "cd ", "error: ",
        "0 failed", "#", "don't ", "no, ", "let's use ", "?", ". ", "&&", "|", "2>&1",
        "*** Begin Patch\n*** Update File: ", "Traceback (most recent call last)\n", "[main 1234567] ", "{\"a\":", "/",
        "=", "\\", "sudo ", "timeout ", "env ", "\0",
    ]);
    let pieces = prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat());
    prop_oneof![pieces, "\\PC{0,60}", any::<String>()]
}

fn tool() -> impl Strategy<Value = Tool> {
    prop_oneof![
        odd_text().prop_map(|command| Tool::Shell { command }),
        odd_text().prop_map(|path| Tool::Read { path, part: false }),
        odd_text().prop_map(|path| Tool::Edit { path }),
        odd_text().prop_map(|pattern| Tool::Search { pattern }),
        odd_text().prop_map(|task| Tool::Subagent { task }),
        odd_text().prop_map(|text| Tool::Plan { text }),
        odd_text().prop_map(|text| Tool::Question { text }),
        Just(Tool::Tasks),
        Just(Tool::Other),
    ]
}

fn point() -> impl Strategy<Value = Point> {
    let input =
        odd_text().prop_map(|text| json!({ "todos": [{ "content": text, "status": text }, 3, text], "input": text }));
    let used = (tool(), input, odd_text(), any::<bool>(), prop::option::of(-2i32..260));
    prop_oneof![
        odd_text().prop_map(|text| Point::Prompt { text }),
        odd_text().prop_map(|result| Point::SubagentStop { result }),
        odd_text().prop_map(|path| Point::Rules { path }),
        odd_text().prop_map(|last| Point::Stop { last }),
        used.prop_map(|(tool, input, output, failed, exit_code)| {
            let output = Output { text: Text::Here(output), ..Output::default() };
            Point::AfterTool(call("x", tool, &input), Done { output, exit_code, failed, millis: None })
        }),
    ]
}

proptest! {
    #[test]
    fn every_event_is_one_bounded_line(point in point(), inside: bool) {
        let hook = if inside { in_subagent(hook(point)) } else { hook(point) };
        let events = events(&hook);
        for event in &events {
            let most = if event.kind == weir_core::EventKind::Prompt { 2_000 } else { 400 };
            prop_assert!(event.text.len() <= most, "{event:?}");
            prop_assert!(!event.text.contains(|c: char| c.is_control() || c == '\u{2028}'), "{event:?}");
            if let Some(data) = &event.data {
                prop_assert!(serde_json::from_str::<Value>(data).is_ok_and(|data| data.is_object()), "{event:?}");
                prop_assert!(data.len() < 40_000);
            }
        }
        let _ = fixes(&hook, &events);
    }
}
