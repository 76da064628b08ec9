//! Makes what was said in sessions searchable. Hooks only append events; the next search turns those with something to
//! say into entries, so that they are found, shown and forgotten like everything else.

use std::time::{Duration, Instant};

use rusqlite::Transaction;
use weir_core::{EntryKind, Level, NewEntry, Timestamp};

use super::{Freshness, Owner, Store};
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::{entries, events, said};

const BATCH_EVENTS: usize = 256;
/// Number of events after which progress is recorded even if there was nothing to keep.
const PROGRESS_INTERVAL_EVENTS: i64 = 4_096;

impl Store {
    /// Turns events that no search has seen yet into entries, for at most `patience`. Returns whether none are left.
    pub fn take_in_said(&mut self, patience: Duration) -> Result<bool> {
        let begun = Instant::now();
        let all = self.take_in_events(patience)?;
        Ok(self.take_in_turns(patience.saturating_sub(begun.elapsed()))? && all)
    }

    fn take_in_events(&mut self, patience: Duration) -> Result<bool> {
        let begun = Instant::now();
        let mut seen = 0;
        while self.owner != Owner::User && begun.elapsed() < patience {
            // Usually there is nothing new, and looking takes no lock.
            let (from, spoken, newest) = self.log.read_at_once(|c| -> rusqlite::Result<_> {
                let from = said::taken_to(c)?;
                Ok((from, said::since(c, from.max(seen), BATCH_EVENTS)?, said::newest(c)?))
            })?;
            let next = spoken.get(BATCH_EVENTS - 1).map(|spoken| spoken.id);
            let last = next.unwrap_or(newest);
            let now = spoken.iter().map(|spoken| spoken.at.0).max().map_or(Timestamp(0), Timestamp);
            let mut staged = Vec::new();
            for spoken in &spoken {
                let Some(origin) = spoken.origin() else { continue };
                let kind = spoken.event.kind.as_str();
                let entry = NewEntry {
                    source: Some(kind.to_owned()),
                    ..NewEntry::new(EntryKind::Said, origin, Level::Project, kind)
                };
                staged.push((spoken, entry, self.blobs.stage(spoken.event.text.as_bytes())?));
            }
            // A search that finds nothing to keep writes nothing, unless it had to look at many events.
            seen = last;
            let is_far = last - from >= PROGRESS_INTERVAL_EVENTS;
            if staged.is_empty() && next.is_none() {
                if is_far {
                    // This only saves later searches some work, so it may fail.
                    let _ = self.log.write_if_free(Durability::Process, |tx| said::skip(tx, from, last));
                }
                return Ok(true);
            }
            if staged.is_empty() && !is_far {
                continue;
            }
            let (blobs, limits) = (&self.blobs, &self.limits);
            let take = |tx: &Transaction<'_>| {
                // Another process may have taken in events since.
                if said::taken_to(tx)? != from {
                    return Ok::<_, Fault>(false);
                }
                for (spoken, entry, staged) in &staged {
                    let blob_id = blobs.commit(tx, staged)?;
                    let id = events::append_kept(tx, spoken.scope_ids, now)?;
                    let expires_at = limits.expiry(EntryKind::Said, spoken.kept_from);
                    let scope_ids = spoken.scope_ids;
                    let row =
                        entries::NewRow { id, scope_ids, blob_id, redactions: 0, now: spoken.at, expires_at, entry };
                    entries::insert(tx, &row)?;
                    said::link(tx, id, spoken.id)?;
                }
                said::record_taken(tx, last)?;
                blobs.sync_names()?;
                Ok(true)
            };
            let taken = match self.freshness {
                Freshness::Complete => self.log.write(Durability::Process, take).map(Some)?,
                Freshness::Prompt => self.log.write_if_free(Durability::Process, take)?,
            };
            let Some(is_ours) = taken else { return Ok(false) };
            if !is_ours {
                // The other process may have taken in only part of the batch, so look at it again.
                seen = 0;
            }
        }
        Ok(self.owner == Owner::User)
    }
}
