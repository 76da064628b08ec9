//! Copilot CLI: `session-state/SESSION/events.jsonl` in its own folder, one row per event.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::COPILOT;
use crate::format::session::{HookPayload, Place, Step, ToolResult, Usage, extend, tokens};
use crate::format::{Draft, Format, RowReader, time};
use crate::wire::{first_text, text};

pub(crate) const FORMAT: Format = Format {
    client: &COPILOT,
    folders: &[".copilot/session-state"],
    database: None,
    extends_another: false,
    many: false,
    forks_copy: false,
    knows,
    reader: || Box::<CopilotReader>::default(),
    hooks_for,
};

fn knows(row: &Value) -> bool {
    row["data"].is_object() && row["id"].is_string() && text(&row["type"]).contains('.')
}

/// The prefixes of events that are not part of the conversation.
const ASIDE: &[&str] = &["session.", "hook.", "system.", "assistant.", "tool.", "subagent.", "skill.", "permission."];

#[derive(Default)]
struct CopilotReader {
    draft: Draft,
    /// The name and input of each tool call, by its key.
    calls: HashMap<String, (String, Value)>,
}

impl RowReader for CopilotReader {
    fn row(&mut self, row: Value) -> bool {
        self.draft.rows += 1;
        self.draft.begin(time(&row["timestamp"]), text(&row["id"]));
        let data = &row["data"];
        match text(&row["type"]) {
            "session.start" => {
                text(&data["sessionId"]).clone_into(&mut self.draft.key);
                text(&data["copilotVersion"]).clone_into(&mut self.draft.version);
                text(&data["context"]["cwd"]).clone_into(&mut self.draft.folder);
                text(&data["context"]["branch"]).clone_into(&mut self.draft.branch);
            }
            "user.message" => self.draft.push(Step::Prompt { text: text(&data["content"]).to_owned() }),
            "assistant.message" => self.assistant_message(data),
            "tool.execution_complete" => self.result(data),
            "session.usage_record" => self.usage_record(&data["usage"]),
            "session.compaction_complete" if data["success"] == true => {
                self.draft.push(Step::Compacted { text: text(&data["summaryContent"]).to_owned() });
            }
            kind => return ASIDE.iter().any(|known| kind.starts_with(known)),
        }
        true
    }

    fn drafts(&mut self) -> Vec<&mut Draft> {
        vec![&mut self.draft]
    }
}

impl CopilotReader {
    fn assistant_message(&mut self, data: &Value) {
        // The usage of a request precedes its messages.
        let request = self.draft.requests.len().saturating_sub(1);
        let said = text(&data["content"]);
        if !said.is_empty() {
            self.draft.push(Step::Said { text: said.to_owned(), request });
        }
        for call in data["toolRequests"].as_array().into_iter().flatten() {
            let given = call["arguments"].clone();
            self.draft.push(Step::Called { given: given.to_string(), request });
            self.calls.insert(text(&call["toolCallId"]).to_owned(), (text(&call["name"]).to_owned(), given));
        }
    }

    fn result(&mut self, data: &Value) {
        let key = text(&data["toolCallId"]).to_owned();
        let (name, input) = self.calls.remove(&key).unwrap_or_default();
        let failed = data["success"] == false;
        let text = match failed {
            true => first_text(&data["error"], &["message"]),
            false => first_text(&data["result"], &["content"]),
        };
        let (text, response) = (text.to_owned(), json!({ "resultType": "success", "textResultForLlm": text }));
        self.draft.push(Step::Result(ToolResult { key, name, input, text, response, failed }));
    }

    fn usage_record(&mut self, used: &Value) {
        let number = |key: &str| tokens(&used[key]);
        let (read, write) = (number("cacheReadTokens"), number("cacheWriteTokens"));
        self.draft.requests.push(Usage {
            input: number("inputTokens").saturating_sub(read + write),
            cache_write: write,
            cache_read: read,
            output: number("outputTokens"),
            ..Usage::default()
        });
        self.draft.models.count(text(&used["model"]));
    }
}

fn hooks_for(step: Step, place: &Place<'_>) -> Vec<HookPayload> {
    let hook_payloads = |event, more: Value| {
        let mut payload = json!({
            "sessionId": place.session, "cwd": place.folder.to_string_lossy(),
            "transcriptPath": place.transcript.to_string_lossy(),
        });
        extend(&mut payload, more);
        vec![HookPayload { event, payload }]
    };
    match step {
        Step::Prompt { text } => hook_payloads("userPromptSubmitted", json!({ "prompt": text })),
        Step::Said { .. } | Step::Called { .. } => Vec::new(),
        Step::Result(ToolResult { failed: true, name, input, text, .. }) => {
            hook_payloads("postToolUseFailure", json!({ "toolName": name, "toolArgs": input, "error": text }))
        }
        Step::Result(ToolResult { name, input, response, .. }) => {
            hook_payloads("postToolUse", json!({ "toolName": name, "toolArgs": input, "toolResult": response }))
        }
        Step::Compacted { .. } => hook_payloads("preCompact", json!({ "trigger": "auto" })),
    }
}
