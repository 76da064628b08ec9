//! Hooks of sessions that are over: no file of this machine is what it was then.

use std::path::Path;

use weir_clients::{Hook, Point, Tool};

/// What the files are that tools have read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Files {
    /// Still as the tool saw them: they may be read again.
    AsTheyAre,
    /// Of another time: only what the client was given counts.
    OfThePast,
}

/// Makes a hook name no file of this machine: a path that a tool has read is taken from the session's folder on, and the
/// end of a transcript is not where the session is.
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
