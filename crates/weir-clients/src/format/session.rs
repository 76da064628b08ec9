//! Sessions read from a transcript, and the hooks that their steps stand for.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Value, json};
use weir_core::Timestamp;

use super::Format;
use crate::Client;

/// The most tokens that one figure of a request may have. A larger one is damage, and sums of such would overflow.
const MAX_REPORTED_TOKENS: u64 = 1 << 40;

/// The part of a session that was read from one stretch of a transcript.
pub struct Part {
    /// The session as far as it is known by now, without steps and requests.
    pub session: Session,
    pub steps: Vec<TimedStep>,
}

pub struct TimedStep {
    pub step: Step,
    /// Its time, if the client records it.
    pub at: Option<Timestamp>,
    /// The client's identifier of the message that contains it; empty if the message has none.
    pub message: String,
}

/// A session in a transcript.
pub struct Session {
    pub(crate) format: &'static Format,
    /// Its key, as the client spells it.
    pub key: String,
    /// The version of the client; empty if the transcript does not name it.
    pub version: String,
    /// The folder it started in; empty if the transcript does not name it.
    pub folder: String,
    /// The branch it started on; empty if the transcript does not name it.
    pub branch: String,
    /// The subagent whose conversation it is; empty for the user's own.
    pub subagent: String,
    /// The session it was forked from; empty if the transcript does not name it.
    pub origin: String,
    /// The model that answered most requests; empty if the transcript does not name it.
    pub model: String,
    pub steps: Vec<Step>,
    /// The usage of each request to the model, in order.
    pub requests: Vec<Usage>,
    /// When each request was answered, in the same order; empty for clients whose transcripts do not say enough.
    pub moments: Vec<RequestMoment>,
    /// The steps, as indices, before which the client or its API dropped earlier results from the conversation without
    /// compacting it.
    pub cleared: Vec<usize>,
    /// How much of it another session has too; see [`Session::find_copies`].
    pub copied: CopiedPart,
    pub(crate) step_messages: Vec<String>,
    /// The first message of each request, if requests have identifiers.
    pub(crate) request_messages: Vec<String>,
}

/// The beginning of a session that was copied from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CopiedPart {
    pub steps: usize,
    pub requests: usize,
}

/// The messages of sessions that can have copies.
#[derive(Debug, Default)]
pub struct SeenMessages(HashSet<String>);

#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A message of the user, or of the client in the user's place.
    Prompt {
        text: String,
    },
    /// A message of the model.
    Said {
        text: String,
        /// The request it belongs to, as an index into [`Session::requests`].
        request: usize,
    },
    /// A tool call by the model.
    Called {
        /// The tool's input, as JSON or as the client writes it.
        given: String,
        /// The request it belongs to, as an index into [`Session::requests`].
        request: usize,
    },
    Result(ToolResult),
    Compacted {
        /// The text that replaced it.
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The client's identifier of this call.
    pub key: String,
    /// The tool, as the client names it.
    pub name: String,
    pub input: Value,
    /// The text that the model was shown.
    pub text: String,
    /// The output, in the shape that the client's hook receives.
    pub response: Value,
    pub failed: bool,
}

/// Reads a number of tokens, at most [`MAX_REPORTED_TOKENS`].
pub(crate) fn tokens(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0).min(MAX_REPORTED_TOKENS)
}

/// The usage of one request, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Input that was neither written to nor read from a cache.
    pub input: u64,
    /// Input written to a cache.
    pub cache_write: u64,
    /// Input written to a cache that keeps it for an hour, if the client reports it separately.
    pub cache_write_hour: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// The model's output, including its thinking.
    pub output: u64,
}

impl Usage {
    /// Returns the length of the window that was sent.
    pub fn window(&self) -> u64 {
        self.input + self.cache_write + self.cache_write_hour + self.cache_read
    }
}

/// When a request was answered, and how much the model wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequestMoment {
    /// The time of the first and of the last part of the answer, if the client records it.
    pub began: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    /// The number of steps before the answer.
    pub steps: usize,
    /// The characters that the model wrote, its thinking included. The usage of a request may have been noted before
    /// the model had written everything.
    pub written: u64,
}

