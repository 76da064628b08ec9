//! The model's message at the end of a turn: its last paragraph, a question that it left open, and its decisions.

use serde_json::json;
use weir_core::{Event, EventKind, Priority};

use super::{decisions, event, names, plans};
use crate::Hook;

/// The length of the end of a message that is examined, in bytes.
const MAX_EXAMINED_BYTES: usize = 8 << 10;
/// The maximum number of the model's decisions that are kept.
const MAX_DECISIONS: usize = 3;

/// Returns the events of the model's messages before a compaction in the middle of a turn, given oldest first. The
/// first event carries the names in all of them.
pub fn before_compaction(hook: &Hook, said: &[&str]) -> Vec<Event> {
    let mut events = said.last().map(|last| events(last)).unwrap_or_default();
    let names = names::most_frequent(hook, said);
    if let Some(first) = events.first_mut().filter(|_| !names.is_empty()) {
        first.data = Some(json!({ "names": names }).to_string());
    }
    events
}

/// Returns the events of the model's message at the end of a turn.
pub(super) fn events(said: &str) -> Vec<Event> {
    let said = said[said.ceil_char_boundary(said.len().saturating_sub(MAX_EXAMINED_BYTES))..].trim();
    let Some(last) = last_paragraph(said) else { return Vec::new() };
    let mut events = vec![event(EventKind::Said, Priority::P3, &last)];
    let is_decided = |event: &Event| matches!(event.kind, EventKind::Decision | EventKind::Rejected);
    let decided = decisions::events(said).into_iter().filter(is_decided).take(MAX_DECISIONS);
    let by_model =
        |event: Event| Event { priority: Priority::P2, data: Some(json!({ "by": "model" }).to_string()), ..event };
    events.extend(decided.map(by_model));
    events.extend(plans::left_open(said));
    events
}

/// Returns the last paragraph that is not code, as one line.
fn last_paragraph(said: &str) -> Option<String> {
    let mut fenced = false;
    let mut paragraphs: Vec<Vec<&str>> = vec![Vec::new()];
    for line in said.lines().map(str::trim) {
        let is_fence = line.starts_with("```");
        fenced ^= is_fence;
        if line.is_empty() || is_fence {
            paragraphs.push(Vec::new());
        } else if !fenced && let Some(last) = paragraphs.last_mut() {
            last.push(line);
        }
    }
    paragraphs.into_iter().rev().find(|lines| !lines.is_empty()).map(|lines| lines.join(" "))
}
