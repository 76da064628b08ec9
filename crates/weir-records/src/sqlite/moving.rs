//! What a team has in SQLite, for a move to another place, and the lock that ends its time here.
//!
//! Invariant: every transaction that writes to the log or to the accounts looks at the lock first. Once it is set and
//! committed, nothing changes any more, and what is read afterwards is all there will ever be.

use std::collections::BTreeMap;

use rusqlite::{Row, Transaction, params};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_ledger::Sql as _;

use super::db::Fault;
use super::log::SqliteLog;
use crate::erased::Imprint;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, RecordId};
use crate::moving::{AuditRow, BoundHost, Export, KeptRequest, MAX_BATCH_BYTES, MoveState, MovedRecord};
use crate::ports::Position;
use crate::record::{Audience, Record};
use crate::requests::RequestKey;

const LOCK: &str = "lock the log for a move";

impl SqliteLog {
    /// Returns every tenant, in the order of their names. One that was deleted is none, though its audit is left.
    pub fn tenants(&self) -> Result<Vec<TenantId>> {
        self.names("SELECT name FROM tenants UNION SELECT tenant FROM heads ORDER BY 1")
    }

    /// Returns every tenant that was deleted and has rows in the audit, in the order of their names.
    pub fn deleted_tenants(&self) -> Result<Vec<TenantId>> {
        self.names(
            "SELECT tenant FROM audit EXCEPT SELECT name FROM tenants EXCEPT SELECT tenant FROM heads ORDER BY 1",
        )
    }

    fn names(&self, sql: &str) -> Result<Vec<TenantId>> {
        self.database.read("list the tenants", |tx| {
            let mut statement = tx.prepare(sql)?;
            let names = statement.query_map([], |row| Ok(TenantId(row.get(0)?)))?;
            Ok(names.collect::<rusqlite::Result<_>>()?)
        })
    }

    pub fn move_state(&self) -> Result<MoveState> {
        self.database.read("read the state of a move", |tx| Ok(state(tx)?))
    }

    /// Refuses every write from now on, in all processes, because the team is being moved to `place`.
    pub fn lock_for_move(&self, place: &str) -> Result<()> {
        self.database.write(LOCK, |tx| {
            if let MoveState::Moved { place } = state(tx)? {
                return Err(moved(LOCK, &place).into());
            }
            tx.execute("INSERT OR REPLACE INTO moving (id, place, is_done) VALUES (1, ?1, 0)", params![place])?;
            Ok(())
        })
    }

    /// Takes the lock of an unfinished move back, and returns whether there was one.
    pub fn unlock_after_move(&self) -> Result<bool> {
        self.database.write("unlock the log", |tx| Ok(tx.execute("DELETE FROM moving WHERE is_done = 0", [])? > 0))
    }

    /// Records that the move is complete. There is no way back.
    pub fn finish_move(&self) -> Result<()> {
        self.database.write("finish a move", |tx| {
            if tx.execute("UPDATE moving SET is_done = 1 WHERE id = 1", [])? == 0 {
                return Err(PortError::new(ErrorKind::Invalid, "finish a move").because("none has begun").into());
            }
            Ok(())
        })
    }
}

