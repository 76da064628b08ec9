//! The accounts in SQLite, in the database of the log. Invariant: each statement names the tenant, but for the look-up
//! of a token.

use std::path::Path;

use rusqlite::{Row, Transaction, params};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_ledger::Sql as _;

use super::db::{Database, Fault};
use super::log::MIGRATIONS;
use super::moving::check_unlocked;
use crate::accounts::Invitations;
use crate::accounts::{Accounts, ApiToken, OPERATOR, Revoked, TenantUsage, TokenId, TokenScope};
use crate::error::{ErrorKind, PortError, Result};

/// What `read_token` reads.
const COLUMNS: &str = "id, tenant, user, scope, projects, hash, created_at, expires_at, revoked_at";

/// The accounts in SQLite.
pub struct SqliteAccounts {
    pub(super) database: Database,
}

impl SqliteAccounts {
    /// Opens the accounts in a file, which is created if it does not exist.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { database: Database::open(path, MIGRATIONS)? })
    }
}

impl SqliteAccounts {
    fn set_quota(&self, tenant: &TenantId, most: u64, sql: &str, target: &str) -> Result<()> {
        let doing = "set the quota of a tenant";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            if tx.execute(sql, params![tenant.0, most])? == 0 {
                return Err(PortError::new(ErrorKind::Missing, doing).because("there is no such tenant").into());
            }
            Ok(audit(tx, tenant, "set quota", target)?)
        })
    }
}

impl Accounts for SqliteAccounts {
    fn create_tenant(&self, tenant: &TenantId) -> Result<bool> {
        let doing = "create a tenant";
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let sql = "INSERT INTO tenants (name) VALUES (?1) ON CONFLICT (name) DO NOTHING";
            let is_new = tx.execute(sql, params![tenant.0])? > 0;
            if is_new {
                audit(tx, tenant, "create tenant", &tenant.0)?;
            }
            Ok(is_new)
        })
    }

    fn set_max_records(&self, tenant: &TenantId, max_records: u64) -> Result<()> {
        let sql = "UPDATE tenants SET max_records = ?2 WHERE name = ?1";
        self.set_quota(tenant, max_records, sql, &format!("{max_records} records"))
    }

    fn set_max_bytes(&self, tenant: &TenantId, max_bytes: u64) -> Result<()> {
        let sql = "UPDATE tenants SET max_bytes = ?2 WHERE name = ?1";
        self.set_quota(tenant, max_bytes, sql, &format!("{max_bytes} bytes"))
    }

    fn has_tenant(&self, tenant: &TenantId) -> Result<bool> {
        self.database.read("look up a tenant", |tx| {
            let sql = "SELECT EXISTS (SELECT 1 FROM tenants WHERE name = ?1)";
            Ok(tx.sql(sql).value(params![tenant.0])?)
        })
    }

    fn usage(&self, tenant: &TenantId) -> Result<TenantUsage> {
        self.database.read("read the usage of a tenant", |tx| {
            let sum = "SELECT coalesce(sum(position), 0), coalesce(sum(bytes), 0) FROM heads WHERE tenant = ?1";
            let (records, bytes): (i64, i64) =
                tx.sql(sum).one(params![tenant.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let most: Option<[Option<i64>; 2]> = tx
                .sql("SELECT max_records, max_bytes FROM tenants WHERE name = ?1")
                .find(params![tenant.0], |row| Ok([row.get(0)?, row.get(1)?]))?;
            let [max_records, max_bytes] = most.unwrap_or_default().map(|most| most.map(|most| most as u64));
            Ok(TenantUsage { records: records as u64, max_records, bytes: bytes.max(0) as u64, max_bytes })
        })
    }

    fn projects(&self, tenant: &TenantId) -> Result<Vec<ProjectKey>> {
        self.database.read("list the projects of a tenant", |tx| {
            let mut statement = tx.prepare_cached("SELECT project FROM heads WHERE tenant = ?1 ORDER BY project")?;
            let keys = statement.query_map(params![tenant.0], |row| Ok(ProjectKey(row.get(0)?)))?;
            Ok(keys.collect::<rusqlite::Result<_>>()?)
        })
    }

    fn add_token(&self, token: &ApiToken, replaced: Option<TokenId>) -> Result<()> {
        let doing = "add a token";
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            if let Some(old) = replaced {
                if end_token(tx, &token.tenant, old, token.created_at)? == 0 {
                    let missing = PortError::new(ErrorKind::Missing, doing);
                    return Err(missing.because("the token to be replaced is not known or already revoked").into());
                }
                audit(tx, &token.tenant, "revoke token", &old.to_string())?;
            }
            add_token(tx, token, doing)?;
            Ok(audit(tx, &token.tenant, "add token", &token.id.to_string())?)
        })
    }

    fn token(&self, id: TokenId) -> Result<Option<ApiToken>> {
        self.database.read("look up a token", |tx| {
            let select = format!("SELECT {COLUMNS} FROM tokens WHERE id = ?1");
            let found = tx.sql(&select).find(params![id.to_string()], read_row)?;
            Ok(found.map(read_token).transpose()?)
        })
    }

    fn tokens(&self, tenant: &TenantId) -> Result<Vec<ApiToken>> {
        self.database.read("list tokens", |tx| {
            let select = format!("SELECT {COLUMNS} FROM tokens WHERE tenant = ?1 ORDER BY created_at, id");
            let mut statement = tx.prepare_cached(&select)?;
            let rows = statement.query_map(params![tenant.0], read_row)?;
            rows.map(|row| Ok(read_token(row?)?)).collect()
        })
    }

    fn revoke(&self, tenant: &TenantId, revoked: &Revoked, now: Timestamp) -> Result<u64> {
        let doing = "revoke tokens";
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let (count, target) = match revoked {
                Revoked::Token(id) => (end_token(tx, tenant, *id, now)?, id.to_string()),
                Revoked::User(user) => (
                    tx.execute(
                        "UPDATE tokens SET revoked_at = ?3 WHERE tenant = ?1 AND user = ?2 AND revoked_at IS NULL",
                        params![tenant.0, user.0, now.0],
                    )?,
                    format!("all of {}", user.0),
                ),
            };
            if count > 0 {
                audit(tx, tenant, "revoke token", &target)?;
            }
            Ok(count as u64)
        })
    }

    fn invitations(&self) -> Option<&dyn Invitations> {
        Some(self)
    }
}

