//! One layer on the disk: its folder, its lock and its header.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, StatxFlags};
use rustix::rand::GetRandomFlags;

use super::copy::remove;
use super::journal::{HEADER, Header, Stored};
use super::tree::{Time, Tree, list, node, rename, set_mtime};
use crate::LayerError;

/// Held while a layer is created, and while layers that nobody holds are looked for.
const CREATING: &str = "creating";
/// Held while a project is changed.
const CHANGING: &str = "changing";
/// What the name of a layer that is being removed begins with.
const GONE: &str = "gone-";

/// A layer that this process holds.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) id: String,
    pub(super) path: PathBuf,
    pub(super) dir: OwnedFd,
    pub(super) header: Header,
    pub(super) project: Tree,
    pub(super) upper: Tree,
    _lock: Lock,
}

/// A lock on a file. It ends with this, even if a process that is being started has a copy of the descriptor.
#[derive(Debug)]
pub(super) struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // It ends with the descriptor otherwise.
        drop(self.0.unlock());
    }
}

impl Room {
    pub(super) fn create(place: &Path, project: &Path) -> io::Result<Self> {
        let mut private = DirBuilder::new();
        private.recursive(true).mode(0o700).create(place)?;
        let project_path = project.canonicalize()?;
        let project = Tree::open(&project_path)?;
        let root = node(project.fd(), OsStr::new(""))?.ok_or(io::ErrorKind::NotFound)?;
        let id = format!("{:016x}", random()?);
        let path = place.join(&id);
        let _creating = lock(place, CREATING)?;
        private.recursive(false).create(&path)?;
        let lock = lock(&path, HEADER)?;
        private.create(path.join("upper"))?;
        private.create(path.join("work"))?;
        // The run sees the upper's attributes at the root of its project.
        let upper = Tree::open(&path.join("upper"))?;
        std::os::unix::fs::chown(path.join("upper"), Some(root.owner.0), Some(root.owner.1))?;
        upper.set_meta(Path::new(""), &project.meta(Path::new(""))?)?;
        let dir = open_folder(&path)?;
        let header = Header { project: Stored(project_path), ino: root.ino, boot: boot_id()? };
        (&lock.0).write_all(&serde_json::to_vec(&header)?)?;
        Ok(Self { id, path, dir, header, project, upper, _lock: lock })
    }

    /// Opens a layer and takes its lock; `None` if its process is alive or it is gone.
    pub(super) fn open(path: &Path) -> Result<Option<Self>, LayerError> {
        let failed = |why| LayerError::Io { what: "open the layer", path: path.to_owned(), why };
        let Some(lock) = try_lock(path, HEADER).map_err(failed)? else { return Ok(None) };
        let dir = open_folder(path).map_err(failed)?;
        let header = Header::read(&dir, path)?;
        let gone = || LayerError::ProjectGone(header.project.0.clone());
        let project = Tree::open(&header.project.0).map_err(|_| gone())?;
        let root = node(project.fd(), OsStr::new("")).ok().flatten();
        if root.is_none_or(|root| root.ino != header.ino) {
            return Err(gone());
        }
        let upper = Tree::open(&path.join("upper")).map_err(failed)?;
        let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Some(Self { id, path: path.to_owned(), dir, header, project, upper, _lock: lock }))
    }

    pub(super) fn project_path(&self) -> &Path {
        &self.header.project.0
    }

    pub(super) fn remove(self) -> io::Result<Sweep> {
        let gone = Gone::rename(&self.path)?;
        // A folder is freed when its last descriptor is closed.
        drop(self);
        gone.sweep()
    }

    /// The time of the file system, after everything that has happened so far and before everything that will.
    pub(super) fn now(&self) -> io::Result<Time> {
        let path = self.path.join(HEADER);
        let touch = || {
            set_mtime(CWD, path.as_os_str(), (0, 0), AtFlags::empty())?;
            io::Result::Ok(node(CWD, path.as_os_str())?.ok_or(io::ErrorKind::NotFound)?.ctime)
        };
        let first = touch()?;
        // Clocks of file systems tick every few milliseconds; newer ones tick whenever somebody looks.
        let now = loop {
            let now = touch()?;
            if now > first {
                break now;
            }
        };
        let (ours, project) = (device(CWD, &self.path)?, device(self.project.fd(), Path::new(""))?);
        let root = node(self.project.fd(), OsStr::new(""))?.ok_or(io::ErrorKind::NotFound)?;
        let coarse = ours != project && root.ctime.1 % 1_000_000 == 0;
        // Another file system may count whole seconds, and have begun this one already.
        Ok(if coarse { (now.0 - 2, 0) } else { now })
    }
}

