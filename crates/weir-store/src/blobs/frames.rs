//! Compresses a text in frames that can be read one by one.

use std::io;

/// How much text one frame holds.
pub(super) const FRAME: usize = 1 << 20;
/// Below this size, compression costs more than it saves.
const SMALLEST_COMPRESSED: usize = 200;
/// A good ratio at several hundred megabytes a second.
const LEVEL: i32 = 3;

/// The stored length of each frame; none when the text is stored as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frames(pub(super) Vec<u32>);

impl Frames {
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|length| length.to_le_bytes()).collect()
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Self {
        let (lengths, _) = bytes.as_chunks::<4>();
        Self(lengths.iter().map(|length| u32::from_le_bytes(*length)).collect())
    }
}

/// The frames of a text and what is stored for it: smaller than the text, or the text itself.
pub(super) fn compress(text: &[u8]) -> io::Result<(Frames, Vec<u8>)> {
    if text.len() < SMALLEST_COMPRESSED {
        return Ok((Frames(Vec::new()), text.to_vec()));
    }
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    let mut lengths = Vec::new();
    let mut stored = Vec::with_capacity(text.len() / 3);
    for frame in text.chunks(FRAME) {
        let compressed = compressor.compress(frame)?;
        lengths.push(u32::try_from(compressed.len()).map_err(io::Error::other)?);
        stored.extend_from_slice(&compressed);
    }
    if lengths.len() == 1 && stored.len() >= text.len() {
        return Ok((Frames(Vec::new()), text.to_vec()));
    }
    Ok((Frames(lengths), stored))
}

/// The text of one stored frame. Its checksum is verified.
pub(super) fn decompress(frame: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::decompress(frame, FRAME)
}
