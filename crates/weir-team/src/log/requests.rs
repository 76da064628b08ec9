//! The keys of requests that may be repeated. Invariant: a key is looked up with the head of its project locked, and
//! kept in the transaction that appends the record that it stands for.

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use weir_core::TenantId;
use weir_records::{Imprint, Once, RecordId, RequestKey};

use super::database::Database;
use super::fault::Fault;
use super::queries::Query;
use super::values::SqlHost;

/// How many keys that do not count any more are removed with each new one.
const MAX_REMOVED: i64 = 100;

/// The request that has the key `$2`, unless it is older than `$3`.
pub(super) static FIND_REQUEST: Query = Query {
    sql: "SELECT r.content, r.host, r.number FROM weir.requests r WHERE r.name = $2 AND r.at >= $3
              AND r.tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1)",
    types: &[Type::TEXT, Type::BYTEA, Type::INT8],
};

/// Keeps a key, unless a request that is not older than `$7` has it.
static KEEP: Query = Query {
    sql: "INSERT INTO weir.requests (tenant_id, name, content, host, number, at)
          SELECT t.tenant_id, $2, $3, $4, $5, $6 FROM weir.tenants t WHERE t.name = $1
          ON CONFLICT (tenant_id, name) DO UPDATE SET content = excluded.content, host = excluded.host,
              number = excluded.number, at = excluded.at WHERE requests.at < $7
          RETURNING 1",
    types: &[Type::TEXT, Type::BYTEA, Type::INT8, Type::UUID, Type::INT8, Type::INT8, Type::INT8],
};

/// Removes up to `$3` keys that are older than `$2`.
static REMOVE: Query = Query {
    sql: "DELETE FROM weir.requests WHERE (tenant_id, name) IN (
              SELECT r.tenant_id, r.name FROM weir.requests r JOIN weir.tenants t USING (tenant_id)
              WHERE t.name = $1 AND r.at < $2 LIMIT $3)",
    types: &[Type::TEXT, Type::INT8, Type::INT8],
};

/// Returns what a key stands for, if a request has it.
pub(super) async fn find(
    database: &Database,
    client: &Object,
    tenant: &TenantId,
    key: &RequestKey,
) -> Result<Option<Once>, Fault> {
    let rows = database.run(client, &FIND_REQUEST, &[&tenant.0, &key.name.as_slice(), &key.oldest().0]).await?;
    rows.first().map(|row| stands_for(row, key)).transpose()
}

/// Reads what a key stands for from a row of [`FIND_REQUEST`].
pub(super) fn stands_for(row: &Row, key: &RequestKey) -> Result<Once, Fault> {
    let record = RecordId { host: row.try_get::<_, SqlHost>(1)?.0, index: row.try_get::<_, i64>(2)? as u64 };
    Ok(Once::of(key, Imprint::from_number(row.try_get(0)?), record))
}

/// Keeps the key of the request that a record is appended for. Returns what the key stands for instead, if a request in
/// another project has taken it meanwhile.
pub(super) async fn keep(
    database: &Database,
    client: &Object,
    tenant: &TenantId,
    key: &RequestKey,
    record: RecordId,
) -> Result<Option<Once>, Fault> {
    let oldest = key.oldest().0;
    database.run(client, &REMOVE, &[&tenant.0, &oldest, &MAX_REMOVED]).await?;
    let (name, content, host, number) =
        (key.name.as_slice(), key.content.number(), SqlHost(record.host), record.index as i64);
    let values: [&(dyn ToSql + Sync); 7] = [&tenant.0, &name, &content, &host, &number, &key.at.0, &oldest];
    if database.run(client, &KEEP, &values).await?.is_empty() {
        return find(database, client, tenant, key).await;
    }
    Ok(None)
}
