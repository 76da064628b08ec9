//! What a run sees of home folders: nothing but what is named here or by the user.
//!
//! Invariants: a covered folder lies below no other; what is shown exists and has no link in its path; a link on the way
//! to it is shown as a link.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::below::{Listings, below_all};
use super::toolchains::{HOMES, SHARED, TOOLCHAINS};
use crate::rules::{Places, Rules};

/// As many links may lie on the way to a path, as the kernel has it too.
const MOST_LINKS: usize = 40;

/// Which folders are hidden as a whole, and what is shown of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes {
    /// Folders of which nothing is seen but what is shown.
    pub covered: Vec<PathBuf>,
    /// What is shown of them.
    pub shown: Vec<PathBuf>,
    /// Symbolic links to be shown, with what they say.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl Homes {
    /// Decides about the home in `places` and the usual places of others. `needed` are paths that the run cannot do
    /// without, wherever they lie: where its programs are, and what belongs to the project.
    pub fn of(rules: &Rules, places: &Places, needed: &[PathBuf]) -> Self {
        let mut homes = Self { covered: covered(&places.home), ..Self::default() };
        // The home itself may be a link.
        let home = homes.follow(&places.home).unwrap_or_else(|| places.home.clone());
        let places = &Places { home, ..places.clone() };
        let readable = rules.readable().iter().flat_map(|pattern| match (pattern.exact(places), pattern.levels()) {
            (Some(paths), _) => paths,
            (None, Some(levels)) => {
                let levels = levels.join("/");
                pattern.starts(places).iter().flat_map(|start| Listings::default().below(start, &levels)).collect()
            }
            // A pattern of any depth lifts masks, and shows nothing more.
            (None, None) => Vec::new(),
        });
        let toolchains = below_all(&places.home, TOOLCHAINS.iter().copied()).into_iter();
        let shared = SHARED.iter().map(PathBuf::from);
        let mut shown = BTreeSet::new();
        for path in toolchains.chain(shared).chain(needed.iter().cloned()) {
            // Nothing on these lists stands for a whole home.
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

    /// Whether a path lies in a covered folder.
    pub fn covers(&self, path: &Path) -> bool {
        self.covered.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether a path without links can be seen.
    pub fn shows(&self, path: &Path) -> bool {
        !self.covers(path) || self.shown.iter().any(|shown| path.starts_with(shown))
    }

    fn holds_home(&self, path: &Path, places: &Places) -> bool {
        places.home.starts_with(path) || self.covered.iter().any(|folder| folder.starts_with(path))
    }

    /// The path with its links followed; none if it does not exist. Links in covered folders are noted.
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
                        let target = fs::read_link(&here).ok().filter(|_| links <= MOST_LINKS)?;
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

/// The folders that are hidden: the home, and those where homes usually lie. A home that is the root folder is none.
fn covered(home: &Path) -> Vec<PathBuf> {
    let all = [home].into_iter().chain(HOMES.iter().map(Path::new)).filter_map(|folder| folder.canonicalize().ok());
    let real = all.filter(|folder| folder.is_dir() && folder.parent().is_some());
    super::expand::outermost(real.collect())
}
