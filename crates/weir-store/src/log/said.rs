//! Events that are searchable once they become entries. Invariant: each event is processed once, in the order of the
//! log.

use rusqlite::{Connection, Transaction, params};
use weir_core::event::WHOLE;
use weir_core::{Event, EventKind, Origin, Reference};
use weir_ledger::Sql as _;

use super::ageing::KEPT_FROM;
use super::entries::read_reference;
use super::scopes::ScopeIds;
use super::source_events::SourceEvent;

/// Minimum length of a text worth searching for, in bytes.
const MIN_TEXT_BYTES: usize = 12;

impl SourceEvent {
    /// Returns who said it, or `None` for an event that is not worth searching for or whose whole text is an entry.
    pub(crate) fn origin(&self) -> Option<Origin> {
        let is_worth = self.event.text.len() >= MIN_TEXT_BYTES && self.event.whole_reference().is_none();
        // What failed and was fixed in a session becomes one entry later.
        let is_worth = is_worth && (self.event.kind != EventKind::Fix || self.scope_ids.session.is_none());
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
    tx.sql(
        "SELECT reference FROM entries INDEXED BY entries_blob
         WHERE blob_id = ?1 AND session_id IS ?2 AND kind = 'said' LIMIT 1",
    )
    .find(params![blob_id, of.session], |row| read_reference(row, 0))
}

/// Returns the text of the entry with this reference.
pub(crate) fn blob_of(db: &Connection, reference: Reference) -> rusqlite::Result<Option<i64>> {
    db.sql("SELECT blob_id FROM entries WHERE reference = ?1").find_value([reference.as_str()])
}

/// Returns how far the events have been processed.
pub(crate) fn taken_to(db: &Connection) -> rusqlite::Result<i64> {
    db.sql("SELECT said_to FROM totals WHERE id = 1").value([])
}

/// Records how far the events have been processed.
pub(crate) fn record_taken(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE totals SET said_to = ?1 WHERE id = 1").run([id])
}

pub(crate) fn newest(db: &Connection) -> rusqlite::Result<i64> {
    db.sql("SELECT coalesce(max(id), 0) FROM events").value([])
}

/// Records how far the events have been processed, unless somebody else has gone on meanwhile.
pub(crate) fn skip(tx: &Transaction<'_>, from: i64, to: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE totals SET said_to = ?2 WHERE id = 1 AND said_to = ?1").run([from, to])
}

/// Returns at most `most` events after this one, oldest first.
pub(crate) fn since(db: &Connection, id: i64, most: usize) -> rusqlite::Result<Vec<SourceEvent>> {
    const COLUMNS: &str = SourceEvent::COLUMNS;
    db.sql(&format!(
        "SELECT {COLUMNS}, {KEPT_FROM} FROM events v WHERE id > ?1 AND entry_id IS NULL ORDER BY id LIMIT ?2"
    ))
    .all(params![id, most.cast_signed()], SourceEvent::read)
}

pub(crate) fn link(tx: &Transaction<'_>, entry_id: i64, event_id: i64) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO said (entry_id, event_id) VALUES (?1, ?2)").run(params![entry_id, event_id])
}

pub(crate) fn entries_of(db: &Connection, event_id: i64) -> rusqlite::Result<Vec<i64>> {
    db.sql("SELECT entry_id FROM said WHERE event_id = ?1").values([event_id])
}

/// Returns the events that an entry repeats, as far as they still exist: those that it was made from, and those of its
/// session that show a part of the same text.
pub(crate) fn events_of(db: &Connection, entry_id: i64, reference: Reference) -> rusqlite::Result<Vec<i64>> {
    let mark = format!(r#""{WHOLE}":"{}""#, reference.as_str());
    db.sql(
        "SELECT v.id FROM said s CROSS JOIN events v ON v.id = s.event_id WHERE s.entry_id = ?1
         UNION SELECT v.id FROM entries e CROSS JOIN events v ON v.session_id = e.session_id
         WHERE e.id = ?1 AND v.session_id IS NOT NULL AND instr(v.data, ?2) > 0",
    )
    .values(params![entry_id, mark])
}
