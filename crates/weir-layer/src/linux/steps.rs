//! Takes one step of a journal, forward or back.
//!
//! Where the layer and the project are on one mount, a step is one rename: the run's version and the project's change
//! places, so that the upper has the old versions afterwards. Otherwise a step is a copy beside the target, and the old
//! version is copied to the folder `spare` first. Every step can be repeated: what it finds says how far it got.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, RenameFlags};
use rustix::io::Errno;

use super::copy::{copy_synced, remove};
use super::journal::{Step, Was};
use super::room::Room;
use super::tree::{Node, by_fd, enter, is, is_unreachable, node, open_up, rename};
use crate::ConflictKind;

/// What became of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// The project has the run's version, which is this inode.
    Done(Option<u64>),
    /// The project has what somebody else put there.
    Conflict(ConflictKind),
}

/// One step, with the folders that it happens in.
pub(super) struct Place<'a> {
    step: &'a Step,
    name: &'a OsStr,
    project: OwnedFd,
    upper: OwnedFd,
    spare: OwnedFd,
    /// The name of the old version in `spare`.
    number: OsString,
    beside: OsString,
}

impl<'a> Place<'a> {
    /// Finds the folders of a step; `None` if the project does not have them any more.
    pub(super) fn find(room: &Room, number: usize, step: &'a Step) -> io::Result<Option<Self>> {
        let (project, name) = match room.project.at(&step.path.0) {
            Err(why) if is_unreachable(&why) => return Ok(None),
            found => found?,
        };
        let (upper, _) = room.upper.at(&step.path.0)?;
        let spare = enter((&room.dir, OsStr::new("spare")))?;
        let (number, beside) = (format!("{number}"), format!(".weir-{}-{number}", room.id));
        Ok(Some(Self { step, name, project, upper, spare, number: number.into(), beside: beside.into() }))
    }

    fn here(&self) -> (&OwnedFd, &OsStr) {
        (&self.project, self.name)
    }

    fn there(&self) -> (&OwnedFd, &OsStr) {
        (&self.upper, self.name)
    }

    fn beside(&self) -> (&OwnedFd, &OsStr) {
        (&self.project, &self.beside)
    }

    fn saved(&self) -> (&OwnedFd, &OsStr) {
        (&self.spare, &self.number)
    }

    /// What the project has, what the upper has, and whether the old version is in `spare`.
    fn look(&self) -> io::Result<(Option<Node>, Option<Node>, bool)> {
        let there = node(&self.upper, self.name)?.filter(|node| !node.whiteout);
        Ok((node(&self.project, self.name)?, there, node(&self.spare, &self.number)?.is_some()))
    }

    /// Puts the run's version into the project. `placed` is the copy that another process was about to put there, and
    /// `placing` is told about such a copy.
    pub(super) fn forward(
        &self,
        placed: Option<u64>,
        placing: &mut dyn FnMut(u64) -> io::Result<()>,
    ) -> io::Result<Taken> {
        let (here, there, saved) = self.look()?;
        let ino = here.as_ref().map(|node| node.ino);
        if placed.is_some() && ino == placed {
            self.finish_copy(saved)?;
            return Ok(Taken::Done(ino));
        }
        match (&self.step.old, &here) {
            _ if there.as_ref().map(|node| node.ino) != self.step.new && ino == self.step.new => {
                return Ok(Taken::Done(ino));
            }
            (Some(old), Some(here)) if old.is(here) || saved && old.ino == here.ino => {}
            (None, None) => {}
            (Some(_), None) if saved => {}
            // The run and somebody else removed it.
            (Some(_), None) if self.step.new.is_none() => return Ok(Taken::Done(None)),
            (Some(_), None) => return Ok(Taken::Conflict(ConflictKind::Deleted)),
            _ => return Ok(Taken::Conflict(ConflictKind::Edited)),
        }
        if saved {
            return self.copy_forward(placing);
        }
        self.make_movable(here.as_ref())?;
        match self.swap() {
            Err(why) if is(&why, Errno::XDEV) || is(&why, Errno::INVAL) => self.copy_forward(placing),
            Err(why) if is(&why, Errno::EXIST) => Ok(Taken::Conflict(ConflictKind::Edited)),
            result => result,
        }
    }

    /// One rename. What comes out of the project is looked at: an edit in the last moment goes back.
    fn swap(&self) -> io::Result<Taken> {
        let new = self.step.new;
        let Some(old) = &self.step.old else {
            rename(self.there(), self.here(), RenameFlags::NOREPLACE)?;
            return Ok(Taken::Done(new));
        };
        let flags = match new {
            Some(_) => RenameFlags::EXCHANGE,
            None => {
                remove(&self.upper, self.name)?;
                RenameFlags::NOREPLACE
            }
        };
        rename(self.here(), self.there(), flags)?;
        let came = node(&self.upper, self.name)?.ok_or(io::ErrorKind::NotFound)?;
        if came.ino == old.ino && (old.folder || came.mtime == old.mtime && came.size == old.size) {
            return Ok(Taken::Done(new));
        }
        rename(self.there(), self.here(), flags)?;
        Ok(Taken::Conflict(ConflictKind::Edited))
    }

