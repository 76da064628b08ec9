//! The headings of a document in any format, and the versions of a changelog.

use std::collections::BTreeMap;

use super::passages::Passages;
use crate::kinds::shared::bounded_items::joined;
use crate::kinds::shared::dates;
use crate::text::clip;
use crate::{Item, Part, Weight};

const MAX_HEADINGS: usize = 2_000;
const ROW_BYTES: usize = 160;
const MAX_ROWS: usize = 60;
/// The minimum number of headings with a version that make a document a changelog.
const MIN_VERSIONS: usize = 3;

#[derive(Default)]
pub(super) struct Outline {
    kept: Vec<Heading>,
    pub total: u64,
    pub version_total: u64,
}

/// Whether headings are shown with their line numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineNumbers {
    Yes,
    No,
}

struct Heading {
    line: u64,
    level: usize,
    title: String,
    /// The number of items in its lists.
    entries: u64,
}

impl Heading {
    fn words(&self, numbered: LineNumbers) -> String {
        match numbered {
            LineNumbers::Yes => format!("{} {}", self.line, self.title),
            LineNumbers::No => self.title.clone(),
        }
    }
}

impl Outline {
    pub(super) fn add(&mut self, line: u64, level: usize, title: &str) {
        let title = unlinked(title);
        self.total += 1;
        self.version_total += u64::from(has_version(&title));
        if self.kept.len() < MAX_HEADINGS {
            self.kept.push(Heading { line, level, title: clip(&title, 120), entries: 0 });
        }
    }

    /// Takes the date of a version from a short line directly below it: `Released 2025-05-10`.
    pub(super) fn dated(&mut self, line: u64, text: &str) {
        let date = || {
            text.split(' ')
                .map(|word| word.trim_matches(['*', '_', '(', ')', '.']))
                .find(|word| word.len() == 10 && dates::iso(word).is_some())
        };
        if text.len() <= 40
            && let Some(heading) = self.kept.last_mut()
            && line <= heading.line + 3
            && has_version(&heading.title)
            && let Some(date) = date()
            && !heading.title.contains(date)
        {
            heading.title.push_str(&format!(" ({date})"));
        }
    }

    pub(super) fn has_versions(&self) -> bool {
        self.version_level().is_some()
    }

    /// Counts a list item under the last heading.
    pub(super) fn entry(&mut self) {
        if self.kept.len() as u64 == self.total
            && let Some(heading) = self.kept.last_mut()
        {
            heading.entries += 1;
        }
    }

    /// Returns the parts: versions, the upper headings, the lower ones.
    pub(super) fn parts(self, passages: &mut Passages, numbered: LineNumbers) -> Vec<Part> {
        let mut parts = Vec::new();
        let version_level = self.version_level();
        if let Some(level) = version_level {
            parts.push(self.versions(level));
        }
        let others: Vec<&Heading> =
            self.kept.iter().filter(|heading| version_level.is_none_or(|level| heading.level < level)).collect();
        let mut levels: Vec<usize> = others.iter().map(|heading| heading.level).collect();
        levels.sort_unstable();
        levels.dedup();
        // A single title says little about the structure of the rest.
        let single = others.iter().filter(|heading| Some(&heading.level) == levels.first()).count() == 1;
        let upper = levels.get(usize::from(single && levels.len() > 1)).copied().unwrap_or(1);
        let (above, below): (Vec<&Heading>, Vec<&Heading>) =
            others.into_iter().partition(|heading| heading.level <= upper);
        for heading in &above {
            passages.cover(&heading.title);
        }
        let beyond = self.total.saturating_sub(self.kept.len() as u64);
        let part = |name: &str, weight, headings: &[&Heading], beyond: u64| {
            let rows = if headings.len() > 40 || weight == Weight::Shape {
                folded(headings, numbered)
            } else {
                rows(headings, numbered)
            };
            let total = headings.len() as u64 + beyond;
            let name = format!("{name}, {total} in all, rows");
            let count = rows.len() as u64;
            // Without line numbers to go to, a few headings suffice to describe the rest.
            let most = if weight == Weight::Shape && numbered == LineNumbers::No { 2 } else { MAX_ROWS };
            Part::new(name, weight, rows.into_iter().take(most).collect()).of(count)
        };
        if !above.is_empty() {
            parts.push(part("headings", Weight::Failure, &above, 0));
        }
        if !below.is_empty() {
            parts.push(part("lower headings", Weight::Shape, &below, beyond));
        }
        parts
    }

