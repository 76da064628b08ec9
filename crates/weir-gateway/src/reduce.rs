//! Results of servers, treated as hooks treat those of a client's own tools: a flood is stored whole and shown as a
//! digest.
//!
//! Invariants: text and structured content are reduced together, or not at all; images and other blocks stay as they
//! are; what is not stored is shown in full; a failure to reduce a result never loses it.

use std::time::Instant;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use weir_clients::{Client, Done, Output, PROXY, Text, Tool, ToolCall};
use weir_context::Context;
use weir_hook::hold::MAX_SURELY_SMALL_BYTES;
use weir_hook::{FileState, HookContext, RequestedResult, faults};
use weir_host::face::Face;
use weir_host::switch::Switch;
use weir_host::when;

/// A call whose result is treated.
pub(crate) struct Called<'a> {
    pub server: &'a str,
    pub tool: &'a str,
    pub arguments: &'a Map<String, Value>,
}

/// Returns a result as its client is shown it.
pub(crate) async fn reduced(context: &Context, called: Called<'_>, result: CallToolResult) -> CallToolResult {
    let text = text_of(&result);
    if text.len() as u64 <= MAX_SURELY_SMALL_BYTES || is_off(context) {
        return result;
    }
    let requested = requested(context, &called, text, result.is_error == Some(true));
    let context = context.clone();
    let held = tokio::task::spawn_blocking(move || {
        let at = HookContext {
            env: context.env(),
            paths: context.paths().clone(),
            switch: Switch::default(),
            now: when::now(),
            started: Instant::now(),
            files: FileState::InARequest,
        };
        at.hold(requested)
    });
    match held.await {
        Ok(Ok(Some(shown))) => replaced(result, shown),
        Ok(Ok(None)) => result,
        Ok(Err(error)) => left_alone(result, &error.message),
        Err(error) => left_alone(result, &error.to_string()),
    }
}

fn left_alone(result: CallToolResult, why: &str) -> CallToolResult {
    faults::note("gateway", &format!("a result is shown in full: {why}"));
    result
}

fn is_off(context: &Context) -> bool {
    let client = context.session().key.as_ref().map_or("", |session| &session.client);
    Switch::read(context.paths()).off_here(client, context.project(), &context.env().folder).is_some()
}

fn requested(context: &Context, called: &Called<'_>, text: String, failed: bool) -> RequestedResult {
    let Called { server, tool, arguments } = called;
    let session = context.session().key.clone();
    let client: Option<&'static Client> =
        session.as_ref().and_then(|session| weir_clients::of_session(&session.client));
    let call = ToolCall {
        key: None,
        name: format!("mcp__{server}__{tool}"),
        tool: Tool::Mcp { server: (*server).to_owned(), tool: (*tool).to_owned() },
        input: Value::Object((*arguments).clone()),
        input_is_whole: true,
        background: false,
    };
    let output = Output { text: Text::Here(text), ..Output::default() };
    RequestedResult {
        client: client.unwrap_or(&PROXY),
        conversation: session.map(|session| session.key).unwrap_or_default(),
        call,
        done: Done { output, failed, ..Done::default() },
        face: Face::Mcp,
    }
}

/// Returns all text of a result. Structured content counts only if it is not what the text says already.
fn text_of(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str());
    let mut text = texts.collect::<Vec<_>>().join("\n");
    if let Some(structured) = &result.structured_content
        && !says(&text, structured)
    {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&structured.to_string());
    }
    text
}

/// Whether a text is a structure as JSON, alone or as the only member, as servers wrap texts, blocks and lists.
pub(crate) fn says(text: &str, structured: &Value) -> bool {
    let inner = structured.as_object().filter(|members| members.len() == 1).and_then(|members| members.values().next());
    let blocks = || inner?.as_array()?.iter().map(|block| block["text"].as_str()).collect::<Option<Vec<_>>>();
    if inner.and_then(Value::as_str) == Some(text) || blocks().is_some_and(|it| !it.is_empty() && it.join("\n") == text)
    {
        return true;
    }
    let Ok(parsed) = serde_json::from_str::<Value>(text) else { return false };
    parsed == *structured || inner == Some(&parsed)
}

/// Returns a result whose text is replaced. The structured content goes with it, since it says the same.
fn replaced(mut result: CallToolResult, shown: String) -> CallToolResult {
    let others = std::mem::take(&mut result.content).into_iter().filter(|block| block.as_text().is_none());
    result.content = std::iter::once(ContentBlock::text(shown)).chain(others).collect();
    result.structured_content = None;
    result
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(texts: &[&str], structured: Value, expected: &str) {
        let mut result = CallToolResult::success(texts.iter().map(|text| ContentBlock::text(*text)).collect());
        result.structured_content = Some(structured);
        assert_eq!(text_of(&result), expected);
    }

    #[test]
    fn structured_content_counts_once() {
        check(&[r#"{"a": 1}"#], json!({ "a": 1 }), r#"{"a": 1}"#);
        check(&["plain"], json!({ "result": "plain" }), "plain");
        check(&["[1, 2]"], json!({ "result": [1, 2] }), "[1, 2]");
        check(&["two found"], json!({ "a": [1, 2] }), "two found\n{\"a\":[1,2]}");
        check(&[], json!({ "a": 1 }), "{\"a\":1}");
        check(&["a", "b"], json!({ "result": "a\nb" }), "a\nb");
        check(&["a", "b"], json!({ "result": [{ "type": "text", "text": "a" }, { "text": "b" }] }), "a\nb");
        check(&["a"], json!({ "result": [{ "text": "b" }] }), "a\n{\"result\":[{\"text\":\"b\"}]}");
    }

    #[test]
    fn other_blocks_stay() {
        let mut result = CallToolResult::success(vec![
            ContentBlock::text("one"),
            ContentBlock::image("aGk=", "image/png"),
            ContentBlock::text("two"),
        ]);
        result.structured_content = Some(json!({}));
        let result = replaced(result, "short".to_owned());
        assert_eq!(result.content.len(), 2);
        assert_eq!(result.content[0].as_text().unwrap().text, "short");
        assert_eq!(result.structured_content, None);
    }
}
