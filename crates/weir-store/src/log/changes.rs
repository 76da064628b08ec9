//! The changes that the index has not followed yet, read from the log in order.

use rusqlite::Connection;
use weir_core::{EventKind, WhyGone};

/// A change that the index has to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) seq: i64,
    pub(crate) entry_id: i64,
    pub(crate) kind: ChangeKind,
}

/// What happened to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    Kept,
    /// The user asked to leave no trace of the entry.
    Forgotten,
    /// The entry is gone for any other reason, such as expiry or eviction.
    OtherwiseGone,
}

/// Returns the position of the newest change, or 0 if there is none.
pub(crate) fn head(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT max(id) FROM events INDEXED BY events_changes WHERE entry_id IS NOT NULL")?
        .query_row([], |row| row.get::<_, Option<i64>>(0))
        .map(Option::unwrap_or_default)
}

/// Returns at most `limit` changes after `seq`, oldest first.
pub(crate) fn since(connection: &Connection, seq: i64, limit: usize) -> rusqlite::Result<Vec<Change>> {
    let mut statement = connection.prepare_cached(
        "SELECT v.id, v.entry_id, v.kind, g.why FROM events v INDEXED BY events_changes
             LEFT JOIN gone g ON g.entry_id = v.entry_id
         WHERE v.id > ?1 AND v.entry_id IS NOT NULL ORDER BY v.id LIMIT ?2",
    )?;
    let changes = statement.query_map([seq, limit as i64], |row| {
        let event_kind: String = row.get(2)?;
        let why: Option<String> = row.get(3)?;
        let kind = match why {
            _ if event_kind == EventKind::Kept.as_str() => ChangeKind::Kept,
            Some(why) if why == WhyGone::Forgotten.as_str() => ChangeKind::Forgotten,
            _ => ChangeKind::OtherwiseGone,
        };
        Ok(Change { seq: row.get(0)?, entry_id: row.get(1)?, kind })
    })?;
    changes.collect()
}
