//! Folders by descriptor, and what is in them. Invariant: no symbolic link is followed, and no path leads out.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, StatxFlags, Timespec, Timestamps, XattrFlags,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::What;

/// Seconds and nanoseconds.
pub(super) type Time = (i64, u32);

/// What one name stands for.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) what: What,
    /// The mark of a name that the run removed.
    pub(super) whiteout: bool,
    pub(super) fifo: bool,
    pub(super) mode: u32,
    pub(super) ino: u64,
    pub(super) links: u32,
    pub(super) size: u64,
    pub(super) owner: (u32, u32),
    pub(super) mtime: Time,
    pub(super) ctime: Time,
}

/// What a folder has besides its content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub(super) mode: u32,
    /// `None` to leave the time alone.
    pub(super) mtime: Option<Time>,
    /// `None` to leave them alone.
    pub(super) xattrs: Option<Vec<(Vec<u8>, Vec<u8>)>>,
}

/// A folder that paths are resolved beneath.
#[derive(Debug)]
pub(super) struct Tree {
    root: OwnedFd,
}

impl Tree {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self { root: rustix::fs::open(path, flags, Mode::empty())? })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// Opens a folder, for use as a starting point only.
    pub(super) fn folder(&self, path: &Path) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let name = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        loop {
            match rustix::fs::openat2(&self.root, name, flags, Mode::empty(), resolve) {
                // A rename elsewhere was in the way of the check.
                Err(Errno::AGAIN) => {}
                result => return Ok(result?),
            }
        }
    }

    /// The folder of a path, and its last name.
    pub(super) fn at<'a>(&self, path: &'a Path) -> io::Result<(OwnedFd, &'a OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((self.folder(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// What a path stands for; nothing if a folder on the way is missing or is not one.
    pub(super) fn node(&self, path: &Path) -> io::Result<Option<Node>> {
        match self.at(path) {
            Ok((dir, name)) => node(&dir, name),
            Err(error) if is_unreachable(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn meta(&self, path: &Path) -> io::Result<Meta> {
        let fd = self.folder(path)?;
        let node = node(&fd, OsStr::new(""))?.ok_or(io::ErrorKind::NotFound)?;
        Ok(Meta { mode: node.mode, mtime: Some(node.mtime), xattrs: Some(xattrs(&by_fd(&fd).join("."))?) })
    }

    pub(super) fn set_meta(&self, path: &Path, meta: &Meta) -> io::Result<()> {
        let fd = self.folder(path)?;
        let path = by_fd(&fd);
        if let Some(wanted) = &meta.xattrs {
            set_xattrs(&path.join("."), wanted)?;
        }
        rustix::fs::chmod(&path, Mode::from_raw_mode(meta.mode))?;
        meta.mtime.map_or(Ok(()), |mtime| set_mtime(CWD, path.as_os_str(), mtime, AtFlags::empty()))
    }
}

/// Whether an error says that a folder on the way is not what it was.
pub(super) fn is_unreachable(error: &io::Error) -> bool {
    let known = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP, Errno::XDEV, Errno::ACCESS];
    error.raw_os_error().is_some_and(|code| known.iter().any(|errno| errno.raw_os_error() == code))
}

pub(super) fn is(error: &io::Error, errno: Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

/// What a name in a folder stands for; with an empty name, the folder itself.
pub(super) fn node(dir: impl AsFd, name: &OsStr) -> io::Result<Option<Node>> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
    let found = match rustix::fs::statx(dir, name, flags, StatxFlags::BASIC_STATS) {
        Err(Errno::NOENT) => return Ok(None),
        found => found?,
    };
    let kind = FileType::from_raw_mode(found.stx_mode.into());
    let what = match kind {
        FileType::RegularFile => What::File,
        FileType::Directory => What::Folder,
        FileType::Symlink => What::Link,
        _ => What::Other,
    };
    let device = (found.stx_rdev_major, found.stx_rdev_minor);
    Ok(Some(Node {
        what,
        whiteout: kind == FileType::CharacterDevice && device == (0, 0),
        fifo: kind == FileType::Fifo,
        mode: u32::from(found.stx_mode) & 0o7777,
        ino: found.stx_ino,
        links: found.stx_nlink,
        size: found.stx_size,
        owner: (found.stx_uid, found.stx_gid),
        mtime: (found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
        ctime: (found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
    }))
}

pub(super) fn list_kinds(dir: impl AsFd) -> io::Result<Vec<(OsString, bool)>> {
    let fd = rustix::fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let mut names = Vec::new();
    for entry in Dir::new(fd)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            // Some file systems do not say; opening it will.
            let is_folder = matches!(entry.file_type(), FileType::Directory | FileType::Unknown);
            names.push((OsString::from_vec(name.to_vec()), is_folder));
        }
    }
    Ok(names)
}

/// The names in a folder, sorted.
pub(super) fn list(dir: impl AsFd) -> io::Result<Vec<OsString>> {
    let mut names: Vec<OsString> = list_kinds(dir)?.into_iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    Ok(names)
}

/// A path through a descriptor, for calls that take only paths. Nobody can replace what it leads to.
pub(super) fn by_fd(fd: impl AsFd) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()))
}

/// Opens a regular file for reading. One that its owner may not read becomes readable for a moment.
pub(super) fn open_file(dir: impl AsFd, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(with_rights(&by_fd(&dir).join(name), || rustix::fs::openat(&dir, name, flags, Mode::empty()))?.into())
}

