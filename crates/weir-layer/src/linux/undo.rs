//! Takes an applied layer back, and finishes what a process left behind.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::apply::{self, Finish, Late, back, finished, folders_back, forward, open_folders};
use super::journal::{self, FINISHED, FolderStep, JOURNAL, Journal, UNDOING, UNDONE, damaged};
use super::room::{Room, boot_id, clear, clear_rest, rooms, try_lock_place};
use super::tree::write_synced;
use crate::{Finished, LayerError, Recovered, RecoveredHow, Undone};

/// How long an undo waits until what the run wrote is removed from the disk.
const PATIENCE: Duration = Duration::from_millis(200);

/// Takes back what was last applied to a project, except for what has changed since.
pub fn undo(place: &Path, project: &Path) -> Result<Undone, LayerError> {
    let failed = |why| LayerError::Io { what: "undo in", path: project.to_owned(), why };
    let project = project.canonicalize().map_err(failed)?;
    if !place.exists() {
        return Err(LayerError::NothingToUndo);
    }
    let _changing = apply::lock_changes(place)?;
    let last = finished(place, &project).map_err(failed)?.pop().ok_or(LayerError::NothingToUndo)?;
    take_back(Room::open(&last)?.ok_or(LayerError::NothingToUndo)?)
}

fn take_back(room: Room) -> Result<Undone, LayerError> {
    let journal = Journal::read(&room.dir, &room.path)?.ok_or_else(|| damaged(&room.path, JOURNAL, "there is none"))?;
    let finish = journal::read::<Finish>(&room.dir, FINISHED, &room.path)?;
    let finish = finish.ok_or_else(|| damaged(&room.path, FINISHED, "there is none"))?;
    let failed = |why| LayerError::Io { what: "undo in", path: room.project_path().to_owned(), why };
    let begun = journal::read::<Vec<usize>>(&room.dir, UNDOING, &room.path)?;
    let same = open_folders(&room, &journal, |number, folder| match &begun {
        Some(same) => same.contains(&number),
        None => folder.ctime < finish.at,
    });
    if begun.is_none() {
        let same = serde_json::to_vec(&same).map_err(|why| failed(why.into()))?;
        write_synced(&room.dir, UNDOING, &same).map_err(failed)?;
    }
    let folders: Vec<&FolderStep> = same.iter().filter_map(|number| journal.folders.get(*number)).collect();
    let paths = folders.iter().map(|folder| folder.path.0.as_path()).collect();
    let mut undone = back(&room, &journal, Some(&(finish.at, paths))).map_err(failed)?;
    folders_back(&room, folders.into_iter()).map_err(failed)?;
    undone.done.sort_unstable();
    let path = room.path.clone();
    let removal = room.remove().map_err(|why| LayerError::Io { what: "remove the layer", path, why })?;
    removal.wait(PATIENCE);
    Ok(undone)
}

/// Finishes every layer below `place` that a process left behind.
///
/// A run that was not judged is discarded. Changes that were being applied are applied to the end; but if the machine
/// was started again since, they are taken back, because nobody knows how much of them has reached the disk. Does
/// nothing while another process changes a project.
pub fn recover(place: &Path) -> Vec<Recovered> {
    let Ok(Some(_locks)) = try_lock_place(place) else { return Vec::new() };
    let failed = |why| {
        let why = LayerError::Io { what: "look for layers in", path: place.to_owned(), why };
        vec![Recovered { project: None, how: RecoveredHow::Failed(why) }]
    };
    if let Err(why) = clear_rest(place) {
        return failed(why);
    }
    match rooms(place) {
        Ok(rooms) => rooms.iter().filter_map(|path| recover_one(path)).collect(),
        Err(why) => failed(why),
    }
}

fn recover_one(path: &Path) -> Option<Recovered> {
    let has = |name: &str| path.join(name).exists();
    if has(FINISHED) && !has(UNDOING) {
        return None;
    }
    let mut project = None;
    let how = match Room::open(path) {
        Ok(None) => return None,
        // Whatever is wrong with it, it never came to the project.
        Err(_) if !has(JOURNAL) => clear(path).map(|_| RecoveredHow::Discarded).map_err(|why| failed_on(path, why)),
        Err(why) => Err(why),
        Ok(Some(room)) => {
            project = Some(room.project_path().to_owned());
            finish_room(room)
        }
    };
    Some(Recovered { project, how: how.unwrap_or_else(RecoveredHow::Failed) })
}

fn failed_on(path: &Path, why: io::Error) -> LayerError {
    LayerError::Io { what: "recover the layer", path: path.to_owned(), why }
}

fn finish_room(room: Room) -> Result<RecoveredHow, LayerError> {
    let path = room.path.clone();
    let failed = |why| failed_on(&path, why);
    if path.join(FINISHED).exists() {
        return take_back(room).map(RecoveredHow::Undone);
    }
    let Some(journal) = Journal::read(&room.dir, &room.path)? else {
        room.remove().map_err(failed)?;
        return Ok(RecoveredHow::Discarded);
    };
    // What has begun to go back goes back.
    if room.header.boot == boot_id().map_err(failed)? && !path.join(UNDONE).exists() {
        // If that fails, better nothing than half of it.
        if let Ok(late) = forward(&room, &journal) {
            let finished = summary(&journal, late);
            let undo = apply::finish(room, &journal)?;
            return Ok(RecoveredHow::Finished(Finished { undo, ..finished }));
        }
    }
    let undone = back(&room, &journal, None).map_err(failed)?;
    folders_back(&room, journal.folders.iter()).map_err(failed)?;
    room.remove().map_err(failed)?;
    Ok(RecoveredHow::RolledBack(undone))
}

fn summary(journal: &Journal, late: Vec<Late>) -> Finished {
    let steps = journal.steps.iter().map(|step| &step.path.0);
    let done = steps.filter(|path| !late.iter().any(|late| late.path == **path)).cloned().collect();
    let holds = journal.holds.iter().map(|hold| {
        let to = journal.held_to.0.join(&hold.name.0);
        (hold.path.0.clone(), to, hold.why.clone())
    });
    let late = late.into_iter().filter_map(|late| Some((late.path, late.to?, late.kind.to_string())));
    Finished { done, apart: holds.chain(late).collect(), undo: false }
}
