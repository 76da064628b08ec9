//! Tests the spool: its records are taken in once and in order, whatever happens in between.

use std::path::{Path, PathBuf};

use weir_core::{EntryKind, Event, EventKind, Level, Limits, NewEntry, Origin, Priority, Timestamp};
use weir_store::{Guide, HistoryFilter, HookRun, Owner, Patience, Spool, SpoolRecord, Store, StoreError};

use crate::support::{NOW, at, here, open, project};

fn told(text: &str, at: Timestamp) -> SpoolRecord {
    let event =
        Event { kind: EventKind::Prompt, priority: Priority::P1, text: text.to_owned(), data: None, whole: None };
    let seen = HookRun { client: "test".into(), event: "Stop".into(), at, micros: 5, output: None };
    SpoolRecord { told: vec![event], seen: Some(seen), ..SpoolRecord::default() }
}

fn put(folder: &Path, spooled: &SpoolRecord, at: Timestamp) {
    Spool::beside(folder).put(&here(), spooled, &Limits::default(), at).unwrap();
}

/// Returns the texts and times of the events in the log, oldest first.
fn log(store: &Store) -> Vec<(String, i64)> {
    let filter = HistoryFilter { limit: 20_000, ..HistoryFilter::default() };
    let mut moments = store.history(&here(), &filter).unwrap();
    moments.reverse();
    moments.into_iter().map(|moment| (moment.logged.event.text, moment.logged.at.0 - NOW.0)).collect()
}

fn records(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder.join("spool")).into_iter().flatten().flatten();
    files.map(|file| file.path()).collect()
}

#[test]
fn everything_a_hook_could_not_write_comes_back_in_order_and_with_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    put(folder.path(), &told("second", at(20)), at(20));
    put(folder.path(), &told("first", at(10)), at(10));
    let output = NewEntry {
        text: b"what it printed\n".repeat(3),
        ..NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, "make")
    };
    let guide = Guide { text: "where it stood".into(), waiting: true };
    put(folder.path(), &SpoolRecord { output: Some(output), guide: Some(guide), ..SpoolRecord::default() }, at(30));
    assert_eq!(store.take_in().unwrap(), 3);
    let log = log(&store);
    assert_eq!(log[..2], [("first".to_owned(), 10), ("second".to_owned(), 20)]);
    assert_eq!((log.len(), log[2].1), (3, 30));
    assert_eq!(store.take_waiting_guide(&here()).unwrap().unwrap(), "where it stood");
    assert_eq!(store.hooks_seen().unwrap()[0].count, 2);
    let hits = store.search(&here(), &weir_core::Query::new("printed", 5)).unwrap().hits;
    let text = store.text(&here(), hits[0].entry.reference).unwrap().unwrap().all().unwrap();
    assert_eq!(text, b"what it printed\n".repeat(3));
    assert!(!folder.path().join("spool").exists());
}

#[test]
fn a_look_at_a_store_makes_no_file_and_leaves_the_spool() {
    let folder = tempfile::tempdir().unwrap();
    let look =
        |folder: &Path| Store::open_as_is(folder, Owner::Project(project()), Limits::default(), Patience::default());
    let nowhere = folder.path().join("nowhere");
    assert!(look(&nowhere).is_err() && !nowhere.exists());
    drop(open(folder.path()));
    put(folder.path(), &told("waiting", at(10)), at(10));
    let before = crate::dump::files(folder.path());
    let mut store = look(folder.path()).unwrap();
    store.check_writable().unwrap();
    let health = store.check().unwrap();
    assert!(health.log_problems.is_empty() && health.index_problems.is_empty(), "{health:?}");
    drop(store);
    assert_eq!(crate::dump::files(folder.path()), before);
    assert_eq!(log(&open(folder.path())), [("waiting".to_owned(), 10)]);
}

#[test]
fn a_record_that_stayed_behind_after_a_crash_is_not_taken_in_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    put(folder.path(), &told("once", NOW), NOW);
    let [record] = records(folder.path()).try_into().unwrap();
    let bytes = std::fs::read(&record).unwrap();
    store.take_in().unwrap();
    for _ in 0..2 {
        // The process was killed between the end of the transaction and the removal of the file.
        std::fs::create_dir_all(record.parent().unwrap()).unwrap();
        std::fs::write(&record, &bytes).unwrap();
        assert_eq!(store.take_in().unwrap(), 0);
        assert!(records(folder.path()).is_empty());
    }
    assert_eq!(log(&store).len(), 1);
}

#[test]
fn eight_that_open_the_store_at_once_take_in_each_record_once() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path()));
    for number in 0..600 {
        put(folder.path(), &told(&format!("record {number:03}"), at(number)), at(number));
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| while !records(folder.path()).is_empty() && open(folder.path()).take_in().is_ok() {});
        }
    });
    let expected: Vec<_> = (0..600).map(|number| (format!("record {number:03}"), number)).collect();
    assert_eq!(log(&open(folder.path())), expected);
}

