//! Checks what neither rustc nor clippy knows about this repository.
//!
//! Invariant: a check is a function of the [`Tree`] alone, which also knows the history. Adding one takes a file in
//! `tidy/` and a line in [`CHECKS`].

use std::fmt;

mod book;
mod commands;
mod crate_tables;
mod dependency_reasons;
mod figures;
mod file_size;
mod floors;
mod forbidden_text;
mod gate_steps;
mod links;
mod lists;
mod markdown;
mod missing;
mod module_cycles;
mod module_docs;
mod names;
mod orphans;
mod paths;
mod readme;
mod rust_text;
mod tree;
mod vocabulary;

pub(crate) use links::resolve;
pub(crate) use tree::Tree;

type Check = fn(&Tree) -> Vec<Finding>;

/// Every check, in the order in which they report.
const CHECKS: &[Check] = &[
    floors::check,
    module_cycles::check,
    module_docs::check,
    file_size::check,
    orphans::check,
    lists::check,
    vocabulary::check,
    forbidden_text::check,
    dependency_reasons::check,
    links::check,
    book::check,
    crate_tables::check,
    gate_steps::check,
    paths::check,
    names::check,
    commands::check,
    missing::check,
    readme::check,
    figures::check,
];

/// Runs every check over the tree.
pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    CHECKS.iter().flat_map(|check| check(tree)).collect()
}

/// A problem, and how to fix it.
#[derive(Debug)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    wrong: String,
    fix: String,
}

impl Finding {
    /// Creates a finding. `line` counts from one; `wrong` and `fix` are sentences without their full stop.
    fn new(path: &str, line: usize, wrong: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, wrong: wrong.into(), fix: fix.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, line, wrong, fix } = self;
        write!(f, "{path}:{line}: {wrong}. {fix}.")
    }
}

fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Returns whether a line has the marker that exempts it: `tidy: allow(subject)`.
fn allowed(line: &str, subject: &str) -> bool {
    line.contains(&format!("tidy: allow({subject})"))
}

/// Runs a check on small files and returns the findings, one per line. All tests of checks use it.
#[cfg(test)]
fn findings(check: Check, files: &[(&str, &str)]) -> String {
    let findings = check(&Tree::of(files));
    findings.iter().map(|finding| format!("{finding}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_reads_as_a_place_and_two_sentences() {
        let finding = Finding::new("a/b.rs", 3, "this is wrong", "Do that");
        assert_eq!(finding.to_string(), "a/b.rs:3: this is wrong. Do that.");
    }

    #[test]
    fn a_marker_excuses_only_its_own_subject() {
        assert!(allowed("x // tidy: allow(agent)", "agent"));
        assert!(!allowed("x // tidy: allow(agent)", "snippet"));
    }
}
