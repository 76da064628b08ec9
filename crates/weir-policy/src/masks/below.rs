//! Finds the existing paths below a folder that match patterns.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::names::stars_match;

/// Finds the existing paths below a folder for many patterns, most of which match nothing.
pub(super) fn below_all<'a>(base: &Path, patterns: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    let mut listings = Listings::default();
    // Listing the folder once is faster than looking up every pattern. If it cannot be listed, try all of them.
    let listed = fs::read_dir(base).ok();
    let names: Option<HashSet<OsString>> = listed.map(|all| all.flatten().map(|entry| entry.file_name()).collect());
    let may_be = |pattern: &&str| match (&names, pattern.split('/').next()) {
        (Some(names), Some(first)) if !first.contains('*') => names.contains(OsStr::new(first)),
        _ => true,
    };
    patterns.filter(may_be).flat_map(|pattern| listings.below(base, pattern)).collect()
}

/// A cache of folder listings: each folder is listed only once, however many patterns there are.
#[derive(Debug, Default)]
pub(super) struct Listings {
    names: HashMap<PathBuf, Vec<OsString>>,
}

impl Listings {
    /// Finds the existing paths below a folder that match a pattern, level by level.
    pub(super) fn below(&mut self, base: &Path, pattern: &str) -> Vec<PathBuf> {
        let mut found = vec![base.to_path_buf()];
        for part in pattern.split('/') {
            found = found.into_iter().flat_map(|folder| self.named(&folder, part)).collect();
        }
        found
    }

    fn named(&mut self, folder: &Path, part: &str) -> Vec<PathBuf> {
        if !part.contains(['*', '?', '[', '{', '\\']) {
            let path = folder.join(part);
            return if fs::symlink_metadata(&path).is_ok() { vec![path] } else { Vec::new() };
        }
        let names = self.names.entry(folder.to_owned()).or_insert_with(|| {
            fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name()).collect()
        });
        let names = names.iter();
        // A name with stars needs no glob, which takes longer to compile than to use.
        if !part.contains(['?', '[', '{', '\\']) && part != "**" {
            return names
                .filter(|name| stars_match(part, &name.to_string_lossy()))
                .map(|name| folder.join(name))
                .collect();
        }
        let Ok(glob) = GlobBuilder::new(part).literal_separator(true).build() else { return Vec::new() };
        let glob = glob.compile_matcher();
        names.filter(|name| glob.is_match(name)).map(|name| folder.join(name)).collect()
    }
}
