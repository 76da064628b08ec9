//! The model's message at the end of a turn: its last paragraph with the whole of it, a question that it left open, and
//! its decisions.

use serde_json::json;
use weir_core::{Event, EventKind, Priority};

use super::decisions::{self, Speaker};
use super::{event, names, plans, whole};
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
    let all = said.trim();
    let said = all[all.ceil_char_boundary(all.len().saturating_sub(MAX_EXAMINED_BYTES))..].trim();
    let Some(last) = last_paragraph(said) else { return Vec::new() };
    let mut first = event(EventKind::Said, Priority::P3, &last);
    first.whole = whole(all, &first.text);
    let mut events = vec![first];
    let decided = decisions::events(said, Speaker::Model).into_iter().take(MAX_DECISIONS);
    let by_model =
        |event: Event| Event { priority: Priority::P2, data: Some(json!({ "by": "model" }).to_string()), ..event };
    events.extend(decided.map(by_model));
    events.extend(plans::left_open(said));
    events
}

/// Returns a client's summary of a conversation without the analysis that its model wrote before it. Clients hand over
/// the elements, or headings in their place.
pub fn without_analysis(summary: &str) -> String {
    for (begin, end, keeps_end) in [("<analysis>", "</analysis>", false), ("Analysis:\n", "\nSummary:", true)] {
        let Some((before, rest)) = summary.split_once(begin) else { continue };
        if let Some(at) = rest.find(end) {
            let rest = if keeps_end { &rest[at..] } else { &rest[at + end.len()..] };
            return format!("{}\n\n{}", before.trim_end(), rest.trim_start()).trim().to_owned();
        }
    }
    summary.to_owned()
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
