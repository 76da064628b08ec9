//! What a run sees of home folders: only the paths named here or by the user.
//!
//! Invariants:
//! - No covered folder is below another.
//! - Every shown path exists and is free of symbolic links.
//! - A link on the way to a shown path is shown as a link.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::below::{Listings, below_all};
use super::toolchains::{HOMES, SHARED, TOOLCHAINS};
use crate::rules::{Places, Rules};
use crate::user_paths::{UserPath, UserPaths};

/// Entries of a prefix that are a sign of an installation.
const SIGNS: &[&str] = &["lib", "lib64", "libexec", "share", "include", "pyvenv.cfg", "conda-meta"];

/// The maximum number of entries of a folder of programs that are looked at.
const MAX_LINKED: usize = 2_000;

/// The folders that are hidden as a whole, and the paths in them that are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Homes {
    /// Folders in which only the shown paths are visible.
    pub covered: Vec<PathBuf>,
    pub shown: Vec<PathBuf>,
    /// Symbolic links to show, with their targets.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// What a run requires, wherever it is.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    /// Folders of programs, which are shown with the prefix that the programs were installed in.
    pub programs: BTreeSet<UserPath>,
    /// Other paths: its own program, what variables name, and what belongs to the project.
    pub paths: Vec<UserPath>,
}

impl Homes {
    /// Decides what to show of the home folder in `places` and of the usual home locations. `paths` knows the folders
    /// that runs may change: what is in them is shown with them, and nothing in them decides what else is shown.
    pub fn of(rules: &Rules, places: &Places, needed: &Requirements, paths: &mut UserPaths) -> Self {
        let mut homes = Self { covered: covered(&places.home), ..Self::default() };
        // The home folder itself may be a link.
        let home = paths.find(&places.home).map_or_else(|_| places.home.clone(), |home| home.as_path().to_owned());
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
        let mut programs = needed.programs.clone();
        for folder in needed.programs.iter().filter(|folder| holds_programs(folder) && homes.covers(folder.as_path())) {
            programs.extend(linked(folder, paths));
        }
        let prefixes = programs.iter().filter_map(prefix);
        let mut listed: Vec<UserPath> = programs.iter().cloned().chain(prefixes).collect();
        listed.extend(needed.paths.iter().cloned());
        let toolchains = below_all(&places.home, TOOLCHAINS.iter().copied()).into_iter();
        let toolchains = toolchains.chain(SHARED.iter().map(PathBuf::from));
        listed.extend(toolchains.filter_map(|path| paths.find(&path).ok()));
        // No entry of these lists may show a whole home folder.
        listed.retain(|path| !homes.holds_home(path.as_path(), places));
        let named = readable.filter_map(|path| paths.find(&path).ok());
        let shown: BTreeSet<UserPath> = listed.into_iter().chain(named).collect();
        homes.shown = shown.iter().map(|path| path.as_path().to_owned()).collect();
        homes.links = paths.links().filter(|(link, _)| homes.covers(link)).cloned().collect();
        homes
    }

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
}

/// Returns what the links in a folder of programs lead to: tools are often installed in folders of their own, and
/// linked from one folder. A program that is not in a folder of programs is returned alone.
fn linked(programs: &UserPath, paths: &mut UserPaths) -> Vec<UserPath> {
    let entries = fs::read_dir(programs.as_path()).into_iter().flatten().flatten().take(MAX_LINKED);
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let targets: BTreeSet<UserPath> = links.filter_map(|link| paths.find(&link.path()).ok()).collect();
    let files = targets.into_iter().filter(|target| target.as_path().is_file());
    files.map(|target| target.parent().filter(holds_programs).unwrap_or(target)).collect()
}

fn holds_programs(folder: &UserPath) -> bool {
    ["bin", "sbin", "shims"].iter().any(|name| folder.as_path().ends_with(name))
}

/// Returns the prefix that the programs in a folder were installed in: a folder `bin` has its libraries next to it. A
/// checkout with such a folder is not a toolchain unless its name says so, and neither are `~/.local` and a folder of
/// checkouts.
fn prefix(programs: &UserPath) -> Option<UserPath> {
    let found = programs.parent().filter(|_| holds_programs(programs))?;
    let prefix = found.as_path();
    let is_known = TOOLCHAINS.iter().any(|name| prefix.file_name() == Some(OsStr::new(name)));
    let is_installation = || SIGNS.iter().any(|name| prefix.join(name).exists());
    let is_other = || prefix.join(".git").exists() || prefix.ends_with(".local") || has_checkouts(prefix);
    (is_known || (is_installation() && !is_other())).then_some(found)
}

/// Returns whether there are git checkouts directly below a folder, or whether that cannot be told.
fn has_checkouts(folder: &Path) -> bool {
    let Ok(mut entries) = fs::read_dir(folder) else { return true };
    entries.any(|entry| entry.is_ok_and(|entry| entry.path().join(".git").symlink_metadata().is_ok()))
}

/// Returns the folders to cover: the home folder and the usual home locations, except the root folder.
fn covered(home: &Path) -> Vec<PathBuf> {
    let all = [home].into_iter().chain(HOMES.iter().map(Path::new)).filter_map(|folder| folder.canonicalize().ok());
    let real = all.filter(|folder| folder.is_dir() && folder.parent().is_some());
    super::expand::outermost(real.collect())
}
