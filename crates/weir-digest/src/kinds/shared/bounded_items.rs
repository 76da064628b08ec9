//! Lines of one sort that are kept for showing, with their true number. Invariant: memory is bounded.

use crate::text::clip;
use crate::{Item, Line, Part, Weight};

const MAX_ITEMS: usize = 60;
const MAX_LINE_BYTES: usize = 400;
const NAMES_PER_LINE: usize = 6;

/// The first `MOST` items of one sort, with their true number.
#[derive(Default)]
pub(crate) struct KeptItems<const MOST: usize> {
    pub items: Vec<Item>,
    pub total: u64,
}

impl<const MOST: usize> KeptItems<MOST> {
    /// Counts an item, and keeps it if there is room.
    pub(crate) fn add(&mut self, item: impl FnOnce() -> Item) {
        self.total += 1;
        if self.items.len() < MOST {
            self.items.push(item());
        }
    }

    pub(crate) fn part(self, name: &str, weight: Weight) -> Part {
        Part::new(name, weight, self.items).of(self.total)
    }
}

#[derive(Default)]
pub(crate) struct BoundedItems {
    items: Vec<(Item, u64)>,
    /// The true number of lines.
    pub total: u64,
}

impl BoundedItems {
    pub(crate) fn line(&mut self, line: &Line<'_>) {
        self.add(|| Item::at(line.number, clip(line.text.trim_end(), MAX_LINE_BYTES)));
    }

    /// Keeps a text. A text that is already there is counted there.
    pub(crate) fn text(&mut self, text: &str) {
        let text = text.trim_end();
        // A text that was cut is never found again, so it is kept separately.
        if let Some((_, times)) = self.items.iter_mut().find(|(item, _)| item.line.is_none() && item.text == text) {
            *times += 1;
            self.total += 1;
            return;
        }
        self.add(|| Item::plain(clip(text, MAX_LINE_BYTES)));
    }

    pub(crate) fn add(&mut self, item: impl FnOnce() -> Item) {
        self.total += 1;
        if self.items.len() < MAX_ITEMS {
            self.items.push((item(), 1));
        }
    }

    /// Keeps an item in place of the one that begins with the same name, if there is one, and counts both.
    pub(crate) fn replace(&mut self, name: &str, item: impl FnOnce() -> Item) {
        let starts = |text: &str| text.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        match self.items.iter_mut().find(|(item, _)| starts(&item.text)) {
            Some((there, _)) => {
                *there = item();
                self.total += 1;
            }
            None => self.add(item),
        }
    }

    pub(crate) fn has_all(&self) -> bool {
        self.items.iter().map(|(_, times)| times).sum::<u64>() == self.total
    }

    /// Counts a line that is not kept.
    pub(crate) fn count(&mut self) {
        self.total += 1;
    }

    /// Appends a line to the last item, unless that is too long.
    pub(crate) fn go_on(&mut self, text: &str) {
        if let Some((item, _)) = self.items.last_mut().filter(|(item, _)| item.text.len() < 3 * MAX_LINE_BYTES) {
            let brief = item.text.lines().next().unwrap_or_default().to_owned();
            item.brief.get_or_insert(brief);
            item.text.push('\n');
            item.text.push_str(&clip(text.trim_end(), MAX_LINE_BYTES));
        }
    }

    pub(crate) fn part(self, name: &str, weight: Weight) -> Part {
        let items = self.items.into_iter().map(|(item, times)| match times {
            1 => item,
            _ => Item { text: format!("×{times} {}", item.text), ..item },
        });
        Part::new(name, weight, items.collect()).of(self.total)
    }
}

/// Joins texts into rows, each of which ends once it is longer than `most` bytes.
pub(crate) fn joined(texts: impl Iterator<Item = impl AsRef<str>>, between: &str, most: usize) -> Vec<Item> {
    let mut rows = Vec::new();
    let mut row = String::new();
    for text in texts {
        row.push_str(if row.is_empty() { "" } else { between });
        row.push_str(text.as_ref());
        if row.len() > most {
            rows.push(Item::plain(std::mem::take(&mut row)));
        }
    }
    if !row.is_empty() {
        rows.push(Item::plain(row));
    }
    rows
}

/// Returns a part of short names, several on a line. `left_out` is the number of further names.
pub(crate) fn rows(name: &str, weight: Weight, names: &[String], left_out: u64) -> Part {
    let items: Vec<Item> = names.chunks(NAMES_PER_LINE).map(|row| Item::plain(row.join(", "))).collect();
    let lines = (names.len() as u64 + left_out).div_ceil(NAMES_PER_LINE as u64);
    let total = if items.is_empty() { 0 } else { lines };
    Part::new(format!("{name}, in lines of {NAMES_PER_LINE}"), weight, items).of(total)
}
