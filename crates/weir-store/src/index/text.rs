//! Selects the parts of a text that are indexed, as a terminal would show them, and cuts them into chunks.
//!
//! Invariant: only the frames of those parts are read, one at a time.

use std::collections::VecDeque;
use std::ops::Range;

use weir_core::chunk::{Cutter, Form};
use weir_core::terminal::{self, Cleaner};
use weir_core::{EntryKind, entry};

use super::span::Span;
use crate::blobs::{BlobReader, FRAME_BYTES};
use crate::error::{Result, StoreError};

/// Maximum distance that the boundary of a part is moved so that it falls between two lines and not inside a word.
const MAX_BOUNDARY_SHIFT_BYTES: u64 = 64 << 10;

pub(super) struct IndexedRange<'a> {
    reader: &'a BlobReader,
    range: Range<u64>,
    /// The first frame of the text, if it is already decompressed. Most texts have only this one, and decompressing
    /// costs time.
    first_frame: Option<Vec<u8>>,
}

/// Returns the parts of a text that are indexed: all of it, or its two ends. Binary data is indexed up to its first
/// NUL.
pub(super) fn parts(reader: &BlobReader) -> Result<Vec<IndexedRange<'_>>> {
    let frame = reader.frame(0)?;
    if terminal::is_binary(&frame) {
        let end = frame.iter().position(|&byte| byte == 0).unwrap_or_default();
        return Ok(vec![IndexedRange { reader, range: 0..end as u64, first_frame: Some(frame) }]);
    }
    let mut first_frame = Some(frame);
    let mut parts = Vec::new();
    for Range { mut start, mut end } in entry::indexed(reader.bytes()) {
        if start > 0 {
            let seam = reader.range(start..start + MAX_BOUNDARY_SHIFT_BYTES)?;
            start += seam.iter().position(|&byte| byte == b'\n').map_or(0, |at| at as u64 + 1);
        }
        if end < reader.bytes() {
            let seam = reader.range(end - MAX_BOUNDARY_SHIFT_BYTES..end)?;
            let cut = seam.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| seam.len() - at - 1);
            end -= cut as u64;
        }
        parts.push(IndexedRange { reader, range: start..end, first_frame: first_frame.take() });
    }
    Ok(parts)
}

/// A piece of a text that is found as one.
pub(super) struct Chunk<'a> {
    /// The chunk as a terminal would show it.
    pub(super) text: &'a [u8],
    /// The headings, symbols or keys above it.
    pub(super) heading: &'a str,
    pub(super) span: Span,
    /// The line on which it begins, from 1.
    pub(super) line: u64,
}

impl IndexedRange<'_> {
    /// Determines the form of the text from its kind, its source and its first bytes.
    pub(super) fn form(&self, kind: EntryKind, source: Option<&str>) -> Form {
        Form::of(kind, source, self.first_frame.as_deref().unwrap_or_default())
    }

    /// Passes the chunks to `give` in order.
    pub(super) fn each_chunk<E: From<StoreError>>(
        self,
        form: Form,
        mut give: impl FnMut(Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut position = Position::new(self.range.start, self.reader.line_ends_before(self.range.start)? + 1);
        let Self { reader, range, mut first_frame } = self;
        let mut cutter = Cutter::new(form);
        let mut cleaner = Cleaner::new();
        let mut text = Vec::new();
        let mut at = range.start;
        loop {
            let end = ((at / FRAME_BYTES as u64 + 1) * FRAME_BYTES as u64).min(range.end);
            let frame = match first_frame.take().filter(|frame| frame.len() as u64 >= end) {
                Some(mut frame) => {
                    frame.truncate(end as usize);
                    frame.drain(..at as usize);
                    frame
                }
                None => reader.range(at..end)?,
            };
            position.take_in(&frame, at);
            cleaner.push(&frame, &mut text);
            let is_last = end == range.end;
            if is_last {
                std::mem::take(&mut cleaner).finish(&mut text);
            }
            let mut taken = 0;
            for piece in cutter.cut(&text, is_last) {
                taken = piece.span.end;
                let text = &text[piece.span];
                give(Chunk { text, heading: &piece.heading, span: position.span(text.len()), line: position.line })?;
                position.pass(text);
            }
            if is_last {
                return Ok(());
            }
            text.drain(..taken);
            at = end;
        }
    }
}

/// The position of the next chunk. Cleaning does not change the number of line ends, so each line of the cleaned text
/// has its beginning in the stored text.
struct Position {
    anchor: u64,
    skip: u64,
    line: u64,
    /// Where the following lines begin in the stored text, as far as it was read.
    line_starts: VecDeque<u64>,
}

impl Position {
    fn new(start: u64, line: u64) -> Self {
        Self { anchor: start, skip: 0, line, line_starts: VecDeque::new() }
    }

    /// Notes where lines begin in the next piece of the stored text.
    fn take_in(&mut self, stored: &[u8], at: u64) {
        self.line_starts.extend(memchr::memchr_iter(b'\n', stored).map(|end| at + end as u64 + 1));
    }

    /// Returns the span of the next `bytes` of the cleaned text.
    fn span(&self, bytes: usize) -> Span {
        Span { anchor: self.anchor, skip: self.skip, bytes: bytes as u64 }
    }

    fn pass(&mut self, chunk: &[u8]) {
        self.skip += chunk.len() as u64;
        for end in memchr::memchr_iter(b'\n', chunk) {
            self.line += 1;
            if let Some(start) = self.line_starts.pop_front() {
                self.anchor = start;
                self.skip = (chunk.len() - end - 1) as u64;
            }
        }
    }
}
