//! Moves a team from SQLite and files to another database, while its server goes on. What copies a tenant
//! ([`copy_tenant`]) serves for moves between other places too.
//!
//! The first pass copies what is there while the old server writes. Then a lock in the old database refuses every
//! write, which clients repeat later, and the second pass copies the rest. Only what was compared on both sides is
//! declared to be moved.
//!
//! Invariants: a record keeps its position, so that the cursors of clients stay valid; an erased record keeps its id,
//! its position and its imprint; a pass that was interrupted continues where it was, and copies nothing twice; a
//! failure takes the lock back, and the old server goes on. A tenant that was deleted does not exist at the new place
//! either: its audit stays behind, and is counted.

mod check;
mod copy;

use std::collections::{BTreeMap, BTreeSet};

pub use copy::{CopiedTenant, copy_tenant};
use weir_core::{ProjectKey, Scope, TenantId, Timestamp, UserId};

use crate::accounts::Invitation;
use crate::accounts::{Accounts, ApiToken, TenantUsage};
use crate::erased::Imprint;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, RecordId, TextKey};
use crate::ports::{Blobs, Log, Position};
use crate::record::{Audience, Record};
use crate::requests::RequestKey;
use crate::sqlite::{SqliteAccounts, SqliteLog};

/// How many records or rows are read at once.
const BATCH: usize = 500;
/// How much JSON and text of records is read at once, in bytes. A batch ends with the record that reaches it.
pub const MAX_BATCH_BYTES: usize = 8 << 20;

/// Where a team is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveState {
    Here,
    /// A move to this place has begun, and nothing is written here until it ends.
    Moving {
        place: String,
    },
    /// It was moved to this place.
    Moved {
        place: String,
    },
}

/// A record with its place in the log, erased or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRecord {
    pub position: Position,
    pub id: RecordId,
    /// Who sees or saw it.
    pub audience: Audience,
    /// The record, unless it is erased.
    pub record: Option<Record>,
    /// The imprint of a record that is erased. Earlier versions kept none.
    pub imprint: Option<Imprint>,
    /// Its text, if the log keeps it with the record.
    pub text: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    pub at: Timestamp,
    /// The project that it is about, if it is about one.
    pub project: Option<ProjectKey>,
    /// Who did it.
    pub actor: String,
    pub action: String,
    pub target: String,
    /// The id of the token that it was done with, if there was one.
    pub token: Option<String>,
}

/// A host, and the user that it is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundHost {
    pub host: HostId,
    /// Its user; empty for the host of a server, which is bound to no user.
    pub user: UserId,
}

/// The key of a request that may be repeated, and the record that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRequest {
    pub key: RequestKey,
    pub record: RecordId,
}

/// Reads everything of a tenant, as no user sees it: for moving it and for comparing two places.
pub trait Export: Send + Sync {
    /// Returns records of a project after a position, private and erased ones too, in order: at most `limit`, and none
    /// after the one that reaches [`MAX_BATCH_BYTES`].
    fn moved_records(
        &self,
        tenant: &TenantId,
        project: &ProjectKey,
        after: Position,
        limit: usize,
    ) -> Result<Vec<MovedRecord>>;

    /// Returns the head of each project of a tenant.
    fn heads_of(&self, tenant: &TenantId) -> Result<BTreeMap<ProjectKey, Position>>;

    fn audit_count(&self, tenant: &TenantId) -> Result<u64>;

    /// Returns at most `limit` rows of the audit of a tenant after the first `skip`, oldest first.
    fn audit_rows(&self, tenant: &TenantId, skip: u64, limit: usize) -> Result<Vec<AuditRow>>;

    /// Returns at most `limit` hosts of a tenant that are bound and follow `after`, in the order of their bytes.
    fn bound_hosts(&self, tenant: &TenantId, after: Option<HostId>, limit: usize) -> Result<Vec<BoundHost>>;

    /// Returns at most `limit` requests of a tenant that have a key and follow `after`, in the order of their names.
    fn kept_requests(&self, tenant: &TenantId, after: Option<[u8; 32]>, limit: usize) -> Result<Vec<KeptRequest>>;
}

