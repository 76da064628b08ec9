//! Removes expired events. Invariant: the log is processed once, from its beginning; the newest event and the newest
//! change always stay.

use std::collections::BTreeSet;

use rusqlite::{Connection, Transaction, params};
use weir_core::{EventKind, Timestamp};
use weir_ledger::Sql as _;

use super::{events, feed};

/// The time from which the age of an event `v` is counted: for an imported event, the time of the import.
pub(crate) const KEPT_FROM: &str = "max(v.at, coalesce((SELECT max(i.at) FROM sessions s JOIN imports i
    ON i.client = s.client AND i.key = s.key WHERE s.id = v.session_id), v.at))";

/// Returns whether the next event to look at is from before this time.
pub(crate) fn has_old_events(db: &Connection, before: Timestamp) -> rusqlite::Result<bool> {
    let next: Option<i64> = db.sql(&format!("SELECT {KEPT_FROM} FROM events v WHERE id > (SELECT thinned_to FROM totals WHERE id = 1) ORDER BY id LIMIT 1")).find_value([])?;
    Ok(next.is_some_and(|at| at < before.0))
}

/// An event that may have to be removed.
struct AgedEvent {
    id: i64,
    session: Option<i64>,
    entry: Option<i64>,
    is_tombstone: bool,
}

/// Looks at no more than `most` events from before this time, and removes those that belong to no entry as well as the
/// tombstones of entries. Returns how many events were removed.
pub(crate) fn remove_old_events(
    tx: &Transaction<'_>,
    before: Timestamp,
    most: usize,
    now: Timestamp,
) -> rusqlite::Result<usize> {
    let old = next_old(tx, before, most)?;
    let Some(last) = old.last().map(|event| event.id) else { return Ok(0) };
    let head = feed::head(tx)?;
    let (mut removed, mut sessions) = (0, BTreeSet::new());
    for event in old {
        match event.entry {
            Some(_) if !event.is_tombstone || event.id == head => continue,
            Some(entry) => {
                tx.sql("DELETE FROM gone WHERE entry_id = ?1").run([entry])?;
            }
            None => {}
        }
        events::remove(tx, event.id)?;
        sessions.extend(event.session);
        removed += 1;
    }
    for session in sessions {
        remove_if_empty(tx, session)?;
    }
    tx.sql("UPDATE totals SET thinned_to = ?1 WHERE id = 1").run([last])?;
    if removed > 0 {
        events::append_events_gone(tx, removed, now)?;
    }
    Ok(removed)
}

fn next_old(tx: &Transaction<'_>, before: Timestamp, most: usize) -> rusqlite::Result<Vec<AgedEvent>> {
    let mut statement = tx.prepare_cached(&format!(
        "SELECT id, session_id, entry_id, kind, {KEPT_FROM} FROM events v
         WHERE id > (SELECT thinned_to FROM totals WHERE id = 1) AND id < (SELECT max(id) FROM events)
         ORDER BY id LIMIT ?1",
    ))?;
    let mut rows = statement.query([most as i64])?;
    let mut old = Vec::new();
    while let Some(row) = rows.next()? {
        if row.get::<_, i64>(4)? >= before.0 {
            break;
        }
        let kind: String = row.get(3)?;
        let is_tombstone = kind == EventKind::Gone.as_str();
        old.push(AgedEvent { id: row.get(0)?, session: row.get(1)?, entry: row.get(2)?, is_tombstone });
    }
    Ok(old)
}

fn remove_if_empty(tx: &Transaction<'_>, session: i64) -> rusqlite::Result<()> {
    let has = |sql: &str| tx.sql(sql).has([session]);
    if has("SELECT 1 FROM events WHERE session_id = ?1 LIMIT 1")? {
        return Ok(());
    }
    for table in ["guides", "session_files"] {
        tx.sql(&format!("DELETE FROM {table} WHERE session_id = ?1")).run(params![session])?;
    }
    if !has("SELECT 1 FROM entries WHERE session_id = ?1 LIMIT 1")? {
        tx.sql("DELETE FROM sessions WHERE id = ?1").run([session])?;
    }
    Ok(())
}
