//! Applies an exact change to a text: finds where it applies, and explains why it does not. Pure.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter};
use weir_core::wording::one_line;

/// The maximum number of lines that are listed if a text is found more than once.
const MAX_LISTED_LINES: usize = 12;
/// How many lines are shown that resemble a text that was not found.
const MAX_EXCERPT_LINES: usize = 6;
/// Lines that share a smaller percentage of their words are not considered similar.
const MIN_SIMILAR_PERCENT: usize = 50;

#[derive(Debug, Clone, Copy)]
pub struct Edit<'a> {
    pub old: &'a str,
    pub new: &'a str,
    /// Whether to replace every occurrence. Otherwise, the text must occur exactly once.
    pub all: bool,
}

#[derive(Debug, PartialEq, Eq)]
pub struct AppliedEdit {
    /// The text afterwards.
    pub bytes: Vec<u8>,
    /// The replaced ranges of bytes, before and after.
    pub places: Vec<(Range<usize>, Range<usize>)>,
}

/// Why a change cannot be made.
#[derive(Debug, PartialEq, Eq)]
pub enum EditError {
    /// The text to replace is empty.
    Empty,
    Same,
    /// The text does not occur. Has similar lines, if there are any.
    Absent(Option<String>),
    /// The text occurs more than once: in these lines, and this many times.
    Many(Vec<usize>, usize),
}

pub fn apply(bytes: &[u8], wanted: Edit<'_>) -> Result<AppliedEdit, EditError> {
    if wanted.old.is_empty() {
        return Err(EditError::Empty);
    }
    // A read shows all line ends as `\n`, so each of them matches any.
    let [old, new] = [wanted.old, wanted.new].map(|text| text.replace("\r\n", "\n"));
    if old == new {
        return Err(EditError::Same);
    }
    let found = find(bytes, old.as_bytes());
    match found.len() {
        0 => Err(EditError::Absent(alike(&String::from_utf8_lossy(bytes), wanted.old))),
        1 => Ok(made(bytes, found, &new)),
        _ if wanted.all => Ok(made(bytes, apart(found), &new)),
        count => {
            let lines = found.iter().take(MAX_LISTED_LINES).map(|range| line_number(bytes, range.start)).collect();
            Err(EditError::Many(lines, count))
        }
    }
}

fn line_end(bytes: &[u8]) -> &'static str {
    let all = bytes.iter().filter(|byte| **byte == b'\n').count();
    let long = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
    if long * 2 > all { "\r\n" } else { "\n" }
}

fn with_line_ends<'a>(text: &'a str, end: &str) -> Cow<'a, str> {
    match (end, text.contains('\r')) {
        ("\n", false) => Cow::Borrowed(text),
        ("\n", true) => Cow::Owned(text.replace("\r\n", "\n")),
        _ => Cow::Owned(text.replace("\r\n", "\n").replace('\n', end)),
    }
}

/// Returns a text with the line ends, and after the byte order mark, of the content that it replaces.
pub fn in_form_of<'a>(text: &'a str, content: &[u8]) -> Cow<'a, str> {
    const MARK: &str = "\u{feff}";
    let text = with_line_ends(text, line_end(content));
    let is_bare = content.starts_with(MARK.as_bytes()) && !text.is_empty() && !text.starts_with(MARK);
    if is_bare { Cow::Owned(format!("{MARK}{text}")) } else { text }
}

/// Returns every range in which a text occurs, including overlapping ones.
fn find(bytes: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    // Up to its first line end, the text occurs as it is.
    let (first, rest) = old.split_at(memchr(b'\n', old).unwrap_or(old.len()));
    let range = |at: usize| Some(at..at + first.len() + length_at_start(&bytes[at + first.len()..], rest)?);
    if first.is_empty() {
        // A line end is not found a second time without its first byte.
        let starts = memchr_iter(b'\n', bytes).map(|at| at - usize::from(bytes[..at].ends_with(b"\r")));
        return starts.filter_map(range).collect();
    }
    let finder = Finder::new(first);
    let mut from = 0;
    let starts = std::iter::from_fn(|| {
        let at = from + finder.find(&bytes[from..])?;
        from = at + 1;
        Some(at)
    });
    starts.filter_map(range).collect()
}

/// Returns how many bytes a text takes at the beginning of others, if it is there. Its line ends match any line ends.
fn length_at_start(bytes: &[u8], old: &[u8]) -> Option<usize> {
    let mut at = 0;
    for byte in old {
        at += usize::from(*byte == b'\n' && bytes.get(at) == Some(&b'\r'));
        if bytes.get(at) != Some(byte) {
            return None;
        }
        at += 1;
    }
    Some(at)
}

/// Keeps only the first of overlapping ranges.
fn apart(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    let is_apart = |range: &Range<usize>| {
        let is_apart = range.start >= end;
        end = if is_apart { range.end } else { end };
        is_apart
    };
    found.into_iter().filter(is_apart).collect()
}

/// Replaces ranges by a text, with the line ends of what it replaces or else of the file.
fn made(bytes: &[u8], found: Vec<Range<usize>>, new: &str) -> AppliedEdit {
    let mut made =
        AppliedEdit { bytes: Vec::with_capacity(bytes.len() + new.len()), places: Vec::with_capacity(found.len()) };
    let of_file = line_end(bytes);
    let mut from = 0;
    for range in found {
        let replaced = &bytes[range.clone()];
        let end = if replaced.contains(&b'\n') { line_end(replaced) } else { of_file };
        made.bytes.extend_from_slice(&bytes[from..range.start]);
        let begin = made.bytes.len();
        made.bytes.extend_from_slice(with_line_ends(new, end).as_bytes());
        from = range.end;
        made.places.push((range, begin..made.bytes.len()));
    }
    made.bytes.extend_from_slice(&bytes[from..]);
    made
}

fn line_number(bytes: &[u8], at: usize) -> usize {
    memchr_iter(b'\n', &bytes[..at]).count() + 1
}

/// Returns the lines that are most similar to the beginning of a text that was not found.
fn alike(text: &str, old: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let sought: Vec<&str> = old.lines().skip_while(|line| line.trim().is_empty()).collect();
    let first = sought.first()?;
    let score = |at: usize| {
        // Among similar lines, those whose next line is also similar rank higher.
        let next = sought.get(1).zip(lines.get(at + 1)).map_or(0, |(sought, line)| likeness(sought, line));
        likeness(first, lines[at]) * 4 + next
    };
    let best = (0..lines.len()).max_by_key(|&at| (score(at), std::cmp::Reverse(at)))?;
    if likeness(first, lines[best]) < MIN_SIMILAR_PERCENT {
        return None;
    }
    let shown = lines[best..].iter().take(sought.len().clamp(1, MAX_EXCERPT_LINES)).enumerate();
    let shown: Vec<String> = shown.map(|(n, line)| format!("{}: {}", best + n + 1, one_line(line, 160))).collect();
    Some(shown.join("\n"))
}

/// Returns the percentage of words that two lines share, or 100 if they differ only in whitespace.
fn likeness(one: &str, other: &str) -> usize {
    let words = |line: &str| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    let blank = |line: &str| line.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    if blank(one) == blank(other) {
        return if blank(one).is_empty() { 0 } else { 100 };
    }
    let (one, mut other) = (words(one), words(other));
    let all = one.len().max(other.len());
    let shared = one.iter().filter(|word| {
        let at = other.iter().position(|known| known == *word);
        at.map(|at| other.swap_remove(at)).is_some()
    });
    (shared.count() * 100).checked_div(all).unwrap_or(0).min(99)
}

#[cfg(test)]
mod tests;
