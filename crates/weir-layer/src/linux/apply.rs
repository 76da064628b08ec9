//! Carries out a journal: forward, or back.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::RenameFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::copy::{copy_synced, remove};
use super::journal::{self, FINISHED, Header, Journal, PROGRESS};
use super::room::{self, Room, clear, open_folder, rooms};
use super::steps::{Place, Taken};
use super::tree::{Time, is, is_unreachable, node, rename, write_synced};
use crate::{ConflictKind, LayerError, Refused, Undone};

/// How far an apply has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) taken: HashMap<usize, Taken>,
    /// Copies that were about to be put into place.
    pub(super) placed: HashMap<usize, u64>,
}

impl Progress {
    pub(super) fn read(room: &Room) -> io::Result<Self> {
        let mut progress = Self::default();
        for line in journal::read_lines(&room.dir, PROGRESS)? {
            let mut words = line.split(' ');
            let (kind, step, ino) = (words.next(), words.next(), words.next());
            let Some(step) = step.and_then(|word| word.parse().ok()) else { continue };
            let ino = ino.and_then(|word| word.parse().ok());
            match (kind, ino) {
                (Some("placing"), Some(ino)) => drop(progress.placed.insert(step, ino)),
                (Some("done"), ino) => drop(progress.taken.insert(step, Taken::Done(ino))),
                (Some("conflict"), _) => {
                    progress.taken.insert(step, Taken::Conflict(ConflictKind::Edited));
                }
                _ => {}
            }
        }
        Ok(progress)
    }

    /// The inode that the run's version of a step has in the project, as far as is known.
    pub(super) fn ino(&self, step: usize) -> Option<u64> {
        match self.taken.get(&step) {
            Some(Taken::Done(ino)) => *ino,
            _ => self.placed.get(&step).copied(),
        }
    }
}

/// A step that became a conflict after it was judged.
pub(super) struct Late {
    pub(super) path: PathBuf,
    pub(super) to: Option<PathBuf>,
    pub(super) kind: ConflictKind,
}

/// Takes every step that has not been taken. What it finds changed in the project becomes a conflict.
pub(super) fn forward(room: &Room, journal: &Journal) -> io::Result<Vec<Late>> {
    let progress = Progress::read(room)?;
    let mut log = append(room, PROGRESS)?;
    for hold in &journal.holds {
        set_apart(room, journal, &hold.path.0, hold.name.0.as_os_str())?;
    }
    for path in &journal.drops {
        match room.upper.at(&path.0) {
            Err(why) if is_unreachable(&why) => {}
            found => found.and_then(|(dir, name)| remove(&dir, name))?,
        }
    }
    let mut late = Vec::new();
    for (number, step) in journal.steps.iter().enumerate() {
        let taken = match (progress.taken.get(&number), Place::find(room, number, step)?) {
            (Some(Taken::Done(_)), _) => continue,
            (Some(conflict), _) => *conflict,
            (None, None) => Taken::Conflict(ConflictKind::Unreachable),
            (None, Some(place)) => {
                let mut placing = |ino| writeln!(log, "placing {number} {ino}").and_then(|()| log.sync_data());
                place.forward(progress.placed.get(&number).copied(), &mut placing)?
            }
        };
        match taken {
            Taken::Done(Some(ino)) => writeln!(log, "done {number} {ino}")?,
            Taken::Done(None) => writeln!(log, "done {number}")?,
            Taken::Conflict(kind) => {
                writeln!(log, "conflict {number}")?;
                let mut name = OsString::from(format!("{}-{number}-", &room.id[..8]));
                name.push(step.path.0.file_name().unwrap_or_default());
                let to = step.new.is_some().then(|| journal.held_to.0.join(&name));
                if to.is_some() {
                    set_apart(room, journal, &step.path.0, &name)?;
                }
                late.push(Late { path: step.path.0.clone(), to, kind });
            }
        }
    }
    for folder in journal.folders.iter().rev() {
        set_folder(room, &folder.path.0, &folder.new)?;
    }
    Ok(late)
}

