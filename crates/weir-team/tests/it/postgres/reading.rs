//! Tests that a call reads what it is asked for, and neither a whole project nor the partitions of other tenants.

use std::cell::Cell;

use weir_core::{NoteKind, Reference};
use weir_records::{Audience, Body, Log, NoteFields, Position, Readers, Record, TextKey};
use weir_team::PostgresLog;

use super::support::{TestDatabase, ids, note, record, removal, scope};

const RECORDS: u64 = 3_000;

/// The topic of every third record.
const TOPIC: &str = "pool";

/// What the program has read so far. A connection reports it when it is closed.
#[derive(Debug, Clone, Copy)]
struct Read {
    /// Rows, and entries of indexes.
    rows: u64,
    /// How many partitions of the records were looked at.
    partitions: u64,
}

impl Read {
    /// Forgets what was read before.
    fn reset(database: &TestDatabase) {
        database.wait_until_unused();
        database.session("postgres").run("SELECT pg_stat_reset()").unwrap();
    }

    fn since_reset(database: &TestDatabase) -> Self {
        database.wait_until_unused();
        let number = |sql: &str| database.session("owner").run(sql).unwrap().concat().parse().unwrap();
        Self {
            rows: number(
                "SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE schemaname = 'weir')
                    + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE schemaname = 'weir')",
            ),
            partitions: number(
                "SELECT count(*) FROM pg_stat_user_tables WHERE schemaname = 'weir' AND relname LIKE 'records%'
                     AND seq_scan + coalesce(idx_scan, 0) > 0",
            ),
        }
    }
}

/// A call, by its name.
type Call<'a> = (&'static str, &'a dyn Fn(&PostgresLog));

#[test]
fn no_call_reads_a_whole_project_or_another_partition() {
    let database = TestDatabase::new();
    let (id, ana) = (ids(), scope("acme", "ana", "api"));
    let confirmed = |number: u64| Body::Confirmed { record: id(number), by: ana.user.clone() };
    let records: Vec<Record> = (0..RECORDS)
        .map(|number| match number % 3 {
            0 => record(&ana, id(number), confirmed(number + 1)),
            1 => on_topic(note(&ana, id(number)), TOPIC),
            _ => note(&ana, id(number)),
        })
        .collect();
    let log = database.log();
    records.chunks(500).for_each(|batch| drop(log.append(&ana, batch).unwrap()));
    drop(log);
    let (first, key) = ([id(1), id(2), id(RECORDS * 9)], TextKey::of(&2u64.to_le_bytes()));
    let next = Cell::new(RECORDS);
    let append = |log: &PostgresLog| {
        let new = next.replace(next.get() + 1);
        log.append(&ana, &[note(&ana, id(new))]).unwrap();
        // A removal erases a record, and looks at what it erases.
        next.set(new + 2);
        log.append(&ana, &[removal(&ana, id(new + 1), id(new))]).unwrap();
    };
    let read_since = |log: &PostgresLog| {
        assert_eq!(log.read_since(&ana, Position(RECORDS / 2), 5, Readers::Scope).unwrap().records.len(), 5);
    };
    let look_ups = |log: &PostgresLog| {
        let mut look_ups = log.look_ups(&ana);
        assert_eq!(look_ups.records(&first).unwrap().len(), 2);
        assert_eq!(look_ups.about(&first, 10).unwrap().len(), 1);
        assert_eq!(look_ups.on_topics(&[TOPIC, "nothing"], 3).unwrap().len(), 3);
    };
    let named = |log: &PostgresLog| assert_eq!(log.named(&ana, Reference::from_bits(2), 10).unwrap().len(), 1);
    let uses = |log: &PostgresLog| assert_eq!(log.text_uses(&ana, &key).unwrap(), 1);
    let used = |log: &PostgresLog| assert_eq!(log.used_texts(&ana, &[key, TextKey::of(b"")]).unwrap().len(), 1);
    let calls: [Call<'_>; 7] = [
        ("append", &append),
        ("head", &|log| assert!(log.head(&ana).unwrap() >= Position(RECORDS))),
        ("read_since", &read_since),
        ("look_ups", &look_ups),
        ("named", &named),
        ("text_uses", &uses),
        ("used_texts", &used),
    ];
    // Plans differ with what the engine knows of the rows.
    for known in ["", "ANALYZE weir.records; ANALYZE weir.topics; ANALYZE weir.heads"] {
        database.session("owner").run(known).unwrap();
        for (name, call) in calls {
            Read::reset(&database);
            let log = database.log();
            (0..10).for_each(|_| call(&log));
            drop(log);
            let read = Read::since_reset(&database);
            assert!(read.rows < RECORDS / 6 && read.partitions <= 1, "{name} after `{known}`: {read:?}");
        }
    }
}

/// Returns a note with a topic.
fn on_topic(mut record: Record, topic: &str) -> Record {
    let fields = NoteFields {
        kind: NoteKind::Finding,
        topic: Some(topic.into()),
        files: Vec::new(),
        commit: None,
        branch: None,
    };
    if let Body::Kept(kept) = &mut record.body {
        kept.note = Some(fields);
    }
    record
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
