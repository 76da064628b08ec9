//! What an index follows: the changes of a log, in order, and the entries they are about. Invariant: an index knows
//! nothing of a log but this.

use crate::blobs::BlobReader;
use crate::error::{Result, Unreadable};

/// A log as an index sees it.
pub(crate) trait Feed {
    /// Returns the identity of the log. No two logs share one.
    fn identity(&self) -> Result<String>;
    /// Returns the position of the newest change, or 0 if there is none.
    fn head(&self) -> Result<i64>;
    /// Returns at most `most` changes after a position, oldest first.
    fn changes_after(&self, position: i64, most: usize) -> Result<Vec<Change>>;
    fn reference(&self, entry_id: i64) -> Result<Option<String>>;
    /// Returns whether the log has this change: whether its event exists, or its entry is gone since.
    fn has_change(&self, position: i64, entry_id: i64) -> Result<bool>;
    /// Returns an entry, or `None` if it is gone by now.
    fn entry(&self, id: i64) -> Result<Option<IndexedEntry>>;
}

/// A change that an index has to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) position: i64,
    pub(crate) entry_id: i64,
    pub(crate) kind: ChangeKind,
}

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Kept,
    /// The user asked to leave no trace of the entry.
    Forgotten,
    /// The entry is gone for any other reason, such as expiry or eviction.
    OtherwiseGone,
}

/// An entry as the index needs it.
pub(crate) struct IndexedEntry {
    pub(crate) kind: String,
    pub(crate) level: String,
    pub(crate) client: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) work: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) at: i64,
    pub(crate) title: String,
    /// The text, or why it cannot be read.
    pub(crate) text: Result<BlobReader, Unreadable>,
}
