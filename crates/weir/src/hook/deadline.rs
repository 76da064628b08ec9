//! The time that a hook may take: well below the ten seconds that clients wait, as `weir setup` tells them.

use super::faults;
use crate::env::{self, Paths};
use crate::when;

/// The number of seconds after which the answer is empty.
const SECONDS: u32 = 3;

/// Begins it: when it is over, this process ends without an answer, and the fault is written down.
pub(super) fn begin(paths: &Paths, what: &str) {
    let seconds = env::hook_seconds().unwrap_or(SECONDS);
    let line = format!("{} {what}: not answered within {seconds} s\n", when::show(when::now()));
    weir_runner::set_deadline(seconds, &faults::path(paths), line);
}

/// Ends it, before an answer is written: half of one is worse than none.
pub(super) fn end() {
    weir_runner::call_off_deadline();
}
