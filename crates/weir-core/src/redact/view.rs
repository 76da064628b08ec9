//! The visible form of a text, mapped to the bytes of its stored form.
//!
//! Escape sequences, control characters, characters deleted by a backspace, and characters without width are left out.
//! What ends a visible stretch of a line (a line end, a carriage return, an erased line) stays as one byte. Characters
//! of ASCII are decoded where JSON or a URL writes them by their number, as is `/` where JSON escapes it.

use std::collections::VecDeque;

use crate::terminal::decode::pop_character;
use crate::terminal::sequence::{Control, Screen};

/// Maximum number of bytes that backspaces may delete.
const MAX_BACKSPACE_BYTES: usize = 256;
/// Maximum number of invisible bytes, in addition to eight times the visible ones, before a text is cut.
const MAX_UNSEEN_BYTES: usize = 1 << 20;

/// Bytes of the view, and the bytes of the text that they stand for.
#[derive(Debug, Clone, Copy)]
struct ByteMapping {
    /// As many as `text`, or one for all of them, or none.
    view: usize,
    text: usize,
}

/// The visible form of a text that arrives in pieces.
#[derive(Debug, Default)]
pub(super) struct View {
    /// Visible bytes that were not taken yet.
    pending: Vec<u8>,
    runs: VecDeque<ByteMapping>,
    /// Number of the last bytes that a backspace may delete: those of the visible line.
    room: usize,
    /// What may be the beginning of a character written by its number.
    escape: Vec<u8>,
    /// The position in `pending` where the text is cut, because too many bytes were invisible there to be held.
    cut: Option<usize>,
    /// Number of visible and invisible bytes since the last cut.
    seen: usize,
    unseen: usize,
}

/// A part of a view that can no longer change.
pub(super) struct SettledPart {
    pub(super) seen: Vec<u8>,
    /// Whether nothing that follows may belong to this part.
    pub(super) is_cut: bool,
}

impl View {
    /// Takes the visible bytes that can no longer change, up to a cut.
    pub(super) fn settled(&mut self) -> Option<SettledPart> {
        let length = self.cut.unwrap_or(self.pending.len().saturating_sub(MAX_BACKSPACE_BYTES));
        let is_cut = self.cut.take().is_some();
        (length > 0 || is_cut).then(|| SettledPart { seen: self.pending.drain(..length).collect(), is_cut })
    }

    pub(super) fn finish(&mut self) -> SettledPart {
        self.flush_escape();
        SettledPart { seen: std::mem::take(&mut self.pending), is_cut: true }
    }

    /// Returns how many bytes of the text correspond to the next `view` bytes, including invisible ones before each of
    /// them.
    pub(super) fn follow(&mut self, view: usize) -> usize {
        let (mut rest, mut text) = (view, 0);
        while let Some(run) = self.runs.front_mut().filter(|_| rest > 0) {
            if run.view == run.text && run.view > rest {
                *run = ByteMapping { view: run.view - rest, text: run.text - rest };
                return text + rest;
            }
            rest -= run.view;
            text += run.text;
            self.runs.pop_front();
        }
        text
    }

    /// Returns how many invisible bytes of the text precede the next visible one.
    pub(super) fn follow_unseen(&mut self) -> usize {
        self.runs.pop_front_if(|run| run.view == 0).map_or(0, |run| run.text)
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.pending.capacity() + self.runs.capacity() * size_of::<ByteMapping>()
    }

    fn push(&mut self, bytes: &[u8]) {
        self.seen += bytes.len();
        self.pending.extend_from_slice(bytes);
        self.room = (self.room + bytes.len()).min(MAX_BACKSPACE_BYTES);
        match self.runs.back_mut().filter(|run| run.view == run.text) {
            Some(run) => *run = ByteMapping { view: run.view + bytes.len(), text: run.text + bytes.len() },
            None => self.runs.push_back(ByteMapping { view: bytes.len(), text: bytes.len() }),
        }
    }

    fn push_unseen(&mut self, length: usize) {
        match self.runs.back_mut().filter(|run| run.view == 0) {
            Some(run) => run.text += length,
            None => self.runs.push_back(ByteMapping { view: 0, text: length }),
        }
        self.unseen += length;
        if self.unseen > MAX_UNSEEN_BYTES + 8 * self.seen {
            self.cut = Some(self.pending.len());
            (self.seen, self.unseen, self.room) = (0, 0, 0);
        }
    }

