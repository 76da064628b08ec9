//! Keeps Weir's own processes from changing the same file at the same time.
//!
//! The locks are in Weir's data folder, not next to the file. Their number is fixed, so they do not accumulate; two
//! files may share a lock and then wait for each other briefly.

use std::fs::File;
use std::path::Path;

use weir_context::Context;
use weir_host::error::{CommandError, ErrorKind};
use weir_store::private;

/// A lock that is held until it is dropped or its process ends.
pub struct Lock(#[expect(dead_code, reason = "open as long as the lock is held")] File);

/// Waits for the lock of a file.
pub fn lock(context: &Context, path: &Path) -> Result<Lock, CommandError> {
    let failed = |error: std::io::Error| {
        CommandError::new(ErrorKind::Failed, format!("nothing was changed: cannot take the lock: {error}"))
    };
    let folder = context.paths().data.join("locks");
    private::folder(&folder).map_err(failed)?;
    let hash = blake3::hash(path.as_os_str().as_encoded_bytes());
    let name = format!("{:02x}.lock", hash.as_bytes()[0]);
    let file = private::open(&folder.join(name), private::options().append(true)).map_err(failed)?;
    file.lock().map_err(failed)?;
    Ok(Lock(file))
}
