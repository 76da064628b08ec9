//! Tests a move that is cut off in each of its two passes: it continues where it was, and copies nothing twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_core::{ProjectKey, Scope, TenantId};
use weir_records::moving::{
    AuditRow, BoundHost, Export, Import, KeptRequest, MoveFigures, MoveSource, MoveState, MoveTarget, MovedRecord,
    move_team,
};
use weir_records::sqlite::{self, SqliteLog};
use weir_records::{
    Accounts as _, ApiToken, ErrorKind, HostId, Invitation, Log as _, PortError, Position, Readers, Record, Result,
    TenantUsage,
};
use weir_team::PostgresLog;

use super::support::{TestDatabase, ids, note, removal, scope};

/// How many records there are at first: three full batches and a part of a fourth.
const RECORDS: u64 = 1_800;

/// A place that takes some batches of records, and then fails as a connection does that is cut.
struct CutOff<'a> {
    inner: &'a PostgresLog,
    old: &'a Path,
    /// How many batches it still takes.
    left: AtomicU64,
    /// How many records it has taken.
    taken: AtomicU64,
    /// Whether the old place was locked when it failed.
    seen: Mutex<Vec<MoveState>>,
    /// What happens at the old place when a pass has copied the records, and before it copies the audit.
    at_audit: &'a (dyn Fn() + Sync),
}

impl Export for CutOff<'_> {
    fn moved_records(
        &self,
        tenant: &TenantId,
        project: &ProjectKey,
        after: Position,
        limit: usize,
    ) -> Result<Vec<MovedRecord>> {
        self.inner.moved_records(tenant, project, after, limit)
    }

    fn heads_of(&self, tenant: &TenantId) -> Result<BTreeMap<ProjectKey, Position>> {
        self.inner.heads_of(tenant)
    }

    fn audit_count(&self, tenant: &TenantId) -> Result<u64> {
        self.inner.audit_count(tenant)
    }

    fn audit_rows(&self, tenant: &TenantId, skip: u64, limit: usize) -> Result<Vec<AuditRow>> {
        self.inner.audit_rows(tenant, skip, limit)
    }

    fn bound_hosts(&self, tenant: &TenantId, after: Option<HostId>, limit: usize) -> Result<Vec<BoundHost>> {
        self.inner.bound_hosts(tenant, after, limit)
    }

    fn kept_requests(&self, tenant: &TenantId, after: Option<[u8; 32]>, limit: usize) -> Result<Vec<KeptRequest>> {
        self.inner.kept_requests(tenant, after, limit)
    }
}

impl Import for CutOff<'_> {
    fn take_tenant(&self, tenant: &TenantId, usage: &TenantUsage) -> Result<()> {
        self.inner.take_tenant(tenant, usage)
    }

    fn take_tokens(&self, tenant: &TenantId, tokens: &[ApiToken]) -> Result<()> {
        self.inner.take_tokens(tenant, tokens)
    }

    fn take_invitations(&self, tenant: &TenantId, invitations: &[Invitation]) -> Result<()> {
        self.inner.take_invitations(tenant, invitations)
    }

    fn take_records(&self, tenant: &TenantId, project: &ProjectKey, records: &[MovedRecord]) -> Result<()> {
        if self.left.load(Ordering::SeqCst) == 0 {
            self.seen.lock().unwrap().push(sqlite::move_state(self.old).unwrap());
            return Err(PortError::new(ErrorKind::Unavailable, "take in a team").because("the connection was cut"));
        }
        self.left.fetch_sub(1, Ordering::SeqCst);
        self.taken.fetch_add(records.len() as u64, Ordering::SeqCst);
        self.inner.take_records(tenant, project, records)
    }

    fn take_audit(&self, tenant: &TenantId, after: u64, rows: &[AuditRow]) -> Result<()> {
        (self.at_audit)();
        self.inner.take_audit(tenant, after, rows)
    }

    fn take_hosts(&self, tenant: &TenantId, hosts: &[BoundHost]) -> Result<()> {
        self.inner.take_hosts(tenant, hosts)
    }

    fn take_requests(&self, tenant: &TenantId, requests: &[KeptRequest]) -> Result<()> {
        self.inner.take_requests(tenant, requests)
    }
}

