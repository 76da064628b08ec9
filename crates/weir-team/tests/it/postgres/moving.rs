//! Tests the move of a team from SQLite to a real PostgreSQL, while somebody writes, and the deletion of a tenant.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use weir_core::{ProjectKey, Scope, SessionKey, TenantId, WhyGone};
use weir_records::moving::{Export, MoveFigures, MoveSource, MoveState, MoveTarget, contents, move_team};
use weir_records::sqlite::{self, SqliteLog};
use weir_records::{
    Accounts as _, ApiToken, Blobs as _, Body, Credential, ErrorKind, Invitations, Log as _, PortError, Position,
    Readers, Result, Revoked, TextKey, TokenScope,
};
use weir_team::{ObjectBlobs, delete_tenant, delete_tokens};

use super::support::{TestDatabase, bridge, ids, note, removal, scope};
use crate::support::{NOW, invitation, keep, shelf_of};

/// Issues a token of a tenant, which is created if it does not exist.
fn token(folder: &Path, tenant: &str) -> ApiToken {
    let (accounts, credential) = (sqlite::open_accounts(folder).unwrap(), Credential::draw().unwrap());
    let tenant = TenantId(tenant.into());
    accounts.create_tenant(&tenant).unwrap();
    let token = ApiToken {
        id: credential.id(),
        hash: credential.hash(),
        tenant,
        user: scope("", "ana", "").user,
        scope: TokenScope::Write,
        projects: Some(vec![ProjectKey("api".into()), ProjectKey("web".into())]),
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
    };
    accounts.add_token(&token, None).unwrap();
    token
}

/// Moves the team in a folder, with its texts to another folder.
fn move_to(folder: &Path, database: &TestDatabase, texts: &Path) -> Result<MoveFigures> {
    let (log, accounts, blobs) = sqlite::open_for_move(folder).unwrap();
    let (new, new_blobs) = (database.log(), ObjectBlobs::in_folder(texts).unwrap());
    let new_accounts = new.accounts();
    let target = MoveTarget {
        records: &new,
        log: &new,
        accounts: &new_accounts,
        blobs: Some(&new_blobs),
        place: "the new place",
    };
    move_team(&MoveSource { log: &log, accounts: &accounts, blobs: &blobs }, &target, &|_| {})
}

#[test]
fn a_move_keeps_positions_tokens_audit_hosts_and_erasures() {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let (old, texts) = (folder.path().join("old"), folder.path().join("texts"));
    let good = token(&old, "acme");
    let revoked = token(&old, "acme");
    let accounts = sqlite::open_accounts(&old).unwrap();
    accounts.add_invitation(&invitation(&revoked)).unwrap();
    accounts.revoke(&revoked.tenant, &Revoked::Token(revoked.id), NOW).unwrap();
    accounts.set_max_records(&good.tenant, 77).unwrap();
    accounts.set_max_bytes(&good.tenant, 5_000_000).unwrap();
    let shelf = shelf_of(sqlite::open(&old).unwrap());
    let session = Some(SessionKey { client: String::new(), key: good.id.to_string() });
    let (api, web) = (Scope { session, ..scope("acme", "ana", "api") }, scope("acme", "ben", "web"));
    let kept: Vec<_> = (0..7).map(|number| keep(&shelf, &api, &format!("text {number}"))).collect();
    keep(&shelf, &web, "another project");
    keep(&shelf, &scope("umbrella", "eve", "api"), "another tenant");
    shelf.forget(&api, kept[2].id, WhyGone::Forgotten, NOW).unwrap();
    // A machine without records: nothing else says whose it is.
    let machine = ids()(0).host;
    SqliteLog::open(&old.join("records.db")).unwrap().bind_hosts(&web, &[machine]).unwrap();

    let figures = move_to(&old, &database, &texts).unwrap();
    let expected = (2, 3, 10, 1, 2, 8);
    let MoveFigures { tenants, projects, records, erased, tokens, texts: text_count, .. } = figures;
    assert_eq!((tenants, projects, records, erased, tokens, text_count), expected);
    // That of the server in each of two tenants, and the machine.
    assert_eq!((figures.hosts, figures.lost_texts), (3, 0));

    let (before, after) = (SqliteLog::open(&old.join("records.db")).unwrap(), database.log());
    for scope in [&api, &web] {
        let read = |log: &dyn weir_records::Log| log.read_since(scope, Position(0), 100, Readers::Index).unwrap();
        assert_eq!(read(&before), read(&after));
        assert_eq!(before.head(scope).unwrap(), after.head(scope).unwrap());
    }
    let hosts = |log: &dyn Export| log.bound_hosts(&good.tenant, None, 100).unwrap();
    assert_eq!(hosts(&before), hosts(&after));
    let first = hosts(&after).first().map(|bound| bound.host);
    assert_eq!(after.bound_hosts(&good.tenant, first, 100).unwrap().len(), 1);
    // What was erased cannot be brought back, and has its position.
    assert_eq!(after.append(&api, &[kept[2].clone()]).unwrap(), [Position(3)]);
    assert_eq!(after.records(&api, &[kept[2].id]).unwrap(), []);
    assert_eq!(after.accounts().tokens(&good.tenant).unwrap(), accounts.tokens(&good.tenant).unwrap());
    let moved = Invitations::invitations(&after.accounts(), &good.tenant).unwrap();
    assert_eq!(moved, Invitations::invitations(&accounts, &good.tenant).unwrap());
    assert_eq!(moved.iter().map(|one| one.revoked_at).collect::<Vec<_>>(), [Some(NOW)]);
    let usage = after.accounts().usage(&good.tenant).unwrap();
    assert_eq!(usage, accounts.usage(&good.tenant).unwrap());
    assert_eq!((usage.records, usage.max_records, usage.max_bytes), (9, Some(77), Some(5_000_000)));
    assert!(usage.bytes > 0);
    let audit = after.audit_rows(&good.tenant, 0, 100).unwrap();
    assert_eq!(audit, before.audit_rows(&good.tenant, 0, 100).unwrap());
    let with_token = audit.iter().filter(|row| row.token.as_deref() == Some(good.id.to_string().as_str()));
    assert_eq!(with_token.count(), 9, "seven notes, and a removal with what it removes");
    let blobs = ObjectBlobs::in_folder(&texts).unwrap();
    assert_eq!(blobs.get(&api, &TextKey::of(b"text 1")).unwrap().unwrap(), b"text 1");
    assert_eq!(blobs.get(&api, &TextKey::of(b"text 2")).unwrap(), None);
    assert_eq!(after.bind_hosts(&api, &[machine]).unwrap(), [machine], "it is ben's");

    // The old place is closed for good.
    assert_eq!(sqlite::move_state(&old).unwrap(), MoveState::Moved { place: "the new place".into() });
    let error = before.append(&api, &[note(&api, ids()(0))]).unwrap_err();
    assert!(error.kind.may_pass() && error.to_string().contains("was moved to the new place"), "{error}");
    let again = move_to(&old, &database, &texts).unwrap_err();
    assert!(again.to_string().contains("it was moved to the new place before"), "{again}");
}

