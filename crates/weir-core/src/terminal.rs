//! What a terminal would show of a text, line by line.
//!
//! Programs colour their output, draw progress bars and set titles. What is left here is what a person would have seen
//! at the end of each line, without the means:
//!
//! - Escape sequences go. A string sequence (a title, an image) that does not end by the end of the line or within
//!   [`LONGEST_STRING`] was none: what it swallowed is shown, so that no output can hide behind an unfinished title.
//! - After a lone carriage return the text before it is overwritten: the last segment that is not empty is shown. A
//!   terminal would leave the tail of a longer one standing behind a shorter one; that is noise, and is dropped. `ESC[K`
//!   and `ESC[2K` erase what was there. Going to the first column counts as a carriage return.
//! - A backspace takes a character away. Tabs and line ends stay, other control characters go.
//! - Bytes that are not UTF-8 stay, but those that stand for eight-bit control characters act as these.
//!
//! Invariants: the number of line ends never changes, so lines are numbered as in the raw text; cleaning twice is
//! cleaning once; no piece of the text decides by where it was cut. Memory is bounded: a line longer than
//! [`LONGEST_LINE`] is shown in pieces, and what follows cannot overwrite a piece that was shown.

mod decode;

use std::borrow::Cow;

use decode::{Decoder, Unit};

/// How much of a line is held back because it may still be overwritten.
pub const LONGEST_LINE: usize = 64 << 10;
/// How long a string sequence may be. Titles and links are shorter.
pub const LONGEST_STRING: usize = 4 << 10;
/// How long any other sequence may be. Colours take some twenty bytes.
const LONGEST_SEQUENCE: usize = 256;
/// How much of a text is looked at to see whether it is one.
pub const BINARY_HEAD: usize = 8 << 10;

const ESCAPE: u8 = 0x1b;

/// Whether a text that begins like this is no text: it has a NUL in its first 8 KiB.
pub fn is_binary(head: &[u8]) -> bool {
    head[..head.len().min(BINARY_HEAD)].contains(&0)
}

/// What a terminal would show of `text`, which begins at the beginning of a line.
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

/// Cleans a text that arrives in pieces.
#[derive(Debug, Default)]
pub struct Cleaner {
    decoder: Decoder,
    state: State,
    /// What a sequence that may turn out to be none has swallowed.
    held: Vec<u8>,
    /// The last segment of the line that was not empty, and the one being written.
    shown: Vec<u8>,
    segment: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After `ESC`.
    Escape,
    /// After `ESC` and a byte that announces another one: `ESC ( B`.
    Intermediate,
    /// After `ESC [`.
    Control,
    /// Within a string that `ESC \` ends; a bell too, if it is a title.
    String { is_title: bool },
    /// After `ESC` within a string.
    StringEscape,
}

