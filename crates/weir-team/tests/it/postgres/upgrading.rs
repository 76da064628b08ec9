//! Tests a rolling upgrade: servers of an earlier version write before, during and after the migrations of this one,
//! and servers of this version beside them as soon as the migrations have run.
//!
//! An earlier version is its migrations and its statements. Both are written down here, since this version cannot write
//! to an older schema.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls, Statement};
use weir_core::{EntryKind, NoteKind, Origin, Reference, Scope};
use weir_ledger::Migration;
use weir_records::{
    Accounts as _, Body, HostId, Kept, Log as _, NoteFields, Position, Readers, Record, RecordId, TextKey,
};

use super::support::{MIGRATIONS, TestDatabase, bridge, ids, record, scope};

/// The longest that a write may wait while the schema changes. A change that queued for its lock would make it seconds.
const MAX_STALL: Duration = Duration::from_secs(2);
/// How many servers of each version write.
const SERVERS: usize = 3;
/// How many records each server of the earlier version writes before the migrations begin, and all write after them.
const BEFORE: u64 = 30;
const AFTER: u64 = 60;
const TOPIC: &str = "pool";

/// What a version that is to be upgraded has.
struct Earlier {
    migrations: &'static [Migration],
    /// What its role may do.
    grants: &'static str,
    /// Its statements that differ from those of other versions. The first moves the head, and takes a number of bytes
    /// if the version counts them; the second writes the audit.
    advance: &'static str,
    audit: &'static str,
}

const RECORDS: Migration =
    Migration { name: "0001_records", sql: include_str!("../../../src/migrations/0001_records.sql") };
const ACCOUNTS: Migration =
    Migration { name: "0002_accounts", sql: include_str!("../../../src/migrations/0002_accounts.sql") };
const USAGE: Migration = Migration { name: "0003_usage", sql: include_str!("../../../src/migrations/0003_usage.sql") };
const EARLIER: Migration =
    Migration { name: "0004_earlier", sql: include_str!("../../../src/migrations/0004_earlier.sql") };
const HOSTS: Migration = Migration { name: "0005_hosts", sql: include_str!("../../../src/migrations/0005_hosts.sql") };

/// The version without usage in bytes, tokens in the audit and topics.
const BEFORE_USAGE: Earlier = Earlier {
    migrations: &[RECORDS, ACCOUNTS],
    grants: "
        GRANT USAGE ON SCHEMA weir TO APP;
        GRANT SELECT ON weir.migrations, weir.tenants, weir.projects, weir.heads, weir.records, weir.audit, weir.tokens
            TO APP;
        GRANT INSERT ON weir.records, weir.audit, weir.tokens TO APP;
        GRANT UPDATE (max_records) ON weir.tenants TO APP;
        GRANT UPDATE (revoked_at) ON weir.tokens TO APP;
        GRANT UPDATE (position) ON weir.heads TO APP;
        GRANT UPDATE (author, reference, about_host, about_number, text, json) ON weir.records TO APP;
        GRANT EXECUTE ON FUNCTION weir.enter(text), weir.create_project(text, text),
            weir.create_tenant(text), weir.find_token(text) TO APP;",
    advance: "UPDATE weir.heads SET position = $3 WHERE tenant_id = $1 AND project_id = $2",
    audit: "INSERT INTO weir.audit (tenant_id, project_id, actor, action, target)
            SELECT $1, $2, $3, done.action, done.target FROM unnest($4, $5) AS done (action, target)",
};

/// The version before the newest migration, which keeps no imprints. Its servers here bind no hosts.
const BEFORE_NEWEST: Earlier = Earlier {
    migrations: &[RECORDS, ACCOUNTS, USAGE, EARLIER, HOSTS],
    grants: "
        GRANT USAGE ON SCHEMA weir TO APP;
        GRANT SELECT ON weir.migrations, weir.tenants, weir.projects, weir.heads, weir.records, weir.audit, weir.tokens,
            weir.earlier_usage, weir.topics, weir.hosts TO APP;
        GRANT INSERT ON weir.records, weir.audit, weir.tokens, weir.hosts TO APP;
        GRANT UPDATE (max_records, max_bytes) ON weir.tenants TO APP;
        GRANT UPDATE (revoked_at) ON weir.tokens TO APP;
        GRANT UPDATE (position, bytes) ON weir.heads TO APP;
        GRANT UPDATE (author, reference, about_host, about_number, text, json) ON weir.records TO APP;
        GRANT EXECUTE ON FUNCTION weir.enter(text), weir.create_project(text, text),
            weir.create_tenant(text), weir.find_token(text) TO APP;",
    advance: "UPDATE weir.heads SET position = $3, bytes = bytes + $4 WHERE tenant_id = $1 AND project_id = $2",
    audit: "INSERT INTO weir.audit (tenant_id, project_id, actor, action, target, token)
            SELECT $1, $2, $3, done.action, done.target, NULL FROM unnest($4, $5) AS done (action, target)",
};