#[test]
fn a_record_that_cannot_be_read_is_set_aside_and_holds_up_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    put(folder.path(), &told("before", at(1)), at(1));
    let spool = Spool::beside(folder.path());
    std::fs::write(spool.folder().join("000000000000002-x.record"), b"{\"version\":1,\"at").unwrap();
    put(folder.path(), &told("after", at(3)), at(3));
    assert_eq!(store.take_in().unwrap(), 2);
    assert_eq!(log(&store).len(), 2);
    assert_eq!(spool.waiting().unwrap(), (0, 1));
}

#[cfg(unix)]
#[test]
fn a_record_that_cannot_be_read_now_waits_and_is_taken_in_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    put(folder.path(), &told("first", at(1)), at(1));
    put(folder.path(), &told("second", at(2)), at(2));
    let mut all = records(folder.path());
    all.sort();
    // A name that leads to itself is neither absent nor damaged.
    let away = all[0].with_extension("away");
    std::fs::rename(&all[0], &away).unwrap();
    std::os::unix::fs::symlink(&all[0], &all[0]).unwrap();
    assert!(store.take_in().is_err_and(|error| error.may_pass()));
    assert_eq!(Spool::beside(folder.path()).waiting().unwrap(), (2, 0));
    std::fs::rename(&away, &all[0]).unwrap();
    assert_eq!(store.take_in().unwrap(), 2);
    assert_eq!(log(&store), [("first".to_owned(), 1), ("second".to_owned(), 2)]);
}

#[test]
fn sound_records_wait_while_the_log_is_at_fault() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    put(folder.path(), &told("sound", at(1)), at(1));
    let log_file = crate::dump::meddle_with(&folder.path().join("log.db"));
    let fault = "CREATE TRIGGER fault BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'a fault of the log'); END";
    log_file.execute_batch(fault).unwrap();
    assert!(store.take_in().is_err());
    assert_eq!(Spool::beside(folder.path()).waiting().unwrap(), (1, 0));
    log_file.execute_batch("DROP TRIGGER fault").unwrap();
    assert_eq!(store.take_in().unwrap(), 1);
}

#[test]
fn a_sound_record_that_was_set_aside_is_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    put(folder.path(), &told("sound", at(1)), at(1));
    let [record] = records(folder.path()).try_into().unwrap();
    std::fs::rename(&record, record.with_extension("unreadable")).unwrap();
    store.tidy(at(2)).unwrap();
    assert_eq!(store.take_in().unwrap(), 1);
    assert_eq!(log(&store), [("sound".to_owned(), 1)]);
}

#[test]
fn a_record_that_cannot_be_set_aside_is_an_error_and_not_an_endless_loop() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let spool = Spool::beside(folder.path());
    // A folder in the way of the new name, which cannot be replaced.
    std::fs::create_dir_all(spool.folder().join("000000000000002-x.unreadable/full")).unwrap();
    std::fs::write(spool.folder().join("000000000000002-x.record"), b"{").unwrap();
    assert!(store.take_in().is_err());
}

#[test]
fn a_record_is_written_although_the_emptied_folder_is_being_removed() {
    const ROUNDS: u32 = 1_000;
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::beside(folder.path());
    let begin = std::sync::Barrier::new(2);
    let mut failed = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                begin.wait();
                // A little later in every round, so that it happens at each point of the write.
                (0..round * 8).for_each(|_| std::hint::spin_loop());
                let _ = std::fs::remove_dir(spool.folder());
            }
        });
        for _ in 0..ROUNDS {
            begin.wait();
            failed += u32::from(spool.put(&here(), &told("kept", NOW), &Limits::default(), NOW).is_err());
            records(folder.path()).iter().for_each(|record| drop(std::fs::remove_file(record)));
        }
    });
    assert_eq!(failed, 0);
}

#[test]
fn a_spool_is_bounded_and_says_when_it_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let text = vec![b'a'; 8 << 20];
    let output = NewEntry { text, ..NewEntry::new(EntryKind::Run, Origin::Tool, Level::Project, "make") };
    let spooled = SpoolRecord { output: Some(output), ..SpoolRecord::default() };
    let put = || Spool::beside(folder.path()).put(&here(), &spooled, &Limits::default(), NOW);
    let written = (0..20).take_while(|_| put().is_ok()).count();
    assert_eq!(written, 7, "64 MiB in all");
    assert!(matches!(put(), Err(StoreError::Unusable { .. })));
    assert_eq!(records(folder.path()).len(), 7, "what does not fit leaves nothing behind");
}

#[test]
fn secrets_do_not_reach_the_spool() {
    let folder = tempfile::tempdir().unwrap();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    put(folder.path(), &told(&format!("my token is {secret}"), NOW), NOW);
    let [record] = records(folder.path()).try_into().unwrap();
    assert!(!String::from_utf8_lossy(&std::fs::read(record).unwrap()).contains(secret));
}
