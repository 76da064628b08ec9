//! Appends events. Invariant: one row, one place in the order, nothing else touched.

use rusqlite::{Transaction, params};
use weir_core::{Event, EventKind, Priority, Timestamp};

use super::places::Place;

/// Appends a fact and returns its place in the order.
pub(crate) fn append(tx: &Transaction<'_>, place: Place, event: &Event, now: Timestamp) -> rusqlite::Result<i64> {
    tx.prepare_cached(
        "INSERT INTO events (at, session_id, work_id, kind, priority, text, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .insert(params![
        now.0,
        place.session,
        place.work,
        event.kind.as_str(),
        event.priority.as_str(),
        event.text,
        event.data
    ])
}

/// Appends the fact that an entry was kept; the entry takes the returned id.
pub(crate) fn append_kept(tx: &Transaction<'_>, place: Place, now: Timestamp) -> rusqlite::Result<i64> {
    // The id is not known before the row is there, and the entry's event must carry it.
    let id = tx
        .prepare_cached(
            "INSERT INTO events (at, session_id, work_id, kind, priority, text) VALUES (?1, ?2, ?3, ?4, ?5, '')",
        )?
        .insert(params![now.0, place.session, place.work, EventKind::Kept.as_str(), Priority::P3.as_str()])?;
    tx.prepare_cached("UPDATE events SET entry_id = id WHERE id = ?1")?.execute([id])?;
    Ok(id)
}

/// Appends the fact that events are about to go. It is the newest then, and stays.
pub(crate) fn append_events_gone(tx: &Transaction<'_>, count: usize, now: Timestamp) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO events (at, kind, priority, text) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![now.0, EventKind::Gone.as_str(), Priority::P4.as_str(), format!("{count} events forgotten")])
        .map(drop)
}

/// Appends the fact that an entry is gone.
pub(crate) fn append_gone(tx: &Transaction<'_>, entry_id: i64, now: Timestamp) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO events (at, kind, priority, text, entry_id) VALUES (?1, ?2, ?3, '', ?4)")?
        .execute(params![now.0, EventKind::Gone.as_str(), Priority::P4.as_str(), entry_id])
        .map(drop)
}