impl Cleaner {
    /// A cleaner at the beginning of a line.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more text and writes what is settled of it.
    pub fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let mut rest = text;
        while !rest.is_empty() {
            if self.is_at_line_start() {
                let plain = plain_lines(rest);
                out.extend_from_slice(&rest[..plain]);
                rest = &rest[plain..];
            }
            let line = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
            self.push_line(&rest[..line], out);
            rest = &rest[line..];
        }
    }

    /// Writes the rest.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        if let Some(unit) = self.decoder.finish() {
            self.take(unit, out);
        }
        self.abandon(out);
        out.extend_from_slice(if self.segment.is_empty() { &self.shown } else { &self.segment });
    }

    fn is_at_line_start(&self) -> bool {
        self.state == State::Text && self.decoder.is_empty() && self.shown.is_empty() && self.segment.is_empty()
    }

    /// Takes a line or part of one.
    fn push_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let mut rest = line;
        while let Some(&first) = rest.first() {
            if self.state == State::Text && self.decoder.is_empty() {
                let run = rest.iter().take(LONGEST_LINE).take_while(|&&byte| is_shown(byte)).count();
                if run > 0 {
                    self.show(&rest[..run], out);
                    rest = &rest[run..];
                    continue;
                }
            }
            rest = &rest[1..];
            if first < 0x80 && self.decoder.is_empty() {
                self.take(Unit::Ascii(first), out);
                continue;
            }
            for unit in self.decoder.push(first).into_iter().flatten() {
                self.take(unit, out);
            }
        }
    }

    /// Takes one character, control character or byte that is neither.
    fn take(&mut self, unit: Unit, out: &mut Vec<u8>) {
        match self.state {
            State::Text => self.take_text(unit, out),
            State::Escape => self.take_escape(unit, out),
            State::Intermediate => match unit.as_ascii() {
                Some(0x20..=0x2f) => self.hold(unit, LONGEST_SEQUENCE, out),
                Some(0x30..=0x7e) => self.end_sequence(),
                _ => self.give_up(unit, out),
            },
            State::Control => match unit.as_ascii() {
                Some(0x20..=0x3f) => self.hold(unit, LONGEST_SEQUENCE, out),
                Some(last @ 0x40..=0x7e) => {
                    self.control(last);
                    self.end_sequence();
                }
                _ => self.give_up(unit, out),
            },
            State::String { is_title } => match unit {
                Unit::Ascii(0x07) if is_title => self.end_sequence(),
                Unit::C1(0x9c) => self.end_sequence(),
                Unit::Ascii(ESCAPE) => self.state = State::StringEscape,
                Unit::Ascii(b'\n' | 0x18 | 0x1a) => self.give_up(unit, out),
                _ => self.hold(unit, LONGEST_STRING, out),
            },
            State::StringEscape => match unit {
                Unit::Ascii(b'\\') => self.end_sequence(),
                _ => {
                    // Another sequence begins where this one should have ended.
                    self.abandon(out);
                    self.state = State::Escape;
                    self.take(unit, out);
                }
            },
        }
    }

    fn take_text(&mut self, unit: Unit, out: &mut Vec<u8>) {
        match unit {
            Unit::Ascii(ESCAPE) => self.state = State::Escape,
            Unit::C1(byte) => self.begin_eight_bit(byte),
            _ => self.take_plain(unit, out),
        }
    }

    /// Takes what begins no sequence.
    fn take_plain(&mut self, unit: Unit, out: &mut Vec<u8>) {
        match unit {
            Unit::Ascii(b'\n') => {
                out.append(if self.segment.is_empty() { &mut self.shown } else { &mut self.segment });
                out.push(b'\n');
                self.shown.clear();
                self.segment.clear();
            }
            Unit::Ascii(b'\r') => self.carriage_return(),
            Unit::Ascii(0x08) => {
                decode::pop_character(&mut self.segment);
            }
            Unit::Ascii(byte) if !is_shown(byte) => {}
            Unit::C1(_) => {}
            _ => self.show(unit.bytes(), out),
        }
    }

    fn take_escape(&mut self, unit: Unit, out: &mut Vec<u8>) {
        self.state = State::Text;
        match unit {
            Unit::Ascii(b'[') => self.state = State::Control,
            Unit::Ascii(b']') => self.state = State::String { is_title: true },
            Unit::Ascii(b'P' | b'X' | b'^' | b'_') => self.state = State::String { is_title: false },
            Unit::Ascii(0x20..=0x2f) => {
                self.state = State::Intermediate;
                self.hold(unit, LONGEST_SEQUENCE, out);
            }
            Unit::Ascii(0x30..=0x7e) => {}
            _ => self.take_text(unit, out),
        }
    }

    /// Begins what an eight-bit control character stands for.
    fn begin_eight_bit(&mut self, byte: u8) {
        self.state = match byte {
            0x9b => State::Control,
            0x9d => State::String { is_title: true },
            0x90 | 0x98 | 0x9e | 0x9f => State::String { is_title: false },
            _ => State::Text,
        };
    }

    /// Does what a control sequence says, as far as it changes which text of a line is seen.
    fn control(&mut self, last: u8) {
        match (last, self.held.as_slice()) {
            (b'K', b"" | b"0") if self.segment.is_empty() => self.shown.clear(),
            (b'K', b"2") => {
                self.shown.clear();
                self.segment.clear();
            }
            (b'K', b"1") => self.segment.clear(),
            (b'G', b"" | b"0" | b"1") => self.carriage_return(),
            _ => {}
        }
    }

    fn carriage_return(&mut self) {
        if !self.segment.is_empty() {
            std::mem::swap(&mut self.shown, &mut self.segment);
            self.segment.clear();
        }
    }

    fn hold(&mut self, unit: Unit, most: usize, out: &mut Vec<u8>) {
        self.held.extend_from_slice(unit.bytes());
        if self.held.len() > most {
            self.abandon(out);
        }
    }

    fn end_sequence(&mut self) {
        self.held.clear();
        self.state = State::Text;
    }

    /// The sequence was none: shows what it swallowed, and then takes what ended it.
    fn give_up(&mut self, unit: Unit, out: &mut Vec<u8>) {
        self.abandon(out);
        self.take_text(unit, out);
    }

    /// Shows what a sequence has swallowed that does not end. Nothing in it begins a sequence again.
    fn abandon(&mut self, out: &mut Vec<u8>) {
        self.state = State::Text;
        let held = std::mem::take(&mut self.held);
        let mut decoder = Decoder::default();
        for &byte in &held {
            for unit in decoder.push(byte).into_iter().flatten() {
                self.take_plain(unit, out);
            }
        }
        if let Some(unit) = decoder.finish() {
            self.take_plain(unit, out);
        }
        self.held = held;
        self.held.clear();
    }

    /// Adds to the line. A line that grows too long is settled as far as it goes.
    fn show(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let mut rest = bytes;
        while self.segment.len() + rest.len() >= LONGEST_LINE {
            let (now, later) = rest.split_at(LONGEST_LINE.saturating_sub(self.segment.len()).min(rest.len()));
            out.append(&mut self.segment);
            out.extend_from_slice(now);
            self.shown.clear();
            rest = later;
        }
        self.segment.extend_from_slice(rest);
    }
}

/// Whether an ASCII byte is shown as it is: printable, or a tab.
fn is_shown(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e)
}

/// How many bytes from the beginning are whole lines with nothing to clean.
fn plain_lines(text: &[u8]) -> usize {
    let mut plain = 0;
    loop {
        // Most text is plain ASCII, and a block of it is seen to be so at once.
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

/// Whether there is nothing to clean: valid text without control characters.
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
