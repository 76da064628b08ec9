//! An index of a project's folders, kept between runs: which names of interest are where.
//!
//! Invariants:
//! - A folder is listed again if its identity or times changed, or if it changed so recently that its times cannot be
//!   trusted.
//! - Links are never followed.
//! - A tree that is too big is an error, not an incomplete result.

use std::cell::OnceCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::names::Matcher;

pub const MAX_ENTRIES: usize = 1_000_000;

/// How long the times of a folder are not trusted after a change: some file systems only store times to one or two
/// seconds.
const MIN_SETTLED_AGE: Duration = Duration::from_secs(2);

/// Why a tree could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// The tree has too many entries.
    #[error("{} holds more than {MAX_ENTRIES} files and folders", .0.display())]
    TooBig(PathBuf),
    /// The root cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Root { path: PathBuf, source: std::io::Error },
}

/// The names worth keeping. Names are compared without regard to case; whole paths are checked later.
#[derive(Debug, Clone, Default)]
pub struct Interest {
    /// The patterns themselves, which distinguish one interest from another.
    patterns: Vec<String>,
    /// Patterns that count only outside dependency folders, which contain thousands of them.
    own: Vec<String>,
    /// Compiled when the first name is checked: a tree that is up to date checks none.
    matchers: OnceCell<Matchers>,
}

#[derive(Debug, Clone, Default)]
struct Matchers {
    everywhere: Matcher,
    own: Matcher,
}

impl Interest {
    /// Creates an interest in names and globs of names. An invalid glob is treated as a name.
    pub fn of<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { patterns: sorted(patterns), ..Self::default() }
    }

    /// Adds names that are worth keeping only outside dependency folders.
    pub fn and_own<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        Self { own: sorted(names), ..self }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.patterns == other.patterns && self.own == other.own
    }

    fn keeps(&self, name: &OsStr, is_filled: bool) -> bool {
        let name = name.to_string_lossy().to_lowercase();
        let Matchers { everywhere, own } = self
            .matchers
            .get_or_init(|| Matchers { everywhere: Matcher::of(&self.patterns), own: Matcher::of(&self.own) });
        everywhere.matches(&name) || (!is_filled && own.matches(&name))
    }
}

fn sorted<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut patterns: Vec<String> = patterns.into_iter().map(str::to_lowercase).collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A socket, a pipe or a device.
    Other,
}

/// A name of interest in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    pub kind: EntryKind,
}

#[derive(Debug)]
struct Folder {
    stamp: Stamp,
    settled: bool,
    entries: usize,
    kept: Vec<Entry>,
    folders: Vec<OsString>,
}

/// A fingerprint of the state of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    identity: (u64, u64),
    changed: SystemTime,
    /// The status change time, which programs cannot set back.
    touched: (i64, i64),
    size: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        let changed = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let identity = (metadata.dev(), metadata.ino());
            Self { identity, changed, touched: (metadata.ctime(), metadata.ctime_nsec()), size: metadata.len() }
        }
        #[cfg(not(unix))]
        Self { identity: (0, 0), changed, touched: (0, 0), size: metadata.len() }
    }

    /// Formats the stamp as text for [`Self::from_text`].
    pub(crate) fn to_text(self) -> String {
        let (device, number) = self.identity;
        let (seconds, nanos) = self.touched;
        let changed = match self.changed.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => after.as_nanos().cast_signed(),
            Err(before) => -before.duration().as_nanos().cast_signed(),
        };
        format!("{device} {number} {changed} {seconds} {nanos} {}", self.size)
    }

    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let mut numbers = text.split(' ').map(|number| number.parse::<i128>().ok());
        let mut next = || numbers.next().flatten();
        let identity = (u64::try_from(next()?).ok()?, u64::try_from(next()?).ok()?);
        let changed = next()?;
        let since = Duration::from_nanos(u64::try_from(changed.unsigned_abs()).ok()?);
        let changed = match changed {
            0.. => SystemTime::UNIX_EPOCH.checked_add(since)?,
            _ => SystemTime::UNIX_EPOCH.checked_sub(since)?,
        };
        let touched = (i64::try_from(next()?).ok()?, i64::try_from(next()?).ok()?);
        Some(Self { identity, changed, touched, size: u64::try_from(next()?).ok()? })
    }

    /// Returns whether the last change was before a time.
    fn is_before(&self, time: SystemTime) -> bool {
        self.last_change(time) < time
    }

    /// Returns whether the last change was long enough ago that a later one would show.
    fn is_settled(&self, now: SystemTime) -> bool {
        now.duration_since(self.last_change(now)).is_ok_and(|age| age > MIN_SETTLED_AGE)
    }

    fn last_change(&self, now: SystemTime) -> SystemTime {
        let seconds = u64::try_from(self.touched.0).unwrap_or(0);
        let touched = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(now);
        self.changed.max(touched)
    }
}

