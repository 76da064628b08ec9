//! Appends events. Invariant: appending an event adds one row, with one position in the order, and changes nothing
//! else.

use rusqlite::{Connection, Row, Transaction, params};
use weir_core::{Event, EventKind, Priority, SessionKey, Timestamp};
use weir_ledger::Sql as _;

use super::scopes::ScopeIds;
use super::written;

pub(crate) fn append(
    tx: &Transaction<'_>,
    scope_ids: ScopeIds,
    event: &Event,
    now: Timestamp,
) -> rusqlite::Result<i64> {
    tx.sql(
        "INSERT INTO events (at, session_id, work_id, kind, priority, text, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )
    .insert(params![
        now.0,
        scope_ids.session,
        scope_ids.work,
        event.kind.as_str(),
        event.priority.as_str(),
        event.text,
        event.data
    ])
}

/// Returns the newest failures and repairs of a session, newest first. The kinds are literals in the statement, since
/// otherwise the engine would not use the partial index over them.
pub(crate) fn failures(db: &Connection, session: i64, most: usize) -> rusqlite::Result<Vec<Event>> {
    db.sql(
        "SELECT kind, priority, text, data FROM events INDEXED BY events_failures
         WHERE session_id = ?1 AND kind IN ('error', 'fix') ORDER BY id DESC LIMIT ?2",
    )
    .all(params![session, most.cast_signed()], read)
}

/// Returns the newest events of a session that belong to no entry, newest first.
pub(crate) fn newest(db: &Connection, session: &SessionKey, most: usize) -> rusqlite::Result<Vec<Event>> {
    db.sql(
        "SELECT kind, priority, text, data FROM events
         WHERE session_id = (SELECT id FROM sessions WHERE client = ?1 AND key = ?2) AND entry_id IS NULL
         ORDER BY at DESC, id DESC LIMIT ?3",
    )
    .all(params![session.client, session.key, most.cast_signed()], read)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        kind: written(row, 0, EventKind::parse)?,
        priority: written(row, 1, Priority::parse)?,
        text: row.get(2)?,
        data: row.get(3)?,
        whole: None,
    })
}

/// Returns the ids and priorities of a session's events that refer to no entry, oldest first.
pub(crate) fn priorities(db: &Connection, session: i64) -> rusqlite::Result<Vec<(i64, Priority)>> {
    db.sql("SELECT id, priority FROM events WHERE session_id = ?1 AND entry_id IS NULL ORDER BY at, id")
        .all([session], |row| Ok((row.get(0)?, written(row, 1, Priority::parse)?)))
}

pub(crate) fn remove(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.sql("DELETE FROM events WHERE id = ?1").run([id])
}

/// Appends the event that an entry was kept. The entry takes the returned id.
pub(crate) fn append_kept(tx: &Transaction<'_>, scope_ids: ScopeIds, now: Timestamp) -> rusqlite::Result<i64> {
    // The id is not known before the row exists, and the event has to refer to the entry by that id.
    let id = tx
        .sql("INSERT INTO events (at, session_id, work_id, kind, priority, text) VALUES (?1, ?2, ?3, ?4, ?5, '')")
        .insert(params![now.0, scope_ids.session, scope_ids.work, EventKind::Kept.as_str(), Priority::P3.as_str()])?;
    tx.sql("UPDATE events SET entry_id = id WHERE id = ?1").run([id])?;
    Ok(id)
}

/// Appends the event that events are about to be removed. It is the newest event then, and stays.
pub(crate) fn append_events_gone(tx: &Transaction<'_>, count: usize, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO events (at, kind, priority, text) VALUES (?1, ?2, ?3, ?4)").run(params![
        now.0,
        EventKind::Gone.as_str(),
        Priority::P4.as_str(),
        format!("{count} events forgotten")
    ])
}

pub(crate) fn append_gone(tx: &Transaction<'_>, entry_id: i64, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO events (at, kind, priority, text, entry_id) VALUES (?1, ?2, ?3, '', ?4)").run(params![
        now.0,
        EventKind::Gone.as_str(),
        Priority::P4.as_str(),
        entry_id
    ])
}
