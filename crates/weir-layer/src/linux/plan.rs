//! Judges what was found, and decides on every step of an apply before the first one is taken.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::journal::{FolderStep, Header, Hold, Journal, Step, Stored, Was};
use super::room::{open_folder, random};
use super::scan::{Folder, Found, Scan};
use super::tree::{Meta, Node, Tree, by_fd, open_file};
use crate::{Applied, Change, ChangeKind, Conflict, Held, Verdict, What};

/// How many files are synced one by one; above that, the whole file system is.
const FEW: usize = 16;

/// What an apply will do, and what it will say.
pub(super) struct Plan {
    pub(super) journal: Journal,
    pub(super) applied: Applied,
    /// Folders that stay as they are, although the run changed their attributes.
    kept: HashSet<PathBuf>,
    /// The folder that was held back last.
    apart: Option<PathBuf>,
    /// The new folder that was accepted last: what is in it moves with it.
    moving: Option<PathBuf>,
}

impl Plan {
    pub(super) fn new(
        header: Header,
        scan: &Scan,
        held_to: &Path,
        undo_limit: u64,
        judge: &mut dyn FnMut(&Change) -> Verdict,
    ) -> io::Result<Self> {
        let drops = scan.equal.iter().chain(&scan.skipped).cloned().map(Stored).collect();
        let journal = Journal {
            header,
            held_to: Stored(held_to.to_owned()),
            undo_limit,
            copy_holds: scan.linked,
            holds: Vec::new(),
            drops,
            steps: Vec::new(),
            folders: Vec::new(),
        };
        let applied = Applied { skipped: scan.skipped.clone(), ..Applied::default() };
        // Nothing is asked of the project's root: its attributes are not the run's business.
        let kept = HashSet::from([PathBuf::new()]);
        let mut plan = Self { journal, applied, kept, apart: None, moving: None };
        for found in &scan.found {
            if plan.apart.as_ref().is_none_or(|apart| !found.change.path.starts_with(apart)) {
                plan.decide(found, judge)?;
            }
        }
        if !plan.applied.done.is_empty() {
            plan.journal.folders = plan.folders(&scan.folders);
        }
        Ok(plan)
    }

    fn decide(&mut self, found: &Found, judge: &mut dyn FnMut(&Change) -> Verdict) -> io::Result<()> {
        let change = &found.change;
        if let Some(kind) = change.conflict {
            let to = self.set_apart(found, kind.to_string())?;
            self.applied.conflicts.push(Conflict { change: change.clone(), to, kind });
            return Ok(());
        }
        if let Verdict::Hold(why) = judge(change) {
            let to = self.set_apart(found, why.clone())?;
            self.applied.held.push(Held { change: change.clone(), to, why });
            return Ok(());
        }
        self.applied.done.push(change.clone());
        let moves = self.moving.as_ref().is_some_and(|moving| change.path.starts_with(moving));
        if !moves && !is_attributes_of_folder(change) {
            if change.what == What::Folder && change.kind != ChangeKind::Removed {
                self.moving = Some(change.path.clone());
            }
            let was = |old: &Node| Was::new(old, if old.what == What::Folder { found.replaced } else { old.size });
            let (old, new) = (found.old.as_ref().map(was), found.new.as_ref().map(|new| new.ino));
            self.journal.steps.push(Step { path: Stored(change.path.clone()), old, new });
        }
        Ok(())
    }

    /// Has the run's version moved away, and says where to.
    fn set_apart(&mut self, found: &Found, why: String) -> io::Result<Option<PathBuf>> {
        let path = &found.change.path;
        if is_attributes_of_folder(&found.change) {
            self.kept.insert(path.clone());
            return Ok(None);
        }
        let Some(new) = &found.new else { return Ok(None) };
        if new.what == What::Folder {
            self.apart = Some(path.clone());
        }
        let mut name = OsString::from(format!("{:08x}-", random()? >> 32));
        name.push(path.file_name().unwrap_or_default());
        let to = self.journal.held_to.0.join(&name);
        self.journal.holds.push(Hold { path: Stored(path.clone()), name: Stored(name.into()), why });
        Ok(Some(to))
    }

    /// What becomes of the folders' own attributes: those of every folder in which something changes.
    fn folders(&self, folders: &[Folder]) -> Vec<FolderStep> {
        let journal = &self.journal;
        let gone = journal.holds.iter().map(|hold| &hold.path).chain(&journal.drops);
        let disturbed: HashSet<&Path> = gone.filter_map(|path| path.0.parent()).collect();
        let apart: HashSet<&Path> = journal.holds.iter().map(|hold| hold.path.0.as_path()).collect();
        let stays = folders.iter().filter(|folder| !folder.path.ancestors().any(|path| apart.contains(path)));
        let steps = stays.filter_map(|folder| {
            let path = Stored(folder.path.clone());
            let Some((old, touched)) = &folder.old else {
                let needed = folder.new.mode & 0o700 != 0o700 || disturbed.contains(folder.path.as_path());
                return needed.then(|| FolderStep { path, old: None, new: folder.new.clone() });
            };
            let same = old.xattrs == folder.new.xattrs;
            let mut new = Meta { xattrs: folder.new.xattrs.clone().filter(|_| !same), ..folder.new.clone() };
            if *touched || self.kept.contains(&folder.path) {
                let mtime = new.mtime.filter(|_| !touched);
                new = Meta { mode: old.mode, mtime, xattrs: None };
            }
            let old = Meta { xattrs: old.xattrs.clone().filter(|_| !same), ..old.clone() };
            Some(FolderStep { path, old: Some(old), new })
        });
        steps.collect()
    }
}

/// Brings to the disk what will be moved: the overlay has not, and a file must never be replaced by an empty one.
pub(super) fn sync(upper: &Tree, changes: &[Change]) -> io::Result<()> {
    let files = || changes.iter().filter(|change| change.what == What::File && change.kind != ChangeKind::Removed);
    if files().count() > FEW {
        return Ok(rustix::fs::syncfs(open_folder(&by_fd(upper.fd()).join("."))?)?);
    }
    for change in files() {
        let (dir, name) = upper.at(&change.path)?;
        open_file(&dir, name)?.sync_all()?;
    }
    Ok(())
}

fn is_attributes_of_folder(change: &Change) -> bool {
    change.what == What::Folder && change.kind == ChangeKind::Attributes
}
