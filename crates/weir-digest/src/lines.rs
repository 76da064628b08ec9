//! Reads an output line by line, as a terminal would show it.

use std::io::{self, BufRead};

use weir_core::terminal;

use crate::text::clip_part;

/// The maximum number of bytes of a line that are kept. Longer lines are not meant for people.
const MAX_LINE_BYTES: usize = 64 << 10;

/// An output that can be read from the beginning, more than once.
pub trait Source {
    /// Returns a reader of the bytes as they were printed.
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>>;
    fn bytes(&self) -> u64;
    fn jump(&self) -> Option<Jump> {
        None
    }
}

/// A position at which a source leaves lines out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Jump {
    /// The number of bytes before it. They end with a complete line.
    pub at: u64,
    pub line: u64,
}

impl Source for &[u8] {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        Ok(Box::new(*self))
    }

    fn bytes(&self) -> u64 {
        self.len() as u64
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its number in the raw text, from 1.
    pub number: u64,
    /// Its text without the line end and without terminal codes; at most the first 64 KiB.
    pub text: &'a str,
    /// How many more bytes the line has.
    pub left_out: u64,
}

impl Line<'_> {
    /// Returns at most `most` bytes of the text, and how many more there are.
    pub(crate) fn clip(&self, most: usize) -> String {
        clip_part(self.text, most, self.left_out)
    }
}

pub struct Lines<'a> {
    input: Box<dyn BufRead + 'a>,
    raw: Vec<u8>,
    text: String,
    number: u64,
    /// The number of bytes read so far.
    read: u64,
    jump: Option<Jump>,
}

impl<'a> Lines<'a> {
    pub fn of(source: &'a dyn Source) -> io::Result<Self> {
        let (input, jump) = (source.open()?, source.jump());
        Ok(Self { input, raw: Vec::new(), text: String::new(), number: 0, read: 0, jump })
    }

    /// Gives every line of a source to `take`. The text of a line that is too long says how much is missing.
    pub(crate) fn each(source: &dyn Source, mut take: impl FnMut(&Line<'_>)) -> io::Result<()> {
        let mut lines = Lines::of(source)?;
        while let Some(line) = lines.read()? {
            match line.left_out {
                0 => take(&line),
                left_out => {
                    let text = clip_part(line.text, MAX_LINE_BYTES, left_out);
                    take(&Line { text: &text, left_out: 0, ..line });
                }
            }
        }
        Ok(())
    }

    /// Returns the next line, or `None` after the last.
    pub fn read(&mut self) -> io::Result<Option<Line<'_>>> {
        if let Some(jump) = self.jump.take_if(|jump| jump.at == self.read) {
            self.number = jump.line.saturating_sub(1);
        }
        self.raw.clear();
        let mut left_out = 0;
        let mut ended = false;
        while !ended {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                break;
            }
            let end = memchr::memchr(b'\n', piece);
            let line = &piece[..end.unwrap_or(piece.len())];
            let room = (MAX_LINE_BYTES - self.raw.len()).min(line.len());
            self.raw.extend_from_slice(&line[..room]);
            left_out += (line.len() - room) as u64;
            ended = end.is_some();
            let used = line.len() + usize::from(ended);
            self.input.consume(used);
            self.read += used as u64;
        }
        if !ended && self.raw.is_empty() {
            return Ok(None);
        }
        self.number += 1;
        self.text.clear();
        let shown = if is_plain(&self.raw) { String::from_utf8_lossy(&self.raw) } else { terminal::shown(&self.raw) };
        self.text.push_str(&shown);
        Ok(Some(Line { number: self.number, text: &self.text, left_out }))
    }
}

/// Returns whether a line contains nothing that a terminal would act on, and nothing that nobody sees.
fn is_plain(line: &[u8]) -> bool {
    memchr::memchr3(0x1b, b'\r', 0x08, line).is_none() && line.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8]) -> Vec<(u64, String, u64)> {
        let mut found = Vec::new();
        Lines::each(&text, |line| found.push((line.number, line.text.to_owned(), line.left_out))).unwrap();
        found
    }

    #[test]
    fn lines_are_numbered_and_cleaned() {
        let found = all(b"one\n\x1b[31mtwo\x1b[0m\r\n\n10%\r100%\nlast");
        let texts: Vec<&str> = found.iter().map(|line| line.1.as_str()).collect();
        assert_eq!(texts, ["one", "two", "", "100%", "last"]);
        assert_eq!(found.last().map(|line| line.0), Some(5));
    }

    #[test]
    fn lines_after_a_jump_have_their_own_numbers() {
        struct Ends;
        impl Source for Ends {
            fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
                Ok(Box::new(&b"one\ntwo\nlast\n"[..]))
            }
            fn bytes(&self) -> u64 {
                1_000
            }
            fn jump(&self) -> Option<Jump> {
                Some(Jump { at: 8, line: 90 })
            }
        }
        let mut numbers = Vec::new();
        Lines::each(&Ends, |line| numbers.push(line.number)).unwrap();
        assert_eq!(numbers, [1, 2, 90]);
    }

    #[test]
    fn a_line_without_end_takes_bounded_memory() {
        let text = "x".repeat(MAX_LINE_BYTES + 7);
        let source = text.as_bytes();
        let mut lines = Lines::of(&source).unwrap();
        let line = lines.read().unwrap().unwrap();
        assert_eq!((line.text.len(), line.left_out), (MAX_LINE_BYTES, 7));
        assert!(all(source)[0].1.ends_with("x… (7 more bytes)"));
    }
}
