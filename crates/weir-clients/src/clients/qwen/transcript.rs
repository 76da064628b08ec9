//! Qwen Code: `projects/FOLDER/chats/SESSION.jsonl` in its own folder, one row per message.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::QWEN;
use crate::format::session::{HookPayload, Place, Step, ToolResult, Usage, tokens};
use crate::format::{Draft, Format, RowReader, content_text, time};
use crate::wire::text;

pub(crate) const FORMAT: Format = Format {
    client: &QWEN,
    folders: &[".qwen/projects"],
    database: None,
    extends_another: true, // Qwen Code has every field of Claude Code.
    many: false,
    forks_copy: false,
    knows,
    reader: || Box::<QwenReader>::default(),
    hooks_for,
};

fn knows(row: &Value) -> bool {
    row["sessionId"].is_string() && (row["provenance"].is_string() || row["message"]["parts"].is_array())
}

#[derive(Default)]
struct QwenReader {
    draft: Draft,
    /// The input of each tool call, by its key.
    calls: HashMap<String, Value>,
}

impl RowReader for QwenReader {
    fn row(&mut self, row: Value) -> bool {
        self.draft.rows += 1;
        self.draft.begin(time(&row["timestamp"]), text(&row["uuid"]));
        self.draft.fill_missing(&row, ["sessionId", "version", "cwd", "gitBranch"]);
        match text(&row["type"]) {
            "user" => self.user_row(&row),
            "assistant" => self.assistant_row(&row),
            "tool_result" => self.result(&row),
            "system" if row["subtype"] == "chat_compression" => {
                let history = &row["systemPayload"]["compressedHistory"];
                self.draft.push(Step::Compacted { text: content_text(&history[0]["parts"]) });
            }
            kind => return kind == "system",
        }
        true
    }

    fn drafts(&mut self) -> Vec<&mut Draft> {
        vec![&mut self.draft]
    }
}

impl QwenReader {
    fn user_row(&mut self, row: &Value) {
        // Messages that the client itself writes on behalf of the user have a subtype.
        if row["subtype"].is_string() {
            return;
        }
        // Text added by hooks is in separate parts.
        let text = text(&row["message"]["parts"][0]["text"]).to_owned();
        self.draft.push(Step::Prompt { text });
    }

    fn assistant_row(&mut self, row: &Value) {
        let request = self.draft.requests.len();
        for part in row["message"]["parts"].as_array().into_iter().flatten() {
            if let Some(said) = part["text"].as_str().filter(|_| part["thought"] != true) {
                self.draft.push(Step::Said { text: said.to_owned(), request });
            }
            let call = &part["functionCall"];
            if call.is_object() {
                self.calls.insert(text(&call["id"]).to_owned(), call["args"].clone());
                self.draft.push(Step::Called { given: call["args"].to_string(), request });
            }
        }
        self.draft.requests.push(usage(&row["usageMetadata"]));
        self.draft.models.count(text(&row["model"]));
    }

    fn result(&mut self, row: &Value) {
        let given = &row["message"]["parts"][0]["functionResponse"];
        let about = &row["toolCallResult"];
        let (key, name) = (text(&given["id"]).to_owned(), text(&given["name"]).to_owned());
        let text = text(&given["response"]["output"]).to_owned();
        let failed = about["status"] == "error" || given["response"]["error"].is_string();
        let text = if text.is_empty() { crate::wire::text(&given["response"]["error"]).to_owned() } else { text };
        let response = json!({ "llmContent": text, "returnDisplay": about["resultDisplay"] });
        let input = self.calls.remove(&key).unwrap_or_default();
        self.draft.push(Step::Result(ToolResult { key, name, input, text, response, failed }));
    }
}

fn usage(used: &Value) -> Usage {
    let number = |key: &str| tokens(&used[key]);
    let cached = number("cachedContentTokenCount");
    Usage {
        input: number("promptTokenCount").saturating_sub(cached),
        cache_read: cached,
        output: number("candidatesTokenCount") + number("thoughtsTokenCount"),
        ..Usage::default()
    }
}

fn hooks_for(step: Step, place: &Place<'_>) -> Vec<HookPayload> {
    match step {
        // It also calls this hook for every tool result, with an empty prompt.
        Step::Prompt { text } if text.is_empty() => Vec::new(),
        Step::Prompt { text } => vec![place.hook_payload("UserPromptSubmit", json!({ "prompt": text }))],
        Step::Said { .. } | Step::Called { .. } => Vec::new(),
        Step::Result(result) => vec![place.tool_outcome_payload(result)],
        Step::Compacted { text } => vec![
            place.hook_payload("PreCompact", json!({ "trigger": "auto" })),
            place.hook_payload("PostCompact", json!({ "trigger": "auto", "compact_summary": text })),
            place.hook_payload("SessionStart", json!({ "source": "compact" })),
        ],
    }
}
