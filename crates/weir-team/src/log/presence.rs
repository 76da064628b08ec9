//! Where a tenant is, as the database that has it says: what a move between cells does there, as the owner.
//!
//! Invariants: each step is one transaction that no transaction of a writer runs beside; it changes nothing if a move
//! with a greater number was here; rows of a tenant are erased only while nobody may use them.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::types::{ToSql, Type};
use weir_core::{ProjectKey, TenantId};
use weir_records::{ErrorKind, OPERATOR, PortError, Position, Result};

use super::fault::Fault;
use super::options::PostgresOptions;
use super::owner::{Owner, as_owner};
use super::schema::KEEPS_TEXTS;
use super::transaction::OpenTransaction;
use crate::bridge::Bridge;

/// How long a move waits for those who write. Everybody who comes after it waits too, so it gives up soon.
const MAX_LOCK_WAIT: Duration = Duration::from_millis(500);
/// How long those who write are paused at most: then the database ends the pause by itself.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// The tables with rows of a tenant that a move takes along, in an order in which nothing names what is gone.
const TABLES: [&str; 9] =
    ["invitations", "tokens", "topics", "hosts", "requests", "records", "heads", "projects", "audit"];

/// A database that is a cell, for its owner.
#[derive(Clone)]
pub(crate) struct OwnedCell<'a> {
    pub(crate) options: PostgresOptions,
    pub(crate) bridge: &'a Bridge,
}

/// A step of a move of a tenant.
#[derive(Clone, Copy)]
pub(crate) struct MoveStep<'a> {
    pub(crate) tenant: &'a TenantId,
    /// The number of the move.
    pub(crate) generation: u64,
}

/// Where a tenant is, as a database says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Unknown,
    Here,
    Arriving,
    Left,
}

/// The row of a tenant.
struct TenantRow {
    number: i64,
    presence: Presence,
    generation: i64,
}

