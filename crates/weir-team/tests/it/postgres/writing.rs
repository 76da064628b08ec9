//! Tests what only this log has to do when it writes: collisions with other servers, limits, and the audit.

use std::time::Duration;

use weir_core::Scope;
use weir_records::{ErrorKind, Imprint, Log as _, LogicalTime, Position, Record};
use weir_team::PostgresLog;

use super::support::{TestDatabase, bridge, ids, note, removal, scope};

fn ana() -> Scope {
    scope("acme", "ana", "api")
}

#[test]
fn a_cloned_host_that_appends_elsewhere_at_the_same_time_is_a_conflict() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    for scope in [ana(), scope("acme", "ana", "web")] {
        log.append(&scope, &[note(&scope, ids()(0))]).unwrap();
    }
    // Plays a server that has added the same id to another project, and has not committed yet.
    let slow = database.session("app");
    let add = format!(
        "BEGIN; SELECT weir.enter('acme');
         INSERT INTO weir.records (tenant_id, project_id, position, number, host, audience, author, json)
             SELECT tenant_id, project_id, 2, 7, '{}', 'team', 'ana', '{{}}' FROM weir.projects WHERE key = 'web'",
        id(7).host
    );
    slow.run(&add).unwrap();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| log.append(&ana(), &[note(&ana(), id(7))]).unwrap_err());
        database.wait_until_blocked();
        slow.run("COMMIT").unwrap();
        let error = waiting.join().unwrap();
        assert_eq!(error.kind, ErrorKind::Conflict);
        // It was tried again, so the error names the record.
        assert_eq!(error.to_string(), format!("cannot append record {}: a different record has the same id", id(7)));
    });
    assert_eq!(log.head(&ana()).unwrap(), Position(1));
}

#[test]
fn a_cloned_host_whose_append_is_given_up_is_no_conflict() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    log.append(&ana(), &[note(&ana(), id(0))]).unwrap();
    let slow = database.session("app");
    let add = "BEGIN; SELECT weir.enter('acme');
               INSERT INTO weir.records (tenant_id, project_id, position, number, host, audience, author)
                   SELECT tenant_id, project_id + 1, 1, 1, host, audience, author FROM weir.records";
    slow.run(add).unwrap();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| log.append(&ana(), &[note(&ana(), id(1))]).unwrap());
        database.wait_until_blocked();
        slow.run("ROLLBACK").unwrap();
        assert_eq!(waiting.join().unwrap(), [Position(2)]);
    });
}

#[test]
fn an_append_that_waits_too_long_is_busy_and_leaves_nothing() {
    let database = TestDatabase::new();
    let mut options = database.options("app");
    options.lock_timeout = Duration::from_millis(20);
    let (log, id) = (PostgresLog::open(&options, bridge()).unwrap(), ids());
    log.append(&ana(), &[note(&ana(), id(0))]).unwrap();
    let slow = database.session("app");
    slow.run("BEGIN; SELECT weir.enter('acme'); SELECT * FROM weir.heads FOR NO KEY UPDATE").unwrap();
    let error = log.append(&ana(), &[note(&ana(), id(1))]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Busy);
    assert_eq!(error.to_string(), "cannot append to the log: it is in use (canceling statement due to lock timeout)");
    assert!(error.kind.may_pass());
    slow.run("COMMIT").unwrap();
    assert_eq!(log.append(&ana(), &[note(&ana(), id(1))]).unwrap(), [Position(2)]);
}

#[test]
fn a_call_that_fails_leaves_its_connection_usable_and_the_head_free() {
    let database = TestDatabase::new();
    let mut options = database.options("app");
    options.connections = 1;
    let (log, other, id) = (PostgresLog::open(&options, bridge()).unwrap(), database.log(), ids());
    log.append(&ana(), &[note(&ana(), id(0))]).unwrap();
    let clone = Record { time: LogicalTime::ZERO, ..note(&ana(), id(0)) };
    for number in 1..20 {
        assert_eq!(log.append(&ana(), std::slice::from_ref(&clone)).unwrap_err().kind, ErrorKind::Conflict);
        // By another server, which would wait for a head that is still locked.
        let next = if number % 2 == 0 { &log } else { &other };
        assert_eq!(next.append(&ana(), &[note(&ana(), id(number))]).unwrap(), [Position(number + 1)]);
    }
}

