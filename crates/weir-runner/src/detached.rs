//! Processes that outlive the one that starts them, and that nothing waits for.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// Starts `program` as a process that nothing waits for and that prints nowhere. On Unix it has a group of its own, so
/// that a signal for this one does not end it.
#[expect(clippy::disallowed_methods, reason = "this is the runner")]
pub fn start_detached(program: &Path, arguments: &[OsString]) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn().map(drop)
}
