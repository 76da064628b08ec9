//! Paths that the user controls, as opposed to paths that a repository, a run or another user decides about.
//!
//! Invariants:
//! - A [`UserPath`] is made only by [`UserPaths`], exists, and is free of symbolic links.
//! - No part of the way to it, links included, is in a folder that runs may change.
//! - No link on the way belongs to another user.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

/// Maximum number of links on the way to a path, the same as in the kernel.
const MAX_LINKS: usize = 40;

/// A path that the user controls. What widens a sandbox accepts no other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UserPath(PathBuf);

impl UserPath {
    /// Returns the path, which is free of links.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Returns the folder that contains the path, which the user then controls as well.
    pub fn parent(&self) -> Option<Self> {
        self.0.parent().map(|parent| Self(parent.to_owned()))
    }
}

/// Why a path is not one that the user controls.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// It does not exist or cannot be read.
    #[error("it does not exist")]
    Missing,
    /// It is in this folder, or reached through it.
    #[error("it is in {}, which runs may change", .0.display())]
    Writable(PathBuf),
    /// This part of the way to it can be changed by another user.
    #[error("another user can change {}", .0.display())]
    Foreign(PathBuf),
}

/// Finds the paths that the user controls, and remembers the links on the way to them.
#[derive(Debug, Default)]
pub struct UserPaths {
    writable: Vec<PathBuf>,
    owners: Vec<u32>,
    links: BTreeSet<(PathBuf, PathBuf)>,
    /// Folders that were just found to be neither links nor foreign, so that the parents of many paths are looked at
    /// once. Kept only while one run is planned.
    plain: HashSet<PathBuf>,
}

impl UserPaths {
    /// `writable` are the folders that runs may change, without links; `owners` are the users that are trusted: this
    /// one and root. Without any, owners are not looked at.
    pub fn new(writable: Vec<PathBuf>, owners: Vec<u32>) -> Self {
        Self { writable, owners, ..Self::default() }
    }

    /// Follows a path. Its folders may belong to anyone, unless they contain a link on the way.
    pub fn find(&mut self, path: &Path) -> Result<UserPath, Untrusted> {
        let mut waiting: Vec<PathBuf> = vec![path.to_path_buf()];
        let mut real = PathBuf::from("/");
        let (mut links, mut foreign) = (0, None);
        while let Some(next) = waiting.pop() {
            let mut parts = next.components();
            let Some(part) = parts.next() else { continue };
            let rest = parts.as_path().to_path_buf();
            if !rest.as_os_str().is_empty() {
                waiting.push(rest);
            }
            let name = match part {
                Component::Normal(name) => name,
                Component::ParentDir => {
                    real.pop();
                    continue;
                }
                Component::CurDir => continue,
                Component::Prefix(_) | Component::RootDir => {
                    real = PathBuf::from("/");
                    continue;
                }
            };
            let here = real.join(name);
            if let Some(root) = self.writable.iter().find(|root| here.starts_with(root)) {
                return Err(Untrusted::Writable(root.clone()));
            }
            // What a path leads to is looked at in any case.
            if !waiting.is_empty() && self.plain.contains(&here) {
                real = here;
                continue;
            }
            let about = fs::symlink_metadata(&here).map_err(|_| Untrusted::Missing)?;
            if is_foreign(&about, &self.owners) {
                foreign = foreign.or_else(|| Some(here.clone()));
            }
            if about.is_symlink() {
                if let Some(foreign) = foreign {
                    return Err(Untrusted::Foreign(foreign));
                }
                links += 1;
                let target = fs::read_link(&here).ok().filter(|_| links <= MAX_LINKS).ok_or(Untrusted::Missing)?;
                self.links.insert((here, target.clone()));
                waiting.push(target);
                continue;
            }
            if !waiting.is_empty() && foreign.is_none() {
                self.plain.insert(here.clone());
            }
            real = here;
        }
        Ok(UserPath(real))
    }

    /// Returns the links that were followed, with their targets, also those on the way to paths that were refused.
    pub fn links(&self) -> impl Iterator<Item = &(PathBuf, PathBuf)> {
        self.links.iter()
    }
}

/// Returns whether someone other than the trusted users may change a file or the entries of a folder.
#[cfg(unix)]
pub fn is_foreign(about: &Metadata, owners: &[u32]) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // Links have no mode of their own. In a folder with the sticky bit, others cannot replace what is there.
    let is_open = !about.is_symlink() && about.mode() & 0o002 != 0 && !(about.is_dir() && about.mode() & 0o1000 != 0);
    !owners.is_empty() && (is_open || !owners.contains(&about.uid()))
}

/// Returns whether someone other than the trusted users may change a file: not known here.
#[cfg(not(unix))]
pub fn is_foreign(_: &Metadata, _: &[u32]) -> bool {
    false
}
