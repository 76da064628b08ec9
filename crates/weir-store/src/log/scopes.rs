//! Finds sessions and works by name, and defines the visibility rule as SQL.

use rusqlite::{Connection, Transaction, params};
use weir_core::{Scope, Timestamp};
use weir_ledger::Sql as _;

/// The rows of a scope's session and work. A missing one matches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ScopeIds {
    pub(crate) session: Option<i64>,
    pub(crate) work: Option<i64>,
}

/// `Scope::sees` for a row `e` with `level`, `session_id` and `work_id`; ?1 is the session, ?2 the work.
pub(crate) const VISIBLE: &str = "(e.level IN ('project', 'user')
    OR (e.level = 'work' AND e.work_id = ?2) OR (e.level = 'session' AND e.session_id = ?1))";

/// Finds the rows of a scope without creating any. Uses one statement for both, since every append needs them.
pub(crate) fn find(db: &Connection, scope: &Scope) -> rusqlite::Result<ScopeIds> {
    let session = scope.session.as_ref();
    db.sql("SELECT (SELECT id FROM sessions WHERE client = ?1 AND key = ?2), (SELECT id FROM works WHERE name = ?3)")
        .one(params![session.map(|session| &session.client), session.map(|session| &session.key), scope.work], |row| {
            Ok(ScopeIds { session: row.get(0)?, work: row.get(1)? })
        })
}

/// Finds the rows of a scope, creating those that do not exist.
pub(crate) fn find_or_make(tx: &Transaction<'_>, scope: &Scope, now: Timestamp) -> rusqlite::Result<ScopeIds> {
    let mut scope_ids = find(tx, scope)?;
    if let (Some(session), None) = (&scope.session, scope_ids.session) {
        let mut insert = tx.prepare_cached("INSERT INTO sessions (client, key, started_at) VALUES (?1, ?2, ?3)")?;
        scope_ids.session = Some(insert.insert(params![session.client, session.key, now.0])?);
    }
    if let (Some(name), None) = (&scope.work, scope_ids.work) {
        scope_ids.work = Some(tx.sql("INSERT INTO works (name) VALUES (?1)").insert([name])?);
    }
    Ok(scope_ids)
}

pub(crate) fn sessions_with_key(db: &Connection, key: &str) -> rusqlite::Result<Vec<i64>> {
    db.sql("SELECT id FROM sessions WHERE key = ?1").values([key])
}

pub(crate) fn find_work(db: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    db.sql("SELECT id FROM works WHERE name = ?1").find_value([name])
}
