//! Imports what `weir export` has written, also by a version whose stores this one cannot read.
//!
//! Invariants: an entry keeps its reference, its time and its author; what follows from events, from files or from
//! a team's server is left out, because it comes again from there; at most [`MAX_LINE_BYTES`] of a line and
//! [`MAX_WHOLE_TEXTS`] texts are held in memory.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;
use weir_core::event::WHOLE;
use weir_core::note::BoundFile;
use weir_core::{
    EntryKind, Event, EventKind, Level, NewEntry, Note, NoteKind, Origin, Priority, Reference, SessionKey, Timestamp,
};
use weir_host::error::CommandError;
use weir_store::{ForeignRow, SUMMARY};

use super::ImportJob;
use super::placing::ExportImport;
use crate::replay::places::TranscriptLocation;

const MAX_LINE_BYTES: u64 = 64 << 20;
const MAX_HEAD_BYTES: u64 = 64 << 10;
/// How many texts of events wait for their event, which is one of the next lines.
const MAX_WHOLE_TEXTS: usize = 16;

#[derive(Deserialize)]
struct Head {
    format: String,
    version: u64,
    project: String,
}

/// The fields that entries and events share.
#[derive(Deserialize)]
struct Line {
    number: i64,
    at: i64,
    kind: String,
    client: Option<String>,
    session: Option<String>,
    work: Option<String>,
}

#[derive(Deserialize)]
struct EventLine {
    priority: String,
    text: String,
    data: Option<Value>,
    /// Why an entry is gone, if the event is its removal.
    gone: Option<String>,
}

#[derive(Deserialize)]
struct EntryLine {
    reference: String,
    origin: String,
    level: String,
    title: String,
    source: Option<String>,
    note: Option<NoteLine>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct NoteLine {
    kind: String,
    topic: Option<String>,
    superseded_by: Option<String>,
    commit: Option<String>,
    branch: Option<String>,
    confirmed_at: Option<i64>,
    #[serde(default)]
    files: Vec<FileLine>,
}

#[derive(Deserialize)]
struct FileLine {
    path: String,
    hash: String,
}

/// What a line of the export becomes.
enum Converted {
    Row(Box<ForeignRow>),
    /// It comes again from elsewhere.
    Derived,
    /// A note that a newer one has superseded.
    Superseded,
    Unknown,
}

/// Whether a file begins with the first line of an export.
pub(super) fn is_export(input: impl BufRead) -> bool {
    head_of(input).is_some()
}

fn head_of(input: impl BufRead) -> Option<Head> {
    let mut line = String::new();
    input.take(MAX_HEAD_BYTES).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok().filter(|head: &Head| head.format == "weir-export")
}

pub(super) fn import(job: &mut ImportJob<'_>, found: &TranscriptLocation) -> Result<(), CommandError> {
    job.report.export.program = "Weir";
    let head = match found.open().map(head_of) {
        Ok(Some(head)) if head.version == 1 => head,
        Ok(_) => {
            return Err(CommandError::usage(format!("cannot import {}: a newer Weir wrote it", found.path.display())));
        }
        Err(error) => {
            job.report.unreadable.push(format!("{}: {error}", found.path.display()));
            return Ok(());
        }
    };
    let folder = PathBuf::from(&head.project);
    let project = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut import = ExportImport::new(job, found);
    let mut whole_texts = VecDeque::new();
    let read = found.open().and_then(|mut input| {
        let mut number = 0;
        while let Some(line) = next_line(&mut input)? {
            number += 1;
            // The first line is the head.
            if number == 1 {
                continue;
            }
            match convert(&line, &import, &mut whole_texts).unwrap_or(Converted::Unknown) {
                Converted::Row(row) => {
                    if let Err(error) = import.put(*row, project.clone(), Some(folder.clone())) {
                        return Ok(Err(error));
                    }
                }
                Converted::Derived => {}
                Converted::Superseded => import.job.report.export.superseded += 1,
                Converted::Unknown => import.job.report.skipped_row(found, &number.to_string()),
            }
        }
        Ok(Ok(()))
    });
    let unread = match read {
        Ok(done) => done.map(|()| None)?,
        Err(error) => Some(error),
    };
    import.write()?;
    if let Some(error) = unread {
        // Everything before the error is imported.
        import.job.report.unreadable.push(format!("{} to its end: {error}", found.path.display()));
    }
    Ok(())
}

/// Returns the next line, empty if it is too long. Returns `None` at the end.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    if line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
        line.clear();
    }
    Ok(Some(line))
}

