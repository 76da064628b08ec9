//! Errors of the store. They name neither the engine underneath nor a path: which part of the store is concerned, the
//! caller can turn into the path of a file.

use std::fmt;

use crate::layout::StorePart;

/// An error of the store.
#[derive(Debug, Clone)]
pub enum StoreError {
    /// The file is not a database, or has become damaged.
    Damaged {
        /// The part.
        at: StorePart,
        /// The engine's message.
        detail: String,
    },
    /// The text of an entry is missing, or differs from what was stored.
    Unreadable {
        /// The file of the text, or the text itself if it is in the log.
        at: StorePart,
        /// What is wrong with the text.
        detail: String,
    },
    /// An older version of Weir wrote the store, and it was opened without being migrated.
    Older {
        /// The part.
        at: StorePart,
    },
    /// A newer version of Weir has written to the store.
    Newer {
        /// The part.
        at: StorePart,
        /// The migration this version does not know.
        found: String,
    },
    /// The ledger of migrations differs from that of this version of Weir.
    OtherHistory {
        /// The part.
        at: StorePart,
        /// The migration whose checksum differs.
        name: String,
    },
    /// The file or its folder cannot be written.
    ReadOnly {
        /// The part.
        at: StorePart,
    },
    /// The disk is full.
    Full {
        /// The part that could not grow.
        at: StorePart,
    },
    /// Another process held the store for too long.
    Busy {
        /// The part.
        at: StorePart,
    },
    /// A file or folder of the store could not be used.
    Unusable {
        /// The part.
        at: StorePart,
        /// The system's message.
        detail: String,
    },
    /// Any other error of the engine.
    Engine {
        /// The part.
        at: StorePart,
        /// The engine's message.
        detail: String,
    },
    /// The store belongs to a different project than the scope of the call.
    OtherProject,
    /// The scope of the call names a tenant or a user, which only a server has.
    NotLocal,
    /// The level needs a session or work that the scope does not have.
    NoSuchLevel {
        /// The requested level.
        level: weir_core::Level,
    },
    /// The note to supersede does not exist or is not visible, or the entry is not a note.
    NoSuchNote {
        /// The reference given.
        reference: weir_core::Reference,
    },
    /// The reference for a new entry is already in use.
    ReferenceTaken {
        /// The reference given.
        reference: weir_core::Reference,
    },
    /// The entries to forget have changed since the plan was made.
    PlanChanged,
    /// The call was cancelled.
    Cancelled,
}

impl std::error::Error for StoreError {}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message_at(&self.part().map(ToString::to_string).unwrap_or_default()))
    }
}

impl StoreError {
    /// Returns whether the same write may succeed later: another process holds the store, or the disk is full or
    /// failing.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Full { .. } | Self::Engine { .. } | Self::Unusable { .. })
    }

    /// Returns the part of the store that the error is about, if it is about one.
    pub fn part(&self) -> Option<&StorePart> {
        match self {
            Self::Damaged { at, .. }
            | Self::Unreadable { at, .. }
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
            Self::Unreadable { detail, .. } => format!("the text of an entry cannot be read: {place} ({detail})"),
            Self::Older { .. } => format!("the store was written by an older version of Weir: {place}"),
            Self::Newer { found, .. } => {
                format!("the store was written by a newer version of Weir: {place} has migration `{found}`")
            }
            Self::OtherHistory { name, .. } => {
                format!("the store has a different history: {place} ran another version of migration `{name}`")
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

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error inside a transaction, before it is known which database it happened in.
pub(crate) enum Fault {
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
    /// Turns the fault into an error of the part it happened in.
    pub(crate) fn at(self, part: &StorePart) -> StoreError {
        match self {
            Self::Engine(error) => from_engine(part, &error),
            Self::Store(error) => error,
        }
    }
}

/// Default time that a write waits for other processes.
pub(crate) const DEFAULT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Turns an error of the engine into an error of the part it happened in.
pub(crate) fn from_engine(part: &StorePart, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let at = part.clone();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => StoreError::Damaged { at, detail },
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => StoreError::ReadOnly { at },
        Some(Code::DiskFull) => StoreError::Full { at },
        // The engine could not grow its shared-memory file. A full disk is the only reason for that.
        Some(Code::SystemIoFailure) if extended(error) == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => {
            StoreError::Full { at }
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => StoreError::Busy { at },
        Some(Code::OperationInterrupted) => StoreError::Cancelled,
        _ => StoreError::Engine { at, detail },
    }
}

fn extended(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(0, |error| error.extended_code)
}

/// Turns an error of the system into an error of the part it happened in.
pub(crate) fn from_system(part: StorePart, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind as Kind;
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => StoreError::Full { at: part },
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => StoreError::ReadOnly { at: part },
        _ => StoreError::Unusable { at: part, detail: error.to_string() },
    }
}
