//! What the operation answers, for programs.

use weir_core::Entry;
use weir_host::when;
use weir_session::sessions::SessionData;
use weir_store::RecentPrompt;

use super::gather::{Recent, RecentNote};

/// Recent sessions, prompts and notes, newest first.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ContextData {
    /// The name of the project.
    project: String,
    sessions: Vec<SessionData>,
    prompts: Vec<PromptData>,
    notes: Vec<NoteData>,
    /// Whether there are more notes than the limit.
    more_notes: bool,
    /// How much did not fit into the budget.
    left_out: LeftOutData,
    /// Which arguments were not understood, and which texts cannot be read.
    pub remarks: Vec<String>,
}

/// How many sessions, prompts and notes are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ShownCounts {
    pub(super) sessions: usize,
    pub(super) prompts: usize,
    pub(super) notes: usize,
}

impl ContextData {
    pub(super) fn of(project: &str, recent: &Recent, shown: ShownCounts) -> Self {
        Self {
            project: project.to_owned(),
            sessions: recent.sessions.iter().take(shown.sessions).map(SessionData::of).collect(),
            prompts: recent.prompts.iter().take(shown.prompts).map(PromptData::of).collect(),
            notes: recent.notes.iter().take(shown.notes).map(NoteData::of).collect(),
            more_notes: recent.more_notes,
            left_out: LeftOutData {
                sessions: recent.sessions.len() - shown.sessions,
                prompts: recent.prompts.len() - shown.prompts,
                notes: recent.notes.len() - shown.notes,
            },
            remarks: recent.remarks.clone(),
        }
    }
}

/// How many sessions, prompts and notes did not fit into the budget.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
struct LeftOutData {
    sessions: usize,
    prompts: usize,
    notes: usize,
}

/// A request of the user.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
struct PromptData {
    /// The position of the request in the log.
    number: i64,
    at: String,
    session: String,
    client: String,
    text: String,
}

impl PromptData {
    fn of(prompt: &RecentPrompt) -> Self {
        Self {
            number: prompt.number,
            at: when::show(prompt.at),
            session: prompt.session.key.clone(),
            client: prompt.session.client.clone(),
            text: prompt.text.clone(),
        }
    }
}

/// A note.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
struct NoteData {
    reference: String,
    kind: Option<&'static str>,
    title: String,
    /// The beginning of what the note says after its title. Absent if it says no more, or in the compact form.
    body: Option<String>,
    topic: Option<String>,
    origin: &'static str,
    /// Whether the user confirmed a note that a model wrote.
    confirmed: bool,
    scope: &'static str,
    at: String,
}

impl NoteData {
    fn of(note: &RecentNote) -> Self {
        let Entry { reference, origin, level, title, at, note: own, .. } = &note.entry;
        Self {
            reference: reference.to_string(),
            kind: own.as_ref().map(|own| own.kind.as_str()),
            title: title.clone(),
            body: note.body.clone(),
            topic: own.as_ref().and_then(|own| own.topic.clone()),
            origin: origin.as_str(),
            confirmed: own.as_ref().is_some_and(|own| own.confirmed_at.is_some()),
            scope: level.as_str(),
            at: when::show(*at),
        }
    }
}