/// Adds a token to a tenant that exists.
pub(super) fn add_token(tx: &Transaction<'_>, token: &ApiToken, doing: &str) -> Result<(), Fault> {
    let projects = token.projects.as_ref().map(serde_json::to_string).transpose();
    let projects = projects.map_err(|error| PortError::new(ErrorKind::Invalid, doing).because(error))?;
    let added = tx.execute(
        "INSERT INTO tokens (id, tenant, user, scope, projects, hash, created_at, expires_at)
         SELECT ?1, name, ?3, ?4, ?5, ?6, ?7, ?8 FROM tenants WHERE name = ?2",
        params![
            token.id.to_string(),
            token.tenant.0,
            token.user.0,
            token.scope.as_str(),
            projects,
            token.hash.as_bytes(),
            token.created_at.0,
            token.expires_at.map(|at| at.0),
        ],
    )?;
    if added == 0 {
        return Err(PortError::new(ErrorKind::Missing, doing).because("there is no such tenant").into());
    }
    Ok(())
}

fn end_token(tx: &Transaction<'_>, tenant: &TenantId, id: TokenId, now: Timestamp) -> rusqlite::Result<usize> {
    let sql = "UPDATE tokens SET revoked_at = ?3 WHERE tenant = ?1 AND id = ?2 AND revoked_at IS NULL";
    tx.execute(sql, params![tenant.0, id.to_string(), now.0])
}

pub(super) fn audit(tx: &Transaction<'_>, tenant: &TenantId, action: &str, target: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO audit (tenant, actor, action, target) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(sql, params![tenant.0, OPERATOR, action, target]).map(drop)
}

/// Audits what a user has done with a token.
pub(super) fn audit_by(
    tx: &Transaction<'_>,
    tenant: &TenantId,
    (user, token): (&UserId, TokenId),
    action: &str,
    target: &str,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO audit (tenant, actor, action, target, token) VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.execute(sql, params![tenant.0, user.0, action, target, token.to_string()]).map(drop)
}

struct TokenRow {
    id: String,
    tenant: String,
    user: String,
    scope: String,
    projects: Option<String>,
    hash: [u8; 32],
    times: [Option<i64>; 3],
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<TokenRow> {
    Ok(TokenRow {
        id: row.get(0)?,
        tenant: row.get(1)?,
        user: row.get(2)?,
        scope: row.get(3)?,
        projects: row.get(4)?,
        hash: row.get(5)?,
        times: [row.get(6)?, row.get(7)?, row.get(8)?],
    })
}

fn read_token(row: TokenRow) -> Result<ApiToken> {
    let damaged = || PortError::new(ErrorKind::Damaged, "read a token");
    let projects: Option<Vec<ProjectKey>> =
        row.projects.map(|keys| serde_json::from_str(&keys)).transpose().map_err(|error| damaged().because(error))?;
    let [created_at, expires_at, revoked_at] = row.times.map(|at| at.map(Timestamp));
    Ok(ApiToken {
        id: TokenId::parse(&row.id).ok_or_else(damaged)?,
        hash: blake3::Hash::from_bytes(row.hash),
        tenant: TenantId(row.tenant),
        user: UserId(row.user),
        scope: TokenScope::parse(&row.scope).ok_or_else(damaged)?,
        projects,
        created_at: created_at.ok_or_else(damaged)?,
        expires_at,
        revoked_at,
    })
}
