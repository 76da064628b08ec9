//! Errors of the store. They name neither the engine underneath nor a path: which part of the store is concerned, the
//! caller can turn into the path of a file.
//!
//! Invariant: only a [`Loss`] is ever recorded or acted on for good. An error that may pass never becomes one.

use std::fmt;
use std::io;
use std::path::Path;

use crate::layout::StorePart;

/// Why a text is lost. This is a fact about the text: it lasts until the same text is stored again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// Its file does not exist.
    Absent,
    /// It differs from what was stored. The text says how.
    Damaged(String),
}

impl Loss {
    /// Returns the loss that an error in opening or reading a file shows, or `None` if the error may pass.
    pub fn shown_by(error: &io::Error) -> Option<Self> {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Some(Self::Absent),
            io::ErrorKind::UnexpectedEof => Some(Self::Damaged("its file is too short".to_owned())),
            io::ErrorKind::IsADirectory => Some(Self::Damaged("its file is a folder".to_owned())),
            _ => None,
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("its file is missing"),
            Self::Damaged(how) => f.write_str(how),
        }
    }
}

/// Why a text cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    Lost,
    /// The system refuses to read it at the moment.
    Now,
}

/// Why the system refuses to open, read or write something at the moment. This says nothing about its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The permissions of the file or of a folder above it.
    Forbidden,
    /// Too many files are open in this process or on this machine.
    TooManyFiles,
    /// There is not enough memory.
    NoMemory,
    /// Anything else, such as a failing disk.
    Other,
}

impl From<&io::Error> for Refusal {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::Forbidden,
            io::ErrorKind::OutOfMemory => Self::NoMemory,
            _ if is_lack_of_files(error) => Self::TooManyFiles,
            _ => Self::Other,
        }
    }
}

#[cfg(unix)]
fn is_lack_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
fn is_lack_of_files(_error: &io::Error) -> bool {
    false
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreError {
    /// The file is not a database, or has become damaged.
    Damaged {
        at: StorePart,
        detail: String,
    },
    Lost {
        /// The file of the text, or the text itself if it is in the log.
        at: StorePart,
        loss: Loss,
    },
    /// An older version of Weir wrote the store, and it was opened without being migrated.
    Older {
        at: StorePart,
    },
    /// A newer version of Weir has written to the store.
    Newer {
        at: StorePart,
        /// The migration this version does not know.
        found: String,
    },
    /// The ledger of migrations differs from that of this version of Weir.
    OtherHistory {
        at: StorePart,
        /// The migration whose checksum differs.
        name: String,
    },
    /// The file or its folder cannot be written.
    ReadOnly {
        at: StorePart,
    },
    Full {
        /// The part that could not grow.
        at: StorePart,
    },
    /// Another process held the store for too long.
    Busy {
        at: StorePart,
    },
    /// A file or folder of the store cannot be used at the moment.
    Unusable {
        at: StorePart,
        why: Refusal,
        detail: String,
    },
    /// Any other error of the engine.
    Engine {
        at: StorePart,
        detail: String,
    },
    /// The store belongs to a different project than the scope of the call.
    OtherProject,
    /// The scope of the call names a tenant or a user, which only a server has.
    NotLocal,
    /// The level needs a session or work that the scope does not have.
    NoSuchLevel {
        level: weir_core::Level,
    },
    /// The note to supersede does not exist or is not visible, or the entry is not a note.
    NoSuchNote {
        reference: weir_core::Reference,
    },
    /// The reference for a new entry is already in use.
    ReferenceTaken {
        reference: weir_core::Reference,
    },
    /// The entries to forget have changed since the plan was made.
    PlanChanged,
    Cancelled,
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message_at(&self.part().map(ToString::to_string).unwrap_or_default()))
    }
}

impl StoreError {
    /// Returns the error for a text whose file cannot be opened or read.
    pub fn of_text(at: StorePart, error: &io::Error) -> Self {
        match Loss::shown_by(error) {
            Some(loss) => Self::Lost { at, loss },
            None => Self::unusable(at, error),
        }
    }

    /// Returns why a text cannot be read, if this is an error of the text and not of the log.
    pub fn unreadable_text(&self) -> Option<Unreadable> {
        match self {
            Self::Lost { .. } => Some(Unreadable::Lost),
            Self::Unusable { at: StorePart::Blobs | StorePart::Blob(_) | StorePart::Text(_), .. } => {
                Some(Unreadable::Now)
            }
            _ => None,
        }
    }

    /// Returns the error for a part that the system refuses at the moment.
    pub fn unusable(at: StorePart, error: &io::Error) -> Self {
        Self::Unusable { at, why: error.into(), detail: error.to_string() }
    }

