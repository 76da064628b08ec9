//! The map of a project's files. Invariant: symbols are redacted before they are stored, and the log contains no part
//! of the map.

use weir_core::Scope;

use super::{Store, redacted_text};
use crate::db::{Db, Durability};
use crate::error::Result;
use crate::index::map::{self, MapFile};

/// An update to the map of a folder.
#[derive(Debug, Default)]
pub struct MapChange {
    pub files: Vec<MapFile>,
    /// Files whose contents have not changed, with their new modification times.
    pub restamped: Vec<(String, i64)>,
    /// Files that no longer exist.
    pub gone: Vec<String>,
}

impl MapChange {
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.restamped.is_empty() && self.gone.is_empty()
    }
}

impl Store {
    /// Returns the files of a folder, or of a part of it, as the map has them, without their symbols.
    pub fn map_files(&mut self, scope: &Scope, root: &str, part: &str) -> Result<Vec<MapFile>> {
        self.map(scope)?.read_at_once(|c| map::files(c, root, part))
    }

    /// Returns the words under which the files of a folder are found.
    pub fn map_words(&mut self, scope: &Scope, root: &str) -> Result<Vec<(String, Vec<u8>)>> {
        self.map(scope)?.read_at_once(|c| map::words(c, root))
    }

    /// Returns the symbols of some files of a folder, one per line.
    pub fn map_symbols(&mut self, scope: &Scope, root: &str, files: &[&str]) -> Result<Vec<String>> {
        self.map(scope)?.read_at_once(|c| map::symbols(c, root, files))
    }

    pub fn update_map(&mut self, scope: &Scope, root: &str, mut change: MapChange) -> Result<()> {
        for file in &mut change.files {
            file.symbols = redacted_text(&file.symbols);
        }
        self.map(scope)?.write(Durability::Process, |tx| {
            map::update(tx, root, &change.files, &change.gone)?;
            map::restamp(tx, root, &change.restamped)
        })
    }

    /// Returns the commit up to which a folder's history was read, and what its commits changed.
    pub fn map_commits(&mut self, scope: &Scope, root: &str) -> Result<Option<(String, String)>> {
        self.map(scope)?.read(|c| map::commits(c, root))
    }

    /// Stores what a folder's commits changed, up to the commit `head`.
    pub fn keep_map_commits(&mut self, scope: &Scope, root: &str, head: &str, commits: &str) -> Result<()> {
        self.map(scope)?.write(Durability::Process, |tx| map::set_commits(tx, root, head, commits))
    }

    pub fn mapped_folders(&mut self, scope: &Scope) -> Result<Vec<String>> {
        self.map(scope)?.read(map::roots)
    }

    pub fn drop_map(&mut self, scope: &Scope, root: &str) -> Result<()> {
        self.map(scope)?.write(Durability::Process, |tx| map::drop_root(tx, root))
    }

    fn map(&mut self, scope: &Scope) -> Result<&mut Db> {
        self.check_scope(scope)?;
        self.opened_index()
    }
}
