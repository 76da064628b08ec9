//! Subagents: when they start, and what they return.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event_with};
use crate::Tool;

/// The maximum length of a result. If the result has a reference, it leads to the whole text.
const MAX_RESULT_BYTES: usize = 280;
/// The maximum number of lines taken from a result.
const MAX_RESULT_LINES: usize = 4;

/// Returns the event of a subagent that started.
pub(super) fn started(kind: Option<&str>) -> Event {
    let name = name(kind);
    event_with(EventKind::Subagent, Priority::P3, &format!("subagent {name} began"), &json!({ "agent": name }))
}

/// Returns the event of a subagent that finished.
pub(super) fn stopped(kind: Option<&str>, result: &str) -> Event {
    let (name, result) = (name(kind), first_lines(result));
    // Some clients do not report the result.
    let text = if result.is_empty() { format!("subagent {name} ended") } else { format!("subagent {name}: {result}") };
    event_with(EventKind::Subagent, Priority::P2, &text, &json!({ "agent": name, "result": result }))
}

/// Returns the event of the tool call that ran a subagent. Some clients report nothing else about it.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    let Tool::Subagent { task } = &used.call.tool else { return Vec::new() };
    let result = first_lines(used.output);
    if used.failed() || result.is_empty() {
        return Vec::new();
    }
    let text = format!("subagent for \"{}\": {result}", line(task, 100));
    vec![event_with(EventKind::Subagent, Priority::P2, &text, &json!({ "result": result }))]
}

fn name(kind: Option<&str>) -> String {
    kind.map(|kind| line(kind, 80)).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "of unknown kind".to_owned())
}

/// Returns the first lines that are neither blank nor a tag of the client's.
fn first_lines(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(8 << 10)];
    let is_tag = |line: &&str| line.starts_with('<') && line.ends_with('>');
    let lines = head.lines().map(str::trim).filter(|line| !line.is_empty() && !is_tag(line));
    line(&lines.take(MAX_RESULT_LINES).collect::<Vec<_>>().join(" "), MAX_RESULT_BYTES)
}
