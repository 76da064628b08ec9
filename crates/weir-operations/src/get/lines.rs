//! Reads lines of a text frame by frame, so that a text of any size takes bounded memory.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use regex::Regex;
use weir_core::terminal;
use weir_core::unseen::named;
use weir_digest::select::Selected;
use weir_host::answer::size;
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_store::{BlobReader, Line};

/// How many lines before and after a requested line are shown by default.
pub(super) const DEFAULT_CONTEXT_LINES: u64 = 15;
/// A token is rarely longer than this many bytes, so a budget cannot hold more bytes than this per token.
pub(super) const MAX_BYTES_PER_TOKEN: usize = 12;

/// A range of lines, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineRange {
    /// From the first to the last line, inclusive.
    Between(u64, u64),
    Last(u64),
    Around(u64),
    /// Bytes instead of lines, counted from 0, excluding the end.
    Bytes(u64, u64),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct LineQuery<'a> {
    pub(super) lines: LineRange,
    pub(super) pattern: Option<&'a Regex>,
    /// The number of lines before and after each match, or around the requested line.
    pub(super) context: Option<u64>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SelectedText {
    pub(super) text: String,
    /// The numbers of the first and the last line shown.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Whether requested lines are left out.
    pub(super) more: bool,
    matching: Option<u64>,
    replaced: bool,
    /// The number of lines that were too long to be searched completely.
    unsearched: u64,
    /// Whether a line was cut in the middle, and where the last line shown begins.
    inside: bool,
    last_start: u64,
    /// The range of bytes shown, if bytes were requested, and the total number of bytes.
    bytes: Option<(u64, u64, u64)>,
    /// What was counted instead of lines, and the total number.
    values: Option<(&'static str, u64)>,
    /// Says that nothing matches the pattern.
    pub(super) unmatched: Option<String>,
}

impl LineRange {
    pub(super) const ALL: Self = Self::Between(1, u64::MAX);

    /// Parses `10-40`, `10-`, `10`, `-20`, `~120` or `b0-4000`.
    pub(super) fn parse(text: &str) -> Result<Self, CommandError> {
        let wrong = || {
            CommandError::usage(format!("`{text}` is not a line range")).hint(
                "write 10-40, 10- (to the end), 10 (one line), -20 (the last 20), ~120 (around it) or b0-4000 (bytes)",
            )
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        if let Some((from, to)) = text.trim().strip_prefix('b').and_then(|bytes| bytes.split_once('-')) {
            let (from, to) = (number(from)?, if to.is_empty() { u64::MAX } else { number(to)? });
            return if from <= to { Ok(Self::Bytes(from, to)) } else { Err(wrong()) };
        }
        if let Some(line) = text.trim().strip_prefix('~') {
            return Ok(Self::Around(number(line)?));
        }
        let lines = match text.trim().split_once(['-', ',', ':']) {
            None => number(text).map(|line| Self::Between(line, line))?,
            Some(("", last)) => Self::Last(number(last)?),
            Some((first, "")) => Self::Between(number(first)?, u64::MAX),
            Some((first, last)) => Self::Between(number(first)?, number(last)?),
        };
        match lines {
            Self::Between(first, last) if first > last || last == 0 => Err(wrong()),
            lines => Ok(lines),
        }
    }
}

impl LineQuery<'_> {
    /// Reads the lines, at most as many as a budget of `tokens` could hold.
    pub(super) fn read(self, text: &BlobReader, tokens: usize) -> Result<SelectedText, CommandError> {
        let Self { lines, pattern, context } = self;
        let lines = match lines {
            LineRange::Bytes(from, to) => return read_bytes(text, from..to, tokens * MAX_BYTES_PER_TOKEN),
            LineRange::Around(line) => {
                let context = context.unwrap_or(DEFAULT_CONTEXT_LINES);
                LineRange::Between(line.saturating_sub(context).max(1), line.saturating_add(context))
            }
            lines => lines,
        };
        let mut reader = Reader {
            lines,
            pattern,
            context: context.unwrap_or(0),
            before: VecDeque::new(),
            after: 0,
            matching: 0,
            full: false,
            room: tokens * MAX_BYTES_PER_TOKEN,
            taken: VecDeque::new(),
            bytes: 0,
            more: false,
            unsearched: 0,
            inside: false,
            last_start: 0,
            seen: 0,
        };
        let first = match (lines, pattern) {
            (LineRange::Between(first, _), _) => first,
            (LineRange::Last(count), None) => {
                (text.line_ends_before(text.bytes())? + 2).saturating_sub(count.saturating_add(1)).max(1)
            }
            (LineRange::Last(_), Some(_)) | (LineRange::Bytes(..) | LineRange::Around(_), _) => 1,
        };
        text.each_line(first, |line| match reader.take(&line) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })?;
        Ok(reader.finish())
    }
}

