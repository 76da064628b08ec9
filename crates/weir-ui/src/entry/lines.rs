//! The lines of a stored text that a page shows, and those that it folds.
//!
//! Invariants: every line is shown, folded, or behind a link of its fold; memory is bounded whatever the text is.

use std::ops::ControlFlow;

use regex::{Regex, RegexBuilder};
use weir_core::wording::{one_line, size};
use weir_host::error::CommandError;
use weir_pages::entry::{Line, Piece};
use weir_store::BlobReader;

use super::super::fields::Fields;

/// A text of up to this many lines is shown whole.
const MAX_WHOLE_LINES: u64 = 400;
/// The number of lines shown at each end of a longer one, before and after a line of the digest, and around a line
/// asked for. What a failure was follows the line that names it.
const END_LINES: u64 = 20;
const LINES_BEFORE_NAMED: u64 = 1;
const LINES_AFTER_NAMED: u64 = 8;
const LINES_AROUND_ASKED: u64 = 10;
const MAX_FOLD_CHARS: usize = 60;
/// The maximum number of lines of the digest that are shown in the text.
const MAX_NAMED_LINES: usize = 60;
/// The maximum number of lines of a fold that is on the page, and of all of them together.
const MAX_FOLDED_LINES: u64 = 200;
const MAX_ALL_FOLDED_LINES: u64 = 1_500;
/// The maximum number of lines that are shown if all or some are asked for, and of those that match a pattern.
const MAX_ASKED_LINES: u64 = 5_000;
const MAX_MATCHING_LINES: usize = 300;
/// How much of a text is searched for a pattern, in bytes.
const MAX_SEARCHED_BYTES: u64 = 64 << 20;
const MAX_LINE_CHARS: usize = 2_000;
/// From this many stretches on, a text is read once from its beginning.
const MANY_STRETCHES: usize = 4;
/// How a line begins that says that something failed.
const FAILURES: [&str; 7] = ["error", "Error", "ERROR", "FAIL", "fatal:", "panicked", "thread '"];

/// The lines that an address asks for.
pub(super) enum WantedLines {
    /// The ends of the text, and what its digest names.
    Folded,
    All,
    /// From the first to the last.
    Range(u64, u64),
    /// Those that match a pattern.
    Matching(Box<Regex>),
}

impl WantedLines {
    pub(super) fn read(fields: &Fields) -> Result<Self, CommandError> {
        let Some(text) = fields.get("lines").map(str::trim) else {
            return Ok(if fields.get("unfold") == Some("all") { Self::All } else { Self::Folded });
        };
        if let Some(pattern) = text.strip_prefix('/') {
            let pattern = pattern.strip_suffix('/').unwrap_or(pattern);
            let regex = RegexBuilder::new(pattern).size_limit(1 << 20).build();
            let wrong = |error: regex::Error| CommandError::usage(format!("this is not a pattern: {error}"));
            return regex.map(|regex| Self::Matching(Box::new(regex))).map_err(wrong);
        }
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let range = match text.split_once('-') {
            None => number(text)
                .map(|line| (line.saturating_sub(LINES_AROUND_ASKED).max(1), line.saturating_add(LINES_AROUND_ASKED))),
            Some((from, "")) => number(from).map(|from| (from, u64::MAX)),
            Some((from, to)) => number(from).zip(number(to)),
        };
        let range = range.filter(|(from, to)| 0 < *from && from <= to);
        range.map(|(from, to)| Self::Range(from, to)).ok_or_else(|| {
            CommandError::usage(format!("`{text}` names no lines")).hint("write 10-40, 10-, 120 or /pattern/")
        })
    }
}

/// The part of a text that a page shows.
pub(super) struct ShownText {
    pub(super) pieces: Vec<Piece>,
    pub(super) lines: u64,
    pub(super) remarks: Vec<String>,
}

/// A stretch of lines, and how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    from: u64,
    to: u64,
    shown: Showing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Showing {
    Open,
    Folded,
    /// Folded, with a link in place of the lines.
    Linked,
}

/// Returns the lines that are wanted of a text. `named` are the lines that its digest names.
pub(super) fn shown(text: &BlobReader, named: &[u64], wanted: &WantedLines) -> Result<ShownText, CommandError> {
    let lines = count(text)?;
    let mut remarks = Vec::new();
    let (open, folded) = match wanted {
        WantedLines::Folded if lines <= MAX_WHOLE_LINES => (vec![(1, lines)], 0),
        WantedLines::Folded => (ends_and_named(lines, named), MAX_ALL_FOLDED_LINES),
        WantedLines::All => (vec![(1, lines.min(MAX_ASKED_LINES))], 0),
        WantedLines::Range(from, to) => (vec![(*from, (*to).min(from.saturating_add(MAX_ASKED_LINES - 1)))], 0),
        WantedLines::Matching(pattern) => (matching(text, pattern, &mut remarks)?, 0),
    };
    let nothing = open.is_empty() || open.iter().all(|(from, _)| *from > lines);
    let stretches = if nothing { Vec::new() } else { stretches(&open, lines, folded) };
    if matches!(wanted, WantedLines::All) && lines > MAX_ASKED_LINES {
        remarks.push(format!("The first {MAX_ASKED_LINES} lines are unfolded; Raw text has all of them."));
    }
    let read = read(text, &stretches)?;
    if read.iter().any(|line| line.was_cut) {
        remarks.push(format!("Lines of more than {MAX_LINE_CHARS} characters are cut; Raw text has all of them."));
    }
    Ok(ShownText { pieces: pieces(text, &stretches, read)?, lines, remarks })
}

