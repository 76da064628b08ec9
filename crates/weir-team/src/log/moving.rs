//! Takes in a team from elsewhere, at the positions that its records had. Invariant: everything runs as the role of the
//! program, under row-level security, and a call that is repeated finds its work done or is refused.

mod statements;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use weir_core::{ProjectKey, Scope, TenantId, Timestamp, UserId};
use weir_records::moving::{AuditRow, BoundHost, Export, Import, KeptRequest, MAX_BATCH_BYTES, MovedRecord};
use weir_records::{
    ApiToken, Audience, Body, ErrorKind, HostId, Imprint, Invitation, PortError, Position, Record, RecordId,
    RequestKey, Result, StoredRecord, TenantUsage,
};

use self::statements::{
    AUDIT_COUNT, AUDIT_ROWS, BOUND_HOSTS, HEADS_OF, KEPT_REQUESTS, LOCK_TENANT, MOVED_RECORDS, REMOVED, REVOKE,
    SET_QUOTAS, TAKE_AUDIT, TAKE_HOSTS, TAKE_REQUESTS, TAKE_TOKEN,
};
use super::PostgresLog;
use super::append::enter_project;
use super::database::check_tenant;
use super::fault::Fault;
use super::places::Place;
use super::queries::{ADVANCE, CREATE_PROJECT, CREATE_TENANT, ERASE, INSERT, LOCK_HEAD};
use super::transaction::OpenTransaction;
use super::values::{self, Content, SqlHost, SqlIds, SqlRows};

const TAKE: &str = "take in a team";
const READ: &str = "read the log";
/// How many removed records are read at once. A sealed one may have 2 MiB.
const MAX_ERASED: usize = 16;

impl Export for PostgresLog {
    fn moved_records(
        &self,
        tenant: &TenantId,
        project: &ProjectKey,
        after: Position,
        limit: usize,
    ) -> Result<Vec<MovedRecord>> {
        let (after, most) = (after.0 as i64, i64::try_from(limit).unwrap_or(i64::MAX));
        let most_bytes = MAX_BATCH_BYTES as i64;
        let values: [&(dyn ToSql + Sync); 5] = [&tenant.0, &project.0, &after, &most, &most_bytes];
        let rows = self.database.read(READ, &scope_of(tenant), &MOVED_RECORDS, &values)?;
        rows.iter().map(|row| moved_record(row).map_err(|fault| fault.at(READ))).collect()
    }

    fn heads_of(&self, tenant: &TenantId) -> Result<BTreeMap<ProjectKey, Position>> {
        let rows = self.database.read(READ, &scope_of(tenant), &HEADS_OF, &[&tenant.0])?;
        let head = |row: &Row| -> Result<_, Fault> {
            Ok((ProjectKey(row.try_get(0)?), Position(row.try_get::<_, i64>(1)? as u64)))
        };
        rows.iter().map(|row| head(row).map_err(|fault| fault.at(READ))).collect()
    }

    fn audit_count(&self, tenant: &TenantId) -> Result<u64> {
        let doing = "count the audit";
        let rows = self.database.read(doing, &scope_of(tenant), &AUDIT_COUNT, &[&tenant.0])?;
        super::number(&rows).map_err(|fault| fault.at(doing))
    }