/// Locks the head, as every version does.
const LOCK_HEAD: &str = "
    SELECT h.tenant_id, h.project_id, h.position FROM weir.heads h
    WHERE h.tenant_id = (SELECT t.tenant_id FROM weir.tenants t WHERE t.name = $1)
        AND h.project_id = (SELECT p.project_id FROM weir.projects p JOIN weir.tenants t USING (tenant_id)
                            WHERE t.name = $1 AND p.key = $2)
    FOR NO KEY UPDATE";
/// Adds a record, with the columns that every version has.
const INSERT: &str = "
    INSERT INTO weir.records (tenant_id, project_id, position, number, about_number, host, about_host, audience, author,
        reference, text, json)
    VALUES ($1, $2, $3, $4, NULL, $5::text::uuid, NULL, 'team', $6, $7, $8, $9)";

/// Brings an empty database to an earlier version.
fn install(database: &TestDatabase, earlier: &Earlier) {
    let owner = database.session("owner");
    owner
        .run(
            "CREATE SCHEMA weir; CREATE TABLE weir.migrations (position integer PRIMARY KEY, name text NOT NULL,
                 checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())",
        )
        .unwrap();
    for (position, migration) in earlier.migrations.iter().enumerate() {
        owner.run(migration.sql).unwrap();
        let (name, checksum) = (migration.name, migration.checksum());
        let insert = "INSERT INTO weir.migrations (position, name, checksum)";
        owner.run(&format!("{insert} VALUES ({position}, '{name}', '{checksum}')")).unwrap();
    }
    owner.run(&earlier.grants.replace("APP", &database.app())).unwrap();
}

/// Returns a note on the topic, whose text is stored nowhere.
fn note(place: &Scope, id: RecordId) -> Record {
    let fields = NoteFields {
        kind: NoteKind::Finding,
        topic: Some(TOPIC.into()),
        files: Vec::new(),
        commit: None,
        branch: None,
    };
    let kept = Kept {
        reference: Reference::from_bits(id.index),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: "a note".into(),
        source: None,
        note: Some(fields),
        text: TextKey::of(b"text"),
        bytes: 4,
    };
    record(place, id, Body::Kept(Box::new(kept)))
}

/// A connection of a server of an earlier version, with its prepared statements.
struct EarlierServer {
    client: Client,
    enter: Statement,
    lock: Statement,
    insert: Statement,
    advance: Statement,
    audit: Statement,
}

impl EarlierServer {
    fn start(database: &TestDatabase, earlier: &Earlier) -> Self {
        bridge().block_on(async {
            let (client, connection) = tokio_postgres::connect(&database.address("app"), NoTls).await.unwrap();
            tokio::spawn(connection);
            let (text, number) = (Type::TEXT, Type::INT8);
            let enter = client.prepare_typed("SELECT weir.enter($1)", std::slice::from_ref(&text)).await.unwrap();
            let lock = client.prepare_typed(LOCK_HEAD, &[text.clone(), text.clone()]).await.unwrap();
            let insert = client.prepare(INSERT).await.unwrap();
            let advance = client.prepare(earlier.advance).await.unwrap();
            let types = [number.clone(), number, text, Type::TEXT_ARRAY, Type::TEXT_ARRAY];
            let audit = client.prepare_typed(earlier.audit, &types).await.unwrap();
            Self { client, enter, lock, insert, advance, audit }
        })
    }

    /// Appends a record, in one transaction.
    fn append(&self, place: &Scope, record: &Record) {
        bridge().block_on(async {
            let begin = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL lock_timeout = '10s'";
            self.client.batch_execute(begin).await.unwrap();
            self.client.query(&self.enter, &[&place.tenant.0]).await.unwrap();
            let head = self.client.query_one(&self.lock, &[&place.tenant.0, &place.project.0]).await.unwrap();
            let (tenant, project, position): (i64, i64, i64) = (head.get(0), head.get(1), head.get(2));
            let (next, number, host) = (position + 1, record.id.index as i64, record.id.host.to_string());
            let (json, kept) = (record.to_json().unwrap(), record.body.kept().unwrap());
            let (reference, text) = (kept.reference.as_str(), kept.text.as_bytes().as_slice());
            let user = &place.user.0;
            self.client
                .query(&self.insert, &[&tenant, &project, &next, &number, &host, user, &reference, &text, &json])
                .await
                .unwrap();
            let bytes = record.stored_bytes(&json) as i64;
            let values: [&(dyn ToSql + Sync); 4] = [&tenant, &project, &next, &bytes];
            let values = &values[..self.advance.params().len()];
            assert_eq!(self.client.execute(&self.advance, values).await.unwrap(), 1);
            let (actions, targets) = (vec!["append"], vec![format!("{next}-{next}")]);
            self.client.query(&self.audit, &[&tenant, &project, user, &actions, &targets]).await.unwrap();
            self.client.batch_execute("COMMIT").await.unwrap();
        });
    }
}

