//! Subagents: when they start, and what they return. The line of a result skips the words with which models open one.

use serde_json::json;
use weir_core::event::line;
use weir_core::prose::sentences;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event_with, whole};
use crate::Tool;
use crate::wire::between;

/// The maximum length of a result. If the result has a reference, it leads to the whole text.
const MAX_RESULT_BYTES: usize = 280;
/// The maximum number of sentences taken from a result.
const MAX_RESULT_SENTENCES: usize = 6;
/// Beginnings of sentences that say nothing yet.
const OPENINGS: &[&str] = &[
    "Perfect", "Great", "Excellent", "Good", "Now I", "I now", "I have", "I've", "Based on", "Let me", "Here is",
    "Here's", "Here are", "I'll", "I will", "Done", "Below", "Thanks", "Okay", "OK",
];

pub(super) fn started(kind: Option<&str>) -> Event {
    let name = name(kind);
    event_with(EventKind::Subagent, Priority::P3, &format!("subagent {name} began"), &json!({ "agent": name }))
}

/// Returns the event of a subagent that finished.
pub(super) fn stopped(kind: Option<&str>, result: &str) -> Event {
    let name = name(kind);
    // Some clients do not report the result.
    let said = format!("subagent {name}");
    returned(&said, result).map_or_else(
        || event_with(EventKind::Subagent, Priority::P2, &format!("{said} ended"), &json!({ "agent": name })),
        |event| Event { data: Some(json!({ "agent": name, "result": result_line(result) }).to_string()), ..event },
    )
}

/// Returns the event of the tool call that ran a subagent. Some clients report nothing else about it.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    let Tool::Subagent { task } = &used.call.tool else { return Vec::new() };
    if used.failed() {
        return Vec::new();
    }
    returned(&format!("subagent for \"{}\"", line(task, 100)), used.output).into_iter().collect()
}

/// Returns the event of a subagent in the background, whose result the client sends in the place of a prompt.
pub(super) fn notified(prompt: &str) -> Option<Event> {
    let prompt = Some(prompt.trim_start()).filter(|prompt| prompt.starts_with("<task-notification>"))?;
    let about = between(prompt, "<summary>", "</summary>")?;
    let task = between(about, "Agent \"", "\"").unwrap_or(about);
    let result = prompt.split_once("<result>")?.1;
    let result = result.rsplit_once("</result>").map_or(result, |(result, _)| result);
    returned(&format!("subagent for \"{}\"", line(task, 100)), result)
}

/// Returns the event of a result, or `None` for an empty one.
fn returned(who: &str, result: &str) -> Option<Event> {
    let first = result_line(result);
    let text = Some(format!("{who}: {first}")).filter(|_| !first.is_empty())?;
    let event = event_with(EventKind::Subagent, Priority::P2, &text, &json!({ "result": first }));
    Some(Event { whole: whole(result, &first), ..event })
}

fn name(kind: Option<&str>) -> String {
    kind.map(|kind| line(kind, 80)).filter(|kind| !kind.is_empty()).unwrap_or_else(|| "of unknown kind".to_owned())
}

/// Returns the first sentences of a result that are neither a tag of the client's nor an opening.
fn result_line(text: &str) -> String {
    let head = &text[..text.floor_char_boundary(8 << 10)];
    let is_said = |line: &&str| !(line.starts_with('<') && line.ends_with('>')) && line.contains(char::is_alphanumeric);
    let lines = || head.lines().map(|line| line.trim().trim_start_matches(['#', '*', ' ']));
    let said = || lines().filter(is_said).flat_map(sentences);
    let is_opening = |sentence: &&str| OPENINGS.iter().any(|opening| sentence.starts_with(opening));
    let mut rest: Vec<&str> = said().skip_while(is_opening).take(MAX_RESULT_SENTENCES).collect();
    if rest.is_empty() {
        rest = said().take(MAX_RESULT_SENTENCES).collect();
    }
    line(&rest.join(" "), MAX_RESULT_BYTES)
}
