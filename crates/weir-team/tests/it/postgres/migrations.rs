//! Tests that the ledger of migrations holds on PostgreSQL as it does elsewhere.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_records::{ErrorKind, Log as _, Position};
use weir_team::{PostgresLog, SCHEMA};

use super::support::{MIGRATIONS, TestDatabase, bridge, ids, note, scope};

/// Returns why the log cannot be opened.
fn refused(database: &TestDatabase) -> (ErrorKind, String) {
    let error = PostgresLog::open(&database.options("app"), bridge()).err().unwrap();
    (error.kind, error.to_string())
}

#[test]
fn migrations_run_once() {
    let database = TestDatabase::empty();
    assert_eq!(database.migrate().unwrap(), MIGRATIONS);
    assert_eq!(database.migrate().unwrap(), [""; 0]);
    let ledger = "SELECT position, name, length(checksum) FROM weir.migrations ORDER BY position";
    let expected: Vec<String> = (0..).zip(MIGRATIONS).map(|(at, name)| format!("{at}|{name}|64")).collect();
    assert_eq!(database.session("owner").run(ledger).unwrap(), expected);
    database.log();
}

#[test]
fn two_servers_that_migrate_at_once_run_each_migration_once() {
    let database = TestDatabase::empty();
    let mut ran: Vec<&str> = std::thread::scope(|threads| {
        let servers: Vec<_> = (0..4).map(|_| threads.spawn(|| database.migrate().unwrap())).collect();
        servers.into_iter().flat_map(|server| server.join().unwrap()).collect()
    });
    ran.sort_unstable();
    assert_eq!(ran, MIGRATIONS);
    database.log();
}

#[test]
fn a_database_without_tables_is_refused_with_what_to_do() {
    let database = TestDatabase::empty();
    let (kind, text) = refused(&database);
    assert_eq!(kind, ErrorKind::Unavailable);
    assert_eq!(
        text,
        "cannot open the database: the backend cannot be used (it has no tables of Weir, or its role may not use them; \
         run the migrations as its owner)"
    );
}

#[test]
fn a_database_that_lacks_a_migration_is_refused() {
    let database = TestDatabase::new();
    database.session("owner").run("DELETE FROM weir.migrations").unwrap();
    let (kind, text) = refused(&database);
    assert_eq!(kind, ErrorKind::Unavailable);
    assert!(text.contains("migration `0001_records` has not run"), "{text}");
}

/// Adds a migration that this version does not know to the ledger. It says which programs may use the database.
fn run_later(database: &TestDatabase, oldest: usize) {
    let values = format!("({SCHEMA}, 'later', '', {oldest})");
    let insert = format!("INSERT INTO weir.migrations (position, name, checksum, oldest_server) VALUES {values}");
    database.session("owner").run(&insert).unwrap();
}

#[test]
fn a_database_that_needs_a_newer_program_is_refused_and_left_alone() {
    let database = TestDatabase::new();
    run_later(&database, SCHEMA + 1);
    let (has, needs) = (SCHEMA + 1, format!("programs of schema {} or newer, and this one has {SCHEMA}", SCHEMA + 1));
    let expected = format!("a newer version of Weir wrote it (it has schema {has} and needs {needs})");
    let (kind, text) = refused(&database);
    assert_eq!((kind, text), (ErrorKind::Newer, format!("cannot open the database: {expected}")));
    assert_eq!(database.migrate().unwrap_err().kind, ErrorKind::Newer);
    let count = database.session("owner").run("SELECT count(*) FROM weir.migrations").unwrap();
    assert_eq!(count, [(SCHEMA + 1).to_string()]);
}

#[test]
fn a_server_starts_again_beside_a_newer_schema_that_allows_it() {
    let database = TestDatabase::new();
    let before = database.log();
    database.session("owner").run("ALTER TABLE weir.records ADD COLUMN later text").unwrap();
    run_later(&database, SCHEMA);
    let (place, id) = (scope("acme", "ana", "api"), ids());
    for (number, log) in (0..).zip([before, database.log()]) {
        log.append(&place, &[note(&place, id(number))]).unwrap();
        assert_eq!(log.head(&place).unwrap(), Position(number + 1));
    }
    // Quotas can still be set with the older program, and it runs nothing.
    assert_eq!(database.migrate().unwrap(), [""; 0]);
}

