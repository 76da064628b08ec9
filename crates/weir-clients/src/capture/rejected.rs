//! Actions that the user refused, and what the user said about it.
//!
//! Only an action that would have changed something is worth recording: who stops waiting for a task or declines a
//! question has decided nothing. What the user said is a correction unless it asks or answers something; then it is a
//! prompt.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, decisions, errors, event, event_with, prompts, slips};
use crate::Tool;

/// Phrases with which clients report that the user stopped a tool.
const REFUSALS: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected",
    "rejected by user",
    "rejected by the user",
    "The user rejected permission",
    "The user denied",
    "[Request interrupted by user",
    "Tool execution was cancelled by the user",
    "User denied execution",
];

/// Returns the events of a tool call that the user refused.
pub(super) fn refused(used: &ToolUse<'_>) -> Vec<Event> {
    if !is_refused(used) {
        return Vec::new();
    }
    let what = match &used.call.tool {
        Tool::Plan { .. } => Some("the plan".to_owned()),
        Tool::Shell { .. } if slips::only_looks(used.commands) => None,
        Tool::Shell { .. } | Tool::Edit { .. } | Tool::Write { .. } | Tool::Mcp { .. } | Tool::Subagent { .. } => {
            Some(line(&errors::subject(used), 200))
        }
        _ => None,
    };
    let refused = what.map(|what| {
        let text = format!("the user refused: {what}");
        event_with(EventKind::Rejected, Priority::P2, &text, &json!({ "refused": what }))
    });
    let mut events: Vec<Event> = refused.into_iter().collect();
    match said(used.output) {
        Some(said) if !decisions::may_correct(said) => events.extend(prompts::events(said)),
        Some(said) => events.push(event(EventKind::Correction, Priority::P1, said)),
        None => {}
    }
    events
}

/// Returns the user's comment on the refusal.
fn said(text: &str) -> Option<&str> {
    let said = text.split_once("the user said:")?.1;
    // The client may add a note of its own.
    let said = said.split_once("\nNote: The user's next message").map_or(said, |(said, _)| said).trim();
    (!said.is_empty() && !prompts::is_not_the_user(said)).then_some(said)
}

/// Returns whether the user stopped the tool.
pub(super) fn is_refused(used: &ToolUse<'_>) -> bool {
    let head = &used.output[..used.output.floor_char_boundary(400)];
    used.failed() && REFUSALS.iter().any(|refusal| head.contains(refusal))
}