/// How much a refresh had to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refreshed {
    pub listed: usize,
    /// Number of folders that had not changed.
    pub reused: usize,
    /// Number of files and folders below the root.
    pub entries: usize,
}

/// Which part of a root to index if it is too large to index completely.
#[derive(Debug, Clone, Default)]
pub struct Nearest {
    /// Number of entries to index, those nearest to the root first.
    pub most: usize,
    /// Folders that are always indexed completely, unless they are the root itself.
    pub whole: Vec<PathBuf>,
}

impl Nearest {
    /// Returns whether a folder is, contains or is in one that is indexed completely.
    fn is_wanted(&self, path: &Path, root: &Path) -> bool {
        let mut whole = self.whole.iter().filter(|whole| *whole != root);
        whole.any(|whole| whole.starts_with(path) || path.starts_with(whole))
    }
}

/// The index of one root, and of other folders that rules mention.
#[derive(Debug, Default)]
pub struct Tree {
    /// The maximum number of entries, if it is not [`MAX_ENTRIES`].
    most: Option<usize>,
    nearest: Option<Nearest>,
    left_out: bool,
    root: PathBuf,
    interest: Interest,
    folders: HashMap<PathBuf, Folder>,
    unreadable: Vec<PathBuf>,
    others: HashMap<PathBuf, Self>,
}

