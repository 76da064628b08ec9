//! Files of texts in the making. Invariant: whoever writes one holds its lock, so one without a lock was left by a
//! process that is no more, and may go at once, whatever its age.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::db::{create_private_folder, private_file_options};
use crate::error::{Result, StoreError, from_system};

/// Where they lie, within the folder of texts: listing it costs nothing, since it is nearly always empty.
pub(super) const FOLDER: &str = "parts";

/// A file in the making. It is removed when nobody holds it any more, unless it has got another name by then.
pub(super) struct Part {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Part {
    /// Makes a new file in the folder of texts and locks it.
    pub(super) fn create(blobs: &Path) -> Result<Self> {
        let folder = blobs.join(FOLDER);
        create_private_folder(blobs)?;
        create_private_folder(&folder)?;
        loop {
            let path = folder.join(format!("{}.part", random_name(&folder)?));
            let file =
                private_file_options().create_new(true).open(&path).map_err(|error| from_system(&path, &error))?;
            // Another process may have taken the file for an orphan before the lock was there.
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => continue,
                // Where the system has no such locks, age decides instead.
                Ok(()) | Err(TryLockError::Error(_)) if path.exists() => return Ok(Self { path, file, length: 0 }),
                Ok(()) | Err(TryLockError::Error(_)) => continue,
            }
        }
    }

    /// Writes more to it.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| from_system(&self.path, &error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Waits for the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| from_system(&self.path, &error))
    }

    /// Gives it its name.
    pub(super) fn rename(&self, to: &Path) -> Result<()> {
        std::fs::rename(&self.path, to).map_err(|error| from_system(to, &error))
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // With its final name it is not there any more, and there is nothing to remove.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes what killed processes left. Returns how many files those were.
pub(super) fn sweep(blobs: &Path) -> usize {
    let Ok(files) = std::fs::read_dir(blobs.join(FOLDER)) else { return 0 };
    files.flatten().filter(|file| is_orphan(&file.path()) && std::fs::remove_file(file.path()).is_ok()).count()
}

fn is_orphan(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => super::is_old(path),
    }
}

fn random_name(folder: &Path) -> Result<String> {
    let mut name = [0u8; 12];
    getrandom::fill(&mut name)
        .map_err(|error| StoreError::Unusable { path: folder.to_owned(), detail: format!("no randomness: {error}") })?;
    Ok(name.iter().map(|byte| format!("{byte:02x}")).collect())
}
