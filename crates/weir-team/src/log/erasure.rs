//! Erases the name of a user who has left, as the owner of the database: the role of the program may not change the
//! audit. Invariant: what the user did stays in the audit, under a name that says nothing about them.

use tokio_postgres::types::{ToSql, Type};
use weir_core::{TenantId, UserId};
use weir_records::{ErasedName, OPERATOR, Result};

use super::options::PostgresOptions;
use super::owner::{Owner, as_owner};
use super::transaction::OpenTransaction;
use crate::bridge::Bridge;

/// Where a user's name is, besides records. `$1` is the tenant, `$2` the user, `$3` the other name.
const RENAMED: [&str; 6] = [
    "UPDATE weir.audit SET actor = $3 WHERE tenant_id = $1 AND actor = $2",
    "UPDATE weir.audit SET target = 'all of ' || $3 WHERE tenant_id = $1 AND target = 'all of ' || $2",
    "UPDATE weir.tokens SET user_name = $3 WHERE tenant_id = $1 AND user_name = $2",
    "UPDATE weir.hosts SET user_name = $3 WHERE tenant_id = $1 AND user_name = $2",
    "UPDATE weir.invitations SET user_name = $3 WHERE tenant_id = $1 AND user_name = $2",
    "UPDATE weir.invitations SET invited_by = $3 WHERE tenant_id = $1 AND invited_by = $2",
];

/// Replaces the name of a user of a tenant in the audit, the tokens, the invitations and the hosts, and returns how many rows
/// had it. The options are those of the database's owner. The records are the caller's part, and go first.
pub fn erase_name(
    options: &PostgresOptions,
    bridge: &Bridge,
    tenant: &TenantId,
    user: &UserId,
    other: &ErasedName,
) -> Result<u64> {
    as_owner(options, bridge, "erase the name of a user", async |owner: &Owner| {
        let (client, other) = (&owner.client, other.as_str());
        let transaction = OpenTransaction::on(client);
        client.batch_execute(&owner.begin).await?;
        let find = "SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1";
        let found = client.query_typed(find, &[(&tenant.0, Type::TEXT)]).await?;
        let Some(row) = found.first() else { return Ok(0) };
        let number: i64 = row.try_get(0)?;
        let mut changed = 0;
        for update in RENAMED {
            let sql = format!("WITH changed AS ({update} RETURNING 1) SELECT count(*) FROM changed");
            let values: [(&(dyn ToSql + Sync), Type); 3] =
                [(&number, Type::INT8), (&user.0, Type::TEXT), (&other, Type::TEXT)];
            changed += super::number(&client.query_typed(&sql, &values).await?)?;
        }
        if changed == 0 {
            return Ok(0);
        }
        let audit = "INSERT INTO weir.audit (tenant_id, actor, action, target) VALUES ($1, $2, 'erase user', $3)";
        let values: [(&(dyn ToSql + Sync), Type); 3] =
            [(&number, Type::INT8), (&OPERATOR, Type::TEXT), (&other, Type::TEXT)];
        client.query_typed(audit, &values).await?;
        client.batch_execute("COMMIT").await?;
        transaction.end();
        Ok(changed)
    })
}
