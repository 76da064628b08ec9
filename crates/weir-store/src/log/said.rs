//! Events that are searchable once they become entries. Invariant: each event is processed once, in the order of the
//! log.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use weir_core::event::WHOLE;
use weir_core::{Event, EventKind, Origin, Priority, Reference, Timestamp};

use super::ageing::KEPT_FROM;
use super::entries::read_reference;
use super::scopes::ScopeIds;
use super::written;

/// An event that may become an entry.
pub(crate) struct SearchableEvent {
    pub(crate) id: i64,
    pub(crate) at: Timestamp,
    /// The time from which its age is counted: for an imported event, the time of the import.
    pub(crate) kept_from: Timestamp,
    pub(crate) scope_ids: ScopeIds,
    pub(crate) event: Event,
}

/// Minimum length of a text worth searching for, in bytes.
const MIN_TEXT_BYTES: usize = 12;

impl SearchableEvent {
    /// Returns who said it, or `None` for an event that is not worth searching for or whose whole text is an entry.
    pub(crate) fn origin(&self) -> Option<Origin> {
        let is_worth = self.event.text.len() >= MIN_TEXT_BYTES && self.event.whole_reference().is_none();
        origin(&self.event).filter(|_| is_worth)
    }
}

/// Returns who says what an event says, or `None` if it is not something that anybody says.
pub(crate) fn origin(event: &Event) -> Option<Origin> {
    use EventKind::{Blocker, Correction, Decision, Error, Fix, Git, Goal, Plan, Prompt, Rejected, Said, Subagent};
    match event.kind {
        Decision | Rejected if event.is_by_model() => Some(Origin::Model),
        Prompt | Decision | Correction | Rejected | Goal | Blocker => Some(Origin::User),
        Said | Plan | Subagent => Some(Origin::Model),
        Error | Fix | Git => Some(Origin::Tool),
        _ => None,
    }
}

/// Returns the reference of the entry in which a session already has this text, if it has.
pub(crate) fn with_text(tx: &Transaction<'_>, of: ScopeIds, blob_id: i64) -> rusqlite::Result<Option<Reference>> {
    tx.prepare_cached(
        "SELECT reference FROM entries INDEXED BY entries_blob
         WHERE blob_id = ?1 AND session_id IS ?2 AND kind = 'said' LIMIT 1",
    )?
    .query_row(params![blob_id, of.session], |row| read_reference(row, 0))
    .optional()
}

/// Returns how far the events have been processed.
pub(crate) fn taken_to(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT said_to FROM totals WHERE id = 1")?.query_row([], |row| row.get(0))
}

/// Records how far the events have been processed.
pub(crate) fn record_taken(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE totals SET said_to = ?1 WHERE id = 1")?.execute([id]).map(drop)
}

/// Returns the id of the newest event.
pub(crate) fn newest(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT coalesce(max(id), 0) FROM events")?.query_row([], |row| row.get(0))
}

/// Records how far the events have been processed, unless somebody else has gone on meanwhile.
pub(crate) fn skip(tx: &Transaction<'_>, from: i64, to: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("UPDATE totals SET said_to = ?2 WHERE id = 1 AND said_to = ?1")?.execute([from, to]).map(drop)
}

/// Returns at most `most` events after this one, oldest first.
pub(crate) fn since(connection: &Connection, id: i64, most: usize) -> rusqlite::Result<Vec<SearchableEvent>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, at, session_id, work_id, kind, priority, text, data, {KEPT_FROM} FROM events v
         WHERE id > ?1 AND entry_id IS NULL ORDER BY id LIMIT ?2"
    ))?;
    let rows = statement.query_map(params![id, most.cast_signed()], |row| {
        Ok(SearchableEvent {
            id: row.get(0)?,
            at: Timestamp(row.get(1)?),
            kept_from: Timestamp(row.get(8)?),
            scope_ids: ScopeIds { session: row.get(2)?, work: row.get(3)? },
            event: Event {
                kind: written(row, 4, EventKind::parse)?,
                priority: written(row, 5, Priority::parse)?,
                text: row.get(6)?,
                data: row.get(7)?,
                whole: None,
            },
        })
    })?;
    rows.collect()
}

/// Records which event an entry repeats.
pub(crate) fn link(tx: &Transaction<'_>, entry_id: i64, event_id: i64) -> rusqlite::Result<()> {
    tx.prepare_cached("INSERT INTO said (entry_id, event_id) VALUES (?1, ?2)")?
        .execute(params![entry_id, event_id])
        .map(drop)
}

/// Returns the events that an entry repeats, as far as they still exist: the one that it was made from, and those of its
/// session that show a part of the same text.
pub(crate) fn events_of(connection: &Connection, entry_id: i64, reference: Reference) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT v.id FROM said s CROSS JOIN events v ON v.id = s.event_id WHERE s.entry_id = ?1
         UNION SELECT v.id FROM entries e CROSS JOIN events v ON v.session_id = e.session_id
         WHERE e.id = ?1 AND v.session_id IS NOT NULL AND instr(v.data, ?2) > 0",
    )?;
    let mark = format!(r#""{WHOLE}":"{}""#, reference.as_str());
    statement.query_map(params![entry_id, mark], |row| row.get(0))?.collect()
}