    /// Adds a byte that stands for several.
    fn push_for(&mut self, byte: u8, length: usize) {
        self.seen += 1;
        self.pending.push(byte);
        self.room = (self.room + 1).min(MAX_BACKSPACE_BYTES);
        self.runs.push_back(ByteMapping { view: 1, text: length });
    }

    /// Adds a byte that ends a stretch of a line.
    fn end_stretch(&mut self, byte: u8, length: usize) {
        self.push_for(byte, length);
        self.room = 0;
    }

    fn back(&mut self) {
        let before = self.pending.len();
        let mut kept = self.pending.split_off(before - self.room.min(4));
        let characters = kept.len();
        pop_character(&mut kept);
        let popped = characters - kept.len();
        self.pending.append(&mut kept);
        self.room -= popped;
        let mut unseen = 1;
        let mut rest = popped;
        while let Some(run) = self.runs.pop_back_if(|run| rest > 0 || run.view == 0) {
            match run {
                ByteMapping { view: 0, text } => unseen += text,
                ByteMapping { view, text } if view == text => {
                    unseen += rest.min(view);
                    if view > rest {
                        self.runs.push_back(ByteMapping { view: view - rest, text: view - rest });
                    }
                    rest = rest.saturating_sub(view);
                }
                ByteMapping { text, .. } => {
                    unseen += text;
                    rest -= 1;
                }
            }
        }
        self.push_unseen(unseen);
    }

    /// Takes a byte of a character that may be written by its number.
    fn push_escape(&mut self, byte: u8) {
        self.escape.push(byte);
        match read_escape(&self.escape) {
            Escape::Whole(character) => {
                self.push_for(character, self.escape.len());
                self.escape.clear();
            }
            Escape::Begun => {}
            Escape::None => {
                self.escape.pop();
                self.flush_escape();
                self.show(&[byte]);
            }
        }
    }

    fn flush_escape(&mut self) {
        let escape = std::mem::take(&mut self.escape);
        if !escape.is_empty() {
            self.push(&escape);
        }
    }
}

impl Screen for View {
    fn show(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(&first) = rest.first() {
            if !self.escape.is_empty() || first == b'%' || first == b'\\' {
                rest = &rest[1..];
                if self.escape.is_empty() { self.escape.push(first) } else { self.push_escape(first) }
            } else if !first.is_ascii() {
                // The parser shows one character at a time.
                if is_without_width(rest) {
                    self.push_unseen(rest.len());
                } else {
                    self.push(rest);
                }
                return;
            } else {
                let plain = rest.iter().position(|byte| b"%\\".contains(byte)).unwrap_or(rest.len());
                self.push(&rest[..plain]);
                rest = &rest[plain..];
            }
        }
    }

    fn control(&mut self, control: Control, length: usize) {
        self.flush_escape();
        match control {
            Control::Nothing | Control::EraseAfter => self.push_unseen(length),
            Control::LineEnd => self.end_stretch(b'\n', length),
            Control::Return | Control::EraseBefore | Control::EraseLine => self.end_stretch(b'\r', length),
            Control::Back => self.back(),
        }
    }
}

/// Whether the visible form of a text differs from its stored form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// The first difference is here.
    Found(usize),
    /// There is no difference before this position, where something incomplete begins.
    Clear(usize),
}

/// Number of bytes that are checked at once.
const BLOCK_BYTES: usize = 32;

/// Searches for the first difference between visible and stored form. `from` must be the beginning of a character.
pub(super) fn search(text: &[u8], from: usize) -> Difference {
    let mut at = from;
    while at < text.len() {
        // Most text is plain, which is recognised a block at a time.
        let (blocks, _) = text[at..].as_chunks::<BLOCK_BYTES>();
        at += BLOCK_BYTES * blocks.iter().take_while(|block| is_plain(block)).count();
        let block_end = text.len().min(at + BLOCK_BYTES);
        while at < block_end {
            at += text[at..block_end].iter().take_while(|&&byte| PLAIN[usize::from(byte)]).count();
            match text.get(at..).filter(|rest| !rest.is_empty()).map(width_of) {
                Some(Width::Seen(length)) => at += length,
                Some(Width::Unseen) => return Difference::Found(at),
                Some(Width::Incomplete) => return Difference::Clear(at),
                None => {}
            }
        }
    }
    Difference::Clear(text.len())
}

