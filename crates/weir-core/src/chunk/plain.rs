//! Plain text: cut at a blank line, otherwise at a line end, a space, or between two characters.
//!
//! Invariant: it looks at no more than [`MAX_CHUNK_BYTES`]. The other forms cut text that is too long for a chunk in
//! this way.

use super::pack::{Joint, TextBlock};
use super::{MAX_CHUNK_BYTES, TARGET_CHUNK_BYTES};

/// Returns the chunk that `rest` begins with.
pub(super) fn next(rest: &[u8], is_last: bool) -> Option<TextBlock> {
    let length = match rest.len() {
        0 => return None,
        length if length > MAX_CHUNK_BYTES => cut(rest),
        _ if !is_last => return None,
        length => length,
    };
    Some(TextBlock { length, joint: Joint::Apart, heading: None })
}

/// Returns where to cut `rest`, which is longer than a chunk may be.
pub(super) fn cut(rest: &[u8]) -> usize {
    let window = &rest[..MAX_CHUNK_BYTES];
    last_blank_line(window)
        .or_else(|| last_after(window, b'\n'))
        .or_else(|| last_after(window, b' '))
        .unwrap_or_else(|| character_boundary(rest, MAX_CHUNK_BYTES))
}

/// Returns the end of the last blank line, if it leaves a chunk of at least half the target.
fn last_blank_line(window: &[u8]) -> Option<usize> {
    let at = window.windows(2).rposition(|pair| pair == b"\n\n")? + 2;
    (at >= TARGET_CHUNK_BYTES / 2).then_some(at)
}

fn last_after(window: &[u8], byte: u8) -> Option<usize> {
    let at = window.iter().rposition(|&b| b == byte)? + 1;
    (at >= TARGET_CHUNK_BYTES / 2).then_some(at)
}

/// Returns the closest position at or before `at` that does not cut a UTF-8 sequence.
pub(super) fn character_boundary(text: &[u8], at: usize) -> usize {
    let is_continuation = |i: &usize| text.get(*i).is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000);
    (at.saturating_sub(3)..=at).rev().find(|i| !is_continuation(i)).unwrap_or(at)
}
