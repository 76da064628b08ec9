//! Copies and removes whole trees, without following links.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;

use super::tree::{by_fd, enter, list, node, open_file, open_up, set_mtime, set_xattrs, xattrs};
use crate::What;

/// How deep [`remove`] goes before it moves a folder up: every level costs a descriptor.
const DEEP: usize = 48;

/// Copies what a name stands for, with modes, times, owners and extended attributes. Everything is on the disk when
/// this returns. Sockets and devices are left out.
pub(super) fn copy_synced(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> io::Result<()> {
    copy(from, to)?;
    match node(to.0, to.1)?.map(|copied| copied.what) {
        Some(What::File) => open_file(to.0, to.1)?.sync_all(),
        Some(What::Folder) => Ok(rustix::fs::syncfs(open_file(to.0, to.1)?)?),
        _ => Ok(()),
    }
}

fn copy(from: (&OwnedFd, &OsStr), to: (&OwnedFd, &OsStr)) -> io::Result<()> {
    super::may_stop()?;
    let Some(old) = node(from.0, from.1)? else { return Err(io::ErrorKind::NotFound.into()) };
    match old.what {
        What::File => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = std::fs::File::from(rustix::fs::openat(to.0, to.1, flags, Mode::RUSR | Mode::WUSR)?);
            io::copy(&mut open_file(from.0, from.1)?, &mut file)?;
        }
        What::Link => {
            let target = rustix::fs::readlinkat(from.0, from.1, Vec::new())?;
            rustix::fs::symlinkat(target, to.0, to.1)?;
        }
        What::Folder => {
            rustix::fs::mkdirat(to.0, to.1, Mode::RWXU)?;
            let (inner, copied) = (enter(from)?, enter(to)?);
            if old.mode & 0o500 != 0o500 {
                open_up(&inner)?;
            }
            for name in list(&inner)? {
                copy((&inner, &name), (&copied, &name))?;
            }
            if old.mode & 0o500 != 0o500 {
                rustix::fs::chmod(by_fd(&inner), Mode::from_raw_mode(old.mode))?;
            }
        }
        What::Other if old.fifo => {
            rustix::fs::mknodat(to.0, to.1, FileType::Fifo, Mode::from_raw_mode(old.mode), 0)?;
        }
        What::Other => return Ok(()),
    }
    if node(to.0, to.1)?.is_some_and(|new| new.owner != old.owner) {
        let (uid, gid) = (Uid::from_raw(old.owner.0), Gid::from_raw(old.owner.1));
        match rustix::fs::chownat(to.0, to.1, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW) {
            // Only root may give files away; the copy belongs to its maker then.
            Ok(()) | Err(Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let path = by_fd(to.0).join(to.1);
    set_xattrs(&path, &xattrs(&by_fd(from.0).join(from.1))?)?;
    if old.what != What::Link {
        rustix::fs::chmod(&path, Mode::from_raw_mode(old.mode))?;
    }
    set_mtime(to.0, to.1, old.mtime, AtFlags::SYMLINK_NOFOLLOW)
}

/// Removes what a name stands for, however deep and however protected. Nothing there is fine, and so is somebody else
/// who removes it at the same time.
pub(super) fn remove(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    super::may_stop()?;
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    if rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR).is_ok() {
        return Ok(());
    }
    let Some(base) = if_there(enter((dir, name)))? else { return Ok(()) };
    open_up(&base)?;
    let mut moved = 0;
    loop {
        let before = moved;
        empty(&base, &base, 0, &mut moved)?;
        match rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR) {
            // Folders that were moved up meanwhile.
            Err(Errno::NOTEMPTY | Errno::EXIST) if moved > before => {}
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn empty(base: &OwnedFd, dir: &OwnedFd, depth: usize, moved: &mut u64) -> io::Result<()> {
    for name in if_there(list(dir))?.unwrap_or_default() {
        match rustix::fs::unlinkat(dir, &name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => continue,
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
        let Some(inner) = if_there(enter((dir, &name)))? else { continue };
        open_up(&inner)?;
        if depth >= DEEP {
            let mut up = OsString::from(format!("weir-{moved}-"));
            up.push(OsStr::from_bytes(&name.as_bytes()[..name.len().min(64)]));
            if_there(rustix::fs::renameat_with(dir, &name, base, &up, RenameFlags::NOREPLACE).map_err(Into::into))?;
            *moved += 1;
            continue;
        }
        empty(base, &inner, depth + 1, moved)?;
        if_there(rustix::fs::unlinkat(dir, &name, AtFlags::REMOVEDIR).map_err(Into::into))?;
    }
    Ok(())
}

/// `None` if something is gone.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}