fn is_plain(block: &[u8; BLOCK_BYTES]) -> bool {
    !block.iter().fold(false, |any, &byte| any | is_special(byte))
}

/// Returns whether a byte may begin something whose visible form differs from its stored form.
const fn is_special(byte: u8) -> bool {
    // As a signed number, one more than a byte that is neither printable nor ASCII is below 0x21.
    let is_shown = byte.wrapping_add(1).cast_signed() >= 0x21;
    !is_shown & (byte != b'\n') & (byte != b'\t') & (byte != b'\r') | (byte == b'%') | (byte == b'\\')
}

static PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        plain[byte] = !is_special(byte as u8);
        byte += 1;
    }
    plain
};

enum Width {
    Seen(usize),
    Unseen,
    Incomplete,
}

/// Classifies what is at the beginning of a text.
fn width_of(text: &[u8]) -> Width {
    match text[0] {
        b'\n' | b'\t' | b'\r' => Width::Seen(1),
        0..0x20 | 0x7f => Width::Unseen,
        b'%' | b'\\' => match read_escape(&text[..text.len().min(6)]) {
            Escape::Whole(_) => Width::Unseen,
            Escape::Begun => Width::Incomplete,
            Escape::None => Width::Seen(1),
        },
        0x20..0x7f => Width::Seen(1),
        _ => {
            let head = &text[..text.len().min(4)];
            match head.utf8_chunks().next() {
                Some(chunk) if chunk.valid().is_empty() => {
                    let length = chunk.invalid().len();
                    match text[0] {
                        _ if length == head.len() && is_beginning(head) => Width::Incomplete,
                        0x80..0xa0 => Width::Unseen,
                        _ => Width::Seen(length),
                    }
                }
                Some(chunk) => {
                    let length = chunk.valid().chars().next().map_or(1, char::len_utf8);
                    let character = &text[..length];
                    let is_control = character[0] == 0xc2 && character[1] < 0xa0;
                    if is_control || is_without_width(character) { Width::Unseen } else { Width::Seen(length) }
                }
                None => Width::Seen(1),
            }
        }
    }
}

/// Returns whether these bytes, which are not a character, may be completed to one.
fn is_beginning(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(error) if error.error_len().is_none())
}

enum Escape {
    Whole(u8),
    Begun,
    None,
}

/// Reads a printable character written as `%5F` or `\u005f`, a line end written as `%0A`, or `/` written as `\/`, from
/// the beginning of `text`.
fn read_escape(text: &[u8]) -> Escape {
    if text.starts_with(b"\\/") {
        return Escape::Whole(b'/');
    }
    let prefix: &[u8] = if text[0] == b'%' { b"%" } else { b"\\u00" };
    if text.len() <= prefix.len() {
        return if prefix.starts_with(text) { Escape::Begun } else { Escape::None };
    }
    let Some(digits) = text.strip_prefix(prefix) else { return Escape::None };
    let digit = |at: usize| digits.get(at).and_then(|&byte| char::from(byte).to_digit(16));
    match (digit(0), digit(1)) {
        (Some(0), Some(10)) if prefix == b"%" => Escape::Whole(b'\n'),
        (Some(high @ 2..=7), Some(low)) if (high, low) != (7, 15) => Escape::Whole((high * 16 + low) as u8),
        (Some(0 | 2..=7), None) if digits.len() == 1 => Escape::Begun,
        _ => Escape::None,
    }
}

/// Returns whether a character has no width: the soft hyphen, joiners, direction marks, tags. Variation selectors of
/// emoji are not included: they are common, and do not occur in tokens.
fn is_without_width(character: &[u8]) -> bool {
    let character = std::str::from_utf8(character).ok().and_then(|text| text.chars().next());
    matches!(
        character,
        Some(
            '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}',
        )
    )
}
