//! Prepares a text for the store, piece by piece and without the write lock: hashes it, compresses it, and writes it to
//! a file of its own once it is large. Invariant: at most one frame of the text is in memory.

use std::path::{Path, PathBuf};

use super::MAX_INLINE_BYTES;
use super::frames::{self, Compressor, FRAME_BYTES, Frames, MIN_COMPRESSED_BYTES};
use super::parts::PartFile;
use super::reader::{BlobReader, Data};
use crate::error::{Result, StoreError, from_system};
use crate::layout::StorePart;

pub(crate) struct StagedText {
    pub(super) hash: blake3::Hash,
    pub(super) bytes: u64,
    /// The stored length of each frame; empty if the text is stored uncompressed.
    pub(super) frames: Vec<u32>,
    /// The number of line ends in each frame, if there is more than one frame.
    pub(super) lines: Vec<u32>,
    pub(super) data: StagedData,
}

pub(super) enum StagedData {
    Held(Vec<u8>),
    File(PartFile),
}

impl StagedText {
    /// Opens the text for reading. It can be read whatever happens to the entry.
    pub(crate) fn reader(&self) -> Result<BlobReader> {
        let data = match &self.data {
            StagedData::Held(data) => Data::Held(data.clone()),
            StagedData::File(part) => {
                let at = part.part();
                let file =
                    std::fs::File::open(part.path()).map_err(|error| StoreError::unusable(at.clone(), &error))?;
                Data::File { at, file }
            }
        };
        let frames = Frames::from_bytes(&frames::to_bytes(&self.frames));
        Ok(BlobReader::new(self.hash, self.bytes, frames, self.lines.clone(), data))
    }
}

/// A text that is being prepared, and becomes [`StagedText`].
pub(super) struct Stage {
    folder: PathBuf,
    hasher: blake3::Hasher,
    bytes: u64,
    /// The frame that is not full yet.
    frame: Vec<u8>,
    compressor: Option<Compressor>,
    frames: Vec<u32>,
    lines: Vec<u32>,
    /// The stored frames, until they are too large for the database.
    held: Vec<u8>,
    part: Option<PartFile>,
}

impl Stage {
    pub(super) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            hasher: blake3::Hasher::new(),
            bytes: 0,
            frame: Vec::new(),
            compressor: None,
            frames: Vec::new(),
            lines: Vec::new(),
            held: Vec::new(),
            part: None,
        }
    }

    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        // A full frame waits until something follows it, since a text of only one frame is stored differently.
        while self.frame.len() + bytes.len() > FRAME_BYTES {
            if self.frame.is_empty() {
                let (frame, rest) = bytes.split_at(FRAME_BYTES);
                self.add_frame(frame)?;
                bytes = rest;
            } else {
                let (now, rest) = bytes.split_at(FRAME_BYTES - self.frame.len());
                let mut frame = std::mem::take(&mut self.frame);
                frame.extend_from_slice(now);
                self.add_frame(&frame)?;
                frame.clear();
                self.frame = frame;
                bytes = rest;
            }
        }
        self.frame.extend_from_slice(bytes);
        Ok(())
    }

    /// Finishes the text. Its file, if any, is synced to the disk, because its row may get there at any moment and must
    /// not be there first.
    pub(super) fn finish(mut self) -> Result<StagedText> {
        let frame = std::mem::take(&mut self.frame);
        if self.frames.is_empty() {
            self.add_only_frame(frame)?;
        } else if !frame.is_empty() {
            self.add_frame(&frame)?;
        }
        let data = match self.part {
            Some(part) => {
                part.sync()?;
                StagedData::File(part)
            }
            None => StagedData::Held(self.held),
        };
        let lines = if self.frames.len() > 1 { self.lines } else { Vec::new() };
        Ok(StagedText { hash: self.hasher.finalize(), bytes: self.bytes, frames: self.frames, lines, data })
    }

    fn add_frame(&mut self, frame: &[u8]) -> Result<()> {
        self.hash_and_count(frame);
        self.lines.push(frame.iter().filter(|&&byte| byte == b'\n').count() as u32);
        let compressed = self.compress(|compressor| compressor.compress_quickly(frame))?;
        self.frames.push(compressed.len() as u32);
        self.store(compressed)
    }

    /// Adds the frame of a text with only one: compressed if that is smaller, otherwise as it is.
    fn add_only_frame(&mut self, text: Vec<u8>) -> Result<()> {
        self.hash_and_count(&text);
        if text.len() >= MIN_COMPRESSED_BYTES {
            let compressed = self.compress(|compressor| compressor.compress(&text))?;
            if compressed.len() < text.len() {
                self.frames.push(compressed.len() as u32);
                return self.store(compressed);
            }
        }
        self.store(text)
    }

    fn hash_and_count(&mut self, text: &[u8]) {
        self.hasher.update(text);
        self.bytes += text.len() as u64;
    }

    fn compress(&mut self, work: impl FnOnce(&mut Compressor) -> std::io::Result<Vec<u8>>) -> Result<Vec<u8>> {
        let compressed = match &mut self.compressor {
            Some(compressor) => work(compressor),
            none => Compressor::new().and_then(|compressor| work(none.insert(compressor))),
        };
        compressed.map_err(|error| from_system(StorePart::Blobs, &error))
    }

    fn store(&mut self, stored: Vec<u8>) -> Result<()> {
        if self.part.is_none() && self.held.len() + stored.len() <= MAX_INLINE_BYTES {
            // Most texts are stored in one go.
            if self.held.is_empty() {
                self.held = stored;
            } else {
                self.held.extend_from_slice(&stored);
            }
            return Ok(());
        }
        let part = match &mut self.part {
            Some(part) => part,
            none => none.insert(PartFile::create(&self.folder)?),
        };
        if !self.held.is_empty() {
            part.write(&std::mem::take(&mut self.held))?;
        }
        part.write(&stored)
    }
}
