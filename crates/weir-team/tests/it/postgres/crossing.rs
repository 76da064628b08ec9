//! Tests that nothing crosses a thousand tenants: by the calls of the ports, here and on SQLite; by these calls alone,
//! where the database holds nobody back; and by row-level security alone, where no statement names a tenant.

use std::collections::BTreeMap;

use weir_core::{EntryKind, NoteKind, Origin, ProjectKey, Reference, Scope, SessionKey, TenantId, Timestamp, UserId};
use weir_records::moving::Export;
use weir_records::sqlite::{self, SqliteLog};
use weir_records::{
    Accounts, ApiToken, Body, Credential, ErrorKind, HostId, Invitation, InvitationCode, Kept, Log, NoteFields, Once,
    Position, Readers, Record, RecordId, RequestKey, Revoked, StoredRecord, TextKey, TokenScope,
};

use super::support::{Session, TestDatabase, record, removal};

const TENANTS: usize = 1_000;
const PROJECTS: [&str; 3] = ["api", "web", "github.com/acme/api"];
const USERS: [&str; 2] = ["ana", "ben"];
const TOPIC: &str = "pool";
/// How many rows each table has of a tenant, in the order of their names.
const ROWS: [(&str, usize); 10] = [
    ("audit", 6),
    ("heads", 1),
    ("hosts", 1),
    ("invitations", 1),
    ("projects", 1),
    ("records", 2),
    ("requests", 1),
    ("tenants", 1),
    ("tokens", 1),
    ("topics", 1),
];

/// A tenant with a token, an invitation and two records. All tenants have the same ids of records, references, texts and topics, and
/// share the names of users and projects.
struct Team {
    scope: Scope,
    token: ApiToken,
    invitation: Invitation,
    records: [Record; 2],
}

/// Returns numbers that look random and are the same in every run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

fn reference() -> Reference {
    Reference::from_bits(7)
}

fn text() -> TextKey {
    TextKey::of(b"the same text")
}

/// Returns a note whose title is the name of its tenant, and its confirmation.
fn records_of(scope: &Scope, host: HostId) -> [Record; 2] {
    let [first, second] = [0, 1].map(|index| RecordId { host, index });
    let note = NoteFields {
        kind: NoteKind::Finding,
        topic: Some(TOPIC.into()),
        files: Vec::new(),
        commit: None,
        branch: None,
    };
    let kept = Kept {
        reference: reference(),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: scope.tenant.0.clone(),
        source: None,
        note: Some(note),
        text: text(),
        bytes: 13,
    };
    [
        record(scope, first, Body::Kept(Box::new(kept))),
        record(scope, second, Body::Confirmed { record: first, by: scope.user.clone() }),
    ]
}

fn fill(log: &dyn Log, accounts: &dyn Accounts) -> Vec<Team> {
    let (mut draw, host) = (numbers(), HostId::random().unwrap());
    let team = |number: usize| {
        let (tenant, credential) = (TenantId(format!("t{:x}-{number}", draw(1 << 30))), Credential::draw().unwrap());
        let project = ProjectKey(PROJECTS[draw(PROJECTS.len())].into());
        let user = UserId(USERS[draw(USERS.len())].into());
        let token = ApiToken {
            id: credential.id(),
            hash: credential.hash(),
            tenant: tenant.clone(),
            user: user.clone(),
            scope: TokenScope::ALL[draw(TokenScope::ALL.len())],
            projects: (draw(2) == 0).then(|| vec![project.clone()]),
            created_at: Timestamp(1),
            expires_at: None,
            revoked_at: None,
        };
        assert!(accounts.create_tenant(&tenant).unwrap());
        accounts.add_token(&token, None).unwrap();
        let invitation = invitation_of(&token);
        accounts.invitations().unwrap().add_invitation(&invitation).unwrap();
        let session = Some(SessionKey { client: String::new(), key: token.id.to_string() });
        let scope = Scope { tenant, user, session, ..Scope::project(project) };
        let records = records_of(&scope, host);
        assert_eq!(log.bind_hosts(&scope, &[host]).unwrap(), []);
        assert_eq!(log.append_once(&scope, &records[0], &key_of(&scope)).unwrap(), Once::Appended(Position(1)));
        assert_eq!(log.append(&scope, &records).unwrap(), [Position(1), Position(2)]);
        Team { scope, token, invitation, records }
    };
    (0..TENANTS).map(team).collect()
}

