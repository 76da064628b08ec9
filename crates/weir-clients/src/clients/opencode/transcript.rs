//! OpenCode: messages and their parts, each a row of its database. Older versions write them as documents below
//! `storage`; `opencode export` prints a whole session. The keys of parts give their order.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::OPENCODE;
use crate::format::session::{HookPayload, Place, Step, ToolResult, Usage, tokens};
use crate::format::{Draft, Format, RowReader, take, time};
use crate::wire::{first_text, text};

pub(crate) const FORMAT: Format = Format {
    client: &OPENCODE,
    folders: &[".local/share/opencode/storage"],
    database: Some(".local/share/opencode/opencode.db"),
    extends_another: false,
    many: false,
    forks_copy: false,
    knows,
    reader: || Box::<OpenCodeReader>::default(),
    hooks_for,
};

fn knows(row: &Value) -> bool {
    is_export(row) || is_about(row) || row["sessionID"].is_string()
}

fn is_export(row: &Value) -> bool {
    row["info"].is_object() && row["messages"].is_array()
}

/// Returns whether a row describes a project, a session or where a session is shared.
fn is_about(row: &Value) -> bool {
    let has = |key: &str| row[key].is_string();
    has("worktree") || (has("projectID") && has("directory")) || (has("secret") && has("url"))
}

#[derive(Default)]
struct OpenCodeReader {
    sessions: BTreeMap<String, Parts>,
    /// The messages by key, without their parts.
    messages: HashMap<String, Value>,
    /// The description of each session.
    about: HashMap<String, SessionDescription>,
}

#[derive(Default)]
struct SessionDescription {
    /// The client's version.
    version: String,
    folder: String,
    /// The session that started this one as a subagent; empty for one of the user's.
    parent: String,
}

/// The parts of a session, by key.
type Parts = BTreeMap<String, Value>;

impl RowReader for OpenCodeReader {
    fn row(&mut self, mut row: Value) -> bool {
        if is_export(&row) {
            self.about(&row["info"]);
            let messages = take(&mut row, "messages");
            return messages.as_array().into_iter().flatten().all(|message| {
                let parts = message["parts"].as_array().into_iter().flatten();
                self.row(message["info"].clone()) && parts.cloned().all(|part| self.row(part))
            });
        }
        let (id, session) = (text(&row["id"]).to_owned(), text(&row["sessionID"]).to_owned());
        if session.is_empty() {
            self.about(&row);
            return is_about(&row);
        }
        if row["role"].is_string() {
            self.messages.insert(id, row);
            return true;
        }
        let is_part = row["type"].is_string() && !id.is_empty();
        if is_part {
            self.sessions.entry(session).or_default().insert(id, row);
        }
        is_part
    }

    fn finish(&mut self) -> Vec<Draft> {
        let Self { sessions, messages, mut about } = std::mem::take(self);
        let drafted = |(key, parts): (String, Parts)| {
            let SessionDescription { version, folder, parent } = about.remove(&key).unwrap_or_default();
            let (key, subagent) = if parent.is_empty() { (key, String::new()) } else { (parent, key) };
            draft(Draft { key, subagent, version, folder, rows: parts.len(), ..Draft::default() }, parts, &messages)
        };
        sessions.into_iter().map(drafted).collect()
    }
}

impl OpenCodeReader {
    fn about(&mut self, session: &Value) {
        if let (Some(id), Some(version)) = (session["id"].as_str(), session["version"].as_str()) {
            let (folder, parent) = (text(&session["directory"]).to_owned(), text(&session["parentID"]).to_owned());
            self.about.insert(id.to_owned(), SessionDescription { version: version.to_owned(), folder, parent });
        }
    }
}

fn draft(mut draft: Draft, parts: Parts, messages: &HashMap<String, Value>) -> Draft {
    for part in parts.into_values() {
        let message = messages.get(text(&part["messageID"])).unwrap_or(&Value::Null);
        if draft.folder.is_empty() {
            text(&message["path"]["cwd"]).clone_into(&mut draft.folder);
        }
        let request = draft.requests.len();
        let at = [&part["time"]["start"], &part["state"]["time"]["start"], &message["time"]["created"]];
        draft.begin(at.into_iter().find_map(time), text(&part["id"]));
        match text(&part["type"]) {
            // The client itself adds some parts.
            "text" if part["synthetic"] == true => {}
            "text" => {
                let text = text(&part["text"]).to_owned();
                draft.push(match message {
                    message if message["role"] == "user" => Step::Prompt { text },
                    message if message["summary"] == true => Step::Compacted { text },
                    _ => Step::Said { text, request },
                });
            }
            "tool" => {
                draft.push(Step::Called { given: part["state"]["input"].to_string(), request });
                draft.push(Step::Result(result(&part)));
            }
            "step-finish" => {
                draft.requests.push(usage(&part["tokens"]));
                draft.models.count(text(&message["modelID"]));
            }
            _ => {}
        }
    }
    draft
}

fn result(part: &Value) -> ToolResult {
    let (name, state) = (text(&part["tool"]).to_owned(), &part["state"]);
    let text = first_text(state, &["output", "error"]).to_owned();
    let mut about = state["metadata"].clone();
    // Older versions do not record the text of a file that the user was shown.
    if name == "read" && about["display"].is_null() && text.starts_with("<file>") {
        about = json!({ "display": { "type": "file", "text": text } });
    }
    let response = json!({ "title": state["title"], "output": text, "metadata": about });
    let key = first_text(part, &["callID", "id"]).to_owned();
    let failed = state["status"] == "error";
    ToolResult { key, name, input: state["input"].clone(), text, response, failed }
}

fn usage(used: &Value) -> Usage {
    Usage {
        input: tokens(&used["input"]),
        cache_write: tokens(&used["cache"]["write"]),
        cache_read: tokens(&used["cache"]["read"]),
        output: tokens(&used["output"]) + tokens(&used["reasoning"]),
        ..Usage::default()
    }
}

fn hooks_for(step: Step, place: &Place<'_>) -> Vec<HookPayload> {
    let hook_payloads = |event, input: Value, output: Value| {
        let directory = place.folder.to_string_lossy();
        vec![HookPayload { event, payload: json!({ "directory": directory, "input": input, "output": output }) }]
    };
    match step {
        Step::Prompt { text } => {
            let parts = json!({ "parts": [{ "type": "text", "text": text }] });
            hook_payloads("chat.message", json!({ "sessionID": place.session }), parts)
        }
        Step::Said { .. } | Step::Called { .. } => Vec::new(),
        // It calls no hook after a tool that failed.
        Step::Result(ToolResult { failed: true, .. }) => Vec::new(),
        Step::Result(result) => {
            let (tool, call, args) = (&result.name, &result.key, &result.input);
            let input = json!({ "tool": tool, "sessionID": place.session, "callID": call, "args": args });
            hook_payloads("tool.execute.after", input, result.response)
        }
        Step::Compacted { .. } => hook_payloads(
            "experimental.session.compacting",
            json!({ "sessionID": place.session }),
            json!({ "context": [] }),
        ),
    }
}
