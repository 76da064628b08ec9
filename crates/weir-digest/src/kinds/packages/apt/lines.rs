//! Parses single lines of apt and dpkg.

use crate::text::{number, starts};

/// What apt prints while it computes.
pub(super) const STEPS: &[&str] =
    &["Reading package lists...", "Building dependency tree...", "Reading state information..."];

/// What a heading says about the packages below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Additional,
    New,
    Upgraded,
    Removed,
    Kept,
    Suggested,
    Unneeded,
    Unmet,
    Failed,
}

/// Returns the list that begins below this line.
pub(super) fn list_of(text: &str) -> Option<List> {
    match text.trim_end() {
        "The following additional packages will be installed:" | "The following extra packages will be installed:" => {
            Some(List::Additional)
        }
        "The following NEW packages will be installed:" => Some(List::New),
        "The following packages will be upgraded:" | "The following packages will be DOWNGRADED:" => {
            Some(List::Upgraded)
        }
        "The following packages will be REMOVED:" => Some(List::Removed),
        "The following packages have been kept back:" | "The following held packages will be changed:" => {
            Some(List::Kept)
        }
        "Suggested packages:" | "Recommended packages:" => Some(List::Suggested),
        "The following packages have unmet dependencies:" => Some(List::Unmet),
        "Errors were encountered while processing:" => Some(List::Failed),
        text => {
            (text.starts_with("The following package") && text.contains("no longer required")).then_some(List::Unneeded)
        }
    }
}

/// Parses a step of a simulation: the package, its old version, and the new one.
pub(super) fn simulated(text: &str) -> Option<(&str, &str, &str)> {
    let (word, rest) = text.split_once(' ')?;
    let (name, rest) = rest.split_once(' ')?;
    let (before, after) = rest.split_once('(')?;
    let version = after.split([' ', ')']).next()?;
    let old = before.trim().trim_matches(['[', ']']);
    (matches!(word, "Inst" | "Conf") && text.ends_with([')', ']'])).then_some((name, old, version))
}

/// Parses the removal of a package in a simulation: its name and version in `Remv name [1.2] [other:amd64 ]`.
pub(super) fn taken_away(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("Remv ").or_else(|| text.strip_prefix("Purg "))?;
    let (name, rest) = rest.split_once(" [")?;
    Some((name, rest.split_once(']')?.0)).filter(|(name, _)| !name.contains(' '))
}

/// Returns where a simulation gets a package from: `Debian-Security:12/oldstable-security`.
pub(super) fn from(text: &str) -> Option<&str> {
    let (_, inside) = text.strip_prefix("Inst ")?.rsplit_once('(')?;
    inside.split(' ').nth(1)
}

/// Returns the first word of a line about a download: `Get:12 http://… bookworm/main amd64 name amd64 1.2 [3 kB]`.
pub(super) fn fetched(text: &str) -> Option<&str> {
    let (word, rest) = text.split_once(':')?;
    number(rest).filter(|_| matches!(word, "Get" | "Hit" | "Ign" | "Err")).map(|_| word)
}

/// Returns whether this is an error or a warning of apt.
pub(super) fn is_error(text: &str) -> bool {
    #[rustfmt::skip]
    const ERROR_PHRASES: &[&str] = &[
        "Unable to ", "Package ", "Failed to ", "Sub-process ", "Could not ", "The repository ", "Broken packages",
        "Some index files", "Unmet dependencies", "Version ", "Held packages", "You must put", "dpkg was interrupted",
        "GPG error", "Target ", "Conflicting values", "The value ", "An error occurred", "Invalid operation", "Pkg",
        "http", "Possible missing firmware",
    ];
    let said = text.strip_prefix("E: ").or_else(|| text.strip_prefix("W: "));
    said.is_some_and(|said| ERROR_PHRASES.iter().any(|start| said.starts_with(start)))
}

/// Parses a step with one package: the action, its name, and its version if stated.
pub(super) fn done(text: &str) -> Option<(&'static str, &str, &str)> {
    const WORDS: &[&str] =
        &["Setting up ", "Unpacking ", "Processing triggers for ", "Removing ", "Purging configuration files for "];
    if starts(text, &["Selecting previously unselected package ", "Preparing to unpack ", "(Reading database "]) {
        return Some(("", "", ""));
    }
    let word = WORDS.iter().find(|word| text.starts_with(**word))?;
    let rest = text.get(word.len()..)?.strip_suffix(" ...")?;
    let (name, rest) = rest.split_once(" (")?;
    Some((word.trim_end(), name, rest.trim_end_matches(')')))
}

pub(super) fn totals(text: &str) -> Option<[u64; 4]> {
    let (upgraded, rest) = number(text)?;
    let (new, rest) = number(rest.strip_prefix(" upgraded, ")?)?;
    let (first, rest) = number(rest.strip_prefix(" newly installed, ")?)?;
    // Downgraded packages are counted in between, and only if there are any.
    let (removed, rest) = match rest.strip_prefix(" downgraded, ").or_else(|| rest.strip_prefix(" reinstalled, ")) {
        Some(rest) => number(rest)?,
        None => (first, rest),
    };
    let (kept, _) = number(rest.strip_prefix(" to remove and ")?)?;
    Some([upgraded, new, removed, kept])
}