/// Returns an invitation by the user of a token.
fn invitation_of(token: &ApiToken) -> Invitation {
    let code = InvitationCode::draw().unwrap();
    Invitation {
        id: code.id(),
        hash: code.hash(),
        tenant: token.tenant.clone(),
        user: None,
        scope: token.scope,
        projects: token.projects.clone(),
        token_millis: None,
        max_uses: 2,
        uses: 0,
        invited_by: token.user.clone(),
        invited_with: token.id,
        created_at: Timestamp(1),
        expires_at: Timestamp(2),
        revoked_at: None,
    }
}

/// Returns the key of the request that the first record of a team was appended for. Others use the same name.
fn key_of(scope: &Scope) -> RequestKey {
    RequestKey::new(&scope.user, "first", &scope.tenant.0, Timestamp(1))
}

fn only(mut found: Vec<StoredRecord>) -> Vec<Record> {
    found.sort_by_key(|stored| stored.position);
    found.into_iter().map(|stored| stored.record).collect()
}

/// Checks that every call of a team shows what is its own and nothing else.
fn check_team<L: Log + Export>(log: &L, accounts: &dyn Accounts, team: &Team, stranger: &Team) {
    let Team { scope, token, invitation, records } = team;
    let (tenant, ids) = (&scope.tenant, records.each_ref().map(|record| record.id));
    for readers in [Readers::Scope, Readers::Index] {
        let batch = log.read_since(scope, Position(0), 100, readers).unwrap();
        assert_eq!((only(batch.records), batch.next), (records.to_vec(), Position(2)));
    }
    assert_eq!(log.head(scope).unwrap(), Position(2));
    assert_eq!(only(log.records(scope, &ids).unwrap()), records);
    assert_eq!(only(log.about(scope, &ids, 10).unwrap()), records[1..]);
    assert_eq!(only(log.named(scope, reference(), 10).unwrap()), records[..1]);
    assert_eq!(only(log.on_topics(scope, &[TOPIC], 10).unwrap()), records[..1]);
    assert_eq!(log.text_uses(scope, &text()).unwrap(), 1);
    let moved = log.moved_records(tenant, &scope.project, Position(0), 100).unwrap();
    let moved: Vec<Record> = moved.into_iter().filter_map(|one| one.record).collect();
    assert_eq!(moved, records);
    let audited = log.audit_rows(tenant, 0, 100).unwrap();
    assert_eq!((audited.len(), log.audit_count(tenant).unwrap()), (6, 6));
    assert!(audited.iter().filter_map(|row| row.token.as_ref()).eq([&token.id.to_string(); 4]));
    assert_eq!(log.request(scope, &key_of(scope)).unwrap(), Some(Once::Before(ids[0])));
    assert_eq!(log.bind_hosts(scope, &[ids[0].host]).unwrap(), []);
    assert_eq!(accounts.tokens(tenant).unwrap(), std::slice::from_ref(token));
    assert_eq!(accounts.token(token.id).unwrap().as_ref(), Some(token));
    let invitations = accounts.invitations().unwrap();
    assert_eq!(invitations.invitations(tenant).unwrap(), std::slice::from_ref(invitation));
    assert_eq!(invitations.invitation(invitation.id).unwrap().as_ref(), Some(invitation));
    assert_eq!(accounts.usage(tenant).unwrap().records, 2);
    assert_eq!(accounts.projects(tenant).unwrap(), std::slice::from_ref(&scope.project));
    check_stranger(log, accounts, team, stranger);
}

/// Checks that a team has nothing in another project, and can do nothing to another team.
fn check_stranger<L: Log + Export>(log: &L, accounts: &dyn Accounts, team: &Team, stranger: &Team) {
    let scope = &team.scope;
    let ids = team.records.each_ref().map(|record| record.id);
    for project in PROJECTS.into_iter().filter(|project| *project != scope.project.0) {
        let elsewhere = Scope { project: ProjectKey(project.into()), ..scope.clone() };
        assert_eq!(log.head(&elsewhere).unwrap(), Position(0));
        for found in [
            log.records(&elsewhere, &ids).unwrap(),
            log.about(&elsewhere, &ids, 10).unwrap(),
            log.named(&elsewhere, reference(), 10).unwrap(),
            log.on_topics(&elsewhere, &[TOPIC], 10).unwrap(),
            log.read_since(&elsewhere, Position(0), 100, Readers::Index).unwrap().records,
        ] {
            assert_eq!(found, []);
        }
        assert_eq!(log.moved_records(&scope.tenant, &elsewhere.project, Position(0), 100).unwrap(), []);
    }
    if stranger.scope.tenant != scope.tenant {
        assert_eq!(accounts.revoke(&scope.tenant, &Revoked::Token(stranger.token.id), Timestamp(2)).unwrap(), 0);
        let invitations = accounts.invitations().unwrap();
        assert!(!invitations.revoke_invitation(stranger.invitation.id, &team.token, Timestamp(2)).unwrap());
        assert_eq!(invitations.accept(stranger.invitation.id, &team.token).unwrap_err().kind, ErrorKind::Missing);
        let refused = log.append(scope, &stranger.records).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::OutOfScope);
    }
}