    fn copy_forward(&self, placing: &mut dyn FnMut(u64) -> io::Result<()>) -> io::Result<Taken> {
        if self.step.old.is_some() && node(&self.spare, &self.number)?.is_none() {
            self.save()?;
        }
        let mut ino = None;
        if self.step.new.is_some() {
            ino = Some(self.prepare(self.there())?);
            placing(ino.unwrap_or_default())?;
            match self.place() {
                Err(why) if is(&why, Errno::EXIST) => {
                    self.tidy()?;
                    return Ok(Taken::Conflict(ConflictKind::Edited));
                }
                result => result?,
            }
        } else {
            remove(&self.project, self.name)?;
        }
        self.finish_copy(self.step.old.is_some())?;
        Ok(Taken::Done(ino))
    }

    /// Copies the old version to `spare`.
    fn save(&self) -> io::Result<()> {
        let mut part = self.number.clone();
        part.push(".part");
        remove(&self.spare, &part)?;
        copy_synced(self.here(), (&self.spare, &part))?;
        rename((&self.spare, &part), self.saved(), RenameFlags::NOREPLACE)
    }

    /// Copies something to the name beside the target.
    fn prepare(&self, from: (&OwnedFd, &OsStr)) -> io::Result<u64> {
        self.tidy()?;
        copy_synced(from, self.beside())?;
        Ok(node(&self.project, &self.beside)?.ok_or(io::ErrorKind::NotFound)?.ino)
    }

    /// Moves the copy beside the target to its place. A file replaces a file in one step.
    fn place(&self) -> io::Result<()> {
        if node(&self.project, self.name)?.is_none() {
            return rename(self.beside(), self.here(), RenameFlags::NOREPLACE);
        }
        if self.step.old.is_none() {
            return Err(Errno::EXIST.into());
        }
        match rename(self.beside(), self.here(), RenameFlags::empty()) {
            Err(why)
                if [Errno::ISDIR, Errno::NOTDIR, Errno::NOTEMPTY, Errno::EXIST]
                    .iter()
                    .any(|errno| is(&why, *errno)) => {}
            result => return result,
        }
        if rename(self.beside(), self.here(), RenameFlags::EXCHANGE).is_ok() {
            return self.tidy();
        }
        remove(&self.project, self.name)?;
        rename(self.beside(), self.here(), RenameFlags::NOREPLACE)
    }

    /// The upper gets the old version in place of the new one.
    fn finish_copy(&self, saved: bool) -> io::Result<()> {
        self.tidy()?;
        if saved || self.step.old.is_none() {
            remove(&self.upper, self.name)?;
        }
        if saved { rename(self.saved(), self.there(), RenameFlags::NOREPLACE) } else { Ok(()) }
    }

    /// Puts the project's version back. `new` is the inode that the run's version has in the project, if another one
    /// than in the upper. Says whether the project has its old version now.
    pub(super) fn back(&self, new: Option<u64>, placing: &mut dyn FnMut(u64) -> io::Result<()>) -> io::Result<bool> {
        let (here, there, saved) = self.look()?;
        let ino = here.as_ref().map(|node| node.ino);
        let is_ours = ino.is_some() && (ino == self.step.new || ino == new);
        self.make_movable(here.as_ref())?;
        let Some(old) = &self.step.old else {
            match here {
                None => {}
                Some(_) if !is_ours => return Ok(false),
                Some(_) if there.is_some() || ino != self.step.new => remove(&self.project, self.name)?,
                Some(_) => rename(self.here(), self.there(), RenameFlags::NOREPLACE)?,
            }
            self.tidy()?;
            return Ok(true);
        };
        if saved {
            // A folder may have lost some of its content.
            if here.is_none() || is_ours || old.folder && ino == Some(old.ino) {
                placing(self.prepare(self.saved())?)?;
                self.place()?;
            }
        } else if ino == Some(old.ino) {
            return Ok(true);
        } else if self.step.new.is_some() != here.is_some() || here.is_some() && !is_ours {
            return Ok(false);
        } else if there.as_ref().map(|node| node.ino) == Some(old.ino) {
            let flags = if here.is_some() { RenameFlags::EXCHANGE } else { RenameFlags::NOREPLACE };
            rename(self.there(), self.here(), flags)?;
        } else if there.is_some() {
            placing(self.prepare(self.there())?)?;
            self.place()?;
        } else {
            return Ok(false);
        }
        self.tidy()?;
        self.restore_mode(old)?;
        Ok(true)
    }

    /// The inode that the project has.
    pub(super) fn ino(&self) -> io::Result<Option<u64>> {
        Ok(node(&self.project, self.name)?.map(|node| node.ino))
    }

    /// Removes what another process may have left beside the target.
    pub(super) fn tidy(&self) -> io::Result<()> {
        remove(&self.project, &self.beside)
    }

    /// A folder can be moved only by who may write to it, and out of one only by who may write to that.
    fn make_movable(&self, here: Option<&Node>) -> io::Result<()> {
        if here.is_some_and(|here| here.what == crate::What::Folder) {
            open_up(enter(self.here())?)?;
        }
        open_up(&self.project)
    }

    fn restore_mode(&self, old: &Was) -> io::Result<()> {
        if old.folder && old.mode & 0o700 != 0o700 {
            let folder = enter(self.here())?;
            rustix::fs::chmod(by_fd(&folder), Mode::from_raw_mode(old.mode))?;
        }
        Ok(())
    }
}
