//! Watches the mounts of a run. Nothing inside can change one, but when a process outside replaces a masked or
//! protected file, as editors do when they save, the kernel removes the mount together with the old file. The run has
//! to end then.
//!
//! Invariant: a change that cannot be understood counts as a lost mount.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The mounts at the beginning of a run.
pub(super) struct MountWatch {
    /// Signals when a mount has changed since it was last polled.
    file: File,
    known: HashSet<String>,
}

impl MountWatch {
    /// Starts to watch. Changes before this are not noticed.
    pub(super) fn new() -> io::Result<Self> {
        let file = File::open("/proc/self/mountinfo")?;
        let known = numbers(&file)?;
        let mut changed = [PollFd::new(&file, PollFlags::PRI)];
        poll(&mut changed, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        // If something changed while the list was read, nothing is known, and every later list lacks a mount.
        let is_sure = !changed[0].revents().contains(PollFlags::PRI);
        let known = if is_sure { known } else { HashSet::from([String::new()]) };
        Ok(Self { file, known })
    }

    /// Returns whether one of the mounts is gone, after a change was signalled. Another change is none of ours.
    pub(super) fn has_lost_one(&self) -> bool {
        numbers(&self.file).map_or(true, |now| !self.known.is_subset(&now))
    }
}

impl AsFd for MountWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Returns the numbers of all mounts. No two have the same one at a time.
fn numbers(mut file: &File) -> io::Result<HashSet<String>> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect())
}