    fn version_level(&self) -> Option<usize> {
        (1..=4).find(|level| {
            let of_level = || self.kept.iter().filter(|heading| heading.level == *level);
            let versions = of_level().filter(|heading| has_version(&heading.title)).count();
            versions >= MIN_VERSIONS && versions * 2 >= of_level().count()
        })
    }

    fn versions(&self, level: usize) -> Part {
        let mut items: Vec<Item> = Vec::new();
        let mut all = 0;
        let mut at = 0;
        while let Some(heading) = self.kept.get(at) {
            at += 1;
            if heading.level != level {
                continue;
            }
            all += 1;
            let mut entries = heading.entries;
            let mut sorts: Vec<String> = Vec::new();
            while let Some(below) = self.kept.get(at).filter(|below| below.level > level) {
                entries += below.entries;
                if below.entries > 0 && sorts.len() < 8 {
                    sorts.push(format!("{} {}", below.title, below.entries));
                }
                at += 1;
            }
            let sorts = if sorts.is_empty() { String::new() } else { format!(" ({})", sorts.join(", ")) };
            let brief = format!("{}: {entries}", heading.title);
            let noun = if entries == 1 { "entry" } else { "entries" };
            items.push(Item::at(heading.line, format!("{brief} {noun}{sorts}")).or(brief));
        }
        // The first and the last show the range.
        let last = if items.len() > 2 { items.pop() } else { None };
        let mut items = items.into_iter();
        let mut shown: Vec<Item> = items.next().into_iter().chain(last).collect();
        let between = items.map(|item| format!("{} {}", item.line.unwrap_or(0), item.brief.unwrap_or_default()));
        shown.extend(joined(between, "; ", ROW_BYTES));
        shown.truncate(MAX_ROWS);
        let name =
            format!("versions with their entries, {all} in all: the first, the last, then rows of those between");
        Part::new(name, Weight::Fact, shown)
    }
}

/// The minimum number of headings with the same first word that are folded.
const MIN_GROUP: usize = 4;

/// Returns headings in rows, with those that share their first word folded: `×13 34 GET /flags … 1950 GET /roles/{id}`.
fn folded(headings: &[&Heading], numbered: LineNumbers) -> Vec<Item> {
    let first = |heading: &Heading| heading.title.split(' ').next().unwrap_or_default().to_owned();
    let mut counts: BTreeMap<String, Vec<&Heading>> = BTreeMap::new();
    for heading in headings {
        counts.entry(first(heading)).or_default().push(heading);
    }
    let is_folded = |heading: &&Heading| {
        headings.len() > 12 && counts.get(&first(heading)).is_some_and(|alike| alike.len() >= MIN_GROUP)
    };
    let single: Vec<&Heading> = headings.iter().copied().filter(|heading| !is_folded(heading)).collect();
    let mut items = rows(&single, numbered);
    for alike in counts.values().filter(|alike| alike.first().is_some_and(is_folded)) {
        if let [one, two, .., last] = alike.as_slice() {
            let [one, two, last] = [one, two, last].map(|heading| heading.words(numbered));
            items.push(Item::plain(format!("×{} {one}; {two} … {last}", alike.len())));
        }
    }
    items
}

/// Returns headings in rows: `12 Install; 40 Usage`.
fn rows(headings: &[&Heading], numbered: LineNumbers) -> Vec<Item> {
    let mut rows = joined(headings.iter().map(|heading| heading.words(numbered)), "; ", ROW_BYTES);
    rows.truncate(MAX_ROWS);
    rows
}

/// Returns a title without the targets of its links, and without links that have no words: `[¶](#install "Permalink")`.
fn unlinked(title: &str) -> String {
    let mut text = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](")
        && let Some((before, label)) = before.rsplit_once('[')
        && let Some((_, next)) = after.split_once(')')
    {
        text.push_str(before);
        text.push_str(if label.contains(char::is_alphanumeric) { label } else { "" });
        rest = next;
    }
    text.push_str(rest);
    text
}

/// Returns whether a title names a version: `[1.2.0] - 2026-01-02`, `v2.0`, `Unreleased`.
fn has_version(title: &str) -> bool {
    let bare = title.trim_start_matches(['[', ' ']);
    if bare.get(..10).is_some_and(|start| start.eq_ignore_ascii_case("unreleased")) {
        return true;
    }
    title.split([' ', '[', ']', '(', ')', '@']).any(|word| {
        let word = word.strip_prefix(['v', 'V']).unwrap_or(word);
        let mut parts = word.split('.');
        let number = |part: Option<&str>| {
            part.is_some_and(|part| part.bytes().next().is_some_and(|byte| byte.is_ascii_digit()) && part.len() < 16)
        };
        number(parts.next()) && number(parts.next()) && !word.contains('/')
    })
}
