//! Files of unfinished texts. Invariant: the process that writes a file holds its lock. A file without a lock was left
//! by a process that has ended and may be removed at once, whatever its age.

use std::fs::{File, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_ledger::private;

use crate::db::{create_private_folder, private_file_options};
use crate::error::{Result, StoreError, from_system};
use crate::layout::StorePart;

/// Folder of the unfinished texts within the folder of texts. It is nearly always empty, so listing it costs nothing.
pub(super) const FOLDER: &str = "parts";

/// An unfinished file. It is removed on drop, unless it has been renamed by then.
pub(super) struct PartFile {
    path: PathBuf,
    file: File,
    length: u64,
}

impl PartFile {
    /// Creates a new file in the folder of texts and locks it.
    pub(super) fn create(blobs: &Path) -> Result<Self> {
        let folder = blobs.join(FOLDER);
        create_private_folder(StorePart::Blobs, blobs)?;
        create_private_folder(StorePart::Blobs, &folder)?;
        loop {
            let path = folder.join(format!("{}.part", random_name()?));
            let file = private::open(&path, private_file_options().create_new(true))
                .map_err(|error| from_system(unfinished(&path), &error))?;
            // Another process may have taken the file for an orphan before it was locked.
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {}
                // On systems without such locks, the age of the file decides instead.
                Ok(()) | Err(TryLockError::Error(_)) if has_a_name(&file, &path) => {
                    return Ok(Self { path, file, length: 0 });
                }
                Ok(()) | Err(TryLockError::Error(_)) => {}
            }
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(|error| from_system(self.part(), &error))?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Waits until the file is on the disk.
    pub(super) fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| from_system(self.part(), &error))
    }

    pub(super) fn rename(&self, to: &Path) -> Result<()> {
        std::fs::rename(&self.path, to).map_err(|error| match error.kind() {
            // Without the name of the source, the message would say that a stored text is missing.
            std::io::ErrorKind::NotFound => {
                let detail = format!("it is gone and cannot be renamed to {}", name_of(to));
                StoreError::unusable(self.part(), &std::io::Error::other(detail))
            }
            _ => from_system(StorePart::Blob(name_of(to)), &error),
        })
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn part(&self) -> StorePart {
        unfinished(&self.path)
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        // After a rename, there is nothing left to remove at this path.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn unfinished(path: &Path) -> StorePart {
    StorePart::Blob(format!("{FOLDER}/{}", name_of(path)))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Removes the files that killed processes left. Returns how many there were.
pub(super) fn sweep(blobs: &Path) -> usize {
    let Ok(files) = std::fs::read_dir(blobs.join(FOLDER)) else { return 0 };
    files.flatten().filter(|file| remove_orphan(&file.path())).count()
}

/// Removes a file that no process holds. Keeps the lock until the file is gone, so that a process that has just created
/// the file and takes the lock next sees that it no longer has a name.
fn remove_orphan(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let is_orphan = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => super::is_old(path),
    };
    is_orphan && std::fs::remove_file(path).is_ok()
}

/// Returns whether the open file is still reachable. Its path may lead to another file by now, so the link count
/// decides.
#[cfg(unix)]
fn has_a_name(file: &File, _path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|about| about.nlink() > 0)
}

#[cfg(not(unix))]
fn has_a_name(_file: &File, path: &Path) -> bool {
    path.exists()
}

pub(crate) fn random_name() -> Result<String> {
    let mut name = [0u8; 12];
    let unusable = |error| StoreError::unusable(StorePart::RandomSource, &std::io::Error::other(error));
    getrandom::fill(&mut name).map_err(unusable)?;
    Ok(name.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Runs one race: some threads sweep while parts are created. Returns how many parts lost their file.
    fn race(parts: usize) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        sweep(folder.path());
                    }
                });
            }
            let made = (0..parts).map(|_| PartFile::create(folder.path()).unwrap());
            let gone = made.filter(|part| !part.path.exists()).count();
            over.store(true, Ordering::Relaxed);
            gone
        })
    }

    #[test]
    fn a_file_that_was_just_created_is_never_swept() {
        assert_eq!(race(3_000), 0);
    }

    #[test]
    #[ignore = "takes a minute"]
    fn nightly_a_thousand_races_sweep_no_file_in_use() {
        let gone: usize = (0..1_000).map(|_| race(100)).sum();
        assert_eq!(gone, 0);
    }

    #[test]
    fn a_part_without_its_file_is_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let part = PartFile::create(folder.path()).unwrap();
        std::fs::remove_file(&part.path).unwrap();
        let error = part.rename(&folder.path().join("a.zst")).unwrap_err().to_string();
        assert!(error.contains(".part") && error.contains("a.zst"), "{error}");
    }
}
