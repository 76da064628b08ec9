//! What hooks need besides events: guides, and earlier sessions. Invariant: both are found by their session.

use std::ops::RangeInclusive;

use rusqlite::{Connection, Transaction, params};
use weir_core::{SessionKey, Timestamp};
use weir_ledger::Sql as _;

/// Stores the guide of a session, replacing older ones.
pub(crate) fn keep_guide(tx: &Transaction<'_>, session: i64, guide: &Guide, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("DELETE FROM guides WHERE session_id = ?1").run([session])?;
    tx.sql("INSERT INTO guides (session_id, at, text, waiting) VALUES (?1, ?2, ?3, ?4)")
        .run(params![session, now.0, guide.text, guide.waiting])
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guide {
    pub text: String,
    /// Whether the guide is waiting for a hook that can deliver it.
    pub waiting: bool,
}

pub(crate) fn guide(db: &Connection, session: i64) -> rusqlite::Result<Option<Guide>> {
    db.sql("SELECT text, waiting FROM guides WHERE session_id = ?1 ORDER BY id DESC LIMIT 1")
        .find([session], |row| Ok(Guide { text: row.get(0)?, waiting: row.get(1)? }))
}

pub(crate) fn take_waiting(tx: &Transaction<'_>, session: i64) -> rusqlite::Result<Option<String>> {
    tx.sql("UPDATE guides SET waiting = 0 WHERE session_id = ?1 AND waiting = 1 RETURNING text").find_value([session])
}

/// Maximum number of sessions that are searched for one with a request of the user.
const MAX_SESSIONS: usize = 100;

/// Number of the newest sessions of a work that are compared by their last request.
const MAX_COMPARED: usize = 3;

/// Returns the session of the same client as `but`, other than `but`, with the latest request of the user in a work.
/// One that began earlier may have gone on for longer.
pub(crate) fn last_session(db: &Connection, but: &SessionKey, work: i64) -> rusqlite::Result<Option<SessionKey>> {
    let mut newest = db.prepare_cached(
        "SELECT id, key FROM sessions WHERE client = ?1 AND key <> ?2 ORDER BY started_at DESC LIMIT ?3",
    )?;
    let mut rows = newest.query(params![but.client, but.key, MAX_SESSIONS.cast_signed()])?;
    let mut found: Vec<(i64, String)> = Vec::new();
    while found.len() < MAX_COMPARED
        && let Some(row) = rows.next()?
    {
        let asked_at: Option<i64> = db
            .sql(
                "SELECT at FROM events INDEXED BY events_prompts
                 WHERE session_id = ?1 AND kind = 'prompt' AND work_id = ?2 ORDER BY id DESC LIMIT 1",
            )
            .find_value(params![row.get::<_, i64>(0)?, work])?;
        if let Some(at) = asked_at {
            found.push((at, row.get(1)?));
        }
    }
    found.reverse();
    let last = found.into_iter().max_by_key(|(at, _)| *at);
    Ok(last.map(|(_, key)| SessionKey { client: but.client.clone(), key }))
}

/// The newest session of a client in which the user asked for just this at that time, but for one.
pub(crate) fn session_that_asked(
    db: &Connection,
    but: &SessionKey,
    text: &str,
    at: RangeInclusive<Timestamp>,
) -> rusqlite::Result<Option<SessionKey>> {
    let row = params![but.client, but.key, MAX_SESSIONS.cast_signed(), text, at.start().0, at.end().0];
    let key = db.sql("SELECT s.key FROM (SELECT id, key FROM sessions WHERE client = ?1 AND key <> ?2 ORDER BY started_at DESC LIMIT ?3) s
         WHERE EXISTS (SELECT 1 FROM events INDEXED BY events_prompts
             WHERE session_id = s.id AND kind = 'prompt' AND text = ?4 AND at BETWEEN ?5 AND ?6) LIMIT 1").find_value(row)?;
    Ok(key.map(|key| SessionKey { client: but.client.clone(), key }))
}
