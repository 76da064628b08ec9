//! What a caller is told: changes, what became of them, and why something cannot be done.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// One thing that a run changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Where, relative to the project.
    pub path: PathBuf,
    /// How it differs from the project.
    pub kind: ChangeKind,
    /// What the run left there; for [`ChangeKind::Removed`], what it removed.
    pub what: What,
    /// What the project has there.
    pub was: Option<What>,
    /// Permission bits, including set-user-ID, set-group-ID and sticky.
    pub mode: u32,
    /// Whether the result is a file that somebody may execute.
    pub executable: bool,
    /// Whether the project's version was such a file.
    pub was_executable: bool,
    /// Whether the result is a file that begins with `#!`.
    pub script: bool,
    /// Whether the result is a file with the set-user-ID or set-group-ID bit.
    pub setuid: bool,
    /// Size of the result in bytes; for a removed folder, of everything in it.
    pub size: u64,
    /// Where a symbolic link leads.
    pub target: Option<PathBuf>,
    /// Whether that is outside the project: an absolute path, or one with too many `..`.
    pub leads_out: bool,
    /// Why the change cannot be applied, if somebody else changed the same thing during the run.
    pub conflict: Option<ConflictKind>,
}

/// How something differs from the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The project does not have it.
    Added,
    /// Its content or its type is different.
    Changed,
    /// Only its permissions or extended attributes are different.
    Attributes,
    /// Only its modification time is different.
    Touched,
    Removed,
}

/// What kind of thing a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    File,
    Folder,
    Link,
    /// A named pipe, a socket or a device.
    Other,
}

/// The content of a file in the project, and what the run made of it.
pub type Versions = (Option<Vec<u8>>, Option<Vec<u8>>);

/// What to do with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Carry it over to the project.
    Apply,
    /// Leave the project as it is and keep the run's version apart, for this reason.
    Hold(String),
}

/// What became of the changes of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// What is in the project now.
    pub done: Vec<Change>,
    pub held: Vec<Held>,
    /// What somebody else changed too: the project has that version.
    pub conflicts: Vec<Conflict>,
    /// What is never carried over: sockets and devices.
    pub skipped: Vec<PathBuf>,
    /// The layer that [`undo`](crate::undo) would take back.
    pub undo: Option<UndoId>,
    /// Why there is none although something was applied.
    pub undo_refused: Option<String>,
}

/// A change that was held back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub change: Change,
    /// Where the run's version is now; nowhere if the change is a removal or the attributes of a folder.
    pub to: Option<PathBuf>,
    /// The reason that the judge gave.
    pub why: String,
}

/// A change that could not be applied, because somebody else changed the same thing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub change: Change,
    /// Where the run's version is now; nowhere if the change is a removal or the attributes of a folder.
    pub to: Option<PathBuf>,
    pub kind: ConflictKind,
}

/// What somebody else did during the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    Edited,
    /// They removed it.
    Deleted,
    /// They replaced a folder on the way to it, or made it unreadable.
    Unreachable,
}

impl fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Edited => "changed in the project during the run",
            Self::Deleted => "removed from the project during the run",
            Self::Unreachable => "its folder was replaced during the run, or cannot be read",
        })
    }
}

/// Names a layer that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoId(pub(crate) String);

impl fmt::Display for UndoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What was taken back, and what was not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Undone {
    /// What is again as it was before the run.
    pub done: Vec<PathBuf>,
    pub refused: Vec<Refused>,
}

/// Something that was not taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Where, relative to the project.
    pub path: PathBuf,
    /// The reason, such as "changed since".
    pub why: String,
}

/// A layer that a process left behind, and what was done about it.
#[derive(Debug)]
pub struct Recovered {
    /// The project of the run, if that could be read.
    pub project: Option<PathBuf>,
    pub how: RecoveredHow,
}

/// What was done about a layer that was left behind.
#[derive(Debug)]
pub enum RecoveredHow {
    /// The run had not been judged: nothing of it is in the project.
    Discarded,
    /// The changes were being applied: the rest was applied too.
    Finished(Finished),
    /// The changes were being applied when the machine stopped: all were taken back.
    RolledBack(Undone),
    /// The changes were being taken back: the rest was taken back too.
    Undone(Undone),
    /// Nothing could be done; the layer is where it was.
    Failed(LayerError),
}

/// What an apply that was interrupted has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// What is in the project now; a folder stands for all that is in it.
    pub done: Vec<PathBuf>,
    /// What is apart from it: the path, where it is now, and why.
    pub apart: Vec<(PathBuf, PathBuf, String)>,
    /// Whether [`undo`](crate::undo) can take it back.
    pub undo: bool,
}

/// Why a project cannot have a layer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WhyNot {
    /// Only Linux has overlays.
    #[error("this system has no layers: they need Linux")]
    System,
    /// The kernel refuses an overlay with locked mounts below it.
    #[error("`{}` is a mount point inside the project", .0.display())]
    MountBelow(PathBuf),
    /// The run would see the layer.
    #[error("Weir's folder `{}` is inside the project", .0.display())]
    PlaceInside(PathBuf),
    /// The layer would be written to while it is read.
    #[error("the project is inside Weir's own folder `{}`", .0.display())]
    ProjectInside(PathBuf),
    /// The kernel refuses an upper folder there.
    #[error("the file system of `{}` cannot hold what a run writes ({name})", .place.display())]
    Upper {
        /// The folder of Weir.
        place: PathBuf,
        /// What file system it is on.
        name: String,
    },
    /// Without the machine's own clock, edits during the run cannot be told from older ones.
    #[error("the project's file system may have a clock of its own ({0})")]
    Clock(String),
    /// A file of another group or user could not be written by the run.
    #[error("`{}` belongs to another user or group", .0.display())]
    Owner(PathBuf),
    /// A folder could not be read.
    #[error("cannot look at `{}`: {why}", .path.display())]
    Io { path: PathBuf, why: io::Error },
}

/// Why something could not be done with a layer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LayerError {
    /// Only Linux has overlays.
    #[error("this system has no layers: they need Linux")]
    Unsupported,
    /// Nothing was applied, or the last applied layer was not kept.
    #[error("nothing to undo in this project")]
    NothingToUndo,
    /// The folder is not the one that the run saw.
    #[error("the project `{}` was moved or replaced", .0.display())]
    ProjectGone(PathBuf),
    /// The run made folders so deep that no system call reaches their end.
    #[error("a path in the layer is too long: `{}`…", .0.display())]
    TooDeep(PathBuf),
    /// A file of the layer is not what was written there.
    #[error("cannot read the layer `{}`: {why}", .path.display())]
    Damaged { path: PathBuf, why: String },
    #[error("cannot {what} `{}`: {why}", .path.display())]
    Io { what: &'static str, path: PathBuf, why: io::Error },
}
