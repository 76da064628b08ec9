//! Finds texts that can no longer be read, and removes their entries.

use weir_core::{EntryKind, Reference, Timestamp, WhyGone};

use super::Store;
use crate::blobs::Depth;
use crate::error::Result;
use crate::log::entries;

/// Number of texts that are checked in one view of the log.
const BATCH_TEXTS: usize = 200;

/// An entry whose text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostText {
    id: i64,
    /// The entry's reference.
    pub reference: Reference,
    /// Its kind.
    pub kind: EntryKind,
    /// Its title.
    pub title: String,
    /// Where it came from.
    pub source: Option<String>,
    /// What is wrong with its text.
    pub why: String,
}

impl Store {
    /// Returns the entries whose text cannot be read. The time grows with the number of texts, and at full depth with
    /// their size.
    pub fn lost_texts(&self, depth: Depth) -> Result<Vec<LostText>> {
        let (mut lost, mut after) = (Vec::new(), 0);
        loop {
            let (faulty, last) = self.log.read_at_once(|c| self.blobs.faulty(c, depth, after, BATCH_TEXTS))?;
            for text in faulty {
                // Use a new view, since another process may have removed the text and its file meanwhile.
                let named = self.log.read_at_once(|c| entries::with_text(c, text.blob_id))?;
                lost.extend(named.into_iter().map(|entry| LostText {
                    id: entry.id,
                    reference: entry.reference,
                    kind: entry.kind,
                    title: entry.title,
                    source: entry.source,
                    why: text.why.clone(),
                }));
            }
            match last {
                Some(last) => after = last,
                None => return Ok(lost),
            }
        }
    }

    /// Removes entries whose text cannot be read, and records the reason. A file among them is indexed again the next
    /// time indexing finds it. Returns how many were removed.
    pub fn drop_lost(&mut self, lost: &[LostText], now: Timestamp) -> Result<usize> {
        let ids: Vec<i64> = lost.iter().map(|text| text.id).collect();
        let mut dropped = 0;
        for ids in ids.chunks(BATCH_TEXTS) {
            dropped += self.remove(WhyGone::Lost, now, |_| Ok(ids.to_vec()))?;
        }
        if dropped > 0 {
            self.catch_up()?;
        }
        Ok(dropped)
    }
}
