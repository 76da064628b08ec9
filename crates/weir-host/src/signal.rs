//! The signals with which a person or a client ends the program.

use std::time::Duration;

/// How long runs that are ended by a signal have to store their output.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

pub use crate::os::asked_to_end;
