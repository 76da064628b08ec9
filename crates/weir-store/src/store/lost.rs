//! Finds texts that are lost or cannot be read at the moment, and removes the entries of lost ones. Invariant: an entry
//! is removed only if its text is lost when the write lock is held.

use weir_core::{EntryKind, Reference, Timestamp, WhyGone};

use super::Store;
use crate::blobs::Depth;
use crate::error::{Fault, Loss, Result, StoreError};
use crate::log::entries;

/// Number of texts that are checked in one view of the log.
const BATCH_TEXTS: usize = 200;

/// An entry with a text that cannot be read, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadEntry<R> {
    id: i64,
    blob_id: i64,
    pub reference: Reference,
    pub kind: EntryKind,
    pub title: String,
    pub source: Option<String>,
    /// Why its text cannot be read.
    pub why: R,
}

pub type LostText = UnreadEntry<Loss>;
/// An entry whose text cannot be read at the moment, and the system's message.
pub type UnavailableText = UnreadEntry<String>;

/// The texts of a store that cannot be read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnreadTexts {
    pub lost: Vec<LostText>,
    /// Those that cannot be read at the moment. Nothing is known about their content.
    pub unavailable: Vec<UnavailableText>,
}

impl Store {
    /// Returns the entries whose text cannot be read. The time grows with the number of texts, and at full depth with
    /// their size.
    pub fn unread_texts(&self, depth: Depth) -> Result<UnreadTexts> {
        let (mut unread, mut after) = (UnreadTexts::default(), 0);
        loop {
            let faulty = self.log.read_at_once(|c| self.blobs.faulty(c, depth, after, BATCH_TEXTS))?;
            for (blob_id, loss) in faulty.lost {
                unread.lost.extend(self.entries_with(blob_id, &loss)?);
            }
            for (blob_id, error) in faulty.unavailable {
                let why = match error {
                    StoreError::Unusable { detail, .. } => detail,
                    other => other.to_string(),
                };
                unread.unavailable.extend(self.entries_with(blob_id, &why)?);
            }
            match faulty.last {
                Some(last) => after = last,
                None => return Ok(unread),
            }
        }
    }

    /// Returns the entries that have a text. Uses a new view of the log, since another process may have removed the
    /// text and its file since the last one.
    fn entries_with<R: Clone>(&self, blob_id: i64, why: &R) -> Result<Vec<UnreadEntry<R>>> {
        let named = self.log.read_at_once(|c| entries::with_text(c, blob_id))?;
        let entries = named.into_iter().map(|entry| UnreadEntry {
            id: entry.id,
            blob_id,
            reference: entry.reference,
            kind: entry.kind,
            title: entry.title,
            source: entry.source,
            why: why.clone(),
        });
        Ok(entries.collect())
    }

    /// Removes entries whose text is lost, and records the reason. A file among them is indexed again the next time
    /// indexing finds it. Returns how many were removed: not those whose text has been stored again since.
    pub fn drop_lost(&mut self, lost: &[LostText], now: Timestamp) -> Result<usize> {
        let mut dropped = 0;
        for lost in lost.chunks(BATCH_TEXTS) {
            dropped += self.remove(WhyGone::Lost, now, |tx, blobs| {
                let mut ids = Vec::new();
                for text in lost {
                    if blobs.check_text(tx, text.blob_id)?.is_some() {
                        ids.push(text.id);
                    }
                }
                Ok::<_, Fault>(ids)
            })?;
        }
        if dropped > 0 {
            self.catch_up()?;
        }
        Ok(dropped)
    }
}
