//! Tool calls that no other subject covers, recorded only to be counted.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event, event_with, shell};
use crate::Tool;

/// Returns the event of a tool call.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    let text = match &used.call.tool {
        Tool::Shell { command } => {
            let subject = shell::subject(used.commands);
            let text = if subject.is_empty() { line(command, 200) } else { subject.clone() };
            return vec![event_with(
                EventKind::Tool,
                Priority::P4,
                &format!("ran {text}"),
                &json!({ "subject": subject }),
            )];
        }
        Tool::Mcp { server, tool } => format!("mcp {server}/{tool}"),
        Tool::Fetch { what } => format!("fetched {what}"),
        Tool::Other => format!("tool {}", used.call.name),
        // The other subjects have recorded these; our own tools record an event of their own.
        _ => return Vec::new(),
    };
    vec![event(EventKind::Tool, Priority::P4, &text)]
}
