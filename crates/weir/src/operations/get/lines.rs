//! Reads some lines of a text, frame by frame, so that a text of any size takes bounded memory.

use std::collections::VecDeque;

use regex::Regex;
use weir_store::BlobReader;

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
}

impl Lines {
    /// All of them.
    pub(super) const ALL: Self = Self::Between(1, u64::MAX);

    /// Reads `10-40`, `10-`, `10` or `-20`.
    pub(super) fn parse(text: &str) -> Result<Self, CommandError> {
        let wrong = || {
            CommandError::usage(format!("`{text}` is no range of lines"))
                .hint("write 10-40, 10- (to the end), 10 (one line) or -20 (the last 20)")
        };
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
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
        let mut reader = Reader {
            lines: self,
            pattern,
            room: tokens * BYTES_PER_TOKEN,
            taken: VecDeque::new(),
            bytes: 0,
            number: 0,
            more: false,
        };
        let mut rest = Vec::new();
        'frames: for frame in 0..text.frame_count() {
            rest.extend_from_slice(&text.frame(frame)?);
            let mut start = 0;
            while let Some(length) = rest[start..].iter().position(|&byte| byte == b'\n') {
                if !reader.take(&rest[start..start + length]) {
                    rest.clear();
                    break 'frames;
                }
                start += length + 1;
            }
            rest.drain(..start);
        }
        if !rest.is_empty() {
            reader.take(&rest);
        }
        Ok(reader.finish())
    }
}

struct Reader<'a> {
    lines: Lines,
    pattern: Option<&'a Regex>,
    room: usize,
    taken: VecDeque<(u64, String, bool)>,
    bytes: usize,
    number: u64,
    more: bool,
}

impl Reader<'_> {
    /// Looks at the next line. False when no later line can matter.
    fn take(&mut self, line: &[u8]) -> bool {
        self.number += 1;
        let wanted = match self.lines {
            Lines::Between(first, _) => self.number >= first,
            Lines::Last(_) => true,
        };
        if matches!(self.lines, Lines::Between(_, last) if self.number > last) {
            return false;
        }
        if !wanted {
            return true;
        }
        let text = String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line));
        if self.pattern.is_some_and(|pattern| !pattern.is_match(&text)) {
            return true;
        }
        let replaced = matches!(text, std::borrow::Cow::Owned(_));
        self.keep(text.into_owned(), replaced)
    }

    fn keep(&mut self, text: String, replaced: bool) -> bool {
        let from_end = matches!(self.lines, Lines::Last(_));
        if !from_end && self.bytes > self.room {
            self.more = true;
            return false;
        }
        self.bytes += text.len() + 1;
        self.taken.push_back((self.number, text, replaced));
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
        }
    }
}

impl Part {
    /// What is left out and how to get it.
    pub(super) fn foot(&self) -> String {
        let mut foot = match (self.more, self.matching) {
            (false, _) => String::new(),
            (true, true) => format!("cut after line {}: narrow the pattern or use lines {}-", self.last, self.last + 1),
            (true, false) => {
                format!("cut: lines {}-{} shown; go on with lines {}-", self.first, self.last, self.last + 1)
            }
        };
        if self.replaced {
            let note = "some bytes are not UTF-8 and are shown as \u{fffd}; they are stored as they were";
            foot = if foot.is_empty() { note.to_owned() } else { format!("{foot}\n{note}") };
        }
        foot
    }

    /// Drops text from the end until about `tokens` fewer are left: whole lines, or part of the only one.
    pub(super) fn shorten(&mut self, tokens: usize) {
        let keep = weir_tokens::count(&self.text).saturating_sub(tokens + 2);
        let end = weir_tokens::fit(&self.text, keep);
        let end = match self.text[..end].rfind('\n') {
            Some(newline) => newline,
            None if end < self.text.len() => end,
            None => 0,
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