    /// Returns whether the same call may succeed later: another process holds the store, the disk is full or failing,
    /// or the folder cannot be written at the moment.
    pub fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Full { .. } | Self::ReadOnly { .. } | Self::Engine { .. } | Self::Unusable { .. }
        )
    }

    /// Returns whether the error is about the content of a database, so that it lasts until the database is replaced.
    pub fn is_of_content(&self) -> bool {
        matches!(self, Self::Damaged { .. } | Self::Engine { .. } | Self::OtherHistory { .. } | Self::Newer { .. })
    }

    /// Returns the part of the store that the error is about, if it is about one.
    pub fn part(&self) -> Option<&StorePart> {
        match self {
            Self::Damaged { at, .. }
            | Self::Lost { at, .. }
            | Self::Older { at }
            | Self::Newer { at, .. }
            | Self::OtherHistory { at, .. }
            | Self::ReadOnly { at }
            | Self::Full { at }
            | Self::Busy { at }
            | Self::Unusable { at, .. }
            | Self::Engine { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Returns the message, with the name by which the caller knows the part of the store.
    pub fn message_at(&self, place: &str) -> String {
        match self {
            Self::Damaged { detail, .. } => format!("the store is damaged: {place} ({detail})"),
            Self::Lost { loss, .. } => format!("the text of an entry is lost: {place} ({loss})"),
            Self::Older { .. } => format!("the store was written by an older version of Weir: {place}"),
            Self::Newer { found, .. } => {
                format!("the store was written by a newer version of Weir: {place} has migration `{found}`")
            }
            Self::OtherHistory { name, .. } => {
                format!("a development version of Weir wrote the store: {place} has another migration `{name}`")
            }
            Self::ReadOnly { .. } => format!("cannot write to the store: {place}"),
            Self::Full { .. } => format!("the disk is full: {place}"),
            Self::Busy { .. } => format!("the store is busy: another process holds the lock of {place}"),
            Self::Unusable { detail, .. } => format!("cannot use {place}: {detail}"),
            Self::Engine { detail, .. } => format!("the store failed at {place}: {detail}"),
            Self::OtherProject => "this store belongs to another project".to_owned(),
            Self::NotLocal => "this store is for local use, and the scope names a tenant or a user".to_owned(),
            Self::NoSuchLevel { level } => format!("cannot store this in {level} scope: there is no {level}"),
            Self::NoSuchNote { reference } => format!("no note {reference} is visible in this scope"),
            Self::ReferenceTaken { reference } => format!("reference {reference} is already taken"),
            Self::PlanChanged => "the store has changed since the dry run".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
        }
    }
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error inside a transaction, before it is known which database it happened in.
pub enum Fault {
    /// The engine failed. The database that ran the transaction adds which part of the store it is.
    Engine(rusqlite::Error),
    /// Already an error of the store.
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// Turns the fault into an error of the part that it happened in, whose database is at `path`.
    pub fn at(self, part: &StorePart, path: &Path) -> StoreError {
        match self {
            Self::Engine(error) => from_engine(part, path, &error),
            Self::Store(error) => error,
        }
    }
}

/// Default time that a write waits for other processes.
pub const DEFAULT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Turns an error of the engine into an error of the part that it happened in, whose database is at `path`.
pub fn from_engine(part: &StorePart, path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let at = part.clone();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => StoreError::Damaged { at, detail },
        Some(Code::ReadOnly | Code::PermissionDenied) => StoreError::ReadOnly { at },
        // The engine does not say why.
        Some(Code::CannotOpen) => why_not_opened(at, path, detail),
        Some(Code::DiskFull) => StoreError::Full { at },
        // The engine could not grow its shared-memory file. A full disk is the usual reason for that.
        Some(Code::SystemIoFailure) if extended(error) == rusqlite::ffi::SQLITE_IOERR_SHMSIZE && is_full(path) => {
            StoreError::Full { at }
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => StoreError::Busy { at },
        Some(Code::OperationInterrupted) => StoreError::Cancelled,
        Some(Code::OutOfMemory) => StoreError::Unusable { at, why: Refusal::NoMemory, detail },
        Some(Code::SystemIoFailure | Code::FileLockingProtocolFailed) => {
            StoreError::Unusable { at, why: Refusal::Other, detail }
        }
        _ => StoreError::Engine { at, detail },
    }
}

fn extended(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(0, |error| error.extended_code)
}

/// Finds out why a database or one of its side files cannot be opened.
fn why_not_opened(at: StorePart, path: &Path, detail: String) -> StoreError {
    match std::fs::File::options().read(true).write(true).open(path) {
        Err(error) => from_system(at, &error),
        Ok(_) if is_full(path) => StoreError::Full { at },
        // The side files have to be created.
        Ok(_) if !can_create_beside(path) => StoreError::ReadOnly { at },
        Ok(_) => StoreError::Unusable { at, why: Refusal::Other, detail },
    }
}

#[cfg(unix)]
fn can_create_beside(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    path.parent().is_none_or(|folder| access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

#[cfg(not(unix))]
fn can_create_beside(_path: &Path) -> bool {
    false
}

/// Returns whether the file system of a path has no room for another file.
#[cfg(unix)]
fn is_full(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::statvfs(folder).is_ok_and(|about| about.f_bavail == 0 || (about.f_files > 0 && about.f_favail == 0))
}

#[cfg(not(unix))]
fn is_full(_path: &Path) -> bool {
    true
}

/// Turns an error of the system into an error of the part that it happened in. For an error in reading, see
/// [`StoreError::unusable`]: permission to read has nothing to do with permission to write.
pub fn from_system(part: StorePart, error: &io::Error) -> StoreError {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => StoreError::Full { at: part },
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => StoreError::ReadOnly { at: part },
        _ => StoreError::unusable(part, error),
    }
}
