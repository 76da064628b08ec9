//! Turns errors of the engine into errors of the port. Invariant: no message names a file.

use std::io;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use weir_records::{ErrorKind, PortError};

/// What went wrong, for every call that was part of it.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    kind: ErrorKind,
    reason: String,
}

impl Failure {
    pub(super) fn of(error: &TantivyError) -> Self {
        let (kind, reason) = match system_error(error) {
            Some(error) => (kind_of(error), error.to_string()),
            None => (engine_kind(error), engine_reason(error)),
        };
        Self { kind, reason }
    }

    /// Returns the error of a call that was `doing` this.
    pub(super) fn at(&self, doing: &str) -> PortError {
        PortError::new(self.kind, doing).because(self.reason.clone())
    }
}

/// Returns the error of a call.
pub(super) fn from_engine(error: &TantivyError, doing: &str) -> PortError {
    Failure::of(error).at(doing)
}

/// Returns the error of a call that the system refused.
pub(super) fn from_system(error: &io::Error, doing: &str) -> PortError {
    PortError::new(kind_of(error), doing).because(error.to_string())
}

/// Returns whether an index cannot be used as it is: it is damaged, or another version made it. It can be made again
/// from the log.
pub(super) fn is_unusable(error: &TantivyError) -> bool {
    Failure::of(error).kind == ErrorKind::Damaged
}

fn system_error(error: &TantivyError) -> Option<&io::Error> {
    match error {
        TantivyError::IoError(error)
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error: error, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error: error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error: error, .. })
        | TantivyError::LockFailure(LockError::IoError(error), _) => Some(error),
        _ => None,
    }
}

fn kind_of(error: &io::Error) -> ErrorKind {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => ErrorKind::Damaged,
        _ => ErrorKind::Unavailable,
    }
}

fn engine_kind(error: &TantivyError) -> ErrorKind {
    match error {
        TantivyError::LockFailure(LockError::LockBusy, _) => ErrorKind::Busy,
        TantivyError::DataCorruption(_)
        | TantivyError::IncompatibleIndex(_)
        | TantivyError::SchemaError(_)
        | TantivyError::OpenReadError(_) => ErrorKind::Damaged,
        _ => ErrorKind::Unavailable,
    }
}

fn engine_reason(error: &TantivyError) -> String {
    let reason = match error {
        TantivyError::LockFailure(..) => "another process writes to it",
        TantivyError::DataCorruption(_) => "it can be rebuilt from the log",
        TantivyError::IncompatibleIndex(_) | TantivyError::SchemaError(_) => "another version made it",
        TantivyError::OpenReadError(_) => "a part of it is missing",
        TantivyError::ErrorInThread(_) | TantivyError::SystemError(_) => "a thread that wrote to it has failed",
        _ => "the engine failed",
    };
    reason.to_owned()
}
