//! Claude Code: `projects/FOLDER/SESSION.jsonl` in its own folder, one row per block of a message.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::CLAUDE;
use crate::format::session::{HookPayload, Place, RequestMoment, Step, ToolResult, Usage, tokens};
use crate::format::{Draft, Format, RowReader, content_text, take, time};
use crate::wire::text;

pub(crate) const FORMAT: Format = Format {
    client: &CLAUDE,
    folders: &[".claude/projects"],
    database: None,
    extends_another: false,
    many: false,
    forks_copy: true,
    knows,
    reader: || Box::<ClaudeReader>::default(),
    hooks_for,
};

/// What the model writes around the input of a call, in characters.
const CALL_CHARACTERS: usize = 36;

fn knows(row: &Value) -> bool {
    row["type"].is_string() && (row["sessionId"].is_string() || row["leafUuid"].is_string()) && row["payload"].is_null()
}

/// The rows of a transcript. Older versions mix in the rows of subagents, which are not part of the conversation.
#[derive(Default)]
struct ClaudeReader {
    main: Conversation,
    subagents: Conversation,
    /// Whether the transcript is a subagent's own.
    is_subagent: Option<bool>,
}

#[derive(Default)]
struct Conversation {
    draft: Draft,
    /// The name and input of each tool call, by its key.
    calls: HashMap<String, (String, Value)>,
    /// The position of each message's request.
    requests: HashMap<String, usize>,
}

impl RowReader for ClaudeReader {
    fn row(&mut self, row: Value) -> bool {
        let of_subagent = row["isSidechain"] == true;
        let is_main = match row["message"].is_object() {
            true => of_subagent == *self.is_subagent.get_or_insert(of_subagent),
            false => true,
        };
        if is_main { self.main.row(row) } else { self.subagents.row(row) }
    }

    fn drafts(&mut self) -> Vec<&mut Draft> {
        let of_subagents = Some(&mut self.subagents.draft).filter(|draft| !draft.steps.is_empty());
        std::iter::once(&mut self.main.draft).chain(of_subagents).collect()
    }
}

impl Conversation {
    fn row(&mut self, mut row: Value) -> bool {
        self.draft.rows += 1;
        // Some forks give new identifiers to the messages that they copy, and name the old ones.
        let message = [&row["forkedFrom"]["messageUuid"], &row["uuid"]].into_iter().find_map(Value::as_str);
        self.draft.begin(time(&row["timestamp"]), message.unwrap_or_default());
        self.draft.fill_missing(&row, ["sessionId", "version", "cwd", "gitBranch"]);
        if row["isSidechain"] == true && self.draft.subagent.is_empty() {
            let name = text(&row["agentId"]);
            self.draft.subagent = if name.is_empty() { "subagent" } else { name }.to_owned();
        }
        if row["isCompactSummary"] == true {
            self.draft.push(Step::Compacted { text: content_text(&row["message"]["content"]) });
            return true;
        }
        let edits = row["message"]["context_management"]["applied_edits"].as_array();
        if row["subtype"] == "microcompact_boundary" || edits.is_some_and(|edits| !edits.is_empty()) {
            self.draft.cleared.push(self.draft.steps.len());
        }
        match text(&row["type"]) {
            // The client's own words in the place of an answer, such as an error of the API.
            "assistant" if row["message"]["model"] == "<synthetic>" => {}
            "assistant" => self.assistant_message(&mut take(&mut row, "message")),
            "user" => self.user_row(&mut row),
            // Many more rows describe the session. Only those of the conversation have a message.
            kind => return kind.starts_with("api-request") || !(kind.is_empty() || row["message"].is_object()),
        }
        true
    }

