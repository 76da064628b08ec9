//! Tests with real overlays.

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
