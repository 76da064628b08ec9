//! Temporary folders, which may take the place of others. Invariant: a folder is replaced in one step.

use std::fs::File;
use std::path::{Path, PathBuf};

use weir_store::private;

use crate::error::{CommandError, ErrorKind};
use crate::os;
use crate::random;

/// A temporary folder. It is removed on drop, and the next command removes what a killed one left.
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

const SCRATCH: &str = ".making-";
/// The extension of the lock file next to the folder, which shows that a process is working.
const LOCK: &str = "lock";

impl Scratch {
    /// Creates one below a folder, which is created if it does not exist.
    pub fn new(within: &Path) -> Result<Self, CommandError> {
        let failed = |error: std::io::Error| cannot_use(within, &error);
        private::folder(within).map_err(failed)?;
        sweep(within);
        loop {
            let path = within.join(format!("{SCRATCH}{}", random::name()?));
            let lock =
                private::open(&path.with_extension(LOCK), private::options().create_new(true)).map_err(failed)?;
            lock.lock().map_err(failed)?;
            // Another process may have taken the lock file for a leftover before it was locked.
            if path.with_extension(LOCK).exists() {
                private::folder(&path).map_err(failed)?;
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces a folder by `inner` in one step. Returns where the replaced folder is now.
    pub fn put_in_place(&self, inner: &Path, folder: &Path) -> Result<Option<PathBuf>, CommandError> {
        let failed = |error: std::io::Error| cannot_use(folder, &error);
        let replaces = folder.try_exists().map_err(failed)?;
        if replaces {
            exchange(inner, folder).map_err(failed)?;
        } else {
            std::fs::rename(inner, folder).map_err(failed)?;
        }
        // A new name survives a power failure only once its folder is on disk.
        for folder in [&folder.join("blobs"), folder, folder.parent().unwrap_or(folder)] {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(replaces.then(|| inner.to_owned()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = std::fs::remove_file(self.path.with_extension(LOCK));
    }
}

/// The part of a folder's name that says that it is a store that was replaced.
pub const REPLACED: &str = ".replaced-";

/// Returns the older stores next to a store, which commands have set aside for the user.
pub fn older_stores(store: &Path) -> Vec<PathBuf> {
    let (Some(within), Some(name)) = (store.parent(), store.file_name()) else { return Vec::new() };
    let start = format!("{}{REPLACED}", name.to_string_lossy());
    let siblings = std::fs::read_dir(within).into_iter().flatten().flatten();
    let mut older: Vec<PathBuf> = siblings
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&start))
        .map(|entry| entry.path())
        .collect();
    older.sort();
    older
}

/// Removes what killed commands left. A lock file exists before its folder, and as long as the folder.
pub fn sweep(within: &Path) {
    for entry in std::fs::read_dir(within).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(SCRATCH));
        if !ours || path.extension().is_none_or(|extension| extension != LOCK) {
            continue;
        }
        if let Ok(lock) = File::open(&path)
            && lock.try_lock().is_ok()
        {
            let _ = std::fs::remove_dir_all(path.with_extension(""));
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Swaps two folders, so that there is never a moment without one.
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    if os::exchange(one, other) {
        return Ok(());
    }
    // On a file system that cannot do it in one step.
    let aside = one.with_extension("aside");
    std::fs::rename(other, &aside)?;
    std::fs::rename(one, other)?;
    std::fs::rename(&aside, one)
}

/// Returns the error for a file or folder of Weir that cannot be read or written.
pub fn cannot_use(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", path.display()))
        .hint("make sure that the folder exists, that you own it and that the disk has free space")
}
