//! Reads a text back: whole, by range, by line, or frame by frame with bounded memory.

use std::fs::File;
use std::ops::{ControlFlow, Range};

use weir_core::terminal;

use super::frames::{self, FRAME_BYTES, Frames};
use crate::error::{Loss, Result, StoreError};
use crate::layout::StorePart;

/// Maximum bytes returned of one line. The rest of a longer line is counted and left out.
const MAX_LINE_BYTES: usize = FRAME_BYTES;
/// Description of a text that was changed in the store.
const OTHER_HASH: &str = "the text does not match its hash";

/// A stored text, open for reading.
pub struct BlobReader {
    hash: blake3::Hash,
    bytes: u64,
    frames: Frames,
    /// The number of line ends in each frame, if known.
    lines: Vec<u32>,
    data: Data,
}

pub(super) enum Data {
    Held(Vec<u8>),
    /// Opened at once, so that reading can continue if another process removes the text.
    File {
        at: StorePart,
        file: File,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The line number, from 1.
    pub number: u64,
    /// The position of the line in the text, in bytes.
    pub start: u64,
    /// The line without its line end, cut after the first MiB.
    pub text: &'a [u8],
    /// Number of bytes that were cut.
    pub left_out: u64,
}

impl std::fmt::Debug for BlobReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobReader").field("hash", &self.hash).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl BlobReader {
    pub(super) fn new(hash: blake3::Hash, bytes: u64, frames: Frames, lines: Vec<u32>, data: Data) -> Self {
        Self { hash, bytes, frames, lines, data }
    }

    /// Wraps a text that is not in the store, so that it can be read in the same way.
    pub fn of(text: Vec<u8>) -> Self {
        let (hash, bytes) = (blake3::hash(&text), text.len() as u64);
        Self::new(hash, bytes, Frames::from_bytes(&[]), Vec::new(), Data::Held(text))
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn frame_count(&self) -> usize {
        self.frames.count().max(1)
    }

    /// Returns the text of one frame: 1 MiB, or less for the last.
    pub fn frame(&self, number: usize) -> Result<Vec<u8>> {
        if self.frames.count() == 0 {
            return self.stored(0..self.stored_length()?);
        }
        let place = self.frames.place(number).ok_or_else(|| self.damaged("a frame is missing"))?;
        // Reserve only what the frame needs: most texts are smaller than a whole frame.
        let rest = self.bytes.saturating_sub(number as u64 * FRAME_BYTES as u64) as usize;
        frames::decompress(&self.stored(place)?, rest).map_err(|error| match error.kind() {
            std::io::ErrorKind::OutOfMemory => StoreError::unusable(self.part(), &error),
            _ => self.damaged(&error.to_string()),
        })
    }

    /// Returns the bytes of a range, decompressing only the frames it touches. The range is cut at the end of the text.
    pub fn range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let end = range.end.min(self.bytes);
        if range.start >= end {
            return Ok(Vec::new());
        }
        let mut text = Vec::with_capacity((end - range.start) as usize);
        for number in self.frame_at(range.start)..=self.frame_at(end - 1) {
            let frame = self.frame(number)?;
            text.extend_from_slice(self.part_of(&frame, number, &(range.start..end))?);
        }
        Ok(text)
    }

    /// Returns the whole text, after comparing it with its hash.
    pub fn all(&self) -> Result<Vec<u8>> {
        let text = self.range(0..self.bytes)?;
        if blake3::hash(&text) != self.hash {
            return Err(self.damaged(OTHER_HASH));
        }
        Ok(text)
    }

    /// Reads the whole text frame by frame and compares it with its hash.
    pub fn verify(&self) -> Result<()> {
        let mut hasher = blake3::Hasher::new();
        for number in 0..self.frame_count() {
            hasher.update(&self.frame(number)?);
        }
        if hasher.finalize() == self.hash { Ok(()) } else { Err(self.damaged(OTHER_HASH)) }
    }

    /// Returns whether the text is binary: whether it has a NUL near its beginning.
    pub fn is_binary(&self) -> Result<bool> {
        Ok(terminal::is_binary(&self.range(0..terminal::BINARY_HEAD_BYTES as u64)?))
    }

    /// Returns the number of line ends before a position. Reads only one frame if the store has counted the lines.
    pub fn line_ends_before(&self, position: u64) -> Result<u64> {
        let position = position.min(self.bytes);
        let last = self.frame_at(position);
        let mut count = 0;
        for number in 0..last {
            count += match self.lines.get(number) {
                Some(&lines) => u64::from(lines),
                None => line_ends(&self.frame(number)?),
            };
        }
        let base = last as u64 * FRAME_BYTES as u64;
        Ok(count + line_ends(&self.range(base..position)?))
    }