    fn audit_rows(&self, tenant: &TenantId, skip: u64, limit: usize) -> Result<Vec<AuditRow>> {
        let doing = "read the audit";
        let (skip, most) = (skip as i64, i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.database.read(doing, &scope_of(tenant), &AUDIT_ROWS, &[&tenant.0, &skip, &most])?;
        rows.iter().map(|row| audit_row(row).map_err(|fault| fault.at(doing))).collect()
    }

    fn bound_hosts(&self, tenant: &TenantId, after: Option<HostId>, limit: usize) -> Result<Vec<BoundHost>> {
        let doing = "list the hosts of a tenant";
        let (after, most) = (after.map(SqlHost), i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.database.read(doing, &scope_of(tenant), &BOUND_HOSTS, &[&tenant.0, &after, &most])?;
        rows.iter().map(|row| bound_host(row).map_err(|fault| fault.at(doing))).collect()
    }

    fn kept_requests(&self, tenant: &TenantId, after: Option<[u8; 32]>, limit: usize) -> Result<Vec<KeptRequest>> {
        let doing = "list the requests of a tenant";
        let (after, most) = (after.as_ref().map(<[u8; 32]>::as_slice), i64::try_from(limit).unwrap_or(i64::MAX));
        let rows = self.database.read(doing, &scope_of(tenant), &KEPT_REQUESTS, &[&tenant.0, &after, &most])?;
        rows.iter().map(|row| kept_request(row).map_err(|fault| fault.at(doing))).collect()
    }
}

impl Import for PostgresLog {
    fn take_tenant(&self, tenant: &TenantId, usage: &TenantUsage) -> Result<()> {
        let signed = |most: Option<u64>| most.map(|most| i64::try_from(most).unwrap_or(i64::MAX));
        let (records, bytes) = (signed(usage.max_records), signed(usage.max_bytes));
        self.take(tenant, async |client: &Object| {
            self.database.run(client, &CREATE_TENANT, &[&tenant.0]).await?;
            self.database.run(client, &SET_QUOTAS, &[&tenant.0, &records, &bytes]).await?;
            Ok(())
        })
    }

    fn take_tokens(&self, tenant: &TenantId, tokens: &[ApiToken]) -> Result<()> {
        self.take(tenant, async |client: &Object| {
            for token in tokens {
                self.take_token(client, tenant, token).await?;
            }
            Ok(())
        })
    }

    fn take_invitations(&self, tenant: &TenantId, invitations: &[Invitation]) -> Result<()> {
        self.take(tenant, async |client: &Object| {
            super::invitations::remove_all(&self.database, client, tenant).await?;
            for invitation in invitations {
                super::invitations::insert(&self.database, client, invitation).await?;
            }
            Ok(())
        })
    }

    fn take_records(&self, tenant: &TenantId, project: &ProjectKey, records: &[MovedRecord]) -> Result<()> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else { return Ok(()) };
        let columns = Columns::of(records)?;
        self.take(tenant, async |client: &Object| {
            let missing = || in_the_way("the project has no head");
            let scope = Scope { project: project.clone(), ..scope_of(tenant) };
            let Place { tenant, project } = enter_project(&self.database, client, &scope).await?.ok_or_else(missing)?;
            let names: [&(dyn ToSql + Sync); 4] = [&tenant, &project, &scope.tenant.0, &scope.project.0];
            let head = self.database.run(client, &LOCK_HEAD, &names).await?;
            let at: i64 = head.first().ok_or_else(missing)?.try_get(0)?;
            if at as u64 + 1 != first.position.0 {
                return Err(in_the_way("somebody else writes to the new place").into());
            }
            self.database.run(client, &INSERT, &columns.rows.values(&tenant, &project)).await?;
            let growth = columns.bytes - self.erase_removed(client, [tenant, project], &columns.removals).await?;
            self.database.run(client, &ADVANCE, &[&tenant, &project, &(last.position.0 as i64), &growth]).await?;
            Ok(())
        })
    }

    fn take_audit(&self, tenant: &TenantId, after: u64, rows: &[AuditRow]) -> Result<()> {
        let projects: BTreeSet<&str> = rows.iter().filter_map(project_of).collect();
        let at: Vec<i64> = rows.iter().map(|row| row.at.0).collect();
        let of: Vec<Option<&str>> = rows.iter().map(project_of).collect();
        let actors: Vec<&str> = rows.iter().map(|row| row.actor.as_str()).collect();
        let actions: Vec<&str> = rows.iter().map(|row| row.action.as_str()).collect();
        let targets: Vec<&str> = rows.iter().map(|row| row.target.as_str()).collect();
        let tokens: Vec<Option<&str>> = rows.iter().map(|row| row.token.as_deref()).collect();
        self.take(tenant, async |client: &Object| {
            self.database.run(client, &LOCK_TENANT, &[&tenant.0]).await?;
            if super::number(&self.database.run(client, &AUDIT_COUNT, &[&tenant.0]).await?)? != after {
                return Err(in_the_way("somebody else writes to the new place").into());
            }
            for project in projects {
                self.database.run(client, &CREATE_PROJECT, &[&tenant.0, &project]).await?;
            }
            self.database
                .run(client, &TAKE_AUDIT, &[&tenant.0, &at, &of, &actors, &actions, &targets, &tokens])
                .await?;
            Ok(())
        })
    }

    fn take_hosts(&self, tenant: &TenantId, hosts: &[BoundHost]) -> Result<()> {
        let taken: Vec<SqlHost> = hosts.iter().map(|bound| SqlHost(bound.host)).collect();
        let users: Vec<&str> = hosts.iter().map(|bound| bound.user.0.as_str()).collect();
        self.take(tenant, async |client: &Object| {
            self.database.run(client, &TAKE_HOSTS, &[&tenant.0, &taken, &users]).await?;
            Ok(())
        })
    }

    fn take_requests(&self, tenant: &TenantId, requests: &[KeptRequest]) -> Result<()> {
        let names: Vec<&[u8]> = requests.iter().map(|request| request.key.name.as_slice()).collect();
        let contents: Vec<i64> = requests.iter().map(|request| request.key.content.number()).collect();
        let ids: SqlIds = requests.iter().map(|request| request.record).collect();
        let at: Vec<i64> = requests.iter().map(|request| request.key.at.0).collect();
        self.take(tenant, async |client: &Object| {
            let values: [&(dyn ToSql + Sync); 6] = [&tenant.0, &names, &contents, &ids.hosts, &ids.numbers, &at];
            self.database.run(client, &TAKE_REQUESTS, &values).await?;
            Ok(())
        })
    }
}

impl PostgresLog {
    /// Runs work in a transaction of a tenant.
    fn take(&self, tenant: &TenantId, work: impl AsyncFnOnce(&Object) -> Result<(), Fault>) -> Result<()> {
        check_tenant(&scope_of(tenant), TAKE)?;
        self.database.wait_for(TAKE, async {
            let client = self.database.client().await?;
            let transaction = OpenTransaction::on(&client);
            self.database.begin(&client, tenant).await?;
            work(&client).await?;
            client.batch_execute("COMMIT").await?;
            transaction.end();
            Ok(())
        })
    }

