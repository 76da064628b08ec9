//! The stretch of text that a matcher may read.
//!
//! Marks of an earlier redaction cut the text into windows. A matcher reads bytes only through its window, and the
//! window notices when a mark was read, even as the byte that delimits a match. Such a match is rejected.
//!
//! Invariant: this makes redaction idempotent. A match in already redacted text that read no mark consists of bytes
//! that were adjacent in the original too, so it was found there and nothing of it is left to find.

use std::cell::Cell;
use std::ops::Range;

use super::class::{ANY_HEX, Class, DIGIT};

/// A stretch of text between two marks, or between a mark and an end of the text.
pub(super) struct Window<'a> {
    text: &'a [u8],
    bounds: Range<usize>,
    looked_at_mark: Cell<bool>,
    /// The position up to which the text is known, if more of it is to come.
    known: usize,
    looked_ahead: Cell<bool>,
}

impl<'a> Window<'a> {
    /// Creates the window `bounds` of `text`. A bound that is not an end of the text is a mark.
    pub(super) fn new(text: &'a [u8], bounds: Range<usize>) -> Self {
        Self::of_part(text, bounds, usize::MAX)
    }

    /// Like [`Self::new`], for a text of which only the first `known` bytes are known.
    pub(super) fn of_part(text: &'a [u8], bounds: Range<usize>, known: usize) -> Self {
        let bounds = bounds.start..bounds.end.min(known);
        Self { text, bounds, looked_at_mark: Cell::new(false), known, looked_ahead: Cell::new(false) }
    }

    /// Returns whether anything beyond the known text was read since the last call.
    pub(super) fn take_looked_ahead(&self) -> bool {
        self.looked_ahead.replace(false)
    }

    /// Returns whether a mark was read since the last call.
    pub(super) fn take_looked_at_mark(&self) -> bool {
        self.looked_at_mark.replace(false)
    }

    /// Returns the byte at `at`, or `None` outside the window.
    #[inline]
    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        #[cfg(test)]
        READS.set(READS.get() + 1);
        if self.bounds.contains(&at) {
            return self.text.get(at).copied();
        }
        if at >= self.known {
            self.looked_ahead.set(true);
        } else if at < self.text.len() {
            self.looked_at_mark.set(true);
        }
        None
    }

    /// Returns the byte before `at`.
    #[inline]
    pub(super) fn before(&self, at: usize) -> Option<u8> {
        at.checked_sub(1).and_then(|at| self.byte(at))
    }

    /// Returns the bytes of a range that was read before; empty if it is not within the window.
    pub(super) fn slice(&self, range: Range<usize>) -> &'a [u8] {
        if range.start < self.bounds.start || range.end > self.bounds.end {
            self.looked_at_mark.set(true);
            self.looked_ahead.set(self.looked_ahead.get() || range.end > self.known);
            return &[];
        }
        self.text.get(range).unwrap_or_default()
    }

    /// Returns whether `literal` is at `at`.
    pub(super) fn has(&self, at: usize, literal: &[u8]) -> bool {
        literal.iter().enumerate().all(|(i, &byte)| self.byte(at + i) == Some(byte))
    }

    /// Returns whether `literal`, which is lower case, is at `at` in any case.
    pub(super) fn has_folded(&self, at: usize, literal: &[u8]) -> bool {
        let folded = |at| self.byte(at).map(|byte| byte.to_ascii_lowercase());
        literal.iter().enumerate().all(|(i, &byte)| folded(at + i) == Some(byte))
    }

    /// Returns whether `literal`, which is lower case, is directly before `at` in any case.
    pub(super) fn follows(&self, at: usize, literal: &[u8]) -> bool {
        at.checked_sub(literal.len()).is_some_and(|start| self.has_folded(start, literal))
    }

    /// Returns where a run of `class` from `at` ends, after at most `most` bytes.
    pub(super) fn run(&self, at: usize, class: Class, most: usize) -> usize {
        self.run_while(at, most, |byte| class.has(byte))
    }

    /// Returns where the bytes from `at` stop satisfying `keep`, after at most `most` bytes.
    pub(super) fn run_while(&self, at: usize, most: usize, keep: impl Fn(u8) -> bool) -> usize {
        let mut end = at;
        while end - at < most && self.byte(end).is_some_and(&keep) {
            end += 1;
        }
        end
    }

    /// Returns where a run of `class` that ends at `at` begins, at most `most` bytes back.
    pub(super) fn run_back(&self, at: usize, class: Class, most: usize) -> usize {
        self.run_while_back(at, most, |byte| class.has(byte))
    }

    /// Returns where a run of blanks (not line ends) from `at` ends. Alignment rarely needs more than a few.
    pub(super) fn skip_blanks(&self, at: usize) -> usize {
        self.run_while(at, 32, |byte| byte == b' ' || byte == b'\t')
    }

    /// Returns whether something new begins at `at`: no byte of `class` precedes it, unless that is the tail of an
    /// escape.
    ///
    /// Tool output is full of escapes that end in a letter or digit: `\n` and `\u0022` in JSON, `%3D` in URLs,
    /// `ESC[32m` from colouring programs.
    pub(super) fn opens(&self, at: usize, class: Class) -> bool {
        match self.before(at) {
            Some(byte) if class.has(byte) => self.ends_escape(at, byte),
            _ => true,
        }
    }

    fn ends_escape(&self, at: usize, last: u8) -> bool {
        let back = |n: usize| at.checked_sub(n).and_then(|at| self.byte(at));
        if matches!(last, b'n' | b'r' | b't') && back(2) == Some(b'\\') {
            return true;
        }
        if last == b'm' {
            let start = self.run_while_back(at - 1, 16, |byte| DIGIT.has(byte) || byte == b';');
            return self.before(start) == Some(b'[') && self.ends_escape_sign(start - 1);
        }
        let hex = ANY_HEX.has(last) && back(2).is_some_and(|byte| ANY_HEX.has(byte));
        hex && (back(3) == Some(b'%') || (back(5) == Some(b'u') && back(6) == Some(b'\\')))
    }

    /// Returns whether an escape character ends at `at`, either itself or as languages and JSON write it.
    fn ends_escape_sign(&self, at: usize) -> bool {
        const WRITTEN: [&[u8]; 4] = [b"\\u001b", b"\\x1b", b"\\033", b"\\e"];
        self.follows(at, b"\x1b") || WRITTEN.iter().any(|sign| self.follows(at, sign))
    }

    /// Returns where the bytes that end at `at` begin to satisfy `keep`, at most `most` bytes back.
    pub(super) fn run_while_back(&self, at: usize, most: usize, keep: impl Fn(u8) -> bool) -> usize {
        let mut start = at;
        while at - start < most && self.before(start).is_some_and(&keep) {
            start -= 1;
        }
        start
    }
}

#[cfg(test)]
thread_local! {
    /// Number of bytes that matchers have read. It proves that the work is linear, where time would be a guess.
    pub(super) static READS: Cell<usize> = const { Cell::new(0) };
}
