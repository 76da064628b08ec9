//! The end of an index in a server that goes on. Invariant: nothing is left that writes to its files.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use futures_util::FutureExt as _;

use super::super::TantivyIndex;

impl TantivyIndex {
    /// Returns whether nobody writes, and nothing is merged in the background.
    pub(in crate::index) fn is_quiet(&self) -> bool {
        let Ok(mut writing) = self.writing.try_lock() else { return false };
        let merged = writing.merging.as_mut().and_then(|merging| (&mut merging.done).now_or_never());
        if let Some(merged) = merged {
            writing.merging = None;
            self.failed_merges.fetch_add(u64::from(merged.is_err()), Ordering::Relaxed);
        }
        writing.merging.is_none()
    }

    /// Closes the index, after what it does in the background. Otherwise that would write to files which the next one
    /// to open them believes to be its own.
    pub(in crate::index) fn close(self) {
        let writing = self.writing.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(merging) = writing.merging {
            drop(merging.done.wait());
        }
        if let Some(writer) = writing.writer {
            // A failed merge leaves the segments as they were.
            drop(writer.wait_merging_threads());
        }
    }
}
