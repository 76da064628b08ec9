//! Retention periods and the quota.

use crate::{EntryKind, Timestamp};

/// The limits of a store. The defaults are those in the documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub run_days: u32,
    /// Number of days that a page, a file or an import is kept.
    pub page_days: u32,
    /// Number of days that events without an entry, what was said, and tombstones of entries are kept.
    pub event_days: u32,
    /// Maximum size of a store on disk in bytes, including its index. Above it, unpinned runs are evicted.
    pub quota_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { run_days: 30, page_days: 90, event_days: 365, quota_bytes: 2 << 30 }
    }
}

impl Limits {
    /// Returns when an entry of this kind expires if it is kept now. Notes and documents never expire.
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
    pub enum WhyGone {
        Expired = "expired",
        /// The store was over its quota, and this was the least recently used run.
        Evicted = "evicted",
        /// Someone asked to forget it.
        Forgotten = "forgotten",
        /// A newer text of the same file or page replaced it, or the file no longer exists.
        Replaced = "replaced",
        /// Its text could not be read any more, after a power cut or on a damaged disk.
        Lost = "lost",
    }
}

/// The tombstone of an entry that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone {
    pub why: WhyGone,
    pub at: Timestamp,
    pub kind: EntryKind,
}