/// Takes in everything of a tenant as it was elsewhere. Each call is one transaction, and none adds to the audit.
pub trait Import: Export {
    /// Creates a tenant if it does not exist, and sets the quotas that `usage` has.
    fn take_tenant(&self, tenant: &TenantId, usage: &TenantUsage) -> Result<()>;

    /// Adds the tokens that are not known, and revokes those that were revoked.
    fn take_tokens(&self, tenant: &TenantId, tokens: &[ApiToken]) -> Result<()>;

    /// Puts these invitations of a tenant in the place of all that it has.
    fn take_invitations(&self, tenant: &TenantId, invitations: &[Invitation]) -> Result<()>;

    /// Adds records at their positions, with the texts that they have, the first of which follows the head. A removal among them erases what it
    /// removes. A head at another place is [`Busy`](crate::ErrorKind::Busy): somebody else writes.
    fn take_records(&self, tenant: &TenantId, project: &ProjectKey, records: &[MovedRecord]) -> Result<()>;

    /// Adds rows to the audit, if it has `after` rows. Another number is [`Busy`](crate::ErrorKind::Busy).
    fn take_audit(&self, tenant: &TenantId, after: u64, rows: &[AuditRow]) -> Result<()>;

    /// Binds the hosts that are not bound yet. One that is bound stays as it is.
    fn take_hosts(&self, tenant: &TenantId, hosts: &[BoundHost]) -> Result<()>;

    /// Keeps the keys of requests, each in the place of one with the same name.
    fn take_requests(&self, tenant: &TenantId, requests: &[KeptRequest]) -> Result<()>;
}

/// Where a team comes from.
#[derive(Clone, Copy)]
pub struct MoveSource<'a> {
    pub log: &'a SqliteLog,
    pub accounts: &'a SqliteAccounts,
    pub blobs: &'a dyn Blobs,
}

/// Where one tenant comes from.
#[derive(Clone, Copy)]
pub struct TenantSource<'a> {
    pub records: &'a dyn Export,
    pub log: &'a dyn Log,
    pub accounts: &'a dyn Accounts,
    /// Its texts, or `None` if they stay where they are.
    pub blobs: Option<&'a dyn Blobs>,
}

impl<'a> MoveSource<'a> {
    /// Returns where each tenant of the team comes from.
    fn of_tenants(&self) -> TenantSource<'a> {
        TenantSource { records: self.log, log: self.log, accounts: self.accounts, blobs: Some(self.blobs) }
    }
}

/// Where a team goes to. No server may use its tenants there before it has arrived.
#[derive(Clone, Copy)]
pub struct MoveTarget<'a> {
    /// What takes everything in.
    pub records: &'a dyn Import,
    pub log: &'a dyn Log,
    pub accounts: &'a dyn Accounts,
    /// Its texts, or `None` if they stay where they are.
    pub blobs: Option<&'a dyn Blobs>,
    /// Its name, for people.
    pub place: &'a str,
}

/// What a team has, or what of it was moved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MoveFigures {
    pub tenants: u64,
    pub projects: u64,
    pub records: u64,
    pub erased: u64,
    pub tokens: u64,
    pub audit_rows: u64,
    /// Hosts that are bound to a user, or to no user at all.
    pub hosts: u64,
    pub texts: u64,
    /// Texts that records have and that cannot be read at the old place either.
    pub lost_texts: u64,
    /// Tenants that were deleted. Nothing of them is moved.
    pub deleted_tenants: u64,
    /// Rows of their audit, which stay at the old place.
    pub left_audit_rows: u64,
}

impl MoveFigures {
    fn count_left(&mut self, source: &MoveSource<'_>) -> Result<()> {
        for tenant in source.log.deleted_tenants()? {
            self.deleted_tenants += 1;
            self.left_audit_rows += source.log.audit_count(&tenant)?;
        }
        Ok(())
    }
}

/// How far a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveProgress {
    pub phase: MovePhase,
    pub done: u64,
    /// How many records there are.
    pub of: u64,
}

/// What a move is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovePhase {
    /// It copies while the old server writes.
    Copying,
    /// It copies the rest, and the old server refuses writes.
    CopyingRest,
    Comparing,
}

