//! What can go wrong in the store, in the words of the store: the engine below is not named.

use std::path::{Path, PathBuf};

/// Why a call on the store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file is not a database, or not any more.
    #[error("the store is damaged: {} ({detail})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        detail: String,
    },
    /// The text of an entry is missing or is not what was stored.
    #[error("the text of an entry cannot be read: {} ({detail})", path.display())]
    Unreadable {
        /// The file, or what stands for the text in the log.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// A newer version of Weir has written here.
    #[error("the store was written by a newer version of Weir: {} has migration `{found}`", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The migration this version does not know.
        found: String,
    },
    /// The ledger does not agree with this version of Weir about the past.
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
        /// What the system said.
        detail: String,
    },
    /// The store belongs to another project than the scope of the call.
    #[error("this store belongs to another project")]
    OtherProject,
    /// The scope has no session or work, and the level needs one.
    #[error("cannot store this in {level} scope: there is no {level}")]
    NoSuchLevel {
        /// The level asked for.
        level: weir_core::Level,
    },
    /// A note to supersede is not there, or is not a note.
    #[error("no note {reference} is visible in this scope")]
    NoSuchNote {
        /// The reference given.
        reference: weir_core::Reference,
    },
    /// The reference to keep something under is that of something else.
    #[error("reference {reference} is already taken")]
    ReferenceTaken {
        /// The reference given.
        reference: weir_core::Reference,
    },
    /// The model made no vectors.
    #[error("semantic search does not work: {detail}")]
    NoVectors {
        /// What the model said.
        detail: String,
    },
    /// What was planned to be forgotten is not what would be forgotten now.
    #[error("the store has changed since the dry run")]
    PlanChanged,
    /// The call was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// Anything else the engine said.
    #[error("the store failed at {}: {detail}", path.display())]
    Engine {
        /// The file.
        path: PathBuf,
        /// What the engine said.
        detail: String,
    },
}

impl StoreError {
    /// Whether the same write may work later: another process holds the store, the disk is full or fails.
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Full { .. } | Self::Engine { .. } | Self::Unusable { .. })
    }
}

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// What goes wrong inside a transaction, before it is known which file it happened at.
pub(crate) enum Fault {
    /// The engine failed; the database that ran the work puts its path to it.
    Engine(rusqlite::Error),
    /// Already in the words of the store.
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
    /// Names the fault for the file it happened at.
    pub(crate) fn at(self, path: &Path) -> StoreError {
        match self {
            Self::Engine(error) => from_engine(path, &error),
            Self::Store(error) => error,
        }
    }
}

/// How long a write waits for other processes.
pub(crate) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);

/// Names what an engine error means for the file it happened at.
pub(crate) fn from_engine(path: &Path, error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode as Code;
    let path = path.to_owned();
    let detail = error.to_string();
    match error.sqlite_error_code() {
        Some(Code::DatabaseCorrupt | Code::NotADatabase) => StoreError::Damaged { path, detail },
        Some(Code::ReadOnly | Code::CannotOpen | Code::PermissionDenied) => StoreError::ReadOnly { path },
        Some(Code::DiskFull) => StoreError::Full { path },
        // The engine could not make its shared file as large as it needs it, which has this one reason.
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

/// Names what a system error means for the file it happened at.
pub(crate) fn from_system(path: &Path, error: &std::io::Error) -> StoreError {
    use std::io::ErrorKind as Kind;
    let path = path.to_owned();
    match error.kind() {
        Kind::StorageFull | Kind::QuotaExceeded => StoreError::Full { path },
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => StoreError::ReadOnly { path },
        _ => StoreError::Unusable { path, detail: error.to_string() },
    }
}