#[test]
fn a_ledger_from_before_it_named_the_oldest_program_is_brought_up_to_date() {
    let database = TestDatabase::new();
    let owner = database.session("owner");
    owner.run("ALTER TABLE weir.migrations DROP COLUMN oldest_server").unwrap();
    database.log();
    assert_eq!(database.migrate().unwrap(), [""; 0]);
    assert_eq!(owner.run("SELECT max(oldest_server) FROM weir.migrations").unwrap(), ["1"]);
}

#[test]
fn a_schema_of_another_program_is_refused_and_left_alone() {
    let database = TestDatabase::empty();
    let owner = database.session("owner");
    owner.run("CREATE SCHEMA weir; CREATE TABLE weir.theirs (x integer)").unwrap();
    let error = database.migrate().unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.to_string().contains("its schema `weir` belongs to another program"), "{error}");
    let tables = "SELECT relname FROM pg_class WHERE relnamespace = 'weir'::regnamespace AND relkind = 'r'";
    assert_eq!(owner.run(tables).unwrap(), ["theirs"]);
    // What others have in another schema is in nobody's way.
    owner.run("DROP SCHEMA weir CASCADE; CREATE TABLE theirs (x integer)").unwrap();
    assert_eq!(database.migrate().unwrap(), MIGRATIONS);
}

#[test]
fn a_different_past_is_refused() {
    let database = TestDatabase::new();
    database.session("owner").run("UPDATE weir.migrations SET checksum = ''").unwrap();
    let (kind, text) = refused(&database);
    assert_eq!(kind, ErrorKind::Damaged);
    assert!(text.contains("it ran another version of migration `0001_records`"), "{text}");
    assert_eq!(database.migrate().unwrap_err().kind, ErrorKind::Damaged);
}

#[test]
fn a_migration_waits_for_a_server_that_migrates() {
    let database = TestDatabase::empty();
    // Another server migrates, and is not done.
    let other = database.session("owner");
    other.run("BEGIN; SELECT pg_advisory_xact_lock(5711024880136)").unwrap();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| database.migrate().unwrap());
        let blocked = format!(
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
             WHERE d.datname = '{}' AND l.locktype = 'advisory' AND NOT l.granted",
            database.name
        );
        let watch = database.session("postgres");
        while watch.run(&blocked).unwrap() != ["1"] {
            std::thread::yield_now();
        }
        other.run("COMMIT").unwrap();
        assert_eq!(waiting.join().unwrap(), MIGRATIONS);
    });
}

/// The longest that a write may wait while a schema changes. A change that queued for its lock would make it seconds.
const MAX_STALL: Duration = Duration::from_secs(2);

#[test]
fn servers_write_while_columns_are_added() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 150;
    /// A table has room for some 1,600 columns.
    const MAX_CHANGES: u32 = 200;
    let database = TestDatabase::new();
    let owner = database.session("owner");
    let (log, done) = (database.log(), AtomicBool::new(false));
    let place = scope("acme", "ana", "api");
    log.append(&place, &[note(&place, ids()(0))]).unwrap();
    // These servers were started before the change, and those of the second half are started while it runs.
    let worst = std::thread::scope(|threads| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|number| {
                let (log, database, place) = (&log, &database, &place);
                threads.spawn(move || {
                    let id = ids();
                    let late = (number % 2 == 1).then(|| database.log());
                    let log = late.as_ref().unwrap_or(log);
                    let stalls = (0..EACH).map(|index| {
                        let begun = Instant::now();
                        log.append(place, &[note(place, id(index))]).unwrap();
                        begun.elapsed()
                    });
                    stalls.max().unwrap()
                })
            })
            .collect();
        let changing = threads.spawn(|| {
            // What an expanding migration does: it gives up soon, so that nobody queues behind it, and tries again.
            let mut number = 0;
            while number < MAX_CHANGES && !done.load(Ordering::SeqCst) {
                let column = format!("ALTER TABLE weir.records ADD COLUMN later_{number} text");
                let change = format!("BEGIN; SET LOCAL lock_timeout = 50; {column}; COMMIT");
                match owner.run(&change) {
                    Ok(_) => number += 1,
                    Err(error) => {
                        assert!(error.starts_with("55P03"), "{error}");
                        owner.run("ROLLBACK").unwrap();
                    }
                }
            }
            number
        });
        let stalls: Vec<_> = writers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::SeqCst);
        let worst = stalls.into_iter().map(Result::unwrap).max().unwrap();
        println!("worst stall {worst:?} in {} appends, {} changes", WRITERS * EACH, changing.join().unwrap());
        worst
    });
    assert_eq!(log.head(&place).unwrap(), Position(WRITERS * EACH + 1));
    assert!(worst < MAX_STALL, "{worst:?}");
}
