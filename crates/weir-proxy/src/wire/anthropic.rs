//! Anthropic's Messages API: a result is a block in a message of the user, below the message of the model that called.

use std::time::Duration;

use super::json::Object;
use super::{AboutResult, Conversation, ModelCall, WireFormat};

/// Requests for an answer.
pub(super) const FORMAT: WireFormat = WireFormat { paths: &["/v1/messages"], read, reaches_model: true, lifetime };

/// Requests to count the tokens of one.
pub(super) const COUNT: WireFormat =
    WireFormat { paths: &["/v1/messages/count_tokens"], read, reaches_model: false, lifetime };

const MINUTES: Duration = Duration::from_secs(5 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// Returns how long the cache lives: 5 minutes, or an hour if any part of the request says so. What is quoted in a text
/// has its quotes escaped. Anything else that is "1h" only makes Weir wait longer.
fn lifetime(body: &str) -> Option<Duration> {
    match body.contains("\"1h\"") {
        true => Some(HOUR),
        false => body.contains("\"cache_control\"").then_some(MINUTES),
    }
}

fn read(body: &str) -> Option<Conversation<'_>> {
    let request = Object::read(body)?;
    let messages = Object::read_all(&request.list("messages")?)?;
    let answered = messages.iter().rposition(|message| message.is("role", "assistant"));
    let mut conversation = Conversation::new(request.value("tools"));
    for (at, message) in messages.iter().enumerate() {
        let is_new = answered.is_none_or(|last| at > last);
        for block in message.list("content").unwrap_or_default() {
            if let Some(block) = Object::read(block.get()) {
                add_block(&mut conversation, &block, is_new);
            }
        }
    }
    Some(conversation)
}

fn add_block<'a>(conversation: &mut Conversation<'a>, block: &Object<'a>, is_new: bool) {
    if block.is("type", "tool_use")
        && let (Some(id), Some(name)) = (block.text("id"), block.text("name"))
    {
        conversation.add_call(id, ModelCall { name, input: block.value("input") });
    }
    if block.is("type", "tool_result")
        && let (Some(call), Some(content)) = (block.text("tool_use_id"), block.value("content"))
    {
        let failed = block.value("is_error").is_some_and(|value| value.get() == "true");
        conversation.add_result(content, &AboutResult { call, failed, is_new });
    }
}
