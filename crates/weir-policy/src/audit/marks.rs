//! Finds the files in a tree that run code later, and records their current state.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::Kind;
use super::names::{self, NAMES};
use super::repository::{DECIDING, SETTINGS, is_repository_at};
use crate::masks::{EntryKind, Stamp, Tree, in_dependencies};

/// Maximum number of files checked in one folder that runs code later; some clients keep whole worktrees in theirs.
const MAX_FILES: usize = 2_000;

/// Dependency folders that people and builds also write to, so names in them may be deliberate.
const OWN: [&str; 4] = ["vendor", "deps", "target", "_build"];

/// The current state of a path.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) stamp: Stamp,
    pub(super) kind: Kind,
    pub(super) what: &'static str,
    /// The listed file or folder that this is, or belongs to.
    pub(super) top: PathBuf,
    /// Whether the path was reached through a symbolic link.
    pub(super) by_link: bool,
}

pub(super) struct Marks<'a> {
    /// Links are followed only to targets below these folders; a run cannot change anything else.
    roots: &'a [PathBuf],
    marks: BTreeMap<PathBuf, Mark>,
    /// The state of files that would belong to a repository if a run completed one around them.
    unmarked: BTreeMap<PathBuf, Stamp>,
}

/// How a path is marked.
#[derive(Clone, Copy)]
struct MarkLabel<'a> {
    top: &'a Path,
    kind: Kind,
    what: &'static str,
    by_link: bool,
}

impl<'a> Marks<'a> {
    pub(super) fn new(roots: &'a [PathBuf]) -> Self {
        Self { roots, marks: BTreeMap::new(), unmarked: BTreeMap::new() }
    }

    pub(super) fn all(&self) -> &BTreeMap<PathBuf, Mark> {
        &self.marks
    }

    /// Returns the current state of everything that is marked or may be later.
    pub(super) fn into_stamps(self) -> BTreeMap<PathBuf, Stamp> {
        let marked = self.marks.into_iter().map(|(path, mark)| (path, mark.stamp));
        marked.chain(self.unmarked).collect()
    }

    /// Records the state of paths that are not marked now but may be later.
    pub(super) fn add_unmarked(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        let stamp = |path: &Path| fs::symlink_metadata(path).ok().map(|about| Stamp::of(&about));
        self.unmarked.extend(paths.into_iter().filter_map(|path| stamp(&path).map(|stamp| (path, stamp))));
    }

    pub(super) fn add_all(&mut self, tree: &Tree, root: &Path) {
        for (folder, entries) in tree.kept_by_folder() {
            let owner = FolderOwner::of(folder, root);
            for entry in entries {
                self.add_named(folder, &entry.name.to_string_lossy(), entry.kind, owner);
            }
        }
    }

