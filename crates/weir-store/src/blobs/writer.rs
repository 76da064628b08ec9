//! A text that is written to the store piece by piece, however large. Invariants: it is redacted before anything else
//! sees it; memory is bounded; what is not kept in the end leaves nothing behind.

use std::collections::VecDeque;
use std::path::Path;

use weir_core::redact::{Passed, Redactor};
use weir_core::{Pieces, Stream};

use super::reader::BlobReader;
use super::stage::{Stage, Staged};
use crate::error::{Result, StoreError};
use crate::store::NotKept;

/// A text on its way into the store. It needs no lock of the store, may go to another thread, and is kept with
/// [`crate::Store::keep_written`].
///
/// Up to 16 KiB as stored it stays in memory. Above, it lies in a file that goes when the writer does, and that the next
/// writer removes if this process is killed.
pub struct TextWriter {
    redactor: Redactor,
    sink: Sink,
    bytes: u64,
    failed: Option<StoreError>,
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
    ends: Ends,
}

impl TextWriter {
    pub(super) fn new(folder: &Path) -> Self {
        let sink = Sink {
            stage: Stage::new(folder),
            mark: Vec::new(),
            arrived: VecDeque::new(),
            pieces: Pieces::default(),
            ends: Ends::default(),
        };
        Self { redactor: Redactor::new(), sink, bytes: 0, failed: None }
    }

    /// Writes more of the text. Once that has failed it fails again, but the two ends of the text are still remembered,
    /// and [`crate::Store::keep_and_open`] gives them back with the reason.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        let (sink, failed) = (&mut self.sink, &mut self.failed);
        self.redactor.push_to(bytes, &mut |passed| sink.take_unless(failed, passed));
        self.failed.as_ref().map_or(Ok(()), |error| Err(again(error, self.sink.stage.folder())))
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
    pub(crate) fn finish(self) -> Result<Written, NotKept> {
        let Self { redactor, mut sink, mut failed, .. } = self;
        let redactions = redactor.finish_to(&mut |passed| sink.take_unless(&mut failed, passed));
        let staged = match failed {
            Some(error) => Err(error),
            None => sink.stage.finish(),
        };
        match staged {
            Ok(staged) => Ok(Written { staged, redactions, pieces: sink.pieces }),
            Err(error) => Err(NotKept { error, text: Some(Box::new(BlobReader::of(sink.ends.joined()))) }),
        }
    }
}

impl Sink {
    /// Takes what redaction leaves, and only remembers the ends of it once something has failed.
    fn take_unless(&mut self, failed: &mut Option<StoreError>, passed: Passed<'_>) {
        match passed {
            Passed::Text(text) => self.ends.push(text),
            Passed::Mark(_) => {
                let mut mark = Vec::new();
                passed.write_to(&mut mark);
                self.ends.push(&mark);
            }
            Passed::Removed(_) => {}
        }
        if failed.is_none() {
            *failed = self.take(passed).err();
        }
    }

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

/// The two ends of a text, to be shown when the text could not be stored.
#[derive(Default)]
struct Ends {
    first: Vec<u8>,
    last: Vec<u8>,
    /// How many bytes are between the two.
    between: u64,
}

impl Ends {
    /// How long each may be.
    const LENGTH: usize = 64 << 10;

    fn push(&mut self, text: &[u8]) {
        let (first, rest) = text.split_at(text.len().min(Self::LENGTH - self.first.len()));
        self.first.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(Self::LENGTH);
        if skipped > 0 {
            self.between += (self.last.len() + skipped) as u64;
            self.last.clear();
        }
        self.last.extend_from_slice(&rest[skipped..]);
        // Only now and then, so that each byte is moved about once.
        if self.last.len() > 2 * Self::LENGTH {
            self.drop_until(Self::LENGTH);
        }
    }

    fn drop_until(&mut self, length: usize) {
        let dropped = self.last.len().saturating_sub(length);
        self.last.drain(..dropped);
        self.between += dropped as u64;
    }

    fn joined(mut self) -> Vec<u8> {
        self.drop_until(Self::LENGTH);
        if self.between > 0 {
            self.first.extend_from_slice(format!("\n… {} bytes left out …\n", self.between).as_bytes());
        }
        self.first.extend(self.last);
        self.first
    }
}

/// The same error once more, for each write after the first that failed.
fn again(error: &StoreError, folder: &Path) -> StoreError {
    match error {
        StoreError::Full { path } => StoreError::Full { path: path.clone() },
        StoreError::ReadOnly { path } => StoreError::ReadOnly { path: path.clone() },
        other => StoreError::Unusable { path: folder.to_owned(), detail: other.to_string() },
    }
}