    /// Erases what was removed, and returns how many bytes that were.
    async fn erase_removed(&self, client: &Object, place: [i64; 2], removals: &[Removal]) -> Result<i64, Fault> {
        let ([tenant, project], mut erased_bytes) = (place, 0_i64);
        for some in removals.chunks(MAX_ERASED) {
            let ids: SqlIds = some.iter().map(|removal| removal.id).collect();
            let at: Vec<i64> = some.iter().map(|removal| removal.at).collect();
            let removed: [&(dyn ToSql + Sync); 5] = [&tenant, &project, &ids.hosts, &ids.numbers, &at];
            let Erasure { positions, imprints, bytes } =
                Erasure::of(&self.database.run(client, &REMOVED, &removed).await?)?;
            self.database.run(client, &ERASE, &[&tenant, &project, &positions, &imprints]).await?;
            erased_bytes = erased_bytes.saturating_add(bytes);
        }
        Ok(erased_bytes)
    }

    async fn take_token(&self, client: &Object, tenant: &TenantId, token: &ApiToken) -> Result<(), Fault> {
        let projects: Option<Vec<&str>> =
            token.projects.as_ref().map(|projects| projects.iter().map(|project| project.0.as_str()).collect());
        let (id, scope, hash) = (token.id.to_string(), token.scope.as_str(), token.hash.as_bytes().as_slice());
        let (expires_at, revoked_at) = (token.expires_at.map(|at| at.0), token.revoked_at.map(|at| at.0));
        let values: [&(dyn ToSql + Sync); 9] =
            [&tenant.0, &id, &token.user.0, &scope, &projects, &hash, &token.created_at.0, &expires_at, &revoked_at];
        self.database.run(client, &TAKE_TOKEN, &values).await?;
        if let Some(revoked_at) = revoked_at {
            self.database.run(client, &REVOKE, &[&tenant.0, &id, &revoked_at]).await?;
        }
        Ok(())
    }
}

/// What is erased, at which positions, and what stays of it.
#[derive(Default)]
struct Erasure {
    positions: Vec<i64>,
    imprints: Vec<i64>,
    bytes: i64,
}

impl Erasure {
    fn of(rows: &[Row]) -> Result<Self, Fault> {
        let mut erasure = Self::default();
        for stored in rows.iter().filter_map(|row| values::stored(row, 0).transpose()) {
            let StoredRecord { position, record } = stored?;
            // Two records may remove the same one.
            if !erasure.positions.contains(&(position.0 as i64)) {
                let json = record.to_json()?;
                erasure.positions.push(position.0 as i64);
                erasure.imprints.push(Imprint::of(&json).number());
                erasure.bytes = erasure.bytes.saturating_add_unsigned(record.stored_bytes(&json));
            }
        }
        Ok(erasure)
    }
}

/// Records as columns, and what they remove.
struct Columns<'a> {
    rows: SqlRows<'a>,
    /// What they count towards the quota in bytes.
    bytes: i64,
    removals: Vec<Removal>,
}

