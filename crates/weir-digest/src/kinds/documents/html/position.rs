//! Converts positions in a page to line numbers while it is read.

use std::io::{self, BufRead};

use crate::Source;

/// How far a page has been read, and the line at that point.
#[derive(Default)]
pub(super) struct Position<'a> {
    input: Option<Box<dyn BufRead + 'a>>,
    /// The number of bytes so far. A line end of two bytes counts as one, as in the tokenizer.
    at: u64,
    line: u64,
    after_return: bool,
}

impl<'a> Position<'a> {
    pub(super) fn of(source: &'a dyn Source) -> io::Result<Self> {
        Ok(Self { input: Some(source.open()?), line: 1, ..Self::default() })
    }

    /// Returns the line of a position that is not before the last one asked for.
    pub(super) fn line(&mut self, place: u64) -> u64 {
        let Some(input) = &mut self.input else { return self.line };
        while self.at < place {
            // If the page cannot be read a second time, the line is unknown.
            let Ok(piece) = input.fill_buf() else { return self.line };
            if piece.is_empty() {
                break;
            }
            let most = usize::try_from(place - self.at).unwrap_or(usize::MAX).min(piece.len());
            let piece = piece.get(..most).unwrap_or_default();
            let mut pairs = 0;
            for end in memchr::memchr_iter(b'\n', piece) {
                self.line += 1;
                let before = end.checked_sub(1).and_then(|at| piece.get(at)).copied();
                pairs += u64::from(before == Some(b'\r') || end == 0 && self.after_return);
            }
            self.after_return = piece.last() == Some(&b'\r');
            self.at += piece.len() as u64 - pairs;
            let used = piece.len();
            input.consume(used);
        }
        self.line
    }
}
