//! A template: the words and slots of similar lines, and how many lines there are.

use super::slot::Slot;
use super::words::{self, WILD, Words};
use super::{InputLine, MAX_LINE_BYTES};
use crate::text::{clip, count};

/// The maximum number of first lines kept, also if they are only names, and of bytes of each.
const MAX_FIRST_LINES: usize = 12;
const MAX_FIRST_NAMES: usize = 40;
const MAX_FIRST_LINE_BYTES: usize = 240;
/// How many letters of shared words a template needs for each of its slots to be informative.
const MIN_LETTERS_PER_SLOT: usize = 4;

/// Lines that differ only in their slots.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub count: u64,
    pub first: (u64, String),
    pub last: (u64, String),
    /// The numbers and texts of the first few lines.
    pub kept: Vec<(u64, String)>,
    pub sort: u8,
    pub(super) words: Vec<Word>,
    /// Whether the lines continue after these words, each in its own way.
    pub(super) open: bool,
    pub(super) key: u64,
    /// The positions that are slots because templates were joined there.
    pub(super) wild: u64,
    /// Whether earlier lines like these may have been given up.
    pub(super) late: bool,
}

/// A word of a template: text, then possibly a slot, then text.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) before: String,
    pub(super) slot: Option<Box<Slot>>,
    pub(super) after: String,
    pub(super) hash: u64,
}

impl Template {
    pub(super) fn of(words: &Words, given: &InputLine<'_>) -> Self {
        let made = words.spans.iter().map(|span| {
            let part = |start: usize, end: usize| given.text.get(start..end).unwrap_or_default().to_owned();
            let (start, end) = span.word;
            match span.value {
                Some((from, to)) => Word {
                    before: part(start, from),
                    slot: Some(Box::default()),
                    after: part(to, end),
                    hash: span.hash,
                },
                None => Word { before: part(start, end), slot: None, after: String::new(), hash: span.hash },
            }
        });
        Self {
            count: 1,
            first: (given.number, clip(given.text, MAX_LINE_BYTES)),
            last: (given.number, String::new()),
            kept: vec![(given.number, clip(given.text, MAX_FIRST_LINE_BYTES))],
            sort: given.sort,
            words: made.collect(),
            open: words.more,
            key: words.key(given.sort),
            wild: 0,
            late: false,
        }
    }

    pub(super) fn beginning_key(&self, count: usize) -> u64 {
        words::beginning_key(self.sort, self.words.iter().map(|word| word.hash), count)
    }

    /// Adds the counts of another template, which differs at no more than one position.
    pub(super) fn join(&mut self, other: &Self, at: usize) {
        for (place, (word, theirs)) in self.words.iter_mut().zip(&other.words).enumerate() {
            if place == at {
                let (ours, count) = (word.before.clone(), self.count);
                let slot = word.slot.get_or_insert_with(Box::default);
                if slot.count == 0 {
                    slot.add_many(&ours, count, (self.first.0, &self.first.1));
                    word.before.clear();
                }
                slot.add_many(&theirs.before, other.count, (other.first.0, &other.first.1));
            } else if let (Some(slot), Some(theirs)) = (&mut word.slot, &theirs.slot) {
                slot.join(theirs);
            }
        }
        self.count += other.count;
        self.late |= other.late;
        self.kept.extend_from_slice(&other.kept);
        self.kept.sort_by_key(|(number, _)| *number);
        self.kept.truncate(self.most_kept());
        if other.first.0 < self.first.0 {
            self.first = other.first.clone();
        }
        if other.last.0 > self.last.0 {
            let text = if other.last.1.is_empty() { &other.first.1 } else { &other.last.1 };
            self.last = (other.last.0, text.clone());
        }
    }

    pub(super) fn keep(&mut self, given: &InputLine<'_>) {
        if self.kept.len() < self.most_kept() {
            self.kept.push((given.number, clip(given.text, MAX_FIRST_LINE_BYTES)));
        }
    }

    fn most_kept(&self) -> usize {
        if self.words.len() == 1 { MAX_FIRST_NAMES } else { MAX_FIRST_LINES }
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.kept.len() as u64 == self.count && !self.late
    }

    /// Makes a position a slot permanently.
    pub(super) fn close_at(&mut self, at: usize, key: u64) {
        self.key = key;
        self.wild |= 1 << at.min(63);
        if let Some(word) = self.words.get_mut(at) {
            word.hash = WILD;
        }
    }

    /// Keeps only the first words.
    pub(super) fn open_after(&mut self, count: usize, key: u64) {
        self.words.truncate(count);
        self.open = true;
        self.key = key;
    }

    /// Returns the count as shown: `12`, or `12+` where earlier lines may have been given up.
    pub(crate) fn times(&self) -> String {
        format!("{}{}", self.count, if self.late { "+" } else { "" })
    }

    /// Returns what stands after a line that represents others: `×12`; `×12 alike` if they are not all the same, and
    /// `×12 that begin alike` if each ends in its own way.
    pub(crate) fn repeats(&self) -> String {
        let alike = match self.slots().next() {
            _ if self.open => " that begin alike",
            Some(_) => " alike",
            None => "",
        };
        format!("×{}{alike}", self.times())
    }

    /// Returns how long its lines are: `lines of 3 words`.
    pub(crate) fn length(&self) -> String {
        let least = if self.open { "at least " } else { "" };
        format!("lines of {least}{}", count(self.words.len() as u64, "word", "words"))
    }

    /// Returns the last line, if it is not the first.
    pub(crate) fn last_text(&self) -> Option<&str> {
        (!self.last.1.is_empty()).then_some(self.last.1.as_str())
    }

    /// Returns the slots whose values differ, each with the text right before it.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (&str, &Slot)> {
        self.words.iter().enumerate().filter_map(|(place, word)| {
            let slot = word.slot.as_deref().filter(|slot| slot.differs())?;
            let before = match word.before.as_str() {
                "" => place.checked_sub(1).and_then(|at| self.words.get(at)).map_or("", |word| word.before.as_str()),
                before => before,
            };
            Some((before, slot))
        })
    }

    /// Returns whether the words that the lines share are informative: they need at least [`MIN_LETTERS_PER_SLOT`]
    /// letters for each slot whose values differ.
    pub(crate) fn is_telling(&self) -> bool {
        let letters = |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).count();
        let (mut literal, mut slots) = (0, 0);
        for word in &self.words {
            literal += letters(&word.before) + letters(&word.after);
            slots += usize::from(word.slot.as_ref().is_some_and(|slot| slot.differs()));
        }
        literal >= slots * MIN_LETTERS_PER_SLOT
    }

    /// Returns, for each slot that holds only numbers, the line with the greatest one.
    pub(crate) fn greatest(&self) -> impl Iterator<Item = (u64, &str)> {
        self.words.iter().filter_map(|word| word.slot.as_ref()?.greatest())
    }

    /// Renders the template with its values in about `most` bytes.
    pub(crate) fn show(&self, most: usize) -> String {
        let mut text = String::new();
        for word in &self.words {
            if text.len() > most {
                text.push_str(" …");
                return text;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&word.before);
            // Process numbers are not informative.
            match &word.slot {
                Some(slot) if word.before.ends_with(['[', '#']) && slot.differs() => text.push('*'),
                Some(slot) => slot.show(&mut text),
                None => {}
            }
            text.push_str(&word.after);
        }
        if self.open {
            text.push_str(" …");
        }
        text
    }
}
