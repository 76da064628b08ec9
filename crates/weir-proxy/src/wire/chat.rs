//! OpenAI's Chat Completions API, which many other providers have too: a result is a message of its own.

use super::json::Object;
use super::{AboutResult, Conversation, ModelCall, WireFormat};

/// Requests for an answer.
pub(super) const FORMAT: WireFormat =
    WireFormat { paths: &["/chat/completions"], read, reaches_model: true, lifetime: |_| None };

fn read(body: &str) -> Option<Conversation<'_>> {
    let request = Object::read(body)?;
    let messages = Object::read_all(&request.list("messages")?)?;
    let answered = messages.iter().rposition(|message| message.is("role", "assistant"));
    let mut conversation = Conversation::new(request.value("tools"));
    for (at, message) in messages.iter().enumerate() {
        for call in message.list("tool_calls").unwrap_or_default() {
            if let Some(call) = Object::read(call.get()) {
                add_call(&mut conversation, &call);
            }
        }
        if message.is("role", "tool")
            && let (Some(call), Some(content)) = (message.text("tool_call_id"), message.value("content"))
        {
            let is_new = answered.is_none_or(|last| at > last);
            conversation.add_result(content, &AboutResult { call, failed: false, is_new });
        }
    }
    Some(conversation)
}

fn add_call<'a>(conversation: &mut Conversation<'a>, call: &Object<'a>) {
    // A tool that takes any text has `custom` in place of `function`, and `input` in place of `arguments`.
    let called = call.value("function").or_else(|| call.value("custom"));
    let called = called.and_then(|called| Object::read(called.get()));
    if let (Some(id), Some(called)) = (call.text("id"), called)
        && let Some(name) = called.text("name")
    {
        let input = called.value("arguments").or_else(|| called.value("input"));
        conversation.add_call(id, ModelCall { name, input });
    }
}