/// Converts a line. Returns `None` if it is not understood.
fn convert(
    line: &[u8],
    import: &ExportImport<'_, '_>,
    whole_texts: &mut VecDeque<(String, String)>,
) -> Option<Converted> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let common = Line::deserialize(&value).ok()?;
    match value["type"].as_str()? {
        "event" => event(common, EventLine::deserialize(&value).ok()?, import, whole_texts),
        "entry" => entry(common, EntryLine::deserialize(&value).ok()?, import, whole_texts),
        _ => None,
    }
}

impl Line {
    fn into_row(self, list: &'static str, id: String, at: Timestamp) -> ForeignRow {
        let session = self.client.zip(self.session).map(|(client, key)| (SessionKey { client, key }, at));
        ForeignRow { list, id, changed_at: at, at, session, work: self.work, events: Vec::new(), entry: None }
    }
}

fn event(
    common: Line,
    line: EventLine,
    import: &ExportImport<'_, '_>,
    whole_texts: &VecDeque<(String, String)>,
) -> Option<Converted> {
    let (kind, priority) = (EventKind::parse(&common.kind)?, Priority::parse(&line.priority)?);
    if line.gone.is_some() || kind == EventKind::Gone {
        return Some(Converted::Derived);
    }
    let mut data = line.data;
    let reference = data.as_mut().and_then(Value::as_object_mut).and_then(|data| data.remove(WHOLE));
    let whole = reference
        .as_ref()
        .and_then(Value::as_str)
        .and_then(|reference| whole_texts.iter().find(|(of, _)| of == reference).map(|(_, text)| text.clone()));
    let data = data.filter(|data| data.as_object().is_none_or(|data| !data.is_empty()));
    let data = data.map(|data| data.as_str().map_or_else(|| data.to_string(), str::to_owned));
    let at = import.time(Some(Timestamp(common.at)));
    let id = format!("{} {}", common.number, common.at);
    let mut row = common.into_row("weir/event", id, at);
    row.events.push(Event { kind, priority, text: line.text, data, whole });
    Some(Converted::Row(Box::new(row)))
}

fn entry(
    common: Line,
    line: EntryLine,
    import: &ExportImport<'_, '_>,
    whole_texts: &mut VecDeque<(String, String)>,
) -> Option<Converted> {
    let kind = EntryKind::parse(&common.kind)?;
    let (origin, level) = (Origin::parse(&line.origin)?, Level::parse(&line.level)?);
    let text = line.text?;
    match kind {
        EntryKind::Said if line.source.as_deref() != Some(SUMMARY) => {
            whole_texts.push_back((line.reference, text));
            whole_texts.drain(..whole_texts.len().saturating_sub(MAX_WHOLE_TEXTS));
            return Some(Converted::Derived);
        }
        EntryKind::Document => return Some(Converted::Derived),
        _ if origin == Origin::Teammate => return Some(Converted::Derived),
        _ => {}
    }
    if line.note.as_ref().is_some_and(|note| note.superseded_by.is_some()) {
        return Some(Converted::Superseded);
    }
    let note = match line.note {
        Some(note) => Some(note.into_note()?),
        None => None,
    };
    let at = import.time(Some(Timestamp(common.at)));
    let mut row = common.into_row("weir/entry", line.reference.clone(), at);
    row.entry = Some(NewEntry {
        text: text.into_bytes(),
        source: line.source,
        note,
        reference: Some(Reference::parse(&line.reference).ok()?),
        ..NewEntry::new(kind, origin, level, line.title)
    });
    Some(Converted::Row(Box::new(row)))
}

impl NoteLine {
    fn into_note(self) -> Option<Note> {
        let files = self.files.into_iter().map(|FileLine { path, hash }| BoundFile { path, hash }).collect();
        let confirmed_at = self.confirmed_at.map(Timestamp);
        let Self { topic, commit, branch, .. } = self;
        Some(Note { topic, files, commit, branch, confirmed_at, ..Note::new(NoteKind::parse(&self.kind)?) })
    }
}
