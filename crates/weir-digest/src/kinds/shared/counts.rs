//! Counts by name, and items spread over an output, both in bounded memory.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use crate::text::count;
use crate::{Item, Part, Weight};

/// The maximum length of a name. Longer names are counted with those for which there was no room.
const MAX_NAME_BYTES: usize = 500;

/// The count of each of at most `MOST` names.
#[derive(Default)]
pub(crate) struct Tally<const MOST: usize = 4_000> {
    counts: HashMap<Box<str>, u64>,
    /// The count without a name, because there were too many names.
    pub beyond: u64,
    pub all: u64,
}

impl<const MOST: usize> Tally<MOST> {
    pub(crate) fn add(&mut self, name: &str) {
        self.add_times(name, 1);
    }

    /// Counts a name `times` times.
    pub(crate) fn add_times(&mut self, name: &str, times: u64) {
        self.all = self.all.saturating_add(times);
        if let Some(count) = self.counts.get_mut(name) {
            *count = count.saturating_add(times);
        } else if self.counts.len() < MOST && name.len() <= MAX_NAME_BYTES {
            self.counts.insert(name.into(), times);
        } else {
            self.beyond = self.beyond.saturating_add(times);
        }
    }

    /// Returns the number of different names for which there was room.
    pub(crate) fn names(&self) -> usize {
        self.counts.len()
    }

    pub(crate) fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or(0)
    }

    /// Returns the number of different names, in words: `more than` if there were too many.
    pub(crate) fn different(&self) -> String {
        let more = if self.beyond > 0 { "more than " } else { "" };
        format!("{more}{}", self.counts.len())
    }

    /// Returns the names with their counts, the most frequent first; equal ones are sorted by name.
    pub(crate) fn sorted(&self) -> Vec<(&str, u64)> {
        let mut sorted: Vec<(&str, u64)> = self.counts.iter().map(|(name, &count)| (name.as_ref(), count)).collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        sorted
    }

    /// Returns the names with their counts, sorted by name.
    pub(crate) fn by_name(&self) -> Vec<(&str, u64)> {
        let mut sorted = self.sorted();
        sorted.sort_by(|a, b| a.0.cmp(b.0));
        sorted
    }

    /// Returns `name count, name count`, without those for which there was no room.
    pub(crate) fn listed(&self) -> String {
        self.sorted().iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
    }

    /// Returns `name count, name count, 3 others 17`.
    pub(crate) fn in_line(&self, most: usize) -> String {
        let sorted = self.sorted();
        let shown = sorted.len().min(most);
        let mut texts: Vec<String> = sorted.iter().take(most).map(|(name, count)| format!("{name} {count}")).collect();
        let rest: u64 = sorted.iter().skip(shown).map(|(_, count)| count).sum::<u64>().saturating_add(self.beyond);
        if rest > 0 {
            let least = if self.beyond > 0 { "at least " } else { "" };
            let others = (sorted.len() - shown + usize::from(self.beyond > 0)) as u64;
            texts.push(format!("{least}{} {rest}", count(others, "other", "others")));
        }
        texts.join(", ")
    }

    /// Returns `label: name count, name count, 3 others 17`, if there are at least `least` names.
    pub(crate) fn line(&self, label: &str, least: usize, most: usize) -> Option<Item> {
        (self.names() >= least).then(|| Item::plain(format!("{label}: {}", self.in_line(most))))
    }

    /// Returns one item per name, the most frequent first: `name: 12`.
    pub(crate) fn items(&self, most: usize) -> Vec<Item> {
        self.sorted().iter().take(most).map(|(name, count)| Item::plain(format!("{name}: {count}"))).collect()
    }

    pub(crate) fn part(&self, name: &str, weight: Weight, most: usize) -> Part {
        Part::new(name, weight, self.items(most)).of(self.names() as u64 + u64::from(self.beyond > 0))
    }
}

/// At most `MOST` items at even distances over an output whose length is unknown until its end.
pub(crate) struct EvenSample<const MOST: usize> {
    items: Vec<Item>,
    every: u64,
    seen: u64,
}

impl<const MOST: usize> Default for EvenSample<MOST> {
    fn default() -> Self {
        Self { items: Vec::new(), every: 1, seen: 0 }
    }
}

