//! Compresses a text in frames that can be read one by one.

use std::io;

/// Maximum size of the text in one frame, in bytes.
pub(crate) const FRAME_BYTES: usize = 1 << 20;
/// Below this size, compression costs more than it saves.
pub(super) const MIN_COMPRESSED_BYTES: usize = 200;
/// Compression level for a text of one frame: a good ratio at several hundred megabytes a second.
const LEVEL: i32 = 3;
/// Compression level for a text of several frames: someone may be waiting for it to finish.
const QUICK_LEVEL: i32 = 1;

/// The positions where each stored frame begins, and where the last one ends. Only one number if the text is stored
/// uncompressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frames(Vec<u64>);

impl Frames {
    /// Reads the stored length of each frame, four bytes each.
    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let mut at = 0;
        let ends = numbers(bytes).map(|length| {
            at += u64::from(length);
            at
        });
        Self(std::iter::once(0).chain(ends).collect())
    }

    /// Returns the number of frames, which is zero if the text is stored uncompressed.
    pub(super) fn count(&self) -> usize {
        self.0.len() - 1
    }

    pub(super) fn place(&self, number: usize) -> Option<std::ops::Range<u64>> {
        Some(*self.0.get(number)?..*self.0.get(number + 1)?)
    }
}

/// Decodes numbers as stored in the database, four bytes each.
pub(super) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number))
}

/// Encodes numbers for the database.
pub(super) fn to_bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Compresses the frames of one text.
pub(super) struct Compressor {
    engine: zstd::bulk::Compressor<'static>,
    is_quick: bool,
}

impl Compressor {
    pub(super) fn new() -> io::Result<Self> {
        let mut engine = zstd::bulk::Compressor::new(LEVEL)?;
        engine.include_checksum(true)?;
        Ok(Self { engine, is_quick: false })
    }

    /// Compresses the only frame of a text.
    pub(super) fn compress(&mut self, frame: &[u8]) -> io::Result<Vec<u8>> {
        self.engine.compress(frame)
    }

    pub(super) fn compress_quickly(&mut self, frame: &[u8]) -> io::Result<Vec<u8>> {
        if !self.is_quick {
            self.engine.set_compression_level(QUICK_LEVEL)?;
            self.is_quick = true;
        }
        self.engine.compress(frame)
    }
}

/// Decompresses a stored frame into at most `bytes` bytes, and verifies its checksum.
pub(super) fn decompress(frame: &[u8], bytes: usize) -> io::Result<Vec<u8>> {
    zstd::bulk::decompress(frame, bytes.min(FRAME_BYTES)).map_err(|error| {
        // The library reports every error as text. This one says nothing about the frame.
        let is_lack = error.to_string().contains("not enough memory");
        if is_lack { io::ErrorKind::OutOfMemory.into() } else { error }
    })
}
