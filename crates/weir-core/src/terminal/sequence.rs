//! Separates text from terminal control sequences. [`super::Cleaner`] writes the text that is shown; redaction searches
//! it for secrets.
//!
//! Invariant: a [`Screen`] receives every byte once and in order, however the text is cut into pieces.

use super::decode::{Decoder, Unit};
use super::{ESCAPE, MAX_LINE_BYTES, MAX_SEQUENCE_BYTES, MAX_STRING_BYTES};

/// Where a text is shown.
pub(crate) trait Screen {
    /// Shows ASCII text, a single character, or bytes that are not a character.
    fn show(&mut self, text: &[u8]);
    /// Applies a control of `length` bytes that are not shown.
    fn control(&mut self, control: Control, length: usize);
}

/// The effect of bytes that are not shown, as far as it changes which text of a line is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    /// Nothing that matters here, such as a colour or a title.
    Nothing,
    LineEnd,
    /// Moves to the beginning of the line.
    Return,
    Back,
    /// Erases from here to the end of the line.
    EraseAfter,
    /// Erases from the beginning of the line to here.
    EraseBefore,
    EraseLine,
}

/// Parses the sequences of a text that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    decoder: Decoder,
    state: ParserState,
    opening: usize,
    /// The bytes after the opening, in case the sequence turns out not to be one.
    held: Vec<u8>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    #[default]
    Text,
    /// After `ESC`.
    Escape,
    /// After `ESC` and a byte that announces another one: `ESC ( B`.
    Intermediate,
    /// After `ESC [`.
    Control,
    /// Within a string, which ends with `ESC \`, or also with a bell if it is a title.
    String { is_title: bool },
    /// After `ESC` within a string.
    StringEscape,
}

impl Parser {
    /// Returns whether the parser is not within a character or sequence.
    pub(crate) fn is_at_text(&self) -> bool {
        self.state == ParserState::Text && self.decoder.is_empty()
    }

