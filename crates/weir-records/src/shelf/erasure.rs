//! Removes what a user wrote, because they have left or ask for it.

use weir_core::{Scope, Timestamp, UserId, WhyGone};

use super::Shelf;
use crate::error::Result;
use crate::ports::{Position, Readers, StoredRecord};
use crate::record::Body;

/// How many records are read at once. A sealed one may have 2 MiB.
const BATCH: usize = 32;

/// What became of the records of a user in one project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasedAuthor {
    /// The entries that were removed, private ones too.
    pub entries: u64,
    /// The records that stay and name the user: what they superseded, confirmed, removed and granted.
    pub left: u64,
}

impl Shelf {
    /// Removes the entries of a user from the log, with their texts. The removals are by the user of the scope, who
    /// acts as an admin. An index has the words until it follows. If this fails half way, calling it again completes it.
    pub fn erase_author(&self, scope: &Scope, author: &UserId, now: Timestamp) -> Result<ErasedAuthor> {
        // What is removed meanwhile is a record too, so the end is fixed before.
        let end = self.ports.log.head(scope)?;
        let (mut erased, mut next) = (ErasedAuthor::default(), Position(0));
        while next < end {
            let batch = self.ports.log.read_since(scope, next, BATCH, Readers::Index)?;
            next = batch.next;
            for StoredRecord { record, .. } in batch.records.into_iter().filter(|one| one.position <= end) {
                if record.author.user != *author {
                    continue;
                }
                if !matches!(record.body, Body::Kept(_) | Body::Sealed(_)) {
                    erased.left += 1;
                    continue;
                }
                let removal = Body::Removed { record: record.id, why: WhyGone::Forgotten, as_admin: true };
                self.remove(scope, &record, removal, now)?;
                erased.entries += 1;
            }
        }
        Ok(erased)
    }
}
