//! Looks at a project before, during and after a run: what appeared or changed that runs code later, outside of the
//! sandbox.
//!
//! Invariant: what was there before and did not change is never reported.

mod journal;
mod marks;
pub mod names;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) use marks::is_looked_into;
pub use names::Kind;

use crate::masks::{Stamp, Tree, TreeError, names_interest};
use marks::Marks;

/// What was there before a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Before {
    roots: Vec<PathBuf>,
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// Something that a run left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planted {
    /// Where it is.
    pub path: PathBuf,
    /// What is to be done about it.
    pub kind: Kind,
    /// What it is.
    pub what: String,
    /// Whether it had been there before and was changed.
    pub changed: bool,
}

/// What was found after a run.
#[derive(Debug, Default)]
pub struct Found {
    /// What appeared or changed, the things to move out of the way first.
    pub planted: Vec<Planted>,
    /// Why not everything could be looked at. What is nearest to the top was.
    pub incomplete: Option<TreeError>,
}

/// Notes what is there. The tree has been refreshed before, by [`crate::masks::Masks::expand`] or by hand with
/// [`crate::masks::interest`]; `roots` are the folders that a run may write to.
pub fn take(tree: &mut Tree, roots: &[PathBuf], now: SystemTime) -> Result<Before, TreeError> {
    let canonical = |root: &PathBuf| fs::canonicalize(root).unwrap_or_else(|_| root.clone());
    let roots: Vec<PathBuf> = roots.iter().map(canonical).collect();
    let mut marks = Marks::new(&roots);
    for root in &roots {
        let (tree, error) = tree.other_in_part(root, now);
        marks.add_all(tree, root);
        error.map_or(Ok(()), Err)?;
    }
    let stamps = marks.into_stamps();
    Ok(Before { roots, stamps })
}

/// What appeared or changed since.
pub fn compare(before: &Before, tree: &mut Tree, now: SystemTime) -> Found {
    let mut incomplete = tree.again(now).err();
    let mut marks = Marks::new(&before.roots);
    for root in &before.roots {
        let (tree, error) = tree.other_in_part(root, now);
        marks.add_all(tree, root);
        incomplete = incomplete.or(error);
    }
    Found { planted: before.compare(&marks), incomplete }
}

/// The same by one who knows nothing of the project yet: for a run whose owner is gone.
pub fn compare_anew(before: &Before, now: SystemTime) -> Found {
    let Some(root) = before.roots.first() else { return Found::default() };
    let mut tree = Tree::new();
    // What goes wrong here goes wrong again in the comparison, and is said there.
    let _ = tree.refresh(root, &names_interest(), now);
    compare(before, &mut tree, now)
}

/// What appeared or changed right below the roots, where most of it takes effect: quick enough to be asked every second.
pub fn glance(before: &Before) -> Vec<Planted> {
    let mut marks = Marks::new(&before.roots);
    before.roots.iter().for_each(|root| marks.add_top(root));
    before.compare(&marks)
}

impl Before {
    /// The folders that the run may write to.
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
            // All of a folder that is new is one thing.
            let is_known = self.stamps.contains_key(&mark.top);
            let path = if is_known { path } else { mark.top.as_path() };
            let changed = was.is_some();
            // A folder whose entries changed says nothing by itself: what changed in it is found by itself. A `HEAD` moves.
            if changed && (path.is_dir() || path.ends_with("HEAD")) {
                continue;
            }
            // What a link of the user's leads to is the user's, and so is what is beside it.
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
