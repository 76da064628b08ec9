//! The heading of a chunk: a path, short enough for one line.
//!
//! Invariant: a heading is never longer than [`MAX_HEADING_BYTES`]; what does not fit is left out from its beginning.

pub(super) const MAX_HEADING_BYTES: usize = 120;
const MAX_PART_BYTES: usize = 72;
const HEADING_SEPARATOR: &str = " > ";

/// Returns one part of a path: one line, without runs of spaces, cut between two characters.
pub(super) fn part(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(&text[..text.len().min(MAX_PART_BYTES * 4)]);
    let mut part = String::new();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
        if !part.is_empty() {
            part.push(' ');
        }
        part.push_str(word);
    }
    shorten(&mut part, MAX_PART_BYTES);
    part
}

/// Returns a path of these parts. The last part is the closest, so the first ones are left out if there are too many.
pub(super) fn path<'a>(parts: impl DoubleEndedIterator<Item = &'a str>) -> String {
    let mut chosen: Vec<&str> = Vec::new();
    let mut length = 0;
    for part in parts.rev().filter(|part| !part.is_empty()) {
        length += part.len() + if chosen.is_empty() { 0 } else { HEADING_SEPARATOR.len() };
        if length > MAX_HEADING_BYTES {
            break;
        }
        chosen.push(part);
    }
    chosen.reverse();
    chosen.join(HEADING_SEPARATOR)
}

/// Cuts `text` to at most this many bytes, including the mark of the cut.
pub(super) fn shorten(text: &mut String, longest: usize) {
    if text.len() > longest {
        text.truncate(text.floor_char_boundary(longest - '…'.len_utf8()));
        text.truncate(text.trim_end().len());
        text.push('…');
    }
}
