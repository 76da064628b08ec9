//! The sessions of a store, as a person would list them. A list looks at every session once, and at the events of those that
//! it shows.

use rusqlite::{Connection, OptionalExtension as _, Row};
use weir_core::{SessionKey, Timestamp};

/// A session, by what it was for and when it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionAbout {
    /// Its name.
    pub key: SessionKey,
    /// When it began.
    pub from: Timestamp,
    /// When something last happened in it.
    pub to: Timestamp,
    /// How many events it has.
    pub events: u64,
    /// The work that it was last on.
    pub work: Option<String>,
    /// What was asked for, oldest first: the first few requests.
    pub requests: Vec<String>,
}

/// How many of the first requests are looked at.
const REQUESTS: usize = 4;

/// The newest sessions with something in them, newest first. Those that begin with a name, if one is given.
pub(crate) fn list(connection: &Connection, named: Option<&str>, most: usize) -> rusqlite::Result<Vec<SessionAbout>> {
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

fn about(connection: &Connection, row: &Row<'_>) -> rusqlite::Result<Option<SessionAbout>> {
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
        .query_map((id, REQUESTS.cast_signed()), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let key = SessionKey { client: row.get(1)?, key: row.get(2)? };
    Ok(Some(SessionAbout {
        key,
        from: Timestamp(from),
        to: Timestamp(to),
        events: events.cast_unsigned(),
        work,
        requests,
    }))
}