pub(super) fn end_of(text: &BlobReader) -> Result<Vec<Piece>, CommandError> {
    let lines = count(text)?;
    let stretches = stretches(&[(lines.saturating_sub(MAX_WHOLE_LINES).max(1), lines)], lines, 0);
    let last: Vec<Stretch> = stretches.into_iter().filter(|stretch| stretch.shown == Showing::Open).collect();
    pieces(text, &last, read(text, &last)?)
}

fn count(text: &BlobReader) -> Result<u64, CommandError> {
    let ends = text.line_ends_before(text.bytes())?;
    let last = text.range(text.bytes().saturating_sub(1)..text.bytes())?;
    Ok(ends + u64::from(!last.is_empty() && last != b"\n"))
}

/// Returns the ends of a text and the lines around those that are named, in order.
fn ends_and_named(lines: u64, named: &[u64]) -> Vec<(u64, u64)> {
    let around = |line: &u64| {
        (line.saturating_sub(LINES_BEFORE_NAMED).max(1), line.saturating_add(LINES_AFTER_NAMED).min(lines))
    };
    let ends = [(1, END_LINES.min(lines)), (lines.saturating_sub(END_LINES - 1).max(1), lines)];
    let named = named.iter().filter(|line| (1..=lines).contains(*line)).take(MAX_NAMED_LINES).map(around);
    let mut open: Vec<(u64, u64)> = ends.into_iter().chain(named).collect();
    open.sort_unstable();
    open
}

fn matching(text: &BlobReader, pattern: &Regex, remarks: &mut Vec<String>) -> Result<Vec<(u64, u64)>, CommandError> {
    let mut found = Vec::new();
    let mut is_cut = false;
    text.each_line(1, |line| {
        is_cut = found.len() == MAX_MATCHING_LINES || line.start > MAX_SEARCHED_BYTES;
        if is_cut {
            return ControlFlow::Break(());
        }
        if pattern.is_match(&String::from_utf8_lossy(line.text)) {
            found.push((line.number, line.number));
        }
        ControlFlow::Continue(())
    })?;
    if is_cut {
        remarks.push(format!(
            "The first {} lines that match are shown; `weir get` with --pattern searches all of the text.",
            found.len()
        ));
    }
    Ok(found)
}

/// Divides a text into stretches. `open` is in order and may overlap; `room` is how many lines may be folded on the
/// page.
fn stretches(open: &[(u64, u64)], lines: u64, mut room: u64) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut next = 1;
    let mut fold = |from: u64, to: u64| {
        let length = to.saturating_sub(from).saturating_add(1);
        let fits = length <= MAX_FOLDED_LINES && length <= room;
        room -= if fits { length } else { 0 };
        Stretch { from, to, shown: if fits { Showing::Folded } else { Showing::Linked } }
    };
    for (from, to) in open.iter().map(|(from, to)| (*from, (*to).min(lines))) {
        if to < next {
            continue;
        }
        if from > next {
            stretches.push(fold(next, from - 1));
        }
        stretches.push(Stretch { from: from.max(next), to, shown: Showing::Open });
        next = to + 1;
    }
    if next <= lines {
        stretches.push(fold(next, lines));
    }
    stretches
}

struct ReadLine {
    line: Line,
    was_cut: bool,
}

