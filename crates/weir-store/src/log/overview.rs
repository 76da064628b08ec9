//! What a store has, in a few numbers. Invariant: the numbers of a page are kept by every write or counted up to a
//! limit; only [`kept_by_day`] looks at every entry of its days.

use rusqlite::{Connection, params};
use weir_core::Timestamp;
use weir_core::time::DAY;
use weir_ledger::Sql as _;

use super::retention::Usage;
use super::sessions;

const MAX_COUNTED_NOTES: usize = 100_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreOverview {
    pub entries: u64,
    /// Number of notes, superseded ones included. `None` if there are more than are counted.
    pub notes: Option<u64>,
    /// Number of sessions with events. `None` if there are more than are counted.
    pub sessions: Option<u64>,
    /// What the store takes on the disk, in bytes.
    pub bytes: u64,
    /// What its texts take of that, as stored.
    pub text_bytes: u64,
    /// When the newest event happened.
    pub newest: Option<Timestamp>,
}

pub(crate) fn read(db: &Connection) -> rusqlite::Result<StoreOverview> {
    let entries: i64 = db.sql("SELECT entries FROM totals WHERE id = 1").value([])?;
    // By id, and without reading more rows than the limit.
    let mut statement =
        db.prepare_cached("SELECT entry_id FROM notes WHERE entry_id <= (SELECT max(entry_id) FROM notes) LIMIT ?1")?;
    let mut rows = statement.query(params![MAX_COUNTED_NOTES.cast_signed() + 1])?;
    let mut notes = 0;
    while rows.next()?.is_some() {
        notes += 1;
    }
    let newest: Option<i64> = db.sql("SELECT max(at) FROM events").value([])?;
    let usage = Usage::read(db)?;
    let counts = sessions::counts(db, sessions::MAX_COUNTED_SESSIONS)?;
    Ok(StoreOverview {
        entries: entries.cast_unsigned(),
        notes: (notes <= MAX_COUNTED_NOTES).then_some(notes as u64),
        sessions: counts.iter().map(|(_, count)| *count).sum(),
        bytes: (usage.texts + usage.log + usage.index).cast_unsigned(),
        text_bytes: usage.texts.cast_unsigned(),
        newest: newest.map(Timestamp),
    })
}

/// Returns how many bytes of texts were first kept on each of `days` days and are still there. The first day begins at
/// `from`. The time grows with the number of entries of these days.
pub(crate) fn kept_by_day(db: &Connection, from: Timestamp, days: usize) -> rusqlite::Result<Vec<u64>> {
    let mut statement = db.prepare_cached(
        "SELECT (e.at - ?1) / ?2, sum(b.stored) FROM entries e CROSS JOIN blobs b ON b.id = e.blob_id
         WHERE e.at >= ?1 AND e.at < ?3
             AND NOT EXISTS (SELECT 1 FROM entries o WHERE o.blob_id = e.blob_id AND o.id < e.id)
         GROUP BY 1",
    )?;
    let until = from.0.saturating_add(DAY.saturating_mul(days as i64));
    let mut sums = vec![0_u64; days];
    let mut rows = statement.query(params![from.0, DAY, until])?;
    while let Some(row) = rows.next()? {
        let (day, bytes): (i64, i64) = (row.get(0)?, row.get(1)?);
        if let Some(sum) = usize::try_from(day).ok().and_then(|day| sums.get_mut(day)) {
            *sum = bytes.cast_unsigned();
        }
    }
    Ok(sums)
}
