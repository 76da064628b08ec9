//! Inspects a project before, during and after a run, to find new or changed files that would run code later, outside
//! the sandbox.
//!
//! Invariant: files that existed before and did not change are never reported.

mod journal;
mod marks;
pub mod names;
mod repository;
mod writes;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) use marks::is_looked_into;
pub use names::Kind;
pub use repository::is_repository;
pub(crate) use repository::{SETTINGS as REPOSITORY_SETTINGS, is_part_of_repository, is_repository_at};
pub use writes::{FileFacts, Written, clock, judge, summary, written_since};

use crate::masks::{Stamp, Tree, TreeError, names_interest};
use marks::Marks;

/// The state of a project before a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    roots: Vec<PathBuf>,
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// A file or folder that a run left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    pub path: PathBuf,
    pub kind: Kind,
    pub what: String,
    /// Whether it existed before and was changed.
    pub changed: bool,
}

/// The findings after a run.
#[derive(Debug, Default)]
pub struct Found {
    /// New and changed paths, with those to quarantine first.
    pub planted: Vec<Planted>,
    /// Folders that could be listed before the run, or did not exist, and that cannot be listed now.
    pub closed: Vec<PathBuf>,
    /// Why the search was incomplete. The paths nearest to the root were still checked.
    pub incomplete: Option<TreeError>,
}

/// Records the current state. The tree must be up to date, through [`crate::masks::Masks::expand`] or through a refresh
/// with [`crate::masks::interest`]. `roots` are the folders that a run may write to.
pub fn take(tree: &mut Tree, roots: &[PathBuf], now: SystemTime) -> Result<Before, TreeError> {
    let canonical = |root: &PathBuf| fs::canonicalize(root).unwrap_or_else(|_| root.clone());
    let roots: Vec<PathBuf> = roots.iter().map(canonical).collect();
    let mut marks = Marks::new(&roots);
    for root in &roots {
        let (tree, error) = tree.other_partial(root, now);
        marks.add_all(tree, root);
        marks.add_unmarked(tree.unreadable().iter().cloned());
        error.map_or(Ok(()), Err)?;
    }
    let stamps = marks.into_stamps();
    Ok(Before { roots, stamps })
}

/// Finds what appeared or changed since `before`.
pub fn compare(before: &Before, tree: &mut Tree, now: SystemTime) -> Found {
    let mut incomplete = tree.update(now).err();
    let (mut marks, mut closed) = (Marks::new(&before.roots), Vec::new());
    for root in &before.roots {
        let (tree, error) = tree.other_partial(root, now);
        marks.add_all(tree, root);
        closed.extend(tree.unreadable().iter().filter(|path| !before.stamps.contains_key(*path)).cloned());
        incomplete = incomplete.or(error);
    }
    Found { planted: before.compare(&marks), closed, incomplete }
}

/// Like [`compare`], but builds a new tree, for a run whose owner is gone.
pub fn compare_from_scratch(before: &Before, now: SystemTime) -> Found {
    let Some(root) = before.roots.first() else { return Found::default() };
    let mut tree = Tree::new();
    // Ignore the error: the comparison runs into it again and reports it.
    let _ = tree.refresh(root, &names_interest(), now);
    compare(before, &mut tree, now)
}

/// Finds what appeared or changed directly below the roots, where most of it takes effect. Fast enough to call every
/// second.
pub fn glance(before: &Before) -> Vec<Planted> {
    let mut marks = Marks::new(&before.roots);
    before.roots.iter().for_each(|root| marks.add_top(root));
    before.compare(&marks)
}

impl Before {
    /// Returns the folders that the run may write to.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    fn compare(&self, marks: &Marks<'_>) -> Vec<Planted> {
        let mut planted: BTreeMap<&Path, Planted> = BTreeMap::new();
        for (path, mark) in marks.all() {
            let was = self.stamps.get(path);
            if was.is_some_and(|was| *was == mark.stamp) {
                continue;
            }
            // A new folder is reported once, with all its contents.
            let is_known = self.stamps.contains_key(&mark.top);
            let path = if is_known { path } else { mark.top.as_path() };
            let changed = was.is_some();
            // Ignore a changed folder: changes inside it are found separately. A `HEAD` changes in normal use.
            if changed && (path.is_dir() || path.ends_with("HEAD")) {
                continue;
            }
            // The target of an existing link belongs to the user, as do the files next to it.
            let kind = if mark.by_link && is_known { Kind::Report } else { mark.kind };
            let what = match mark.by_link {
                true => format!("{}, by a link", mark.what),
                false => mark.what.to_owned(),
            };
            planted.entry(path).or_insert_with(|| Planted { path: path.to_owned(), kind, what, changed });
        }
        let mut planted: Vec<Planted> = planted.into_values().collect();
        planted.sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
        planted
    }
}
