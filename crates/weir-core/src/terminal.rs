//! Reduces a text to what a terminal would show, line by line.
//!
//! Programs colour their output, draw progress bars and set titles. The result is what a person would finally have seen
//! on each line, without the control characters:
//!
//! - Escape sequences are removed. A string sequence (a title, an image) that does not end by the end of the line or
//!   within [`MAX_STRING_BYTES`] does not count as one: the text in it is shown, so that no output can hide behind an
//!   unfinished title.
//! - A lone carriage return overwrites the text before it: the last segment that is not empty is shown. A terminal
//!   would leave the tail of a longer segment visible behind a shorter one; that is noise, and is dropped. `ESC[K` and
//!   `ESC[2K` erase text. Moving to the first column counts as a carriage return.
//! - A backspace removes a character. Tabs and line ends stay, other control characters are removed.
//! - Bytes that are not UTF-8 stay, except that eight-bit control characters act as such.
//!
//! Invariants: the number of line ends never changes, so lines are numbered as in the raw text; cleaning is idempotent;
//! the result does not depend on how the text was cut into pieces. Memory is bounded: a line longer than
//! [`MAX_LINE_BYTES`] is shown in pieces, and a piece that was shown cannot be overwritten.

pub(crate) mod decode;
pub(crate) mod sequence;

use std::borrow::Cow;

use sequence::{Control, Parser, Screen};

use crate::unseen::named;

/// Maximum bytes of a line that are held back because they may still be overwritten.
pub const MAX_LINE_BYTES: usize = 64 << 10;
/// Maximum length of a string sequence, in bytes. Titles and links are shorter.
pub const MAX_STRING_BYTES: usize = 4 << 10;
/// Maximum length of any other sequence, in bytes. Colours take about twenty.
const MAX_SEQUENCE_BYTES: usize = 256;
/// Size of the head of a text that is checked for binary data, in bytes.
pub const BINARY_HEAD_BYTES: usize = 8 << 10;

const ESCAPE: u8 = 0x1b;

/// Returns whether a text that begins like this is binary: whether it has a NUL in its first 8 KiB.
pub fn is_binary(head: &[u8]) -> bool {
    head[..head.len().min(BINARY_HEAD_BYTES)].contains(&0)
}

/// Returns whether a text that begins like this is UTF-16 with a byte order mark, as some programs write it.
pub fn is_utf16(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [0xfe, 0xff, ..])
}

/// Decodes a text in UTF-16 with a byte order mark. What is not valid becomes `�`.
pub fn from_utf16(text: &[u8]) -> Option<String> {
    const INVALID: u16 = 0xfffd;
    let read = match text {
        [0xff, 0xfe, ..] => u16::from_le_bytes as fn([u8; 2]) -> u16,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = text[2..].chunks(2).map(|unit| <[u8; 2]>::try_from(unit).map_or(INVALID, read));
    Some(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

/// Returns what a terminal would show of `text`, which must begin at the beginning of a line.
pub fn clean(text: &[u8]) -> Cow<'_, [u8]> {
    let plain = plain_lines(text);
    if plain == text.len() || is_plain(&text[plain..]) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    out.extend_from_slice(&text[..plain]);
    let mut cleaner = Cleaner::new();
    cleaner.push(&text[plain..], &mut out);
    cleaner.finish(&mut out);
    Cow::Owned(out)
}

/// Returns what a terminal would show of `text`, as [`clean`] does, with the characters named that nobody sees. Bytes
/// that are not UTF-8 become `�`.
pub fn shown(text: &[u8]) -> Cow<'_, str> {
    match clean(text) {
        Cow::Borrowed(clean) => match String::from_utf8_lossy(clean) {
            Cow::Borrowed(clean) => named(clean),
            Cow::Owned(clean) => Cow::Owned(named(&clean).into_owned()),
        },
        Cow::Owned(clean) => Cow::Owned(named(&String::from_utf8_lossy(&clean)).into_owned()),
    }
}

/// Cleans a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Cleaner {
    parser: Parser,
    line: ScreenLine,
}