/// How long each write took at most, how many there were, and whether one has failed.
#[derive(Default)]
struct Stalls {
    worst_micros: AtomicU64,
    writes: AtomicU64,
    has_failed: AtomicBool,
}

impl Stalls {
    fn measure(&self, write: impl FnOnce()) {
        let begun = Instant::now();
        self.watch(write);
        self.worst_micros.fetch_max(begun.elapsed().as_micros() as u64, Ordering::SeqCst);
        self.writes.fetch_add(1, Ordering::SeqCst);
    }

    /// Runs work, so that nobody waits for those who have failed.
    fn watch<T>(&self, work: impl FnOnce() -> T) -> T {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|failure| {
            self.has_failed.store(true, Ordering::SeqCst);
            std::panic::resume_unwind(failure)
        })
    }

    fn wait_for(&self, writes: u64) {
        while self.writes.load(Ordering::SeqCst) < writes && !self.has_failed.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
}

/// Upgrades a database while servers write, and checks that nothing failed, waited long or was lost. Returns the
/// figures.
fn check(earlier: &Earlier) -> String {
    let database = TestDatabase::empty();
    install(&database, earlier);
    let place = scope("acme", "ana", "api");
    database.session("owner").run("SELECT weir.create_project('acme', 'api')").unwrap();
    let (old, new, over) = (Stalls::default(), Stalls::default(), AtomicBool::new(false));
    let ran = std::thread::scope(|threads| {
        for _ in 0..SERVERS {
            threads.spawn(|| {
                let (server, id) = (old.watch(|| EarlierServer::start(&database, earlier)), ids());
                for index in 0.. {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    old.measure(|| server.append(&place, &note(&place, id(index))));
                }
            });
        }
        old.wait_for(SERVERS as u64 * BEFORE);
        let ran = database.migrate();
        let servers = if ran.is_ok() { SERVERS } else { 0 };
        for _ in 0..servers {
            threads.spawn(|| {
                let (log, id) = (new.watch(|| database.log()), ids());
                for index in 0..AFTER {
                    new.measure(|| drop(log.append(&place, &[note(&place, id(index))]).unwrap()));
                }
            });
        }
        new.wait_for(servers as u64 * AFTER);
        over.store(true, Ordering::SeqCst);
        ran
    });
    assert_eq!(ran.unwrap(), MIGRATIONS[earlier.migrations.len()..]);
    let written = [&old, &new].map(|stalls| stalls.writes.load(Ordering::SeqCst));
    let worst = [&old, &new].map(|stalls| Duration::from_micros(stalls.worst_micros.load(Ordering::SeqCst)));
    assert!(worst.iter().all(|worst| *worst < MAX_STALL), "{worst:?}");

    check_log(&database, &place, written.iter().sum());
    let [from, to] = [earlier.migrations.len(), MIGRATIONS.len()];
    format!("migrations {from} to {to}: {written:?} appends by old and new servers, worst stalls {worst:?}, 0 errors")
}

fn check_log(database: &TestDatabase, place: &Scope, count: u64) {
    let (log, owner) = (database.log(), database.session("owner"));
    let batch = log.read_since(place, Position(0), usize::MAX, Readers::Index).unwrap();
    let positions: Vec<u64> = batch.records.iter().map(|stored| stored.position.0).collect();
    assert_eq!(positions, (1..=count).collect::<Vec<_>>());
    // Every note is found by its topic, that of an old writer too.
    assert_eq!(log.on_topic(place, TOPIC, usize::MAX).unwrap(), batch.records);
    assert_eq!(log.accounts().usage(&place.tenant).unwrap().records, count);
    // The host of an old writer is that of its user, although the old writer did not say so.
    let hosts: Vec<HostId> = batch.records.iter().take(1).map(|stored| stored.record.id.host).collect();
    assert_eq!(log.bind_hosts(&scope("acme", "ben", "api"), &hosts).unwrap(), hosts);
    assert_eq!(log.bind_hosts(place, &hosts).unwrap(), []);
    assert_eq!(owner.run("SELECT count(*) FROM weir.audit WHERE action = 'append'").unwrap(), [count.to_string()]);
}

#[test]
fn servers_of_the_version_before_usage_write_while_its_migrations_run() {
    println!("{}", check(&BEFORE_USAGE));
}

#[test]
fn servers_of_the_version_before_the_newest_migration_write_while_it_runs() {
    println!("{}", check(&BEFORE_NEWEST));
}

#[test]
fn the_earlier_versions_are_the_beginning_of_the_ledger() {
    for earlier in [BEFORE_USAGE, BEFORE_NEWEST] {
        let names: Vec<&str> = earlier.migrations.iter().map(|migration| migration.name).collect();
        assert_eq!(names, MIGRATIONS[..names.len()]);
    }
    assert_eq!(BEFORE_NEWEST.migrations.len() + 1, MIGRATIONS.len(), "a new migration needs an earlier version here");
}