#[test]
fn a_full_pool_is_busy() {
    let database = TestDatabase::new();
    database.log().append(&ana(), &[note(&ana(), ids()(0))]).unwrap();
    let mut options = database.options("app");
    options.connections = 1;
    options.statement_timeout = Duration::from_millis(500);
    let log = PostgresLog::open(&options, bridge()).unwrap();
    let slow = database.session("app");
    slow.run("BEGIN; SELECT weir.enter('acme'); SELECT * FROM weir.heads FOR NO KEY UPDATE").unwrap();
    std::thread::scope(|threads| {
        let calls: Vec<_> =
            (0..3).map(|_| threads.spawn(|| log.append(&ana(), &[note(&ana(), ids()(0))]).unwrap_err())).collect();
        for call in calls {
            assert_eq!(call.join().unwrap().kind, ErrorKind::Busy);
        }
    });
    slow.run("COMMIT").unwrap();
    assert_eq!(log.head(&ana()).unwrap(), Position(1));
}

#[test]
fn the_audit_says_who_appended_and_removed_what() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    log.append(&ana(), &[note(&ana(), id(0)), note(&ana(), id(1))]).unwrap();
    log.append(&ana(), &[note(&ana(), id(0))]).unwrap();
    let ben = scope("acme", "ben", "api");
    // Ben passes on what Ana wrote, as a server does that follows another one.
    log.append(&ben, &[removal(&ana(), id(2), id(0)), removal(&ana(), id(3), id(9))]).unwrap();
    let error = log.append(&ben, &[removal(&ben, id(4), id(1))]).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotAuthor);
    let rows = "SELECT p.key, actor, action, target FROM weir.audit a JOIN weir.projects p USING (project_id)
                ORDER BY audit_id";
    let expected = [
        "api|ana|append|1-2".to_owned(),
        "api|ben|append|3-4".to_owned(),
        format!("api|ben|remove|{}", id(0)),
        format!("api|ben|remove|{}", id(9)),
    ];
    assert_eq!(database.session("owner").run(rows).unwrap(), expected);
}

#[test]
fn an_erased_record_has_only_its_id_its_position_and_its_imprint() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    log.append(&ana(), &[note(&ana(), id(0))]).unwrap();
    log.append(&ana(), &[removal(&ana(), id(1), id(0)), removal(&ana(), id(3), id(2)), note(&ana(), id(2))]).unwrap();
    let rows = "SELECT position, number, audience, author, about_number, about_host, reference, text, json
                FROM weir.records WHERE json IS NULL ORDER BY position";
    assert_eq!(database.session("owner").run(rows).unwrap(), ["1|0|team||-|-|-|-|-", "4|2|team||-|-|-|-|-"]);
    let imprint = |number: u64| Imprint::of(&note(&ana(), id(number)).to_json().unwrap()).number().to_string();
    let imprints = "SELECT imprint FROM weir.records WHERE imprint IS NOT NULL ORDER BY position";
    assert_eq!(database.session("owner").run(imprints).unwrap(), [imprint(0), imprint(2)]);
    // Nothing else has a word of it.
    let traces = "SELECT count(*) FROM weir.records WHERE json LIKE '%note 0%' OR json LIKE '%note 2%'";
    assert_eq!(database.session("owner").run(traces).unwrap(), ["0"]);
    let again = "UPDATE weir.records SET imprint = 7 WHERE json IS NULL RETURNING 1";
    assert_eq!(database.session("app").run_as("acme", again).unwrap(), [""; 0]);
}

#[test]
fn a_record_whose_id_a_server_of_an_earlier_version_erased_is_refused() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    log.append(&ana(), &[note(&ana(), id(0)), removal(&ana(), id(1), id(0))]).unwrap();
    assert_eq!(log.append(&ana(), &[note(&ana(), id(0))]).unwrap(), [Position(1)]);
    database.session("owner").run("UPDATE weir.records SET imprint = NULL").unwrap();
    assert_eq!(log.append(&ana(), &[note(&ana(), id(0))]).unwrap_err().kind, ErrorKind::Erased);
}
