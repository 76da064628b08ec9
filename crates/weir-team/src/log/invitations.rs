//! The invitations on PostgreSQL, in the database of the log. Invariant: an invitation is accepted with its tenant
//! locked, so that no two calls take its last use or the same name.

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};
use weir_records::{
    Acceptance, ApiToken, ErrorKind, Invitation, InvitationStanding, Invitations, MAX_CLOSED_MILLIS, PortError, Result,
    TokenId, TokenScope,
};

use super::accounts::{Actor, PostgresAccounts, scope_of};
use super::database::{Database, check_tenant};
use super::fault::Fault;
use super::queries::Query;
use super::transaction::OpenTransaction;

static FIND: Query = Query { sql: "SELECT * FROM weir.find_invitation($1)", types: &[Type::TEXT] };

static LIST: Query = Query {
    sql: "SELECT * FROM weir.shown_invitations i WHERE i.tenant = $1 ORDER BY i.created_at, i.id",
    types: &[Type::TEXT],
};

static ADD: Query = Query {
    sql: "INSERT INTO weir.invitations (tenant_id, id, hash, user_name, scope, projects, token_millis, max_uses,
              uses, invited_by, invited_with, created_at, expires_at, revoked_at)
          SELECT t.tenant_id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
          FROM weir.tenants t WHERE t.name = $1
          RETURNING id",
    types: &[
        Type::TEXT,
        Type::TEXT,
        Type::BYTEA,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::INT8,
        Type::INT8,
    ],
};

/// Removes the invitations of a tenant that had expired at a time.
static REMOVE: Query = Query {
    sql: "DELETE FROM weir.invitations WHERE expires_at < $2
              AND tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1)",
    types: &[Type::TEXT, Type::INT8],
};

static REVOKE: Query = Query {
    sql: "UPDATE weir.invitations SET revoked_at = $3 WHERE revoked_at IS NULL AND id = $2
              AND tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1) RETURNING id",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

/// Keeps others of the tenant from accepting until the transaction ends. Those who append are not kept from it.
static LOCK: Query =
    Query { sql: "SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1 FOR NO KEY UPDATE", types: &[Type::TEXT] };

/// Whether a tenant has a user, in whatever case the name is written.
static HAS_USER: Query = Query {
    sql: "SELECT EXISTS (SELECT 1 FROM weir.tokens k WHERE k.tenant_id = t.tenant_id
                  AND lower(k.user_name) = lower($2))
              OR EXISTS (SELECT 1 FROM weir.hosts h WHERE h.tenant_id = t.tenant_id
                  AND lower(h.user_name) = lower($2))
          FROM weir.tenants t WHERE t.name = $1",
    types: &[Type::TEXT, Type::TEXT],
};

static COUNT: Query = Query {
    sql: "UPDATE weir.invitations SET uses = uses + 1 WHERE id = $2
              AND tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1) RETURNING id",
    types: &[Type::TEXT, Type::TEXT],
};

static REMOVE_ALL: Query = Query {
    sql: "DELETE FROM weir.invitations
          WHERE tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1)",
    types: &[Type::TEXT],
};

const ACCEPT: &str = "accept an invitation";

impl PostgresAccounts {
    /// Adds a token for an invitation within a transaction that has begun.
    async fn accepted(&self, client: &Object, id: TokenId, token: &ApiToken) -> Result<Acceptance, Fault> {
        let (tenant, wanted) = (&token.tenant.0, id.to_string());
        self.database.run(client, &LOCK, &[tenant]).await?;
        let rows = self.database.run(client, &FIND, &[&wanted]).await?;
        let found = rows.first().map(read).transpose()?.filter(|found| found.tenant == token.tenant);
        let found = found.ok_or_else(|| PortError::new(ErrorKind::Missing, ACCEPT))?;
        match found.standing(token.created_at) {
            InvitationStanding::Open => {}
            closed => return Ok(Acceptance::Closed(closed)),
        }
        if !found.is_for_its_admin() {
            let rows = self.database.run(client, &HAS_USER, &[tenant, &token.user.0]).await?;
            if rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or(true) {
                return Ok(Acceptance::NameTaken);
            }
        }
        self.database.run(client, &COUNT, &[tenant, &wanted]).await?;
        self.insert(client, token).await?;
        let with = token.id.to_string();
        self.audit_by(client, Actor::of(token, &with), "accept invitation", &wanted).await?;
        Ok(Acceptance::Added)
    }
}