#[test]
fn a_move_does_not_bring_a_deleted_tenant_back() {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let (old, texts) = (folder.path().join("old"), folder.path().join("texts"));
    let (acme, gone) = (token(&old, "acme"), token(&old, "gone"));
    let accounts = sqlite::open_accounts(&old).unwrap();
    accounts.delete_tenant(&gone.tenant).unwrap();
    // A pass before the deletion may have copied it.
    let new = database.log().accounts();
    new.create_tenant(&gone.tenant).unwrap();
    let error = move_to(&old, &database, &texts).unwrap_err().to_string();
    assert!(error.contains("the new place has the tenant `gone`, which was deleted here"), "{error}");
    assert_eq!(sqlite::move_state(&old).unwrap(), MoveState::Here);
    delete_tenant(&database.options("owner"), bridge(), &gone.tenant).unwrap();
    let figures = move_to(&old, &database, &texts).unwrap();
    assert_eq!((figures.tenants, figures.deleted_tenants, figures.left_audit_rows), (1, 1, 3));
    assert_eq!((new.has_tenant(&acme.tenant).unwrap(), new.has_tenant(&gone.tenant).unwrap()), (true, false));
}

#[test]
fn a_comparison_reads_few_large_records_at_once() {
    let (database, api, id) = (TestDatabase::new(), scope("acme", "ana", "api"), ids());
    let log = database.log();
    let large = |number| {
        let mut record = note(&api, id(number));
        if let Body::Kept(kept) = &mut record.body {
            kept.title = "word ".repeat(40 << 10);
        }
        record
    };
    log.append(&api, &(0..60).map(large).collect::<Vec<_>>()).unwrap();
    // An erased record has no JSON.
    log.append(&api, &[removal(&api, id(60), id(0))]).unwrap();
    let batch = |after: u64| log.moved_records(&api.tenant, &api.project, Position(after), 500).unwrap();
    let first = batch(0);
    assert!((30..50).contains(&first.len()), "{}", first.len());
    let last = first.len() as u64;
    assert!(first.iter().map(|one| one.position.0).eq(1..=last), "nothing is left out");
    assert_eq!(batch(last).last().map(|one| one.position), Some(Position(61)));
}