impl Tree {
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty tree with a given maximum number of entries.
    pub fn holding(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// Limits future refreshes to what is nearest to the root, or removes the limit with `None`.
    pub fn look_at_nearest(&mut self, nearest: Option<Nearest>) {
        self.nearest = nearest;
    }

    /// Returns whether the last refresh left out folders because they were too deep.
    pub fn left_out(&self) -> bool {
        self.left_out
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folders that could not be listed, and so could contain anything.
    pub fn unreadable(&self) -> &[PathBuf] {
        &self.unreadable
    }

    /// Updates the index. A new interest or a new root starts it from scratch.
    pub fn refresh(&mut self, root: &Path, interest: &Interest, now: SystemTime) -> Result<Refreshed, TreeError> {
        if self.root != root || !self.interest.is_same(interest) {
            let (root, interest) = (root.to_path_buf(), interest.clone());
            *self = Self { most: self.most, nearest: self.nearest.take(), root, interest, ..Self::default() };
        }
        self.update(now)
    }

    /// Updates the index with the root and interest of the last refresh. If there are too many entries, the index holds
    /// those nearest to the root.
    pub fn update(&mut self, now: SystemTime) -> Result<Refreshed, TreeError> {
        let mut old = std::mem::take(&mut self.folders);
        self.unreadable.clear();
        self.left_out = false;
        let mut refreshed = Refreshed::default();
        let mut waiting = VecDeque::from([self.root.clone()]);
        while let Some(path) = waiting.pop_front() {
            let kept = old.remove(&path);
            let folder = match self.look(&path, kept, now, &mut refreshed) {
                Ok(Some(folder)) => folder,
                Ok(None) => continue,
                Err(source) if path == self.root => return Err(TreeError::Root { path, source }),
                Err(_) => {
                    self.unreadable.push(path);
                    continue;
                }
            };
            refreshed.entries += folder.entries;
            let names = folder.folders.iter().filter(|name| !is_store(&path, name) && !is_kernels(&path, name));
            waiting.extend(names.map(|name| path.join(name)));
            self.folders.insert(path, folder);
            if let Some(nearest) = self.nearest.as_ref().filter(|nearest| refreshed.entries > nearest.most) {
                let all = waiting.len();
                waiting.retain(|path| nearest.is_wanted(path, &self.root));
                self.left_out |= waiting.len() < all;
            }
            if refreshed.entries > self.most.unwrap_or(MAX_ENTRIES) {
                return Err(TreeError::TooBig(self.root.clone()));
            }
        }
        Ok(refreshed)
    }

    /// Returns the current state of a folder, or `None` if it no longer exists or is no longer a folder.
    fn look(
        &self,
        path: &Path,
        old: Option<Folder>,
        now: SystemTime,
        refreshed: &mut Refreshed,
    ) -> std::io::Result<Option<Folder>> {
        let metadata = match fs::symlink_metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && path != self.root => return Ok(None),
            Err(error) => return Err(error),
        };
        if !metadata.is_dir() && path != self.root {
            return Ok(None);
        }
        // The stamp is taken before the listing, so a change in between is noticed next time.
        let stamp = Stamp::of(&metadata);
        if let Some(folder) = old
            && folder.settled
            && folder.stamp == stamp
        {
            refreshed.reused += 1;
            return Ok(Some(folder));
        }
        refreshed.listed += 1;
        let mut folder =
            Folder { stamp, settled: stamp.is_settled(now), entries: 0, kept: Vec::new(), folders: Vec::new() };
        let is_filled = super::in_dependencies(path, &self.root);
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            folder.entries += 1;
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_dir() => EntryKind::Folder,
                Ok(kind) if kind.is_symlink() => EntryKind::Link,
                Ok(kind) if kind.is_file() => EntryKind::File,
                _ => EntryKind::Other,
            };
            let name = entry.file_name();
            if self.interest.keeps(&name, is_filled) {
                folder.kept.push(Entry { name: name.clone(), kind });
            }
            if kind == EntryKind::Folder {
                folder.folders.push(name);
            }
        }
        folder.kept.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Some(folder))
    }

    /// Returns every name of interest, with its folder.
    pub fn kept(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.folders.iter().flat_map(|(path, folder)| folder.kept.iter().map(move |entry| (path.as_path(), entry)))
    }

    pub(crate) fn kept_by_folder(&self) -> impl Iterator<Item = (&Path, &[Entry])> {
        let folders = self.folders.iter().filter(|(_, folder)| !folder.kept.is_empty());
        folders.map(|(path, folder)| (path.as_path(), &folder.kept[..]))
    }

    /// Returns every folder, and whether its entries are the same as at a time.
    pub(crate) fn folders_since(&self, time: SystemTime) -> impl Iterator<Item = (PathBuf, bool)> {
        self.folders.iter().map(move |(path, folder)| (path.clone(), folder.stamp.is_before(time)))
    }

    /// Returns the updated index of another root with the same interest.
    pub(crate) fn other(&mut self, root: &Path, now: SystemTime) -> Result<&Self, TreeError> {
        if root == self.root {
            return Ok(self);
        }
        let (tree, error) = self.other_partial(root, now);
        error.map_or(Ok(tree), Err)
    }

    /// Like [`Self::other`], but also returns an index that could only be read in part.
    pub(crate) fn other_partial(&mut self, root: &Path, now: SystemTime) -> (&Self, Option<TreeError>) {
        if root == self.root {
            return (self, None);
        }
        let most = self.most;
        let tree = self.others.entry(root.to_path_buf()).or_insert_with(|| Self { most, ..Self::default() });
        let error = tree.refresh(root, &self.interest, now).err();
        (tree, error)
    }
}

/// Returns whether this is the object store of a git repository: thousands of folders without a name of interest.
fn is_store(folder: &Path, name: &OsStr) -> bool {
    name == "objects" && folder.file_name().is_some_and(|folder| folder == ".git")
}

/// Returns whether this is a virtual file system of the kernel, which contains no user files but many entries per
/// process.
fn is_kernels(folder: &Path, name: &OsStr) -> bool {
    folder.parent().is_none() && (name == "proc" || name == "sys")
}
