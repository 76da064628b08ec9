//! What a model means by the arguments of a call.

use serde_json::{Map, Value};
use weir_host::error::CommandError;

use crate::offer;

/// A tool as a model named it, and the arguments for it.
#[derive(Debug, PartialEq)]
pub(super) struct Named {
    pub server: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
}

/// Reads a call as it was meant: `server/tool` in one argument, the arguments as a text, or beside the name.
pub(super) fn named<'a>(given: Map<String, Value>, servers: impl Fn() -> Vec<&'a str>) -> Result<Named, CommandError> {
    let mut given = given;
    let mut text = |name: &str| match given.shift_remove(name) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let (mut server, mut tool) = (text("server"), text("tool"));
    let start = tool.strip_prefix("mcp__").unwrap_or(&tool);
    let split = start.split_once('/').or_else(|| start.split_once("__"));
    if let Some((before, after)) = split
        && (server.is_empty() || server == before)
        && servers().contains(&before)
    {
        (server, tool) = (before.to_owned(), after.to_owned());
    }
    if server.is_empty() || tool.is_empty() {
        return Err(CommandError::usage("`server` and `tool` are required").hint(format!("{} finds them", offer::FIND)));
    }
    let arguments = match given.shift_remove("arguments") {
        Some(Value::Object(arguments)) => arguments,
        Some(Value::String(text)) if !text.trim().is_empty() => serde_json::from_str(&text)
            .map_err(|error| CommandError::usage(format!("`arguments` is not a JSON object: {error}")))?,
        Some(Value::Null | Value::String(_)) | None => given,
        Some(_) => return Err(CommandError::usage("`arguments` is not an object")),
    };
    Ok(Named { server, tool, arguments })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(given: Value, expected: Option<(&str, &str, Value)>) {
        let named = named(given.as_object().cloned().unwrap(), || vec!["git"]).ok();
        let expected = expected.map(|(server, tool, arguments)| Named {
            server: server.to_owned(),
            tool: tool.to_owned(),
            arguments: arguments.as_object().cloned().unwrap(),
        });
        assert_eq!(named, expected, "{given}");
    }

    #[test]
    fn a_call_is_read_as_it_was_meant() {
        let log = || Some(("git", "log", json!({ "max": 3 })));
        check(json!({ "server": "git", "tool": "log", "arguments": { "max": 3 } }), log());
        check(json!({ "tool": "git/log", "arguments": { "max": 3 } }), log());
        check(json!({ "server": "git", "tool": "mcp__git__log", "arguments": "{\"max\": 3}" }), log());
        check(json!({ "server": "git", "tool": "log", "max": 3 }), log());
        check(json!({ "server": "git", "tool": "a/b" }), Some(("git", "a/b", json!({}))));
        check(json!({ "tool": "log" }), None);
        check(json!({ "server": "git", "tool": "log", "arguments": [1] }), None);
    }
}
