//! Removes secrets from a text that arrives in pieces.
//!
//! The text is searched twice: first in its visible form ([`VisibleFormSearch`]), then what is left of it in its stored
//! form ([`SecretStream`]). Both are needed: a colour may interrupt a token, and a token may be in text that a terminal
//! would have erased.
//!
//! Invariants: the result does not depend on where the pieces begin and end; memory is bounded.

use std::collections::VecDeque;

use super::stream::{BLOCK_BYTES, RedactedPart, SecretStream, WINDOW_BYTES};
use super::visible_form::VisibleFormSearch;

/// Removes secrets from a text that arrives in pieces.
#[derive(Debug)]
pub struct Redactor {
    visible: VisibleFormSearch,
    stored: StoredFormSearch,
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
        Self::with_sizes(BLOCK_BYTES, WINDOW_BYTES)
    }

    pub(super) fn with_sizes(block: usize, window: usize) -> Self {
        let stored = StoredFormSearch { stream: SecretStream::with_sizes(block, window), items: VecDeque::new() };
        Self { visible: VisibleFormSearch::with_sizes(block, window), stored, counts: Vec::new() }
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
    pub fn push_to(&mut self, bytes: &[u8], pass: &mut impl FnMut(RedactedPart<'_>)) {
        let Self { visible, stored, counts } = self;
        visible.push(bytes, &mut |passed| stored.push(passed, &mut counting(counts, pass)));
    }

    /// Passes on the rest. Returns the number of secrets that each rule found.
    pub fn finish_to(mut self, pass: &mut impl FnMut(RedactedPart<'_>)) -> Vec<(&'static str, u64)> {
        let Self { visible, stored, counts } = &mut self;
        visible.finish(&mut |passed| stored.push(passed, &mut counting(counts, pass)));
        stored.finish(&mut counting(counts, pass));
        self.counts
    }

    /// Returns how many bytes it holds, including its notes about them.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.visible.held() + self.stored.stream.held() + self.stored.items.capacity() * size_of::<QueuedPart>()
    }
}

fn counting(
    counts: &mut Vec<(&'static str, u64)>,
    pass: &mut impl FnMut(RedactedPart<'_>),
) -> impl FnMut(RedactedPart<'_>) {
    move |passed| {
        if let RedactedPart::Mark(rule) = passed {
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
struct StoredFormSearch {
    stream: SecretStream,
    /// What the stream holds.
    items: VecDeque<QueuedPart>,
}

#[derive(Debug, Clone, Copy)]
enum QueuedPart {
    /// This many bytes of the text.
    Text(usize),
    /// A mark of this many bytes, which are not in the original text.
    Mark(&'static str, usize),
    RestOfMark(usize),
    /// This many bytes of the text that were not given to the stream.
    Removed(usize),
}

impl StoredFormSearch {
    fn push(&mut self, passed: RedactedPart<'_>, pass: &mut impl FnMut(RedactedPart<'_>)) {
        let mut mark = Vec::new();
        let bytes = match passed {
            RedactedPart::Text(text) => {
                match self.items.back_mut() {
                    Some(QueuedPart::Text(length)) => *length += text.len(),
                    _ => self.items.push_back(QueuedPart::Text(text.len())),
                }
                text
            }
            RedactedPart::Mark(rule) => {
                passed.write_to(&mut mark);
                self.items.push_back(QueuedPart::Mark(rule, mark.len()));
                &mark
            }
            RedactedPart::Removed(length) => {
                match self.items.back_mut() {
                    Some(QueuedPart::Removed(removed)) => *removed += length,
                    _ => self.items.push_back(QueuedPart::Removed(length)),
                }
                return;
            }
        };
        let Self { stream, items } = self;
        stream.push_to(bytes, &mut |passed| follow(passed, items, pass));
    }

    fn finish(&mut self, pass: &mut impl FnMut(RedactedPart<'_>)) {
        let Self { stream, items } = self;
        stream.finish_to(&mut |passed| follow(passed, items, pass));
        follow(RedactedPart::Text(&[]), items, pass);
    }
}

/// Maps a part of the stream back to the text.
fn follow(passed: RedactedPart<'_>, items: &mut VecDeque<QueuedPart>, pass: &mut impl FnMut(RedactedPart<'_>)) {
    let (text, length) = match passed {
        RedactedPart::Text(text) => (Some(text), text.len()),
        RedactedPart::Mark(_) => return pass(passed),
        RedactedPart::Removed(length) => (None, length),
    };
    let mut at = 0;
    while let Some(item) = items.pop_front() {
        let rest = length - at;
        match item {
            QueuedPart::Removed(removed) => pass(RedactedPart::Removed(removed)),
            _ if rest == 0 => {
                items.push_front(item);
                break;
            }
            QueuedPart::Text(held) => {
                let now = held.min(rest);
                pass(text.map_or(RedactedPart::Removed(now), |text| RedactedPart::Text(&text[at..at + now])));
                at += now;
                if held > now {
                    items.push_front(QueuedPart::Text(held - now));
                }
            }
            QueuedPart::Mark(rule, held) => {
                if text.is_some() {
                    pass(RedactedPart::Mark(rule));
                }
                items.push_front(QueuedPart::RestOfMark(held));
            }
            QueuedPart::RestOfMark(held) => {
                let now = held.min(rest);
                at += now;
                if held > now {
                    items.push_front(QueuedPart::RestOfMark(held - now));
                }
            }
        }
    }
}
