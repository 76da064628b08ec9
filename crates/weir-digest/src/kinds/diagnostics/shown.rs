//! Chooses which diagnostics are shown: all if they are few; otherwise one of each sort, with the first of all and the
//! most frequent ones before the rare ones, and then further places.

use std::collections::BTreeMap;

use super::diagnostic::{Severity, clipped};
use crate::text::count;
use crate::{Item, Part, Weight};

/// How many of the most frequent sorts come before the rare ones, and how many places share one line.
const FREQUENT_GROUPS_FIRST: usize = 3;
const PLACES_PER_LINE: usize = 4;

/// Diagnostics that differ only in what they quote.
pub(super) struct DiagnosticGroup {
    pub severity: Severity,
    pub code: String,
    pub message: String,
    pub count: u64,
    pub first: KeptDiagnostic,
    /// The explanation of the first.
    pub more: String,
    pub others: Vec<KeptDiagnostic>,
}

pub(super) struct KeptDiagnostic {
    /// How many were kept before it, which is the order of the output.
    pub order: usize,
    /// Its line number, if it is shown.
    pub number: Option<u64>,
    /// The line that matters.
    pub text: String,
    /// Its place, if nothing else distinguishes it from the first of its sort.
    pub place: Option<String>,
    /// How often exactly this diagnostic occurred.
    pub times: u64,
}

pub(super) struct ShownDiagnostics {
    name: String,
    total: u64,
    /// Whether there are so few that each is shown.
    pub all: bool,
    sorts: u64,
    items: Vec<Item>,
    others: Vec<Item>,
}

impl ShownDiagnostics {
    /// Chooses from `sorts`. `room` is the approximate number of bytes that the digest has for them.
    pub(super) fn of(sorts: Vec<DiagnosticGroup>, name: String, total: u64, room: usize) -> Self {
        let kept: u64 =
            sorts.iter().flat_map(|sort| std::iter::once(&sort.first).chain(&sort.others)).map(|one| one.times).sum();
        let bytes = |one: &KeptDiagnostic| one.text.len() + 4;
        let whole: usize =
            sorts.iter().map(|sort| bytes(&sort.first) + sort.others.iter().map(bytes).sum::<usize>()).sum();
        let mut shown =
            Self { name, total, all: kept == total && whole <= room, sorts: 0, items: Vec::new(), others: Vec::new() };
        match shown.all {
            true => shown.each(sorts, room.saturating_sub(whole)),
            false => shown.by_sort(sorts, room),
        }
        shown
    }

    /// Shows all of them in the order of the output, with explanations while there is room.
    fn each(&mut self, sorts: Vec<DiagnosticGroup>, mut room: usize) {
        let mut all: Vec<(KeptDiagnostic, String)> = Vec::new();
        for sort in sorts {
            all.push((sort.first, sort.more));
            all.extend(sort.others.into_iter().map(|one| (one, String::new())));
        }
        all.sort_by_key(|(one, _)| one.order);
        self.sorts = all.len() as u64;
        self.items = all.into_iter().map(|(one, more)| explained(one.times, one, &more, &mut room)).collect();
    }