    /// Returns how many bytes the parser holds.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.capacity()
    }

    pub(crate) fn push(&mut self, text: &[u8], screen: &mut impl Screen) {
        let mut rest = text;
        while let Some(&first) = rest.first() {
            if self.is_at_text() {
                let run = rest.iter().take(MAX_LINE_BYTES).take_while(|&&byte| is_shown(byte)).count();
                if run > 0 {
                    screen.show(&rest[..run]);
                    rest = &rest[run..];
                    continue;
                }
            }
            rest = &rest[1..];
            if first < 0x80 && self.decoder.is_empty() {
                self.take(Unit::Ascii(first), screen);
                continue;
            }
            for unit in self.decoder.push(first).into_iter().flatten() {
                self.take(unit, screen);
            }
        }
    }

    pub(crate) fn finish(&mut self, screen: &mut impl Screen) {
        if let Some(unit) = self.decoder.finish() {
            self.take(unit, screen);
        }
        let is_escaped = self.state == ParserState::StringEscape;
        self.flush_unfinished(screen);
        if is_escaped {
            screen.control(Control::Nothing, 1);
        }
    }

    /// Takes one character, control character or invalid byte.
    fn take(&mut self, unit: Unit, screen: &mut impl Screen) {
        match self.state {
            ParserState::Text => self.take_text(unit, screen),
            ParserState::Escape => self.take_escape(unit, screen),
            ParserState::Intermediate => match unit.as_ascii() {
                Some(0x20..=0x2f) => self.hold(unit, MAX_SEQUENCE_BYTES, screen),
                Some(0x30..=0x7e) => self.end_sequence(Control::Nothing, 1, screen),
                _ => self.reject(unit, screen),
            },
            ParserState::Control => match unit.as_ascii() {
                Some(0x20..=0x3f) => self.hold(unit, MAX_SEQUENCE_BYTES, screen),
                Some(last @ 0x40..=0x7e) => self.end_sequence(control(last, &self.held), 1, screen),
                _ => self.reject(unit, screen),
            },
            ParserState::String { is_title } => match unit {
                Unit::Ascii(0x07) if is_title => self.end_sequence(Control::Nothing, 1, screen),
                Unit::C1(0x9c) => self.end_sequence(Control::Nothing, 1, screen),
                Unit::Ascii(ESCAPE) => self.state = ParserState::StringEscape,
                Unit::Ascii(b'\n' | 0x18 | 0x1a) => self.reject(unit, screen),
                _ => self.hold(unit, MAX_STRING_BYTES, screen),
            },
            ParserState::StringEscape => match unit {
                Unit::Ascii(b'\\') => self.end_sequence(Control::Nothing, 2, screen),
                _ => {
                    // Another sequence begins where this one should have ended.
                    self.flush_unfinished(screen);
                    self.begin(ParserState::Escape, 1);
                    self.take(unit, screen);
                }
            },
        }
    }

    fn take_text(&mut self, unit: Unit, screen: &mut impl Screen) {
        match unit {
            Unit::Ascii(ESCAPE) => self.begin(ParserState::Escape, 1),
            // An eight-bit control character is equivalent to ESC and another byte.
            Unit::C1(0x9b) => self.begin(ParserState::Control, 1),
            Unit::C1(0x9d) => self.begin(ParserState::String { is_title: true }, 1),
            Unit::C1(0x90 | 0x98 | 0x9e | 0x9f) => self.begin(ParserState::String { is_title: false }, 1),
            _ => take_plain(unit, screen),
        }
    }

    fn take_escape(&mut self, unit: Unit, screen: &mut impl Screen) {
        match unit {
            Unit::Ascii(b'[') => self.begin(ParserState::Control, 2),
            Unit::Ascii(b']') => self.begin(ParserState::String { is_title: true }, 2),
            Unit::Ascii(b'P' | b'X' | b'^' | b'_') => self.begin(ParserState::String { is_title: false }, 2),
            Unit::Ascii(0x20..=0x2f) => {
                self.state = ParserState::Intermediate;
                self.hold(unit, MAX_SEQUENCE_BYTES, screen);
            }
            Unit::Ascii(0x30..=0x7e) => self.end_sequence(Control::Nothing, 1, screen),
            _ => self.reject(unit, screen),
        }
    }

    fn begin(&mut self, state: ParserState, opening: usize) {
        self.state = state;
        self.opening = opening;
    }

    fn hold(&mut self, unit: Unit, most: usize, screen: &mut impl Screen) {
        self.held.extend_from_slice(unit.bytes());
        if self.held.len() > most {
            self.flush_unfinished(screen);
        }
    }

    /// Applies the current sequence, which ends with `last` more bytes.
    fn end_sequence(&mut self, control: Control, last: usize, screen: &mut impl Screen) {
        screen.control(control, self.opening + self.held.len() + last);
        self.held.clear();
        self.begin(ParserState::Text, 0);
    }

    /// Shows the bytes of a sequence that turned out not to be one, then takes the unit that broke it.
    fn reject(&mut self, unit: Unit, screen: &mut impl Screen) {
        self.flush_unfinished(screen);
        self.take_text(unit, screen);
    }

    /// Shows the bytes of an unfinished sequence. Nothing in them begins another sequence.
    fn flush_unfinished(&mut self, screen: &mut impl Screen) {
        if self.opening > 0 {
            screen.control(Control::Nothing, self.opening);
        }
        self.begin(ParserState::Text, 0);
        let mut decoder = Decoder::default();
        for &byte in &self.held {
            for unit in decoder.push(byte).into_iter().flatten() {
                take_plain(unit, screen);
            }
        }
        if let Some(unit) = decoder.finish() {
            take_plain(unit, screen);
        }
        self.held.clear();
    }
}

/// Takes a unit that does not begin a sequence.
fn take_plain(unit: Unit, screen: &mut impl Screen) {
    match unit {
        Unit::Ascii(b'\n') => screen.control(Control::LineEnd, 1),
        Unit::Ascii(b'\r') => screen.control(Control::Return, 1),
        Unit::Ascii(0x08) => screen.control(Control::Back, 1),
        Unit::Ascii(byte) if !is_shown(byte) => screen.control(Control::Nothing, 1),
        Unit::C1(_) | Unit::WideC1(_) => screen.control(Control::Nothing, unit.bytes().len()),
        _ => screen.show(unit.bytes()),
    }
}

fn control(last: u8, parameters: &[u8]) -> Control {
    match (last, parameters) {
        (b'K', b"" | b"0") => Control::EraseAfter,
        (b'K', b"1") => Control::EraseBefore,
        (b'K', b"2") => Control::EraseLine,
        (b'G', b"" | b"0" | b"1") => Control::Return,
        _ => Control::Nothing,
    }
}

/// Returns whether an ASCII byte is shown as it is: printable, or a tab.
fn is_shown(byte: u8) -> bool {
    matches!(byte, b'\t' | 0x20..=0x7e)
}
