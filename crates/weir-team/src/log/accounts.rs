//! The accounts on PostgreSQL, in the database of the log. Invariant: each transaction enters its tenant before
//! anything else, but for the look-up of a token, which is a function of the database that returns one row.

use std::sync::Arc;

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use weir_core::{ProjectKey, Scope, TenantId, Timestamp, UserId};
use weir_records::{
    Accounts, ApiToken, ErrorKind, Invitations, OPERATOR, PortError, Result, Revoked, TenantUsage, TokenId, TokenScope,
};

use super::database::{Database, check_tenant};
use super::fault::Fault;
use super::queries::{CREATE_TENANT, Query};
use super::transaction::OpenTransaction;

/// The accounts on PostgreSQL. They share the connections of a log.
pub struct PostgresAccounts {
    pub(super) database: Arc<Database>,
}

/// Who makes a change of a tenant, and with which token.
#[derive(Clone, Copy)]
pub(super) struct Actor<'a> {
    pub(super) tenant: &'a TenantId,
    pub(super) user: &'a str,
    pub(super) token: Option<&'a str>,
}

impl<'a> Actor<'a> {
    /// Returns the user of a token with this id.
    pub(super) fn of(token: &'a ApiToken, id: &'a str) -> Self {
        Self { tenant: &token.tenant, user: &token.user.0, token: Some(id) }
    }
}

static FIND_TOKEN: Query = Query { sql: "SELECT * FROM weir.find_token($1)", types: &[Type::TEXT] };

static TOKENS: Query = Query {
    sql: "SELECT t.name, k.id, k.user_name, k.scope, k.projects, k.hash, k.created_at, k.expires_at, k.revoked_at
          FROM weir.tokens k JOIN weir.tenants t USING (tenant_id) WHERE t.name = $1 ORDER BY k.created_at, k.id",
    types: &[Type::TEXT],
};

static ADD_TOKEN: Query = Query {
    sql: "INSERT INTO weir.tokens (tenant_id, id, user_name, scope, projects, hash, created_at, expires_at)
          SELECT t.tenant_id, $2, $3, $4, $5, $6, $7, $8 FROM weir.tenants t WHERE t.name = $1 RETURNING id",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT_ARRAY, Type::BYTEA, Type::INT8, Type::INT8],
};

static REVOKE_TOKEN: Query = Query {
    sql: "UPDATE weir.tokens SET revoked_at = $3 WHERE revoked_at IS NULL AND id = $2
              AND tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1) RETURNING id",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

static REVOKE_USER: Query = Query {
    sql: "UPDATE weir.tokens SET revoked_at = $3 WHERE revoked_at IS NULL AND user_name = $2
              AND tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1) RETURNING id",
    types: &[Type::TEXT, Type::TEXT, Type::INT8],
};

static SET_MAX_BYTES: Query = Query {
    sql: "UPDATE weir.tenants SET max_bytes = $2 WHERE name = $1 RETURNING name",
    types: &[Type::TEXT, Type::INT8],
};

static HAS_TENANT: Query =
    Query { sql: "SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1", types: &[Type::TEXT] };

static SET_MAX_RECORDS: Query = Query {
    sql: "UPDATE weir.tenants SET max_records = $2 WHERE name = $1 RETURNING name",
    types: &[Type::TEXT, Type::INT8],
};

static USAGE: Query = Query {
    sql: "SELECT coalesce(sum(h.position), 0)::bigint, max(t.max_records),
              coalesce(sum(h.bytes), 0)::bigint, max(t.max_bytes)
          FROM weir.tenants t LEFT JOIN weir.heads h USING (tenant_id) WHERE t.name = $1",
    types: &[Type::TEXT],
};

static PROJECTS: Query = Query {
    sql: "SELECT p.key FROM weir.projects p JOIN weir.tenants t USING (tenant_id) WHERE t.name = $1 ORDER BY p.key",
    types: &[Type::TEXT],
};

static AUDIT: Query = Query {
    sql: "INSERT INTO weir.audit (tenant_id, actor, action, target, token)
          SELECT t.tenant_id, $2, $3, $4, $5 FROM weir.tenants t WHERE t.name = $1",
    types: &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
};

impl PostgresAccounts {
    /// Creates the accounts of a database that is open.
    pub(super) fn new(database: Arc<Database>) -> Self {
        Self { database }
    }

