//! An exact change of a text: where it applies, and what to say when it does not. Pure.

use std::borrow::Cow;
use std::ops::Range;

use weir_core::wording::one_line;

/// How many lines are named where a text is found more than once.
const MOST_LINES: usize = 12;
/// How many lines are shown that look like what was not found.
const EXCERPT: usize = 6;
/// Lines that share fewer of their words than this, in hundredths, do not look alike.
const ALIKE: usize = 50;

/// A change to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// What is there.
    pub old: &'a str,
    /// What is to be there.
    pub new: &'a str,
    /// Wherever it is found, or only if it is found once.
    pub all: bool,
}

/// A change as it was made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Made {
    /// The text afterwards.
    pub bytes: Vec<u8>,
    /// What was replaced, before and after.
    pub places: Vec<(Range<usize>, Range<usize>)>,
}

/// Why a change cannot be made.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// There is nothing to look for.
    Empty,
    /// Nothing would change.
    Same,
    /// It is not there; lines that look like it are.
    Absent(Option<String>),
    /// It is there more than once, in these lines; and how often.
    Many(Vec<usize>, usize),
}

/// Makes a change.
pub(crate) fn apply(bytes: &[u8], wanted: Wanted<'_>) -> Result<Made, Miss> {
    if wanted.old.is_empty() {
        return Err(Miss::Empty);
    }
    if wanted.old == wanted.new {
        return Err(Miss::Same);
    }
    // The file's own line ends first; then what was written, for a file that mixes them.
    let own = line_end(bytes);
    let in_own = (with_line_ends(wanted.old, own), with_line_ends(wanted.new, own));
    let as_given = (Cow::Borrowed(wanted.old), Cow::Borrowed(wanted.new));
    for (old, new) in [in_own, as_given] {
        let found = find(bytes, old.as_bytes());
        match found.len() {
            0 => {}
            1 => return Ok(made(bytes, &found, (&old, &new))),
            _ if wanted.all => return Ok(made(bytes, &apart(&found, old.len()), (&old, &new))),
            count => {
                let lines = found.iter().take(MOST_LINES).map(|&at| line_number(bytes, at)).collect();
                return Err(Miss::Many(lines, count));
            }
        }
    }
    Err(Miss::Absent(alike(&String::from_utf8_lossy(bytes), wanted.old)))
}

/// How most lines of a text end.
pub(crate) fn line_end(bytes: &[u8]) -> &'static str {
    let all = bytes.iter().filter(|byte| **byte == b'\n').count();
    let long = bytes.windows(2).filter(|pair| *pair == b"\r\n").count();
    if long * 2 > all { "\r\n" } else { "\n" }
}

/// A text with these line ends.
pub(crate) fn with_line_ends<'a>(text: &'a str, end: &str) -> Cow<'a, str> {
    match (end, text.contains('\r')) {
        ("\n", false) => Cow::Borrowed(text),
        ("\n", true) => Cow::Owned(text.replace("\r\n", "\n")),
        _ => Cow::Owned(text.replace("\r\n", "\n").replace('\n', end)),
    }
}

/// Every place where a text begins, those that overlap too.
fn find(bytes: &[u8], old: &[u8]) -> Vec<usize> {
    let Some(first) = old.first() else { return Vec::new() };
    let starts = bytes.iter().enumerate().filter(|(_, byte)| *byte == first).map(|(at, _)| at);
    starts.filter(|&at| bytes[at..].starts_with(old)).collect()
}

/// Of places that overlap, the first.
fn apart(found: &[usize], length: usize) -> Vec<usize> {
    let mut end = 0;
    let mut kept = Vec::with_capacity(found.len());
    for &at in found {
        if at >= end {
            kept.push(at);
            end = at + length;
        }
    }
    kept
}

fn made(bytes: &[u8], found: &[usize], (old, new): (&str, &str)) -> Made {
    let mut made = Made { bytes: Vec::with_capacity(bytes.len() + new.len()), places: Vec::with_capacity(found.len()) };
    let mut from = 0;
    for &at in found {
        made.bytes.extend_from_slice(&bytes[from..at]);
        let begin = made.bytes.len();
        made.bytes.extend_from_slice(new.as_bytes());
        made.places.push((at..at + old.len(), begin..made.bytes.len()));
        from = at + old.len();
    }
    made.bytes.extend_from_slice(&bytes[from..]);
    made
}

fn line_number(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The lines that look most like the beginning of what was not found.
fn alike(text: &str, old: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let sought: Vec<&str> = old.lines().skip_while(|line| line.trim().is_empty()).collect();
    let first = sought.first()?;
    let score = |at: usize| {
        // Of lines that look alike, those count more after which the text goes on alike.
        let next = sought.get(1).zip(lines.get(at + 1)).map_or(0, |(sought, line)| likeness(sought, line));
        likeness(first, lines[at]) * 4 + next
    };
    let best = (0..lines.len()).max_by_key(|&at| (score(at), std::cmp::Reverse(at)))?;
    if likeness(first, lines[best]) < ALIKE {
        return None;
    }
    let shown = lines[best..].iter().take(sought.len().clamp(1, EXCERPT)).enumerate();
    let shown: Vec<String> = shown.map(|(n, line)| format!("{}: {}", best + n + 1, one_line(line, 160))).collect();
    Some(shown.join("\n"))
}

/// How many of their words two lines share, in hundredths; all when they differ in blanks alone.
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
