//! Finds what exists of patterns below a folder.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use globset::GlobBuilder;

use crate::names::stars_match;

/// What exists of many patterns below a folder, most of which do not exist.
pub(super) fn below_all<'a>(base: &Path, patterns: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    let mut listings = Listings::default();
    // Looking for every one of them takes longer than to list the folder once. One that cannot be listed says nothing.
    let listed = fs::read_dir(base).ok();
    let names: Option<HashSet<OsString>> = listed.map(|all| all.flatten().map(|entry| entry.file_name()).collect());
    let may_be = |pattern: &&str| match (&names, pattern.split('/').next()) {
        (Some(names), Some(first)) if !first.contains('*') => names.contains(OsStr::new(first)),
        _ => true,
    };
    patterns.filter(may_be).flat_map(|pattern| listings.below(base, pattern)).collect()
}

/// Folders that were listed, so that many patterns list each of them once.
#[derive(Debug, Default)]
pub(super) struct Listings {
    names: HashMap<PathBuf, Vec<OsString>>,
}

impl Listings {
    /// What exists of a pattern below a folder, level by level.
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
        // A name with stars needs no glob, which takes longer to make than to use.
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