/// What became of an attempt.
struct Attempt {
    moved: Result<MoveFigures>,
    taken: u64,
    seen: Vec<MoveState>,
}

/// Moves the team in a folder to a database that takes so many batches of records.
fn attempt(old: &Path, new: &PostgresLog, batches: u64, at_audit: &(dyn Fn() + Sync)) -> Attempt {
    let (log, accounts, blobs) = sqlite::open_for_move(old).unwrap();
    let port = CutOff {
        inner: new,
        old,
        left: AtomicU64::new(batches),
        taken: AtomicU64::new(0),
        seen: Mutex::default(),
        at_audit,
    };
    let new_accounts = new.accounts();
    let target = MoveTarget { records: &port, log: new, accounts: &new_accounts, blobs: None, place: "the new place" };
    let moved = move_team(&MoveSource { log: &log, accounts: &accounts, blobs: &blobs }, &target, &|_| {});
    Attempt { moved, taken: port.taken.into_inner(), seen: port.seen.into_inner().unwrap() }
}

fn assert_same(old: &SqliteLog, new: &PostgresLog, place: &Scope) {
    let all = |log: &dyn weir_records::Log| log.read_since(place, Position(0), usize::MAX, Readers::Index).unwrap();
    assert_eq!(all(old), all(new));
    let audit = |from: &dyn Export| from.audit_rows(&place.tenant, 0, usize::MAX).unwrap();
    assert_eq!(audit(old), audit(new));
}

#[test]
fn a_move_that_is_cut_off_continues_and_copies_nothing_twice() {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let (old, api, id) = (folder.path(), scope("acme", "ana", "api"), ids());
    let (log, new) = (SqliteLog::open(&old.join("records.db")).unwrap(), database.log());
    sqlite::open_accounts(old).unwrap().create_tenant(&api.tenant).unwrap();
    let records: Vec<Record> = (0..RECORDS).map(|number| note(&api, id(number))).collect();
    for batch in records.chunks(300) {
        log.append(&api, batch).unwrap();
    }

    // In the first pass the old server does not notice.
    let first = attempt(old, &new, 2, &|| {});
    assert_eq!((first.moved.unwrap_err().kind, first.taken), (ErrorKind::Unavailable, 1_000));
    assert_eq!((first.seen, new.head(&api).unwrap()), (vec![MoveState::Here], Position(1_000)));
    // One of these records is there already, and the other one is not.
    let removals = [removal(&api, id(RECORDS), id(3)), removal(&api, id(RECORDS + 1), id(1_500))];
    log.append(&api, &removals).unwrap();

    // In the second pass there is a lock, which is taken back. One record arrives too late for the first pass.
    let is_late = AtomicBool::new(false);
    let second = attempt(old, &new, 2, &|| {
        if !is_late.swap(true, Ordering::SeqCst) {
            log.append(&api, &[note(&api, id(RECORDS + 2))]).unwrap();
        }
    });
    assert_eq!((second.moved.unwrap_err().kind, second.taken), (ErrorKind::Unavailable, RECORDS + 2 - 1_000));
    assert_eq!(second.seen, [MoveState::Moving { place: "the new place".into() }]);
    assert_eq!(sqlite::move_state(old).unwrap(), MoveState::Here);
    assert_eq!(new.records(&api, &[id(3), id(1_500)]).unwrap(), [], "both are erased");
    log.append(&api, &[note(&api, id(RECORDS + 3))]).unwrap();

    let third = attempt(old, &new, u64::MAX, &|| {});
    let figures = third.moved.unwrap();
    assert_eq!((third.taken, figures.records, figures.erased), (2, RECORDS + 4, 2));
    assert_eq!(sqlite::move_state(old).unwrap(), MoveState::Moved { place: "the new place".into() });
    assert_same(&log, &new, &api);
}
