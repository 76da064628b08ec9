//! Folders and their owners: whose files are trusted, modes that a run chose, and waiting for new entries.

use std::fs::Metadata;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Anchor;

pub fn owner(about: &Metadata) -> Option<u32> {
    Some(about.uid())
}

/// Returns whether a folder is the home folder of this user in the list of users, or whether the user is not in it.
pub fn is_home(folder: &Path) -> bool {
    let user = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut own = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let own = own.find(|fields| fields.get(2) == Some(&user.as_str()));
    own.and_then(|fields| fields.get(5).map(|home| Path::new(*home) == folder)).unwrap_or(true)
}

/// Returns the users whose files are trusted: this one and root. `home` is the home folder.
pub fn trusted_owners(home: Option<&Path>) -> Vec<u32> {
    /// How the kernel shows a user that has no number in this namespace.
    const UNMAPPED: u32 = 65534;
    let user = rustix::process::geteuid();
    let mut owners = vec![0, user.as_raw()];
    if user.is_root() {
        // In a container, root may use the home folder of a user outside.
        owners.extend(home.and_then(|home| home.metadata().ok()).map(|about| about.uid()));
    }
    // In a user namespace, as in a container without root, this is the owner of the system's files.
    let is_whole = |map: &String| map.split_whitespace().eq(["0", "0", "4294967295"]);
    if std::fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| !is_whole(&map)) {
        owners.push(UNMAPPED);
    }
    owners
}

/// Gives the owner of a folder all rights to it. Returns its mode before, if that changed. Follows no links.
pub fn open_up(folder: &Path) -> io::Result<Option<u32>> {
    let anchor = Anchor::open(folder)?;
    let mode = rustix::fs::fstat(&anchor.0)?.st_mode & 0o7777;
    if mode & 0o700 == 0o700 {
        return Ok(None);
    }
    set_mode(&anchor, folder, mode | 0o700).map(|()| Some(mode))
}

/// Sets the mode of a folder. Follows no links.
pub fn set_folder_mode(folder: &Path, mode: u32) -> io::Result<()> {
    set_mode(&Anchor::open(folder)?, folder, mode)
}

fn set_mode(anchor: &Anchor, folder: &Path, mode: u32) -> io::Result<()> {
    let permissions = std::fs::Permissions::from_mode(mode);
    // A folder that was opened without the right to read it has no other name that is certain to be it.
    let name = match cfg!(target_os = "linux") {
        true => format!("/proc/self/fd/{}", anchor.0.as_raw_fd()).into(),
        false => folder.to_owned(),
    };
    std::fs::set_permissions(name, permissions)
}

/// What ended a wait for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// Something changed, or the time is over.
    Look,
    /// The other end was dropped.
    Stop,
}

/// Waits for new entries directly in folders. Without support by the system, only time passes.
pub struct FolderWatch {
    stopped: io::PipeReader,
    changes: Option<OwnedFd>,
}

/// Returns a watch that ends when the first of the two is dropped.
pub fn watch_folders() -> io::Result<(impl Send + use<>, FolderWatch)> {
    let (stopped, stop) = io::pipe()?;
    Ok((stop, FolderWatch { stopped, changes: None }))
}

#[cfg(target_os = "linux")]
fn changes_in(folders: &[PathBuf]) -> Option<OwnedFd> {
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    let changes = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
    let new = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
    let watched = folders.iter().filter(|folder| inotify::add_watch(&changes, folder.as_path(), new).is_ok()).count();
    (watched > 0).then_some(changes)
}

#[cfg(not(target_os = "linux"))]
fn changes_in(_: &[PathBuf]) -> Option<OwnedFd> {
    None
}

impl FolderWatch {
    /// Starts to watch folders. Until then, only time passes.
    pub fn begin(&mut self, folders: &[PathBuf]) {
        self.changes = changes_in(folders);
    }

    /// Waits for a change, at most this long.
    pub fn wait(&self, most: Duration) -> Awaited {
        let mut waiting = vec![PollFd::new(&self.stopped, PollFlags::IN)];
        waiting.extend(self.changes.iter().map(|changes| PollFd::new(changes, PollFlags::IN)));
        let awaited = await_any(&mut waiting, most);
        let mut ignored = [0; 4096];
        while self.changes.as_ref().is_some_and(|changes| rustix::io::read(changes, &mut ignored).is_ok()) {}
        awaited
    }

    /// Waits this long, whatever changes.
    pub fn pause(&self, time: Duration) -> Awaited {
        await_any(&mut [PollFd::new(&self.stopped, PollFlags::IN)], time)
    }
}

impl Drop for FolderWatch {
    fn drop(&mut self) {
        // The kernel waits for all of its readers before it closes the descriptor, which takes longer than a short run.
        if let Some(changes) = self.changes.take() {
            let _ = std::thread::Builder::new().name("close".to_owned()).spawn(move || drop(changes));
        }
    }
}

/// Waits for the first of these, which tells to stop, or for any other.
fn await_any(waiting: &mut [PollFd<'_>], most: Duration) -> Awaited {
    let most = Timespec::try_from(most).ok();
    let _ = poll(waiting, most.as_ref());
    if waiting[0].revents().is_empty() { Awaited::Look } else { Awaited::Stop }
}
