//! Folders that only their owner can use.

use std::path::Path;
use std::{fs, io};

/// Creates a folder and its parents that only their owner can use. The files in it may have the usual modes.
pub(crate) fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Waits until the names in a folder are on the disk. Only then does a deletion survive a power cut.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a folder like a file.
    if cfg!(unix) { fs::File::open(folder)?.sync_all() } else { Ok(()) }
}
