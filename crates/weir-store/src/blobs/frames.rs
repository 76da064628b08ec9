//! Compresses a text in frames that can be read one by one.

use std::io;

/// How much text one frame holds.
pub(crate) const FRAME: usize = 1 << 20;
/// Below this size, compression costs more than it saves.
pub(super) const SMALLEST_COMPRESSED: usize = 200;
/// For a text of one frame: a good ratio at several hundred megabytes a second.
const LEVEL: i32 = 3;
/// For a text of many: someone may be waiting for its end.
const QUICK_LEVEL: i32 = 1;

/// Where each frame begins as stored, and where the last one ends. One number when the text is stored as it is.
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

    /// How many there are; none when the text is stored as it is.
    pub(super) fn count(&self) -> usize {
        self.0.len() - 1
    }

    /// Where a frame lies.
    pub(super) fn place(&self, number: usize) -> Option<std::ops::Range<u64>> {
        Some(*self.0.get(number)?..*self.0.get(number + 1)?)
    }
}

/// Numbers as the database holds them: four bytes each.
pub(super) fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.as_chunks::<4>().0.iter().map(|number| u32::from_le_bytes(*number))
}

/// Writes numbers for the database.
pub(super) fn to_bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Compresses frames, for one text.
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

    /// What is stored for a text of one frame.
    pub(super) fn compress(&mut self, frame: &[u8]) -> io::Result<Vec<u8>> {
        self.engine.compress(frame)
    }

    /// What is stored for one frame of many.
    pub(super) fn compress_quickly(&mut self, frame: &[u8]) -> io::Result<Vec<u8>> {
        if !self.is_quick {
            self.engine.set_compression_level(QUICK_LEVEL)?;
            self.is_quick = true;
        }
        self.engine.compress(frame)
    }
}

/// The text of one stored frame, which has this many bytes. Its checksum is verified.
pub(super) fn decompress(frame: &[u8], bytes: usize) -> io::Result<Vec<u8>> {
    zstd::bulk::decompress(frame, bytes.min(FRAME))
}
