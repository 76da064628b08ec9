//! Texts as they are stored: zstd frames of 1 MiB each, which any `zstd` can read.
//!
//! A text of several frames ends with a table of their sizes, so that a part of it can be fetched without the rest. The
//! table is that of zstd's seekable format, in a frame that readers skip.

use std::io;
use std::ops::Range;

use zstd::zstd_safe;

use crate::error::{ErrorKind, PortError, Result};

/// The size of the text in each frame but the last, in bytes.
const FRAME_BYTES: usize = 1 << 20;
/// Good compression at several hundred megabytes a second.
const LEVEL: i32 = 3;

/// Begins a frame that is skipped; the last four bits may differ.
const SKIPPED: u32 = 0x184D_2A50;
/// Begins the frame of a table.
const TABLE: u32 = 0x184D_2A5E;
const TABLE_END: u32 = 0x8F92_EAB1;
const HEADER_BYTES: usize = 8;
const ENTRY_BYTES: usize = 8;
const FOOTER_BYTES: usize = 9;

/// The frames of a text that a range needs.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub stored: Range<u64>,
    /// The range within their text.
    pub range: Range<u64>,
}

/// Returns a text as it is stored. It is never empty, so that any store can return its end.
pub fn compress(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    if text.len() <= FRAME_BYTES {
        return compressor.compress(text);
    }
    let (mut stored, mut entries) = (Vec::new(), Vec::new());
    for frame in text.chunks(FRAME_BYTES) {
        let compressed = compressor.compress(frame)?;
        entries.extend((compressed.len() as u32).to_le_bytes());
        entries.extend((frame.len() as u32).to_le_bytes());
        stored.extend(compressed);
    }
    let frames = (entries.len() / ENTRY_BYTES) as u32;
    stored.extend(TABLE.to_le_bytes());
    stored.extend(((entries.len() + FOOTER_BYTES) as u32).to_le_bytes());
    stored.extend(entries);
    stored.extend(frames.to_le_bytes());
    stored.push(0);
    stored.extend(TABLE_END.to_le_bytes());
    Ok(stored)
}

/// Returns the part of a text within a range. Only the frames that it touches are inflated; each has a checksum.
pub fn inflate(stored: &[u8], range: Range<u64>) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let (mut rest, mut at) = (stored, 0u64);
    while !rest.is_empty() && at < range.end {
        let length = zstd_safe::find_frame_compressed_size(rest).map_err(|_| damaged("a frame is broken"))?;
        let (frame, after) = rest.split_at_checked(length).ok_or_else(|| damaged("a frame is cut short"))?;
        rest = after;
        if number_at(frame, 0).is_some_and(|magic| magic & !0xF == SKIPPED) {
            continue;
        }
        let frame_end = at + FRAME_BYTES as u64;
        if range.start < frame_end {
            let inflated = zstd::bulk::decompress(frame, FRAME_BYTES).map_err(|_| damaged("a frame is broken"))?;
            let within = |position: u64| (position.saturating_sub(at) as usize).min(inflated.len());
            text.extend_from_slice(inflated.get(within(range.start)..within(range.end)).unwrap_or_default());
        }
        at = frame_end;
    }
    Ok(text)
}

/// Returns the frames that a range needs, from the end of a stored text and its whole size. Returns `None` if the end
/// has no table, or not all of it.
pub fn part(end: &[u8], size: u64, range: &Range<u64>) -> Result<Option<Part>> {
    let Some(table) = Table::read(end) else { return Ok(None) };
    let (mut stored_at, mut text_at) = (0u64, 0u64);
    let (mut first, mut stored_end) = (None, 0);
    for (stored, text) in table.frames {
        let (next_stored, next_text) = (stored_at + u64::from(stored), text_at + u64::from(text));
        if range.start < next_text && text_at < range.end {
            first.get_or_insert((stored_at, text_at));
            stored_end = next_stored;
        }
        (stored_at, text_at) = (next_stored, next_text);
    }
    if stored_at + table.bytes as u64 != size {
        return Err(damaged("its table does not match its size"));
    }
    Ok(Some(match first {
        Some((start, base)) => Part { stored: start..stored_end, range: range.start - base..range.end - base },
        // Beyond the end of the text, there is nothing to fetch.
        None => Part { stored: 0..0, range: 0..0 },
    }))
}

