//! Finds the rules about a path among thousands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{PathPattern, Places, Rule, Rules, Subject};
use crate::names::ByName;

/// Rules about paths, indexed by the folder that their pattern starts from and the name that it ends with.
#[derive(Debug, Clone, Default)]
pub struct PathRules {
    by_start: HashMap<PathBuf, RulesAtFolder>,
}

/// The rules that start from one folder, as indices into [`Rules`].
#[derive(Debug, Clone, Default)]
struct RulesAtFolder {
    itself: Vec<usize>,
    below: ByName,
}

impl PathRules {
    /// Indexes the rules about paths for which `wanted` is true.
    pub fn of(rules: &Rules, places: &Places, wanted: impl Fn(&Rule) -> bool) -> Self {
        let mut index = Self::default();
        for (number, rule) in rules.rules.iter().enumerate().filter(|(_, rule)| wanted(rule)) {
            let Some(pattern) = rule.pattern() else { continue };
            for start in pattern.starts(places) {
                let start = index.by_start.entry(start).or_default();
                match pattern.is_exact() {
                    true => start.itself.push(number),
                    false => start.below.add(pattern.last(), number),
                }
            }
        }
        index
    }

    pub fn matching<'r>(&self, rules: &'r Rules, path: &Path) -> Vec<&'r Rule> {
        let mut found = Vec::new();
        let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
        for above in path.ancestors() {
            let (Some(start), Ok(rest)) = (self.by_start.get(above), path.strip_prefix(above)) else { continue };
            if above == path {
                found.extend(&start.itself);
                continue;
            }
            let matches = |number: &usize| rules.rules[*number].pattern().is_some_and(|it| it.matches_below(rest));
            found.extend(start.below.candidates(&name).filter(matches));
        }
        found.into_iter().map(|number| &rules.rules[number]).collect()
    }

    /// Returns whether a rule matches a path or a folder above it.
    pub fn cover(&self, rules: &Rules, path: &Path) -> bool {
        !self.by_start.is_empty() && path.ancestors().any(|path| !self.matching(rules, path).is_empty())
    }
}

impl Rule {
    fn pattern(&self) -> Option<&PathPattern> {
        match &self.subject {
            Subject::Read(pattern) | Subject::Edit(pattern) => Some(pattern),
            Subject::Command(_) | Subject::Tool(_) => None,
        }
    }
}
