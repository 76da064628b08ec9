//! Finds files that the log does not know. Invariant: a file is removed only if it is certain that this log could have
//! written it and does not know it.

use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use rusqlite::{Connection, Transaction};

use super::{Blobs, is_old, named};
use crate::error::{Fault, Result, StoreError};
use crate::layout::StorePart;

/// Files that no row refers to.
pub(crate) struct Orphans {
    /// Number of unfinished files that were already removed.
    parts: usize,
    pub(crate) files: Vec<PathBuf>,
}

impl Blobs {
    /// Returns files that no row refers to, left by killed processes. Recent ones are skipped, since another process
    /// may be about to commit them, and so are those of another log. Unfinished ones have locks, so those without one
    /// are removed at once.
    pub(crate) fn orphans(&self, db: &Connection) -> Result<Orphans, Fault> {
        let parts = self.remove_unfinished();
        let begun = begun_at(db)?;
        let mut files = self.unnamed(db)?;
        files.retain(|path| is_old(path) && !is_from_before(path, begun));
        Ok(Orphans { parts, files })
    }

    /// Returns files that no row refers to and that are older than the log. The log that knew them is gone, so they are
    /// never removed.
    pub(crate) fn strays(&self, db: &Connection) -> Result<Vec<PathBuf>, Fault> {
        let begun = begun_at(db)?;
        let mut files = self.unnamed(db)?;
        files.retain(|path| hash_of(path).is_some() && is_from_before(path, begun));
        Ok(files)
    }

    /// Returns how many files are named like texts.
    pub(crate) fn count_texts(&self) -> Result<usize> {
        Ok(self.files()?.iter().filter(|path| hash_of(path).is_some()).count())
    }

    /// Returns the files that no row refers to.
    fn unnamed(&self, db: &Connection) -> Result<Vec<PathBuf>, Fault> {
        let mut unnamed = Vec::new();
        for path in self.files()? {
            if !hash_of(&path).map_or(Ok(false), |hash| named(db, &hash))? {
                unnamed.push(path);
            }
        }
        Ok(unnamed)
    }

    /// Removes the files that still no row refers to. Returns how many files were removed, including unfinished ones.
    pub(crate) fn remove_orphans(&self, tx: &Transaction<'_>, orphans: &Orphans) -> Result<usize, Fault> {
        let mut removed = orphans.parts;
        for path in &orphans.files {
            let known = hash_of(path).map_or(Ok(false), |hash| named(tx, &hash))?;
            removed += usize::from(!known && std::fs::remove_file(path).is_ok());
        }
        Ok(removed)
    }

    fn files(&self) -> Result<Vec<PathBuf>> {
        match std::fs::read_dir(&self.folder) {
            Ok(files) => Ok(files.flatten().map(|file| file.path()).filter(|path| !path.is_dir()).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StoreError::unusable(StorePart::Blobs, &error)),
        }
    }
}

/// Returns the hash that a file is named after.
fn hash_of(path: &Path) -> Option<blake3::Hash> {
    path.file_stem().and_then(|stem| stem.to_str()).and_then(|hex| blake3::Hash::from_hex(hex).ok())
}

/// Returns when the log was created, in seconds since 1970.
fn begun_at(db: &Connection) -> rusqlite::Result<u64> {
    let sql = "SELECT coalesce(unixepoch(min(applied_at)), 0) FROM migrations";
    db.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|begun| begun.max(0).cast_unsigned())
}

/// Returns whether a file was last written before the log was created.
fn is_from_before(path: &Path, begun: u64) -> bool {
    let begun = UNIX_EPOCH + Duration::from_secs(begun);
    path.metadata().and_then(|about| about.modified()).is_ok_and(|modified| modified < begun)
}
