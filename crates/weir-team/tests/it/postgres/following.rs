//! Tests that a reader who follows the log of a project misses nothing while several servers append.

use std::sync::atomic::{AtomicBool, Ordering};

use weir_core::Scope;
use weir_records::{ErrorKind, HeadWalk, Log, LogicalTime, Position, Readers, Record, RecordId};

use super::support::{TestDatabase, ids, note, scope};

const SERVERS: usize = 3;
const BATCHES: u64 = 40;

fn ana() -> Scope {
    scope("acme", "ana", "api")
}

/// Returns everything that a reader gets who starts before the first record and stops after the last.
fn follow(log: &dyn Log, over: &AtomicBool) -> Vec<(u64, RecordId)> {
    let (mut at, mut seen) = (Position(0), Vec::new());
    loop {
        // What is appended after this is read is not waited for.
        let is_over = over.load(Ordering::SeqCst);
        let batch = log.read_since(&ana(), at, 7, Readers::Scope).unwrap();
        let is_end = batch.next == at;
        at = batch.next;
        seen.extend(batch.records.into_iter().map(|stored| (stored.position.0, stored.record.id)));
        if is_over && is_end {
            return seen;
        }
    }
}

/// Appends batches of different sizes: some twice, some that fail half-way first, some to another project.
fn write(log: &dyn Log, other: &Scope) -> usize {
    let (id, mut next) = (ids(), 0);
    for number in 0..BATCHES {
        let size = number % 4 + 1;
        let batch: Vec<Record> = (next..next + size).map(|at| note(&ana(), id(at))).collect();
        next += size;
        if number % 3 == 0 {
            let (own, clash) = (note(other, id(1_000 + number)), note(other, id(2_000)));
            log.append(other, &[own, clash]).unwrap();
            let wrong = Record { time: LogicalTime::ZERO, ..note(&ana(), id(2_000)) };
            let refused = log.append(&ana(), &[batch.clone(), vec![wrong]].concat()).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Conflict);
        }
        let positions = log.append(&ana(), &batch).unwrap();
        if number % 5 == 0 {
            assert_eq!(log.append(&ana(), &batch).unwrap(), positions);
        }
    }
    next as usize
}

#[test]
fn a_reader_gets_every_record_once_and_in_order_while_servers_append() {
    let database = TestDatabase::new();
    let (reading, over) = (database.log(), AtomicBool::new(false));
    let servers: Vec<_> = (0..SERVERS).map(|_| database.log()).collect();
    let (written, seen) = std::thread::scope(|threads| {
        let reader = threads.spawn(|| follow(&reading, &over));
        let writers = servers.iter().enumerate().map(|(number, log)| {
            let other = scope("acme", "ana", &format!("own-{number}"));
            threads.spawn(move || write(log, &other))
        });
        let writers: Vec<_> = writers.collect();
        let written: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        over.store(true, Ordering::SeqCst);
        (written, reader.join().unwrap())
    });
    let positions: Vec<u64> = seen.iter().map(|(position, _)| *position).collect();
    assert_eq!(positions, (1..=written as u64).collect::<Vec<_>>());
    let mut distinct: Vec<RecordId> = seen.into_iter().map(|(_, id)| id).collect();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), written);
}

#[test]
fn a_record_of_a_transaction_that_is_still_open_is_not_passed() {
    let database = TestDatabase::new();
    let (log, other, id) = (database.log(), database.log(), ids());
    log.append(&ana(), &[note(&ana(), id(0))]).unwrap();
    // Plays a server that has locked the head and takes its time.
    let slow = database.session("app");
    slow.run("BEGIN; SELECT weir.enter('acme'); SELECT * FROM weir.heads FOR NO KEY UPDATE").unwrap();
    std::thread::scope(|threads| {
        let waiting = threads.spawn(|| other.append(&ana(), &[note(&ana(), id(1))]).unwrap());
        database.wait_until_blocked();
        assert_eq!(log.read_since(&ana(), Position(0), 10, Readers::Scope).unwrap().next, Position(1));
        slow.run("UPDATE weir.heads SET position = 2; COMMIT").unwrap();
        assert_eq!(waiting.join().unwrap(), [Position(3)]);
    });
    let after = log.read_since(&ana(), Position(1), 10, Readers::Scope).unwrap();
    assert_eq!((after.records.len(), after.next), (1, Position(3)));
}

/// Goes on with a walk to its end. Returns the projects that it finds, and where the next one begins.
fn walk(log: &dyn Log, mut walk: HeadWalk) -> (Vec<(String, u64)>, HeadWalk) {
    let mut found = Vec::new();
    loop {
        let page = log.moved_heads(walk, 3).unwrap();
        found.extend(page.heads.into_iter().map(|head| (head.project.0, head.position.0)));
        walk = page.next;
        if page.is_last {
            return (found, walk);
        }
    }
}

#[test]
fn a_head_that_moves_in_a_transaction_that_commits_late_is_found() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    for (number, project) in (0..).zip(["a", "b", "c", "d", "e", "f", "g"]) {
        let place = scope("acme", "ana", project);
        log.append(&place, &[note(&place, id(number))]).unwrap();
    }
    let (found, first) = walk(&log, HeadWalk::default());
    assert_eq!(found.len(), 7);
    // Plays a server that has moved a head and takes its time.
    let slow = database.session("app");
    let advance =
        "UPDATE weir.heads SET position = 2 WHERE project_id = (SELECT project_id FROM weir.projects WHERE key = 'b')";
    slow.run(&format!("BEGIN; SELECT weir.enter('acme'); {advance}")).unwrap();
    let mut mark = first;
    for number in 10..30 {
        let place = scope("acme", "ana", "e");
        log.append(&place, &[note(&place, id(number))]).unwrap();
        let (found, next) = walk(&log, mark);
        assert!(found.contains(&("e".to_owned(), number - 8)), "{found:?}");
        assert!(!found.contains(&("b".to_owned(), 2)), "{found:?}");
        mark = next;
    }
    slow.run("COMMIT").unwrap();
    let (found, _) = walk(&log, mark);
    assert!(found.contains(&("b".to_owned(), 2)), "{found:?}");
}

#[test]
fn a_walk_gives_the_program_names_and_positions_and_others_nothing() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    for place in [ana(), scope("umbrella", "eve", "web")] {
        log.append(&place, &[note(&place, id(0))]).unwrap();
    }
    let list = "SELECT tenant, project, head FROM weir.list_heads(0, 0, 0, 10)";
    assert_eq!(database.session("app").run(list).unwrap(), ["acme|api|1", "umbrella|web|1"]);
    let columns = "SELECT array_to_string(proargnames[5:], ' ') FROM pg_proc WHERE proname = 'list_heads'";
    let expected = "tenant project head tenant_number project_number mark looked_at";
    assert_eq!(database.session("owner").run(columns).unwrap(), [expected]);
    let admin = database.session("postgres");
    let role = format!("{}_stranger", database.name);
    admin.run(&format!("CREATE ROLE {role}; GRANT USAGE ON SCHEMA weir TO {role}; SET ROLE {role}")).unwrap();
    let refused = admin.run(list).unwrap_err();
    assert!(refused.starts_with("42501 permission denied for function"), "{refused}");
    admin.run(&format!("RESET ROLE; DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}
