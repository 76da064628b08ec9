//! Tests that a call reads what it is asked for, and not a whole project.

use weir_core::Reference;
use weir_records::{Audience, Log, Position, Readers, Record, TextKey};

use super::support::{TestDatabase, ids, note, record, scope};

const RECORDS: u64 = 3_000;

/// Returns how many rows of records were read so far. A connection reports it when it is closed.
fn rows_read(database: &TestDatabase) -> u64 {
    database.wait_until_unused();
    let sum = "SELECT coalesce(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)), 0)::bigint
               FROM pg_stat_user_tables WHERE schemaname = 'weir' AND relname LIKE 'records%'";
    database.session("owner").run(sum).unwrap().concat().parse().unwrap()
}

#[test]
fn no_call_reads_a_whole_project() {
    let database = TestDatabase::new();
    let (log, id, ana) = (database.log(), ids(), scope("acme", "ana", "api"));
    let confirmed = |number: u64| weir_records::Body::Confirmed { record: id(number), by: ana.user.clone() };
    let records: Vec<Record> = (0..RECORDS)
        .map(|number| match number % 3 {
            0 => record(&ana, id(number), confirmed(number + 1)),
            _ => note(&ana, id(number)),
        })
        .collect();
    for batch in records.chunks(500) {
        log.append(&ana, batch).unwrap();
    }
    drop(log);
    database.session("owner").run("ANALYZE weir.records").unwrap();
    let before = rows_read(&database);
    let log = database.log();
    // More often than the engine tries plans for one value only.
    for round in 0..10 {
        log.append(&ana, &[note(&ana, id(RECORDS + round))]).unwrap();
        assert_eq!(log.head(&ana).unwrap(), Position(RECORDS + round + 1));
        let batch = log.read_since(&ana, Position(RECORDS / 2), 5, Readers::Scope).unwrap();
        assert_eq!(batch.records.len(), 5);
        assert_eq!(log.records(&ana, &[id(1), id(2), id(RECORDS * 2)]).unwrap().len(), 2);
        assert_eq!(log.about(&ana, &[id(1), id(2)], 10).unwrap().len(), 1);
        assert_eq!(log.named(&ana, Reference::from_bits(2), 10).unwrap().len(), 1);
        assert_eq!(log.text_uses(&ana, &TextKey::of(&2u64.to_le_bytes())).unwrap(), 1);
    }
    drop(log);
    let read = rows_read(&database) - before;
    assert!(read < RECORDS / 10, "{read} rows were read");
}

#[test]
fn a_reader_gets_private_records_of_others_only_as_an_index() {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    let (ana, ben) = (scope("acme", "ana", "api"), scope("acme", "ben", "api"));
    let private = Record { audience: Audience::Author, ..note(&ana, id(0)) };
    log.append(&ana, &[private, note(&ana, id(1))]).unwrap();
    let seen = |readers| -> Vec<u64> {
        let batch = log.read_since(&ben, Position(0), 10, readers).unwrap();
        assert_eq!(batch.next, Position(2));
        batch.records.iter().map(|stored| stored.record.id.index).collect()
    };
    assert_eq!(seen(Readers::Scope), [1]);
    assert_eq!(seen(Readers::Index), [0, 1]);
}