fn read(text: &BlobReader, stretches: &[Stretch]) -> Result<Vec<ReadLine>, CommandError> {
    let on_page: Vec<&Stretch> = stretches.iter().filter(|stretch| stretch.shown != Showing::Linked).collect();
    let mut lines = Vec::new();
    let is_on_page = |number: u64| on_page.iter().any(|stretch| (stretch.from..=stretch.to).contains(&number));
    let ends: Vec<(u64, u64)> = match (on_page.len() < MANY_STRETCHES, on_page.first(), on_page.last()) {
        (true, ..) => on_page.iter().map(|stretch| (stretch.from, stretch.to)).collect(),
        (false, Some(first), Some(last)) => vec![(first.from, last.to)],
        (false, ..) => Vec::new(),
    };
    for (from, to) in ends {
        text.each_line(from, |line| {
            if line.number > to {
                return ControlFlow::Break(());
            }
            if is_on_page(line.number) {
                lines.push(shown_line(line.number, line.text, line.left_out));
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok(lines)
}

fn shown_line(number: u64, bytes: &[u8], left_out: u64) -> ReadLine {
    let whole = String::from_utf8_lossy(bytes);
    let end = whole.char_indices().nth(MAX_LINE_CHARS).map_or(whole.len(), |(at, _)| at);
    let left = (whole.len() - end) as u64 + left_out;
    let text = match left {
        0 => whole.into_owned(),
        left => format!("{}… ({} more in this line)", &whole[..end], size(left)),
    };
    let is_failure = FAILURES.iter().any(|word| text.trim_start().starts_with(word));
    ReadLine { line: Line { number, text: text.into(), is_failure }, was_cut: left > 0 }
}

fn pieces(text: &BlobReader, stretches: &[Stretch], read: Vec<ReadLine>) -> Result<Vec<Piece>, CommandError> {
    let mut lines = read.into_iter().map(|read| read.line).peekable();
    let mut pieces = Vec::new();
    for stretch in stretches {
        let mut own = Vec::new();
        while let Some(line) = lines.next_if(|line| line.number <= stretch.to) {
            own.push(line);
        }
        match stretch.shown {
            Showing::Open => pieces.extend(own.into_iter().map(Piece::Line)),
            Showing::Folded | Showing::Linked => {
                let what = Some(what(text, stretch)?.into());
                pieces.push(Piece::Fold { from: stretch.from, to: stretch.to, what, lines: own });
            }
        }
    }
    Ok(pieces)
}

/// Describes folded lines by the first and the last of them.
fn what(text: &BlobReader, stretch: &Stretch) -> Result<String, CommandError> {
    let mut ends = [String::new(), String::new()];
    for (number, end) in [stretch.from, stretch.to].into_iter().zip(&mut ends) {
        text.each_line(number, |line| {
            *end = one_line(String::from_utf8_lossy(line.text).trim(), MAX_FOLD_CHARS);
            ControlFlow::Break(())
        })?;
    }
    let [first, last] = ends;
    Ok(if first == last { format!("“{first}”") } else { format!("“{first}” to “{last}”") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pieces in short: `1-20`, `(21-40)` for a fold, `[41-90]` for a fold with a link.
    fn check(lines: u64, named: &[u64], query: &str, expected: &str) {
        let text: String = (1..=lines).map(|line| format!("line {line}\n")).collect();
        let wanted = WantedLines::read(&Fields::parse(query.as_bytes())).unwrap();
        let shown = shown(&BlobReader::of(text.into_bytes()), named, &wanted).unwrap();
        assert_eq!(shown.lines, lines);
        let mut parts: Vec<String> = Vec::new();
        let mut open: Option<(u64, u64)> = None;
        for piece in &shown.pieces {
            let (line, fold) = match piece {
                Piece::Line(line) => (Some(line.number), None),
                Piece::Fold { from, to, lines, .. } if lines.is_empty() => (None, Some(format!("[{from}-{to}]"))),
                Piece::Fold { from, to, lines, .. } => {
                    assert_eq!(lines.len() as u64, to - from + 1);
                    (None, Some(format!("({from}-{to})")))
                }
            };
            match (line, &mut open) {
                (Some(line), Some((_, to))) if *to + 1 == line => *to = line,
                (line, open) => {
                    parts.extend(open.take().map(|(from, to)| format!("{from}-{to}")));
                    *open = line.map(|line| (line, line));
                }
            }
            parts.extend(fold);
        }
        parts.extend(open.map(|(from, to)| format!("{from}-{to}")));
        assert_eq!(parts.join(" "), expected, "{query}");
    }

    #[test]
    fn a_long_text_shows_its_ends_and_what_the_digest_names() {
        check(3, &[], "", "1-3");
        check(400, &[], "", "1-400");
        check(1_000, &[100, 500, 501, 2_000], "", "1-20 (21-98) 99-108 [109-498] 499-509 [510-980] 981-1000");
    }

    #[test]
    fn lines_are_shown_as_asked_for() {
        check(1_000, &[], "lines=10-12", "[1-9] 10-12 [13-1000]");
        check(1_000, &[], "lines=995-", "[1-994] 995-1000");
        check(1_000, &[], "lines=50", "[1-39] 40-60 [61-1000]");
        check(1_000, &[], "lines=%2Fline+99%24%2F", "[1-98] 99-99 [100-1000]");
        check(1_000, &[], "lines=2000-2001", "");
        check(1_000, &[], "unfold=all", "1-1000");
        for wrong in ["lines=x", "lines=0-4", "lines=9-3", "lines=%2F%28"] {
            assert!(WantedLines::read(&Fields::parse(wrong.as_bytes())).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_last_line_counts_without_an_end_and_a_long_one_is_cut() {
        assert_eq!(count(&BlobReader::of(b"a\nb".to_vec())).unwrap(), 2);
        assert_eq!(count(&BlobReader::of(Vec::new())).unwrap(), 0);
        let text = BlobReader::of("é".repeat(3_000).into_bytes());
        let shown = shown(&text, &[], &WantedLines::Folded).unwrap();
        let [Piece::Line(line)] = &shown.pieces[..] else { panic!("not one line") };
        assert!(line.text.plain().ends_with("é… (2.0 KiB more in this line)"), "{}", line.text.plain());
        assert_eq!(shown.remarks.len(), 1);
    }
}