/// Each tenth team removes its note. All others have a record with the same id.
fn check_removals(log: &dyn Log, teams: &[Team]) {
    let first = |team: &Team| team.records[0].id;
    for team in teams.iter().step_by(10) {
        let id = RecordId { index: 2, ..first(team) };
        log.append(&team.scope, &[removal(&team.scope, id, first(team))]).unwrap();
    }
    for (number, team) in teams.iter().enumerate() {
        let left = usize::from(number % 10 != 0);
        assert_eq!(log.records(&team.scope, &[first(team)]).unwrap().len(), left, "{}", team.scope.tenant.0);
        assert_eq!(log.on_topics(&team.scope, &[TOPIC], 10).unwrap().len(), left, "{}", team.scope.tenant.0);
    }
}

/// Checks that statements without a tenant see and change the rows of the one that was entered, and no others.
fn check_row_level_security(session: &Session, owner: &Session, teams: &[Team]) {
    let listed = "SELECT relname FROM pg_class WHERE relnamespace = 'weir'::regnamespace AND relkind IN ('r', 'p')
                      AND NOT relispartition AND relname <> 'migrations' ORDER BY 1";
    assert_eq!(owner.run(listed).unwrap(), ROWS.map(|(table, _)| table));
    let numbers = owner.run("SELECT name, tenant_id FROM weir.tenants").unwrap();
    let numbers: BTreeMap<&str, &str> = numbers.iter().filter_map(|row| row.split_once('|')).collect();
    assert_eq!(numbers.len(), TENANTS);
    let seen = ROWS.map(|(table, _)| {
        format!("SELECT '{table}', count(*), string_agg(DISTINCT tenant_id::text, ' ') FROM weir.{table}")
    });
    let seen = seen.join(" UNION ALL ");
    let erased = "WITH erased AS (
                      UPDATE weir.records SET author = '', reference = NULL, about_host = NULL, about_number = NULL,
                          text = NULL, json = NULL RETURNING tenant_id)
                  SELECT count(*), string_agg(DISTINCT tenant_id::text, ' ') FROM erased";
    for (at, team) in teams.iter().enumerate() {
        let name = team.scope.tenant.0.as_str();
        let number = numbers[name];
        let expected = ROWS.map(|(table, rows)| format!("{table}|{rows}|{number}"));
        assert_eq!(session.run_as(name, &seen).unwrap(), expected, "{name}");
        if at % 50 == 0 {
            assert_eq!(session.run_as(name, erased).unwrap(), [format!("2|{number}")], "{name}");
        }
    }
}

#[test]
fn a_thousand_tenants_share_nothing_by_both_locks_and_by_each_alone() {
    let database = TestDatabase::new();
    let (log, owner) = (database.log(), database.session("owner"));
    let accounts = log.accounts();
    let teams = fill(&log, &accounts);
    let mut draw = numbers();
    for _ in 0..TENANTS / 10 {
        let [one, other] = [draw(TENANTS), draw(TENANTS)];
        check_team(&log, &accounts, &teams[one], &teams[other]);
    }
    check_row_level_security(&database.session("app"), &owner, &teams);

    // A server checks its role when it is started, so this one becomes powerful later.
    let unguarded = database.log();
    database.session("postgres").run(&format!("ALTER ROLE {} BYPASSRLS", database.app())).unwrap();
    let everything = "SELECT count(DISTINCT tenant_id) FROM weir.records";
    assert_eq!(database.session("app").run(everything).unwrap(), [TENANTS.to_string()]);
    let accounts = unguarded.accounts();
    for team in &teams {
        check_team(&unguarded, &accounts, team, &teams[draw(TENANTS)]);
    }
    check_removals(&unguarded, &teams);
}

#[test]
fn a_thousand_tenants_share_nothing_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let accounts = sqlite::open_accounts(folder.path()).unwrap();
    let log = SqliteLog::open(&folder.path().join("records.db")).unwrap();
    let teams = fill(&log, &accounts);
    let mut draw = numbers();
    for team in &teams {
        check_team(&log, &accounts, team, &teams[draw(TENANTS)]);
    }
    check_removals(&log, &teams);
}
