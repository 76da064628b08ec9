//! Tests with real overlays, which `unshare` and `mount` make. Where those cannot, the tests fail.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod conflicts;
mod damage;
mod held;
mod killed;
mod random;
mod rig;
mod same;

use std::cell::Cell;
use std::io;

thread_local! {
    /// How many more changes this thread may make.
    static LEFT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Fails once the changes are used up, and from then on: a killed process makes no further ones.
pub(super) fn may_stop() -> io::Result<()> {
    LEFT.with(|left| match left.get() {
        Some(0) => Err(io::Error::other("killed")),
        Some(more) => {
            left.set(Some(more - 1));
            Ok(())
        }
        None => Ok(()),
    })
}

/// Does something as a process that is killed before its change with this number. Says whether it was.
fn kill_after<T>(changes: u64, act: impl FnOnce() -> T) -> (T, bool) {
    LEFT.set(Some(changes));
    let result = act();
    (result, LEFT.take() == Some(0))
}
