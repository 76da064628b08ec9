//! One exchange of a store at a time. Invariant: while a process has the lock, no other one writes records for the
//! store, sends or receives them, connects the project or ends its connection. Two that number their records at the
//! same moment would look like a cloned machine to the server.

use std::fs::{File, TryLockError};
use std::path::Path;

use weir_host::error::{CommandError, ErrorKind};

const LOCK_FILE: &str = "team.lock";

/// The right to exchange records for a store. It ends on drop, and with the process.
pub struct ExchangeLock {
    _file: File,
}

impl ExchangeLock {
    /// Waits until no other process has the lock of the store in `folder`.
    pub fn wait(folder: &Path) -> Result<Self, CommandError> {
        let file = open(folder)?;
        file.lock().map_err(failed)?;
        Ok(Self { _file: file })
    }

    /// Returns the lock of the store in `folder`, or `None` if another process has it.
    pub fn try_take(folder: &Path) -> Result<Option<Self>, CommandError> {
        let file = open(folder)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }
}

fn open(folder: &Path) -> Result<File, CommandError> {
    let path = folder.join(LOCK_FILE);
    File::options().write(true).create(true).truncate(false).open(path).map_err(failed)
}

fn failed(error: std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot lock the exchange with the team: {error}"))
        .hint("check that Weir's data can be written: weir doctor")
}