/// Moves a team. If it fails, nothing is lost, the old server goes on, and a second call continues.
pub fn move_team(source: &MoveSource<'_>, target: &MoveTarget<'_>, tell: &dyn Fn(MoveProgress)) -> Result<MoveFigures> {
    if let MoveState::Moved { place } = source.log.move_state()? {
        let reason = format!("it was moved to {place} before");
        return Err(PortError::new(ErrorKind::Invalid, "move the team").because(reason));
    }
    copy::copy(source, target, &|done, of| tell(MoveProgress { phase: MovePhase::Copying, done, of }))?;
    source.log.lock_for_move(target.place)?;
    let arrived =
        copy::copy(source, target, &|done, of| tell(MoveProgress { phase: MovePhase::CopyingRest, done, of }))
            .and_then(|()| {
                check::compare(source, target, &|done, of| tell(MoveProgress { phase: MovePhase::Comparing, done, of }))
            });
    match arrived {
        Ok(figures) => source.log.finish_move().map(|()| figures),
        Err(error) => {
            source.log.unlock_after_move()?;
            Err(error)
        }
    }
}

/// Returns what a team has, without changing anything.
pub fn contents(source: &MoveSource<'_>) -> Result<MoveFigures> {
    let mut figures = MoveFigures::default();
    for tenant in source.log.tenants()? {
        figures.tenants += 1;
        figures.tokens += source.accounts.tokens(&tenant)?.len() as u64;
        figures.audit_rows += source.log.audit_count(&tenant)?;
        for_each_host_batch(source.log, &tenant, &mut |batch| {
            figures.hosts += batch.len() as u64;
            Ok(())
        })?;
        let mut texts = BTreeSet::new();
        for project in source.accounts.projects(&tenant)? {
            figures.projects += 1;
            for_each_batch(source.log, &tenant, &project, &mut |batch| {
                figures.records += batch.len() as u64;
                figures.erased += batch.iter().filter(|one| one.record.is_none()).count() as u64;
                texts.extend(batch.iter().filter_map(text_of));
                Ok(())
            })?;
        }
        figures.texts += texts.len() as u64;
    }
    figures.count_left(source)?;
    Ok(figures)
}

/// Hands all records of a project to a function, in order.
fn for_each_batch(
    from: &dyn Export,
    tenant: &TenantId,
    project: &ProjectKey,
    work: &mut dyn FnMut(&[MovedRecord]) -> Result<()>,
) -> Result<()> {
    let mut after = Position(0);
    loop {
        let batch = from.moved_records(tenant, project, after, BATCH)?;
        let Some(last) = batch.last() else { return Ok(()) };
        after = last.position;
        work(&batch)?;
    }
}

/// Hands all hosts of a tenant that are bound to a function, in order.
fn for_each_host_batch(
    from: &dyn Export,
    tenant: &TenantId,
    work: &mut dyn FnMut(&[BoundHost]) -> Result<()>,
) -> Result<()> {
    let mut after = None;
    loop {
        let batch = from.bound_hosts(tenant, after, BATCH)?;
        let Some(last) = batch.last() else { return Ok(()) };
        after = Some(last.host);
        work(&batch)?;
    }
}

/// Returns how many records a team has, erased ones too.
fn total(source: &MoveSource<'_>, tenants: &[TenantId]) -> Result<u64> {
    let mut records = 0;
    for tenant in tenants {
        records += source.accounts.usage(tenant)?.records;
    }
    Ok(records)
}

fn text_of(moved: &MovedRecord) -> Option<TextKey> {
    moved.record.as_ref()?.body.kept().map(|kept| kept.text)
}

/// Returns the invitations of a tenant, open or not.
fn invitations_of(accounts: &dyn Accounts, tenant: &TenantId) -> Result<Vec<Invitation>> {
    accounts.invitations().map_or(Ok(Vec::new()), |of_all| of_all.invitations(tenant))
}

fn scope_of(tenant: &TenantId, project: &ProjectKey, user: &UserId) -> Scope {
    Scope { tenant: tenant.clone(), user: user.clone(), ..Scope::project(project.clone()) }
}

fn differs(what: &str) -> PortError {
    let reason = format!("{what} than the old place; use an empty database, or tenants that it does not have");
    PortError::new(ErrorKind::Invalid, "move the team").because(reason)
}
