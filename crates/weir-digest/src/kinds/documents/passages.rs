//! Passages of a text, the most informative first.
//!
//! A passage is informative if its words are rare in this text and have not been shown yet: what every section repeats
//! comes last, whatever the text is about. Invariants: memory is bounded; time is linear in the text; the result does
//! not depend on the order of a map.

use std::collections::{BinaryHeap, HashMap, HashSet};

use crate::text::shorten;
use crate::{Item, Part, Weight};

/// The number of passages at which the least informative are dropped, and how many remain.
const MAX_PASSAGES: usize = 3_000;
const REMAINING_PASSAGES: usize = 1_000;
const MAX_WORDS: usize = 60_000;
const MAX_PASSAGE_BYTES: usize = 420;
const MAX_PASSAGES_SHOWN: usize = 120;
/// This many passages at a time are put into the order of the text.
const REORDER_GROUP: usize = 6;
/// The maximum number of times that scores are recomputed.
const MAX_SCORES: usize = 10_000;
/// The usual worth of a passage, in percent.
pub(super) const USUAL: u64 = 100;

#[derive(Default)]
pub(super) struct Passages {
    /// For each word, by its hash, the number of passages that contain it.
    words: HashMap<u64, u64>,
    kept: Vec<Passage>,
    total: u64,
    /// Words that are shown in any case.
    covered: HashSet<u64>,
    scratch: Vec<u64>,
}

struct Passage {
    line: Option<u64>,
    text: String,
    worth: u64,
}

impl Passages {
    /// Adds a passage that begins on this line. `worth` is [`USUAL`] unless something speaks for or against it.
    pub(super) fn add(&mut self, line: Option<u64>, text: &str, worth: u64) {
        let text = text.trim();
        hashes(text, &mut self.scratch);
        if self.scratch.is_empty() || worth == 0 {
            return;
        }
        self.total += 1;
        for &word in &self.scratch {
            if let Some(count) = self.words.get_mut(&word) {
                *count += 1;
            } else if self.words.len() < MAX_WORDS {
                self.words.insert(word, 1);
            }
        }
        if self.kept.len() >= MAX_PASSAGES {
            self.prune();
        }
        self.kept.push(Passage { line, text: shorten(text, MAX_PASSAGE_BYTES), worth });
    }

    /// Marks this text as shown in any case, which lowers the score of passages with the same words.
    pub(super) fn cover(&mut self, text: &str) {
        hashes(text, &mut self.scratch);
        if self.covered.len() < MAX_WORDS {
            self.covered.extend(self.scratch.iter().copied());
        }
    }

    /// Returns the part: the most informative first, in groups that follow the order of the text.
    pub(super) fn part(self, name: &str, weight: Weight) -> Part {
        let total = self.total;
        let items = self.items();
        // If nothing remains that others do not show, the part is empty.
        let total = if items.is_empty() { 0 } else { total };
        Part::new(name, weight, items).of(total)
    }

    fn items(mut self) -> Vec<Item> {
        let mut covered = std::mem::take(&mut self.covered);
        let mut heap: BinaryHeap<(u64, usize)> =
            (0..self.kept.len()).map(|place| (self.score(place, &covered), usize::MAX - place)).collect();
        let mut chosen = Vec::new();
        let mut words = Vec::new();
        let mut scores = 0;
        while chosen.len() < MAX_PASSAGES_SHOWN {
            let Some((_, at)) = heap.pop() else { break };
            let place = usize::MAX - at;
            // Words shown in the meantime no longer count, so a score can only fall.
            let score = self.score(place, &covered);
            if score == 0 {
                continue;
            }
            scores += 1;
            if scores < MAX_SCORES && heap.peek().is_some_and(|next| next.0 > score) {
                heap.push((score, at));
                continue;
            }
            if let Some(passage) = self.kept.get(place) {
                hashes(&passage.text, &mut words);
                covered.extend(words.iter().copied());
            }
            chosen.push(place);
        }
        chosen.chunks_mut(REORDER_GROUP).for_each(<[usize]>::sort_unstable);
        let item = |&place: &usize| {
            let passage = self.kept.get(place)?;
            Some(Item { line: passage.line, text: passage.text.clone(), ..Item::default() })
        };
        chosen.iter().filter_map(item).collect()
    }

    fn prune(&mut self) {
        let none = HashSet::new();
        let mut ranked: Vec<(u64, usize)> =
            (0..self.kept.len()).map(|place| (u64::MAX - self.score(place, &none), place)).collect();
        ranked.sort_unstable();
        let mut stay: Vec<bool> = vec![false; self.kept.len()];
        for (_, place) in ranked.into_iter().take(REMAINING_PASSAGES) {
            if let Some(stays) = stay.get_mut(place) {
                *stays = true;
            }
        }
        let mut stays = stay.into_iter();
        self.kept.retain(|_| stays.next().unwrap_or(false));
    }

