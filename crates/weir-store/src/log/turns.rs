//! Turns and fixes: entries that are made of several events of a session.

use rusqlite::{Connection, Transaction, params};
use weir_ledger::Sql as _;

use super::ageing::KEPT_FROM;
use super::source_events::SourceEvent;

/// The source of the entry of a turn, and of a failure with what fixed it.
pub(crate) const TURN: &str = "turn";
pub(crate) const FIX: &str = "fix";

/// The place of an event in its session: the time, and its position in the log.
pub(crate) type Place = (i64, i64);

const COLUMNS: &str = SourceEvent::COLUMNS;

/// Returns how far turns have been processed.
pub(crate) fn taken_to(db: &Connection) -> rusqlite::Result<i64> {
    db.sql("SELECT turns_to FROM totals WHERE id = 1").value([])
}

/// Records how far turns have been processed.
pub(crate) fn record_taken(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE totals SET turns_to = ?1 WHERE id = 1").run([id])
}

/// Returns at most `most` events of sessions after this one, in the order of the log: their positions, sessions and
/// places.
pub(crate) fn since(db: &Connection, id: i64, most: usize) -> rusqlite::Result<Vec<(i64, Option<i64>, Place)>> {
    db.sql("SELECT id, session_id, at FROM events WHERE id > ?1 AND entry_id IS NULL ORDER BY id LIMIT ?2")
        .all(params![id, most.cast_signed()], |row| Ok((row.get(0)?, row.get(1)?, (row.get(2)?, row.get(0)?))))
}

/// Returns the requests of a session with their places, oldest first.
pub(crate) fn requests(db: &Connection, session: i64) -> rusqlite::Result<Vec<(Place, String)>> {
    db.sql("SELECT at, id, text FROM events WHERE session_id = ?1 AND kind = 'prompt' ORDER BY at, id")
        .all([session], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))
}

/// Returns the events of a session from a time until another, oldest first.
pub(crate) fn between(db: &Connection, session: i64, from: i64, to: i64) -> rusqlite::Result<Vec<SourceEvent>> {
    db.sql(&format!(
        "SELECT {COLUMNS}, {KEPT_FROM} FROM events v
         WHERE session_id = ?1 AND at BETWEEN ?2 AND ?3 AND entry_id IS NULL ORDER BY at, id"
    ))
    .all(params![session, from, to], SourceEvent::read)
}

/// Returns the failures and fixes of a session before a place, newest first.
pub(crate) fn failures(db: &Connection, session: i64, before: Place) -> rusqlite::Result<Vec<SourceEvent>> {
    const MOST: i64 = 40;
    db.sql(&format!(
        "SELECT {COLUMNS}, {KEPT_FROM} FROM events v
         WHERE session_id = ?1 AND kind IN ('error', 'fix') AND (at, id) < (?2, ?3)
         ORDER BY at DESC, id DESC LIMIT ?4"
    ))
    .all(params![session, before.0, before.1, MOST], SourceEvent::read)
}

/// An entry that repeats an event.
pub(crate) struct KnownEntry {
    pub(crate) id: i64,
    pub(crate) blob_id: i64,
    pub(crate) pinned: bool,
}

/// Returns the entries with this source that repeat an event.
pub(crate) fn entries_of(db: &Connection, event_id: i64, source: &str) -> rusqlite::Result<Vec<KnownEntry>> {
    db.sql(
        "SELECT e.id, e.blob_id, e.pinned FROM said s CROSS JOIN entries e ON e.id = s.entry_id
         WHERE s.event_id = ?1 AND e.source = ?2 ORDER BY e.id",
    )
    .all(params![event_id, source], |row| Ok(KnownEntry { id: row.get(0)?, blob_id: row.get(1)?, pinned: row.get(2)? }))
}
