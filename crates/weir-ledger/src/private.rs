//! Creates folders and files that only their owner can use, whatever the umask. Nothing else in Weir creates them.
//!
//! Invariant: created folders have mode 0700 and files 0600, even under a umask that removes the owner's own
//! permissions.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Creates a folder and its missing parents. An existing folder is left unchanged; an empty path is the current one.
pub fn folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        folder(parent)?;
    }
    let mut builder = DirBuilder::new();
    // The folders above have been made, each with its mode.
    builder.recursive(false);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Ok(()) => set_mode(path, 0o700),
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns options to open a file for writing, creating it if it does not exist.
pub fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Opens a file with [`options`] or with options derived from them.
pub fn open(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The umask removed permissions that the owner needs. A file that is shared on purpose has more than these and
        // keeps them.
        if file.metadata()?.permissions().mode() & 0o600 != 0o600 {
            file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Waits until the names in a folder are on the disk. Only then does a new or removed name survive a power cut.
pub fn sync(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a folder like a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}