impl<const MOST: usize> EvenSample<MOST> {
    /// Takes an item if its position is one of those that are kept.
    pub(crate) fn offer(&mut self, item: impl FnOnce() -> Item) {
        let place = self.seen;
        self.seen += 1;
        if self.items.len() == MOST && place.is_multiple_of(self.every) {
            let mut keep = false;
            self.items.retain(|_| {
                keep = !keep;
                keep
            });
            self.every = self.every.saturating_mul(2);
        }
        if place.is_multiple_of(self.every) {
            self.items.push(item());
        }
    }

    pub(crate) fn into_items(self) -> Vec<Item> {
        self.items
    }
}

/// The `MOST` texts with the greatest keys.
pub(crate) struct LargestN<K, const MOST: usize> {
    heap: BinaryHeap<Reverse<(K, Reverse<u64>, String)>>,
    seen: u64,
}

impl<K: Ord, const MOST: usize> Default for LargestN<K, MOST> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), seen: 0 }
    }
}

impl<K: Ord, const MOST: usize> LargestN<K, MOST> {
    /// Takes a text if its key is among the greatest. Of equal keys, the first is greater.
    pub(crate) fn offer(&mut self, key: K, text: impl FnOnce() -> String) {
        self.seen += 1;
        let full = self.heap.len() >= MOST;
        if full && self.heap.peek().is_some_and(|least| least.0.0 >= key) {
            return;
        }
        self.heap.push(Reverse((key, Reverse(self.seen), text())));
        if full {
            self.heap.pop();
        }
    }

    /// Returns the texts, the greatest first.
    pub(crate) fn texts(&self) -> Vec<&str> {
        let mut sorted: Vec<_> = self.heap.iter().collect();
        sorted.sort();
        sorted.into_iter().map(|Reverse((_, _, text))| text.as_str()).collect()
    }

    /// Returns the texts as items, the greatest first.
    pub(crate) fn into_items(self) -> Vec<Item> {
        self.texts().into_iter().map(Item::plain).collect()
    }
}

/// Replaces each run of digits by `#`: lines that differ only in numbers become equal.
pub(crate) fn template(text: &str) -> String {
    let mut like = String::with_capacity(text.len());
    let mut in_digits = false;
    for letter in text.chars() {
        let digit = letter.is_ascii_digit();
        if !digit {
            like.push(letter);
        } else if !in_digits {
            like.push('#');
        }
        in_digits = digit;
    }
    like
}

/// Returns the folder of a path: its first `depth` names, without the name of the file.
pub(crate) fn folder(path: &str, depth: usize) -> &str {
    let end = path.rfind('/').unwrap_or(0);
    let start = if path.starts_with("./") { 2 } else { usize::from(path.starts_with('/')) };
    let cut = path.bytes().enumerate().skip(start).filter(|&(_, byte)| byte == b'/').nth(depth.saturating_sub(1));
    let end = cut.map_or(end, |(place, _)| place.min(end));
    match path.get(..end) {
        Some("") | None => ".",
        Some(folder) => folder,
    }
}

/// Returns the text after the last dot of a file's name, if it can be an extension.
pub(crate) fn extension(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.')?;
    let fits = !stem.is_empty()
        && !extension.is_empty()
        && extension.len() <= 12
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+'));
    fits.then_some(extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_beyond_the_room_are_counted() {
        let mut tally = Tally::<2>::default();
        for name in ["b", "a", "b", "c", "c"] {
            tally.add(name);
        }
        assert_eq!(tally.in_line(1), "b 2, at least 2 others 3");
        assert_eq!((tally.different().as_str(), tally.beyond), ("more than 2", 2));
    }

    #[test]
    fn what_is_kept_is_spread() {
        let mut spread = EvenSample::<4>::default();
        for number in 1..=100 {
            spread.offer(|| Item::at(number, ""));
        }
        let lines: Vec<u64> = spread.into_items().iter().filter_map(|item| item.line).collect();
        assert_eq!(lines, [1, 33, 65, 97]);
    }

    #[test]
    fn folders_and_extensions() {
        let folders = ["a/b/c.rs", "./a/b/c.rs", "/usr/lib/x", "top.md", "./top.md"].map(|path| folder(path, 1));
        assert_eq!(folders, ["a", "./a", "/usr", ".", "."]);
        assert_eq!(folder("a/b/c/d.rs", 2), "a/b");
        assert_eq!(["a/b.rs", ".bashrc", "x.tar.gz", "v1.2/file"].map(extension), [Some("rs"), None, Some("gz"), None]);
    }
}
