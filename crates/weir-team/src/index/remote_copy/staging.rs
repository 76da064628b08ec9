//! The files of one commit, held while they are copied. Invariant: they are links to files that never change, in a
//! folder that is deleted when the copy ends, or when the index is opened the next time.

use std::path::{Path, PathBuf};
use std::{fs, io};

use weir_ledger::private;
use weir_records::Result;

use super::super::TantivyIndex;
use super::super::error::{from_engine, from_system};

/// The folder of the links, in the folder of the index.
const STAGING: &str = "copying";

/// The files of one commit.
pub(super) struct Staging {
    folder: PathBuf,
    names: Vec<String>,
}

impl Staging {
    /// Links the files of the last commit.
    pub(super) fn of(index: &TantivyIndex, doing: &str) -> Result<Self> {
        let failed = |error: io::Error| from_system(&error, doing);
        clear_staging(&index.folder).map_err(failed)?;
        let mut staging = Self { folder: index.folder.join(STAGING), names: Vec::new() };
        private::folder(&staging.folder).map_err(failed)?;
        staging.names = index.link_files(&staging.folder).map_err(|error| from_engine(&error, doing))?;
        Ok(staging)
    }

    /// Returns the names of the files.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns where a file is.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What cannot be deleted now is deleted before the next copy, or when the index is opened.
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// Deletes what a copy that was killed has left in the folder of an index.
pub(in crate::index) fn clear_staging(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(STAGING)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
