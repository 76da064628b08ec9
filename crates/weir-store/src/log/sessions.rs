//! Lists the sessions of a store for a person. Looks at every session once, and at the events of those it lists.

use rusqlite::{Connection, OptionalExtension as _, Row};
use weir_core::{SessionKey, Timestamp};

/// A session, with its time and its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// The key of the session.
    pub key: SessionKey,
    /// When the session began.
    pub from: Timestamp,
    /// When the last event happened.
    pub to: Timestamp,
    /// Number of events.
    pub events: u64,
    /// The work that the session was last on.
    pub work: Option<String>,
    /// The first few requests, oldest first.
    pub requests: Vec<String>,
}

/// Maximum number of requests that are read.
const MAX_REQUESTS: usize = 4;

/// Returns at most `most` sessions with events, newest first. If `named` is given, only those whose key begins with it.
pub(crate) fn list(connection: &Connection, named: Option<&str>, most: usize) -> rusqlite::Result<Vec<SessionSummary>> {
    let mut statement =
        connection.prepare_cached("SELECT id, client, key, started_at FROM sessions ORDER BY started_at DESC")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        let key: String = row.get(2)?;
        if named.is_none_or(|named| key.starts_with(named)) {
            found.extend(about(connection, row)?);
        }
    }
    Ok(found)
}

fn about(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Option<SessionSummary>> {
    let id: i64 = row.get(0)?;
    let (events, from, to): (i64, Option<i64>, Option<i64>) = connection
        .prepare_cached("SELECT count(*), min(at), max(at) FROM events WHERE session_id = ?1")?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let Some((from, to)) = from.zip(to) else { return Ok(None) };
    let work = connection
        .prepare_cached(
            "SELECT w.name FROM events v JOIN works w ON w.id = v.work_id WHERE v.session_id = ?1 ORDER BY v.at DESC LIMIT 1",
        )?
        .query_row([id], |row| row.get(0))
        .optional()?;
    let requests = connection
        .prepare_cached(
            "SELECT text FROM events INDEXED BY events_prompts WHERE session_id = ?1 AND kind = 'prompt' ORDER BY at LIMIT ?2",
        )?
        .query_map((id, MAX_REQUESTS.cast_signed()), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let key = SessionKey { client: row.get(1)?, key: row.get(2)? };
    Ok(Some(SessionSummary {
        key,
        from: Timestamp(from),
        to: Timestamp(to),
        events: events.cast_unsigned(),
        work,
        requests,
    }))
}
