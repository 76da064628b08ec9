//! Reads chunks back from the texts they are spans of.
//!
//! Invariant: memory is bounded by one frame and one chunk, and reading the chunks of an entry in order cleans its text
//! once.

use weir_core::terminal::Cleaner;

use crate::blobs::{BlobReader, FRAME_BYTES};
use crate::error::Result;

/// How much of the stored text is cleaned at a time, in bytes. Most chunks are shorter.
const PIECE_BYTES: usize = 8 << 10;

/// Where a chunk is in its entry's text. The text is stored as it was written, and a chunk is cut from what a terminal
/// would show of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    /// The position in the stored text from which it is cleaned: the beginning of a line.
    pub(super) anchor: u64,
    /// How many bytes of the cleaned text to pass over.
    pub(super) skip: u64,
    /// The length of the chunk in the cleaned text.
    pub(super) bytes: u64,
}

/// The text of an entry, from which its chunks are read.
pub(super) struct Bodies {
    reader: BlobReader,
    /// The frame that was read last, with its number.
    frame: Option<(usize, Vec<u8>)>,
    window: Window,
}

/// The part of the cleaned text that was read last.
#[derive(Default)]
struct Window {
    anchor: u64,
    /// Number of bytes of the cleaned text that were passed over.
    passed: u64,
    /// The position in the stored text that was read up to.
    at: u64,
    text: Vec<u8>,
    /// `None` at the end of the text.
    cleaner: Option<Cleaner>,
}

impl Window {
    fn new(anchor: u64) -> Self {
        Self { anchor, at: anchor, cleaner: Some(Cleaner::new()), ..Self::default() }
    }

    /// Returns whether a span can be reached by reading on.
    fn is_before(&self, span: Span) -> bool {
        self.cleaner.is_some() && self.anchor == span.anchor && self.passed <= span.skip
    }

    /// Drops what comes before a position in the cleaned text.
    fn pass_to(&mut self, skip: u64) {
        let passed = self.text.len().min((skip - self.passed) as usize);
        self.text.drain(..passed);
        self.passed += passed as u64;
    }
}

impl Bodies {
    pub(super) fn new(reader: BlobReader) -> Self {
        Self { reader, frame: None, window: Window::default() }
    }

    /// Returns a chunk as readable text.
    pub(super) fn read(&mut self, span: Span) -> Result<String> {
        if !self.window.is_before(span) {
            self.window = Window::new(span.anchor);
        }
        self.window.pass_to(span.skip);
        while self.window.passed < span.skip || (self.window.text.len() as u64) < span.bytes {
            if !self.read_on()? {
                break;
            }
            self.window.pass_to(span.skip);
        }
        let length = self.window.text.len().min(span.bytes as usize);
        Ok(readable(&self.window.text[..length]))
    }

    /// Cleans the next piece of the stored text. Returns false at its end.
    fn read_on(&mut self) -> Result<bool> {
        let Some(mut cleaner) = self.window.cleaner.take() else { return Ok(false) };
        let at = self.window.at;
        if at >= self.reader.bytes() {
            cleaner.finish(&mut self.window.text);
            return Ok(true);
        }
        let number = if self.reader.frame_count() == 1 { 0 } else { (at / FRAME_BYTES as u64) as usize };
        let frame = match self.frame.take().filter(|(known, _)| *known == number) {
            Some((_, frame)) => frame,
            None => self.reader.frame(number)?,
        };
        let from = (at - number as u64 * FRAME_BYTES as u64) as usize;
        let piece = frame.get(from..(from + PIECE_BYTES).min(frame.len())).unwrap_or_default();
        let is_short = piece.is_empty();
        cleaner.push(piece, &mut self.window.text);
        self.window.at += piece.len() as u64;
        self.frame = Some((number, frame));
        if is_short {
            return Ok(false);
        }
        self.window.cleaner = Some(cleaner);
        Ok(true)
    }
}

/// Makes text valid and readable: without control characters that could move a cursor or be taken for our marks.
pub(super) fn readable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if !text.as_bytes().iter().any(|&byte| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte >= 0x7f) {
        return text.into_owned();
    }
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
}
