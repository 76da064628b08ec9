//! Codex: `sessions/YEAR/MONTH/DAY/rollout-….jsonl` in its own folder, one row per item of a conversation.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::CODEX;
use crate::format::session::{HookPayload, Place, Step, ToolResult, Usage, tokens};
use crate::format::{Draft, Format, RowReader, content_text, time};
use crate::wire::{first_text, text};

pub(crate) const FORMAT: Format = Format {
    client: &CODEX,
    folders: &[".codex/sessions"],
    database: None,
    extends_another: false,
    many: false,
    forks_copy: true,
    knows,
    reader: || Box::<CodexReader>::default(),
    hooks_for,
};

fn knows(row: &Value) -> bool {
    row["type"].is_string() && row["payload"].is_object()
}

#[derive(Default)]
struct CodexReader {
    draft: Draft,
    /// The name and input of each tool call, by its key.
    calls: HashMap<String, (String, Value)>,
    /// The latest usage, since the same figures are written more than once.
    last_usage: Value,
}

impl RowReader for CodexReader {
    fn row(&mut self, row: Value) -> bool {
        let item = &row["payload"];
        self.draft.rows += 1;
        // Rows are only ever appended, so their position identifies those without an identifier.
        let position = self.draft.rows.to_string();
        self.draft.begin(time(&row["timestamp"]), item["id"].as_str().unwrap_or(&position));
        match (text(&row["type"]), text(&item["type"])) {
            ("session_meta", _) if self.draft.key.is_empty() => self.about(item),
            ("turn_context", _) => self.draft.models.count(text(&item["model"])),
            ("compacted", _) => {
                self.draft.push(Step::Compacted { text: text(&item["message"]).to_owned() });
            }
            (_, "message") => self.message(item),
            (_, "function_call" | "custom_tool_call") => self.call(item),
            (_, "function_call_output" | "custom_tool_call_output") => self.result(item),
            (_, "token_count") => self.token_count(&item["info"]["last_token_usage"]),
            (kind, _) => return !kind.is_empty() && item.is_object(),
        }
        true
    }

    fn drafts(&mut self) -> Vec<&mut Draft> {
        vec![&mut self.draft]
    }
}

impl CodexReader {
    /// Reads the row about the session. A subagent has its own transcript, but belongs to the session of its parent.
    fn about(&mut self, item: &Value) {
        let (draft, own) = (&mut self.draft, text(&item["id"]));
        let started = &item["source"]["subagent"];
        if !started.is_null() {
            own.clone_into(&mut draft.subagent);
        }
        let parents = [&item["session_id"], &started["thread_spawn"]["parent_thread_id"]];
        let parent = parents.into_iter().map(text).find(|key| !key.is_empty() && *key != own);
        parent.filter(|_| !started.is_null()).unwrap_or(own).clone_into(&mut draft.key);
        text(&item["cli_version"]).clone_into(&mut draft.version);
        text(&item["cwd"]).clone_into(&mut draft.folder);
        text(&item["git"]["branch"]).clone_into(&mut draft.branch);
        text(&item["forked_from_id"]).clone_into(&mut draft.origin);
    }

    fn message(&mut self, item: &Value) {
        let said = content_text(&item["content"]);
        match text(&item["role"]) {
            "user" => self.draft.push(Step::Prompt { text: said }),
            "assistant" => self.assistant_message(said),
            _ => {}
        }
    }

    fn assistant_message(&mut self, text: String) {
        self.draft.push(Step::Said { text, request: self.draft.requests.len() });
    }

    fn call(&mut self, item: &Value) {
        let given = first_text(item, &["arguments", "input"]);
        let input = serde_json::from_str(given).ok().filter(Value::is_object);
        let input = input.unwrap_or_else(|| json!({ "input": given }));
        self.calls.insert(text(&item["call_id"]).to_owned(), (name(item), input));
        let request = self.draft.requests.len();
        self.draft.push(Step::Called { given: given.to_owned(), request });
    }

    fn result(&mut self, item: &Value) {
        let output = &item["output"];
        let whole = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        // Details of a command precede its output.
        let text = whole.split_once("Output:\n").map_or(whole.as_str(), |(_, output)| output).to_owned();
        let key = crate::wire::text(&item["call_id"]).to_owned();
        let (name, input) = self.calls.remove(&key).unwrap_or_default();
        let (name, input) = as_in_hooks(name, input);
        let response = json!(text);
        self.draft.push(Step::Result(ToolResult { key, name, input, text, response, failed: false }));
    }

    fn token_count(&mut self, used: &Value) {
        if !used.is_object() || *used == self.last_usage {
            return;
        }
        self.last_usage = used.clone();
        let number = |key: &str| tokens(&used[key]);
        let cached = number("cached_input_tokens");
        self.draft.requests.push(Usage {
            // Input that was not in the cache is written to it.
            cache_write: number("input_tokens").saturating_sub(cached),
            cache_read: cached,
            output: number("output_tokens"),
            ..Usage::default()
        });
    }
}

/// Returns the name of a tool as hooks spell it: the name of an MCP tool begins with its server.
fn name(call: &Value) -> String {
    let (server, tool) = (text(&call["namespace"]), text(&call["name"]));
    match server.strip_prefix("mcp__") {
        Some(server) if !tool.starts_with("mcp__") => format!("mcp__{}__{tool}", server.trim_end_matches('_')),
        _ => tool.to_owned(),
    }
}

/// Returns a tool and its input as hooks have them: all shells are one tool, whose command is one string.
fn as_in_hooks(name: String, input: Value) -> (String, Value) {
    if !["exec_command", "shell", "shell_command", "local_shell"].contains(&name.as_str()) {
        return (name, input);
    }
    let command = match &input["command"] {
        Value::Array(words) => words.iter().map(text).collect::<Vec<_>>().join(" "),
        _ => first_text(&input, &["cmd", "command"]).to_owned(),
    };
    ("Bash".to_owned(), json!({ "command": command }))
}

fn hooks_for(step: Step, place: &Place<'_>) -> Vec<HookPayload> {
    match step {
        Step::Prompt { text } => vec![place.hook_payload("UserPromptSubmit", json!({ "prompt": text }))],
        Step::Said { .. } | Step::Called { .. } => Vec::new(),
        Step::Result(result) => vec![place.tool_outcome_payload(ToolResult { failed: false, ..result })],
        Step::Compacted { .. } => vec![
            place.hook_payload("PreCompact", json!({ "trigger": "auto" })),
            place.hook_payload("SessionStart", json!({ "source": "compact" })),
        ],
    }
}