/// Puts back everything that was taken, as far as nobody has changed it since.
pub(super) fn back(room: &Room, journal: &Journal) -> io::Result<Undone> {
    let progress = Progress::read(room)?;
    let mut undone = Undone::default();
    for (number, step) in journal.steps.iter().enumerate().rev() {
        if matches!(progress.taken.get(&number), Some(Taken::Conflict(_))) {
            continue;
        }
        let place = Place::find(room, number, step)?;
        let done = place.map_or(Ok(false), |place| place.back(progress.ino(number)))?;
        undone.note(step.path.0.clone(), done);
    }
    for folder in journal.folders.iter().rev() {
        if let Some(old) = &folder.old {
            set_folder(room, &folder.path.0, old)?;
        }
    }
    Ok(undone)
}

impl Undone {
    pub(super) fn note(&mut self, path: PathBuf, done: bool) {
        match done {
            true => self.done.push(path),
            false => self.refused.push(Refused { path, why: "changed since".to_owned() }),
        }
    }
}

pub(super) fn set_folder(room: &Room, path: &Path, meta: &super::tree::Meta) -> io::Result<()> {
    super::may_stop()?;
    match room.project.set_meta(path, meta) {
        Err(why) if is_unreachable(&why) => Ok(()),
        result => result,
    }
}

/// Moves the run's version of something out of the upper, to where held files are.
fn set_apart(room: &Room, journal: &Journal, path: &Path, name: &OsStr) -> io::Result<()> {
    let (dir, old) = match room.upper.at(path) {
        Err(why) if is_unreachable(&why) => return Ok(()),
        found => found?,
    };
    DirBuilder::new().recursive(true).mode(0o700).create(&journal.held_to.0)?;
    let to = open_folder(&journal.held_to.0)?;
    if node(&to, name)?.is_some() {
        return remove(&dir, old);
    }
    if node(&*dir, old)?.is_none() {
        return Ok(());
    }
    if !journal.copy_holds {
        match rename((&dir, old), (&to, name), RenameFlags::NOREPLACE) {
            Err(why) if is(&why, Errno::XDEV) => {}
            result => return result,
        }
    }
    let mut part = name.to_owned();
    part.push(".part");
    remove(&to, &part)?;
    copy_synced((&dir, old), (&to, &part))?;
    rename((&to, &part), (&to, name), RenameFlags::NOREPLACE)?;
    remove(&dir, old)
}

/// That an apply has ended, and when.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Finish {
    pub(super) at: Time,
}

/// Ends an apply: the layer becomes the one that can be undone, in place of an older one, or goes. Says which.
pub(super) fn finish(room: Room, journal: &Journal) -> Result<bool, LayerError> {
    let path = room.path.clone();
    let failed = |why| LayerError::Io { what: "finish the layer", path: path.clone(), why };
    let empty = journal.steps.is_empty() && journal.folders.is_empty();
    if empty || journal.replaced() > journal.undo_limit {
        if !empty {
            forget_others(&room).map_err(failed)?;
        }
        room.remove().map_err(failed)?;
        return Ok(false);
    }
    let at = room.now().map_err(failed)?;
    let finish = serde_json::to_vec(&Finish { at }).map_err(|why| failed(why.into()))?;
    write_synced(&room.dir, FINISHED, &finish).map_err(failed)?;
    remove(&room.dir, OsStr::new("work")).map_err(failed)?;
    forget_others(&room).map_err(failed)?;
    Ok(true)
}

/// Removes the older layers of the same project.
fn forget_others(room: &Room) -> io::Result<()> {
    let place = room.path.parent().unwrap_or(Path::new("/"));
    for other in finished(place, &room.project_path)?.into_iter().filter(|other| *other != room.path) {
        clear(&other)?;
    }
    Ok(())
}

/// The layers of a project that have been applied, the last one at the end.
pub(super) fn finished(place: &Path, project: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in rooms(place)? {
        let dir = open_folder(&path)?;
        let Ok(Some(finish)) = journal::read::<Finish>(&dir, FINISHED, &path) else { continue };
        let header = journal::read::<Header>(&dir, journal::HEADER, &path);
        if header.is_ok_and(|header| header.is_some_and(|header| header.project.0 == project)) {
            found.push((finish.at, path));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

pub(super) fn append(room: &Room, name: &str) -> io::Result<File> {
    File::options().create(true).append(true).open(room.path.join(name))
}

/// The exclusive right to change projects, as an error that says what for.
pub(super) fn lock_changes(place: &Path) -> Result<File, LayerError> {
    room::lock_changes(place).map_err(|why| LayerError::Io { what: "lock", path: place.to_owned(), why })
}
