//! A session as it is read back: what happened in it, and the hooks that tell of that.

use std::path::Path;

use serde_json::{Value, json};
use weir_core::Timestamp;

use super::Format;
use crate::Client;

/// What a part of a transcript says of a session.
pub struct Part {
    /// The session, as far as it is known by now, without steps and requests.
    pub session: Session,
    /// What happened, in order.
    pub steps: Vec<Dated>,
}

/// A step, and where it stands.
pub struct Dated {
    /// What happened.
    pub step: Step,
    /// When, where the client says it.
    pub at: Option<Timestamp>,
    /// What the client calls the message that it is a part of; empty where it has no name.
    pub message: String,
}

/// One session of a transcript.
pub struct Session {
    pub(super) format: &'static Format,
    /// Its key, as the client has it.
    pub key: String,
    /// The version of the client; empty where it does not say.
    pub version: String,
    /// The folder that it began in; empty where the client does not say.
    pub folder: String,
    /// The branch that it began on; empty where the client does not say.
    pub branch: String,
    /// The subagent whose conversation it is; empty for that of the user.
    pub subagent: String,
    /// The session that it was forked from, as the client has it; empty where the client does not say.
    pub origin: String,
    /// The model that answered most requests; empty where the client does not say.
    pub model: String,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// What each request to the model used, in order.
    pub requests: Vec<Usage>,
}

/// One step of a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The user, or the client in the user's place, said something.
    Prompt {
        /// The words.
        text: String,
    },
    /// The model said something.
    Said {
        /// The words.
        text: String,
        /// The request that it belongs to, by its position in [`Session::requests`].
        request: usize,
    },
    /// The model called a tool.
    Called {
        /// What it gave to the tool, as JSON or as the client has it.
        given: String,
        /// The request that it belongs to.
        request: usize,
    },
    /// A tool gave something back.
    Result(ToolResult),
    /// The conversation was compacted.
    Compacted {
        /// What the model has in its place.
        text: String,
    },
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// What the client calls this use of the tool.
    pub key: String,
    /// The tool, as the client calls it.
    pub name: String,
    /// What it was given.
    pub input: Value,
    /// What the model was shown.
    pub text: String,
    /// What it gave back, in the shape that the client's hook gets.
    pub response: Value,
    /// Whether it failed.
    pub failed: bool,
}

/// What one request used, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Input that no cache had part in.
    pub input: u64,
    /// Input written to a cache.
    pub cache_write: u64,
    /// Input written to a cache that keeps it for an hour, where the client tells it apart.
    pub cache_write_hour: u64,
    /// Input read from a cache.
    pub cache_read: u64,
    /// What the model wrote, its thinking included.
    pub output: u64,
}

impl Usage {
    /// The length of the window that was sent.
    pub fn window(&self) -> u64 {
        self.input + self.cache_write + self.cache_write_hour + self.cache_read
    }
}

/// Where the hooks of a session are told from.
pub struct Place<'a> {
    /// The key of the session.
    pub session: &'a str,
    /// The folder it works in.
    pub folder: &'a Path,
    /// Its transcript.
    pub transcript: &'a Path,
}

/// Adds the fields of an object to another.
pub(super) fn extend(payload: &mut Value, more: Value) {
    if let (Value::Object(payload), Value::Object(more)) = (payload, more) {
        payload.extend(more);
    }
}

/// A hook as the client calls it.
pub struct Told {
    /// The event.
    pub event: &'static str,
    /// What comes with it.
    pub payload: Value,
}

impl Session {
    /// The client that wrote it.
    pub fn client(&self) -> &'static Client {
        self.format.client
    }

    /// Whether its transcript may have sessions that have nothing to do with it.
    pub fn has_company(&self) -> bool {
        self.format.many
    }

    /// The hooks that the client would have called at one of its steps.
    pub fn told(&self, step: Step, place: &Place<'_>) -> Vec<Told> {
        (self.format.told)(step, place)
    }
}

impl Place<'_> {
    /// A hook of clients that name things as Claude Code does.
    pub(super) fn tell(&self, event: &'static str, more: Value) -> Told {
        let mut payload = json!({
            "session_id": self.session, "transcript_path": self.transcript.to_string_lossy(),
            "cwd": self.folder.to_string_lossy(), "hook_event_name": event, "permission_mode": "default",
        });
        extend(&mut payload, more);
        Told { event, payload }
    }

    /// The hook after a tool, of clients that name things as Claude Code does, with what it gave back at a key.
    pub(super) fn tell_used(&self, event: &'static str, result: ToolResult, (key, given): (&str, Value)) -> Told {
        let mut told = self.tell(event, Value::Null);
        told.payload["tool_name"] = Value::String(result.name);
        told.payload["tool_input"] = result.input;
        told.payload["tool_use_id"] = Value::String(result.key);
        told.payload[key] = given;
        told
    }

    /// The hook after a tool, of clients that have another for those that failed.
    pub(super) fn tell_done_or_failed(&self, mut result: ToolResult) -> Told {
        match result.failed {
            true => {
                let text = Value::String(std::mem::take(&mut result.text));
                self.tell_used("PostToolUseFailure", result, ("error", text))
            }
            false => {
                let response = result.response.take();
                self.tell_used("PostToolUse", result, ("tool_response", response))
            }
        }
    }
}
