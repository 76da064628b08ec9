//! A text that is written to the store piece by piece, however large. Invariants: it is redacted before anything else
//! sees it; memory is bounded; what is not kept in the end leaves nothing behind.

use std::collections::VecDeque;
use std::path::Path;

use weir_core::redact::{Passed, Redactor};
use weir_core::{Pieces, Stream};

use super::stage::{Stage, Staged};
use crate::db::Durability;
use crate::error::{Result, StoreError};

/// A text on its way into the store. It needs no lock of the store, may go to another thread, and is kept with
/// [`crate::Store::keep_written`].
///
/// Up to 16 KiB as stored it stays in memory. Above, it lies in a file that goes when the writer does, and that the next
/// writer removes if this process is killed.
pub struct TextWriter {
    redactor: Redactor,
    sink: Sink,
    bytes: u64,
    failed: bool,
}

/// A text that is complete.
pub(crate) struct Written {
    pub(crate) staged: Staged,
    /// How often each rule has found a secret.
    pub(crate) redactions: Vec<(&'static str, u64)>,
    /// Which bytes of it, as stored, came from which stream.
    pub(crate) pieces: Pieces,
}

/// Takes what redaction leaves.
struct Sink {
    stage: Stage,
    mark: Vec<u8>,
    /// From which stream the bytes came that redaction still holds.
    arrived: VecDeque<(Stream, u64)>,
    pieces: Pieces,
}

impl TextWriter {
    pub(super) fn new(folder: &Path) -> Self {
        let sink =
            Sink { stage: Stage::new(folder), mark: Vec::new(), arrived: VecDeque::new(), pieces: Pieces::default() };
        Self { redactor: Redactor::new(), sink, bytes: 0, failed: false }
    }

    /// Writes more of the text.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        if self.failed {
            return Err(unfinished(self.sink.stage.folder()));
        }
        self.bytes += bytes.len() as u64;
        let (sink, mut outcome) = (&mut self.sink, Ok(()));
        self.redactor.push_to(bytes, &mut |passed| {
            if outcome.is_ok() {
                outcome = sink.take(passed);
            }
        });
        self.failed = outcome.is_err();
        outcome
    }

    /// Writes more of the text and notes from which stream it came. Where a secret goes, the mark in its place counts
    /// as that stream's.
    pub fn write_from(&mut self, stream: Stream, bytes: &[u8]) -> Result<()> {
        match self.sink.arrived.back_mut().filter(|(last, _)| *last == stream) {
            Some((_, length)) => *length += bytes.len() as u64,
            None => self.sink.arrived.push_back((stream, bytes.len() as u64)),
        }
        self.write(bytes)
    }

    /// How many bytes were written to it, as they came: before redaction.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Ends the text.
    pub(crate) fn finish(self, durability: Durability) -> Result<Written> {
        let Self { redactor, mut sink, failed, .. } = self;
        if failed {
            return Err(unfinished(sink.stage.folder()));
        }
        let mut outcome = Ok(());
        let redactions = redactor.finish_to(&mut |passed| {
            if outcome.is_ok() {
                outcome = sink.take(passed);
            }
        });
        outcome?;
        Ok(Written { staged: sink.stage.finish(durability)?, redactions, pieces: sink.pieces })
    }
}

impl Sink {
    fn take(&mut self, passed: Passed<'_>) -> Result<()> {
        match passed {
            Passed::Text(text) => {
                self.pass(text.len() as u64, Pieces::push);
                self.stage.write(text)
            }
            Passed::Mark(_) => {
                self.mark.clear();
                passed.write_to(&mut self.mark);
                if let Some((stream, _)) = self.arrived.front() {
                    self.pieces.push(*stream, self.mark.len() as u64);
                }
                self.stage.write(&self.mark)
            }
            Passed::Removed(length) => {
                self.pass(length as u64, |_, _, _| ());
                Ok(())
            }
        }
    }

    /// Follows so many of the bytes that arrived.
    fn pass(&mut self, length: u64, mut each: impl FnMut(&mut Pieces, Stream, u64)) {
        let mut rest = length;
        while let Some((stream, here)) = self.arrived.front_mut().filter(|_| rest > 0) {
            let now = rest.min(*here);
            each(&mut self.pieces, *stream, now);
            *here -= now;
            rest -= now;
            if *here == 0 {
                self.arrived.pop_front();
            }
        }
    }
}

fn unfinished(folder: &Path) -> StoreError {
    StoreError::Unusable { path: folder.to_owned(), detail: "a text could not be written to its end".to_owned() }
}
