//! The names that the model was shown and said, from the client's transcript. Events have only those that it gave to
//! tools.
//!
//! Invariant: nothing of this is recorded, and secrets are removed from a text before it is searched.

use weir_clients::transcript::{Step, Usage};
use weir_clients::{Compaction, capture};
use weir_core::guide::SEEN;
use weir_core::redact::redact;
use weir_core::{Event, EventKind, Priority};

use super::{Call, compaction};

/// How much of the end of a transcript is read, in bytes.
const TRANSCRIPT_END: u64 = 8 << 20;
/// How many of the last texts are searched.
const MAX_TEXTS: usize = 400;
/// How much of each text is searched, in bytes.
const MAX_TEXT_BYTES: usize = 16 << 10;

/// What the transcript says about a conversation.
#[derive(Default)]
pub(super) struct Shown {
    /// The names, one event for each text, oldest first.
    pub(super) names: Vec<Event>,
    /// The length of the last request, in tokens; 0 if it is not known.
    pub(super) window: u64,
}

impl Shown {
    /// Reads the end of the call's transcript. A client that calls before every request must not have it read every
    /// time.
    pub(super) fn read(call: &Call<'_>) -> Self {
        let is_rare = !matches!(call.client.compaction, Compaction::WaitsUntil(_));
        let transcript = call.hook.transcript.as_deref().filter(|_| is_rare);
        let session = transcript.and_then(|path| compaction::session_at_end(path, TRANSCRIPT_END));
        let Some(session) = session else { return Self::default() };
        let texts = session.steps.iter().rev().filter_map(|step| match step {
            Step::Result(result) => Some(result.text.as_str()),
            Step::Said { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let mut names: Vec<Event> = texts.take(MAX_TEXTS).filter_map(|text| event(call, text)).collect();
        names.reverse();
        Self { names, window: session.requests.last().map_or(0, Usage::window) }
    }
}

fn event(call: &Call<'_>, text: &str) -> Option<Event> {
    let text = redact(&text.as_bytes()[..text.floor_char_boundary(MAX_TEXT_BYTES)]).text;
    let names = capture::names_in(call.hook, &String::from_utf8_lossy(&text));
    let data = serde_json::json!({ SEEN: names }).to_string();
    let event =
        Event { kind: EventKind::Tool, priority: Priority::P4, text: String::new(), data: Some(data), whole: None };
    (!names.is_empty()).then_some(event)
}