    /// Marks the entries directly below a root, and the listed names with a fixed path below it.
    pub(super) fn add_top(&mut self, root: &Path) {
        for entry in fs::read_dir(root).into_iter().flatten().flatten() {
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => EntryKind::Folder,
                _ => EntryKind::File,
            };
            self.add_named(root, &entry.file_name().to_string_lossy(), kind, FolderOwner::Project);
        }
        for known in NAMES.iter().filter(|known| known.name.contains('/')) {
            let path = root.join(known.name);
            self.add(&path, MarkLabel { top: &path, kind: known.kind, what: known.what, by_link: false });
        }
    }

    fn add_named(&mut self, folder: &Path, name: &str, entry: EntryKind, owner: FolderOwner) {
        let path = folder.join(name);
        if name.eq_ignore_ascii_case(".git") {
            let kind = owner.kind_of_repository();
            let what = match entry {
                EntryKind::Folder => "a git repository inside the project",
                _ => "a link to a git repository elsewhere",
            };
            let found = MarkLabel { top: &path, kind, what, by_link: false };
            self.add_one(&path, found);
            if entry == EntryKind::Folder {
                self.add_settings(&path, found);
            }
        } else if name.eq_ignore_ascii_case("HEAD") {
            self.add_bare(folder, owner);
        } else if let Some(known) = names::find(folder, name)
            && owner.counts(known.kind)
            && !is_in_repository(folder)
        {
            self.add(&path, MarkLabel { top: &path, kind: known.kind, what: known.what, by_link: false });
        }
    }

    /// Marks a folder with a `HEAD`, if it is a repository to git.
    fn add_bare(&mut self, folder: &Path, owner: FolderOwner) {
        if is_in_repository(folder) {
            return;
        }
        let head = folder.join("HEAD");
        if !is_repository_at(folder) {
            // Its files may be the user's. A run that makes it a repository has not made them.
            let places = DECIDING.into_iter().chain(SETTINGS.iter().map(|(place, _)| *place));
            self.add_unmarked(places.map(|place| folder.join(place)));
            return;
        }
        let what = "a bare git repository inside the project";
        let found = MarkLabel { top: &head, kind: owner.kind_of_repository(), what, by_link: false };
        for name in DECIDING {
            self.add_one(&folder.join(name), found);
        }
        self.add_settings(folder, found);
    }

    fn add_settings(&mut self, repository: &Path, found: MarkLabel<'_>) {
        for (place, what) in SETTINGS {
            self.add(&repository.join(place), MarkLabel { what, ..found });
        }
    }

    /// Marks a file, or a folder and the files in it. Follows links to targets that a run can change.
    fn add(&mut self, path: &Path, found: MarkLabel<'_>) {
        let mut waiting = vec![(path.to_path_buf(), None::<PathBuf>)];
        let mut seen = 0;
        while let Some((path, target)) = waiting.pop() {
            seen += 1;
            let found = match &target {
                Some(target) => MarkLabel { top: target, by_link: true, ..found },
                None => found,
            };
            let Some(kind) = (seen <= MAX_FILES).then(|| self.add_one(&path, found)).flatten() else { continue };
            if kind.is_dir() {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(entries.map(|entry| (entry.path(), target.clone())));
            } else if kind.is_symlink() && target.is_none() {
                // The target of a dangling link may still be created.
                let Some(end) = link_target(&path) else { continue };
                if self.roots.iter().any(|root| end.starts_with(root) && end != *root) {
                    waiting.push((end.clone(), Some(end)));
                }
            }
        }
    }

    fn add_one(&mut self, path: &Path, found: MarkLabel<'_>) -> Option<fs::FileType> {
        let metadata = fs::symlink_metadata(path).ok()?;
        let MarkLabel { top, kind, what, by_link } = found;
        let mark = Mark { stamp: Stamp::of(&metadata), kind, what, top: top.to_path_buf(), by_link };
        self.marks.entry(path.to_path_buf()).or_insert(mark);
        Some(metadata.file_type())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FolderOwner {
    Project,
    /// Builds, and people too.
    Filled,
    /// A package manager, with packages of others.
    Packages,
}

impl FolderOwner {
    pub(super) fn of(folder: &Path, root: &Path) -> Self {
        let below = folder.strip_prefix(root).unwrap_or(folder);
        if !in_dependencies(folder, root) {
            return Self::Project;
        }
        let own: PathBuf = below.iter().filter(|part| !OWN.iter().any(|name| *part == *name)).collect();
        if in_dependencies(&own, Path::new("")) { Self::Packages } else { Self::Filled }
    }

    pub(super) fn counts(self, kind: Kind) -> bool {
        match self {
            Self::Project => true,
            Self::Filled => kind == Kind::Quarantine,
            Self::Packages => false,
        }
    }

    pub(super) fn kind_of_repository(self) -> Kind {
        if self == Self::Packages { Kind::Report } else { Kind::Quarantine }
    }
}

/// Returns whether names that run code are protected in a folder: everywhere except in installed packages.
pub(crate) fn is_looked_into(folder: &Path, root: &Path) -> bool {
    FolderOwner::of(folder, root) != FolderOwner::Packages
}

pub(super) fn is_in_repository(folder: &Path) -> bool {
    folder.iter().any(|part| part.eq_ignore_ascii_case(".git"))
}

/// Returns the path that a link points to, whether it exists or not.
fn link_target(link: &Path) -> Option<PathBuf> {
    if let Ok(end) = fs::canonicalize(link) {
        return Some(end);
    }
    let target = link.parent()?.join(fs::read_link(link).ok()?);
    let (mut above, mut names) = (target.as_path(), Vec::new());
    let real = loop {
        if let Ok(real) = fs::canonicalize(above) {
            break real;
        }
        names.push(above.file_name()?);
        above = above.parent()?;
    };
    Some(names.iter().rev().fold(real, |path, name| path.join(name)))
}
