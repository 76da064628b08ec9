//! Reads transcripts, the clients' own logs of their sessions, step by step.
//!
//! A format is constant data and plain functions, in the folder of its client. Its reader turns rows of JSON into
//! [`Session`]s, and [`Session::told`] turns a step back into the hooks that the client would have called, in the
//! client's own shape. [`read`] reads a whole transcript; [`stream`] passes on its parts while it is being read.
//!
//! Invariants: a transcript is untrusted text. A row that is too long, that is not JSON or that does not fit the
//! client's format is counted and skipped; the text held in memory never exceeds [`MAX_BUFFERED_BYTES`]; nothing here
//! opens a file.

mod plain;
mod rows;

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use serde_json::Value;

use crate::Client;
use crate::clients::RECIPES;
pub use crate::format::session::{
    CopiedPart, HookPayload, Part, Place, RequestMoment, SeenMessages, Session, Step, TimedStep, ToolResult, Usage,
};
use crate::format::{Draft, Format, RowReader};

/// The maximum text of a transcript that is held in memory, in bytes.
pub const MAX_BUFFERED_BYTES: usize = 256 << 20;
/// The number of bytes of text that are read before they are passed on.
const PART_BYTES: usize = 1 << 20;
/// The maximum number of rows at the beginning that are kept until a format recognises one.
const MAX_FIRST_ROWS: usize = 64;
const MAX_NAMED_LINES: usize = 10;

pub struct Transcript {
    /// Its sessions, the one with the most rows first.
    pub sessions: Vec<Session>,
    pub skipped: Skipped,
}

/// The rows of a transcript that were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
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
            self.reader = formats().find(|format| (format.knows)(&row)).map(|format| (format, (format.reader)()));
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

/// Returns every known format. The first one that recognises a row is used.
fn formats() -> impl Iterator<Item = &'static Format> {
    let of_clients = || RECIPES.iter().filter_map(|recipe| recipe.transcript);
    let first = of_clients().filter(|format| format.extends_another);
    first.chain(of_clients().filter(|format| !format.extends_another)).chain([&plain::FORMAT])
}

/// Returns every client with transcripts and the folders below the home folder in which it writes them.
pub fn folders() -> impl Iterator<Item = (&'static Client, &'static str)> {
    formats().flat_map(|format| format.folders.iter().map(|folder| (format.client, *folder)))
}

/// Returns the databases below the home folder in which clients keep sessions.
pub fn databases() -> impl Iterator<Item = &'static str> {
    formats().filter_map(|format| format.database)
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

#[cfg(test)]
mod tests;
