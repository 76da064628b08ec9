//! Plans, and questions to the user.
//!
//! A question is of the kind `plan`: the model asks how to go on, and the answer is a part of the plan. It is not a
//! blocker, because the model cannot know what blocks the user.

use serde_json::json;
use weir_core::event::line;
use weir_core::prose::sentences;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event, event_with};
use crate::{Tool, ToolCall};

const MAX_HEADINGS: usize = 8;
const MAX_QUESTION_BYTES: usize = 180;

/// Returns the event of a plan that the user saw, or of a question that was answered.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    if used.failed() {
        return Vec::new();
    }
    match &used.call.tool {
        Tool::Plan { text } if !text.trim().is_empty() => {
            vec![event(EventKind::Plan, Priority::P1, &format!("plan: {}", outline(text)))]
        }
        Tool::Question { text } if !text.trim().is_empty() => {
            let (question, answer) = (line(text, MAX_QUESTION_BYTES), line(used.output, MAX_QUESTION_BYTES));
            let text = format!("asked the user: {question}; the answer: {answer}");
            vec![event_with(EventKind::Plan, Priority::P2, &text, &json!({ "question": question, "answer": answer }))]
        }
        _ => Vec::new(),
    }
}

/// Returns the event of a question that is about to be asked.
pub(super) fn asked(call: &ToolCall) -> Option<Event> {
    match &call.tool {
        Tool::Question { text } if !text.trim().is_empty() => Some(question(text, Priority::P2)),
        _ => None,
    }
}

/// Returns the event of a question at the end of the model's turn.
pub(super) fn left_open(last: &str) -> Option<Event> {
    let tail = &last[last.ceil_char_boundary(last.len().saturating_sub(4 << 10))..];
    let said = tail.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let said = said.trim_end_matches(['*', '_', '`', ')', '"']);
    let asked = said.ends_with(['?', '？']).then(|| sentences(said).last()).flatten()?;
    let asked = asked.trim_start_matches(['*', '_', '-', '#', ' ']);
    (asked.split_whitespace().count() > 1 || asked.contains('？')).then(|| question(asked, Priority::P3))
}

fn question(text: &str, priority: Priority) -> Event {
    let question = line(text, MAX_QUESTION_BYTES);
    event_with(EventKind::Plan, priority, &format!("asked the user: {question}"), &json!({ "question": question }))
}

/// Returns the headings of a plan, or its first lines if it has fewer than two.
fn outline(plan: &str) -> String {
    let head = &plan[..plan.floor_char_boundary(32 << 10)];
    let lines = || head.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut found: Vec<&str> = lines().filter(|line| line.starts_with('#')).take(MAX_HEADINGS).collect();
    if found.len() < 2 {
        found = lines().take(MAX_HEADINGS).collect();
    }
    let bare = |line: &&str| line.trim_start_matches('#').trim().to_owned();
    found.iter().map(bare).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
}
