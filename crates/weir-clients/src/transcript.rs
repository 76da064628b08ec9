//! Reads transcripts, the clients' own logs of their sessions, step by step.
//!
//! A format is constant data and plain functions, one file per client. Its reader turns rows of JSON into [`Session`]s,
//! and [`Session::told`] turns a step back into the hooks that the client would have called, in the client's own shape.
//! [`read`] reads a whole transcript; [`stream`] passes on its parts while it is being read.
//!
//! Invariants: a transcript is untrusted text. A row that is too long, that is not JSON or that does not fit the
//! client's format is counted and skipped; the text held in memory never exceeds [`MAX_BUFFERED_BYTES`]; nothing here
//! opens a file.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod plain;
mod qwen;
mod rows;
mod session;

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use serde_json::Value;
use weir_core::Timestamp;

use self::session::tokens;
use crate::Client;
pub use session::{CopiedPart, HookPayload, Part, Place, SeenMessages, Session, Step, TimedStep, ToolResult, Usage};

/// The maximum text of a transcript that is held in memory, in bytes.
pub const MAX_BUFFERED_BYTES: usize = 256 << 20;
/// The number of bytes of text that are read before they are passed on.
const PART_BYTES: usize = 1 << 20;
/// The maximum number of rows at the beginning that are kept until a format recognises one.
const MAX_FIRST_ROWS: usize = 64;
/// The maximum number of skipped lines that are named.
const MAX_NAMED_LINES: usize = 10;

/// Every known format. The first one that recognises a row is used: Qwen Code's rows have every field of Claude Code's.
const FORMATS: &[&Format] = &[
    &qwen::FORMAT,
    &claude::FORMAT,
    &codex::FORMAT,
    &opencode::FORMAT,
    &gemini::FORMAT,
    &copilot::FORMAT,
    &plain::FORMAT,
];

/// The format of one client's transcripts.
struct Format {
    client: &'static Client,
    /// The folders below the home folder in which the client writes them.
    folders: &'static [&'static str],
    /// The database below the home folder in which the client keeps them.
    database: Option<&'static str>,
    /// Whether a transcript may contain unrelated sessions.
    many: bool,
    /// Whether the transcript of a fork repeats the messages of the session that it was forked from, with their
    /// identifiers.
    forks_copy: bool,
    /// Returns whether a row is of this format.
    knows: fn(&Value) -> bool,
    /// Returns a reader for the beginning of a transcript.
    reader: fn() -> Box<dyn RowReader>,
    /// Returns the hooks that the client would have called at a step.
    hooks_for: fn(Step, &Place<'_>) -> Vec<HookPayload>,
}

/// Turns the rows of one transcript into sessions.
trait RowReader {
    /// Reads the next row. Returns whether it fits the client's format.
    fn row(&mut self, row: Value) -> bool;

    /// Returns the sessions that rows add steps to. Empty for a format in which a row can change an earlier one.
    fn drafts(&mut self) -> Vec<&mut Draft> {
        Vec::new()
    }

    /// Returns the sessions of the rows so far, without the steps that were already passed on.
    fn finish(&mut self) -> Vec<Draft> {
        self.drafts().into_iter().map(std::mem::take).collect()
    }
}

/// A session while it is being read.
#[derive(Default)]
struct Draft {
    key: String,
    version: String,
    folder: String,
    branch: String,
    subagent: String,
    origin: String,
    models: Models,
    steps: Vec<TimedStep>,
    requests: Vec<Usage>,
    /// The first message of each request, for a format with identifiers that forks copy.
    request_messages: Vec<String>,
    /// The steps before which earlier results were dropped.
    cleared: Vec<usize>,
    /// The number of its rows.
    rows: usize,
    /// The time of the current row and the client's name for its message.
    row: (Option<Timestamp>, String),
}

impl Draft {
    /// Fills in the fields of the session that no earlier row has set. The keys are those of the session key, the
    /// version, the folder and the branch.
    fn fill_missing(&mut self, row: &Value, keys: [&str; 4]) {
        let fields = [&mut self.key, &mut self.version, &mut self.folder, &mut self.branch];
        for (key, field) in keys.into_iter().zip(fields) {
            if let Some(value) = row[key].as_str().filter(|_| field.is_empty()) {
                value.clone_into(field);
            }
        }
    }

    /// Starts reading a row.
    fn begin(&mut self, at: Option<Timestamp>, message: &str) {
        self.row.0 = at.or(self.row.0);
        message.clone_into(&mut self.row.1);
    }

    /// Adds a step of the current row.
    fn push(&mut self, step: Step) {
        let (at, message) = self.row.clone();
        self.steps.push(TimedStep { step, at, message });
    }

    /// Moves the steps so far into a new draft of the same session.
    fn drain(&mut self) -> Self {
        Self {
            key: self.key.clone(),
            version: self.version.clone(),
            folder: self.folder.clone(),
            branch: self.branch.clone(),
            subagent: self.subagent.clone(),
            origin: self.origin.clone(),
            steps: std::mem::take(&mut self.steps),
            ..Self::default()
        }
    }

    fn finish(self, format: &'static Format) -> (Session, Vec<TimedStep>) {
        let session = Session {
            format,
            key: self.key,
            version: self.version,
            folder: self.folder,
            branch: self.branch,
            subagent: self.subagent,
            origin: self.origin,
            model: self.models.most(),
            steps: Vec::new(),
            requests: self.requests,
            cleared: self.cleared,
            copied: CopiedPart::default(),
            step_messages: Vec::new(),
            request_messages: self.request_messages,
        };
        (session, self.steps)
    }
}