pub(super) fn clear(path: &Path) -> io::Result<Sweep> {
    Gone::rename(path)?.sweep()
}

/// Removes what processes that have ended left of such folders.
pub(super) fn clear_rest(place: &Path) -> io::Result<Sweep> {
    let parent = open_folder(place)?;
    let mut names = list(&parent)?;
    names.retain(|name| name.as_bytes().starts_with(GONE.as_bytes()));
    Gone { parent, names }.sweep()
}

/// Folders that lost their names first, so that nobody takes half of a layer for a whole one.
struct Gone {
    parent: OwnedFd,
    names: Vec<OsString>,
}

impl Gone {
    fn rename(path: &Path) -> io::Result<Self> {
        let parent = open_folder(path.parent().unwrap_or(Path::new("/")))?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut gone = OsString::from(GONE);
        gone.push(name);
        rename((&parent, name), (&parent, &gone), RenameFlags::empty())?;
        Ok(Self { parent, names: vec![gone] })
    }

    /// Removes the folders in the background: to free many files, some disks take a long time. What fails, or is not
    /// done when the process ends, is left to the next [`clear_rest`].
    fn sweep(self) -> io::Result<Sweep> {
        let (working, done) = mpsc::channel();
        let is_empty = self.names.is_empty();
        let work = move || self.names.iter().try_for_each(|name| remove(&self.parent, name));
        if cfg!(test) {
            work()?;
        } else if !is_empty {
            let work = move || drop((work(), working));
            drop(std::thread::Builder::new().name("weir-sweep".to_owned()).spawn(work));
        }
        Ok(Sweep(done))
    }
}

/// A removal in the background, which goes on when this is dropped.
pub(super) struct Sweep(Receiver<()>);

impl Sweep {
    /// Waits until everything is removed, but not longer than this.
    pub(super) fn wait(&self, patience: Duration) {
        // Nothing is ever sent: the sender is dropped at the end.
        let _ = self.0.recv_timeout(patience);
    }
}

/// Every folder below `place` that may be a layer.
pub(super) fn rooms(place: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(place)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_id =
            name.len() == 16 && name.to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if is_id && entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The exclusive right to change projects.
pub(super) fn lock_changes(place: &Path) -> io::Result<Lock> {
    lock(place, CHANGING)
}

/// Both locks of a place, unless somebody has the first: the right to change projects, and that no layer is created.
pub(super) fn try_lock_place(place: &Path) -> io::Result<Option<(Lock, Lock)>> {
    match try_lock(place, CHANGING)? {
        Some(changing) => Ok(Some((changing, lock(place, CREATING)?))),
        None => Ok(None),
    }
}

pub(super) fn random() -> io::Result<u64> {
    let mut bytes = [0_u8; 8];
    // The kernel never gives less than this asks for.
    rustix::rand::getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(u64::from_ne_bytes(bytes))
}

pub(super) fn boot_id() -> io::Result<String> {
    Ok(std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

pub(super) fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

fn device(dir: impl AsFd, path: &Path) -> io::Result<(u32, u32)> {
    let found = rustix::fs::statx(dir, path, AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
    Ok((found.stx_dev_major, found.stx_dev_minor))
}

fn lock_file(folder: &Path, name: &str) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).mode(0o600).open(folder.join(name))
}

fn lock(folder: &Path, name: &str) -> io::Result<Lock> {
    let file = lock_file(folder, name)?;
    file.lock()?;
    Ok(Lock(file))
}

fn try_lock(folder: &Path, name: &str) -> io::Result<Option<Lock>> {
    let file = lock_file(folder, name)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(why)) => Err(why),
    }
}
