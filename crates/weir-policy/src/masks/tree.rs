//! An index of a project's folders, kept between runs: which names of interest stand where.
//!
//! Invariant: a folder is listed again when its identity or its times changed, or when it was changed so recently that its
//! times may not tell. Links are never followed. A tree that is too big is an error, not a short answer.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::names::Matcher;

/// How many entries a tree may have.
pub const MAX_ENTRIES: usize = 1_000_000;

/// How long the times of a folder are not trusted after a change: some file systems count in whole or double seconds.
const UNSETTLED: Duration = Duration::from_secs(2);

/// Why a tree could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TreeError {
    /// There is more in it than we look at.
    #[error("{} holds more than {MAX_ENTRIES} files and folders", .0.display())]
    TooBig(PathBuf),
    /// Its root cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Root {
        /// The root.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// The names that are worth keeping. Names are compared without regard to case; whole paths are looked at later.
#[derive(Debug, Clone, Default)]
pub struct Interest {
    /// The patterns themselves, by which two interests are told apart.
    patterns: Vec<String>,
    /// Names without stars that count only outside of folders that tools fill, where such names stand by the thousand.
    own: Vec<String>,
    /// Made when the first name is asked about: a tree that is up to date asks about none.
    matchers: OnceCell<Matchers>,
}

#[derive(Debug, Clone, Default)]
struct Matchers {
    everywhere: Matcher,
    own: HashSet<String>,
}

impl Interest {
    /// An interest in names and globs of names. A glob that is not understood is taken for a name.
    pub fn of<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Self {
        Self { patterns: sorted(patterns), ..Self::default() }
    }

    /// The same, with names that are worth keeping only outside of folders that tools fill.
    pub fn and_own<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Self {
        Self { own: sorted(names), ..self }
    }

    fn is_same(&self, other: &Self) -> bool {
        self.patterns == other.patterns && self.own == other.own
    }

    fn keeps(&self, name: &OsStr, is_filled: bool) -> bool {
        let name = name.to_string_lossy().to_lowercase();
        let Matchers { everywhere, own } = self.matchers.get_or_init(|| Matchers {
            everywhere: Matcher::of(&self.patterns),
            own: self.own.iter().cloned().collect(),
        });
        everywhere.matches(&name) || (!is_filled && own.contains(&name))
    }
}

fn sorted<'a>(patterns: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut patterns: Vec<String> = patterns.into_iter().map(str::to_lowercase).collect();
    patterns.sort();
    patterns.dedup();
    patterns
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A socket, a pipe or a device.
    Other,
}

/// A name of interest in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: OsString,
    /// What it stands for.
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

/// What tells one state of a file or folder from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    identity: (u64, u64),
    changed: SystemTime,
    /// The time of the last change of anything, which no program can set back.
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

    /// As text, which [`Self::from_text`] reads.
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

    /// Whether the last change was so long ago that a later one would show.
    fn is_settled(&self, now: SystemTime) -> bool {
        let seconds = u64::try_from(self.touched.0).unwrap_or(0);
        let touched = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).unwrap_or(now);
        let last = self.changed.max(touched);
        now.duration_since(last).is_ok_and(|age| age > UNSETTLED)
    }
}

/// How much a refresh had to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Folders that were listed.
    pub listed: usize,
    /// Folders that had not changed.
    pub reused: usize,
    /// Files and folders below the root.
    pub entries: usize,
}

/// What is looked at of a root that is too large to be looked at as a whole.
#[derive(Debug, Clone, Default)]
pub struct Nearest {
    /// As many entries, those nearest to the root first.
    pub most: usize,
    /// Folders that are looked at as a whole, unless they are the root itself.
    pub whole: Vec<PathBuf>,
}

impl Nearest {
    /// Whether a folder is, holds or lies in one that is looked at as a whole.
    fn is_wanted(&self, path: &Path, root: &Path) -> bool {
        let mut whole = self.whole.iter().filter(|whole| *whole != root);
        whole.any(|whole| whole.starts_with(path) || path.starts_with(whole))
    }
}

/// The index of one root, and of others that rules ask about.
#[derive(Debug, Default)]
pub struct Tree {
    /// How many entries it may have, where that is not [`MAX_ENTRIES`].
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
    /// An empty tree, to be refreshed.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with room for a given number of entries.
    pub fn holding(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// Looks at what is nearest to the root only from now on; at everything with `None`.
    pub fn look_at_nearest(&mut self, nearest: Option<Nearest>) {
        self.nearest = nearest;
    }

    /// Whether something was left out at the last refresh, since it lies too deep.
    pub fn left_out(&self) -> bool {
        self.left_out
    }

    /// The root as of the last refresh.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Folders that could not be listed, and so could hold anything.
    pub fn unreadable(&self) -> &[PathBuf] {
        &self.unreadable
    }

    /// Brings the index up to date. A new interest or a new root starts it over.
    pub fn refresh(&mut self, root: &Path, interest: &Interest, now: SystemTime) -> Result<Refreshed, TreeError> {
        if self.root != root || !self.interest.is_same(interest) {
            let (root, interest) = (root.to_path_buf(), interest.clone());
            *self = Self { most: self.most, nearest: self.nearest.take(), root, interest, ..Self::default() };
        }
        self.again(now)
    }

    /// Brings the index up to date with the root and the interest of the last time. When there is too much, it holds what
    /// is nearest to the root.
    pub fn again(&mut self, now: SystemTime) -> Result<Refreshed, TreeError> {
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

    /// A folder as it is now, or nothing when it is gone or is none any more.
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
        // The stamp is taken before the listing, so that a change in between shows the next time.
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

    /// Every name of interest, with the folder it is in.
    pub fn kept(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.folders.iter().flat_map(|(path, folder)| folder.kept.iter().map(move |entry| (path.as_path(), entry)))
    }

    /// The same by the folder they are in.
    pub(crate) fn kept_by_folder(&self) -> impl Iterator<Item = (&Path, &[Entry])> {
        let folders = self.folders.iter().filter(|(_, folder)| !folder.kept.is_empty());
        folders.map(|(path, folder)| (path.as_path(), &folder.kept[..]))
    }

    /// Every folder, with the names of the folders in it.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&Path, &[OsString])> {
        self.folders.iter().map(|(path, folder)| (path.as_path(), &folder.folders[..]))
    }

    /// The index of another root with the same interest, brought up to date.
    pub(crate) fn other(&mut self, root: &Path, now: SystemTime) -> Result<&Self, TreeError> {
        if root == self.root {
            return Ok(self);
        }
        let (tree, error) = self.other_in_part(root, now);
        error.map_or(Ok(tree), Err)
    }

    /// The same, also when it could be read in part only.
    pub(crate) fn other_in_part(&mut self, root: &Path, now: SystemTime) -> (&Self, Option<TreeError>) {
        if root == self.root {
            return (self, None);
        }
        let most = self.most;
        let tree = self.others.entry(root.to_path_buf()).or_insert_with(|| Self { most, ..Self::default() });
        let error = tree.refresh(root, &self.interest, now).err();
        (tree, error)
    }
}

/// The objects of a git repository: thousands of folders without a name that anyone could be interested in.
fn is_store(folder: &Path, name: &OsStr) -> bool {
    name == "objects" && folder.file_name().is_some_and(|folder| folder == ".git")
}

/// What the kernel shows of itself: no file of anybody's, and of processes more than of all files.
fn is_kernels(folder: &Path, name: &OsStr) -> bool {
    folder.parent().is_none() && (name == "proc" || name == "sys")
}
