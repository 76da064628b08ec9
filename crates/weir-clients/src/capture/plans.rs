//! Plans, and questions to the user.
//!
//! A question is of the kind `plan`: what the model asks is how to go on, and the answer is a part of the plan. It is no
//! blocker, because the model cannot know what stands in the user's way.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{Used, event, event_with};
use crate::{Tool, ToolCall};

/// How many headings of a plan are kept.
const MOST_HEADINGS: usize = 8;
/// How long a question may be.
const LONGEST_QUESTION: usize = 180;

/// A plan that the user saw, or a question that was answered.
pub(super) fn events(used: &Used<'_>) -> Vec<Event> {
    if used.failed() {
        return Vec::new();
    }
    match &used.call.tool {
        Tool::Plan { text } if !text.trim().is_empty() => {
            vec![event(EventKind::Plan, Priority::P1, &format!("plan: {}", outline(text)))]
        }
        Tool::Question { text } if !text.trim().is_empty() => {
            let (question, answer) = (line(text, LONGEST_QUESTION), line(&used.done.output.text, LONGEST_QUESTION));
            let text = format!("asked the user: {question}; the answer: {answer}");
            vec![event_with(EventKind::Plan, Priority::P2, &text, &json!({ "question": question, "answer": answer }))]
        }
        _ => Vec::new(),
    }
}

/// A question that is about to be asked.
pub(super) fn asked(call: &ToolCall) -> Option<Event> {
    match &call.tool {
        Tool::Question { text } if !text.trim().is_empty() => Some(question(text, Priority::P2)),
        _ => None,
    }
}

/// A question that the model ended its turn with.
pub(super) fn left_open(last: &str) -> Option<Event> {
    let tail = &last[last.ceil_char_boundary(last.len().saturating_sub(4 << 10))..];
    let said = tail.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let said = said.trim_end_matches(['*', '_', '`', ')', '"']);
    let asked = said.strip_suffix('?')?;
    // The last sentence alone.
    let from = asked.rfind(['.', '!', '?']).map_or(0, |end| end + 1);
    let sentence = format!("{}?", asked[from..].trim_start_matches(['*', '_', '-', '#', ' ']));
    (sentence.split_whitespace().count() > 1).then(|| question(&sentence, Priority::P3))
}

fn question(text: &str, priority: Priority) -> Event {
    let question = line(text, LONGEST_QUESTION);
    event_with(EventKind::Plan, priority, &format!("asked the user: {question}"), &json!({ "question": question }))
}

/// The headings of a plan; its first lines when it has none.
fn outline(plan: &str) -> String {
    let head = &plan[..plan.floor_char_boundary(32 << 10)];
    let lines = || head.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut found: Vec<&str> = lines().filter(|line| line.starts_with('#')).take(MOST_HEADINGS).collect();
    if found.len() < 2 {
        found = lines().take(MOST_HEADINGS).collect();
    }
    let bare = |line: &&str| line.trim_start_matches('#').trim().to_owned();
    found.iter().map(bare).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