    fn set_quota(&self, tenant: &TenantId, most: u64, query: &'static Query, target: &str) -> Result<()> {
        let doing = "set the quota of a tenant";
        check_tenant(&scope_of(tenant), doing)?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.database.wait_for(doing, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, tenant).await?;
            if self.database.run(&client, query, &[&tenant.0, &most]).await?.is_empty() {
                return Err(PortError::new(ErrorKind::Missing, doing).because("there is no such tenant").into());
            }
            self.audit(&client, tenant, "set quota", target).await?;
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(())
        })
    }

    async fn audit(&self, client: &Object, tenant: &TenantId, action: &str, target: &str) -> Result<(), Fault> {
        self.audit_by(client, Actor { tenant, user: OPERATOR, token: None }, action, target).await
    }

    pub(super) async fn audit_by(
        &self,
        client: &Object,
        by: Actor<'_>,
        action: &str,
        target: &str,
    ) -> Result<(), Fault> {
        self.database.run(client, &AUDIT, &[&by.tenant.0, &by.user, &action, &target, &by.token]).await?;
        Ok(())
    }

    /// Adds a token within a transaction that has begun.
    async fn add(&self, client: &Object, token: &ApiToken, replaced: Option<TokenId>) -> Result<(), Fault> {
        let (tenant, id) = (&token.tenant, token.id.to_string());
        if let Some(old) = replaced.map(|old| old.to_string()) {
            if self.database.run(client, &REVOKE_TOKEN, &[&tenant.0, &old, &token.created_at.0]).await?.is_empty() {
                let missing = PortError::new(ErrorKind::Missing, ADD);
                return Err(missing.because("the token to be replaced is not known or already revoked").into());
            }
            self.audit(client, tenant, "revoke token", &old).await?;
        }
        self.insert(client, token).await?;
        self.audit(client, tenant, "add token", &id).await
    }

    /// Adds the row of a token within a transaction that has begun.
    pub(super) async fn insert(&self, client: &Object, token: &ApiToken) -> Result<(), Fault> {
        let (tenant, id) = (&token.tenant, token.id.to_string());
        let projects: Option<Vec<&str>> =
            token.projects.as_ref().map(|projects| projects.iter().map(|project| project.0.as_str()).collect());
        let (scope, hash) = (token.scope.as_str(), token.hash.as_bytes().as_slice());
        let expires_at = token.expires_at.map(|at| at.0);
        let values: [&(dyn ToSql + Sync); 8] =
            [&tenant.0, &id, &token.user.0, &scope, &projects, &hash, &token.created_at.0, &expires_at];
        if self.database.run(client, &ADD_TOKEN, &values).await?.is_empty() {
            return Err(PortError::new(ErrorKind::Missing, ADD).because("there is no such tenant").into());
        }
        Ok(())
    }

    /// Revokes tokens within a transaction that has begun.
    async fn end(&self, client: &Object, tenant: &TenantId, revoked: &Revoked, now: i64) -> Result<u64, Fault> {
        let (query, name, target) = match revoked {
            Revoked::Token(id) => (&REVOKE_TOKEN, id.to_string(), id.to_string()),
            Revoked::User(user) => (&REVOKE_USER, user.0.clone(), format!("all of {}", user.0)),
        };
        let count = self.database.run(client, query, &[&tenant.0, &name, &now]).await?.len();
        if count > 0 {
            self.audit(client, tenant, "revoke token", &target).await?;
        }
        Ok(count as u64)
    }
}

const ADD: &str = "add a token";

