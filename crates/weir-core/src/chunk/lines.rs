//! Lines, as the forms read them.
//!
//! Invariant: the result for a line never changes when more text arrives.

use super::MAX_CHUNK_BYTES;

/// What is known about a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    /// The line ends here, after its line end.
    Ends(usize),
    /// The line is longer than a chunk may be.
    Long,
    /// There is no more text.
    Nothing,
    /// More text is needed to decide.
    Open,
}

/// Returns the line that begins at `at`.
pub(super) fn line(text: &[u8], at: usize, is_last: bool) -> LineEnd {
    let rest = text.get(at..).unwrap_or_default();
    let window = &rest[..rest.len().min(MAX_CHUNK_BYTES)];
    match window.iter().position(|&byte| byte == b'\n') {
        Some(end) => LineEnd::Ends(at + end + 1),
        None if rest.len() > MAX_CHUNK_BYTES => LineEnd::Long,
        None if !is_last => LineEnd::Open,
        None if rest.is_empty() => LineEnd::Nothing,
        None => LineEnd::Ends(text.len()),
    }
}

pub(super) fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c))
}

/// Returns the indentation of a line, where a tab counts as four, and the rest of the line.
pub(super) fn indented(line: &[u8]) -> (usize, &[u8]) {
    let mut width = 0;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b' ' => width += 1,
            b'\t' => width += 4,
            _ => return (width, &line[at..]),
        }
    }
    (width, &[])
}
