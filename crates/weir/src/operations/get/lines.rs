//! Reads some lines of a text, frame by frame, so that a text of any size takes bounded memory.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use regex::Regex;
use weir_core::terminal;
use weir_store::{BlobReader, Line};

use crate::answer::size;
use crate::error::CommandError;

/// A token is rarely longer than this many bytes, so more text than this for each token of a budget cannot fit.
const BYTES_PER_TOKEN: usize = 12;

/// Which lines, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// From the first to the last, both included.
    Between(u64, u64),
    /// This many at the end.
    Last(u64),
    /// No lines but bytes, counted from 0: from the first to before the last.
    Bytes(u64, u64),
}

/// Lines of a text, and what is around them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// The lines.
    pub(super) text: String,
    /// The number of the first line shown, and of the last.
    pub(super) first: u64,
    pub(super) last: u64,
    /// Whether lines that were asked for are left out.
    pub(super) more: bool,
    matching: bool,
    replaced: bool,
    /// Lines too long to be searched to their end.
    unsearched: u64,
    /// Whether a line was cut in its middle, and where the last line shown begins.
    inside: bool,
    last_start: u64,
    /// Which bytes these are, where bytes were asked for, and how many there are in all.
    bytes: Option<(u64, u64, u64)>,
}

impl Lines {
    /// All of them.
    pub(super) const ALL: Self = Self::Between(1, u64::MAX);

    /// Reads `10-40`, `10-`, `10`, `-20` or `b0-4000`.
    pub(super) fn parse(text: &str) -> Result<Self, CommandError> {
        let wrong = || {
            CommandError::usage(format!("`{text}` is no range of lines"))
                .hint("write 10-40, 10- (to the end), 10 (one line), -20 (the last 20) or b0-4000 (bytes)")
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
        if let Some((from, to)) = text.trim().strip_prefix('b').and_then(|bytes| bytes.split_once('-')) {
            let to = if to.is_empty() { u64::MAX } else { number(to)? };
            return Ok(Self::Bytes(number(from)?, to));
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

    /// Reads the lines, no more than a budget of `tokens` could hold.
    pub(super) fn read(self, text: &BlobReader, pattern: Option<&Regex>, tokens: usize) -> Result<Part, CommandError> {
        if let Self::Bytes(from, to) = self {
            return read_bytes(text, from..to, tokens * BYTES_PER_TOKEN);
        }
        let mut reader = Reader {
            lines: self,
            pattern,
            room: tokens * BYTES_PER_TOKEN,
            taken: VecDeque::new(),
            bytes: 0,
            more: false,
            unsearched: 0,
            inside: false,
            last_start: 0,
        };
        let first = match (self, pattern) {
            (Self::Between(first, _), _) => first,
            (Self::Last(count), None) => (text.line_ends_before(text.bytes())? + 2).saturating_sub(count + 1).max(1),
            (Self::Last(_), Some(_)) | (Self::Bytes(..), _) => 1,
        };
        text.each_line(first, |line| match reader.take(&line) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })?;
        Ok(reader.finish())
    }
}

fn read_bytes(text: &BlobReader, range: Range<u64>, most: usize) -> Result<Part, CommandError> {
    let to = range.end.min(text.bytes()).min(range.start.saturating_add(most as u64));
    let bytes = text.range(range.start..to)?;
    let shown = String::from_utf8_lossy(&terminal::clean(&bytes)).into_owned();
    let bytes = Some((range.start, to, text.bytes()));
    Ok(Part { text: shown, more: to < range.end.min(text.bytes()), bytes, ..Part::default() })
}

fn counted_lines(lines: u64) -> String {
    if lines == 1 { "1 line is".to_owned() } else { format!("{lines} lines are") }
}

struct Reader<'a> {
    lines: Lines,
    pattern: Option<&'a Regex>,
    room: usize,
    taken: VecDeque<(u64, String, bool)>,
    bytes: usize,
    more: bool,
    unsearched: u64,
    inside: bool,
    last_start: u64,
}

impl Reader<'_> {
    /// Looks at the next line. False when no later line can matter.
    fn take(&mut self, line: &Line<'_>) -> bool {
        if matches!(self.lines, Lines::Between(_, last) if line.number > last) {
            return false;
        }
        // As a terminal would show it: a program's colours and progress bars are no part of what it says.
        let shown = terminal::clean(line.text);
        let text = String::from_utf8_lossy(&shown);
        if self.pattern.is_some_and(|pattern| !pattern.is_match(&text)) {
            self.unsearched += u64::from(line.left_out > 0);
            return true;
        }
        let replaced = matches!(text, std::borrow::Cow::Owned(_));
        let mut text = text.into_owned();
        if line.left_out > 0 {
            text.push_str(&format!("… ({} more in this line)", size(line.left_out)));
            self.inside = true;
        }
        self.last_start = line.start;
        self.keep(line.number, text, replaced)
    }

