//! Finds the patterns that a name could match, at a cost that hardly grows with the number of patterns.

use std::collections::{BTreeSet, HashMap};

/// The characters with a special meaning in a pattern.
pub(crate) const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];

/// Patterns of names, indexed by the text that matching names start or end with. Patterns are identified by a number.
#[derive(Debug, Clone, Default)]
pub(crate) struct ByName {
    names: HashMap<String, Vec<usize>>,
    beginnings: Literals,
    ends: Literals,
    /// Patterns with neither a fixed beginning nor a fixed end.
    others: Vec<usize>,
}

/// Pattern numbers by a literal part of the pattern, and the lengths of these parts.
#[derive(Debug, Clone, Default)]
struct Literals {
    lengths: BTreeSet<usize>,
    numbers: HashMap<String, Vec<usize>>,
}

impl ByName {
    pub(crate) fn add(&mut self, pattern: &str, number: usize) {
        let beginning = pattern.split(SPECIAL).next().unwrap_or_default();
        let end = pattern.rsplit(SPECIAL).next().unwrap_or_default();
        if !pattern.contains(SPECIAL) {
            self.names.entry(pattern.to_owned()).or_default().push(number);
        } else if pattern.contains('\\') || (beginning.is_empty() && end.is_empty()) {
            self.others.push(number);
        } else if beginning.len() >= end.len() {
            self.beginnings.add(beginning, number);
        } else {
            self.ends.add(end, number);
        }
    }

    /// Returns the patterns that a name could match: all that it does match, and perhaps others.
    pub(crate) fn candidates<'a>(&'a self, name: &'a str) -> impl Iterator<Item = usize> + 'a {
        let known = self.names.get(name).into_iter();
        let beginnings = self.beginnings.of(|length| name.get(..length));
        let ends = self.ends.of(|length| name.get(name.len().checked_sub(length)?..));
        known.chain(beginnings).chain(ends).chain([&self.others]).flatten().copied()
    }
}

impl Literals {
    fn add(&mut self, text: &str, number: usize) {
        self.lengths.insert(text.len());
        self.numbers.entry(text.to_owned()).or_default().push(number);
    }

    fn of<'a>(&'a self, part: impl Fn(usize) -> Option<&'a str>) -> impl Iterator<Item = &'a Vec<usize>> {
        self.lengths.iter().filter_map(move |length| self.numbers.get(part(*length)?))
    }
}

/// Returns whether a name matches a pattern in which `*` stands for any text.
pub(crate) fn stars_match(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, name: &str, expected: bool) {
        let mut by_name = ByName::default();
        by_name.add("another", 7);
        by_name.add(pattern, 3);
        assert_eq!(by_name.candidates(name).any(|number| number == 3), expected, "{pattern} with {name}");
    }

    #[test]
    fn a_name_finds_every_pattern_that_it_could_match() {
        check("a", "a", true);
        check("a", "ab", false);
        check("abc*", "abcd", true);
        check("abc*", "ab", false);
        check("*.key", "x.key", true);
        check("*.key", ".ke", false);
        check("*x*", "anything", true);
        check("é*", "école", true);
        check("*é", "x", false);
        check("[ab].rs", "b.rs", true);
        check("{a,b}", "b", true);
        check("\\*x", "*x", true);
    }

    #[test]
    fn stars_stand_for_any_text() {
        assert!(stars_match("a*b*c", "axbxc") && stars_match("*", "") && stars_match("a**b", "ab"));
        assert!(!stars_match("a*a", "a") && !stars_match("a", "ab") && !stars_match("*.key", "x.keys"));
    }
}
