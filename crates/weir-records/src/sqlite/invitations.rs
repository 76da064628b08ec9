//! The invitations in SQLite, in the database of the log. Invariant: whether an invitation is open and a name is free is
//! looked up under the engine's one write lock, in the transaction that adds the token.

use rusqlite::{Row, Transaction, params};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_ledger::Sql as _;

use super::accounts::{SqliteAccounts, add_token, audit_by};
use super::db::Fault;
use super::moving::check_unlocked;
use crate::accounts::{Acceptance, Invitation, InvitationStanding, Invitations, MAX_CLOSED_MILLIS};
use crate::accounts::{ApiToken, TokenId, TokenScope};
use crate::error::{ErrorKind, PortError, Result};

/// Reads invitations. One whose token was revoked is revoked as well.
const SELECT: &str = "SELECT i.id, i.tenant, i.hash, i.user, i.scope, i.projects, i.token_millis, i.max_uses, i.uses,
    i.invited_by, i.invited_with, i.created_at, i.expires_at, coalesce(i.revoked_at, t.revoked_at)
    FROM invitations i LEFT JOIN tokens t ON t.id = i.invited_with AND t.tenant = i.tenant";

impl Invitations for SqliteAccounts {
    fn add_invitation(&self, invitation: &Invitation) -> Result<()> {
        let doing = "add an invitation";
        let projects = invitation.projects.as_ref().map(serde_json::to_string).transpose();
        let projects = projects.map_err(|error| PortError::new(ErrorKind::Invalid, doing).because(error))?;
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let old = invitation.created_at.0.saturating_sub(MAX_CLOSED_MILLIS);
            let remove = "DELETE FROM invitations WHERE tenant = ?1 AND expires_at < ?2";
            tx.execute(remove, params![invitation.tenant.0, old])?;
            let added = tx.execute(
                "INSERT INTO invitations (id, tenant, hash, user, scope, projects, token_millis, max_uses, uses,
                     invited_by, invited_with, created_at, expires_at)
                 SELECT ?1, name, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13 FROM tenants WHERE name = ?2",
                params![
                    invitation.id.to_string(),
                    invitation.tenant.0,
                    invitation.hash.as_bytes(),
                    invitation.user.as_ref().map(|user| user.0.as_str()),
                    invitation.scope.as_str(),
                    projects,
                    invitation.token_millis,
                    invitation.max_uses,
                    invitation.uses,
                    invitation.invited_by.0,
                    invitation.invited_with.to_string(),
                    invitation.created_at.0,
                    invitation.expires_at.0,
                ],
            )?;
            if added == 0 {
                return Err(PortError::new(ErrorKind::Missing, doing).because("there is no such tenant").into());
            }
            let (tenant, id) = (&invitation.tenant, invitation.id.to_string());
            Ok(audit_by(tx, tenant, (&invitation.invited_by, invitation.invited_with), "invite", &id)?)
        })
    }

    fn invitation(&self, id: TokenId) -> Result<Option<Invitation>> {
        self.database.read("look up an invitation", |tx| find(tx, id))
    }

    fn invitations(&self, tenant: &TenantId) -> Result<Vec<Invitation>> {
        self.database.read("list invitations", |tx| {
            let select = format!("{SELECT} WHERE i.tenant = ?1 ORDER BY i.created_at, i.id");
            let mut statement = tx.prepare_cached(&select)?;
            let mut rows = statement.query(params![tenant.0])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(read(row)?);
            }
            Ok(found)
        })
    }

    fn revoke_invitation(&self, id: TokenId, by: &ApiToken, now: Timestamp) -> Result<bool> {
        let doing = "revoke an invitation";
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let sql = "UPDATE invitations SET revoked_at = ?3 WHERE tenant = ?1 AND id = ?2 AND revoked_at IS NULL";
            let is_new = tx.execute(sql, params![by.tenant.0, id.to_string(), now.0])? > 0;
            if is_new {
                audit_by(tx, &by.tenant, (&by.user, by.id), "revoke invitation", &id.to_string())?;
            }
            Ok(is_new)
        })
    }

    fn accept(&self, invitation: TokenId, token: &ApiToken) -> Result<Acceptance> {
        let doing = "accept an invitation";
        self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let found = find(tx, invitation)?.filter(|found| found.tenant == token.tenant);
            let found = found.ok_or_else(|| PortError::new(ErrorKind::Missing, doing))?;
            match found.standing(token.created_at) {
                InvitationStanding::Open => {}
                closed => return Ok(Acceptance::Closed(closed)),
            }
            let known = "SELECT EXISTS (SELECT 1 FROM tokens WHERE tenant = ?1 AND lower(user) = lower(?2))
                             OR EXISTS (SELECT 1 FROM hosts WHERE tenant = ?1 AND lower(user) = lower(?2))";
            if !found.is_for_its_admin() && tx.sql(known).value(params![token.tenant.0, token.user.0])? {
                return Ok(Acceptance::NameTaken);
            }
            let count = "UPDATE invitations SET uses = uses + 1 WHERE id = ?1";
            tx.execute(count, params![invitation.to_string()])?;
            add_token(tx, token, doing)?;
            let by = (&token.user, token.id);
            audit_by(tx, &token.tenant, by, "accept invitation", &invitation.to_string())?;
            Ok(Acceptance::Added)
        })
    }
}

fn find(tx: &Transaction<'_>, id: TokenId) -> Result<Option<Invitation>, Fault> {
    let select = format!("{SELECT} WHERE i.id = ?1");
    let mut statement = tx.prepare_cached(&select)?;
    let mut rows = statement.query(params![id.to_string()])?;
    rows.next()?.map(read).transpose()
}

fn read(row: &Row<'_>) -> Result<Invitation, Fault> {
    let damaged = || PortError::new(ErrorKind::Damaged, "read an invitation");
    let id =
        |at: usize| -> Result<TokenId, Fault> { Ok(TokenId::parse(&row.get::<_, String>(at)?).ok_or_else(damaged)?) };
    let projects: Option<String> = row.get(5)?;
    let projects: Option<Vec<ProjectKey>> =
        projects.map(|keys| serde_json::from_str(&keys)).transpose().map_err(|error| damaged().because(error))?;
    Ok(Invitation {
        id: id(0)?,
        tenant: TenantId(row.get(1)?),
        hash: blake3::Hash::from_bytes(row.get(2)?),
        user: row.get::<_, Option<String>>(3)?.map(UserId),
        scope: TokenScope::parse(&row.get::<_, String>(4)?).ok_or_else(damaged)?,
        projects,
        token_millis: row.get(6)?,
        max_uses: row.get(7)?,
        uses: row.get(8)?,
        invited_by: UserId(row.get(9)?),
        invited_with: id(10)?,
        created_at: Timestamp(row.get(11)?),
        expires_at: Timestamp(row.get(12)?),
        revoked_at: row.get::<_, Option<i64>>(13)?.map(Timestamp),
    })
}
