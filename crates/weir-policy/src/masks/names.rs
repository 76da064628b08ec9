//! Matches names against many patterns at once.

use std::cell::OnceCell;

use globset::{Glob, GlobBuilder, GlobMatcher};

use crate::names::{ByName, SPECIAL, stars_match};

/// Patterns of lower-case names. Patterns with only `*` need no compilation, unlike globs.
#[derive(Debug, Clone, Default)]
pub(super) struct Matcher {
    by_name: ByName,
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
enum Pattern {
    Name(String),
    Stars(String),
    /// A glob with its matcher, which is compiled on first use.
    Glob(Glob, OnceCell<GlobMatcher>),
}

impl Matcher {
    /// Parses the patterns. One that is invalid is treated as a literal name.
    pub(super) fn of(patterns: &[String]) -> Self {
        let mut matcher = Self::default();
        for (number, text) in patterns.iter().enumerate() {
            matcher.by_name.add(text, number);
            matcher.patterns.push(Pattern::of(text));
        }
        matcher
    }

    pub(super) fn matches(&self, name: &str) -> bool {
        self.by_name.candidates(name).any(|number| self.patterns[number].matches(name))
    }
}

impl Pattern {
    fn of(text: &str) -> Self {
        if !text.contains(SPECIAL) {
            return Self::Name(text.to_owned());
        }
        if !text.contains(&SPECIAL[1..]) {
            return Self::Stars(text.to_owned());
        }
        match GlobBuilder::new(text).literal_separator(true).build() {
            Ok(glob) => Self::Glob(glob, OnceCell::new()),
            Err(_) => Self::Name(text.to_owned()),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Name(wanted) => wanted == name,
            Self::Stars(pattern) => stars_match(pattern, name),
            Self::Glob(glob, made) => made.get_or_init(|| glob.compile_matcher()).is_match(name),
        }
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
        check("[", "[", true);
        check("[", "a", false);
    }
}
