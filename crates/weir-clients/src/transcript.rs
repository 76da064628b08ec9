//! Transcripts: what clients themselves write down of their sessions, read back step by step.
//!
//! A format is constant data and plain functions, one file per client. Its reader turns rows of JSON into [`Session`]s, and
//! [`Session::told`] turns a step back into the hooks that the client would have called, in the client's own shape.
//!
//! Invariants: a transcript is foreign text. A row that is too long, that is not JSON or that is not what its client writes
//! is counted and skipped; no session grows past [`LARGEST`]; nothing here opens a file.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod rows;

use std::io::{self, BufRead};
use std::path::Path;

use serde_json::{Value, json};

use crate::Client;

/// The largest session that is read, in bytes of text.
pub const LARGEST: usize = 256 << 20;

/// Every format there is.
const FORMATS: &[&Format] = &[&claude::FORMAT, &codex::FORMAT, &opencode::FORMAT, &gemini::FORMAT];

/// How one client writes its transcripts.
struct Format {
    client: &'static Client,
    /// Where it writes them, below the home folder.
    folders: &'static [&'static str],
    /// Where it writes them in a form that is not read, and what makes a file of one that is.
    unread: Option<Unread>,
    /// Whether a row is one of this format.
    knows: fn(&Value) -> bool,
    /// A reader at the beginning of a transcript.
    reader: fn() -> Box<dyn Reader>,
    /// The hooks that the client would have called at a step.
    told: fn(&Step, &Place<'_>) -> Vec<Told>,
}

/// Transcripts in a form that is not read.
#[derive(Debug, Clone, Copy)]
pub struct Unread {
    /// Where they are, below the home folder.
    pub path: &'static str,
    /// The command that makes a file of a session that is read.
    pub command: &'static str,
}

/// What turns the rows of one transcript into sessions.
trait Reader {
    /// Takes the next row. Says whether it is what the client writes.
    fn row(&mut self, row: Value) -> bool;

    /// The sessions of the rows so far.
    fn finish(self: Box<Self>) -> Vec<Draft>;
}

/// A session as a format has read it.
#[derive(Default)]
struct Draft {
    key: String,
    version: String,
    folder: String,
    models: Models,
    steps: Vec<Step>,
    requests: Vec<Usage>,
    /// How many rows it has.
    rows: usize,
}

/// A transcript as it was read.
pub struct Transcript {
    /// Its sessions. The one with the most rows is the first.
    pub sessions: Vec<Session>,
    /// How many rows were skipped.
    pub skipped: u64,
}

/// One session of a transcript.
pub struct Session {
    format: &'static Format,
    /// Its key, as the client has it.
    pub key: String,
    /// The version of the client; empty where it does not say.
    pub version: String,
    /// The folder that it began in; empty where the client does not say.
    pub folder: String,
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

    /// The hooks that the client would have called at one of its steps.
    pub fn told(&self, step: &Step, place: &Place<'_>) -> Vec<Told> {
        (self.format.told)(step, place)
    }
}

impl Place<'_> {
    /// A hook of clients that name things as Claude Code does.
    fn tell(&self, event: &'static str, more: Value) -> Told {
        let mut payload = json!({
            "session_id": self.session, "transcript_path": self.transcript.to_string_lossy(),
            "cwd": self.folder.to_string_lossy(), "hook_event_name": event, "permission_mode": "default",
        });
        if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
            payload.extend(more);
        }
        Told { event, payload }
    }
}

/// A transcript that is being read, row by row.
#[derive(Default)]
pub struct Reading {
    reader: Option<(&'static Format, Box<dyn Reader>)>,
    bytes: usize,
    skipped: u64,
}

impl Reading {
    /// Takes a row of `bytes` bytes.
    pub fn row(&mut self, row: Value, bytes: usize) {
        if self.reader.is_none() {
            self.reader = FORMATS.iter().find(|format| (format.knows)(&row)).map(|format| (*format, (format.reader)()));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        let taken = match &mut self.reader {
            Some((_, reader)) if self.bytes <= LARGEST => reader.row(row),
            _ => false,
        };
        self.skipped += u64::from(!taken);
    }

    /// Counts a row that could not be read.
    pub fn skip(&mut self) {
        self.skipped += 1;
    }

    /// What was read; none when no row was one of a client that is known.
    pub fn finish(self) -> Option<Transcript> {
        let (format, reader) = self.reader?;
        let session = |draft: Draft| Session {
            format,
            key: draft.key,
            version: draft.version,
            folder: draft.folder,
            model: draft.models.most(),
            steps: draft.steps,
            requests: draft.requests,
        };
        let mut drafts = reader.finish();
        drafts.sort_by_key(|draft| std::cmp::Reverse(draft.rows));
        Some(Transcript { sessions: drafts.into_iter().map(session).collect(), skipped: self.skipped })
    }
}

/// Every client with transcripts, and the folders below the home folder in which it writes them.
pub fn folders() -> impl Iterator<Item = (&'static Client, &'static str)> {
    FORMATS.iter().flat_map(|format| format.folders.iter().map(|folder| (format.client, *folder)))
}

/// Every client that writes transcripts in a form that is not read.
pub fn unread() -> impl Iterator<Item = (&'static Client, Unread)> {
    FORMATS.iter().filter_map(|format| Some((format.client, format.unread?)))
}

/// Reads a transcript of any client that is known; none when it is not one.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Transcript>> {
    let mut reading = Reading::default();
    rows::read(input, &mut reading)?;
    Ok(reading.finish())
}

/// How often each model answered.
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

/// Takes what is at a key, if it is there.
fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// The text of a message: as it is, or its parts together.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests;
