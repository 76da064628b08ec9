//! Removes secrets from a text that arrives in pieces.
//!
//! The text is searched twice: first in its visible form ([`Seen`]), then what is left of it in its stored form
//! ([`Stream`]). Both are needed: a colour may interrupt a token, and a token may be in text that a terminal would have
//! erased.
//!
//! Invariants: the result does not depend on where the pieces begin and end; memory is bounded.

use std::collections::VecDeque;

use super::seen::Seen;
use super::stream::{BLOCK, Passed, Stream, WINDOW};

/// Removes secrets from a text that arrives in pieces.
#[derive(Debug)]
pub struct Redactor {
    seen: Seen,
    stored: Stored,
    counts: Vec<(&'static str, u64)>,
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new()
    }
}

impl Redactor {
    /// Creates a redactor at the beginning of a text.
    pub fn new() -> Self {
        Self::with_sizes(BLOCK, WINDOW)
    }

    pub(super) fn with_sizes(block: usize, window: usize) -> Self {
        let stored = Stored { stream: Stream::with_sizes(block, window), items: VecDeque::new() };
        Self { seen: Seen::with_sizes(block, window), stored, counts: Vec::new() }
    }

    /// Takes more text, and writes the part of it that is decided.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.push_to(bytes, &mut |passed| passed.write_to(out));
    }

    /// Writes the rest. Returns the number of secrets that each rule found.
    pub fn finish(self, out: &mut Vec<u8>) -> Vec<(&'static str, u64)> {
        self.finish_to(&mut |passed| passed.write_to(out))
    }

    /// Takes more text, and passes on the part of it that is decided.
    pub fn push_to(&mut self, bytes: &[u8], pass: &mut impl FnMut(Passed<'_>)) {
        let Self { seen, stored, counts } = self;
        seen.take(bytes, &mut |passed| stored.take(passed, &mut counting(counts, pass)));
    }

    /// Passes on the rest. Returns the number of secrets that each rule found.
    pub fn finish_to(mut self, pass: &mut impl FnMut(Passed<'_>)) -> Vec<(&'static str, u64)> {
        let Self { seen, stored, counts } = &mut self;
        seen.finish(&mut |passed| stored.take(passed, &mut counting(counts, pass)));
        stored.finish(&mut counting(counts, pass));
        self.counts
    }

    /// Returns how many bytes it holds, including its notes about them.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.seen.held() + self.stored.stream.held() + self.stored.items.capacity() * size_of::<Item>()
    }
}

/// Counts the marks that are passed on.
fn counting(counts: &mut Vec<(&'static str, u64)>, pass: &mut impl FnMut(Passed<'_>)) -> impl FnMut(Passed<'_>) {
    move |passed| {
        if let Passed::Mark(rule) = passed {
            match counts.iter_mut().find(|(name, _)| *name == rule) {
                Some((_, count)) => *count += 1,
                None => counts.push((rule, 1)),
            }
        }
        pass(passed);
    }
}

/// Searches the stored form of a text, and keeps track of the marks that are already in it.
#[derive(Debug)]
struct Stored {
    stream: Stream,
    /// What the stream holds.
    items: VecDeque<Item>,
}

#[derive(Debug, Clone, Copy)]
enum Item {
    /// This many bytes of the text.
    Text(usize),
    /// A mark of this many bytes, which are not in the original text.
    Mark(&'static str, usize),
    /// The rest of a mark.
    RestOfMark(usize),
    /// This many bytes of the text that were not given to the stream.
    Removed(usize),
}

impl Stored {
    fn take(&mut self, passed: Passed<'_>, pass: &mut impl FnMut(Passed<'_>)) {
        let mut mark = Vec::new();
        let bytes = match passed {
            Passed::Text(text) => {
                match self.items.back_mut() {
                    Some(Item::Text(length)) => *length += text.len(),
                    _ => self.items.push_back(Item::Text(text.len())),
                }
                text
            }
            Passed::Mark(rule) => {
                passed.write_to(&mut mark);
                self.items.push_back(Item::Mark(rule, mark.len()));
                &mark
            }
            Passed::Removed(length) => {
                match self.items.back_mut() {
                    Some(Item::Removed(removed)) => *removed += length,
                    _ => self.items.push_back(Item::Removed(length)),
                }
                return;
            }
        };
        let Self { stream, items } = self;
        stream.push_to(bytes, &mut |passed| follow(passed, items, pass));
    }

    fn finish(&mut self, pass: &mut impl FnMut(Passed<'_>)) {
        let Self { stream, items } = self;
        stream.finish_to(&mut |passed| follow(passed, items, pass));
        follow(Passed::Text(&[]), items, pass);
    }
}

/// Maps a part of the stream back to the text.
fn follow(passed: Passed<'_>, items: &mut VecDeque<Item>, pass: &mut impl FnMut(Passed<'_>)) {
    let (text, length) = match passed {
        Passed::Text(text) => (Some(text), text.len()),
        Passed::Mark(_) => return pass(passed),
        Passed::Removed(length) => (None, length),
    };
    let mut at = 0;
    while let Some(item) = items.pop_front() {
        let rest = length - at;
        match item {
            Item::Removed(removed) => pass(Passed::Removed(removed)),
            _ if rest == 0 => {
                items.push_front(item);
                break;
            }
            Item::Text(held) => {
                let now = held.min(rest);
                pass(text.map_or(Passed::Removed(now), |text| Passed::Text(&text[at..at + now])));
                at += now;
                if held > now {
                    items.push_front(Item::Text(held - now));
                }
            }
            Item::Mark(rule, held) => {
                if text.is_some() {
                    pass(Passed::Mark(rule));
                }
                items.push_front(Item::RestOfMark(held));
            }
            Item::RestOfMark(held) => {
                let now = held.min(rest);
                at += now;
                if held > now {
                    items.push_front(Item::RestOfMark(held - now));
                }
            }
        }
    }
}