/// The fields that all hooks of a session have in common.
pub struct Place<'a> {
    /// The key of the session.
    pub session: &'a str,
    /// The folder it works in.
    pub folder: &'a Path,
    pub transcript: &'a Path,
    /// The subagent whose conversation it is; empty for the user's own.
    pub subagent: &'a str,
}

/// Adds the fields of an object to another.
pub(crate) fn extend(payload: &mut Value, more: Value) {
    if let (Value::Object(payload), Value::Object(more)) = (payload, more) {
        payload.extend(more);
    }
}

/// A hook call, in the client's own shape.
pub struct HookPayload {
    pub event: &'static str,
    pub payload: Value,
}

impl Session {
    pub fn client(&self) -> &'static Client {
        self.format.client
    }

    /// Returns whether its transcript may contain unrelated sessions.
    pub fn has_company(&self) -> bool {
        self.format.many
    }

    /// Returns whether the identifier of a message also identifies its copies in the transcripts of forks. The position
    /// of a row does not.
    pub fn has_copies(&self, message: &str) -> bool {
        self.format.forks_copy && !message.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Finds out how much of its beginning was seen in other sessions, as a fork repeats the session that it was forked
    /// from. Without identifiers of its requests, nothing counts as copied.
    pub fn find_copies(&mut self, seen: &mut SeenMessages) {
        let copied = |messages: &[String]| messages.iter().take_while(|message| seen.0.contains(*message)).count();
        let requests = copied(&self.request_messages);
        if requests > 0 {
            self.copied = CopiedPart { steps: copied(&self.step_messages), requests };
        }
        let messages = std::mem::take(&mut self.step_messages).into_iter();
        let messages = messages.chain(std::mem::take(&mut self.request_messages));
        seen.0.extend(messages.filter(|message| self.has_copies(message)));
    }

    pub fn own_requests(&self) -> usize {
        self.requests.len() - self.copied.requests
    }

    pub fn is_copy(&self) -> bool {
        self.copied.requests > 0 && self.own_requests() == 0
    }

    /// Returns the hooks that the client would have called at one of its steps.
    pub fn told(&self, step: Step, place: &Place<'_>) -> Vec<HookPayload> {
        (self.format.hooks_for)(step, place)
    }
}

impl Place<'_> {
    /// Builds a hook call, for clients that use Claude Code's field names.
    pub(crate) fn hook_payload(&self, event: &'static str, more: Value) -> HookPayload {
        let mut payload = json!({
            "session_id": self.session, "transcript_path": self.transcript.to_string_lossy(),
            "cwd": self.folder.to_string_lossy(), "hook_event_name": event, "permission_mode": "default",
        });
        if !self.subagent.is_empty() {
            payload["agent_id"] = json!(self.subagent);
        }
        extend(&mut payload, more);
        HookPayload { event, payload }
    }

    /// Builds the hook call after a tool, with its output at a key, for clients that use Claude Code's field names.
    pub(crate) fn after_tool_payload(
        &self,
        event: &'static str,
        result: ToolResult,
        key: &str,
        output: Value,
    ) -> HookPayload {
        let mut hook = self.hook_payload(event, Value::Null);
        hook.payload["tool_name"] = Value::String(result.name);
        hook.payload["tool_input"] = result.input;
        hook.payload["tool_use_id"] = Value::String(result.key);
        hook.payload[key] = output;
        hook
    }

    /// Builds the hook call after a tool, for clients that have a separate event for failures.
    pub(crate) fn tool_outcome_payload(&self, mut result: ToolResult) -> HookPayload {
        match result.failed {
            true => {
                let text = Value::String(std::mem::take(&mut result.text));
                self.after_tool_payload("PostToolUseFailure", result, "error", text)
            }
            false => {
                let response = result.response.take();
                self.after_tool_payload("PostToolUse", result, "tool_response", response)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_figures_do_not_overflow() {
        let most = tokens(&json!(u64::MAX));
        let used = Usage { input: most, cache_write: most, cache_write_hour: most, cache_read: most, output: most };
        assert_eq!(used.window(), 4 * MAX_REPORTED_TOKENS);
        assert_eq!((tokens(&json!(7)), tokens(&json!(-7)), tokens(&json!("7"))), (7, 0, 0));
    }
}
