//! Whose host each is, in SQLite. Invariant: a host is bound once, in the transaction that says so in the audit.

use std::collections::BTreeSet;

use rusqlite::{Transaction, params};
use weir_core::Scope;
use weir_ledger::Sql as _;

use super::db::{Database, Fault};
use super::moving::check_unlocked;
use crate::error::Result;
use crate::id::HostId;
use crate::ports::refused_hosts;

const BIND: &str = "bind hosts to a user";

/// Binds hosts that are bound to nobody, and returns those of others. What is bound already is only read.
pub(super) fn bind(database: &Database, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>> {
    let hosts: BTreeSet<HostId> = hosts.iter().copied().collect();
    let are_own = database.read(BIND, |tx| {
        for host in &hosts {
            if user_of(tx, scope, *host)?.as_deref() != Some(scope.user.0.as_str()) {
                return Ok(false);
            }
        }
        Ok(true)
    })?;
    if are_own {
        return Ok(Vec::new());
    }
    database.write(BIND, |tx| {
        check_unlocked(tx, BIND)?;
        let mut others = Vec::new();
        for host in hosts {
            if !bind_one(tx, scope, host)? {
                others.push(host);
            }
        }
        if let Some(target) = refused_hosts(&others).filter(|_| !scope.user.0.is_empty()) {
            audit(tx, scope, "refuse host", &target)?;
        }
        Ok(others)
    })
}

/// Binds a host unless it is bound, and returns whether the user has it.
fn bind_one(tx: &Transaction<'_>, scope: &Scope, host: HostId) -> Result<bool, Fault> {
    let new: Option<String> = tx
        .sql(
            "INSERT OR IGNORE INTO hosts (tenant, host, user) VALUES (?1, ?2, coalesce((
                 SELECT CASE WHEN min(r.author) <> max(r.author) THEN '' ELSE min(r.author) END
                 FROM records r INDEXED BY records_id WHERE r.tenant = ?1 AND r.host = ?2 AND r.author <> ''), ?3))
             RETURNING user",
        )
        .find_value(params![scope.tenant.0, host.as_bytes(), scope.user.0])?;
    let is_new = new.is_some();
    let user = match new {
        Some(user) => Some(user),
        None => user_of(tx, scope, host)?,
    };
    let is_own = user.as_deref() == Some(scope.user.0.as_str());
    if is_new && is_own && !scope.user.0.is_empty() {
        audit(tx, scope, "bind host", &host.to_string())?;
    }
    Ok(is_own)
}

fn user_of(tx: &Transaction<'_>, scope: &Scope, host: HostId) -> rusqlite::Result<Option<String>> {
    tx.sql("SELECT user FROM hosts WHERE tenant = ?1 AND host = ?2")
        .find_value(params![scope.tenant.0, host.as_bytes()])
}

fn audit(tx: &Transaction<'_>, scope: &Scope, action: &str, target: &str) -> rusqlite::Result<()> {
    let token = scope.session.as_ref().map(|session| session.key.as_str()).filter(|key| !key.is_empty());
    tx.sql("INSERT INTO audit (tenant, actor, action, target, token) VALUES (?1, ?2, ?3, ?4, ?5)")
        .run(params![scope.tenant.0, scope.user.0, action, target, token])
}
