//! Errors of the store. They do not name the engine underneath.

use std::path::{Path, PathBuf};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is not a database, or has become damaged.
    #[error("the store is damaged: {} ({detail})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The engine's message.
        detail: String,
    },
    /// The text of an entry is missing, or differs from what was stored.
    #[error("the text of an entry cannot be read: {} ({detail})", path.display())]
    Unreadable {
        /// The file, or the database if the text is stored there.
        path: PathBuf,
        /// What is wrong with the text.
        detail: String,
    },
    /// A newer version of Weir has written to the store.
    #[error("the store was written by a newer version of Weir: {} has migration `{found}`", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The migration this version does not know.
        found: String,
    },
    /// The ledger of migrations differs from that of this version of Weir.
    #[error("the store has a different history: {} ran another version of migration `{name}`", path.display())]
    OtherHistory {
        /// The file.
        path: PathBuf,
        /// The migration whose checksum differs.
        name: String,
    },
    /// The file or its folder cannot be written.
    #[error("cannot write to the store: {}", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("the disk is full: {}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process held the store for too long.
    #[error("the store is busy: another process holds the lock of {}", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// A file or folder of the store could not be used.
    #[error("cannot use {}: {detail}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// The system's message.
        detail: String,
    },
    /// The store belongs to a different project than the scope of the call.
    #[error("this store belongs to another project")]
    OtherProject,
    /// The scope of the call names a tenant or a user, which only a server has.
    #[error("this store is for local use, and the scope names a tenant or a user")]
    NotLocal,
    /// The level needs a session or work that the scope does not have.
    #[error("cannot store this in {level} scope: there is no {level}")]
    NoSuchLevel {
        /// The requested level.
        level: weir_core::Level,
    },
    /// The note to supersede does not exist or is not visible, or the entry is not a note.
    #[error("no note {reference} is visible in this scope")]
    NoSuchNote {
        /// The reference given.
        reference: weir_core::Reference,
    },
    /// The reference for a new entry is already in use.
    #[error("reference {reference} is already taken")]
    ReferenceTaken {
        /// The reference given.
        reference: weir_core::Reference,
    },
    /// The entries to forget have changed since the plan was made.
    #[error("the store has changed since the dry run")]
    PlanChanged,
    /// The call was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Any other error of the engine.
    #[error("the store failed at {}: {detail}", path.display())]
    Engine {
        /// The file.
        path: PathBuf,
        /// The engine's message.
        detail: String,
    },
}

impl StoreError {
    /// Returns whether the same write may succeed later: another process holds the store, or the disk is full or
    /// failing.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Full { .. } | Self::Engine { .. } | Self::Unusable { .. })
    }
}

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error inside a transaction, before the path of its file is known.
pub(crate) enum Fault {
    /// The engine failed. The database that ran the transaction adds its path.
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
    /// Turns the fault into an error for the file it happened in.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Engine(error) => from_engine(path, &error),
            Self::Store(error) => error,
        }
    }
}

/// Default time that a write waits for other processes.
pub(crate) const DEFAULT_PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Turns an error of the engine into an error for the file it happened in.
pub(crate) fn from_engine(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => StoreError::Damaged { path, detail },
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => StoreError::ReadOnly { path },
        Some(Code::DiskFull) => StoreError::Full { path },
        // The engine could not grow its shared-memory file. A full disk is the only reason for that.
        Some(Code::SystemIoFailure) if extended(error) == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => {
            StoreError::Full { path }
        }
        Some(Code::DatabaseBusy | Code::DatabaseLocked) => StoreError::Busy { path },
        Some(Code::OperationInterrupted) => StoreError::Cancelled,
        _ => StoreError::Engine { path, detail },
    }
}

fn extended(error: &rusqlite::Error) -> i32 {
    error.sqlite_error().map_or(0, |error| error.extended_code)
}

/// Turns an error of the system into an error for the file it happened in.
pub(crate) fn from_system(path: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind as Kind;
    let path = path.to_owned();
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => StoreError::Full { path },
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        _ => StoreError::Unusable { path, detail: error.to_string() },
    }
}
