//! Matches names against many patterns, at a cost that does not grow with the number of patterns.

use std::collections::{HashMap, HashSet};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::expand::stars_match;

/// Patterns of names in small letters, sorted by how a name that matches begins or ends. Patterns with nothing but `*`
/// take no time to make, which globs do.
#[derive(Debug, Clone, Default)]
pub(super) struct Matcher {
    names: HashSet<String>,
    by_first: HashMap<char, Vec<String>>,
    by_last: HashMap<char, Vec<String>>,
    others: Vec<String>,
    globs: GlobSet,
}

impl Matcher {
    /// Reads the patterns. One that is not understood is taken for a name.
    pub(super) fn of(patterns: &[String]) -> Self {
        let mut matcher = Self::default();
        let mut globs = GlobSetBuilder::new();
        for pattern in patterns {
            let (first, last) = (pattern.chars().next(), pattern.chars().last());
            if !pattern.contains(['*', '?', '[', '{', '\\']) {
                matcher.names.insert(pattern.clone());
            } else if pattern.contains(['?', '[', '{', '\\']) {
                match GlobBuilder::new(pattern).literal_separator(true).build() {
                    Ok(glob) => drop(globs.add(glob)),
                    Err(_) => drop(matcher.names.insert(pattern.clone())),
                }
            } else if let Some(first) = first.filter(|first| *first != '*') {
                matcher.by_first.entry(first).or_default().push(pattern.clone());
            } else if let Some(last) = last.filter(|last| *last != '*') {
                matcher.by_last.entry(last).or_default().push(pattern.clone());
            } else {
                matcher.others.push(pattern.clone());
            }
        }
        matcher.globs = globs.build().unwrap_or_default();
        matcher
    }

    /// Whether a name in small letters matches one of them.
    pub(super) fn matches(&self, name: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| stars_match(pattern, name));
        let listed = |lists: &HashMap<char, Vec<String>>, key: Option<char>| {
            key.and_then(|key| lists.get(&key)).is_some_and(|patterns| any(patterns))
        };
        self.names.contains(name)
            || listed(&self.by_first, name.chars().next())
            || listed(&self.by_last, name.chars().last())
            || any(&self.others)
            || (!self.globs.is_empty() && self.globs.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, name: &str, expected: bool) {
        assert_eq!(Matcher::of(&[pattern.to_owned()]).matches(name), expected, "{pattern} with {name}");
    }

    #[test]
    fn every_form_of_pattern_matches_as_a_glob_would() {
        check("a", "a", true);
        check("a", "ab", false);
        check("a*", "ab", true);
        check("*.key", "x.key", true);
        check("*.key", "x.keys", false);
        check("*secret*", "a-secret-b", true);
        check("a*b*c", "axbxc", true);
        check("a*a", "a", false);
        check("a?c", "abc", true);
        check("[ab].rs", "b.rs", true);
        check("{a,b}", "b", true);
        check("*", "anything", true);
    }
}
