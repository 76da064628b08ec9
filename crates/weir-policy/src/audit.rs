//! Looks at a project before and after a run: what appeared or changed that runs code later, outside of the sandbox.
//!
//! Invariant: what was there before and did not change is never reported.

pub mod names;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use names::Kind;

use crate::masks::{EntryKind, Stamp, Tree, TreeError};
use names::{IN_REPOSITORY, NAMES};

/// How many files are looked at in one folder that runs code later; some clients keep whole worktrees in theirs.
const MAX_FILES: usize = 2_000;

/// What was there before a run.
#[derive(Debug, Clone, Default)]
pub struct Before {
    roots: Vec<PathBuf>,
    marks: BTreeMap<PathBuf, Mark>,
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

#[derive(Debug, Clone)]
struct Mark {
    stamp: Stamp,
    kind: Kind,
    what: &'static str,
    /// The folder or file of the list that this is or belongs to.
    top: PathBuf,
}

/// Notes what is there. The tree has been refreshed before, by [`crate::masks::Masks::expand`] or by hand with
/// [`crate::masks::interest`]; `roots` are the folders that a run may write to.
pub fn take(tree: &mut Tree, roots: &[PathBuf], now: SystemTime) -> Result<Before, TreeError> {
    let roots: Vec<PathBuf> =
        roots.iter().map(|root| fs::canonicalize(root).unwrap_or_else(|_| root.clone())).collect();
    let mut marks = BTreeMap::new();
    for root in &roots {
        mark(tree.other(root, now)?, root, &mut marks);
    }
    Ok(Before { roots, marks })
}

/// What appeared or changed since, the things to move out of the way first.
pub fn compare(before: &Before, tree: &mut Tree, now: SystemTime) -> Result<Vec<Planted>, TreeError> {
    tree.again(now)?;
    let after = take(tree, &before.roots, now)?;
    let mut planted: BTreeMap<PathBuf, Planted> = BTreeMap::new();
    for (path, mark) in &after.marks {
        let was = before.marks.get(path);
        if was.is_some_and(|was| was.stamp == mark.stamp) {
            continue;
        }
        // All of a folder that is new is one thing.
        let path = if before.marks.contains_key(&mark.top) { path } else { &mark.top };
        let changed = was.is_some();
        // A folder whose entries changed says nothing by itself: what changed in it is found by itself. A `HEAD` moves.
        if changed && (path.is_dir() || path.ends_with("HEAD")) {
            continue;
        }
        // Moving a file away that was there before would break what depends on it.
        let kind = if changed && path.ends_with("config") { Kind::Report } else { mark.kind };
        planted.entry(path.clone()).or_insert_with(|| Planted {
            path: path.clone(),
            kind,
            what: mark.what.to_owned(),
            changed,
        });
    }
    let mut planted: Vec<Planted> = planted.into_values().collect();
    planted.sort_by(|a, b| (a.kind, &a.path).cmp(&(b.kind, &b.path)));
    Ok(planted)
}

fn mark(tree: &Tree, root: &Path, marks: &mut BTreeMap<PathBuf, Mark>) {
    for (folder, entry) in tree.kept() {
        let path = folder.join(&entry.name);
        let name = entry.name.to_string_lossy().to_lowercase();
        let left = crate::masks::in_dependencies(folder, root);
        if name == ".git" {
            let kind = if left { Kind::Report } else { Kind::Quarantine };
            repository(&path, entry.kind, kind, marks);
        } else if let Some(known) = NAMES.iter().find(|known| crate::masks::name_matches(known.name, &name))
            && !left
            && !inside_repository(folder)
        {
            files(&path, &path, known.kind, known.what, marks);
        }
    }
    for (folder, below) in tree.folders() {
        let has = |name: &str| below.iter().any(|folder| folder.eq_ignore_ascii_case(name));
        let named_git = folder.iter().any(|part| part.eq_ignore_ascii_case(".git"));
        if !named_git && has("objects") && has("refs") && fs::symlink_metadata(folder.join("HEAD")).is_ok() {
            let kind = if crate::masks::in_dependencies(folder, root) { Kind::Report } else { Kind::Quarantine };
            bare(folder, kind, marks);
        }
    }
}

fn inside_repository(folder: &Path) -> bool {
    folder.iter().any(|part| part.eq_ignore_ascii_case(".git"))
}

fn repository(path: &Path, entry: EntryKind, kind: Kind, marks: &mut BTreeMap<PathBuf, Mark>) {
    let what = match entry {
        EntryKind::Folder => "a git repository inside the project",
        _ => "a link to a git repository elsewhere",
    };
    add(path, path, kind, what, marks);
    if entry == EntryKind::Folder {
        settings(path, path, kind, marks);
    }
}

fn bare(folder: &Path, kind: Kind, marks: &mut BTreeMap<PathBuf, Mark>) {
    // Without its `HEAD` the folder is no repository, and whatever else is in it may be the user's.
    let head = folder.join("HEAD");
    add(&head, &head, kind, "a bare git repository inside the project", marks);
    settings(folder, &head, kind, marks);
}

fn settings(repository: &Path, top: &Path, kind: Kind, marks: &mut BTreeMap<PathBuf, Mark>) {
    for (place, what) in IN_REPOSITORY {
        files(&repository.join(place), top, kind, what, marks);
    }
}

/// Marks a file, or a folder and the files in it.
fn files(path: &Path, top: &Path, kind: Kind, what: &'static str, marks: &mut BTreeMap<PathBuf, Mark>) {
    let mut waiting = vec![path.to_path_buf()];
    let mut seen = 0;
    while let Some(path) = waiting.pop() {
        seen += 1;
        if seen > MAX_FILES || !add(&path, top, kind, what, marks) {
            continue;
        }
        if let Ok(entries) = fs::read_dir(&path) {
            waiting.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
}

/// Marks one path, and says whether it is a folder.
fn add(path: &Path, top: &Path, kind: Kind, what: &'static str, marks: &mut BTreeMap<PathBuf, Mark>) -> bool {
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let mark = Mark { stamp: Stamp::of(&metadata), kind, what, top: top.to_path_buf() };
    marks.entry(path.to_path_buf()).or_insert(mark);
    metadata.is_dir()
}
