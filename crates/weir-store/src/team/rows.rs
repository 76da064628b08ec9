//! The rows of the team's database.

use rusqlite::{Connection, Row, Transaction, params};
use weir_core::{Reference, Timestamp};
use weir_ledger::Sql as _;

use super::{Attribution, Confirmation, TeamConnection, TeamKind, TeamRecord, TeamState};
use crate::log::written;

pub(super) const SELECT_CONNECTION: &str =
    "SELECT server, token_file, tenant, user, project, host, next_index, position, taken_from, time_millis, time_count,
         tried_at, synced_at, problem FROM connection WHERE id = 1";

pub(super) const SELECT_RECORDS: &str =
    "SELECT id, kind, state, is_own, user, client, at, about, successor, reference, json, problem, is_sealed
         FROM records";

pub(super) fn connection(row: &Row<'_>) -> rusqlite::Result<TeamConnection> {
    let time = |at: usize| row.get::<_, Option<i64>>(at).map(|at| at.map(Timestamp));
    Ok(TeamConnection {
        server: row.get(0)?,
        token_file: row.get(1)?,
        tenant: row.get(2)?,
        user: row.get(3)?,
        project: row.get(4)?,
        host: row.get(5)?,
        next_index: row.get::<_, i64>(6)?.cast_unsigned(),
        position: row.get::<_, i64>(7)?.cast_unsigned(),
        taken_from: row.get(8)?,
        time_millis: row.get(9)?,
        time_count: row.get(10)?,
        tried_at: time(11)?,
        synced_at: time(12)?,
        problem: row.get(13)?,
    })
}

pub(super) fn save_connection(tx: &Transaction<'_>, one: &TeamConnection) -> rusqlite::Result<()> {
    tx.sql(
        "INSERT OR REPLACE INTO connection (id, server, token_file, tenant, user, project, host, next_index, position,
             taken_from, time_millis, time_count, tried_at, synced_at, problem)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )
    .run(params![
        one.server,
        one.token_file,
        one.tenant,
        one.user,
        one.project,
        one.host,
        one.next_index.cast_signed(),
        one.position.cast_signed(),
        one.taken_from,
        one.time_millis,
        one.time_count,
        one.tried_at.map(|at| at.0),
        one.synced_at.map(|at| at.0),
        one.problem,
    ])
}

pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<TeamRecord> {
    let reference: Option<String> = row.get(9)?;
    Ok(TeamRecord {
        id: row.get(0)?,
        kind: written(row, 1, TeamKind::parse)?,
        state: written(row, 2, TeamState::parse)?,
        is_own: row.get(3)?,
        user: row.get(4)?,
        client: row.get(5)?,
        at: Timestamp(row.get(6)?),
        about: row.get(7)?,
        successor: row.get(8)?,
        reference: reference.and_then(|text| Reference::parse(&text).ok()),
        json: row.get(10)?,
        problem: row.get(11)?,
        is_sealed: row.get(12)?,
    })
}

/// Writes a record. One that exists keeps its place in the order, and content that was erased does not come back: an
/// exchange may have read it before.
pub(super) fn save_record(tx: &Transaction<'_>, one: &TeamRecord) -> rusqlite::Result<()> {
    tx.sql(
        "INSERT INTO records (id, kind, state, is_own, user, client, at, about, successor, reference, json, problem,
             is_sealed)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
         ON CONFLICT (id) DO UPDATE SET kind = ?2, state = ?3, is_own = ?4, user = ?5, client = ?6, at = ?7, about = ?8,
             successor = ?9, reference = ?10, json = CASE WHEN json IS NULL THEN NULL ELSE ?11 END, problem = ?12,
             is_sealed = ?13",
    )
    .run(params![
        one.id,
        one.kind.as_str(),
        one.state.as_str(),
        one.is_own,
        one.user,
        one.client,
        one.at.0,
        one.about,
        one.successor,
        one.reference.as_ref().map(Reference::as_str),
        one.json,
        one.problem,
        one.is_sealed,
    ])
}

pub(super) fn delete_record(tx: &Transaction<'_>, id: &str) -> rusqlite::Result<()> {
    tx.sql("DELETE FROM records WHERE id = ?1").run([id])
}

pub(super) fn attribution(db: &Connection, reference: Reference) -> rusqlite::Result<Option<Attribution>> {
    let sql = format!("{SELECT_RECORDS} WHERE reference = ?1 AND kind = 'kept' ORDER BY number DESC LIMIT 1");
    let found = db.sql(&sql).find([reference.as_str()], record)?;
    let Some(TeamRecord { id, is_own, user, client, is_sealed, .. }) = found else { return Ok(None) };
    let sealed = "SELECT EXISTS (SELECT 1 FROM records WHERE kind = 'granted')";
    let is_in_clear = !is_own && !is_sealed && db.sql(sealed).value([])?;
    let confirmation = |row: &Row<'_>| -> rusqlite::Result<Confirmation> {
        Ok(Confirmation { user: row.get(0)?, at: Timestamp(row.get(1)?) })
    };
    let confirmed = db
        .sql(
            "SELECT user, min(at) FROM records WHERE about = ?1 AND kind = 'confirmed'
             AND state NOT IN ('received', 'refused') GROUP BY user ORDER BY min(at)",
        )
        .all([&id], confirmation)?;
    Ok(Some(Attribution { reference, is_own, is_in_clear, user, client, confirmed }))
}
