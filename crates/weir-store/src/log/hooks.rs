//! The state of hooks besides their events: when the last one ran, and guides. Invariant: hooks are found by their
//! client, guides by their session.

use std::ops::RangeInclusive;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use weir_core::{SessionKey, Timestamp};

/// The last hook of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookUse {
    /// The client, by its name in commands.
    pub client: String,
    /// The client's event that the hook ran for.
    pub event: String,
    /// When the hook ran.
    pub at: Timestamp,
    /// How long Weir took, in microseconds, up to its last write.
    pub micros: u64,
    /// Number of hooks so far.
    pub count: u64,
}

/// Records that a hook ran. A hook from the spool may be older than the last one.
pub(crate) fn record(tx: &Transaction<'_>, seen: &HookUse) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO hooks (client, event, at, micros, count) VALUES (?1, ?2, ?3, ?4, 1)
         ON CONFLICT (client) DO UPDATE SET event = CASE WHEN ?3 < at THEN event ELSE ?2 END,
             micros = CASE WHEN ?3 < at THEN micros ELSE ?4 END, at = max(at, ?3), count = count + 1",
    )?
    .execute(params![seen.client, seen.event, seen.at.0, seen.micros.cast_signed()])
    .map(drop)
}

/// Returns the last hook of every client.
pub(crate) fn last_of_each_client(connection: &Connection) -> rusqlite::Result<Vec<HookUse>> {
    let mut statement = connection.prepare_cached("SELECT client, event, at, micros, count FROM hooks")?;
    let rows = statement.query_map([], |row| {
        Ok(HookUse {
            client: row.get(0)?,
            event: row.get(1)?,
            at: Timestamp(row.get(2)?),
            micros: row.get::<_, i64>(3)?.cast_unsigned(),
            count: row.get::<_, i64>(4)?.cast_unsigned(),
        })
    })?;
    rows.collect()
}

/// Stores the guide of a session, replacing older ones.
pub(crate) fn keep_guide(tx: &Transaction<'_>, session: i64, guide: &Guide, now: Timestamp) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM guides WHERE session_id = ?1")?.execute([session])?;
    tx.prepare_cached("INSERT INTO guides (session_id, at, text, waiting) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![session, now.0, guide.text, guide.waiting])
        .map(drop)
}

/// A stored guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    /// The text of the guide.
    pub text: String,
    /// Whether the guide is waiting for a hook that can deliver it.
    pub waiting: bool,
}

/// Returns the guide of a session.
pub(crate) fn guide(connection: &Connection, session: i64) -> rusqlite::Result<Option<Guide>> {
    connection
        .prepare_cached("SELECT text, waiting FROM guides WHERE session_id = ?1 ORDER BY id DESC LIMIT 1")?
        .query_row([session], |row| Ok(Guide { text: row.get(0)?, waiting: row.get(1)? }))
        .optional()
}

/// Takes the waiting guide of a session, if there is one.
pub(crate) fn take_waiting(tx: &Transaction<'_>, session: i64) -> rusqlite::Result<Option<String>> {
    tx.prepare_cached("UPDATE guides SET waiting = 0 WHERE session_id = ?1 AND waiting = 1 RETURNING text")?
        .query_row([session], |row| row.get(0))
        .optional()
}

/// Maximum number of sessions that are searched for one with a request of the user.
const MAX_SESSIONS: usize = 100;

/// Returns the newest session with a request of the user, of the same client as `but` and other than `but`.
pub(crate) fn last_session(connection: &Connection, but: &SessionKey) -> rusqlite::Result<Option<SessionKey>> {
    let mut newest = connection.prepare_cached(
        "SELECT id, key FROM sessions WHERE client = ?1 AND key <> ?2 ORDER BY started_at DESC LIMIT ?3",
    )?;
    let mut rows = newest.query(params![but.client, but.key, MAX_SESSIONS.cast_signed()])?;
    while let Some(row) = rows.next()? {
        let asked = connection
            .prepare_cached(
                "SELECT 1 FROM events INDEXED BY events_prompts WHERE session_id = ?1 AND kind = 'prompt' LIMIT 1",
            )?
            .exists([row.get::<_, i64>(0)?])?;
        if asked {
            return Ok(Some(SessionKey { client: but.client.clone(), key: row.get(1)? }));
        }
    }
    Ok(None)
}

/// The newest session of a client in which the user asked for just this at that time, but for one.
pub(crate) fn session_that_asked(
    connection: &Connection,
    but: &SessionKey,
    text: &str,
    at: RangeInclusive<Timestamp>,
) -> rusqlite::Result<Option<SessionKey>> {
    let mut asked = connection.prepare_cached(
        "SELECT s.key FROM (SELECT id, key FROM sessions WHERE client = ?1 AND key <> ?2 ORDER BY started_at DESC LIMIT ?3) s
         WHERE EXISTS (SELECT 1 FROM events INDEXED BY events_prompts
             WHERE session_id = s.id AND kind = 'prompt' AND text = ?4 AND at BETWEEN ?5 AND ?6) LIMIT 1",
    )?;
    let row = params![but.client, but.key, MAX_SESSIONS.cast_signed(), text, at.start().0, at.end().0];
    let key = asked.query_row(row, |row| row.get(0)).optional()?;
    Ok(key.map(|key| SessionKey { client: but.client.clone(), key }))
}
