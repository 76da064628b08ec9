//! Writes a text of any size to the store, piece by piece. Invariants: text is redacted before anything else sees it;
//! memory is bounded; a text that is not kept leaves nothing behind.

use std::path::Path;

use weir_core::redact::{RedactedPart, Redactor};

use super::reader::BlobReader;
use super::stage::{Stage, StagedText};
use crate::error::{Result, StoreError};

/// A text that was written but could not be kept.
#[derive(Debug)]
pub struct KeepError {
    /// Why it could not be kept.
    pub error: StoreError,
    /// The redacted text, as far as it was written.
    pub text: Option<Box<BlobReader>>,
}

impl From<StoreError> for KeepError {
    fn from(error: StoreError) -> Self {
        Self { error, text: None }
    }
}

/// A text on its way into the store. It needs no lock of the store, can move to another thread, and is kept with
/// [`crate::Store::keep_written`].
///
/// Up to 16 KiB as stored, the text stays in memory. A larger text is in a file that is removed when the writer is
/// dropped, or by the next writer if this process is killed.
pub struct TextWriter {
    redactor: Redactor,
    sink: Sink,
    bytes: u64,
    failed: Option<StoreError>,
}

pub(crate) struct FinishedText {
    pub(crate) staged: StagedText,
    /// The number of secrets that each rule found.
    pub(crate) redactions: Vec<(&'static str, u64)>,
}

struct Sink {
    stage: Stage,
    mark: Vec<u8>,
    ends: TextEnds,
}

impl TextWriter {
    pub(super) fn new(folder: &Path) -> Self {
        let sink = Sink { stage: Stage::new(folder), mark: Vec::new(), ends: TextEnds::default() };
        Self { redactor: Redactor::new(), sink, bytes: 0, failed: None }
    }

    /// Appends to the text. After the first error every write fails, but both ends of the text are still remembered,
    /// and [`crate::Store::keep_and_open`] returns them with the error.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        let (sink, failed) = (&mut self.sink, &mut self.failed);
        self.redactor.push_to(bytes, &mut |passed| sink.push_unless_failed(failed, passed));
        self.failed.clone().map_or(Ok(()), Err)
    }

    /// Returns how many bytes were written so far, before redaction.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> Result<FinishedText, KeepError> {
        let Self { redactor, mut sink, mut failed, .. } = self;
        let redactions = redactor.finish_to(&mut |passed| sink.push_unless_failed(&mut failed, passed));
        let staged = match failed {
            Some(error) => Err(error),
            None => sink.stage.finish(),
        };
        match staged {
            Ok(staged) => Ok(FinishedText { staged, redactions }),
            Err(error) => Err(KeepError { error, text: Some(Box::new(BlobReader::of(sink.ends.joined()))) }),
        }
    }
}

impl Sink {
    /// Stores redacted text. After an error, only remembers both ends of the text.
    fn push_unless_failed(&mut self, failed: &mut Option<StoreError>, passed: RedactedPart<'_>) {
        match passed {
            RedactedPart::Text(text) => self.ends.push(text),
            RedactedPart::Mark(_) => {
                let mut mark = Vec::new();
                passed.write_to(&mut mark);
                self.ends.push(&mark);
            }
            RedactedPart::Removed(_) => {}
        }
        if failed.is_none() {
            *failed = self.push(passed).err();
        }
    }

    fn push(&mut self, passed: RedactedPart<'_>) -> Result<()> {
        match passed {
            RedactedPart::Text(text) => self.stage.write(text),
            RedactedPart::Mark(_) => {
                self.mark.clear();
                passed.write_to(&mut self.mark);
                self.stage.write(&self.mark)
            }
            RedactedPart::Removed(_) => Ok(()),
        }
    }
}

/// Both ends of a text, which are shown if the text could not be stored.
#[derive(Default)]
struct TextEnds {
    first: Vec<u8>,
    last: Vec<u8>,
    /// Number of bytes between the two.
    between: u64,
}

impl TextEnds {
    const MAX_END_BYTES: usize = 64 << 10;

    fn push(&mut self, text: &[u8]) {
        let (first, rest) = text.split_at(text.len().min(Self::MAX_END_BYTES - self.first.len()));
        self.first.extend_from_slice(first);
        let skipped = rest.len().saturating_sub(Self::MAX_END_BYTES);
        if skipped > 0 {
            self.between += (self.last.len() + skipped) as u64;
            self.last.clear();
        }
        self.last.extend_from_slice(&rest[skipped..]);
        // Trim only now and then, so that each byte is moved about once.
        if self.last.len() > 2 * Self::MAX_END_BYTES {
            self.drop_until(Self::MAX_END_BYTES);
        }
    }

    fn drop_until(&mut self, length: usize) {
        let dropped = self.last.len().saturating_sub(length);
        self.last.drain(..dropped);
        self.between += dropped as u64;
    }

    fn joined(mut self) -> Vec<u8> {
        self.drop_until(Self::MAX_END_BYTES);
        if self.between > 0 {
            self.first.extend_from_slice(format!("\n… {} bytes left out …\n", self.between).as_bytes());
        }
        self.first.extend(self.last);
        self.first
    }
}
