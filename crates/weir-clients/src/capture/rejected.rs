//! Actions that the user refused.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, errors, event, event_with};
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
        Tool::Plan { .. } => "the plan".to_owned(),
        _ => line(&errors::subject(used), 200),
    };
    let text = format!("the user refused: {what}");
    let mut events = vec![event_with(EventKind::Rejected, Priority::P2, &text, &json!({ "refused": what }))];
    if let Some(said) = said(used.output) {
        events.push(event(EventKind::Correction, Priority::P1, said));
    }
    events
}

/// Returns the user's comment on the refusal.
fn said(text: &str) -> Option<&str> {
    let said = text.split_once("the user said:")?.1.trim();
    (!said.is_empty()).then_some(said)
}

/// Returns whether the user stopped the tool.
pub(super) fn is_refused(used: &ToolUse<'_>) -> bool {
    let head = &used.output[..used.output.floor_char_boundary(400)];
    used.failed() && REFUSALS.iter().any(|refusal| head.contains(refusal))
}