#[derive(Debug, Default)]
struct ScreenLine {
    /// The last segment that was not empty, and the one being written.
    shown: Vec<u8>,
    segment: Vec<u8>,
}

impl Cleaner {
    /// Creates a cleaner at the beginning of a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more text, and writes the part of it that can no longer change.
    pub fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.is_at_line_start() {
                let plain = plain_lines(rest);
                out.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
            }
            let line = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
            self.parser.push(&rest[..line], &mut LineScreen { line: &mut self.line, out });
            rest = &rest[line..];
        }
    }

    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.parser.finish(&mut LineScreen { line: &mut self.line, out });
        out.append(self.line.seen());
    }

    fn is_at_line_start(&self) -> bool {
        self.parser.is_at_text() && self.line.shown.is_empty() && self.line.segment.is_empty()
    }
}

impl ScreenLine {
    /// Returns the visible part of the line.
    fn seen(&mut self) -> &mut Vec<u8> {
        if self.segment.is_empty() { &mut self.shown } else { &mut self.segment }
    }
}

/// Writes lines as they finally look.
struct LineScreen<'a> {
    line: &'a mut ScreenLine,
    out: &'a mut Vec<u8>,
}

impl Screen for LineScreen<'_> {
    /// Adds to the line. The part of a line that exceeds the maximum length is written out.
    fn show(&mut self, text: &[u8]) {
        let ScreenLine { shown, segment } = self.line;
        let mut rest = text;
        while segment.len() + rest.len() >= MAX_LINE_BYTES {
            let (now, later) = rest.split_at(MAX_LINE_BYTES.saturating_sub(segment.len()).min(rest.len()));
            self.out.append(segment);
            self.out.extend_from_slice(now);
            shown.clear();
            rest = later;
        }
        segment.extend_from_slice(rest);
    }

    fn control(&mut self, control: Control, _length: usize) {
        let ScreenLine { shown, segment } = self.line;
        match control {
            Control::Nothing => {}
            Control::LineEnd => {
                self.out.append(self.line.seen());
                self.out.push(b'\n');
                self.line.shown.clear();
                self.line.segment.clear();
            }
            Control::Return if segment.is_empty() => {}
            Control::Return => {
                std::mem::swap(shown, segment);
                segment.clear();
            }
            Control::Back => decode::pop_character(segment),
            Control::EraseAfter if segment.is_empty() => shown.clear(),
            Control::EraseAfter => {}
            Control::EraseBefore => segment.clear(),
            Control::EraseLine => {
                shown.clear();
                segment.clear();
            }
        }
    }
}

/// Returns how many bytes from the beginning are whole lines with nothing to clean.
fn plain_lines(text: &[u8]) -> usize {
    let mut plain = 0;
    loop {
        // Most text is plain ASCII, which is recognised a block at a time.
        let rest = &text[plain..];
        let blocks = rest.chunks(64).take_while(|block| is_plain_ascii(block)).map(<[u8]>::len).sum::<usize>();
        plain += rest[..blocks].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let rest = &text[plain..];
        let Some(end) = rest.iter().position(|&byte| byte == b'\n') else { return plain };
        if !is_plain(&rest[..=end]) {
            return plain;
        }
        plain += end + 1;
    }
}

fn is_plain_ascii(block: &[u8]) -> bool {
    let special = |byte: u8| (byte < 0x20) & (byte != b'\n') & (byte != b'\t') | (byte > 0x7e);
    !block.iter().fold(false, |any, &byte| any | special(byte))
}

/// Returns whether there is nothing to clean: valid text without control characters.
fn is_plain(text: &[u8]) -> bool {
    if is_plain_ascii(text) {
        return true;
    }
    let is_control = |byte: u8| (byte < 0x20) & (byte != b'\n') & (byte != b'\t') | (byte == 0x7f);
    let has_control = text.iter().fold(false, |any, &byte| any | is_control(byte));
    // U+0080 to U+009F begin with this byte.
    let has_eight_bit = || text.windows(2).any(|pair| pair[0] == 0xc2 && pair[1] < 0xa0);
    !has_control && std::str::from_utf8(text).is_ok() && !has_eight_bit()
}

#[cfg(test)]
mod tests;
