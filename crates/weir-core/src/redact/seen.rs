//! Looks for secrets in a text as it is seen, and removes them from the text as it is stored.
//!
//! Until something comes that is not seen as it is stored there is nothing to do. From then on, and from shortly before,
//! a stream of matchers reads the [`View`], and what it finds goes with all the bytes of the text that it stands for.
//!
//! Invariants: what happens depends on the text only, never on its pieces; memory is bounded.

use super::stream::{Passed, Stream};
use super::view::{Search, Settled, View, search};
use crate::terminal::sequence::Parser;

/// How much of the text before the first that is not seen as it is stored is looked at with it.
const BEFORE: usize = 4 << 10;
/// How much of the text is read at once.
const PIECE: usize = 16 << 10;

#[derive(Debug)]
pub(super) struct Seen {
    block: usize,
    window: usize,
    held: Held,
    /// How many bytes there were before those that are held.
    passed: u64,
    /// How many of them are known to be seen as they are stored.
    searched: usize,
    reading: Option<Reading>,
}

/// What reads the view.
#[derive(Debug)]
struct Reading {
    parser: Parser,
    view: View,
    stream: Stream,
}

impl Seen {
    pub(super) fn with_sizes(block: usize, window: usize) -> Self {
        Self { block, window, held: Held::default(), passed: 0, searched: 0, reading: None }
    }

    /// Takes more of the text and passes on what is decided of it.
    pub(super) fn take(&mut self, text: &[u8], pass: &mut impl FnMut(Passed<'_>)) {
        if self.reading.is_none() && self.is_long_and_clear(text) {
            let (now, later) = text.split_at(text.len() - BEFORE);
            self.passed += (self.held.rest().len() + now.len()) as u64;
            self.held.pass_on(self.held.rest().len(), pass);
            pass(Passed::Text(now));
            self.held.push(later);
            self.searched = BEFORE;
            return;
        }
        self.held.push(text);
        match &mut self.reading {
            Some(reading) => reading.read(text, &mut self.held, pass),
            None => match search(self.held.rest(), self.searched) {
                Search::Found(at) => self.begin(at, pass),
                Search::Clear(to) => {
                    self.searched = to;
                    self.pass_on(to.saturating_sub(BEFORE), pass);
                }
            },
        }
    }

    /// Passes on the rest.
    pub(super) fn finish(&mut self, pass: &mut impl FnMut(Passed<'_>)) {
        if let Some(reading) = &mut self.reading {
            reading.parser.finish(&mut reading.view);
            let rest = reading.view.finish();
            reading.look_at(&rest, &mut self.held, pass);
        }
        self.held.pass_on(self.held.rest().len(), pass);
    }

    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        let reading = self.reading.as_ref().map_or(0, |reading| reading.stream.held() + reading.view.held());
        self.held.bytes.capacity() + reading
    }

    /// Whether a piece need not be copied to be passed on.
    fn is_long_and_clear(&self, text: &[u8]) -> bool {
        text.len() > 2 * BEFORE
            && self.searched == self.held.rest().len()
            && search(text, 0) == Search::Clear(text.len())
    }

    /// Begins to read the view, a little before `at`.
    fn begin(&mut self, at: usize, pass: &mut impl FnMut(Passed<'_>)) {
        let from = at.saturating_sub(BEFORE);
        let is_beginning = self.passed == 0 && from == 0;
        let start = if is_beginning { 0 } else { from + first_start(&self.held.rest()[from..at]) };
        self.pass_on(start, pass);
        let text = self.held.rest().to_vec();
        let stream = Stream::with_sizes(self.block, self.window);
        let mut reading = Reading { parser: Parser::default(), view: View::default(), stream };
        reading.read(&text, &mut self.held, pass);
        self.reading = Some(reading);
    }

    fn pass_on(&mut self, length: usize, pass: &mut impl FnMut(Passed<'_>)) {
        self.held.pass_on(length, pass);
        self.passed += length as u64;
        self.searched = self.searched.saturating_sub(length);
    }
}

/// Where in a text something new begins: after its first line end, else after its first blank or punctuation, else at
/// its end. That is never within a mark.
fn first_start(text: &[u8]) -> usize {
    let after = |found: fn(&u8) -> bool| text.iter().position(found).map(|at| at + 1);
    after(|&byte| byte == b'\n').or_else(|| after(|byte| b" \t\"',;{}()>".contains(byte))).unwrap_or(text.len())
}

impl Reading {
    fn read(&mut self, text: &[u8], held: &mut Held, pass: &mut impl FnMut(Passed<'_>)) {
        for piece in text.chunks(PIECE) {
            self.parser.push(piece, &mut self.view);
            while let Some(settled) = self.view.settled() {
                self.look_at(&settled, held, pass);
            }
        }
    }

    fn look_at(&mut self, settled: &Settled, held: &mut Held, pass: &mut impl FnMut(Passed<'_>)) {
        let Self { stream, view, .. } = self;
        stream.push_to(&settled.seen, &mut |passed| held.follow(passed, view, pass));
        if settled.is_cut {
            stream.finish_to(&mut |passed| held.follow(passed, view, pass));
            stream.restart();
            held.pass_on(view.follow_unseen(), pass);
        }
    }
}

/// The bytes that are not decided on.
#[derive(Debug, Default)]
struct Held {
    bytes: Vec<u8>,
    /// Up to here they are decided on.
    done: usize,
}

impl Held {
    fn rest(&self) -> &[u8] {
        &self.bytes[self.done..]
    }

    fn push(&mut self, text: &[u8]) {
        self.bytes.drain(..self.done);
        self.done = 0;
        self.bytes.extend_from_slice(text);
    }

    /// Does with the text what was decided on its view.
    fn follow(&mut self, passed: Passed<'_>, view: &mut View, pass: &mut impl FnMut(Passed<'_>)) {
        match passed {
            Passed::Text(seen) => self.pass_on(view.follow(seen.len()), pass),
            Passed::Mark(_) => {
                self.pass_on(view.follow_unseen(), pass);
                pass(passed);
            }
            Passed::Removed(seen) => {
                let length = view.follow(seen);
                self.done += length;
                pass(Passed::Removed(length));
            }
        }
    }

    fn pass_on(&mut self, length: usize, pass: &mut impl FnMut(Passed<'_>)) {
        if length > 0 {
            pass(Passed::Text(&self.rest()[..length]));
            self.done += length;
        }
    }
}