impl Accounts for PostgresAccounts {
    fn create_tenant(&self, tenant: &TenantId) -> Result<bool> {
        let doing = "create a tenant";
        check_tenant(&scope_of(tenant), doing)?;
        self.database.wait_for(doing, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            client.batch_execute(self.database.begin_write()).await?;
            let rows = self.database.run(&client, &CREATE_TENANT, &[&tenant.0]).await?;
            let is_new: Option<bool> = rows.first().map(|row| row.try_get(0)).transpose()?;
            if is_new == Some(true) {
                self.audit(&client, tenant, "create tenant", &tenant.0).await?;
            }
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(is_new == Some(true))
        })
    }

    fn set_max_records(&self, tenant: &TenantId, max_records: u64) -> Result<()> {
        self.set_quota(tenant, max_records, &SET_MAX_RECORDS, &format!("{max_records} records"))
    }

    fn set_max_bytes(&self, tenant: &TenantId, max_bytes: u64) -> Result<()> {
        self.set_quota(tenant, max_bytes, &SET_MAX_BYTES, &format!("{max_bytes} bytes"))
    }

    fn has_tenant(&self, tenant: &TenantId) -> Result<bool> {
        Ok(!self.database.read("look up a tenant", &scope_of(tenant), &HAS_TENANT, &[&tenant.0])?.is_empty())
    }

    fn usage(&self, tenant: &TenantId) -> Result<TenantUsage> {
        let doing = "read the usage of a tenant";
        let rows = self.database.read(doing, &scope_of(tenant), &USAGE, &[&tenant.0])?;
        let read = |row: &Row| -> Result<TenantUsage, Fault> {
            let (records, bytes): (i64, i64) = (row.try_get(0)?, row.try_get(2)?);
            let (max_records, max_bytes): (Option<i64>, Option<i64>) = (row.try_get(1)?, row.try_get(3)?);
            Ok(TenantUsage {
                records: records as u64,
                max_records: max_records.map(|most| most as u64),
                bytes: bytes.max(0) as u64,
                max_bytes: max_bytes.map(|most| most as u64),
            })
        };
        rows.first().map_or(Ok(TenantUsage::default()), |row| read(row).map_err(|fault| fault.at(doing)))
    }

    fn projects(&self, tenant: &TenantId) -> Result<Vec<ProjectKey>> {
        let doing = "list the projects of a tenant";
        let rows = self.database.read(doing, &scope_of(tenant), &PROJECTS, &[&tenant.0])?;
        let key = |row: &Row| -> Result<ProjectKey, Fault> { Ok(ProjectKey(row.try_get(0)?)) };
        rows.iter().map(|row| key(row).map_err(|fault| fault.at(doing))).collect()
    }

    fn add_token(&self, token: &ApiToken, replaced: Option<TokenId>) -> Result<()> {
        check_tenant(&scope_of(&token.tenant), ADD)?;
        self.database.wait_for(ADD, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, &token.tenant).await?;
            self.add(&client, token, replaced).await?;
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(())
        })
    }

    fn token(&self, id: TokenId) -> Result<Option<ApiToken>> {
        let doing = "look up a token";
        let rows = self.database.wait_for(doing, async {
            let client = self.database.client().await?;
            let find = self.database.ready(&client, &FIND_TOKEN).await?;
            let id = id.to_string();
            let values: [&(dyn ToSql + Sync); 1] = [&id];
            let transaction = OpenTransaction::on(&client);
            let (begun, rows, ended) = tokio::join!(
                biased;
                client.batch_execute(self.database.begin_read()),
                find.run(&client, &values),
                client.batch_execute("COMMIT"),
            );
            transaction.end();
            begun?;
            ended?;
            Ok(rows?)
        })?;
        rows.first().map(|row| read_token(row).map_err(|fault| fault.at(doing))).transpose()
    }

    fn tokens(&self, tenant: &TenantId) -> Result<Vec<ApiToken>> {
        let doing = "list tokens";
        let rows = self.database.read(doing, &scope_of(tenant), &TOKENS, &[&tenant.0])?;
        rows.iter().map(|row| read_token(row).map_err(|fault| fault.at(doing))).collect()
    }

    fn revoke(&self, tenant: &TenantId, revoked: &Revoked, now: Timestamp) -> Result<u64> {
        let doing = "revoke tokens";
        check_tenant(&scope_of(tenant), doing)?;
        self.database.wait_for(doing, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, tenant).await?;
            let count = self.end(&client, tenant, revoked, now.0).await?;
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(count)
        })
    }

    fn invitations(&self) -> Option<&dyn Invitations> {
        Some(self)
    }
}

/// Returns a scope of the tenant in no project, for statements about the whole tenant.
pub(super) fn scope_of(tenant: &TenantId) -> Scope {
    Scope { tenant: tenant.clone(), ..Scope::project(ProjectKey(String::new())) }
}

/// Reads a token from the columns that `TOKENS` and `FIND_TOKEN` have.
fn read_token(row: &Row) -> Result<ApiToken, Fault> {
    let damaged = || PortError::new(ErrorKind::Damaged, "read a token");
    let (id, scope): (&str, &str) = (row.try_get(1)?, row.try_get(3)?);
    let projects: Option<Vec<String>> = row.try_get(4)?;
    let hash: [u8; 32] = row.try_get::<_, &[u8]>(5)?.try_into().map_err(|_| damaged())?;
    let (expires_at, revoked_at): (Option<i64>, Option<i64>) = (row.try_get(7)?, row.try_get(8)?);
    Ok(ApiToken {
        id: TokenId::parse(id).ok_or_else(damaged)?,
        hash: blake3::Hash::from_bytes(hash),
        tenant: TenantId(row.try_get(0)?),
        user: UserId(row.try_get(2)?),
        scope: TokenScope::parse(scope).ok_or_else(damaged)?,
        projects: projects.map(|projects| projects.into_iter().map(ProjectKey).collect()),
        created_at: Timestamp(row.try_get(6)?),
        expires_at: expires_at.map(Timestamp),
        revoked_at: revoked_at.map(Timestamp),
    })
}
