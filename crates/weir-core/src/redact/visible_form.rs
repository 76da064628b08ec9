//! Searches the visible form of a text for secrets, and removes them from its stored form.
//!
//! While the visible form is the same as the stored form, there is nothing to do. From shortly before the first
//! difference, a stream of matchers reads the [`View`], and every finding is removed with all the bytes of the text
//! that it stands for. Reading stops at the end of a line, after some text without a difference.
//!
//! Invariants: the result depends only on the text, never on its pieces; memory is bounded.

use std::borrow::Cow;

use super::stream::{RedactedPart, SecretStream};
use super::view::{Difference, SettledPart, View, search};
use crate::terminal::sequence::Parser;

/// Number of bytes before the first difference that are read along with it.
const CONTEXT_BYTES: usize = 4 << 10;
/// Number of bytes without a difference after which reading the view may stop.
const MIN_QUIET_BYTES: usize = 8 << 10;
/// Number of bytes of the text that are processed at once.
const PIECE_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct VisibleFormSearch {
    block: usize,
    window: usize,
    held: PendingBytes,
    /// Whether something new begins where the held text does.
    begins: bool,
    /// Number of its bytes that are known to be without a difference.
    searched: usize,
    reading: Option<ViewReader>,
}

#[derive(Debug)]
struct ViewReader {
    parser: Parser,
    view: View,
    stream: SecretStream,
    /// Number of bytes since the last difference.
    quiet: usize,
    /// Bytes that may be the beginning of a difference.
    undecided: Vec<u8>,
    /// Whether to read to the end of the text, because a block was found, whose end is where the block says.
    stays: bool,
}

impl VisibleFormSearch {
    pub(super) fn with_sizes(block: usize, window: usize) -> Self {
        Self { block, window, held: PendingBytes::default(), begins: true, searched: 0, reading: None }
    }