fn read_bytes(text: &BlobReader, range: Range<u64>, most: usize) -> Result<SelectedText, CommandError> {
    let to = range.end.min(text.bytes()).min(range.start.saturating_add(most as u64));
    let bytes = text.range(range.start..to)?;
    let shown = terminal::shown(&bytes).into_owned();
    let bytes = Some((range.start, to, text.bytes()));
    Ok(SelectedText { text: shown, more: to < range.end.min(text.bytes()), bytes, ..SelectedText::default() })
}

fn counted_lines(lines: u64) -> String {
    if lines == 1 { "1 line is".to_owned() } else { format!("{lines} lines are") }
}

struct SelectedLine {
    number: u64,
    text: String,
    replaced: bool,
    /// Whether the line itself matches, rather than being context.
    matches: bool,
}

struct Reader<'a> {
    lines: LineRange,
    pattern: Option<&'a Regex>,
    /// The context around each match: how many lines, those before the next match, and how many are still to come after
    /// the last one.
    context: u64,
    before: VecDeque<SelectedLine>,
    after: u64,
    /// The number of matching lines, shown or not.
    matching: u64,
    full: bool,
    room: usize,
    taken: VecDeque<SelectedLine>,
    bytes: usize,
    more: bool,
    unsearched: u64,
    inside: bool,
    last_start: u64,
    seen: u64,
}

impl Reader<'_> {
    /// Processes the next line. Returns false if no later line can matter.
    fn take(&mut self, line: &Line<'_>) -> bool {
        if matches!(self.lines, LineRange::Between(_, last) if line.number > last) {
            return false;
        }
        self.seen += 1;
        // As a terminal would show it: colours and progress bars are not part of a program's output.
        let shown = terminal::clean(line.text);
        let text = String::from_utf8_lossy(&shown);
        let matches = self.pattern.is_none_or(|pattern| pattern.is_match(&text));
        self.matching += u64::from(matches);
        self.unsearched += u64::from(!matches && line.left_out > 0);
        if self.full || (!matches && self.context == 0) {
            return true;
        }
        let replaced = matches!(text, std::borrow::Cow::Owned(_));
        let mut text = named(&text).into_owned();
        if line.left_out > 0 {
            text.push_str(&format!("… ({} more in this line)", size(line.left_out)));
            self.inside |= matches;
        }
        if matches {
            self.last_start = line.start;
        }
        self.around(SelectedLine { number: line.number, text, replaced, matches })
    }

    /// Keeps a matching line and its context.
    fn around(&mut self, line: SelectedLine) -> bool {
        if !line.matches && self.after == 0 {
            self.before.push_back(line);
            if self.before.len() as u64 > self.context {
                self.before.pop_front();
            }
            return true;
        }
        self.after = if line.matches { self.context } else { self.after - 1 };
        let before = std::mem::take(&mut self.before);
        before.into_iter().chain([line]).all(|line| self.keep(line)) || self.pattern.is_some()
    }

    fn keep(&mut self, line: SelectedLine) -> bool {
        let from_end = matches!(self.lines, LineRange::Last(_));
        if !from_end && self.bytes > self.room {
            self.more = true;
            self.full = true;
            return false;
        }
        self.bytes += line.text.len() + 1;
        self.taken.push_back(line);
        if let LineRange::Last(count) = self.lines {
            while self.taken.len() as u64 > count {
                self.drop_first(false);
            }
            while self.bytes > self.room && self.taken.len() > 1 {
                self.drop_first(true);
            }
        }
        true
    }

    fn drop_first(&mut self, was_wanted: bool) {
        if let Some(line) = self.taken.pop_front() {
            self.bytes -= line.text.len() + 1;
            self.more |= was_wanted;
        }
    }

    fn finish(self) -> SelectedText {
        let numbered = self.pattern.is_some();
        let show = |line: &SelectedLine| match (numbered, line.matches) {
            (false, _) => line.text.clone(),
            (true, true) => format!("{}: {}", line.number, line.text),
            (true, false) => format!("{}- {}", line.number, line.text),
        };
        let unmatched = self.pattern.filter(|_| self.matching == 0).map(Regex::as_str);
        SelectedText {
            text: self.taken.iter().map(show).collect::<Vec<_>>().join("\n"),
            first: self.taken.front().map_or(0, |line| line.number),
            last: self.taken.back().map_or(0, |line| line.number),
            more: self.more,
            matching: numbered.then_some(self.matching),
            replaced: self.taken.iter().any(|line| line.replaced),
            unsearched: self.unsearched,
            inside: self.inside,
            last_start: self.last_start,
            bytes: None,
            values: None,
            unmatched: unmatched.map(|pattern| format!("no line of {} matches `{pattern}`", self.seen)),
        }
    }
}