impl Export for SqliteLog {
    fn moved_records(
        &self,
        tenant: &TenantId,
        project: &ProjectKey,
        after: Position,
        limit: usize,
    ) -> Result<Vec<MovedRecord>> {
        self.database.read("read the log", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT position, host, number, audience, json, imprint FROM records
                 WHERE tenant = ?1 AND project = ?2 AND position > ?3 ORDER BY position LIMIT ?4",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![tenant.0, project.0, after.0 as i64, limit], RecordRow::read)?;
            let (mut records, mut bytes) = (Vec::new(), 0);
            for row in rows {
                let row = row?;
                bytes += row.json.as_ref().map_or(0, String::len);
                records.push(row.record()?);
                if bytes >= MAX_BATCH_BYTES {
                    break;
                }
            }
            Ok(records)
        })
    }

    fn heads_of(&self, tenant: &TenantId) -> Result<BTreeMap<ProjectKey, Position>> {
        self.database.read("list the projects of a tenant", |tx| {
            let heads = tx
                .sql("SELECT project, position FROM heads WHERE tenant = ?1")
                .all([&tenant.0], |row| Ok((ProjectKey(row.get(0)?), Position(row.get::<_, i64>(1)? as u64))))?;
            Ok(heads.into_iter().collect())
        })
    }

    fn audit_count(&self, tenant: &TenantId) -> Result<u64> {
        self.database.read("count the audit", |tx| {
            let count: i64 = tx.sql("SELECT count(*) FROM audit WHERE tenant = ?1").value(params![tenant.0])?;
            Ok(count as u64)
        })
    }

    fn audit_rows(&self, tenant: &TenantId, skip: u64, limit: usize) -> Result<Vec<AuditRow>> {
        self.database.read("read the audit", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT at, project, actor, action, target, token FROM audit INDEXED BY audit_tenant
                 WHERE tenant = ?1 ORDER BY id LIMIT ?2 OFFSET ?3",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![tenant.0, limit, skip as i64], |row| {
                Ok(AuditRow {
                    at: Timestamp(row.get(0)?),
                    project: row.get::<_, Option<String>>(1)?.map(ProjectKey),
                    actor: row.get(2)?,
                    action: row.get(3)?,
                    target: row.get(4)?,
                    token: row.get(5)?,
                })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn bound_hosts(&self, tenant: &TenantId, after: Option<HostId>, limit: usize) -> Result<Vec<BoundHost>> {
        self.database.read("list the hosts of a tenant", |tx| {
            let mut statement = tx.prepare_cached(
                "SELECT host, user FROM hosts WHERE tenant = ?1 AND (?2 IS NULL OR host > ?2) ORDER BY host LIMIT ?3",
            )?;
            let (after, limit) = (after.map(|host| *host.as_bytes()), i64::try_from(limit).unwrap_or(i64::MAX));
            let rows = statement.query_map(params![tenant.0, after, limit], |row| {
                Ok(BoundHost { host: HostId::from_bytes(row.get(0)?), user: UserId(row.get(1)?) })
            })?;
            Ok(rows.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn kept_requests(&self, tenant: &TenantId, after: Option<[u8; 32]>, limit: usize) -> Result<Vec<KeptRequest>> {
        self.database.read("list the requests of a tenant", |tx| {
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let sql = "SELECT name, content, host, number, at FROM requests
                       WHERE tenant = ?1 AND (?2 IS NULL OR name > ?2) ORDER BY name LIMIT ?3";
            let rows = tx.sql(sql).all(params![tenant.0, after, limit], |row| {
                let record = RecordId { host: HostId::from_bytes(row.get(2)?), index: row.get::<_, i64>(3)? as u64 };
                let (name, at) = (row.get(0)?, Timestamp(row.get(4)?));
                let content = Imprint::from_number(row.get(1)?);
                Ok(content.map(|content| KeptRequest { key: RequestKey { name, content, at }, record }))
            })?;
            Ok(rows.into_iter().flatten().collect())
        })
    }
}

/// Refuses a write while the team is being moved, and afterwards.
pub(super) fn check_unlocked(tx: &Transaction<'_>, doing: &str) -> Result<(), Fault> {
    match state(tx)? {
        MoveState::Here => Ok(()),
        MoveState::Moving { .. } => {
            let reason = "the team is being moved to another database; the same call succeeds there";
            Err(PortError::new(ErrorKind::Busy, doing).because(reason).into())
        }
        MoveState::Moved { place } => Err(moved(doing, &place).into()),
    }
}

fn moved(doing: &str, place: &str) -> PortError {
    PortError::new(ErrorKind::Unavailable, doing).because(format!("the team was moved to {place}"))
}

fn state(tx: &Transaction<'_>) -> rusqlite::Result<MoveState> {
    let row: Option<(String, bool)> =
        tx.sql("SELECT place, is_done FROM moving WHERE id = 1").find([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(match row {
        None => MoveState::Here,
        Some((place, false)) => MoveState::Moving { place },
        Some((place, true)) => MoveState::Moved { place },
    })
}

struct RecordRow {
    position: i64,
    host: [u8; 16],
    number: i64,
    audience: String,
    json: Option<String>,
    imprint: Option<i64>,
}

impl RecordRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (position, host, number) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let (audience, json, imprint) = (row.get(3)?, row.get(4)?, row.get(5)?);
        Ok(Self { position, host, number, audience, json, imprint })
    }

    fn record(self) -> Result<MovedRecord> {
        let damaged = || PortError::new(ErrorKind::Damaged, "read a record").because("its audience is not known");
        Ok(MovedRecord {
            position: Position(self.position as u64),
            id: RecordId { host: HostId::from_bytes(self.host), index: self.number as u64 },
            audience: Audience::parse(&self.audience).ok_or_else(damaged)?,
            record: self.json.map(|json| Record::from_json(&json)).transpose()?,
            imprint: self.imprint.and_then(Imprint::from_number),
            text: None,
        })
    }
}
