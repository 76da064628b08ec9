//! What a client sent, before it is understood.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::hook::{Hook, Point, Start, Subagent, Takes, Tool, ToolCall};

/// A client's call as it came.
#[derive(Debug, Clone, Copy)]
pub struct Wire<'a> {
    /// The name of the event, as the client's configuration gave it to us.
    pub event: &'a str,
    /// What came with it.
    pub payload: &'a Value,
}

impl<'a> Wire<'a> {
    /// The text at a key of the payload; empty when there is none.
    pub(crate) fn text(&self, key: &str) -> &'a str {
        text(&self.payload[key])
    }

    /// The path at a key of the payload.
    pub(crate) fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.text(key)).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// The hook at a point, for clients that name things as Claude Code does.
    pub(crate) fn hook(&self, point: Point, takes: Takes) -> Option<Hook> {
        Some(Hook {
            session: self.text("session_id").to_owned(),
            folder: self.path("cwd")?,
            transcript: self.path("transcript_path"),
            subagent: self.subagent(),
            point,
            takes,
        })
    }

    /// How a session begins, for the same clients.
    pub(crate) fn start(&self) -> Start {
        match self.text("source") {
            "compact" => Start::Compact,
            "resume" | "fork" => Start::Resume,
            _ => Start::New,
        }
    }

    /// The use of a tool, for the same clients.
    pub(crate) fn call(&self, tool: fn(&str, &Value) -> Tool) -> ToolCall {
        let name = self.text("tool_name");
        let input = self.payload["tool_input"].clone();
        let key = Some(self.text("tool_use_id")).filter(|key| !key.is_empty()).map(str::to_owned);
        ToolCall { key, name: name.to_owned(), tool: tool(name, &input), input }
    }

    /// How long the use of a tool took, for the same clients.
    pub(crate) fn millis(&self) -> Option<u64> {
        self.payload["duration_ms"].as_u64()
    }

    /// The subagent in which it happened, for the same clients.
    fn subagent(&self) -> Option<Subagent> {
        let key = Some(self.text("agent_id")).filter(|key| !key.is_empty())?;
        Some(Subagent { key: key.to_owned(), kind: self.text("agent_type").to_owned() })
    }
}

/// A value as text; empty when it is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The first of these keys that has a text.
pub(crate) fn first_text<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
    keys.iter().map(|key| text(&value[*key])).find(|text| !text.is_empty()).unwrap_or_default()
}

/// All text in what a tool gave back, whatever its shape: a string, a list of parts, an object with content.
pub(crate) fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().map(all_text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(object) => ["text", "content", "llmContent"]
            .iter()
            .filter_map(|key| object.get(*key))
            .map(all_text)
            .next()
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// What stands between two texts, or to the end.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let rest = text.split_once(before)?.1;
    Some(rest.split_once(after).map_or(rest, |(found, _)| found))
}

/// The tool of an MCP server by a name such as `mcp__server__tool`, or one of ours.
pub(crate) fn mcp_tool(name: &str, prefix: &str, between: &str) -> Option<Tool> {
    let (server, tool) = name.strip_prefix(prefix)?.split_once(between)?;
    let ours = ["weir", "plugin_weir_weir"].contains(&server);
    Some(if ours { Tool::Ours } else { Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() } })
}

/// Whether a path lies below a folder, by its text alone: one that goes up again does not.
pub(crate) fn is_below(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir)
}
