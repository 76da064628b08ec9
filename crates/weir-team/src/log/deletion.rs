//! Deletes a tenant from the database, as its owner: the role of the program may not delete anything. Invariant: rows
//! of the audit stay, and one of them says that the tenant was deleted.

use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};
use weir_core::TenantId;
use weir_records::{DeletedTenant, OPERATOR, Result};

use super::fault::Fault;
use super::options::PostgresOptions;
use super::owner::{Owner, as_owner};
use super::transaction::OpenTransaction;
use crate::bridge::Bridge;

const DELETE: &str = "delete a tenant";

/// The tables with rows of a tenant, in an order in which nothing names what is gone.
const TABLES: [&str; 9] =
    ["invitations", "tokens", "topics", "hosts", "requests", "records", "heads", "projects", "tenants"];

/// Deletes the tokens and invitations of a tenant, so that nobody gets in while the rest is deleted. Returns the number
/// of tokens. The
/// options are those of the database's owner.
pub fn delete_tokens(options: &PostgresOptions, bridge: &Bridge, tenant: &TenantId) -> Result<u64> {
    let deleted = delete(options, bridge, tenant, &TABLES[..2])?;
    Ok(deleted.tokens)
}

/// Deletes a tenant with its records and tokens. The options are those of the database's owner. Texts and index are the
/// caller's part, and go first.
pub fn delete_tenant(options: &PostgresOptions, bridge: &Bridge, tenant: &TenantId) -> Result<DeletedTenant> {
    delete(options, bridge, tenant, &TABLES)
}

fn delete(
    options: &PostgresOptions,
    bridge: &Bridge,
    tenant: &TenantId,
    tables: &[&'static str],
) -> Result<DeletedTenant> {
    as_owner(options, bridge, DELETE, async |owner: &Owner| {
        delete_rows(&owner.client, &owner.begin, tenant, tables).await
    })
}

async fn delete_rows(
    client: &Client,
    begin: &str,
    tenant: &TenantId,
    tables: &[&'static str],
) -> Result<DeletedTenant, Fault> {
    let transaction = OpenTransaction::on(client);
    client.batch_execute(begin).await?;
    let find = "SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1";
    let rows = client.query_typed(find, &[(&tenant.0, Type::TEXT)]).await?;
    let Some(row) = rows.first() else { return Ok(DeletedTenant::default()) };
    let number: i64 = row.try_get(0)?;
    let mut deleted = DeletedTenant { existed: true, ..DeletedTenant::default() };
    for table in tables {
        let delete = format!("DELETE FROM weir.{table} WHERE tenant_id = $1 RETURNING 1");
        let sql = format!("WITH gone AS ({delete}) SELECT count(*) FROM gone");
        let counted = client.query_typed(&sql, &[(&number, Type::INT8)]).await?;
        let count = super::number(&counted)?;
        match *table {
            "tokens" => deleted.tokens = count,
            "records" => deleted.records = count,
            _ => {}
        }
    }
    if tables.len() == TABLES.len() {
        let audit = "INSERT INTO weir.audit (tenant_id, actor, action, target) VALUES ($1, $2, 'delete tenant', $3)";
        let values: [(&(dyn ToSql + Sync), Type); 3] =
            [(&number, Type::INT8), (&OPERATOR, Type::TEXT), (&tenant.0, Type::TEXT)];
        client.query_typed(audit, &values).await?;
    }
    client.batch_execute("COMMIT").await?;
    transaction.end();
    Ok(deleted)
}
