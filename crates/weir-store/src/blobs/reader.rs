//! Reads a text back: whole, by range, or frame by frame with bounded memory.

use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;

use super::frames::{self, FRAME, Frames};
use crate::error::{Result, StoreError, from_system};

/// A text in the store, open for reading.
pub struct BlobReader {
    hash: blake3::Hash,
    bytes: u64,
    frames: Frames,
    data: Data,
}

pub(super) enum Data {
    Held(Vec<u8>),
    /// Open from the start, so that a reader can go on when another process removes the text.
    File {
        path: PathBuf,
        file: File,
    },
}

impl BlobReader {
    pub(super) fn new(hash: blake3::Hash, bytes: u64, frames: Frames, data: Data) -> Self {
        Self { hash, bytes, frames, data }
    }

    /// The size of the text.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many frames the text has.
    pub fn frame_count(&self) -> usize {
        self.frames.0.len().max(1)
    }

    /// The text of one frame: 1 MiB, or less for the last.
    pub fn frame(&self, number: usize) -> Result<Vec<u8>> {
        if self.frames.0.is_empty() {
            return self.stored(0..self.stored_length()?);
        }
        let start: u64 = self.frames.0[..number].iter().map(|&length| u64::from(length)).sum();
        let stored = self.stored(start..start + u64::from(self.frames.0[number]))?;
        frames::decompress(&stored).map_err(|error| self.damaged(&error.to_string()))
    }

    /// The bytes of a range, inflating only the frames it touches. A range past the end is cut there.
    pub fn range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        let end = range.end.min(self.bytes);
        if range.start >= end {
            return Ok(Vec::new());
        }
        let frame_size = if self.frames.0.is_empty() { self.bytes.max(1) } else { FRAME as u64 };
        let mut text = Vec::with_capacity((end - range.start) as usize);
        for number in range.start / frame_size..=(end - 1) / frame_size {
            let frame = self.frame(number as usize)?;
            let base = number * frame_size;
            let from = range.start.saturating_sub(base) as usize;
            let to = (end - base).min(frame.len() as u64) as usize;
            text.extend_from_slice(frame.get(from..to).ok_or_else(|| self.damaged("a frame is too short"))?);
        }
        Ok(text)
    }

    /// The whole text, checked against its address.
    pub fn all(&self) -> Result<Vec<u8>> {
        let text = self.range(0..self.bytes)?;
        if blake3::hash(&text) != self.hash {
            return Err(self.damaged("the text does not have the hash it is stored under"));
        }
        Ok(text)
    }

    fn stored_length(&self) -> Result<u64> {
        match &self.data {
            Data::Held(data) => Ok(data.len() as u64),
            Data::File { path, file } => {
                file.metadata().map(|meta| meta.len()).map_err(|error| from_system(path, &error))
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
                read_at(file, range.start, &mut part).map_err(|error| self.damaged(&error.to_string()))?;
                Ok(part)
            }
        }
    }

    fn damaged(&self, detail: &str) -> StoreError {
        let path = match &self.data {
            Data::Held(_) => PathBuf::from(format!("text {}", self.hash.to_hex())),
            Data::File { path, .. } => path.clone(),
        };
        StoreError::Damaged { path, detail: detail.to_owned() }
    }
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