/// A record that is removed, and the position of the record that does it.
struct Removal {
    id: RecordId,
    at: i64,
}

impl<'a> Columns<'a> {
    fn of(records: &'a [MovedRecord]) -> Result<Self> {
        let (mut rows, mut removals, mut bytes) = (SqlRows::default(), Vec::new(), 0_i64);
        for one in records {
            let content = match &one.record {
                Some(record) => {
                    let json = record.to_json()?;
                    bytes = bytes.saturating_add_unsigned(record.stored_bytes(&json));
                    Content::Stored(record, Cow::Owned(json))
                }
                None => Content::Erased(one.imprint),
            };
            if let Some(Body::Removed { record, .. }) = one.record.as_ref().map(|record| &record.body) {
                removals.push(Removal { id: *record, at: one.position.0 as i64 });
            }
            rows.add(one.position, one.id, one.audience, content);
            rows.keep(one.text.as_deref());
        }
        Ok(Self { rows, bytes, removals })
    }
}

/// Returns a scope of the tenant in no project.
fn scope_of(tenant: &TenantId) -> Scope {
    Scope { tenant: tenant.clone(), ..Scope::project(ProjectKey(String::new())) }
}

fn project_of(row: &AuditRow) -> Option<&str> {
    row.project.as_ref().map(|project| project.0.as_str())
}

fn in_the_way(reason: &str) -> PortError {
    PortError::new(ErrorKind::Busy, TAKE).because(reason)
}

fn moved_record(row: &Row) -> Result<MovedRecord, Fault> {
    let unknown = || PortError::new(ErrorKind::Damaged, READ).because("an audience is not known");
    let json: Option<&str> = row.try_get(4)?;
    Ok(MovedRecord {
        position: Position(row.try_get::<_, i64>(0)? as u64),
        id: RecordId { host: row.try_get::<_, SqlHost>(1)?.0, index: row.try_get::<_, i64>(2)? as u64 },
        audience: Audience::parse(row.try_get(3)?).ok_or_else(unknown)?,
        record: json.map(Record::from_json).transpose()?,
        imprint: row.try_get::<_, Option<i64>>(5)?.and_then(Imprint::from_number),
        text: row.try_get(6)?,
    })
}

fn bound_host(row: &Row) -> Result<BoundHost, Fault> {
    Ok(BoundHost { host: row.try_get::<_, SqlHost>(0)?.0, user: UserId(row.try_get(1)?) })
}

fn kept_request(row: &Row) -> Result<KeptRequest, Fault> {
    let damaged = || PortError::new(ErrorKind::Damaged, "read the key of a request");
    let name: [u8; 32] = row.try_get::<_, &[u8]>(0)?.try_into().map_err(|_| damaged())?;
    let content = Imprint::from_number(row.try_get(1)?).ok_or_else(damaged)?;
    let record = RecordId { host: row.try_get::<_, SqlHost>(2)?.0, index: row.try_get::<_, i64>(3)? as u64 };
    Ok(KeptRequest { key: RequestKey { name, content, at: Timestamp(row.try_get(4)?) }, record })
}

fn audit_row(row: &Row) -> Result<AuditRow, Fault> {
    Ok(AuditRow {
        at: Timestamp(row.try_get(0)?),
        project: row.try_get::<_, Option<String>>(1)?.map(ProjectKey),
        actor: row.try_get(2)?,
        action: row.try_get(3)?,
        target: row.try_get(4)?,
        token: row.try_get(5)?,
    })
}