impl Invitations for PostgresAccounts {
    fn add_invitation(&self, invitation: &Invitation) -> Result<()> {
        let doing = "add an invitation";
        check_tenant(&scope_of(&invitation.tenant), doing)?;
        let (id, with) = (invitation.id.to_string(), invitation.invited_with.to_string());
        self.database.wait_for(doing, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, &invitation.tenant).await?;
            let old = invitation.created_at.0.saturating_sub(MAX_CLOSED_MILLIS);
            self.database.run(&client, &REMOVE, &[&invitation.tenant.0, &old]).await?;
            if !insert(&self.database, &client, invitation).await? {
                return Err(PortError::new(ErrorKind::Missing, doing).because("there is no such tenant").into());
            }
            let by = Actor { tenant: &invitation.tenant, user: &invitation.invited_by.0, token: Some(&with) };
            self.audit_by(&client, by, "invite", &id).await?;
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(())
        })
    }

    fn invitation(&self, id: TokenId) -> Result<Option<Invitation>> {
        let doing = "look up an invitation";
        let rows = self.database.read_of_all(doing, &FIND, &[&id.to_string()])?;
        rows.first().map(|row| read(row).map_err(|fault| fault.at(doing))).transpose()
    }

    fn invitations(&self, tenant: &TenantId) -> Result<Vec<Invitation>> {
        let doing = "list invitations";
        let rows = self.database.read(doing, &scope_of(tenant), &LIST, &[&tenant.0])?;
        rows.iter().map(|row| read(row).map_err(|fault| fault.at(doing))).collect()
    }

    fn revoke_invitation(&self, id: TokenId, by: &ApiToken, now: Timestamp) -> Result<bool> {
        let doing = "revoke an invitation";
        check_tenant(&scope_of(&by.tenant), doing)?;
        self.database.wait_for(doing, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, &by.tenant).await?;
            let id = id.to_string();
            let is_new = !self.database.run(&client, &REVOKE, &[&by.tenant.0, &id, &now.0]).await?.is_empty();
            if is_new {
                let with = by.id.to_string();
                self.audit_by(&client, Actor::of(by, &with), "revoke invitation", &id).await?;
            }
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(is_new)
        })
    }

    fn accept(&self, invitation: TokenId, token: &ApiToken) -> Result<Acceptance> {
        check_tenant(&scope_of(&token.tenant), ACCEPT)?;
        self.database.wait_for(ACCEPT, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, &token.tenant).await?;
            let accepted = self.accepted(&client, invitation, token).await?;
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(accepted)
        })
    }
}

/// Adds the row of an invitation within a transaction that has begun. Returns whether its tenant exists.
pub(super) async fn insert(database: &Database, client: &Object, invitation: &Invitation) -> Result<bool, Fault> {
    let (id, with) = (invitation.id.to_string(), invitation.invited_with.to_string());
    let projects: Option<Vec<&str>> =
        invitation.projects.as_ref().map(|keys| keys.iter().map(|key| key.0.as_str()).collect());
    let user = invitation.user.as_ref().map(|user| user.0.as_str());
    let count = |uses: u32| i32::try_from(uses).unwrap_or(i32::MAX);
    let (max_uses, uses) = (count(invitation.max_uses), count(invitation.uses));
    let (hash, scope) = (invitation.hash.as_bytes().as_slice(), invitation.scope.as_str());
    let revoked_at = invitation.revoked_at.map(|at| at.0);
    let values: [&(dyn ToSql + Sync); 14] = [
        &invitation.tenant.0, &id, &hash, &user, &scope, &projects, &invitation.token_millis, &max_uses, &uses,
        &invitation.invited_by.0, &with, &invitation.created_at.0, &invitation.expires_at.0, &revoked_at,
    ];
    Ok(!database.run(client, &ADD, &values).await?.is_empty())
}

/// Removes all invitations of a tenant within a transaction that has begun.
pub(super) async fn remove_all(database: &Database, client: &Object, tenant: &TenantId) -> Result<(), Fault> {
    database.run(client, &REMOVE_ALL, &[&tenant.0]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Invitation, Fault> {
    let damaged = || PortError::new(ErrorKind::Damaged, "read an invitation");
    let id = |at: &str| -> Result<TokenId, Fault> { Ok(TokenId::parse(row.try_get(at)?).ok_or_else(damaged)?) };
    let hash: [u8; 32] = row.try_get::<_, &[u8]>("hash")?.try_into().map_err(|_| damaged())?;
    let projects: Option<Vec<String>> = row.try_get("projects")?;
    let number = |at: &str| -> Result<u32, Fault> { Ok(row.try_get::<_, i32>(at)?.unsigned_abs()) };
    Ok(Invitation {
        id: id("id")?,
        hash: blake3::Hash::from_bytes(hash),
        tenant: TenantId(row.try_get("tenant")?),
        user: row.try_get::<_, Option<String>>("user_name")?.map(UserId),
        scope: TokenScope::parse(row.try_get("scope")?).ok_or_else(damaged)?,
        projects: projects.map(|keys| keys.into_iter().map(ProjectKey).collect()),
        token_millis: row.try_get("token_millis")?,
        max_uses: number("max_uses")?,
        uses: number("uses")?,
        invited_by: UserId(row.try_get("invited_by")?),
        invited_with: id("invited_with")?,
        created_at: Timestamp(row.try_get("created_at")?),
        expires_at: Timestamp(row.try_get("expires_at")?),
        revoked_at: row.try_get::<_, Option<i64>>("revoked_at")?.map(Timestamp),
    })
}
