//! Tool calls that no other subject covers, recorded only to be counted.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event, event_with, shell};
use crate::Tool;
use crate::wire::first_text;

pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    let text = match &used.call.tool {
        Tool::Shell { command } => {
            let subject = shell::subject(used.commands);
            let text = if subject.is_empty() { line(command, 200) } else { subject.clone() };
            let mut data = json!({ "subject": subject });
            let entered =
                used.commands.first().filter(|part| part.program() == "cd").map(|part| line(part.verb(), 200));
            let place = entered.filter(|folder| !folder.is_empty()).map(|folder| {
                data["folder"] = json!(folder);
                format!(" in {folder}")
            });
            let text = format!("ran {text}{}", place.unwrap_or_default());
            return vec![event_with(EventKind::Tool, Priority::P4, &text, &data)];
        }
        Tool::Mcp { server, tool } => format!("mcp {server}/{tool}"),
        Tool::Fetch { what } => format!("fetched {what}"),
        Tool::Other if !skill(used).is_empty() => {
            let skill = line(skill(used), 100);
            let data = json!({ "skill": skill });
            return vec![event_with(EventKind::Tool, Priority::P4, &format!("skill {skill}"), &data)];
        }
        Tool::Other => format!("tool {}", used.call.name),
        // The other subjects have recorded these; our own tools record an event of their own.
        _ => return Vec::new(),
    };
    vec![event(EventKind::Tool, Priority::P4, &text)]
}

/// Returns the name of the skill that a call loads, or an empty string.
fn skill<'u>(used: &'u ToolUse<'_>) -> &'u str {
    match used.call.name.as_str() {
        "Skill" | "skill" | "activate_skill" => first_text(&used.call.input, &["skill", "command", "name"]),
        _ => "",
    }
}
