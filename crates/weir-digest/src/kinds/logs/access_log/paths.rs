//! Counts the requests for each path. Where many paths differ only in a number, they are merged.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::Item;

const MAX_PATHS: usize = 4_000;
/// The minimum number of paths that differ only in a number and are shown as one.
const MIN_GROUP: usize = 4;

/// Requests by status and path.
#[derive(Default)]
pub(super) struct Paths {
    known: HashMap<(u16, String), PathStats>,
    /// The number of requests for paths beyond the limit.
    pub beyond: u64,
}

#[derive(Default, Clone)]
struct PathStats {
    count: u64,
    first: u64,
    last: u64,
    timed: u64,
    took: f64,
    slowest: f64,
}

struct RequestGroup<'a> {
    status: u16,
    path: String,
    seen: PathStats,
    /// Of several paths, their number, and the most frequent with its count.
    of: Option<(usize, &'a str, u64)>,
}

impl Paths {
    pub(super) fn add(&mut self, key: (u16, String), line: u64, took: Option<f64>) {
        if self.known.len() >= MAX_PATHS && !self.known.contains_key(&key) {
            self.beyond += 1;
            return;
        }
        let seen = self.known.entry(key).or_default();
        seen.count += 1;
        seen.last = line;
        if seen.count == 1 {
            seen.first = line;
        }
        if let Some(took) = took {
            seen.timed += 1;
            seen.took += took;
            seen.slowest = seen.slowest.max(took);
        }
    }

    /// Returns paths with such a status, one line each, and how many lines there could be. Each status lists its most
    /// frequent paths first, so that a frequent status does not displace a rare one.
    pub(super) fn items(&self, statuses: Range<u16>, most: usize) -> (u64, Vec<Item>) {
        let mut groups = self.groups(&statuses);
        groups.sort_by(|one, two| {
            let order = |group: &RequestGroup<'_>| (group.status, u64::MAX - group.seen.count);
            order(one).cmp(&order(two)).then_with(|| one.path.cmp(&two.path))
        });
        let total = groups.len() as u64;
        let (mut rank, mut before) = (0, 0);
        let mut ranked = Vec::new();
        for group in &groups {
            rank = if group.status == before { rank + 1 } else { 0 };
            before = group.status;
            ranked.push((rank, u64::MAX - group.seen.count, group.seen.first, group.item()));
        }
        ranked.sort_by_key(|ranked| (ranked.0, ranked.1, ranked.2));
        (total, ranked.into_iter().take(most).map(|ranked| ranked.3).collect())
    }

    fn groups(&self, statuses: &Range<u16>) -> Vec<RequestGroup<'_>> {
        let mut alike: BTreeMap<(u16, String), Vec<(&str, &PathStats)>> = BTreeMap::new();
        for ((status, path), seen) in self.known.iter().filter(|((status, _), _)| statuses.contains(status)) {
            alike.entry((*status, masked(path))).or_default().push((path, seen));
        }
        let mut groups = Vec::new();
        for ((status, masked), mut members) in alike {
            members.sort_by_key(|(path, seen)| (u64::MAX - seen.count, *path));
            let single = |(path, seen): &(&str, &PathStats)| RequestGroup {
                status,
                path: (*path).to_owned(),
                seen: (*seen).clone(),
                of: None,
            };
            if members.len() < MIN_GROUP {
                groups.extend(members.iter().map(single));
                continue;
            }
            let mut seen = PathStats { first: u64::MAX, ..PathStats::default() };
            members.iter().for_each(|(_, member)| seen.join(member));
            let of = members.first().map(|(path, first)| (members.len(), *path, first.count));
            groups.push(RequestGroup { status, path: masked, seen, of });
        }
        groups
    }
}

impl PathStats {
    fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.timed += other.timed;
        self.took += other.took;
        self.slowest = self.slowest.max(other.slowest);
    }
}

impl RequestGroup<'_> {
    fn item(&self) -> Item {
        let PathStats { count, first, last, timed, took, slowest } = &self.seen;
        let mut text = if self.status > 0 { format!("{} ", self.status) } else { String::new() };
        text.push_str(&format!("×{count} {}", self.path));
        if let Some((paths, most, times)) = self.of {
            text.push_str(&format!(" ({paths} paths, most {most} ×{times})"));
        }
        if *timed > 0 {
            text.push_str(&format!(", {:.1} ms on average, {slowest:.1} at most", took / *timed as f64));
        }
        if self.status == 0 {
            return Item::plain(text);
        }
        if last > first {
            text.push_str(&format!(" (last at line {last})"));
        }
        Item::at(*first, text)
    }
}

/// Returns a path with `*` for each part that is a number or an identifier.
fn masked(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let digits = part.bytes().any(|byte| byte.is_ascii_digit());
        let number = part.bytes().all(|byte| byte.is_ascii_digit());
        let hex = part.len() >= 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        if digits && (number || hex) { "*" } else { part }
    });
    parts.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_differ_in_a_number_are_one_where_there_are_many() {
        let mut paths = Paths::default();
        for number in 0..5 {
            paths.add((500, format!("GET /orders/{number}")), number + 1, Some(10.0));
        }
        paths.add((500, "GET /invoices/8".to_owned()), 9, None);
        let (total, items) = paths.items(500..600, 10);
        let texts: Vec<&str> = items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(total, 2);
        let first =
            "500 ×5 GET /orders/* (5 paths, most GET /orders/0 ×1), 10.0 ms on average, 10.0 at most (last at line 5)";
        assert_eq!(texts, [first, "500 ×1 GET /invoices/8"]);
    }
}