impl OwnedCell<'_> {
    /// Prepares the row of a tenant that arrives, and erases what an earlier stay has left.
    pub(crate) fn arrive(&self, step: MoveStep<'_>) -> Result<()> {
        const DOING: &str = "prepare a cell for a tenant";
        self.change(DOING, step, async |owner, row| {
            let Some(row) = row else {
                let insert = "INSERT INTO weir.tenants (name, state, generation) VALUES ($1, 'arriving', $2)";
                let values: [(&(dyn ToSql + Sync), Type); 2] =
                    [(&step.tenant.0, Type::TEXT), (&(step.generation as i64), Type::INT8)];
                owner.client.query_typed(insert, &values).await?;
                return Ok(());
            };
            match row.presence {
                Presence::Here => {
                    let reason = "it has a tenant of this name, of which the directory knows nothing";
                    return Err(PortError::new(ErrorKind::Invalid, DOING).because(reason).into());
                }
                Presence::Left => erase_rows(owner, row.number).await?,
                Presence::Arriving | Presence::Unknown => {}
            }
            set(owner, row.number, "arriving", step).await
        })
    }

    /// Lets everybody use a tenant that has arrived.
    pub(crate) fn settle(&self, step: MoveStep<'_>, from: &str) -> Result<()> {
        const DOING: &str = "settle a tenant in its cell";
        self.change(DOING, step, async |owner, row| match row {
            Some(TenantRow { presence: Presence::Here, .. }) => Ok(()),
            Some(TenantRow { presence: Presence::Arriving, number, .. }) => {
                set(owner, number, "here", step).await?;
                audit(owner, number, "move tenant", from).await
            }
            Some(_) | None => Err(PortError::new(ErrorKind::Damaged, DOING).because("it is not there").into()),
        })
    }

    /// Takes back that a tenant has left.
    pub(crate) fn stay(&self, step: MoveStep<'_>) -> Result<()> {
        const DOING: &str = "take a move back";
        self.change(DOING, step, async |owner, row| match row {
            Some(TenantRow { presence: Presence::Here | Presence::Left, number, .. }) => {
                set(owner, number, "here", step).await
            }
            Some(_) | None => Err(PortError::new(ErrorKind::Damaged, DOING).because("it is not there").into()),
        })
    }

    /// Erases what a tenant has left behind, or what has arrived of one that stays where it was.
    pub(crate) fn erase_left(&self, step: MoveStep<'_>) -> Result<()> {
        const DOING: &str = "erase what a tenant left behind";
        self.change(DOING, step, async |owner, row| match row {
            None => Ok(()),
            Some(TenantRow { presence: Presence::Arriving | Presence::Left, number, .. }) => {
                set(owner, number, "left", step).await?;
                erase_rows(owner, number).await
            }
            Some(_) => Err(PortError::new(ErrorKind::Invalid, DOING).because("the tenant is here").into()),
        })
    }

    /// Returns where a tenant is.
    pub(crate) fn presence(&self, tenant: &TenantId) -> Result<Presence> {
        self.run("look for a tenant", async |owner| {
            Ok(find(owner, tenant).await?.map_or(Presence::Unknown, |row| row.presence))
        })
    }

    /// Describes what a tenant has, one line for each part and project, so that two places can be compared.
    pub(crate) fn describe(&self, tenant: &TenantId, part: Part, beginning: &Beginning) -> Result<Vec<String>> {
        let keys: Vec<&str> = beginning.heads.keys().map(|key| key.0.as_str()).collect();
        let positions: Vec<i64> = beginning.heads.values().map(|head| head.0 as i64).collect();
        let (audit, is_rest) = (beginning.audit_rows as i64, part == Part::Rest);
        self.run("describe a tenant", async |owner| {
            let values: [(&(dyn ToSql + Sync), Type); 5] = [
                (&tenant.0, Type::TEXT),
                (&keys, Type::TEXT_ARRAY),
                (&positions, Type::INT8_ARRAY),
                (&audit, Type::INT8),
                (&is_rest, Type::BOOL),
            ];
            let rows = owner.client.query_typed(DESCRIBE, &values).await?;
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
        })
    }

    /// Returns the tenants that are here with their generations, and the ids of their tokens and invitations.
    pub(crate) fn inhabitants(&self) -> Result<Inhabitants> {
        self.run("list the tenants of a cell", async |owner| {
            let mut found = Inhabitants::default();
            for row in owner.client.query_typed("SELECT name, generation, state FROM weir.tenants", &[]).await? {
                let (tenant, generation, state): (String, i64, &str) =
                    (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
                match state {
                    "here" => found.tenants.push((TenantId(tenant), generation as u64)),
                    "arriving" => found.arriving.push(TenantId(tenant)),
                    _ => {}
                }
            }
            let sql = "SELECT k.id, t.name FROM (SELECT tenant_id, id FROM weir.tokens
                           UNION ALL SELECT tenant_id, id FROM weir.invitations) k
                       JOIN weir.tenants t USING (tenant_id) WHERE t.state = 'here'";
            for row in owner.client.query_typed(sql, &[]).await? {
                found.tokens.push((row.try_get(0)?, TenantId(row.try_get(1)?)));
            }
            Ok(found)
        })
    }

    /// Keeps servers from starting on this database that know nothing of moves, or of texts in the rows of their records:
    /// a tenant may bring such texts along.
    pub(crate) fn refuse_older_servers(&self) -> Result<()> {
        self.run("prepare a cell", async |owner| {
            let sql = format!(
                "UPDATE weir.migrations SET oldest_server = {KEEPS_TEXTS}
                 WHERE position = {KEEPS_TEXTS} - 1 AND oldest_server < {KEEPS_TEXTS}"
            );
            owner.client.batch_execute(&sql).await?;
            Ok(())
        })
    }

    /// Keeps all others from writing to a tenant. `None` if it has left before.
    pub(crate) fn pause(&self, step: MoveStep<'_>) -> Result<Option<Pause<'_>>> {
        const DOING: &str = "pause those who write";
        let work = async {
            let owner = Owner::connect(&self.options).await?;
            owner.client.batch_execute(&begin(&owner, MAX_LOCK_WAIT)).await?;
            let row = lock(&owner, step.tenant).await?;
            check_age(row.as_ref(), step, DOING)?;
            Ok(match row.map(|row| row.presence) {
                Some(Presence::Here) => Some(owner),
                Some(Presence::Left) => None,
                _ => return Err(PortError::new(ErrorKind::Damaged, DOING).because("the tenant is not there").into()),
            })
        };
        let owner = self.bridge.block_on(work).map_err(|fault: Fault| fault.at(DOING))?;
        Ok(owner.map(|owner| Pause { owner, bridge: self.bridge }))
    }

    fn run<T>(&self, doing: &str, work: impl AsyncFnOnce(&Owner) -> Result<T, Fault>) -> Result<T> {
        as_owner(&self.options, self.bridge, doing, work)
    }

    /// Runs a transaction that changes where a tenant is, while nobody writes to it.
    fn change(
        &self,
        doing: &str,
        step: MoveStep<'_>,
        work: impl AsyncFnOnce(&Owner, Option<TenantRow>) -> Result<(), Fault>,
    ) -> Result<()> {
        self.run(doing, async |owner| {
            let transaction = OpenTransaction::on(&owner.client);
            owner.client.batch_execute(&owner.begin).await?;
            let row = lock(owner, step.tenant).await?;
            check_age(row.as_ref(), step, doing)?;
            work(owner, row).await?;
            owner.client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(())
        })
    }
}

