//! A folder by its path, where nothing can be opened relative to an open folder.
//!
//! Invariant: nothing is reached through a link that is there when it is looked at. A link that is put in place at that
//! very moment is followed, which an open folder would prevent.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use weir_host::os;

pub struct Folder(PathBuf);

impl Folder {
    /// Opens a folder whose path contains no links.
    pub fn open(path: &Path) -> io::Result<Self> {
        if os::real_path(path)? != path {
            return Err(io::Error::other("the folder was moved in the meantime"));
        }
        Ok(Self(path.to_owned()))
    }

    /// Opens the folder at a path, creating what is missing.
    pub fn make(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// Opens a file for reading, without following a link.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        os::not_following(File::options().read(true)).open(self.0.join(name))
    }

    /// Creates a file that must not exist yet.
    pub(super) fn new_file(&self, name: &OsStr, _: u32) -> io::Result<File> {
        File::options().write(true).create_new(true).open(self.0.join(name))
    }

    /// Renames a file, replacing any other of the new name.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Returns `None`: the standard library replaces what has the name.
    pub(super) fn rename_to_new(&self, _: &OsStr, _: &OsStr) -> io::Result<Option<()>> {
        Ok(None)
    }

    /// Returns `None`: this system cannot exchange names.
    pub(super) fn exchange(&self, _: &OsStr, _: &OsStr) -> io::Result<Option<()>> {
        Ok(None)
    }

    /// Creates a hard link under a name that must be free.
    pub(super) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        std::fs::hard_link(self.0.join(from), self.0.join(to))
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    /// Does nothing: a folder cannot be flushed here.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}
