//! Distinguishes characters from control characters in bytes that may be UTF-8.
//!
//! Invariant: a byte from 0x80 to 0x9f is a control character only if it is not part of a character, not even of one
//! that was cut short. So a title may contain a “, whose last byte would otherwise end it.

/// One unit of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// An ASCII character or control character.
    Ascii(u8),
    /// A character of several bytes, or the beginning of one that was cut short, or an invalid byte.
    Other([u8; 4], u8),
    /// An eight-bit control character.
    C1(u8),
    /// A character of U+0080 to U+009F. It has no effect and is not shown.
    WideC1([u8; 2]),
}

impl Unit {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Ascii(byte) | Self::C1(byte) => std::slice::from_ref(byte),
            Self::Other(bytes, length) => bytes.get(..usize::from(*length)).unwrap_or_default(),
            Self::WideC1(bytes) => bytes,
        }
    }

    pub(super) fn as_ascii(&self) -> Option<u8> {
        match self {
            Self::Ascii(byte) => Some(*byte),
            _ => None,
        }
    }
}

/// Combines bytes into units. Holds at most three bytes.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: [u8; 4],
    length: u8,
    wanted: u8,
}

impl Decoder {
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Takes a byte and returns the units that it completes: a character that was cut short, and the byte itself.
    pub(super) fn push(&mut self, byte: u8) -> [Option<Unit>; 2] {
        let mut cut_short = None;
        if self.length > 0 {
            if follows(self.pending[usize::from(self.length) - 1], self.length, byte) {
                self.pending[usize::from(self.length)] = byte;
                self.length += 1;
                return [(self.length == self.wanted).then(|| self.take()), None];
            }
            cut_short = Some(self.take());
        }
        let unit = match byte {
            0..=0x7f => Some(Unit::Ascii(byte)),
            0x80..=0x9f => Some(Unit::C1(byte)),
            0xc2..=0xf4 => {
                self.pending[0] = byte;
                self.length = 1;
                self.wanted = match byte {
                    0xc2..=0xdf => 2,
                    0xe0..=0xef => 3,
                    _ => 4,
                };
                None
            }
            _ => Some(Unit::Other([byte, 0, 0, 0], 1)),
        };
        [cut_short, unit]
    }

    pub(super) fn finish(&mut self) -> Option<Unit> {
        (self.length > 0).then(|| self.take())
    }

    fn take(&mut self) -> Unit {
        let unit = Unit::Other(self.pending, self.length);
        self.length = 0;
        // U+0080 to U+009F are control characters however they are encoded. They do not begin a sequence, so that more
        // is shown.
        match unit {
            Unit::Other([0xc2, byte @ 0x80..=0x9f, ..], 2) => Unit::WideC1([0xc2, byte]),
            other => other,
        }
    }
}

/// Returns whether `byte` can be the next of a character that has `length` bytes so far, the last of them `last`.
fn follows(last: u8, length: u8, byte: u8) -> bool {
    // There are special rules only after the first byte: no overlong forms, no surrogates, nothing past U+10FFFF.
    match (length, last) {
        (1, 0xe0) => (0xa0..=0xbf).contains(&byte),
        (1, 0xed) => (0x80..=0x9f).contains(&byte),
        (1, 0xf0) => (0x90..=0xbf).contains(&byte),
        (1, 0xf4) => (0x80..=0x8f).contains(&byte),
        _ => (0x80..=0xbf).contains(&byte),
    }
}

/// Removes the last character, or the last byte if it does not belong to a character.
pub(crate) fn pop_character(text: &mut Vec<u8>) {
    let start = (1..=4.min(text.len())).map(|length| text.len() - length).find(|&at| text[at] & 0xc0 != 0x80);
    match start.filter(|&at| std::str::from_utf8(&text[at..]).is_ok()) {
        Some(at) => text.truncate(at),
        None => drop(text.pop()),
    }
}
