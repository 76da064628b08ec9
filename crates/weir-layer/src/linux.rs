//! Layers on Linux.

mod apply;
mod check;
mod copy;
mod journal;
mod plan;
mod room;
mod scan;
mod steps;
mod tree;
mod undo;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{Applied, Change, Conflict, LayerError, UndoId, Verdict, Versions, What};

pub use check::check;
pub use undo::{recover, undo};

/// What one run wrote: a private folder, locked as long as this exists. Dropping it leaves everything to [`recover`].
#[derive(Debug)]
pub struct Layer {
    room: room::Room,
    since: scan::Since,
    upper: PathBuf,
    work: PathBuf,
}

impl Layer {
    /// Creates the folders for one run on `project` below `place`, a folder of Weir, which is created if necessary.
    pub fn create(place: &Path, project: &Path) -> io::Result<Self> {
        let room = room::Room::create(place, project)?;
        let since = scan::Since { stamp: room.now()?, names: scan::Names::read(&room.project) };
        let (upper, work) = (room.path.join("upper"), room.path.join("work"));
        Ok(Self { room, since, upper, work })
    }

    /// The folder that the run writes to: the overlay's `upperdir`.
    pub fn upper(&self) -> &Path {
        &self.upper
    }

    /// The folder that the kernel works in: the overlay's `workdir`.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Everything that the run changed, sorted by path, folders before their content.
    ///
    /// What the run only opened for writing is not a change. In a folder that the run removed as a whole, single files
    /// are not listed.
    pub fn changes(&self) -> Result<Vec<Change>, LayerError> {
        let scan = scan::scan(self)?;
        scan.close(&self.room.upper).map_err(|why| self.failed("read", why))?;
        Ok(scan.found.into_iter().map(|found| found.change).collect())
    }

    /// The project's and the run's content of a changed file, unless it is longer than `limit` or no file.
    pub fn versions(&self, change: &Change, limit: u64) -> io::Result<Versions> {
        let read = |tree: &tree::Tree| -> io::Result<Option<Vec<u8>>> {
            let is_short = |node: &tree::Node| node.what == What::File && node.size <= limit;
            if tree.node(&change.path)?.filter(is_short).is_none() {
                return Ok(None);
            }
            let (dir, name) = tree.at(&change.path)?;
            let mut content = Vec::new();
            tree::open_file(&dir, name)?.take(limit).read_to_end(&mut content)?;
            Ok(Some(content))
        };
        Ok((read(&self.room.project)?, read(&self.room.upper)?))
    }

    /// Carries over to the project what `judge` accepts, and moves the rest into the private folder `held_to`.
    ///
    /// The judge is asked about every change without a conflict; if it holds a folder, not about what is in it. What is
    /// replaced stays in the layer for [`undo()`], unless it has more than `undo_limit` bytes. If a step fails, the
    /// steps before it are taken back.
    pub fn apply(
        self,
        held_to: &Path,
        undo_limit: u64,
        judge: &mut dyn FnMut(&Change) -> Verdict,
    ) -> Result<Applied, LayerError> {
        if self.is_unchanged().map_err(|why| self.failed("read", why))? {
            self.discard_as_error()?;
            return Ok(Applied::default());
        }
        let _changing = apply::lock_changes(self.room.path.parent().unwrap_or(Path::new("/")))?;
        let scan = scan::scan(&self)?;
        let plan = plan::Plan::new(self.room.header.clone(), &scan, held_to, undo_limit, judge)
            .map_err(|why| self.failed("judge", why))?;
        let (journal, mut applied) = (plan.journal, plan.applied);
        if applied.done.is_empty() && journal.holds.is_empty() {
            self.discard_as_error()?;
            return Ok(applied);
        }
        self.prepare(&scan, &journal, &applied).map_err(|why| self.failed("prepare", why))?;
        let late = match apply::forward(&self.room, &journal) {
            Err(why) => return Err(self.give_up(&journal, why)),
            Ok(late) => late,
        };
        for late in late {
            let (gone, done) = applied.done.into_iter().partition(|change| change.path.starts_with(&late.path));
            applied.done = done;
            let gone: Vec<Change> = gone;
            let conflicts = gone.into_iter().filter(|change| change.path == late.path);
            let conflict = |change| Conflict { change, to: late.to.clone(), kind: late.kind };
            applied.conflicts.extend(conflicts.map(conflict));
        }
        let id = self.room.id.clone();
        let size = journal.replaced();
        match apply::finish(self.room, &journal)? {
            true => applied.undo = Some(UndoId(id)),
            false if !applied.done.is_empty() => {
                applied.undo_refused =
                    Some(format!("{size} bytes were replaced, more than the {undo_limit} kept for undo"));
            }
            false => {}
        }
        Ok(applied)
    }

    /// Removes everything that the run wrote.
    pub fn discard(self) -> io::Result<()> {
        self.room.remove().map(drop)
    }

    /// Whether the run wrote nothing at all. The attributes of the project's own folder do not count.
    fn is_unchanged(&self) -> io::Result<bool> {
        tree::open_up(self.room.upper.fd())?;
        Ok(tree::list(self.room.upper.fd())?.is_empty())
    }

    fn discard_as_error(self) -> Result<(), LayerError> {
        let path = self.room.path.clone();
        self.discard().map_err(|why| LayerError::Io { what: "remove the layer", path, why })
    }

    /// Everything that has to be on the disk before the first step.
    fn prepare(&self, scan: &scan::Scan, journal: &journal::Journal, applied: &Applied) -> io::Result<()> {
        for path in &scan.marked {
            let folder = self.room.upper.folder(path.parent().unwrap_or(Path::new("")))?;
            let at = tree::by_fd(&folder).join(path.file_name().unwrap_or(OsStr::new(".")));
            tree::remove_marks(&at)?;
        }
        rustix::fs::mkdirat(&self.room.dir, "spare", rustix::fs::Mode::RWXU)?;
        plan::sync(&self.room.upper, &applied.done)?;
        tree::write_synced(&self.room.dir, journal::JOURNAL, &serde_json::to_vec(journal)?)
    }

    /// Takes back what was applied before something failed. If that fails too, the rest is left to [`recover`].
    fn give_up(self, journal: &journal::Journal, why: io::Error) -> LayerError {
        let error = self.failed("apply to", why);
        let taken_back = apply::back(&self.room, journal, None);
        if taken_back.and_then(|_| apply::folders_back(&self.room, journal.folders.iter())).is_ok() {
            // Removing it is all that is left to do, and the error is what counts.
            drop(self.room.remove());
        }
        error
    }

    fn failed(&self, what: &'static str, why: io::Error) -> LayerError {
        LayerError::Io { what, path: self.room.project_path().to_owned(), why }
    }
}

/// Called before every change. Tests make it fail as if the process had been killed.
#[cfg(not(test))]
fn may_stop() -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
use tests::may_stop;
