//! Files with rules for the model.

use serde_json::json;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event_with, files};
use crate::{Hook, RECIPES, Tool};

/// The names of such files that any client may read. Each client's own are in its recipe.
const SHARED: &[&str] = &["AGENTS.md", "AGENT.md"];

/// Returns the event of rules that the model read itself.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    match &used.call.tool {
        Tool::Read { path, .. } if is_rules(path) && !used.failed() => vec![loaded(used.hook, path)],
        _ => Vec::new(),
    }
}

pub(super) fn loaded(hook: &Hook, path: &str) -> Event {
    let path = files::relative(hook, path);
    event_with(EventKind::Rule, Priority::P3, &format!("rules of {path}"), &json!({ "path": path }))
}

pub(super) fn is_rules(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let name = path.rsplit('/').next().unwrap_or(&path);
    let is_own = |known: &&str| if known.ends_with('/') { path.contains(*known) } else { *known == name };
    SHARED.contains(&name) || RECIPES.iter().flat_map(|recipe| recipe.rules).any(is_own)
}
