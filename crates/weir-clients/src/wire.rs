//! A hook call as the client sent it, before decoding.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

use crate::hook::{AcceptedReplies, Hook, Point, Start, Subagent, Tool, ToolCall};
use crate::text::{LongString, Text, TextView};

/// A hook call as received from a client.
#[derive(Debug, Clone, Copy)]
pub struct Wire<'a> {
    /// The name of the event, as the client's configuration passes it to us.
    pub event: &'a str,
    pub payload: &'a Value,
    /// The texts of the payload that are too long for memory.
    pub long: &'a [LongString<'a>],
}

impl<'a> Wire<'a> {
    /// Returns a hook call whose payload is in memory as a whole.
    pub fn new(event: &'a str, payload: &'a Value) -> Self {
        Self { event, payload, long: &[] }
    }

    /// Returns the text at a key of the payload, or an empty string. Of a text that is too long for memory, returns the
    /// beginning and the end.
    pub(crate) fn text(&self, key: &str) -> &'a str {
        text(&self.payload[key])
    }

    /// Returns a view of the text that a value of the payload stands for; empty if the value is not a string.
    pub(crate) fn view(&self, value: &'a Value) -> TextView<'a> {
        match self.long.iter().find(|long| std::ptr::eq(long.at, value)) {
            Some(long) => long.text.view(),
            None => TextView::Here(text(value)),
        }
    }

    /// Returns all text in a tool's output, whatever its shape: a string, a list of parts, an object with content.
    pub(crate) fn all_text(&self, value: &'a Value) -> Text {
        match value {
            Value::String(_) => self.view(value).to_text(),
            Value::Array(parts) => {
                Text::join(parts.iter().map(|part| self.all_text(part)).filter(|text| text.bytes() > 0))
            }
            Value::Object(object) => ["text", "content", "llmContent"]
                .iter()
                .find_map(|key| object.get(*key))
                .map(|value| self.all_text(value))
                .unwrap_or_default(),
            _ => Text::default(),
        }
    }

    /// Returns whether a value of the payload contains a text that is too long for memory.
    pub(crate) fn has_long(&self, value: &Value) -> bool {
        if self.long.is_empty() {
            return false;
        }
        match value {
            Value::String(_) => self.long.iter().any(|long| std::ptr::eq(long.at, value)),
            Value::Array(values) => values.iter().any(|value| self.has_long(value)),
            Value::Object(object) => object.values().any(|value| self.has_long(value)),
            _ => false,
        }
    }

    /// Returns the path at a key of the payload.
    pub(crate) fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.text(key)).filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// Builds the hook for a point, for clients that use Claude Code's field names.
    pub(crate) fn hook(&self, point: Point, takes: AcceptedReplies) -> Option<Hook> {
        Some(Hook {
            session: self.text("session_id").to_owned(),
            folder: self.path("cwd")?,
            shell: None,
            transcript: self.path("transcript_path"),
            subagent: self.subagent(),
            point,
            takes,
        })
    }

    /// Returns whether VS Code sent this. Its payloads have the time as a text, those of Claude Code have none and
    /// those of Copilot CLI a number. Copilot CLI sends a text too when it calls the hooks of Claude Code's settings;
    /// the program tells that by the environment.
    pub(crate) fn is_of_vscode(&self) -> bool {
        self.payload["timestamp"].is_string() && !self.is_of_cursor()
    }

    /// Returns whether Cursor sent this, which also runs the hooks of Claude Code's settings.
    pub(crate) fn is_of_cursor(&self) -> bool {
        !self.payload["cursor_version"].is_null()
    }

    /// Returns how the session begins, for clients that use Claude Code's field names.
    pub(crate) fn start(&self) -> Start {
        match self.text("source") {
            "compact" => Start::Compact,
            "resume" | "fork" => Start::Resume,
            _ => Start::New,
        }
    }

    /// Returns the tool call, for clients that use Claude Code's field names.
    pub(crate) fn call(&self, tool: fn(&str, &Value) -> Tool) -> ToolCall {
        let name = self.text("tool_name");
        let input = &self.payload["tool_input"];
        ToolCall {
            key: Some(self.text("tool_use_id")).filter(|key| !key.is_empty()).map(str::to_owned),
            name: name.to_owned(),
            tool: tool(name, input),
            input: input.clone(),
            input_is_whole: !self.has_long(input),
            background: false,
        }
    }

    /// Returns the duration of the tool call, for clients that use Claude Code's field names.
    pub(crate) fn millis(&self) -> Option<u64> {
        self.payload["duration_ms"].as_u64()
    }

    /// Encodes additional context for the model, for clients that use Claude Code's field names.
    pub(crate) fn context_reply(&self, text: &str) -> Value {
        json!({ "hookSpecificOutput": { "hookEventName": self.event, "additionalContext": text } })
    }

    /// Returns the subagent that made the call, for clients that use Claude Code's field names.
    fn subagent(&self) -> Option<Subagent> {
        let key = Some(self.text("agent_id")).filter(|key| !key.is_empty())?;
        Some(Subagent { key: key.to_owned(), kind: self.text("agent_type").to_owned() })
    }
}

/// Returns a value as text, or an empty string if it is not a string.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the first non-empty text at any of these keys.
pub(crate) fn first_text<'v>(value: &'v Value, keys: &[&str]) -> &'v str {
    keys.iter().map(|key| text(&value[*key])).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns whether there is a value at any of these keys.
pub(crate) fn has_any(value: &Value, keys: &[&str]) -> bool {
    keys.iter().any(|key| !value[*key].is_null())
}

/// Returns the text after `before` up to `after`, or up to the end if `after` does not follow.
pub(crate) fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let rest = text.split_once(before)?.1;
    Some(rest.split_once(after).map_or(rest, |(found, _)| found))
}

/// Returns the tool of an MCP server from a name such as `mcp__server__tool`, or [`Tool::Ours`] for Weir's own.
pub(crate) fn mcp_tool(name: &str, prefix: &str, between: &str) -> Option<Tool> {
    let (server, tool) = name.strip_prefix(prefix)?.split_once(between)?;
    let ours = ["weir", "plugin_weir_weir"].contains(&server);
    Some(if ours { Tool::Ours } else { Tool::Mcp { server: server.to_owned(), tool: tool.to_owned() } })
}

/// Returns whether a path is below a folder, by its text alone: a path with `..` is not.
pub(crate) fn is_below(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) && !path.components().any(|part| part == Component::ParentDir)
}
