//! Texts that cannot be read any more: finding them, and letting go of their entries.

use weir_core::{EntryKind, Reference, Timestamp, WhyGone};

use super::Store;
use crate::blobs::Depth;
use crate::error::Result;
use crate::log::entries;

/// How many texts are looked at in one view of the log.
const AT_ONCE: usize = 200;

/// An entry whose text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostText {
    id: i64,
    /// The entry's handle.
    pub reference: Reference,
    /// What it is.
    pub kind: EntryKind,
    /// Its title.
    pub title: String,
    /// Where it came from.
    pub source: Option<String>,
    /// What is wrong with its text.
    pub why: String,
}

impl Store {
    /// The entries whose text cannot be read. Takes time with the number of texts, and with their size if it goes deep.
    pub fn lost_texts(&self, depth: Depth) -> Result<Vec<LostText>> {
        let (mut lost, mut after) = (Vec::new(), 0);
        loop {
            let range = (after, AT_ONCE);
            let (faulty, last) = self.log.read_at_once(|c| self.blobs.faulty(c, depth, range))?;
            for text in faulty {
                // In a new view, since another process may have removed the text with its file meanwhile.
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

    /// Lets go of entries whose text cannot be read, and says so in their place. A file among them is indexed again when
    /// it is next come upon. Returns how many went.
    pub fn drop_lost(&mut self, lost: &[LostText], now: Timestamp) -> Result<usize> {
        let ids: Vec<i64> = lost.iter().map(|text| text.id).collect();
        let mut dropped = 0;
        for ids in ids.chunks(AT_ONCE) {
            dropped += self.remove(WhyGone::Lost, now, |_| Ok(ids.to_vec()))?;
        }
        if dropped > 0 {
            self.catch_up()?;
        }
        Ok(dropped)
    }
}
