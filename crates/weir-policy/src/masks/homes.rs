//! What a run sees of home folders: only the paths named here or by the user.
//!
//! Invariants:
//! - No covered folder is below another.
//! - Every shown path exists and is free of symbolic links.
//! - A link on the way to a shown path is shown as a link.

use std::collections::BTreeSet;
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

impl Homes {
    /// Decides what to show of the home folder in `places` and of the usual home locations. `needed` are paths that the
    /// run requires wherever they are: its programs, and what belongs to the project.
    pub fn of(rules: &Rules, places: &Places, needed: &[PathBuf]) -> Self {
        let mut homes = Self { covered: covered(&places.home), ..Self::default() };
        // The home folder itself may be a link.
        let home = homes.follow(&places.home).unwrap_or_else(|| places.home.clone());
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
        let toolchains = below_all(&places.home, TOOLCHAINS.iter().copied()).into_iter();
        let shared = SHARED.iter().map(PathBuf::from);
        let mut shown = BTreeSet::new();
        for path in toolchains.chain(shared).chain(needed.iter().cloned()) {
            // No entry of these lists may show a whole home folder.
            shown.extend(homes.follow(&path).filter(|path| !homes.holds_home(path, places)));
        }
        for path in readable {
            shown.extend(homes.follow(&path));
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
    fn follow(&mut self, path: &Path) -> Option<PathBuf> {
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
                    if fs::symlink_metadata(&here).ok()?.is_symlink() {
                        links += 1;
                        let target = fs::read_link(&here).ok().filter(|_| links <= MAX_LINKS)?;
                        if self.covers(&here) {
                            self.links.push((here, target.clone()));
                        }
                        waiting.push(target);
                    } else {
                        real = here;
                    }
                }
            }
        }
        Some(real)
    }
}

/// Returns the folders to cover: the home folder and the usual home locations, except the root folder.
fn covered(home: &Path) -> Vec<PathBuf> {
    let all = [home].into_iter().chain(HOMES.iter().map(Path::new)).filter_map(|folder| folder.canonicalize().ok());
    let real = all.filter(|folder| folder.is_dir() && folder.parent().is_some());
    super::expand::outermost(real.collect())
}
