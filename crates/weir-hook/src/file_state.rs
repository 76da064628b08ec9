//! Hooks of past sessions, for which the files on this machine are no longer what they were.

use std::path::Path;

use weir_clients::{Hook, Point, Tool};

/// The state of the files that tools have read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Still as the tool saw them, so they may be read again.
    AsTheyAre,
    /// From another time, so only the text that the client was given counts.
    OfThePast,
    /// Named by a request to a model, which can name any file: none is opened, and nobody reports a compaction.
    InARequest,
}

/// Removes references to files on this machine from a hook: makes the path that a tool read relative to the session's
/// folder, and drops the transcript, whose end is not where the session was.
pub(super) fn forget_files(hook: &mut Hook) {
    if let Point::BeforeCompaction | Point::AfterCompaction { .. } | Point::SessionStart(_) = hook.point {
        hook.transcript = None;
    }
    let Point::AfterTool(used, done) = &mut hook.point else { return };
    if let Tool::Read { path, .. } = &mut used.tool {
        let below = Path::new(path).strip_prefix(&hook.folder).ok().and_then(Path::to_str);
        *path = below.unwrap_or(path).trim_start_matches('/').to_owned();
        done.output.saved = None;
    }
}