    /// Returns the number of lines. The last one may lack its end.
    pub fn line_count(&self) -> Result<u64> {
        let last = self.range(self.bytes.saturating_sub(1)..self.bytes)?;
        Ok(self.line_ends_before(self.bytes)? + u64::from(!last.is_empty() && last != b"\n"))
    }

    /// Visits the lines in order, starting at line number `first`, until the visitor breaks. Needs the memory of two
    /// frames, however long a line is. If the store has counted the lines, nothing before the frame where `first`
    /// begins is read.
    pub fn each_line(&self, first: u64, mut visit: impl FnMut(Line<'_>) -> ControlFlow<()>) -> Result<()> {
        let mut number = 1;
        let mut frame_number = 0;
        // A line that crosses a frame boundary belongs to the frame it begins in.
        while let Some(&lines) = self.lines.get(frame_number).filter(|&&lines| number + u64::from(lines) < first) {
            number += u64::from(lines);
            frame_number += 1;
        }
        let (mut begun, mut left_out) = (Vec::new(), 0);
        let mut start = frame_number as u64 * FRAME_BYTES as u64;
        for frame_number in frame_number..self.frame_count() {
            let frame = self.frame(frame_number)?;
            let mut rest = frame.as_slice();
            while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
                let line = &rest[..end];
                rest = &rest[end + 1..];
                if number >= first {
                    let line = if begun.is_empty() { line } else { extend(&mut begun, &mut left_out, line) };
                    if visit(Line { number, start, text: line, left_out }).is_break() {
                        return Ok(());
                    }
                }
                start = frame_number as u64 * FRAME_BYTES as u64 + (frame.len() - rest.len()) as u64;
                begun.clear();
                left_out = 0;
                number += 1;
            }
            extend(&mut begun, &mut left_out, rest);
        }
        if !begun.is_empty() && number >= first {
            let _ = visit(Line { number, start, text: &begun, left_out });
        }
        Ok(())
    }

    fn frame_at(&self, position: u64) -> usize {
        if self.frames.count() == 0 { 0 } else { (position / FRAME_BYTES as u64) as usize }
    }

    fn part_of<'a>(&self, frame: &'a [u8], number: usize, range: &Range<u64>) -> Result<&'a [u8]> {
        let base = number as u64 * FRAME_BYTES as u64;
        let from = range.start.saturating_sub(base) as usize;
        let to = (range.end - base).min(if self.frames.count() == 0 { u64::MAX } else { FRAME_BYTES as u64 }) as usize;
        frame.get(from..to).ok_or_else(|| self.damaged("a frame is too short"))
    }

    fn stored_length(&self) -> Result<u64> {
        match &self.data {
            Data::Held(data) => Ok(data.len() as u64),
            Data::File { file, .. } => {
                file.metadata().map(|meta| meta.len()).map_err(|error| StoreError::of_text(self.part(), &error))
            }
        }
    }

    fn stored(&self, range: Range<u64>) -> Result<Vec<u8>> {
        match &self.data {
            Data::Held(data) => {
                let part = data.get(range.start as usize..range.end as usize);
                part.map(<[u8]>::to_vec).ok_or_else(|| self.damaged("the stored text is too short"))
            }
            Data::File { file, .. } => {
                let mut part = vec![0; (range.end - range.start) as usize];
                read_at(file, range.start, &mut part).map_err(|error| StoreError::of_text(self.part(), &error))?;
                Ok(part)
            }
        }
    }

    fn part(&self) -> StorePart {
        match &self.data {
            Data::Held(_) => StorePart::Text(self.hash.to_hex().to_string()),
            Data::File { at, .. } => at.clone(),
        }
    }

    fn damaged(&self, how: &str) -> StoreError {
        StoreError::Lost { at: self.part(), loss: Loss::Damaged(how.to_owned()) }
    }
}

/// Extends a line that began in an earlier frame, up to the maximum length of a line.
fn extend<'a>(line: &'a mut Vec<u8>, left_out: &mut u64, more: &[u8]) -> &'a [u8] {
    let room = MAX_LINE_BYTES.saturating_sub(line.len()).min(more.len());
    line.extend_from_slice(&more[..room]);
    *left_out += (more.len() - room) as u64;
    line
}

fn line_ends(text: &[u8]) -> u64 {
    text.iter().filter(|&&byte| byte == b'\n').count() as u64
}

#[cfg(unix)]
fn read_at(file: &File, start: u64, into: &mut [u8]) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, start)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, start: u64, into: &mut [u8]) -> std::io::Result<()> {
    use std::io::{Read as _, Seek as _};
    file.seek(std::io::SeekFrom::Start(start))?;
    file.read_exact(into)
}
