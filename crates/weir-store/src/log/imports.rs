//! How far transcripts were imported, and what a session already has. Invariant: known events are recognised by their
//! time and text, so that what hooks captured is not imported again.

use std::collections::HashMap;

use rusqlite::{Connection, Transaction, params};
use weir_core::{Event, SessionKey, Timestamp};
use weir_ledger::Sql as _;

/// Maximum difference between the times that a hook and a transcript give the same event, in milliseconds.
const MAX_TIME_SKEW_MILLIS: u64 = 2 * 60 * 1000;

/// How far the transcript of a conversation was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportPosition {
    pub steps: u64,
    /// The client's id of the last message.
    pub message: String,
}

/// One conversation of a client: that of a session with the user, or that of a subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    pub session: SessionKey,
    /// The subagent; empty for the user's own conversation.
    pub subagent: String,
}

pub(crate) fn read_to(db: &Connection, of: &Conversation) -> rusqlite::Result<Option<ImportPosition>> {
    db.sql("SELECT steps, message FROM imports WHERE client = ?1 AND key = ?2 AND subagent = ?3")
        .find(params![of.session.client, of.session.key, of.subagent], |row| {
            Ok(ImportPosition { steps: row.get::<_, i64>(0)?.cast_unsigned(), message: row.get(1)? })
        })
}

pub(crate) fn record(
    tx: &Transaction<'_>,
    of: &Conversation,
    to: &ImportPosition,
    now: Timestamp,
) -> rusqlite::Result<()> {
    tx.sql(
        "INSERT INTO imports (client, key, subagent, steps, message, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (client, key, subagent) DO UPDATE SET steps = ?4, message = ?5, at = ?6",
    )
    .run(params![of.session.client, of.session.key, of.subagent, to.steps.cast_signed(), to.message, now.0])
}

/// The events and summaries that a session already has, by their text.
#[derive(Debug, Default)]
pub struct Known(HashMap<EventKey, Vec<i64>>);

/// A kind, a text, and whether it comes from a subagent.
type EventKey = (String, String, bool);

impl Known {
    /// Returns whether the session has nothing yet.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the counterpart of an event, and returns whether there was one.
    pub(crate) fn take(&mut self, event: &Event, at: Timestamp) -> bool {
        let words = (event.kind.as_str().to_owned(), event.text.clone(), is_of_subagent(event.data.as_deref()));
        self.take_near(&words, at)
    }

    pub(crate) fn take_summary(&mut self, at: Timestamp) -> bool {
        self.take_near(&summaries(), at)
    }

    fn take_near(&mut self, words: &EventKey, at: Timestamp) -> bool {
        let Some(times) = self.0.get_mut(words) else { return false };
        let found = times.iter().position(|time| time.abs_diff(at.0) <= MAX_TIME_SKEW_MILLIS);
        found.map(|found| times.swap_remove(found)).is_some()
    }
}

fn is_of_subagent(data: Option<&str>) -> bool {
    data.is_some_and(|data| data.contains(r#""agent":"#))
}

fn summaries() -> EventKey {
    (SUMMARY.to_owned(), String::new(), false)
}

/// The source of a client's own summary of a conversation.
pub const SUMMARY: &str = "summary";

pub(crate) fn known(db: &Connection, session: i64) -> rusqlite::Result<Known> {
    let mut known = Known::default();
    let mut statement =
        db.prepare_cached("SELECT kind, text, at, data FROM events WHERE session_id = ?1 AND entry_id IS NULL")?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let data: Option<String> = row.get(3)?;
        let words = (row.get(0)?, row.get(1)?, is_of_subagent(data.as_deref()));
        known.0.entry(words).or_default().push(row.get(2)?);
    }
    for at in
        db.sql("SELECT at FROM entries WHERE session_id = ?1 AND source = ?2").values(params![session, SUMMARY])?
    {
        known.0.entry(summaries()).or_default().push(at);
    }
    Ok(known)
}
