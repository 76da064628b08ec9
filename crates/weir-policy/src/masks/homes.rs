//! What a run sees of home folders: only the paths named here or by the user.
//!
//! Invariants:
//! - No covered folder is below another.
//! - Every shown path exists and is free of symbolic links.
//! - A link on the way to a shown path is shown as a link.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::below::{Listings, below_all};
use super::toolchains::{HOMES, SHARED, TOOLCHAINS};
use crate::rules::{Places, Rules};

/// Maximum number of links on the way to a path, the same as in the kernel.
const MAX_LINKS: usize = 40;

/// The folders that are hidden as a whole, and the paths in them that are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes {
    /// Folders in which only the shown paths are visible.
    pub covered: Vec<PathBuf>,
    /// Paths in them that are shown.
    pub shown: Vec<PathBuf>,
    /// Symbolic links to show, with their targets.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Folders on the way to a path that were just found not to be links, so that the parents of many paths are looked at
/// once. Kept only while one run is planned.
type PlainParents = HashSet<PathBuf>;

/// What a run requires, wherever it is.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// Folders of programs, which are shown with the prefix that the programs were installed in.
    pub programs: BTreeSet<PathBuf>,
    /// Other paths: its own program, what variables name, and what belongs to the project.
    pub paths: Vec<PathBuf>,
}

impl Homes {
    /// Decides what to show of the home folder in `places` and of the usual home locations.
    pub fn of(rules: &Rules, places: &Places, needed: &Requirements) -> Self {
        let mut homes = Self { covered: covered(&places.home), ..Self::default() };
        let mut parents = PlainParents::new();
        // The home folder itself may be a link.
        let home = homes.follow(&places.home, &mut parents).unwrap_or_else(|| places.home.clone());
        let places = &Places { home, ..places.clone() };
        let readable = rules.readable().iter().flat_map(|pattern| match (pattern.exact(places), pattern.levels()) {
            (Some(paths), _) => paths,
            (None, Some(levels)) => {
                let levels = levels.join("/");
                pattern.starts(places).iter().flat_map(|start| Listings::default().below(start, &levels)).collect()
            }
            // A pattern that matches at any depth lifts masks but shows nothing more.
            (None, None) => Vec::new(),
        });
        let mut listed: Vec<PathBuf> = Vec::new();
        for folder in &needed.programs {
            let real = homes.follow(folder, &mut parents);
            let prefix = prefix(real.as_deref().unwrap_or(folder));
            let prefix = prefix.and_then(|prefix| homes.follow(prefix, &mut parents));
            listed.extend(real.into_iter().chain(prefix));
        }
        let toolchains = below_all(&places.home, TOOLCHAINS.iter().copied()).into_iter();
        let paths = toolchains.chain(SHARED.iter().map(PathBuf::from)).chain(needed.paths.iter().cloned());
        listed.extend(paths.filter_map(|path| homes.follow(&path, &mut parents)));
        // No entry of these lists may show a whole home folder.
        listed.retain(|path| !homes.holds_home(path, places));
        let mut shown: BTreeSet<PathBuf> = listed.into_iter().collect();
        for path in readable {
            shown.extend(homes.follow(&path, &mut parents));
        }
        homes.shown = shown.into_iter().collect();
        homes.links.sort();
        homes.links.dedup();
        homes
    }

    /// Returns whether a path is in a covered folder.
    pub fn covers(&self, path: &Path) -> bool {
        self.covered.iter().any(|folder| path.starts_with(folder))
    }

    /// Returns whether a path, given without links, is visible.
    pub fn shows(&self, path: &Path) -> bool {
        !self.covers(path) || self.shown.iter().any(|shown| path.starts_with(shown))
    }

    fn holds_home(&self, path: &Path, places: &Places) -> bool {
        places.home.starts_with(path) || self.covered.iter().any(|folder| folder.starts_with(path))
    }

    /// Follows the links in a path, recording those in covered folders. Returns `None` if the path does not exist.
    fn follow(&mut self, path: &Path, parents: &mut PlainParents) -> Option<PathBuf> {
        let mut waiting: Vec<PathBuf> = vec![path.to_path_buf()];
        let mut real = PathBuf::from("/");
        let mut links = 0;
        while let Some(next) = waiting.pop() {
            let mut parts = next.components();
            let Some(part) = parts.next() else { continue };
            let rest = parts.as_path().to_path_buf();
            if !rest.as_os_str().is_empty() {
                waiting.push(rest);
            }
            match part {
                Component::Prefix(_) | Component::RootDir => real = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => drop(real.pop()),
                Component::Normal(name) => {
                    let here = real.join(name);
                    // What a path leads to is looked at in any case.
                    if !waiting.is_empty() && parents.contains(&here) {
                        real = here;
                    } else if fs::symlink_metadata(&here).ok()?.is_symlink() {
                        links += 1;
                        let target = fs::read_link(&here).ok().filter(|_| links <= MAX_LINKS)?;
                        if self.covers(&here) {
                            self.links.push((here, target.clone()));
                        }
                        waiting.push(target);
                    } else {
                        if !waiting.is_empty() {
                            parents.insert(here.clone());
                        }
                        real = here;
                    }
                }
            }
        }
        Some(real)
    }
}

/// Returns the prefix that the programs in a folder were installed in: a folder `bin` has its libraries next to it. A
/// checkout with such a folder is not a toolchain unless its name says so, and neither is `~/.local`.
fn prefix(programs: &Path) -> Option<&Path> {
    let prefix = programs.parent().filter(|_| ["bin", "sbin", "shims"].iter().any(|name| programs.ends_with(name)))?;
    let is_known = TOOLCHAINS.iter().any(|name| prefix.file_name() == Some(OsStr::new(name)));
    let is_other = || prefix.join(".git").exists() || prefix.ends_with(".local");
    (is_known || !is_other()).then_some(prefix)
}

/// Returns the folders to cover: the home folder and the usual home locations, except the root folder.
fn covered(home: &Path) -> Vec<PathBuf> {
    let all = [home].into_iter().chain(HOMES.iter().map(Path::new)).filter_map(|folder| folder.canonicalize().ok());
    let real = all.filter(|folder| folder.is_dir() && folder.parent().is_some());
    super::expand::outermost(real.collect())
}