    /// Takes more of the text, and passes on the part of it that is decided.
    pub(super) fn push(&mut self, text: &[u8], pass: &mut impl FnMut(RedactedPart<'_>)) {
        for piece in text.chunks(PIECE_BYTES) {
            let mut rest = Cow::Borrowed(piece);
            while !rest.is_empty() {
                rest = match &mut self.reading {
                    Some(_) => Cow::Owned(self.read_on(&rest, pass)),
                    None => Cow::Owned(self.look(&rest, pass)),
                };
            }
        }
    }

    pub(super) fn finish(&mut self, pass: &mut impl FnMut(RedactedPart<'_>)) {
        self.end_reading(pass);
        self.held.pass_on(self.held.rest().len(), pass);
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let reading = self.reading.as_ref().map_or(0, |reading| reading.stream.held() + reading.view.held());
        self.held.bytes.capacity() + reading
    }

    /// Looks for the first difference between visible and stored form. Returns the text from there on, with which the
    /// view begins.
    fn look(&mut self, text: &[u8], pass: &mut impl FnMut(RedactedPart<'_>)) -> Vec<u8> {
        if self.is_long_and_clear(text) {
            let (now, later) = text.split_at(text.len() - CONTEXT_BYTES);
            self.held.pass_on(self.held.rest().len(), pass);
            pass(RedactedPart::Text(now));
            self.held.push(later);
            (self.searched, self.begins) = (CONTEXT_BYTES, false);
            return Vec::new();
        }
        self.held.push(text);
        match search(self.held.rest(), self.searched) {
            Difference::Found(at) => {
                let rest = self.held.split_off(at);
                self.begin(pass);
                rest
            }
            Difference::Clear(to) => {
                self.searched = to;
                self.pass_on(to.saturating_sub(CONTEXT_BYTES), pass);
                Vec::new()
            }
        }
    }

    /// Returns whether a piece can be passed on without copying it.
    fn is_long_and_clear(&self, text: &[u8]) -> bool {
        text.len() > 2 * CONTEXT_BYTES
            && self.searched == self.held.rest().len()
            && search(text, 0) == Difference::Clear(text.len())
    }

    /// Starts reading the view, with the end of the held text.
    fn begin(&mut self, pass: &mut impl FnMut(RedactedPart<'_>)) {
        let from = self.held.rest().len().saturating_sub(CONTEXT_BYTES);
        let start = match self.begins && from == 0 {
            true => 0,
            false => from + first_start(&self.held.rest()[from..]),
        };
        self.pass_on(start, pass);
        let text = self.held.rest().to_vec();
        let stream = SecretStream::with_sizes(self.block, self.window);
        let (parser, view) = (Parser::default(), View::default());
        let mut reading = ViewReader { parser, view, stream, quiet: 0, undecided: Vec::new(), stays: false };
        reading.read(&text, &mut self.held, pass);
        self.reading = Some(reading);
    }

    /// Continues reading the view. Returns the text after the end of the last line that is read.
    fn read_on(&mut self, text: &[u8], pass: &mut impl FnMut(RedactedPart<'_>)) -> Vec<u8> {
        let Some(reading) = &mut self.reading else { return text.to_vec() };
        let end = if reading.stays { None } else { reading.next_end(text) };
        let (now, later) = text.split_at(end.unwrap_or(text.len()));
        self.held.push(now);
        reading.read(now, &mut self.held, pass);
        if end.is_some() {
            let ViewReader { stream, view, .. } = reading;
            stream.advance(false, &mut |passed| self.held.follow(passed, view, pass));
            reading.stays = reading.stream.has_blocks();
            if !reading.stays {
                self.end_reading(pass);
            }
        }
        later.to_vec()
    }

    fn end_reading(&mut self, pass: &mut impl FnMut(RedactedPart<'_>)) {
        let Some(mut reading) = self.reading.take() else { return };
        reading.parser.finish(&mut reading.view);
        let rest = reading.view.finish();
        reading.look_at(&rest, &mut self.held, pass);
        (self.searched, self.begins) = (0, true);
    }

    fn pass_on(&mut self, length: usize, pass: &mut impl FnMut(RedactedPart<'_>)) {
        self.held.pass_on(length, pass);
        self.begins &= length == 0;
        self.searched = self.searched.saturating_sub(length);
    }
}

/// Returns where something new begins in a text: after its first line end, otherwise after its first blank or
/// punctuation, otherwise at its end. That is never within a mark.
fn first_start(text: &[u8]) -> usize {
    let after = |found: fn(&u8) -> bool| text.iter().position(found).map(|at| at + 1);
    after(|&byte| byte == b'\n').or_else(|| after(|byte| b" \t\"',;{}()>".contains(byte))).unwrap_or(text.len())
}

impl ViewReader {
    /// Returns the end of the first line in the following text after enough bytes without a difference.
    fn next_end(&mut self, text: &[u8]) -> Option<usize> {
        let known = self.undecided.len();
        let text = [&self.undecided, text].concat();
        let mut from = 0;
        loop {
            let found = search(&text, from);
            let (Difference::Found(to) | Difference::Clear(to)) = found;
            let enough = from.max((from + MIN_QUIET_BYTES).saturating_sub(self.quiet)).min(to);
            if let Some(end) = text[enough..to].iter().position(|&byte| byte == b'\n') {
                return Some(enough + end + 1 - known);
            }
            match found {
                Difference::Found(at) => (self.quiet, from) = (0, at + 1),
                Difference::Clear(to) => {
                    self.quiet += to - from;
                    self.undecided = text[to..].to_vec();
                    return None;
                }
            }
        }
    }

    fn read(&mut self, text: &[u8], held: &mut PendingBytes, pass: &mut impl FnMut(RedactedPart<'_>)) {
        self.parser.push(text, &mut self.view);
        while let Some(settled) = self.view.settled() {
            self.look_at(&settled, held, pass);
        }
    }

    fn look_at(&mut self, settled: &SettledPart, held: &mut PendingBytes, pass: &mut impl FnMut(RedactedPart<'_>)) {
        let Self { stream, view, .. } = self;
        stream.push_to(&settled.seen, &mut |passed| held.follow(passed, view, pass));
        if settled.is_cut {
            stream.finish_to(&mut |passed| held.follow(passed, view, pass));
            stream.restart();
            held.pass_on(view.follow_unseen(), pass);
        }
    }
}

/// The bytes that are not decided yet.
#[derive(Debug, Default)]
struct PendingBytes {
    bytes: Vec<u8>,
    /// Number of bytes that are decided.
    done: usize,
}

impl PendingBytes {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.done..]
    }

    fn push(&mut self, text: &[u8]) {
        self.bytes.drain(..self.done);
        self.done = 0;
        self.bytes.extend_from_slice(text);
    }

    fn split_off(&mut self, at: usize) -> Vec<u8> {
        self.bytes.split_off(self.done + at)
    }

    /// Applies to the text what was decided for its view.
    fn follow(&mut self, passed: RedactedPart<'_>, view: &mut View, pass: &mut impl FnMut(RedactedPart<'_>)) {
        match passed {
            RedactedPart::Text(seen) => self.pass_on(view.follow(seen.len()), pass),
            RedactedPart::Mark(_) => {
                self.pass_on(view.follow_unseen(), pass);
                pass(passed);
            }
            RedactedPart::Removed(seen) => {
                let length = view.follow(seen);
                self.done += length;
                pass(RedactedPart::Removed(length));
            }
        }
    }

    fn pass_on(&mut self, length: usize, pass: &mut impl FnMut(RedactedPart<'_>)) {
        if length > 0 {
            pass(RedactedPart::Text(&self.rest()[..length]));
            self.done += length;
        }
    }
}
