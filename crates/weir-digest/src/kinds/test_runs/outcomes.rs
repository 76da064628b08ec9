//! What test runs have in common besides failures: outcomes by file, repeated texts, the slowest tests.
//!
//! Invariant: memory is bounded, and what is not kept is counted.

use std::collections::BTreeMap;

use crate::text::{clip, count};
use crate::{Item, Part, Weight};

const MAX_ENTRIES: usize = 2000;
const MAX_TOP: usize = 12;
const MAX_TEXT_BYTES: usize = 300;
const MAX_LIST_BYTES: usize = 90;

/// The count of each text.
#[derive(Default)]
pub(super) struct Repeats {
    counts: BTreeMap<String, (u64, u64)>,
    pub total: u64,
    not_kept: u64,
}

impl Repeats {
    /// Counts a text that occurred `times` times, first on this line.
    pub(super) fn add(&mut self, text: &str, times: u64, line: u64) {
        self.total = self.total.saturating_add(times);
        let text = clip(text, MAX_TEXT_BYTES);
        if let Some(count) = self.counts.get_mut(&text) {
            count.0 = count.0.saturating_add(times);
        } else if self.counts.len() < MAX_ENTRIES {
            self.counts.insert(text, (times, line));
        } else {
            self.not_kept += 1;
        }
    }

    /// Returns the different texts, the most frequent first. `show` formats a text and its count.
    pub(super) fn part(self, name: &str, weight: Weight, show: fn(&str, u64) -> String) -> Part {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        all.sort_by(|(_, a), (_, b)| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let total = all.len() as u64 + self.not_kept;
        let items = all.into_iter().take(100).map(|(text, (count, _))| Item::plain(show(&text, count))).collect();
        Part::new(name, weight, items).of(total)
    }
}

/// Skipped tests, by the reason given.
#[derive(Default)]
pub(super) struct Skips {
    reasons: BTreeMap<String, Skip>,
    total: u64,
}

#[derive(Default)]
struct Skip {
    total: u64,
    line: u64,
    names: Vec<String>,
}

impl Skips {
    /// Takes a test that was skipped for this reason, which may be empty.
    pub(super) fn add(&mut self, name: &str, reason: &str, line: u64) {
        self.total += 1;
        let reason = clip(reason, MAX_TEXT_BYTES);
        if self.reasons.len() >= MAX_ENTRIES && !self.reasons.contains_key(&reason) {
            return;
        }
        let skip = self.reasons.entry(reason).or_insert_with(|| Skip { line, ..Skip::default() });
        skip.total += 1;
        if skip.names.len() < MAX_TOP {
            skip.names.push(clip(name, MAX_TEXT_BYTES));
        }
    }

    /// Returns the reasons with their tests, the most frequent first.
    pub(super) fn part(self, name: &str, weight: Weight) -> Part {
        let mut all: Vec<_> = self.reasons.into_iter().collect();
        all.sort_by(|(_, a), (_, b)| b.total.cmp(&a.total).then(a.line.cmp(&b.line)));
        let mut items = Vec::new();
        let mut found = 0;
        for (reason, Skip { total, names, .. }) in all {
            found += if reason.is_empty() { total } else { 1 };
            match (reason.as_str(), total) {
                _ if items.len() >= 60 => {}
                ("", _) => items.extend(names.into_iter().map(Item::plain)),
                (reason, 1) => items.push(Item::plain(format!("{}: {reason}", list(names.into_iter(), 1)))),
                (reason, total) => {
                    let brief = format!("{reason} ×{total}");
                    items.push(Item::plain(format!("{brief}: {}", list(names.into_iter(), total))).or(brief));
                }
            }
        }
        let name = if found == self.total {
            name.to_owned()
        } else {
            format!("{name} ({}) by reason", count(self.total, "test", "tests"))
        };
        Part::new(name, weight, items).of(found)
    }
}

/// Joins as many names as a line has room for, and states how many more there are.
pub(super) fn list(names: impl Iterator<Item = String>, total: u64) -> String {
    let mut text = String::new();
    let mut shown = 0;
    for name in names {
        if shown > 0 && text.len() + name.len() > MAX_LIST_BYTES {
            break;
        }
        if shown > 0 {
            text.push_str(", ");
        }
        text.push_str(&name);
        shown += 1;
    }
    if shown > 0 && shown < total {
        text.push_str(&format!(", … {} more", total - shown));
    }
    text
}

/// Returns a text with its count, if that is more than one.
pub(super) fn times(text: &str, count: u64) -> String {
    if count > 1 { format!("{text} ×{count}") } else { text.to_owned() }
}

/// How a test ended, in the order in which outcomes are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Failed,
    Error,
    Passed,
    Skipped,
    Other,
}

const WORDS: [&str; 5] = ["failed", "errors", "passed", "skipped", "other"];

/// The outcomes of the tests of each file, binary or package.
#[derive(Default)]
pub(super) struct Outcomes {
    counts: BTreeMap<String, [u64; WORDS.len()]>,
    all: [u64; WORDS.len()],
    not_kept: u64,
}

