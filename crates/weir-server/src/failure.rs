//! The failures of ports, as a person reads them.

use weir_host::error::{CommandError, ErrorKind};
use weir_records::{ErrorKind as PortKind, PortError};

/// Returns the failure of a port as a person reads it.
pub(super) fn failed(error: PortError) -> CommandError {
    let kind = match error.kind {
        PortKind::Invalid => ErrorKind::Usage,
        PortKind::Missing => ErrorKind::NotFound,
        _ => ErrorKind::Store,
    };
    let message = match (error.kind, &error.source) {
        // What is missing here is not a record.
        (PortKind::Missing, Some(reason)) => format!("cannot {}: {reason}", error.at),
        _ => error.to_string(),
    };
    CommandError::new(kind, message)
}
