//! The keys of requests that may be repeated. Invariant: a key is looked up and kept in the transaction that appends the
//! record that it stands for.

use rusqlite::{Transaction, params};
use weir_core::Scope;
use weir_ledger::Sql as _;

use crate::erased::Imprint;
use crate::id::{HostId, RecordId};
use crate::ports::Once;
use crate::requests::RequestKey;

/// How many keys that do not count any more are removed with each new one.
const MAX_REMOVED: i64 = 100;

/// Returns what a key stands for, if a request has it.
pub(super) fn find(tx: &Transaction<'_>, scope: &Scope, key: &RequestKey) -> rusqlite::Result<Option<Once>> {
    tx.sql("SELECT content, host, number FROM requests WHERE tenant = ?1 AND name = ?2 AND at >= ?3").find(
        params![scope.tenant.0, key.name, key.oldest().0],
        |row| {
            let record = RecordId { host: HostId::from_bytes(row.get(1)?), index: row.get::<_, i64>(2)? as u64 };
            Ok(Once::of(key, Imprint::from_number(row.get(0)?), record))
        },
    )
}

/// Keeps the key of the request that a record was appended for, and removes some that do not count any more.
pub(super) fn keep(tx: &Transaction<'_>, scope: &Scope, key: &RequestKey, record: RecordId) -> rusqlite::Result<()> {
    tx.sql(
        "DELETE FROM requests WHERE tenant = ?1
             AND name IN (SELECT name FROM requests WHERE tenant = ?1 AND at < ?2 LIMIT ?3)",
    )
    .run(params![scope.tenant.0, key.oldest().0, MAX_REMOVED])?;
    tx.sql("INSERT OR REPLACE INTO requests (tenant, name, content, host, number, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        .run(params![
            scope.tenant.0,
            key.name,
            key.content.number(),
            record.host.as_bytes(),
            record.index as i64,
            key.at.0
        ])
}