    fn assistant_message(&mut self, message: &mut Value) {
        let count = self.requests.len();
        let at = *self.requests.entry(text(&message["id"]).to_owned()).or_insert(count);
        let used = usage(&message["usage"]);
        if at == self.draft.requests.len() {
            self.draft.requests.push(used);
            self.draft.request_messages.push(self.draft.row.1.clone());
            let (began, steps) = (self.draft.row.0, self.draft.passed + self.draft.steps.len());
            self.draft.moments.push(RequestMoment { began, steps, ..RequestMoment::default() });
            self.draft.models.count(text(&message["model"]));
        } else {
            self.draft.requests[at] = used;
        }
        let request = self.draft.requests.len() - 1;
        let mut written = 0;
        for part in message.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            let step = match text(&part["type"]) {
                "text" => Step::Said { text: text(&part["text"]).to_owned(), request },
                "tool_use" => {
                    let input = take(part, "input");
                    let given = input.to_string();
                    self.calls.insert(text(&part["id"]).to_owned(), (text(&part["name"]).to_owned(), input));
                    written += CALL_CHARACTERS;
                    Step::Called { given, request }
                }
                "thinking" => {
                    written += text(&part["thinking"]).chars().count();
                    continue;
                }
                _ => continue,
            };
            if let Step::Said { text: said, .. } | Step::Called { given: said, .. } = &step {
                written += said.chars().count();
            }
            self.draft.push(step);
        }
        if let Some(moment) = self.draft.moments.get_mut(at) {
            moment.ended = self.draft.row.0;
            moment.written += written as u64;
        }
    }

    fn user_row(&mut self, row: &mut Value) {
        let is_meta = row["isMeta"] == true;
        let mut response = take(row, "toolUseResult");
        let content = take(&mut take(row, "message"), "content");
        if let Value::String(text) = content {
            if !is_meta {
                self.draft.push(Step::Prompt { text });
            }
            return;
        }
        for part in content.as_array().into_iter().flatten() {
            match text(&part["type"]) {
                "text" if !is_meta => self.draft.push(Step::Prompt { text: text(&part["text"]).to_owned() }),
                "tool_result" => {
                    let key = text(&part["tool_use_id"]).to_owned();
                    let (name, input) = self.calls.remove(&key).unwrap_or_default();
                    let text = content_text(&part["content"]);
                    // A row has only one result.
                    let response = if response.is_null() { json!(text) } else { response.take() };
                    let failed = part["is_error"] == true;
                    self.draft.push(Step::Result(ToolResult { key, name, input, text, response, failed }));
                }
                _ => {}
            }
        }
    }
}

/// Returns the transcript that hooks name: for a subagent, that of the session that started it.
fn transcript_of(path: &Path) -> PathBuf {
    let session = path.parent().filter(|folder| folder.ends_with("subagents")).and_then(Path::parent);
    session.map_or_else(|| path.to_owned(), |session| session.with_extension("jsonl"))
}

fn usage(usage: &Value) -> Usage {
    let number = |key: &str| tokens(&usage[key]);
    let written = number("cache_creation_input_tokens");
    let hour = tokens(&usage["cache_creation"]["ephemeral_1h_input_tokens"]).min(written);
    Usage {
        input: number("input_tokens"),
        cache_write: written - hour,
        cache_write_hour: hour,
        cache_read: number("cache_read_input_tokens"),
        output: number("output_tokens"),
    }
}

fn hooks_for(step: Step, place: &Place<'_>) -> Vec<HookPayload> {
    let transcript = transcript_of(place.transcript);
    let place = Place { transcript: &transcript, ..*place };
    match step {
        Step::Prompt { text } => vec![place.hook_payload("UserPromptSubmit", json!({ "prompt": text }))],
        Step::Said { .. } | Step::Called { .. } => Vec::new(),
        Step::Result(result) => vec![place.tool_outcome_payload(result)],
        Step::Compacted { text } => vec![
            place.hook_payload("PreCompact", json!({ "trigger": "auto", "custom_instructions": null })),
            place.hook_payload("SubagentStop", json!({ "agent_type": "", "last_assistant_message": text })),
            place.hook_payload("SessionStart", json!({ "source": "compact" })),
            place.hook_payload("PostCompact", json!({ "trigger": "auto", "compact_summary": text })),
        ],
    }
}