    /// Shows one of each sort. A code with many sorts is not rare, and shows two of them.
    fn by_sort(&mut self, mut sorts: Vec<DiagnosticGroup>, room: usize) {
        let mut codes: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for sort in &sorts {
            let (count, all) = codes.entry(sort.code.clone()).or_default();
            *count += 1;
            *all += sort.count;
        }
        let many = |sort: &DiagnosticGroup| {
            codes.get(&sort.code).copied().filter(|(count, _)| *count > 4 && !sort.code.is_empty())
        };
        // Diagnostics that occur once or twice are surprising; of the others, the most frequent matter most.
        let rare = (self.total / 50).max(2);
        let count = |sort: &DiagnosticGroup| many(sort).map_or(sort.count, |(_, all)| all.max(sort.count));
        let begin = sorts.iter().map(|sort| sort.first.order).min();
        let mut counts: Vec<u64> = sorts.iter().map(count).collect();
        counts.sort_unstable_by_key(|count| u64::MAX - count);
        let frequent = counts.get(FREQUENT_GROUPS_FIRST).copied().unwrap_or(0).max(rare);
        sorts.sort_by_key(|sort| match count(sort) {
            // The first is often the cause of the others.
            _ if Some(sort.first.order) == begin => (0, 0),
            count if count > frequent => (1, u64::MAX - count),
            count if count <= rare => (2, count),
            count => (3, u64::MAX - count),
        });
        let mut shown: BTreeMap<String, u64> = BTreeMap::new();
        let (first, later): (Vec<DiagnosticGroup>, Vec<DiagnosticGroup>) = sorts.into_iter().partition(|sort| {
            let count = shown.entry(sort.code.clone()).or_default();
            *count += 1;
            *count <= 2 || many(sort).is_none()
        });
        let whole: usize = first.iter().map(|sort| sort.first.text.len() + 4).sum();
        let mut left = room.saturating_sub(whole);
        self.sorts = first.len() as u64;
        for mut sort in first {
            // If not even one of each sort fits, no further ones are added.
            if whole < room {
                self.more_of(&mut sort);
            }
            self.items.push(explained(sort.count, sort.first, &sort.more, &mut left));
        }
        if whole < room {
            self.others.extend(later.into_iter().map(|sort| explained(sort.count, sort.first, "", &mut left)));
        }
    }

    /// Adds the others of a sort: only their places if their texts are equal.
    fn more_of(&mut self, sort: &mut DiagnosticGroup) {
        let (places, texts): (Vec<KeptDiagnostic>, Vec<KeptDiagnostic>) =
            std::mem::take(&mut sort.others).into_iter().partition(|one| one.place.is_some());
        let places: Vec<String> = places.into_iter().filter_map(|one| one.place).collect();
        let name = if sort.code.is_empty() { clipped(&sort.message, 70) } else { sort.code.as_str() };
        let rows = places.chunks(PLACES_PER_LINE).map(|row| Item::plain(format!("{name} also at {}", row.join(", "))));
        self.others.extend(rows);
        self.others.extend(texts.into_iter().map(|one| explained(one.times, one, "", &mut 0)));
    }

    pub(super) fn part(&mut self, weight: Weight) -> Part {
        let name = if self.all { self.name.clone() } else { format!("{}, one of each sort", self.name) };
        Part::new(name, weight, std::mem::take(&mut self.items)).of(self.sorts)
    }

    /// Returns more of the frequent ones.
    pub(super) fn others(&mut self, weight: Weight) -> Part {
        let items = std::mem::take(&mut self.others);
        // An empty part states nothing; the total is in the first line.
        let total = if items.is_empty() { 0 } else { self.total.saturating_sub(self.sorts) };
        Part::new(format!("more {}", self.name), weight, items).of(total)
    }
}

/// Returns a diagnostic as an item, with its explanation if there is room.
fn explained(times: u64, one: KeptDiagnostic, more: &str, room: &mut usize) -> Item {
    let brief = if times > 1 { format!("×{times} {}", one.text) } else { one.text };
    let more = fitting(more, *room / 2);
    *room = room.saturating_sub(more.len());
    let item = if more.is_empty() { Item::plain(brief) } else { Item::plain(format!("{brief}\n{more}")).or(brief) };
    Item { line: one.number, ..item }
}

/// Returns as many lines of an explanation as fit, and how many more there are. Empty if not even the first fits.
fn fitting(more: &str, room: usize) -> String {
    if more.len() <= room {
        return more.to_owned();
    }
    let fits = more.get(..more.floor_char_boundary(room)).unwrap_or_default();
    let Some((lines, _)) = fits.rsplit_once('\n') else { return String::new() };
    let left = more.get(lines.len() + 1..).unwrap_or_default().lines().count();
    format!("{lines}\n… ({})", count(left as u64, "more line", "more lines"))
}
