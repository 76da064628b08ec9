//! The tree printed by `npm ls`: the direct dependencies of the project, problems, and packages in several versions.

use std::collections::{BTreeMap, BTreeSet};

use crate::kinds::diagnostics::diagnostic::named;
use crate::kinds::shared::bounded_items::{BoundedItems, rows};
use crate::text::clip;
use crate::{Item, Line, Page, Part, Weight};

const MAX_NAMES: usize = 5_000;
const MAX_DIRECT: usize = 1_000;

/// What was read of the tree.
#[derive(Default)]
pub(super) struct NpmTree {
    root: BoundedItems,
    direct: Vec<String>,
    direct_count: u64,
    packages: BTreeMap<String, BTreeSet<String>>,
    /// Whether there are more packages than are kept.
    more_packages: bool,
    lines: u64,
    deduped: u64,
    deepest: usize,
    problems: BoundedItems,
    problem_texts: BTreeMap<String, u64>,
    missing: BoundedItems,
}

/// Returns the depth of a line in the tree, and its text about a package: `├─┬ name@1.0.0 deduped`.
pub(super) fn branch(text: &str) -> Option<(usize, &str)> {
    let inner = text.trim_start_matches(['│', '├', '└', '─', '┬', ' ', '+', '-', '`', '|']);
    let drawn = text.get(..text.len() - inner.len())?;
    if !(drawn.contains("── ") || drawn.contains("─┬ ") || drawn.contains("-- ") || drawn.contains("-+ ")) {
        return None;
    }
    let depth = drawn.chars().count().saturating_sub(4) / 2 + 1;
    let named = inner.strip_prefix("UNMET ").map_or(inner, |rest| rest.rsplit(' ').next().unwrap_or(rest));
    let (name, version) = package(named)?;
    (!name.contains(' ') && !version.is_empty()).then_some((depth, inner))
}

/// Returns whether this is the line above the tree: `name@1.0.0 /path`.
pub(super) fn root(text: &str) -> bool {
    // The second word rejects nearly every line.
    let Some((first, path)) = text.split_once(' ') else { return false };
    let path_like = path.starts_with('/') || path.get(1..3) == Some(":\\");
    path_like && package(first).is_some_and(|(_, version)| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// Returns the name and the version of `@scope/name@1.0.0 …`.
fn package(said: &str) -> Option<(&str, &str)> {
    let word = said.split(' ').next()?;
    let at = word.rfind('@').filter(|&at| at > 0)?;
    Some((word.get(..at)?, word.get(at + 1..)?))
}

impl NpmTree {
    pub(super) fn take(&mut self, line: &Line<'_>) -> bool {
        let Some((depth, said)) = branch(line.text) else {
            let is_root = root(line.text);
            if is_root {
                self.root.text(line.text);
            }
            return is_root;
        };
        self.lines += 1;
        self.deepest = self.deepest.max(depth);
        if said.starts_with("UNMET ") {
            self.missing.text(said);
            return true;
        }
        if depth == 1 {
            self.direct_count += 1;
            if self.direct.len() < MAX_DIRECT {
                self.direct.push(clip(said.split(' ').next().unwrap_or(said), 120));
            }
        }
        let marks = said.split_once(' ').map_or("", |(_, marks)| marks);
        self.deduped += u64::from(marks.starts_with("deduped"));
        if marks.contains("invalid") || marks.contains("extraneous") || marks.contains("missing") {
            self.problem(line, said);
        }
        if let Some((name, version)) = package(said) {
            if let Some(versions) = self.packages.get_mut(name) {
                if versions.len() < 50 && !versions.contains(version) {
                    versions.insert(clip(version, 60));
                }
            } else if self.packages.len() < MAX_NAMES {
                self.packages.insert(clip(name, 120), BTreeSet::from([clip(version, 60)]));
            } else {
                self.more_packages = true;
            }
        }
        true
    }

    /// Takes a package with a problem. It is repeated wherever the package is needed, with more reasons each time.
    fn problem(&mut self, line: &Line<'_>, said: &str) {
        let name = said.split(' ').next().unwrap_or(said);
        if self.problem_texts.len() >= 500 && !self.problem_texts.contains_key(name) {
            self.problems.count();
            return;
        }
        let longest = self.problem_texts.entry(name.to_owned()).or_default();
        if said.len() as u64 > *longest {
            *longest = said.len() as u64;
            self.problems.replace(name, || Item::at(line.number, clip(said, 800)));
        } else {
            self.problems.count();
        }
    }

    pub(super) fn write(self, page: &mut Page) {
        if self.lines == 0 {
            return;
        }
        let what = format!(
            "npm tree: {} ({} deduped), {}{}, {} of them direct dependencies, {}",
            named(self.lines, "line", "lines"),
            self.deduped,
            if self.more_packages { "more than " } else { "" },
            named(self.packages.len() as u64, "package", "packages"),
            self.direct_count,
            named(self.deepest as u64, "level", "levels")
        );
        let mut tree = Page::new(what);
        tree.push(self.root.part("project", Weight::Fact));
        tree.push(self.problems.part("packages that do not fit, with all reasons", Weight::Failure));
        let left_out = self.direct_count - self.direct.len() as u64;
        tree.push(rows(&format!("{} direct dependencies", self.direct_count), Weight::Fact, &self.direct, left_out));
        tree.push(self.missing.part("not installed", Weight::Fact));
        let mut several: Vec<(&String, &BTreeSet<String>)> =
            self.packages.iter().filter(|(_, versions)| versions.len() > 1).collect();
        several.sort_by_key(|(_, versions)| std::cmp::Reverse(versions.len()));
        let total = several.len() as u64;
        let items = several.iter().take(100).map(|(name, versions)| {
            let all: Vec<String> = versions.iter().map(|version| format!("{name}@{version}")).collect();
            Item::plain(all.join(", "))
        });
        tree.push(Part::new("in several versions", Weight::Fact, items.collect()).of(total));
        page.join(tree);
    }
}
