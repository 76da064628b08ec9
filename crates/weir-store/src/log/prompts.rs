//! Reads the newest requests of the user. Looks at every session once, at the end of those that began last, and at the
//! requests of those that were used last.

use std::cmp::Reverse;

use rusqlite::{Connection, params};
use weir_core::{SessionKey, Timestamp};
use weir_ledger::Sql as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentPrompt {
    /// The position of the event in the log.
    pub number: i64,
    pub at: Timestamp,
    pub text: String,
    pub session: SessionKey,
}

/// Number of sessions whose requests are considered: those that began last.
const MAX_SESSIONS: usize = 64;

/// A session that may have one of the newest requests.
struct RecentSession {
    id: i64,
    key: SessionKey,
    last: Timestamp,
}

/// Returns at most `most` requests, newest first.
pub(crate) fn newest(db: &Connection, most: usize) -> rusqlite::Result<Vec<RecentPrompt>> {
    let mut sessions = recent_sessions(db)?;
    sessions.sort_by_key(|session| Reverse(session.last));
    let mut newest: Vec<RecentPrompt> = Vec::new();
    for session in sessions {
        // What ended before the oldest of these requests cannot have a newer one.
        if newest.len() == most && newest.last().is_some_and(|oldest| oldest.at > session.last) {
            break;
        }
        newest.extend(of_session(db, &session, most)?);
        newest.sort_by_key(|prompt| Reverse((prompt.at, prompt.number)));
        newest.truncate(most);
    }
    Ok(newest)
}

fn recent_sessions(db: &Connection) -> rusqlite::Result<Vec<RecentSession>> {
    let mut statement =
        db.prepare_cached("SELECT id, client, key FROM sessions ORDER BY started_at DESC, id DESC LIMIT ?1")?;
    let mut rows = statement.query([MAX_SESSIONS.cast_signed()])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let last: Option<i64> = db.sql("SELECT max(at) FROM events WHERE session_id = ?1").value([id])?;
        let key = SessionKey { client: row.get(1)?, key: row.get(2)? };
        sessions.extend(last.map(|last| RecentSession { id, key, last: Timestamp(last) }));
    }
    Ok(sessions)
}

fn of_session(db: &Connection, session: &RecentSession, most: usize) -> rusqlite::Result<Vec<RecentPrompt>> {
    db.sql(
        "SELECT id, at, text FROM events INDEXED BY events_prompts WHERE session_id = ?1 AND kind = 'prompt'
         ORDER BY at DESC, id DESC LIMIT ?2",
    )
    .all(params![session.id, most.cast_signed()], |row| {
        let (number, at) = (row.get(0)?, Timestamp(row.get(1)?));
        Ok(RecentPrompt { number, at, text: row.get(2)?, session: session.key.clone() })
    })
}
