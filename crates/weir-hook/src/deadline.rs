//! The deadline of a hook: well below the ten seconds for which clients wait, as configured by `weir setup`.

use weir_host::env::{self, Paths};
use weir_host::when;

use super::faults;

/// The default number of seconds after which the hook ends without an answer.
const DEFAULT_SECONDS: u32 = 3;

/// Starts the deadline. When it passes, this process ends without an answer, and the fault is logged.
pub(super) fn begin(paths: &Paths, what: &str) {
    let seconds = env::hook_seconds().unwrap_or(DEFAULT_SECONDS);
    let line = format!("{} {what}: not answered within {seconds} s\n", when::show(when::now()));
    weir_runner::set_deadline(seconds, &faults::path(paths), line);
}

/// Cancels the deadline before an answer is written, since half an answer is worse than none.
pub(super) fn end() {
    weir_runner::call_off_deadline();
}
