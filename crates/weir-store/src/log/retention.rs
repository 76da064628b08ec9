//! Removes entries: the expired, the evicted and the forgotten. Invariant: whatever is removed leaves a tombstone and
//! an event that the index follows.

use rusqlite::{Connection, Transaction, params};
use weir_core::{Timestamp, WhyGone};

use super::{events, notes};
use crate::blobs::Blobs;
use crate::error::{Fault, Result};

/// What a removal did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Removed {
    pub(crate) entries: usize,
    /// Texts that went with them; a text that another entry has too stays.
    pub(crate) blobs: usize,
    /// Files of those texts, to be removed once the transaction is committed.
    pub(crate) files: Vec<blake3::Hash>,
}

impl std::ops::AddAssign for Removed {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.blobs += other.blobs;
        self.files.extend(other.files);
    }
}

/// Entries whose time is over, oldest first.
pub(crate) fn expired(connection: &Connection, now: Timestamp, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT id FROM entries WHERE expires_at <= ?1 AND expires_at IS NOT NULL AND pinned = 0
         ORDER BY expires_at LIMIT ?2",
    )?;
    statement.query_map([now.0, limit as i64], |row| row.get(0))?.collect()
}

/// The unpinned runs used longest ago that together free at least `bytes`, without the one that is spared.
pub(crate) fn to_evict(
    connection: &Connection,
    bytes: i64,
    spared: Option<i64>,
    limit: usize,
) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT e.id, b.stored FROM entries e INDEXED BY entries_eviction JOIN blobs b ON b.id = e.blob_id
         WHERE e.kind = 'run' AND e.pinned = 0 AND e.used_at >= 0 AND e.id IS NOT ?2 ORDER BY e.used_at LIMIT ?1",
    )?;
    let mut rows = statement.query(params![limit as i64, spared])?;
    let (mut chosen, mut freed) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        if freed >= bytes {
            break;
        }
        chosen.push(row.get(0)?);
        freed += row.get::<_, i64>(1)?;
    }
    Ok(chosen)
}

/// Bytes all texts take as stored.
pub(crate) fn stored_bytes(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT stored FROM totals WHERE id = 1")?.query_row([], |row| row.get(0))
}

/// Removes entries with their notes, events and unused texts.
pub(crate) fn remove(
    tx: &Transaction<'_>,
    blobs: &Blobs,
    ids: &[i64],
    why: WhyGone,
    now: Timestamp,
) -> Result<Removed, Fault> {
    let mut removed = Removed::default();
    for &id in ids {
        notes::release_citations(tx, id)?;
        tx.prepare_cached(
            "INSERT INTO gone (reference, entry_id, kind, level, why, at)
             SELECT reference, id, kind, level, ?2, ?3 FROM entries WHERE id = ?1",
        )?
        .execute(params![id, why.as_str(), now.0])?;
        let blob_id = {
            let mut delete = tx.prepare_cached("DELETE FROM entries WHERE id = ?1 RETURNING blob_id")?;
            let mut rows = delete.query([id])?;
            rows.next()?.map(|row| row.get(0)).transpose()?
        };
        let Some(blob_id) = blob_id else { continue };
        // First the new event, then the old one goes: the newest id must never be free again.
        events::append_gone(tx, id, now)?;
        tx.prepare_cached("DELETE FROM events WHERE entry_id = ?1 AND kind <> 'gone'")?.execute([id])?;
        tx.prepare_cached("UPDATE totals SET entries = entries - 1 WHERE id = 1")?.execute([])?;
        removed.entries += 1;
        if let Some(text) = blobs.remove_if_unused(tx, blob_id)? {
            removed.blobs += 1;
            removed.files.extend(text.file);
        }
    }
    Ok(removed)
}