/// The beginning of what a tenant has, which was compared while others wrote.
#[derive(Default)]
pub(crate) struct Beginning {
    /// How far its projects go.
    pub(crate) heads: BTreeMap<ProjectKey, Position>,
    pub(crate) audit_rows: u64,
}

/// What is described of a tenant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The records and the audit of the beginning.
    Beginning,
    /// Everything that may be different if the beginning was the same.
    Rest,
}

/// What is in a database when it becomes a cell.
#[derive(Default)]
pub(crate) struct Inhabitants {
    pub(crate) tenants: Vec<(TenantId, u64)>,
    /// Tenants whose move to this database did not end.
    pub(crate) arriving: Vec<TenantId>,
    /// The ids of tokens and invitations.
    pub(crate) tokens: Vec<(String, TenantId)>,
}

/// A time in which nobody writes to a tenant. It ends with its connection, however that comes about.
pub(crate) struct Pause<'a> {
    owner: Owner,
    bridge: &'a Bridge,
}

impl Pause<'_> {
    /// Ends the pause: from now on the tenant has left, unless the pause was over before or a later move has begun.
    pub(crate) fn leave(self, step: MoveStep<'_>) -> Result<()> {
        const DOING: &str = "leave a cell";
        let work = async {
            let row = find(&self.owner, step.tenant).await?;
            let row = row.filter(|row| row.presence == Presence::Here && row.generation < step.generation as i64);
            let number =
                row.ok_or_else(|| PortError::new(ErrorKind::Busy, DOING).because("a later move has begun"))?.number;
            set(&self.owner, number, "left", step).await?;
            self.owner.client.batch_execute("COMMIT").await?;
            Ok(())
        };
        self.bridge.block_on(work).map_err(|fault: Fault| fault.at(DOING))
    }
}

fn begin(owner: &Owner, lock_wait: Duration) -> String {
    format!(
        "{} SET LOCAL lock_timeout = {}; SET LOCAL idle_in_transaction_session_timeout = {}",
        owner.begin,
        lock_wait.as_millis(),
        MAX_PAUSE.as_millis()
    )
}

/// Waits until nobody writes to a tenant, keeps all others from it until the transaction ends, and returns its row.
async fn lock(owner: &Owner, tenant: &TenantId) -> Result<Option<TenantRow>, Fault> {
    let Some(row) = find(owner, tenant).await? else { return Ok(None) };
    owner.client.query_typed("SELECT weir.pause($1)", &[(&row.number, Type::INT8)]).await?;
    find(owner, tenant).await
}

/// Refuses a step of a move if a later one was here.
fn check_age(row: Option<&TenantRow>, step: MoveStep<'_>, doing: &str) -> Result<(), Fault> {
    if row.is_some_and(|row| row.generation > step.generation as i64) {
        return Err(PortError::new(ErrorKind::Busy, doing).because("a later move has begun").into());
    }
    Ok(())
}

