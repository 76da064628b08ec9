//! An open folder, whose files are reached without following any link.
//!
//! Invariant: it stays the same folder, whatever happens to its path.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use weir_host::os;

/// An open folder.
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder whose path contains no links.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match os::open_without_links(path, flags)? {
            Some(fd) => Ok(Self(fd)),
            None => Self::open_and_look_again(path, flags),
        }
    }

    fn open_and_look_again(path: &Path, flags: OFlags) -> io::Result<Self> {
        let fd = rustix::fs::openat(CWD, path, flags | OFlags::NOFOLLOW, Mode::empty())?;
        let (opened, named) = (rustix::fs::fstat(&fd)?, rustix::fs::lstat(path)?);
        let same = (opened.st_dev, opened.st_ino) == (named.st_dev, named.st_ino);
        if !same || os::real_path(path)? != path {
            return Err(io::Error::other("the folder was moved in the meantime"));
        }
        Ok(Self(fd))
    }

    /// Opens the folder at a path, creating what is missing.
    pub fn make(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened,
        }
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let above = Self::make(above)?;
        match rustix::fs::mkdirat(&above.0, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::openat(&above.0, name, flags, Mode::empty())?))
    }

    /// Opens a file for reading, without following a link or waiting for a pipe.
    pub fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Creates a file that must not exist yet.
    pub(super) fn new_file(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.0, name, flags, Mode::from_bits_truncate(mode as _))?))
    }

    /// Renames a file, replacing any other of the new name.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, from, &self.0, to)?)
    }

    /// Renames a file to a name that must be free. Returns `None` if the file system does not support that.
    pub(super) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<Option<()>> {
        self.rename_with(from, to, RenameFlags::NOREPLACE)
    }

    /// Exchanges the names of two files. Returns `None` if the file system does not support that.
    pub(super) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<Option<()>> {
        self.rename_with(one, other, RenameFlags::EXCHANGE)
    }

    fn rename_with(&self, from: &OsStr, to: &OsStr, flags: RenameFlags) -> io::Result<Option<()>> {
        match rustix::fs::renameat_with(&self.0, from, &self.0, to, flags) {
            Ok(()) => Ok(Some(())),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a hard link under a name that must be free.
    pub(super) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Flushes the folder's entries to disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}
