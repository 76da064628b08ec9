//! OpenAI's Responses API, which Codex uses: calls and results are items of the input.

use super::json::Object;
use super::{AboutResult, Conversation, ModelCall, WireFormat};

/// Requests for an answer, and to compact a conversation.
pub(super) const FORMAT: WireFormat =
    WireFormat { paths: &["/responses", "/responses/compact"], read, reaches_model: true, lifetime: |_| None };

/// The types of items that are results with a text.
const RESULTS: [&str; 3] = ["function_call_output", "custom_tool_call_output", "local_shell_call_output"];

fn read(body: &str) -> Option<Conversation<'_>> {
    let request = Object::read(body)?;
    let items = Object::read_all(&request.list("input")?)?;
    let answered = items.iter().rposition(is_of_model);
    let mut conversation = Conversation::new(request.value("tools"));
    for (at, item) in items.iter().enumerate() {
        let kind = item.text("type").unwrap_or_default();
        let Some(id) = item.text("call_id").or_else(|| item.text("id")) else { continue };
        if RESULTS.contains(&kind.as_str()) {
            if let Some(output) = item.value("output") {
                let is_new = answered.is_none_or(|last| at > last);
                conversation.add_result(output, &AboutResult { call: id, failed: false, is_new });
            }
        } else if let Some(call) = call(item, &kind) {
            conversation.add_call(id, call);
        }
    }
    Some(conversation)
}

fn call<'a>(item: &Object<'a>, kind: &str) -> Option<ModelCall<'a>> {
    match kind {
        "function_call" => Some(ModelCall { name: name(item)?, input: item.value("arguments") }),
        "custom_tool_call" => Some(ModelCall { name: name(item)?, input: item.value("input") }),
        "local_shell_call" => Some(ModelCall { name: "local_shell".to_owned(), input: item.value("action") }),
        _ => None,
    }
}

/// Returns the name of a tool. Codex names the server of an MCP tool in a field of its own.
fn name(call: &Object<'_>) -> Option<String> {
    let tool = call.text("name")?;
    let server = call.text("namespace").filter(|server| server.starts_with("mcp__") && !tool.starts_with("mcp__"));
    Some(match server {
        Some(server) => format!("{}__{tool}", server.trim_end_matches('_')),
        None => tool,
    })
}

/// Whether the model made an item. Anything that is neither a message of the user nor a result counts as the model's,
/// since what comes before it has been sent already.
fn is_of_model(item: &Object<'_>) -> bool {
    match item.text("type").as_deref() {
        None | Some("message") => item.is("role", "assistant"),
        Some(kind) => !kind.ends_with("_output"),
    }
}