async fn find(owner: &Owner, tenant: &TenantId) -> Result<Option<TenantRow>, Fault> {
    let sql = "SELECT tenant_id, state, generation FROM weir.tenants WHERE name = $1";
    let rows = owner.client.query_typed(sql, &[(&tenant.0, Type::TEXT)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let presence = match row.try_get(1)? {
        "here" => Presence::Here,
        "arriving" => Presence::Arriving,
        _ => Presence::Left,
    };
    Ok(Some(TenantRow { number: row.try_get(0)?, presence, generation: row.try_get(2)? }))
}

async fn set(owner: &Owner, number: i64, state: &str, step: MoveStep<'_>) -> Result<(), Fault> {
    let sql = "UPDATE weir.tenants SET state = $2, generation = $3 WHERE tenant_id = $1";
    let values: [(&(dyn ToSql + Sync), Type); 3] =
        [(&number, Type::INT8), (&state, Type::TEXT), (&(step.generation as i64), Type::INT8)];
    owner.client.query_typed(sql, &values).await?;
    Ok(())
}

async fn audit(owner: &Owner, number: i64, action: &str, target: &str) -> Result<(), Fault> {
    let sql = "INSERT INTO weir.audit (tenant_id, actor, action, target) VALUES ($1, $2, $3, $4)";
    let values: [(&(dyn ToSql + Sync), Type); 4] =
        [(&number, Type::INT8), (&OPERATOR, Type::TEXT), (&action, Type::TEXT), (&target, Type::TEXT)];
    owner.client.query_typed(sql, &values).await?;
    Ok(())
}

/// Erases everything of a tenant but its row.
async fn erase_rows(owner: &Owner, number: i64) -> Result<(), Fault> {
    for table in TABLES {
        let sql = format!("DELETE FROM weir.{table} WHERE tenant_id = $1");
        owner.client.query_typed(&sql, &[(&number, Type::INT8)]).await?;
    }
    Ok(())
}

/// What a tenant has. The rows of a table are one number whatever their order is: of each, 64 bits of its hash, all of them
/// combined by exclusive or. An invitation is
/// described as the program reads it: whether it or its token was revoked makes no difference. MD5 is the same in every version of PostgreSQL, and nobody here is an adversary. Times of the
/// audit are moved in milliseconds. Keys of requests that do not count any more may be gone on one side.
///
/// `$2` and `$3` are the projects and positions of the beginning, and `$4` its rows of the audit. If `$5` is false, these
/// are described and nothing else. If it is true, everything is, but for the records of the beginning that are not erased:
/// a record changes only by being erased.
const DESCRIBE: &str = "
    WITH t AS (SELECT * FROM weir.tenants WHERE name = $1),
    lines (number, line) AS (
        SELECT 1, format('quotas: %s records, %s bytes', max_records, max_bytes) FROM t WHERE $5
        UNION ALL SELECT 2, format('tokens: %s, %s', count(*), bit_xor(('x' || left(md5(ROW(k.id, k.user_name, k.scope,
                k.projects, k.hash, k.created_at, k.expires_at, k.revoked_at)::text), 16))::bit(64)::bigint))
            FROM weir.tokens k JOIN t USING (tenant_id) WHERE $5
        UNION ALL SELECT 3, format('hosts: %s, %s', count(*),
                bit_xor(('x' || left(md5(ROW(h.host, h.user_name)::text), 16))::bit(64)::bigint))
            FROM weir.hosts h JOIN t USING (tenant_id) WHERE $5
        UNION ALL SELECT 4, format('requests: %s, %s', count(*), bit_xor(('x' || left(md5(ROW(r.name, r.content, r.host,
                r.number, r.at)::text), 16))::bit(64)::bigint))
            FROM weir.requests r JOIN t USING (tenant_id)
            WHERE $5 AND r.at >= (extract(epoch FROM now()) - 23 * 3600)::bigint * 1000
        UNION ALL SELECT 5, format('audit: %s, %s', count(*), bit_xor(CASE WHEN NOT $5 OR a.number > $4 THEN
                ('x' || left(md5(ROW((extract(epoch FROM a.at) * 1000)::bigint, p.key, a.actor, a.action, a.target,
                a.token)::text), 16))::bit(64)::bigint END))
            FROM (SELECT a.*, row_number() OVER (ORDER BY a.audit_id) AS number
                FROM weir.audit a JOIN t USING (tenant_id)) a
            LEFT JOIN weir.projects p ON p.tenant_id = a.tenant_id AND p.project_id = a.project_id
            WHERE $5 OR a.number <= $4
        UNION ALL SELECT 6, format('records of %s: %s%s records, %s of them erased, %s', p.key,
                CASE WHEN $5 THEN format('head %s, %s bytes, ', h.position, h.bytes) END,
                count(r.position), count(r.position) - count(r.json),
                bit_xor(CASE WHEN NOT $5 OR b.position IS NULL OR r.position > b.position OR r.json IS NULL THEN
                ('x' || left(md5(ROW(r.position, r.host, r.number, r.about_host, r.about_number, r.audience, r.author,
                r.reference, r.text, r.json, r.imprint, md5(r.content))::text), 16))::bit(64)::bigint END))
            FROM t JOIN weir.projects p USING (tenant_id) JOIN weir.heads h USING (tenant_id, project_id)
            LEFT JOIN unnest($2, $3) AS b (key, position) ON b.key = p.key
            JOIN weir.records r USING (tenant_id, project_id)
            WHERE $5 OR r.position <= b.position GROUP BY p.key, h.position, h.bytes
        UNION ALL SELECT 7, format('topics: %s', count(*)) FROM weir.topics k JOIN t USING (tenant_id) WHERE $5
        UNION ALL SELECT 8, format('invitations: %s, %s', count(*),
                bit_xor(('x' || left(md5(i::text), 16))::bit(64)::bigint))
            FROM weir.shown_invitations i JOIN t ON t.name = i.tenant WHERE $5)
    SELECT line FROM lines ORDER BY number, line";