    fn keep(&mut self, number: u64, text: String, replaced: bool) -> bool {
        let from_end = matches!(self.lines, Lines::Last(_));
        if !from_end && self.bytes > self.room {
            self.more = true;
            return false;
        }
        self.bytes += text.len() + 1;
        self.taken.push_back((number, text, replaced));
        if let Lines::Last(count) = self.lines {
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
        if let Some((_, text, _)) = self.taken.pop_front() {
            self.bytes -= text.len() + 1;
            self.more |= was_wanted;
        }
    }

    fn finish(self) -> Part {
        let matching = self.pattern.is_some();
        let show = |(number, text, _): &(u64, String, bool)| match matching {
            true => format!("{number}: {text}"),
            false => text.clone(),
        };
        Part {
            text: self.taken.iter().map(show).collect::<Vec<_>>().join("\n"),
            first: self.taken.front().map_or(0, |line| line.0),
            last: self.taken.back().map_or(0, |line| line.0),
            more: self.more,
            matching,
            replaced: self.taken.iter().any(|line| line.2),
            unsearched: self.unsearched,
            inside: self.inside,
            last_start: self.last_start,
            bytes: None,
        }
    }
}

impl Part {
    /// What is left out and how to get it.
    pub(super) fn foot(&self) -> String {
        let mut feet = Vec::new();
        feet.extend(match (self.bytes, self.more, self.matching) {
            (Some((from, to, all)), ..) => Some(match to < all {
                true => format!("bytes {from}-{to} of {all}; go on with lines b{to}-"),
                false => format!("bytes {from}-{to} of {all}"),
            }),
            (_, false, _) if self.inside => Some(self.by_bytes("a line is cut")),
            (_, false, _) => None,
            (_, true, true) => {
                Some(format!("cut after line {}: narrow the pattern or use lines {}-", self.last, self.last + 1))
            }
            (_, true, false) if self.inside => Some(self.by_bytes(&format!("cut inside line {}", self.last))),
            (_, true, false) => {
                Some(format!("cut: lines {}-{} shown; go on with lines {}-", self.first, self.last, self.last + 1))
            }
        });
        if self.unsearched > 0 {
            feet.push(format!("{} too long: only the first MiB was searched", counted_lines(self.unsearched)));
        }
        if self.replaced {
            feet.push("some bytes are not UTF-8 and are shown as \u{fffd}; they are stored as they were".to_owned());
        }
        feet.join("\n")
    }

    fn by_bytes(&self, what: &str) -> String {
        format!("{what}: read on by bytes, with lines b{}-", self.last_start + self.text.len() as u64)
    }

    /// Drops text from the end until about `tokens` fewer are left: whole lines, or part of the only one.
    pub(super) fn shorten(&mut self, tokens: usize) {
        let keep = weir_tokens::count(&self.text).saturating_sub(tokens + 2);
        let end = weir_tokens::fit(&self.text, keep);
        if let Some((from, to, _)) = &mut self.bytes {
            // What was cleaned away is counted with what is left; to show a little twice is better than to lose it.
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
        if self.matching {
            let number = self.text.rsplit('\n').next().and_then(|line| line.split(':').next()?.parse().ok());
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
            ("10-40", Lines::Between(10, 40)),
            (" 7 ", Lines::Between(7, 7)),
            ("10-", Lines::Between(10, u64::MAX)),
            ("-20", Lines::Last(20)),
            ("3,9", Lines::Between(3, 9)),
        ] {
            assert_eq!(Lines::parse(text).unwrap(), expected, "{text}");
        }
        for text in ["", "a-b", "9-3", "0", "--"] {
            assert!(Lines::parse(text).is_err(), "{text}");
        }
    }
}