/// A transcript that has been read.
pub struct Transcript {
    /// Its sessions, the one with the most rows first.
    pub sessions: Vec<Session>,
    /// The rows that were skipped.
    pub skipped: Skipped,
}

/// The rows of a transcript that were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The number of skipped rows.
    pub count: u64,
    /// The lines of the first ones.
    pub lines: Vec<u64>,
}

/// A transcript that is being read row by row.
#[derive(Default)]
pub struct Reading {
    reader: Option<(&'static Format, Box<dyn RowReader>)>,
    /// The first rows, with their lines, as long as no format has recognised one. Clients begin some transcripts with
    /// rows that do not tell whose they are.
    first: Vec<(Value, u64)>,
    /// The bytes of the rows since parts were last passed on.
    bytes: usize,
    skipped: Skipped,
}

impl Reading {
    /// Reads a row of `bytes` bytes at `line`.
    pub fn row(&mut self, row: Value, bytes: usize, line: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.reader.is_none() {
            self.reader = FORMATS.iter().find(|format| (format.knows)(&row)).map(|format| (*format, (format.reader)()));
            if self.reader.is_none() && self.first.len() < MAX_FIRST_ROWS && self.bytes < PART_BYTES {
                return self.first.push((row, line));
            }
            for (first, line) in std::mem::take(&mut self.first) {
                self.take(first, line);
            }
        }
        self.take(row, line);
    }

    fn take(&mut self, row: Value, line: u64) {
        let taken = match &mut self.reader {
            Some((_, reader)) if self.bytes <= MAX_BUFFERED_BYTES => reader.row(row),
            _ => false,
        };
        if !taken {
            self.skip(line);
        }
    }

    /// Counts a row that could not be read.
    pub fn skip(&mut self, line: u64) {
        self.skipped.count += 1;
        if self.skipped.lines.len() < MAX_NAMED_LINES {
            self.skipped.lines.push(line);
        }
    }

    /// Returns the parts that were read since the last call and cannot change any more.
    fn drain(&mut self) -> Vec<Part> {
        let Some((format, reader)) = &mut self.reader else { return Vec::new() };
        let drafts = reader.drafts();
        if drafts.is_empty() {
            return Vec::new();
        }
        self.bytes = 0;
        parts(format, drafts.into_iter().filter(|draft| !draft.steps.is_empty()).map(Draft::drain).collect())
    }

    /// Returns the transcript, or `None` if no row belonged to a known client.
    pub fn finish(self) -> Option<Transcript> {
        let (format, mut reader) = self.reader?;
        let mut drafts = reader.finish();
        drafts.sort_by_key(|draft| std::cmp::Reverse(draft.rows));
        let session = |draft: Draft| {
            let (session, steps) = draft.finish(format);
            let (steps, step_messages) = steps.into_iter().map(|dated| (dated.step, dated.message)).unzip();
            Session { steps, step_messages, ..session }
        };
        Some(Transcript { sessions: drafts.into_iter().map(session).collect(), skipped: self.skipped })
    }

    /// Returns the remaining parts and the skipped rows, or `None` if no row belonged to a known client.
    pub fn finish_parts(self) -> Option<(Vec<Part>, Skipped)> {
        let (format, mut reader) = self.reader?;
        Some((parts(format, reader.finish()), self.skipped))
    }
}

fn parts(format: &'static Format, drafts: Vec<Draft>) -> Vec<Part> {
    let part = |draft: Draft| {
        let (session, steps) = draft.finish(format);
        Part { session, steps }
    };
    drafts.into_iter().map(part).collect()
}

/// Returns every client with transcripts and the folders below the home folder in which it writes them.
pub fn folders() -> impl Iterator<Item = (&'static Client, &'static str)> {
    FORMATS.iter().flat_map(|format| format.folders.iter().map(|folder| (format.client, *folder)))
}

/// Returns the databases below the home folder in which clients keep sessions.
pub fn databases() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().filter_map(|format| format.database)
}

/// Reads a whole transcript of any known client. Returns `None` if the input is not a transcript.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Transcript>> {
    let mut reading = Reading::default();
    let _ = rows::read(input, &mut reading, &mut |_| ControlFlow::Continue(()))?;
    Ok(reading.finish())
}

/// Reads a transcript of any known client and passes on its parts until `take` breaks. Returns the skipped rows, or
/// `None` if the input is not a transcript.
pub fn stream(input: &mut dyn BufRead, take: &mut dyn FnMut(Part) -> ControlFlow<()>) -> io::Result<Option<Skipped>> {
    let mut reading = Reading::default();
    let read = rows::read(input, &mut reading, &mut |reading| match reading.bytes {
        0..PART_BYTES => ControlFlow::Continue(()),
        _ => reading.drain().into_iter().try_for_each(&mut *take),
    })?;
    let Some((parts, skipped)) = reading.finish_parts() else { return Ok(None) };
    if read.is_continue() {
        let _ = parts.into_iter().try_for_each(take);
    }
    Ok(Some(skipped))
}

/// Returns a time as clients write it: as text or in milliseconds.
fn time(value: &Value) -> Option<Timestamp> {
    let written = || value.as_str()?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    value.as_i64().or_else(written).map(Timestamp)
}

/// The number of answers by each model.
#[derive(Default)]
struct Models(Vec<(String, usize)>);

impl Models {
    fn count(&mut self, name: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => *times += 1,
            None if !name.is_empty() => self.0.push((name.to_owned(), 1)),
            None => {}
        }
    }

    fn most(self) -> String {
        self.0.into_iter().max_by_key(|(_, times)| *times).map(|(name, _)| name).unwrap_or_default()
    }
}

/// Takes the value at a key, or null.
fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Returns the text of a message: a string, or its parts joined.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
