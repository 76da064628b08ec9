//! How long things are kept and how much room they may take.

use crate::{EntryKind, Timestamp};

/// The limits of a store. The defaults are what the documentation states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Days a run's output is kept.
    pub run_days: u32,
    /// Days a page, a file or an import is kept.
    pub page_days: u32,
    /// Days an event is kept that belongs to no entry, what was said, and what says that an entry is gone.
    pub event_days: u32,
    /// Bytes a store may take on the disk, its index included; unpinned runs are evicted above it.
    pub quota_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { run_days: 30, page_days: 90, event_days: 365, quota_bytes: 2 << 30 }
    }
}

impl Limits {
    /// When an entry of this kind expires if it is kept now. Notes and documents never do.
    pub fn expiry(&self, kind: EntryKind, now: Timestamp) -> Option<Timestamp> {
        match kind {
            EntryKind::Run => Some(now.plus_days(self.run_days)),
            EntryKind::Page | EntryKind::File | EntryKind::Import => Some(now.plus_days(self.page_days)),
            EntryKind::Said => Some(now.plus_days(self.event_days)),
            EntryKind::Note | EntryKind::Document => None,
        }
    }
}

crate::written_enum! {
    /// Why an entry is no longer there.
    pub enum WhyGone {
        /// Its time was over.
        Expired = "expired",
        /// The store was over its quota and this was the run used longest ago.
        Evicted = "evicted",
        /// Someone asked for it to be forgotten.
        Forgotten = "forgotten",
        /// A newer text of the same file or page took its place, or the file is gone.
        Replaced = "replaced",
        /// Its text could not be read any more, after a power cut or on a damaged disk.
        Lost = "lost",
    }
}

/// What is left of an entry that is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    /// Why.
    pub why: WhyGone,
    /// Since when.
    pub at: Timestamp,
    /// What kind of entry it was.
    pub kind: EntryKind,
}
