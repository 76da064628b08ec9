//! Removes entries: expired, evicted and forgotten ones. Invariant: every removed entry leaves a tombstone and an event
//! that the index follows.

use rusqlite::{Connection, Transaction, params};
use weir_core::{Timestamp, WhyGone};
use weir_ledger::Sql as _;

use super::{events, notes};
use crate::blobs::Blobs;
use crate::db::Space;
use crate::error::{Fault, Result};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Removal {
    pub(crate) entries: usize,
    /// Number of texts removed with the entries. A text that another entry has too stays.
    pub(crate) blobs: usize,
    /// The files of those texts, to be removed once the transaction is committed.
    pub(crate) files: Vec<blake3::Hash>,
}

impl std::ops::AddAssign for Removal {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.blobs += other.blobs;
        self.files.extend(other.files);
    }
}

/// Returns expired entries, oldest first.
pub(crate) fn expired(db: &Connection, now: Timestamp, limit: usize) -> rusqlite::Result<Vec<i64>> {
    db.sql(
        "SELECT id FROM entries WHERE expires_at <= ?1 AND expires_at IS NOT NULL AND pinned = 0
         ORDER BY expires_at LIMIT ?2",
    )
    .values([now.0, limit as i64])
}

/// Returns the least recently used unpinned runs that together free at least `bytes`, except the one in `spared`.
pub(crate) fn to_evict(db: &Connection, bytes: i64, spared: Option<i64>, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let mut statement = db.prepare_cached(
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

/// The disk space of a store, as the quota counts it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// Size of all texts as stored, in bytes.
    pub(crate) texts: i64,
    /// Size of the texts of runs in bytes, counted once for each run.
    pub(crate) runs: i64,
    /// Size of the index in bytes, as of the last time it had caught up.
    pub(crate) index: i64,
    /// Size of everything else in the log, in bytes.
    pub(crate) log: i64,
}

/// Space in bytes that every store needs for its tables, whatever is in it. The quota does not count it.
const BASE_STORE_BYTES: i64 = 1 << 20;
/// Runs keep one part in this many of the quota, however much documents and the index take.
const RUN_QUOTA_DIVISOR: i64 = 4;

impl Usage {
    pub(crate) fn read(db: &Connection) -> rusqlite::Result<Self> {
        let in_use = Space::read(db)?.in_use;
        db.sql("SELECT stored, filed, runs, index_bytes FROM totals WHERE id = 1").one([], |row| {
            let (texts, filed): (i64, i64) = (row.get(0)?, row.get(1)?);
            let log = (in_use - (texts - filed)).max(0);
            Ok(Self { texts, runs: row.get(2)?, index: row.get(3)?, log })
        })
    }

    /// Returns the total, without what every store needs.
    pub(crate) fn counted(&self) -> i64 {
        self.texts + (self.log + self.index - BASE_STORE_BYTES).max(0)
    }

    /// Returns how many bytes of runs' texts must be removed to stay within the quota. Each removal also frees part of
    /// the index.
    pub(crate) fn to_free(self, quota: i64) -> i64 {
        let part_of_texts = self.texts as f64 / (self.texts + self.index).max(1) as f64;
        let over = (self.counted() - quota) as f64 * part_of_texts;
        let above_share = self.runs as f64 - (quota / RUN_QUOTA_DIVISOR) as f64 * part_of_texts;
        (over.min(above_share).ceil() as i64).max(0)
    }
}

/// Removes entries with their notes, events and unused texts.
pub(crate) fn remove(
    tx: &Transaction<'_>,
    blobs: &Blobs,
    ids: &[i64],
    why: WhyGone,
    now: Timestamp,
) -> Result<Removal, Fault> {
    let mut removed = Removal::default();
    for &id in ids {
        notes::release_citations(tx, id)?;
        tx.sql(
            "INSERT INTO gone (reference, entry_id, kind, level, why, at)
             SELECT reference, id, kind, level, ?2, ?3 FROM entries WHERE id = ?1",
        )
        .run(params![id, why.as_str(), now.0])?;
        let deleted: Option<(i64, bool)> = tx
            .sql("DELETE FROM entries WHERE id = ?1 RETURNING blob_id, kind = 'run'")
            .find([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let Some((blob_id, is_run)) = deleted else { continue };
        // Append the new event before removing the old one: the newest id must never become free again.
        events::append_gone(tx, id, now)?;
        tx.sql("DELETE FROM events WHERE entry_id = ?1 AND kind <> 'gone'").run([id])?;
        tx.sql(
            "UPDATE totals SET entries = entries - 1,
                 runs = runs - CASE WHEN ?2 THEN (SELECT stored FROM blobs WHERE id = ?1) ELSE 0 END WHERE id = 1",
        )
        .run(params![blob_id, is_run])?;
        removed.entries += 1;
        if let Some(text) = blobs.remove_if_unused(tx, blob_id)? {
            removed.blobs += 1;
            removed.files.extend(text.file);
        }
    }
    Ok(removed)
}

/// Returns when orphaned files were last looked for.
pub(crate) fn tidied_at(db: &Connection) -> rusqlite::Result<Timestamp> {
    let at = db.sql("SELECT tidied_at FROM totals WHERE id = 1").value([])?;
    Ok(Timestamp(at))
}

/// Records that orphaned files were looked for.
pub(crate) fn set_tidied_at(tx: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("UPDATE totals SET tidied_at = ?1 WHERE id = 1").run([now.0])
}

/// Returns the size of the index in bytes, as the log last recorded it.
pub(crate) fn index_bytes(db: &Connection) -> rusqlite::Result<i64> {
    db.sql("SELECT index_bytes FROM totals WHERE id = 1").value([])
}

pub(crate) fn set_index_bytes(tx: &Transaction<'_>, bytes: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE totals SET index_bytes = ?1 WHERE id = 1").run([bytes])
}