struct Table {
    /// The stored size and the size of the text of each frame, in bytes.
    frames: Vec<(u32, u32)>,
    bytes: usize,
}

impl Table {
    fn read(end: &[u8]) -> Option<Self> {
        let footer = end.get(end.len().checked_sub(FOOTER_BYTES)?..)?;
        // The byte between the numbers says that the entries have no checksums, which the frames themselves have.
        if footer.get(4) != Some(&0) || number_at(footer, 5)? != TABLE_END {
            return None;
        }
        let bytes =
            (number_at(footer, 0)? as usize).checked_mul(ENTRY_BYTES)?.checked_add(HEADER_BYTES + FOOTER_BYTES)?;
        let table = end.get(end.len().checked_sub(bytes)?..)?;
        if number_at(table, 0)? != TABLE || number_at(table, 4)? as usize != bytes - HEADER_BYTES {
            return None;
        }
        let entries = table.get(HEADER_BYTES..bytes - FOOTER_BYTES)?.chunks_exact(ENTRY_BYTES);
        let frames = entries.map(|entry| Some((number_at(entry, 0)?, number_at(entry, 4)?))).collect::<Option<_>>()?;
        Some(Self { frames, bytes })
    }
}

fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    let number: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_le_bytes(number))
}

/// Returns the error for a text that cannot be read.
pub fn damaged(reason: &str) -> PortError {
    PortError::new(ErrorKind::Damaged, "read a text").because(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| (at * 7 + at / 1_000) as u8).collect()
    }

    /// Reads a range as a store would give it: its end first, then the frames that are needed.
    fn read(stored: &[u8], range: &Range<u64>) -> Vec<u8> {
        match part(stored, stored.len() as u64, range).unwrap() {
            Some(part) => inflate(&stored[part.stored.start as usize..part.stored.end as usize], part.range).unwrap(),
            None => inflate(stored, range.clone()).unwrap(),
        }
    }

    #[test]
    fn a_range_is_read_from_its_frames_alone() {
        let mib = 1u64 << 20;
        for size in [0, 1, FRAME_BYTES - 1, FRAME_BYTES, FRAME_BYTES + 1, 3 * FRAME_BYTES, 3 * FRAME_BYTES + 5] {
            let text = text(size);
            let stored = compress(&text).unwrap();
            assert!(!stored.is_empty());
            assert_eq!(zstd::decode_all(stored.as_slice()).unwrap(), text);
            for range in [0..1, 0..mib, mib - 1..mib + 1, mib..3 * mib, 5..u64::MAX, 9 * mib..10 * mib] {
                let end = text.len() as u64;
                let expected = &text[range.start.min(end) as usize..range.end.min(end) as usize];
                assert!(read(&stored, &range) == expected, "{range:?} of {size}");
            }
        }
    }

    #[test]
    fn a_table_that_lies_is_damage() {
        let stored = compress(&text(2 * FRAME_BYTES)).unwrap();
        assert_eq!(part(&stored, stored.len() as u64 + 1, &(0..1)).unwrap_err().kind, ErrorKind::Damaged);
        assert!(part(&stored[stored.len() - 20..], stored.len() as u64, &(0..1)).unwrap().is_none());
        let mut broken = stored;
        let in_the_first_frame = broken.len() / 4;
        broken[in_the_first_frame] ^= 0x55;
        assert_eq!(inflate(&broken, 0..u64::MAX).unwrap_err().kind, ErrorKind::Damaged);
    }
}
