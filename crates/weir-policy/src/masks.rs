//! What a run must not see or change: default secrets, the user's denials, and names that run code later.
//!
//! Invariants:
//! - Every returned path exists, its parent is canonical, and no path is below another of the same list.
//! - A denial overrides everything; only Weir's own `readable` lifts a default.

mod below;
mod expand;
mod homes;
mod names;
pub mod secrets;
pub mod toolchains;
mod tree;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use crate::rules::Places;
pub(crate) use expand::in_dependencies;
pub use homes::{Homes, Requirements};
pub(crate) use tree::Stamp;
pub use tree::{Entry, EntryKind, Interest, MAX_ENTRIES, Nearest, Refreshed, Tree, TreeError};

use crate::audit::names::{Kind, NAMES, PersistentName, find};
use crate::rules::{Rules, Subject, Verdict};

/// The paths to hide and to protect for one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Masks {
    /// Files and folders that must not be read.
    pub hidden: Vec<PathBuf>,
    /// Files and folders that must not be changed.
    pub read_only: Vec<PathBuf>,
    /// Names of programs that must not be started.
    pub programs: Vec<String>,
    /// Whether only part of the project was searched, as requested with [`Tree::look_at_nearest`].
    pub left_out: bool,
    pub problems: Vec<MaskProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskProblem {
    pub path: PathBuf,
    /// What is wrong, as a sentence.
    pub wrong: String,
    /// Whether a run would be less protected than the rules require, so the caller should refuse it.
    pub refuse: bool,
}

impl Masks {
    /// Finds the existing paths that must be hidden or protected. `now` is the time of the call.
    ///
    /// A rule that asks about a path hides it like a denial, since a run cannot stop to ask.
    pub fn expand(tree: &mut Tree, rules: &Rules, places: &Places, now: SystemTime) -> Self {
        expand::expand(tree, rules, places, now)
    }
}

/// Returns whether the defaults hide a path because of its name, or because of a folder above it in the project. The
/// path must be free of symbolic links.
pub fn is_secret(path: &Path, project: &Path) -> bool {
    expand::is_secret_path(path, project)
}

/// Returns the names that masks and the audit look for, including those in the rules.
pub fn interest(rules: &Rules) -> Interest {
    let secrets = [secrets::ENVIRONMENTS, secrets::PROJECT, secrets::FOLDERS].into_iter().flatten();
    let secrets = secrets.map(|secret| secret.pattern);
    let strict = rules.iter().filter(|rule| rule.verdict > Verdict::Allow);
    let patterns = strict.filter_map(|rule| match &rule.subject {
        Subject::Read(pattern) | Subject::Edit(pattern) => Some(pattern.last()),
        _ => None,
    });
    interest_with(secrets.chain(patterns))
}

pub(crate) fn names_interest() -> Interest {
    interest_with([])
}

fn interest_with<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Interest {
    let (everyday, names): (Vec<&PersistentName>, Vec<&PersistentName>) =
        NAMES.iter().partition(|known| known.kind == Kind::Executed);
    let names = names.into_iter().map(|known| -> &'a str { known.last() }).chain([".git", "head"]);
    Interest::of(names.chain(patterns)).and_own(everyday.into_iter().map(PersistentName::last))
}

/// Returns whether an existing path with this name in this folder is mounted read-only.
pub(crate) fn is_protected(folder: &Path, name: &str) -> bool {
    name.eq_ignore_ascii_case(".git") || find(folder, name).is_some_and(|known| known.kind == Kind::Quarantine)
}