    /// Returns what a passage says beyond what is covered, relative to its cost.
    fn score(&self, place: usize, covered: &HashSet<u64>) -> u64 {
        let Some(passage) = self.kept.get(place) else { return 0 };
        let mut words = Vec::new();
        hashes(&passage.text, &mut words);
        let rarity = |word: &u64| match self.words.get(word) {
            Some(&count) if !covered.contains(word) => log2(self.total.saturating_mul(4) / count.max(1)),
            _ => 0,
        };
        let says: u64 = words.iter().map(rarity).sum();
        let length = passage.text.len() as f64 + 24.0;
        // Between a sum, which favours long passages, and a mean, which favours short ones.
        let cost = length.sqrt() * length.sqrt().sqrt();
        (says as f64 * passage.worth as f64 / cost) as u64
    }
}

/// Returns the binary logarithm in sixteenths, in integer arithmetic, which gives the same result everywhere.
fn log2(number: u64) -> u64 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    let rest = if whole >= 4 { number >> (whole - 4) } else { number << (4 - whole) };
    u64::from(whole) * 16 + (rest & 15)
}

/// Hashes the different words of a text. Numbers and words of one or two letters are skipped.
fn hashes(text: &str, into: &mut Vec<u64>) {
    into.clear();
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    for word in text.as_bytes().split(|byte| !is_word(byte)) {
        let Some(first) = word.first() else { continue };
        if word.len() < 3 || first.is_ascii_digit() {
            continue;
        }
        let hash = word.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
        });
        into.push(hash);
    }
    into.sort_unstable();
    into.dedup();
}

/// Returns `1 table`, `2 tables`.
pub(super) fn counted(count: u64, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

/// A paragraph whose lines arrive one at a time.
#[derive(Default)]
pub(super) struct Paragraph {
    text: String,
    lines: Vec<(usize, u64)>,
}

const MAX_PARAGRAPH_BYTES: usize = 4_000;

impl Paragraph {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn line(&self) -> u64 {
        self.lines.first().map_or(0, |line| line.1)
    }

    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn push(&mut self, number: u64, text: &str) {
        let text = text.trim();
        if self.text.len() + text.len() > MAX_PARAGRAPH_BYTES && !self.text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), number));
        self.text.push_str(text.get(..text.floor_char_boundary(MAX_PARAGRAPH_BYTES)).unwrap_or_default());
    }

    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.lines.clear();
    }

    /// Returns its sentences, each with the number of the line on which it begins.
    pub(super) fn sentences(&self) -> impl Iterator<Item = (u64, &str)> {
        let mut rest = 0;
        std::iter::from_fn(move || {
            let text = self.text.get(rest..)?;
            if text.is_empty() {
                return None;
            }
            let end = sentence_end(text);
            let at = rest;
            rest += end;
            let number = self.lines.iter().take_while(|line| line.0 <= at).last().map_or(0, |line| line.1);
            Some((number, text.get(..end).unwrap_or_default().trim()))
        })
    }
}

/// Returns where the first sentence of a text ends. A very short sentence is joined with the next.
fn sentence_end(text: &str) -> usize {
    const MIN_SENTENCE_BYTES: usize = 24;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate().skip(MIN_SENTENCE_BYTES) {
        if !matches!(byte, b'.' | b'!' | b'?') || bytes.get(at + 1) != Some(&b' ') {
            continue;
        }
        let spaces = bytes.iter().skip(at + 1).take_while(|byte| **byte == b' ').count();
        let next = bytes.get(at + 1 + spaces).copied().unwrap_or(b'A');
        let begins =
            next.is_ascii_uppercase() || next >= 0x80 || matches!(next, b'`' | b'"' | b'(' | b'*' | b'[' | b'\'');
        let before = text.get(..at).unwrap_or_default().rsplit(' ').next().unwrap_or_default();
        let short = matches!(before, "e.g" | "i.e" | "etc" | "vs" | "cf" | "Mr" | "Mrs" | "Ms" | "Dr" | "No" | "St");
        if begins && !short && before.len() > 1 {
            return at + 2;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_once_goes_before_what_is_said_again() {
        let mut passages = Passages::default();
        for number in 0..30 {
            passages.add(
                Some(number),
                &format!("Sets the value of setting {number}, which is checked at start."),
                USUAL,
            );
        }
        passages.add(Some(99), "Connections beyond this number are refused.", USUAL);
        let items = passages.part("passages", Weight::Fact).items;
        assert!(items.iter().take(2).any(|item| item.line == Some(99)), "{items:?}");
        assert!(items.len() < 4, "{items:?}");
    }

    #[test]
    fn many_passages_take_bounded_memory() {
        let mut passages = Passages::default();
        for number in 0..10_000 {
            passages.add(None, &format!("word{number} and another thing"), USUAL);
        }
        assert!(passages.kept.len() <= MAX_PASSAGES);
        assert_eq!(passages.part("passages", Weight::Fact).total, 10_000);
    }

    #[test]
    fn a_paragraph_is_split_into_sentences() {
        let mut paragraph = Paragraph::default();
        paragraph.push(7, "The first one has e.g. an example and goes on,");
        paragraph.push(8, "to the next line. The second begins there. Short.");
        let found: Vec<(u64, &str)> = paragraph.sentences().collect();
        assert_eq!(
            found,
            [
                (7, "The first one has e.g. an example and goes on, to the next line."),
                // A very short sentence stays with the one before it.
                (8, "The second begins there. Short.")
            ]
        );
    }
}
