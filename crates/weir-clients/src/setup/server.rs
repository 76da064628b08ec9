//! Adds and removes our MCP server in a client's JSON settings.

use serde_json::{Value, json};

use super::Unusable;
use super::json::{check_once, edit, existing_object_at, input, object_at, prune};
use super::ours::{NAME, is_our_server};

/// The keys that may be updated in an entry of ours. The user may have chosen the others.
const UPDATED_KEYS: [&str; 2] = ["command", "args"];

/// Returns our server's entry in the form that most clients use.
pub(crate) fn plain(program: &str) -> Value {
    json!({ "command": program, "args": ["mcp"] })
}

/// Adds our server to the object at this path.
pub(super) fn add(text: &str, at: &[&str], entry: &Value) -> Result<String, Unusable> {
    edit(text, |root| {
        let servers = object_at(root, at)?;
        check_once(&servers, NAME)?;
        let Some(property) = servers.get(NAME) else {
            servers.append(NAME, input(entry));
            return Ok(());
        };
        let present =
            property.object_value().filter(|object| object.to_serde_value().is_some_and(|it| is_our_server(&it)));
        let present = present.ok_or_else(|| Unusable::new(format!("it has a server `{NAME}` that is not ours")))?;
        for key in UPDATED_KEYS {
            match (present.get(key), entry.get(key)) {
                (Some(old), Some(new)) if old.value().and_then(|old| old.to_serde_value()).as_ref() != Some(new) => {
                    old.set_value(input(new));
                }
                (None, Some(new)) => {
                    present.append(key, input(new));
                }
                _ => {}
            }
        }
        Ok(())
    })
}

/// Removes our server, and the objects around it that become empty.
pub(super) fn remove(text: &str, at: &[&str]) -> Result<String, Unusable> {
    if text.trim().is_empty() {
        return Ok(text.to_owned());
    }
    edit(text, |root| {
        let Some(property) = existing_object_at(root, at).and_then(|servers| servers.get(NAME)) else { return Ok(()) };
        if property.value().and_then(|entry| entry.to_serde_value()).is_some_and(|entry| is_our_server(&entry)) {
            property.remove();
            prune(root, at);
        }
        Ok(())
    })
}
