//! Walks over the heads of all tenants. Invariant: what it reads comes from `weir.list_heads`, which gives nothing but
//! names and positions; no transaction here enters a tenant.

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use weir_core::{ProjectKey, TenantId};
use weir_records::{Head, HeadPage, HeadWalk, Position, Result};

use super::database::Database;
use super::fault::Fault;
use super::queries::Query;

const WALK: &str = "look for new records";

static LIST_HEADS: Query = Query {
    sql: "SELECT l.tenant, l.project, l.head, l.tenant_number, l.project_number, l.mark, l.looked_at
          FROM weir.list_heads($1, $2, $3, $4) l",
    types: &[Type::INT8, Type::INT8, Type::INT8, Type::INT8],
};

/// Goes on with a walk.
pub(super) fn moved(database: &Database, walk: HeadWalk, limit: usize) -> Result<HeadPage> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX).max(1);
    let (since, tenant, project) = (walk.since as i64, walk.last.0 as i64, walk.last.1 as i64);
    let rows = database.read_of_all(WALK, &LIST_HEADS, &[&since, &tenant, &project, &most])?;
    page(&rows, walk, most).map_err(|fault| fault.at(WALK))
}

fn page(rows: &[Row], walk: HeadWalk, most: i64) -> Result<HeadPage, Fault> {
    let heads: Result<Vec<Head>, Fault> = rows.iter().map(head).collect();
    let (mut next, mut is_last) = (walk, true);
    if let Some(row) = rows.last() {
        let number = |column: usize| -> Result<u64, Fault> { Ok(row.try_get::<_, i64>(column)? as u64) };
        next.last = (number(3)?, number(4)?);
        // What a later page does not see is younger than what the first one did not see.
        next.mark = if walk.mark == 0 { number(5)? } else { walk.mark };
        is_last = row.try_get::<_, i64>(6)? < most;
    }
    let next = if is_last { next.following() } else { next };
    Ok(HeadPage { heads: heads?, next, is_last })
}

fn head(row: &Row) -> Result<Head, Fault> {
    let position = Position(row.try_get::<_, i64>(2)? as u64);
    Ok(Head { tenant: TenantId(row.try_get(0)?), project: ProjectKey(row.try_get(1)?), position })
}
