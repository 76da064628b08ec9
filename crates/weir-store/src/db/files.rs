//! Creates the files and folders of a store, and names the side files of its databases.

use std::path::{Path, PathBuf};

use weir_ledger::private;

use crate::error::{Result, from_system};
use crate::layout::StorePart;

/// Returns the path of a side file of the database, such as its write-ahead log.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(suffix);
    name.into()
}

/// Creates a folder that only its owner can enter.
pub(crate) fn create_private_folder(part: StorePart, path: &Path) -> Result<()> {
    private::folder(path).map_err(|error| from_system(part, &error))
}

/// Returns options for opening a file for writing that only its owner can read.
pub(crate) fn private_file_options() -> std::fs::OpenOptions {
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
