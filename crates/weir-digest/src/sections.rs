//! Cuts an output of any size into sections of a few lines while reading it.
//!
//! Invariants: sections are consecutive, cover the whole output and have at most [`MAX_BYTES`] bytes; only one section
//! is in memory.

use std::io;

use weir_core::terminal;

use crate::Source;

/// The target size of a section in bytes, and its maximum.
const TARGET_BYTES: usize = 500;
const MAX_BYTES: usize = 1_000;
/// A blank line ends a section that has at least this many bytes.
const MIN_PARAGRAPH_BYTES: usize = 160;

/// A few lines of an output.
pub(crate) struct Section<'a> {
    pub line: u64,
    /// Its text, as a terminal would show it.
    pub text: &'a str,
}

pub(crate) fn each(source: &dyn Source, mut visit: impl FnMut(Section<'_>)) -> io::Result<()> {
    let mut input = source.open()?;
    let mut held: Vec<u8> = Vec::with_capacity(MAX_BYTES);
    let (mut line, mut read, mut jump) = (1, 0, source.jump());
    let mut emit = |held: &mut Vec<u8>, length: usize| {
        if let Some(jump) = jump.take_if(|jump| read >= jump.at) {
            line = jump.line;
        }
        read += length as u64;
        let shown = terminal::shown(&held[..length]);
        if !shown.trim().is_empty() {
            visit(Section { line, text: shown.trim_end_matches('\n') });
        }
        line += memchr::memchr_iter(b'\n', &held[..length]).count() as u64;
        held.drain(..length);
    };
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        let taken = piece.len().min(MAX_BYTES - held.len());
        held.extend_from_slice(&piece[..taken]);
        input.consume(taken);
        while held.len() == MAX_BYTES {
            let length = first(&held);
            emit(&mut held, length);
        }
    }
    while !held.is_empty() {
        let length = if held.len() <= TARGET_BYTES { held.len() } else { first(&held) };
        emit(&mut held, length);
    }
    Ok(())
}

/// Returns the length of the first section: up to a blank line, a line end, or a character that separates values.
fn first(held: &[u8]) -> usize {
    let paragraph =
        held.windows(2).enumerate().skip(MIN_PARAGRAPH_BYTES).find(|(_, pair)| *pair == b"\n\n").map(|(at, _)| at + 2);
    let line_end = memchr::memrchr(b'\n', &held[..held.len().min(TARGET_BYTES)]).map(|at| at + 1);
    let later_line_end = || memchr::memchr(b'\n', held).map(|at| at + 1);
    let value_end = || held.iter().rposition(|byte| matches!(byte, b',' | b';' | b'}' | b'>' | b' ')).map(|at| at + 1);
    let paragraph = paragraph.filter(|&length| length <= TARGET_BYTES + MIN_PARAGRAPH_BYTES);
    let found = paragraph.or(line_end).or_else(later_line_end).or_else(value_end);
    found.unwrap_or_else(|| character_boundary(held))
}

/// Returns the end of the last complete character.
fn character_boundary(held: &[u8]) -> usize {
    let is_start = |byte: &u8| byte & 0b1100_0000 != 0b1000_0000;
    let last_start = held.iter().rposition(is_start).unwrap_or(0);
    if held.len() - last_start < 4 && last_start > 0 { last_start } else { held.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<(u64, String)> {
        let mut found = Vec::new();
        let bytes = text.as_bytes();
        each(&bytes, |section| found.push((section.line, section.text.to_owned()))).unwrap();
        found
    }

    #[test]
    fn a_long_line_is_cut_between_values() {
        let text = "\"name\":\"value\",".repeat(500);
        let found = all(&text);
        assert!(found.len() > 5 && found.iter().all(|(line, text)| *line == 1 && text.ends_with(',')));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(text in "([a-zé]{0,30}[ ,\n]{0,2}){0,200}") {
            let found = all(&text);
            let joined: String = found.iter().map(|(_, text)| text.as_str()).collect();
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&joined), bare(&text));
            for (line, section) in found {
                let first = section.lines().next().unwrap_or_default();
                let there = text.split('\n').nth(line as usize - 1).unwrap_or_default();
                prop_assert!(there.contains(first), "line {}: {:?} in {:?}", line, first, there);
            }
        }
    }
}