/// Gives the owner all rights to a folder, if that is not so yet.
pub(super) fn open_up(folder: impl AsFd) -> io::Result<()> {
    let mode = node(&folder, OsStr::new(""))?.ok_or(io::ErrorKind::NotFound)?.mode;
    if mode & 0o700 != 0o700 {
        super::may_stop()?;
        rustix::fs::chmod(by_fd(&folder), Mode::from_raw_mode(mode | 0o700))?;
    }
    Ok(())
}

/// A folder, opened as a starting point only, which takes no rights to it.
pub(super) fn enter(at: (&OwnedFd, &OsStr)) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(at.0, at.1, flags, Mode::empty())?)
}

pub(super) fn rename(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr), flags: RenameFlags) -> io::Result<()> {
    super::may_stop()?;
    Ok(rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags)?)
}

pub(super) fn set_mtime(dir: impl AsFd, name: &OsStr, mtime: Time, flags: AtFlags) -> io::Result<()> {
    let omit = Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT };
    let last_modification = Timespec { tv_sec: mtime.0, tv_nsec: mtime.1.into() };
    Ok(rustix::fs::utimensat(dir, name, &Timestamps { last_access: omit, last_modification }, flags)?)
}

const MARKS: &[u8] = b"user.overlay.";

fn xattr_names(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut buffer = Vec::new();
    let read = match rustix::fs::llistxattr_query(path) {
        Ok(0) | Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Ok(size) => {
            buffer.resize(size, 0);
            rustix::fs::llistxattr(path, &mut buffer[..])?
        }
        Err(error) => return Err(error.into()),
    };
    Ok(buffer[..read].split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect())
}

/// The extended attributes of what a path names, without the marks of the overlay and without labels of the system.
pub(super) fn xattrs(path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut found = Vec::new();
    for name in xattr_names(path)? {
        if name.starts_with(MARKS) || name == b"security.selinux" || name.starts_with(b"trusted.") {
            continue;
        }
        let size = with_rights(path, || rustix::fs::lgetxattr_query(path, &name[..]))?;
        let mut value = vec![0; size];
        let read = with_rights(path, || rustix::fs::lgetxattr(path, &name[..], &mut value[..]))?;
        value.truncate(read);
        found.push((name, value));
    }
    found.sort_unstable();
    Ok(found)
}

pub(super) fn set_xattrs(path: &Path, wanted: &[(Vec<u8>, Vec<u8>)]) -> io::Result<()> {
    let present = xattrs(path)?;
    for (name, _) in present.iter().filter(|(name, _)| !wanted.iter().any(|(other, _)| other == name)) {
        rustix::fs::lremovexattr(path, &name[..])?;
    }
    for (name, value) in wanted.iter().filter(|entry| !present.contains(entry)) {
        rustix::fs::lsetxattr(path, &name[..], value, XattrFlags::empty())?;
    }
    Ok(())
}

/// Does something that needs the rights of the owner to a file, which gets them for a moment if it has to.
fn with_rights<T>(path: &Path, mut act: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    match act() {
        Err(Errno::ACCESS) => {
            let fd = rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
            let mode = node(&fd, OsStr::new(""))?.ok_or(io::ErrorKind::NotFound)?.mode;
            rustix::fs::chmod(by_fd(&fd), Mode::from_raw_mode(mode | 0o600))?;
            let result = act();
            rustix::fs::chmod(by_fd(&fd), Mode::from_raw_mode(mode))?;
            Ok(result?)
        }
        result => Ok(result?),
    }
}

/// Whether what a path names has marks of the overlay.
pub(super) fn is_marked(path: &Path) -> io::Result<bool> {
    Ok(xattr_names(path)?.iter().any(|name| name.starts_with(MARKS)))
}

pub(super) fn remove_marks(path: &Path) -> io::Result<()> {
    for name in xattr_names(path)?.iter().filter(|name| name.starts_with(MARKS)) {
        with_rights(path, || rustix::fs::lremovexattr(path, &name[..]))?;
    }
    Ok(())
}

/// Whether a folder of the upper hides all of the project's folder. The other value, `x`, does not say that.
pub(super) fn is_opaque(path: &Path) -> io::Result<bool> {
    let mut value = [0_u8; 2];
    match rustix::fs::lgetxattr(path, "user.overlay.opaque", &mut value[..]) {
        Ok(read) => Ok(value[..read] == *b"y"),
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::RANGE) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Writes a file of a layer: after a power cut, all of it is there or nothing.
pub(super) fn write_synced(dir: &OwnedFd, name: &str, content: &[u8]) -> io::Result<()> {
    super::may_stop()?;
    let part = format!("{name}.part");
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(dir, &part, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(content)?;
    file.sync_all()?;
    rename((dir, OsStr::new(&part)), (dir, OsStr::new(name)), RenameFlags::empty())?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::fsync(rustix::fs::openat(dir, ".", flags, Mode::empty())?)?)
}

/// A path as JSON can have it: one character per byte.
pub(super) mod bytes {
    use super::{OsStrExt, OsString, OsStringExt, Path, PathBuf};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        let text: String = path.as_os_str().as_bytes().iter().map(|byte| char::from(*byte)).collect();
        to.serialize_str(&text)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(from)?;
        let bytes: Result<Vec<u8>, _> = text.chars().map(|letter| u8::try_from(u32::from(letter))).collect();
        Ok(OsString::from_vec(bytes.map_err(D::Error::custom)?).into())
    }
}
