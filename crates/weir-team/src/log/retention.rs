//! Deletes old rows of the audit, as the owner of the database: the role of the program may not. Invariant: each
//! transaction deletes a bounded number of rows, and adds one for each tenant that says how many.

use tokio_postgres::types::{ToSql, Type};
use weir_core::Timestamp;
use weir_records::{EXPIRED_AUDIT, OPERATOR, Result};

use super::fault::Fault;
use super::options::PostgresOptions;
use super::owner::{Owner, as_owner};
use super::transaction::OpenTransaction;
use crate::bridge::Bridge;

/// How many rows one transaction deletes.
const MAX_ROWS: i64 = 10_000;

/// Deletes up to `$2` rows from before `$1`. That such rows were deleted is not worth another row.
const DELETE_SOME: &str = "
    WITH gone AS (
        DELETE FROM weir.audit WHERE (tenant_id, audit_id) IN (
            SELECT a.tenant_id, a.audit_id FROM weir.audit a WHERE a.at < to_timestamp($1::bigint / 1000.0) LIMIT $2)
        RETURNING tenant_id, action),
    counted AS (
        SELECT tenant_id, count(*) AS rows, count(*) FILTER (WHERE action <> $4) AS told FROM gone GROUP BY tenant_id),
    said AS (
        INSERT INTO weir.audit (tenant_id, actor, action, target)
        SELECT tenant_id, $3, $4, told || ' rows of the audit' FROM counted WHERE told > 0)
    SELECT coalesce(sum(rows), 0)::bigint FROM counted";

/// Deletes the rows of the audit from before a time, those of deleted tenants too, and returns how many there were. The
/// options are those of the database's owner.
pub fn expire_audit(options: &PostgresOptions, bridge: &Bridge, before: Timestamp) -> Result<u64> {
    as_owner(options, bridge, "delete old rows of the audit", async |owner: &Owner| {
        let mut deleted = 0;
        loop {
            let some = delete_some(owner, before).await?;
            if some == 0 {
                return Ok(deleted);
            }
            deleted += some;
        }
    })
}

async fn delete_some(owner: &Owner, before: Timestamp) -> Result<u64, Fault> {
    let transaction = OpenTransaction::on(&owner.client);
    owner.client.batch_execute(&owner.begin).await?;
    let values: [(&(dyn ToSql + Sync), Type); 4] =
        [(&before.0, Type::INT8), (&MAX_ROWS, Type::INT8), (&OPERATOR, Type::TEXT), (&EXPIRED_AUDIT, Type::TEXT)];
    let deleted = super::number(&owner.client.query_typed(DELETE_SOME, &values).await?)?;
    owner.client.batch_execute("COMMIT").await?;
    transaction.end();
    Ok(deleted)
}
