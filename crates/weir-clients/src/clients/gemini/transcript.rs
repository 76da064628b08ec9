//! Gemini CLI: `tmp/PROJECT/chats/session-….json` in its own folder, one document per session. Newer versions write a
//! row per message, and write a message again when it has grown.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use super::GEMINI;
use crate::format::session::{HookPayload, Place, Step, ToolResult, Usage, tokens};
use crate::format::{Draft, Format, RowReader, content_text, take, time};
use crate::wire::{first_text, text};

pub(crate) const FORMAT: Format = Format {
    client: &GEMINI,
    folders: &[".gemini/tmp"],
    database: None,
    extends_another: false,
    many: false,
    forks_copy: false,
    knows,
    reader: || Box::<GeminiReader>::default(),
    hooks_for,
};

/// The beginning of a text that replaces a conversation.
const COMPACTED: &str = "<state_snapshot>"; // tidy: allow(snapshot): the client's word
/// The answer that it writes after such a text on behalf of the model.
const ANSWER: &str = "Got it. Thanks for the additional context!";

fn knows(row: &Value) -> bool {
    row["sessionId"].is_string() && (row["messages"].is_array() || row["projectHash"].is_string())
}

#[derive(Default)]
struct GeminiReader {
    key: String,
    messages: Vec<Value>,
    /// The position of each message.
    places: HashMap<String, usize>,
    /// How many messages have a content, by its hash.
    contents: HashMap<u64, usize>,
}

impl RowReader for GeminiReader {
    fn row(&mut self, mut row: Value) -> bool {
        if let Some(key) = row["sessionId"].as_str().filter(|_| self.key.is_empty()) {
            key.clone_into(&mut self.key);
        }
        // Several messages: the whole session, its first messages, or those it continues with after a compaction.
        for messages in [take(&mut take(&mut row, "$set"), "messages"), take(&mut row, "messages")] {
            if let Value::Array(messages) = messages {
                // After a compaction, the messages that are kept are written again under new identifiers.
                let is_new = |message: &Value| !self.contents.contains_key(&content_hash(message));
                let new: Vec<Value> = messages.into_iter().filter(is_new).collect();
                return new.into_iter().all(|message| self.row(message));
            }
        }
        if !row["type"].is_string() {
            return row.is_object();
        }
        let count = self.messages.len();
        let id = text(&row["id"]);
        let at = if id.is_empty() { count } else { *self.places.entry(id.to_owned()).or_insert(count) };
        *self.contents.entry(content_hash(&row)).or_default() += 1;
        match self.messages.get_mut(at) {
            Some(earlier) => {
                let before = content_hash(&std::mem::replace(earlier, row));
                if let Entry::Occupied(mut known) = self.contents.entry(before) {
                    *known.get_mut() -= 1;
                    if *known.get() == 0 {
                        known.remove();
                    }
                }
            }
            None => self.messages.push(row),
        }
        true
    }

    fn finish(&mut self) -> Vec<Draft> {
        let mut draft = Draft { key: std::mem::take(&mut self.key), ..Draft::default() };
        self.messages.iter().for_each(|message| add(&mut draft, message));
        vec![draft]
    }
}

/// Returns a hash of what a message says, without its identifier and time.
fn content_hash(message: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    ["type", "content", "toolCalls"].iter().for_each(|key| message[*key].hash(&mut hasher));
    hasher.finish()
}

fn add(draft: &mut Draft, message: &Value) {
    let said = content_text(&message["content"]);
    draft.begin(time(&message["timestamp"]), text(&message["id"]));
    match text(&message["type"]) {
        "user" if said.starts_with(COMPACTED) => draft.push(Step::Compacted { text: said }),
        // Tool results are already recorded with their calls.
        "user" if said.is_empty() => {}
        "user" => draft.push(Step::Prompt { text: said }),
        "gemini" if said == ANSWER => {}
        "gemini" => {
            let request = draft.requests.len();
            draft.push(Step::Said { text: said, request });
            for call in message["toolCalls"].as_array().into_iter().flatten() {
                draft.push(Step::Called { given: call["args"].to_string(), request });
                draft.push(Step::Result(result(call)));
            }
            draft.requests.push(usage(&message["tokens"]));
            draft.models.count(text(&message["model"]));
        }
        _ => {}
    }
}

fn result(call: &Value) -> ToolResult {
    let responses = call["result"].as_array().into_iter().flatten().map(|part| &part["functionResponse"]["response"]);
    let text: String = responses.map(|response| first_text(response, &["output", "error"])).collect();
    let failed = call["status"] == "error";
    let error = if failed { json!({ "message": text }) } else { Value::Null };
    let response = json!({ "llmContent": text, "returnDisplay": call["resultDisplay"], "error": error });
    let (key, name) = (crate::wire::text(&call["id"]).to_owned(), crate::wire::text(&call["name"]).to_owned());
    ToolResult { key, name, input: with_current_keys(call["args"].clone()), text, response, failed }
}

/// Renames the fields of a tool's input to those of the current version.
fn with_current_keys(mut input: Value) -> Value {
    let Value::Object(given) = &mut input else { return input };
    for (old, new) in [("absolute_path", "file_path"), ("offset", "start_line"), ("limit", "end_line")] {
        if let Some(value) = given.remove(old).filter(|_| !given.contains_key(new)) {
            given.insert(new.to_owned(), value);
        }
    }
    input
}

fn usage(used: &Value) -> Usage {
    let number = |key: &str| tokens(&used[key]);
    let cached = number("cached");
    Usage {
        input: number("input").saturating_sub(cached),
        cache_read: cached,
        output: number("output") + number("thoughts"),
        ..Usage::default()
    }
}

fn hooks_for(step: Step, place: &Place<'_>) -> Vec<HookPayload> {
    match step {
        Step::Prompt { text } => vec![place.hook_payload("BeforeAgent", json!({ "prompt": text }))],
        Step::Said { .. } | Step::Called { .. } => Vec::new(),
        Step::Result(mut result) => {
            let response = result.response.take();
            vec![place.after_tool_payload("AfterTool", result, "tool_response", response)]
        }
        Step::Compacted { .. } => vec![place.hook_payload("PreCompress", json!({ "trigger": "auto" }))],
    }
}