impl Outcomes {
    /// Counts tests of this file, binary or package that ended in this way. `of` is empty if it is not known.
    pub(super) fn add(&mut self, of: &str, outcome: Outcome, times: u64) {
        let place = outcome as usize;
        self.all[place] = self.all[place].saturating_add(times);
        if of.is_empty() || times == 0 {
            return;
        }
        if let Some(counts) = self.counts.get_mut(of) {
            counts[place] = counts[place].saturating_add(times);
        } else if self.counts.len() < MAX_ENTRIES && of.len() <= MAX_TEXT_BYTES {
            let mut counts = [0; WORDS.len()];
            counts[place] = times;
            self.counts.insert(of.to_owned(), counts);
        } else {
            self.not_kept += 1;
        }
    }

    pub(super) fn counted(&self) -> String {
        counted(&self.all)
    }

    /// Returns those with the most failures first, then the largest.
    pub(super) fn part(self, name: &str) -> Part {
        let mut all: Vec<_> = self.counts.into_iter().collect();
        let key = |counts: &[u64; WORDS.len()]| (counts[0].saturating_add(counts[1]), counts.iter().max().copied());
        all.sort_by(|(a_name, a), (b_name, b)| key(b).cmp(&key(a)).then(a_name.cmp(b_name)));
        let total = all.len() as u64 + self.not_kept;
        let items = all.iter().take(60).map(|(name, counts)| Item::plain(format!("{name}: {}", counted(counts))));
        Part::new(name, Weight::Shape, items.collect()).of(total)
    }
}

fn counted(counts: &[u64; WORDS.len()]) -> String {
    let named = counts.iter().zip(WORDS).filter(|(count, _)| **count > 0);
    named.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// The entries with the highest values. Entries with equal values keep the order in which they came.
#[derive(Default)]
pub(super) struct TopN {
    kept: Vec<(u64, String)>,
    seen: u64,
}

impl TopN {
    /// Takes an entry. Its text is made only if it is among the highest.
    pub(super) fn add(&mut self, value: u64, text: impl FnOnce() -> String) {
        self.seen += 1;
        let place = self.kept.partition_point(|(kept, _)| *kept >= value);
        if place < MAX_TOP {
            self.kept.insert(place, (value, clip(&text(), MAX_TEXT_BYTES)));
            self.kept.truncate(MAX_TOP);
        }
    }

    /// Takes what a test or a file took, if that is a duration.
    pub(super) fn took(&mut self, taken: &str, name: &str) {
        if let Some(value) = micros(taken) {
            self.add(value, || format!("{taken} {name}"));
        }
    }

    /// Returns the highest first, out of all that were taken.
    pub(super) fn whole_part(self, name: &str, weight: Weight) -> Part {
        let items = self.kept.into_iter().map(|(_, text)| Item::plain(text)).collect();
        Part::new(name, weight, items).of(self.seen)
    }

    /// Returns the highest first, out of all that were taken, without those that are much lower than the highest.
    pub(super) fn part(mut self, name: &str, weight: Weight) -> Part {
        let least = self.kept.first().map_or(0, |(value, _)| value / 10);
        self.kept.retain(|(value, _)| *value >= least);
        self.whole_part(name, weight)
    }
}

/// Parses a duration as runners print it, and returns microseconds: `2.10s`, `[  0.005s]`, `12 ms`, `1m 3s`.
pub(super) fn micros(text: &str) -> Option<u64> {
    let mut rest = text.trim().trim_start_matches(['[', '(', '>', ' ']);
    let mut sum = None;
    while let Some(end) = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.') {
        let Ok(value) = rest[..end].parse::<f64>() else { break };
        let unit = rest[end..].trim_start();
        let units = [("ms", 1e3), ("µs", 1.0), ("us", 1.0), ("s", 1e6), ("m", 6e7), ("h", 3.6e9)];
        let Some((unit, factor, after)) =
            units.iter().find_map(|(name, factor)| Some((name, factor, unit.strip_prefix(name)?)))
        else {
            break;
        };
        // `1 min` is also a minute, and more may follow.
        rest = if *unit == "m" { after.trim_start_matches("in").trim_start() } else { after.trim_start() };
        sum = Some(sum.unwrap_or(0u64).saturating_add((value * factor) as u64));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, wanted) in
            [("2.10s", 2_100_000), ("[   0.005s]", 5_000), ("(12 ms)", 12_000), ("1m 3s", 63_000_000), ("3µs", 3)]
        {
            assert_eq!(micros(text), Some(wanted), "{text}");
        }
        assert_eq!(micros("soon"), None);
    }

    #[test]
    fn the_highest_are_kept_in_order() {
        let mut top = TopN::default();
        for value in 0..1000u64 {
            top.add(value % 500, || value.to_string());
        }
        let first: Vec<_> = top.part("slow", Weight::Fact).items.into_iter().take(3).map(|item| item.text).collect();
        assert_eq!(first, ["499", "999", "498"]);
    }
}
