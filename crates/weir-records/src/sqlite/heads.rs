//! Finds the heads that have moved. The mark of a walk is the newest row of the audit, since an append adds to the audit
//! in its own transaction, and no two transactions write at once.

use rusqlite::{Row, Transaction};
use weir_core::{ProjectKey, TenantId};
use weir_ledger::Sql as _;

use super::db::Database;
use crate::error::Result;
use crate::ports::{Head, HeadPage, HeadWalk, Position};

/// Returns all heads that have moved, in one page.
pub(super) fn moved(database: &Database, walk: HeadWalk) -> Result<HeadPage> {
    database.read("look for new records", |tx| {
        let newest: i64 = tx.sql("SELECT coalesce(max(id), 0) FROM audit").value([])?;
        let mark = newest as u64;
        // The mark of another database, or of one that was put back to an older state, may be greater.
        let since = if walk.since <= mark { walk.since } else { 0 };
        let next = HeadWalk { mark, ..walk }.following();
        Ok(HeadPage { heads: heads(tx, since as i64)?, next, is_last: true })
    })
}

fn heads(tx: &Transaction<'_>, since: i64) -> rusqlite::Result<Vec<Head>> {
    let read = |row: &Row<'_>| {
        let position = Position(row.get::<_, i64>(2)? as u64);
        Ok(Head { tenant: TenantId(row.get(0)?), project: ProjectKey(row.get(1)?), position })
    };
    if since == 0 {
        return tx.sql("SELECT tenant, project, position FROM heads").all([], read);
    }
    let moved = "SELECT h.tenant, h.project, h.position
                 FROM (SELECT DISTINCT tenant, project FROM audit WHERE id > ?1 AND project IS NOT NULL)
                 JOIN heads h USING (tenant, project)";
    tx.sql(moved).all([since], read)
}
