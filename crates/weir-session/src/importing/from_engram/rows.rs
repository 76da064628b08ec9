//! Converts rows of an export of engram to notes, events and summaries. Invariant: nothing private is converted.

use weir_clients::{AcceptedReplies, Hook, Point, capture};
use weir_core::{EntryKind, Event, Level, NewEntry, Note, Origin, SessionKey, Timestamp};
use weir_host::answer::one_line;
use weir_store::{ForeignRow, SUMMARY};

use super::name;
use crate::engram::export::{ExportRow, ObservationRow, PromptRow, Section, SessionRow};
use crate::engram::{self, CLIENT};
use crate::importing::placing::ExportImport;

/// What a row of an export is here.
pub(super) enum ConvertedRow {
    /// Something to import, which belongs to a project of that name unless it is empty.
    Row {
        row: Box<ForeignRow>,
        project: String,
    },
    Nothing,
    /// A row that engram has deleted.
    Deleted,
    /// A row that is not understood.
    Unknown,
}

pub(super) fn convert(row: ExportRow, import: &ExportImport<'_, '_>) -> ConvertedRow {
    let converted = match row.section {
        Section::Sessions => row.parse::<SessionRow>().map(|row| summary(row, import)),
        Section::Observations => row.parse::<ObservationRow>().and_then(|row| observation(&row, import)),
        Section::Prompts => row.parse::<PromptRow>().and_then(|row| prompt(&row, import)),
    };
    converted.unwrap_or(ConvertedRow::Unknown)
}

fn summary(row: SessionRow, import: &ExportImport<'_, '_>) -> ConvertedRow {
    let ended = row.ended().or_else(|| row.began());
    let Some(text) = row.summary.filter(|text| !text.trim().is_empty()) else { return ConvertedRow::Nothing };
    let entry = NewEntry {
        text: engram::without_private(&text).into_bytes(),
        source: Some(SUMMARY.to_owned()),
        ..NewEntry::new(EntryKind::Said, Origin::Model, Level::Project, "Summary of the session (engram)")
    };
    let converted = ForeignRow {
        list: "engram/session",
        changed_at: ended.unwrap_or(Timestamp(0)),
        at: import.time(ended),
        id: name(&row.id),
        session: session(Some(&row.id)),
        work: None,
        events: Vec::new(),
        entry: Some(entry),
    };
    ConvertedRow::Row { row: Box::new(converted), project: row.project.unwrap_or_default() }
}

fn observation(row: &ObservationRow, import: &ExportImport<'_, '_>) -> Option<ConvertedRow> {
    if row.is_deleted() {
        return Some(ConvertedRow::Deleted);
    }
    let text = engram::note_text(&row.title, &row.content);
    let id = row.key().filter(|_| !text.trim().is_empty())?;
    let topic = row.topic_key.as_deref().map(name).filter(|topic| !topic.is_empty());
    let note = Note { topic, ..Note::new(engram::kind(&row.kind)) };
    let is_personal = row.scope.as_deref().is_some_and(|scope| scope.trim().eq_ignore_ascii_case("personal"));
    let level = if is_personal { Level::User } else { Level::Project };
    let title = one_line(text.trim_start().lines().next().unwrap_or_default(), 100);
    let entry = NewEntry {
        source: Some(CLIENT.to_owned()),
        text: text.into_bytes(),
        note: Some(note),
        ..NewEntry::new(EntryKind::Note, Origin::Model, level, title)
    };
    let converted = ForeignRow {
        list: "engram/observation",
        id,
        changed_at: row.changed().unwrap_or(Timestamp(0)),
        at: import.time(row.written()),
        session: session(row.session_id.as_deref()),
        work: None,
        events: Vec::new(),
        entry: Some(entry),
    };
    Some(ConvertedRow::Row { row: Box::new(converted), project: row.project.clone().unwrap_or_default() })
}

fn prompt(row: &PromptRow, import: &ExportImport<'_, '_>) -> Option<ConvertedRow> {
    if row.is_deleted() {
        return Some(ConvertedRow::Deleted);
    }
    let converted = ForeignRow {
        list: "engram/prompt",
        id: row.key()?,
        changed_at: row.written().unwrap_or(Timestamp(0)),
        at: import.time(row.written()),
        session: session(row.session_id.as_deref()),
        work: None,
        events: events(&row.content),
        entry: None,
    };
    Some(ConvertedRow::Row { row: Box::new(converted), project: row.project.clone().unwrap_or_default() })
}

/// Returns the events of a prompt, as a hook captures them.
fn events(text: &str) -> Vec<Event> {
    let hook = Hook {
        session: String::new(),
        folder: "/".into(),
        shell: None,
        transcript: None,
        subagent: None,
        point: Point::Prompt { text: engram::without_private(text) },
        takes: AcceptedReplies::default(),
    };
    capture::events(&hook)
}

/// Returns the session that a row belongs to. When it began is filled in with its project.
fn session(key: Option<&str>) -> Option<(SessionKey, Timestamp)> {
    let key = key.map(name).filter(|key| !key.is_empty())?;
    Some((SessionKey { client: CLIENT.to_owned(), key }, Timestamp(0)))
}
