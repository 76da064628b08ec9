//! Creates the files and folders of a store, and names the side files of its databases.

use std::path::{Path, PathBuf};

use weir_ledger::private;

use crate::error::{Result, StoreError, from_system};
use crate::layout::StorePart;

/// Returns the path of a side file of the database, such as its write-ahead log.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

/// Returns whether a file of the store exists. If the system does not say, that is an error.
pub fn exists(path: &Path) -> Result<bool> {
    path.try_exists().map_err(|error| StoreError::unusable(StorePart::of_database(path), &error))
}

/// Checks that a file can be written in a folder, as large as what a hook writes. The file has no name.
#[cfg(target_os = "linux")]
pub fn check_room(folder: &Path) -> Result<()> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;
    use std::io::Write as _;
    const NEEDED_BYTES: usize = 256 << 10;
    let opened = openat(CWD, folder, OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR);
    let written = match opened {
        // Not every file system has files without names.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(file) => std::fs::File::from(file).write_all(&vec![0; NEEDED_BYTES]),
    };
    written.map_err(|error| from_system(StorePart::Folder, &error))
}

/// Checks nothing: other systems have no files without names.
#[cfg(not(target_os = "linux"))]
pub fn check_room(_folder: &Path) -> Result<()> {
    Ok(())
}

/// Creates a folder that only its owner can enter.
pub fn create_private_folder(part: StorePart, path: &Path) -> Result<()> {
    private::folder(path).map_err(|error| from_system(part, &error))
}

/// Returns options for opening a file for writing that only its owner can read.
pub fn private_file_options() -> std::fs::OpenOptions {
    private::options()
}

/// Creates the file of a database. The engine would make it readable by others, and gives its side files the mode of
/// the main file.
pub(super) fn create_private_file(part: &StorePart, path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    private::open(path, &private::options()).map(drop).map_err(|error| from_system(part.clone(), &error))
}