impl SelectedText {
    /// Returns a part that consists of values, of which those in a range were requested.
    pub(super) fn of_values(found: Selected, first: u64, last: u64) -> Self {
        let shown = found.lines.len() as u64;
        let text = found.head.into_iter().chain(found.lines).collect::<Vec<_>>().join("\n");
        let more = first + shown <= last.min(found.total);
        let values = Some((found.unit, found.total));
        Self { text, first, last: (first + shown).saturating_sub(1), more, values, ..Self::default() }
    }

    /// Describes what is left out and how to get it.
    pub(super) fn foot(&self, face: Face) -> String {
        let continue_from = |line: u64| format!("continue with {}", face.option_as("lines", &format!("{line}-")));
        let mut feet = Vec::new();
        feet.extend(match (self.bytes, self.more, self.matching) {
            (Some((from, to, all)), ..) => Some(match to < all {
                true => {
                    format!("bytes {from}-{to} of {all}; continue with {}", face.option_as("lines", &format!("b{to}-")))
                }
                false => format!("bytes {from}-{to} of {all}"),
            }),
            _ if self.values.is_some() => self.values.map(|(unit, total)| {
                let on = if self.last < total { format!("; {}", continue_from(self.last + 1)) } else { String::new() };
                format!("{unit} {}-{} of {total}{on}", self.first, self.last)
            }),
            (_, false, _) if self.inside => Some(self.by_bytes("a line is cut", face)),
            (_, false, Some(lines)) if lines > 1 => Some(format!("{lines} lines match")),
            (_, false, _) => None,
            (_, true, Some(lines)) => {
                let next = continue_from(self.last + 1);
                let matching = if lines == 1 { "1 line matches".to_owned() } else { format!("{lines} lines match") };
                Some(format!("{matching}; cut after line {}: {next}", self.last))
            }
            (_, true, None) if self.inside => Some(self.by_bytes(&format!("cut inside line {}", self.last), face)),
            (_, true, None) => {
                let (next, all) = (continue_from(self.last + 1), face.word("; --raw prints all of it", ""));
                Some(format!("cut: lines {}-{} shown; {next}{all}", self.first, self.last))
            }
        });
        if self.unsearched > 0 {
            feet.push(format!("{} too long: only the first MiB was searched", counted_lines(self.unsearched)));
        }
        if self.replaced {
            feet.push("some bytes are not UTF-8 and are shown as \u{fffd}; they are stored unchanged".to_owned());
        }
        feet.join("\n")
    }

    fn by_bytes(&self, what: &str, face: Face) -> String {
        let from = format!("b{}-", self.last_start + self.text.len() as u64);
        format!("{what}: read more by bytes, with {}", face.option_as("lines", &from))
    }

    /// Removes about `tokens` tokens from the end: whole lines, or part of the only line.
    pub(super) fn shorten(&mut self, tokens: usize) {
        let keep = weir_tokens::count(&self.text).saturating_sub(tokens + 2);
        let end = weir_tokens::fit(&self.text, keep);
        if let Some((from, to, _)) = &mut self.bytes {
            // Removed control sequences are counted with the remaining text. Showing a little twice is better than
            // losing it.
            *to = *from + end as u64;
            self.text.truncate(end);
            return;
        }
        let end = match self.text[..end].rfind('\n') {
            Some(newline) => newline,
            None => {
                self.inside = end > 0;
                end
            }
        };
        let dropped = self.text[end..].matches('\n').count() as u64;
        self.text.truncate(end);
        self.more = true;
        if self.matching.is_some() {
            let number = self.text.rsplit('\n').next().and_then(|line| line.split([':', '-']).next()?.parse().ok());
            self.last = number.unwrap_or(self.first);
        } else {
            self.last = self.last.saturating_sub(dropped).max(self.first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_people_write_them() {
        for (text, expected) in [
            ("10-40", LineRange::Between(10, 40)),
            (" 7 ", LineRange::Between(7, 7)),
            ("10-", LineRange::Between(10, u64::MAX)),
            ("-20", LineRange::Last(20)),
            ("3,9", LineRange::Between(3, 9)),
        ] {
            assert_eq!(LineRange::parse(text).unwrap(), expected, "{text}");
        }
        for text in ["", "a-b", "9-3", "0", "--", "b9-3"] {
            assert!(LineRange::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn more_lines_than_a_text_has_are_all_of_it() {
        let text = BlobReader::of(b"one\ntwo\n".to_vec());
        for lines in [LineRange::Last(u64::MAX), LineRange::Between(1, u64::MAX), LineRange::Around(2)] {
            let asked = LineQuery { lines, pattern: None, context: Some(u64::MAX) };
            assert_eq!(asked.read(&text, 100).unwrap().text.trim_end(), "one\ntwo");
        }
    }
}
