//! Selects the parts of a text that are indexed, as a terminal would show them, and cuts them into chunks.
//!
//! Invariant: only the frames of those parts are read, one at a time.

use std::ops::Range;

use weir_core::chunk::{Cutter, Form};
use weir_core::terminal::{self, Cleaner};
use weir_core::{EntryKind, entry};

use crate::blobs::{BlobReader, FRAME_BYTES};
use crate::error::{Result, StoreError};

/// Maximum distance that the boundary of a part is moved so that it falls between two lines and not inside a word.
const MAX_BOUNDARY_SHIFT_BYTES: u64 = 64 << 10;

/// A part of a text.
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

impl IndexedRange<'_> {
    /// Returns the position where the part begins.
    pub(super) fn start(&self) -> u64 {
        self.range.start
    }

    /// Returns the number of the part's first line.
    pub(super) fn first_line(&self) -> Result<u64> {
        Ok(self.reader.line_ends_before(self.range.start)? + 1)
    }

    /// Determines the form of the text from its kind, its source and its first bytes.
    pub(super) fn form(&self, kind: EntryKind, source: Option<&str>) -> Form {
        Form::of(kind, source, self.first_frame.as_deref().unwrap_or_default())
    }

    /// Passes the chunks to `give` in order, each with the headings above it. Cleaning does not change line ends, so
    /// lines can be counted in chunks.
    pub(super) fn each_chunk<E: From<StoreError>>(
        self,
        form: Form,
        mut give: impl FnMut(&[u8], &str) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { reader, range, mut first_frame } = self;
        let mut cutter = Cutter::new(form);
        let mut cleaner = Cleaner::new();
        let mut text = Vec::new();
        let mut at = range.start;
        loop {
            let end = ((at / FRAME_BYTES as u64 + 1) * FRAME_BYTES as u64).min(range.end);
            match first_frame.take().as_ref().and_then(|frame| frame.get(at as usize..end as usize)) {
                Some(frame) => cleaner.push(frame, &mut text),
                None => cleaner.push(&reader.range(at..end)?, &mut text),
            }
            let is_last = end == range.end;
            if is_last {
                std::mem::take(&mut cleaner).finish(&mut text);
            }
            let mut taken = 0;
            for piece in cutter.cut(&text, is_last) {
                taken = piece.span.end;
                give(&text[piece.span], &piece.heading)?;
            }
            if is_last {
                return Ok(());
            }
            text.drain(..taken);
            at = end;
        }
    }
}
