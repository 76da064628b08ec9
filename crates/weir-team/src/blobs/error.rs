//! Turns errors of the object store into errors of the port. Invariant: no message names a file or a key.

use std::error::Error;
use std::io;

use weir_records::{ErrorKind, PortError};

/// How much of a server's message is shown, in characters.
const MAX_REASON_CHARS: usize = 200;

/// Returns the error of a call.
pub(super) fn from_store(error: &object_store::Error, doing: &str) -> PortError {
    use object_store::Error as Store;
    if let Some(error) = system_error(error) {
        return from_system(error, doing);
    }
    let reason = match error {
        Store::PermissionDenied { .. } => "the store does not permit it".to_owned(),
        Store::Unauthenticated { .. } => "the store does not accept the credentials".to_owned(),
        Store::NotImplemented { .. } | Store::NotSupported { .. } => "the store does not support it".to_owned(),
        // The innermost error is about the cause; the others around it name what was asked for.
        other => innermost(other).to_string().chars().take(MAX_REASON_CHARS).collect(),
    };
    PortError::new(ErrorKind::Unavailable, doing).because(reason)
}

/// Returns the error of a call that the system refused.
pub(super) fn from_system(error: &io::Error, doing: &str) -> PortError {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ErrorKind::Full,
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => ErrorKind::Damaged,
        _ => ErrorKind::Unavailable,
    };
    PortError::new(kind, doing).because(error.to_string())
}

fn system_error(error: &object_store::Error) -> Option<&io::Error> {
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<io::Error>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn innermost<'a>(error: &'a (dyn Error + 'static)) -> &'a (dyn Error + 'static) {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error
}