#[test]
fn a_move_under_load_loses_nothing() {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let (old, texts) = (folder.path().join("old"), folder.path().join("texts"));
    token(&old, "acme");
    let (api, id) = (scope("acme", "ana", "api"), ids());
    let (accepted, is_refused) = (AtomicU64::new(0), AtomicBool::new(false));
    let log = SqliteLog::open(&old.join("records.db")).unwrap();
    std::thread::scope(|threads| {
        // A server that goes on until it is refused. Each third record removes the one before.
        threads.spawn(|| {
            for number in 0.. {
                let next =
                    if number % 3 == 2 { removal(&api, id(number), id(number - 1)) } else { note(&api, id(number)) };
                match log.append(&api, &[next]) {
                    Ok(_) => accepted.store(number + 1, Ordering::SeqCst),
                    Err(PortError { kind: ErrorKind::Busy | ErrorKind::Unavailable, .. }) => break,
                    Err(error) => panic!("{error}"),
                }
            }
            is_refused.store(true, Ordering::SeqCst);
        });
        while accepted.load(Ordering::SeqCst) < 200 {
            std::thread::yield_now();
        }
        let figures = move_to(&old, &database, &texts).unwrap();
        assert!(figures.records >= 200, "{figures:?}");
    });
    assert!(is_refused.load(Ordering::SeqCst));
    let (accepted, new) = (accepted.load(Ordering::SeqCst), database.log());
    assert_eq!(new.head(&api).unwrap(), Position(accepted));
    // A client repeats what was refused, and what it is not sure of.
    for number in accepted - 1..accepted + 2 {
        let next = if number % 3 == 2 { removal(&api, id(number), id(number - 1)) } else { note(&api, id(number)) };
        assert_eq!(new.append(&api, &[next]).unwrap(), [Position(number + 1)]);
    }
}

#[test]
fn a_move_that_fails_takes_the_lock_back_and_is_continued() {
    let (database, folder) = (TestDatabase::new(), tempfile::tempdir().unwrap());
    let (old, texts) = (folder.path().join("old"), folder.path().join("texts"));
    token(&old, "acme");
    let api = scope("acme", "ana", "api");
    let shelf = shelf_of(sqlite::open(&old).unwrap());
    for number in 0..5 {
        keep(&shelf, &api, &format!("text {number}"));
    }
    // The new place has a tenant of this name, with something else in it.
    let (other, id) = (database.log(), ids());
    other.append(&api, &[note(&api, id(0))]).unwrap();
    let error = move_to(&old, &database, &texts).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.to_string().contains("the new place has other records than the old place"), "{error}");
    assert_eq!(sqlite::move_state(&old).unwrap(), MoveState::Here);
    keep(&shelf, &api, "the old server goes on");
    // Killed with the lock set, and repeated on a database of its own.
    let (log, accounts, blobs) = sqlite::open_for_move(&old).unwrap();
    log.lock_for_move("the new place").unwrap();
    assert_eq!(shelf.keep(&api, crate::support::note("too late"), NOW).unwrap_err().kind, ErrorKind::Busy);
    let empty = TestDatabase::new();
    let figures = move_to(&old, &empty, &texts).unwrap();
    assert_eq!((figures.records, figures.texts), (6, 6));
    let source = MoveSource { log: &log, accounts: &accounts, blobs: &blobs };
    assert_eq!(contents(&source).unwrap(), figures);
    assert!(!log.unlock_after_move().unwrap(), "a finished move stays");
}

#[test]
fn a_large_tenant_is_deleted_however_long_it_takes() {
    let database = TestDatabase::new();
    let (log, id, ours) = (database.log(), ids(), scope("acme", "ana", "api"));
    let records: Vec<_> = (0..2_000).map(|number| note(&ours, id(number))).collect();
    log.append(&ours, &records).unwrap();
    let mut owner = database.options("owner");
    owner.statement_timeout = Duration::from_millis(1);
    assert_eq!(delete_tenant(&owner, bridge(), &ours.tenant).unwrap().records, 2_000);
}

#[test]
fn a_deleted_tenant_leaves_its_audit_and_no_other_is_touched() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    let (ours, theirs) = (scope("acme", "ana", "api"), scope("umbrella", "eve", "api"));
    log.append(&ours, &[note(&ours, id(0))]).unwrap();
    log.append(&theirs, &[note(&theirs, id(0))]).unwrap();
    let owner = database.options("owner");
    assert_eq!(delete_tokens(&owner, bridge(), &ours.tenant).unwrap(), 0);
    let deleted = delete_tenant(&owner, bridge(), &ours.tenant).unwrap();
    assert_eq!((deleted.existed, deleted.records), (true, 1));
    assert!(!delete_tenant(&owner, bridge(), &ours.tenant).unwrap().existed);
    assert_eq!((log.head(&ours).unwrap(), log.head(&theirs).unwrap()), (Position(0), Position(1)));
    let audit = "SELECT actor, action, target FROM weir.audit ORDER BY audit_id";
    let rows = database.session("owner").run(audit).unwrap();
    assert_eq!(rows, ["ana|append|1-1", "eve|append|1-1", "operator|delete tenant|acme"]);
}
