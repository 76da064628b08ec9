//! Carries out a journal: forward, or back.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::RenameFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::copy::{copy_synced, remove};
use super::journal::{self, FINISHED, FolderStep, Header, Journal, PROGRESS, Step, UNDONE};
use super::room::{self, Lock, Room, clear, open_folder, rooms};
use super::scan::look_into;
use super::steps::{Place, Taken};
use super::tree::{Node, Time, is, is_unreachable, node, open_up, rename, write_synced};
use crate::{ConflictKind, LayerError, Refused, Undone, What};

/// How far an apply has come.
#[derive(Debug, Default)]
struct Progress {
    taken: HashMap<usize, Taken>,
    /// Copies that were about to be put into place.
    placed: HashMap<usize, u64>,
}

impl Progress {
    fn read(room: &Room, file: &str) -> io::Result<Self> {
        let mut progress = Self::default();
        for line in journal::read_lines(&room.dir, file)? {
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
    fn ino(&self, step: usize) -> Option<u64> {
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
    let progress = Progress::read(room, PROGRESS)?;
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

/// Until when things must not have been touched, and the folders that were not, though their modes may have changed.
pub(super) type Since<'a> = (Time, HashSet<&'a Path>);

/// Opens the folders of a journal that are still the same, and says which those are.
pub(super) fn open_folders(room: &Room, journal: &Journal, is_same: impl Fn(usize, &Node) -> bool) -> Vec<usize> {
    let folders = journal.folders.iter().enumerate().filter(|(number, folder)| {
        let Ok(fd) = room.project.folder(&folder.path.0) else { return false };
        let same = node(&fd, OsStr::new("")).ok().flatten().is_some_and(|node| is_same(*number, &node));
        same && open_up(&fd).is_ok()
    });
    folders.map(|(number, _)| number).collect()
}

/// Puts back everything that was taken, as far as nobody has changed it since; `None` for since the last step.
pub(super) fn back(room: &Room, journal: &Journal, since: Option<&Since<'_>>) -> io::Result<Undone> {
    if since.is_none() {
        open_folders(room, journal, |_, _| true);
    }
    let (progress, before) = (Progress::read(room, PROGRESS)?, Progress::read(room, UNDONE)?);
    let mut log = append(room, UNDONE)?;
    let mut undone = Undone::default();
    for (number, step) in journal.steps.iter().enumerate().rev() {
        if matches!(progress.taken.get(&number), Some(Taken::Conflict(_))) {
            continue;
        }
        let (new, placed) = (progress.ino(number), before.placed.get(&number));
        let done = match Place::find(room, number, step)? {
            None => false,
            Some(place)
                if before.taken.contains_key(&number) || placed.is_some() && placed == place.ino()?.as_ref() =>
            {
                place.tidy()?;
                true
            }
            Some(_) if !since.map_or(Ok(true), |since| is_unchanged(room, step, new, since))? => false,
            Some(place) => {
                let mut placing = |ino| writeln!(log, "placing {number} {ino}").and_then(|()| log.sync_data());
                place.back(new, &mut placing)?
            }
        };
        if done {
            writeln!(log, "done {number}")?;
        }
        undone.note(step.path.0.clone(), done);
    }
    Ok(undone)
}

/// Whether the project still has what was applied, or again what it had before.
fn is_unchanged(room: &Room, step: &Step, new: Option<u64>, (since, same): &Since<'_>) -> io::Result<bool> {
    let Some(here) = room.project.node(&step.path.0)? else { return Ok(step.old.is_none() || step.new.is_none()) };
    if step.old.as_ref().is_some_and(|old| old.ino == here.ino) {
        return Ok(true);
    }
    let ours = new == Some(here.ino) && (here.ctime < *since || same.contains(step.path.0.as_path()));
    if !ours || here.what != What::Folder {
        return Ok(ours);
    }
    Ok(look_into(&room.project, &step.path.0, same).is_ok_and(|inside| inside.latest < *since))
}

pub(super) fn folders_back<'a>(
    room: &Room,
    folders: impl DoubleEndedIterator<Item = &'a FolderStep>,
) -> io::Result<()> {
    // A new folder that stays keeps its attributes.
    folders.rev().try_for_each(|folder| set_folder(room, &folder.path.0, folder.old.as_ref().unwrap_or(&folder.new)))
}

impl Undone {
    fn note(&mut self, path: PathBuf, done: bool) {
        match done {
            true => self.done.push(path),
            false => self.refused.push(Refused { path, why: "changed since".to_owned() }),
        }
    }
}

fn set_folder(room: &Room, path: &Path, meta: &super::tree::Meta) -> io::Result<()> {
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
    if node(&dir, old)?.is_none() {
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
    forget_others(&room).map_err(failed)?;
    Ok(true)
}

/// Removes the older layers of the same project.
fn forget_others(room: &Room) -> io::Result<()> {
    let place = room.path.parent().unwrap_or(Path::new("/"));
    for other in finished(place, room.project_path())?.into_iter().filter(|other| *other != room.path) {
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
        if Header::read(&dir, &path).is_ok_and(|header| header.project.0 == project) {
            found.push((finish.at, path));
        }
    }
    found.sort_unstable();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

fn append(room: &Room, name: &str) -> io::Result<File> {
    super::may_stop()?;
    File::options().create(true).append(true).open(room.path.join(name))
}

/// The exclusive right to change projects, as an error that says what for.
pub(super) fn lock_changes(place: &Path) -> Result<Lock, LayerError> {
    room::lock_changes(place).map_err(|why| LayerError::Io { what: "lock", path: place.to_owned(), why })
}
