//! Syncs after a session. Invariants: only a project that is connected has the mark, so others pay for one look at a
//! file; the hook's answer is given before, and nothing waits for the exchange.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::news::is_listened;

/// The file whose time says when the last exchange began.
const MARK_FILE: &str = "team.mark";
/// How long an exchange counts as recent.
const MIN_PAUSE: Duration = Duration::from_secs(5 * 60);
/// How long it does while a process listens to the server and sends what is new.
const LISTENED_PAUSE: Duration = Duration::from_secs(60 * 60);

/// Starts an exchange of the project in its own process, if the store in `folder` is connected and the last one is not
/// recent.
pub fn sync_after_session(folder: &Path, project: &Path) -> std::io::Result<()> {
    let Ok(modified) = folder.join(MARK_FILE).metadata().and_then(|about| about.modified()) else { return Ok(()) };
    let age = modified.elapsed().unwrap_or(Duration::MAX);
    if age < MIN_PAUSE || (age < LISTENED_PAUSE && is_listened(folder)) {
        return Ok(());
    }
    start_exchange(folder, project)
}

/// Starts an exchange of the project in its own process.
pub(super) fn start_exchange(folder: &Path, project: &Path) -> std::io::Result<()> {
    mark_synced(folder);
    let arguments = ["-C".into(), OsString::from(project), "sync".into(), "--quiet".into()];
    weir_runner::start_detached(&weir_host::os::helper(), &arguments)
}

/// Notes that an exchange begins.
pub fn mark_synced(folder: &Path) {
    // Without the mark, nothing is synced after sessions, which `weir doctor` shows by its time.
    let _ = std::fs::write(folder.join(MARK_FILE), b"");
}

/// Notes that there is something to send that should not wait.
pub(super) fn mark_due(folder: &Path) {
    // Without a mark there is no connection, or it waits until the next exchange.
    let mark = File::options().write(true).open(folder.join(MARK_FILE));
    let _ = mark.and_then(|mark| mark.set_modified(SystemTime::UNIX_EPOCH));
}

/// Whether there is something to send that should not wait.
pub(super) fn is_due(folder: &Path) -> bool {
    let modified = folder.join(MARK_FILE).metadata().and_then(|about| about.modified());
    modified.is_ok_and(|modified| modified == SystemTime::UNIX_EPOCH)
}

/// Removes the mark, after which sessions do not sync.
pub fn forget_mark(folder: &Path) {
    let _ = std::fs::remove_file(folder.join(MARK_FILE));
}
