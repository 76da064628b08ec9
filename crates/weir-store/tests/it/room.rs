//! Tests disk space: what the quota counts, the share reserved for runs, and recovery from a full disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use weir_core::{EntryKind, Limits, NewEntry, Query, Reference, Timestamp};
use weir_store::{Selection, StoreError};

use crate::dump;
#[cfg(unix)]
use crate::faults::in_namespace;
use crate::process;
use crate::support::{
    HOUR, NOW, age_log, assert_healthy, at, day, entry, event, forget, here, keep, keep_at, new_store, noise,
    noisy_word, note, open, open_with, run, scope_in, search, state, sweep, these,
};

const MIB: u64 = 1 << 20;

fn words(seed: u64, count: u64) -> String {
    (0..count).map(|n| noisy_word(seed * 100_000 + n, 9) + " ").collect()
}

#[test]
fn the_quota_counts_the_index() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { quota_bytes: MIB, ..Limits::default() });
    // Words take many times more space in the index than in the texts.
    let mut evicted = 0;
    for n in 0..40 {
        evicted += keep_at(&mut store, run(words(n, 1_500)), at(n as i64 * HOUR)).evicted;
    }
    let health = store.check().unwrap();
    assert!(evicted > 0 && health.index_bytes > health.stored_bytes, "{evicted} evicted, {health:?}");
    assert!(health.stored_bytes < MIB / 2 && health.used_bytes < 2 * MIB, "{health:?}");
}

#[test]
fn the_files_stay_near_the_quota() {
    const QUOTA: u64 = 4 * MIB;
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { quota_bytes: QUOTA, ..Limits::default() });
    // A flood, of which most is evicted, and then an ordinary day.
    for n in 0..20 {
        keep_at(&mut store, run(words(n, 20_000)), at(n as i64 * HOUR));
    }
    for n in 20..40 {
        keep_at(&mut store, run(words(n, 300)), at(n as i64 * HOUR));
        search(&mut store, "anything");
    }
    let health = store.check().unwrap();
    drop(store);
    let files: u64 = dump::files(folder.path()).iter().map(|file| fs::metadata(file).unwrap().len()).sum();
    assert!(files < QUOTA * 3 / 2, "{} of {} MiB on the disk: {health:?}", files / MIB, QUOTA / MIB);
}

#[test]
fn documents_cannot_push_out_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { quota_bytes: MIB, ..Limits::default() });
    for n in 0..30 {
        keep(&mut store, entry(EntryKind::Document, noise(n, 60_000)));
    }
    let runs: Vec<Reference> =
        (100..106).map(|n| keep_at(&mut store, run(noise(n, 40_000)), at(n as i64 * HOUR)).reference).collect();
    let states: Vec<&str> = runs.iter().map(|reference| state(&mut store, *reference)).collect();
    // A quarter of the quota fits six of them.
    assert_eq!(states, ["here"; 6]);
    keep_at(&mut store, run(noise(200, 40_000)), at(300 * HOUR));
    assert_eq!(state(&mut store, runs[0]), "evicted");
    let health = store.check().unwrap();
    assert!(health.used_bytes > health.quota_bytes, "it is told: {health:?}");
}

#[test]
fn a_lowered_quota_is_met_step_by_step() {
    let (folder, mut store) = new_store();
    for n in 0..500 {
        keep(&mut store, run(noise(n, 2_000)));
    }
    drop(store);
    let mut store = open_with(folder.path(), Limits { quota_bytes: 1, ..Limits::default() });
    let evicted: Vec<usize> = (0..3).map(|n| keep_at(&mut store, run(format!("{n}")), at(n)).evicted).collect();
    assert_eq!(evicted[..2], [200, 200], "one call may not pay for all");
    assert!(evicted[2] >= 100, "{evicted:?}");
}

#[test]
fn events_and_tombstones_do_not_pile_up() {
    let (folder, mut store) = new_store();
    let gone = keep(&mut store, note("a note")).reference;
    let stays = keep(&mut store, note("another")).reference;
    forget(&mut store, &these(&[gone]));
    keep(&mut store, note("the newest change stays, whatever its age"));
    for n in 0..3_000 {
        let session = format!("long ago {}", n / 1_000);
        store.append(&scope_in(None, Some(&session)), &event("something"), at(n)).unwrap();
    }
    let count = |sql: &str| dump::number(&dump::look_at(&folder.path().join("log.db")), sql);
    for passed in [299, 300] {
        store.tidy(day(passed)).unwrap();
    }
    assert_eq!(count("SELECT count(*) FROM events WHERE entry_id IS NULL"), 3_000, "not a moment early");
    for passed in [399, 400, 400, 400, 400] {
        store.tidy(day(passed)).unwrap();
    }
    assert!(count("SELECT count(*) FROM events WHERE entry_id IS NULL") < 10);
    assert_eq!(
        (count("SELECT count(*) FROM gone"), count("SELECT count(*) FROM sessions WHERE key = 'long ago 1'")),
        (0, 0)
    );
    assert_eq!((state(&mut store, stays), state(&mut store, gone)), ("here", "never"));
    assert_eq!(search(&mut store, "another").len(), 1);
    assert_healthy(&mut store);
}

#[test]
fn the_vocabulary_forgets_what_was_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { run_days: 1, ..Limits::default() });
    for n in 0..20 {
        keep(&mut store, run(words(n, 1_200)));
    }
    keep(&mut store, note("stays"));
    let count = || dump::number(&dump::look_at(&folder.path().join("index.db")), "SELECT count(*) FROM vocabulary");
    let before = count();
    sweep(&mut store, day(2));
    assert!(before > 10_000 && count() < 50, "{before} words, then {}", count());
}

#[test]
fn stray_files_go_without_a_doctor() {
    let (folder, mut store) = new_store();
    keep(&mut store, run(noise(1, 50_000)));
    age_log(folder.path());
    let stray = folder.path().join("blobs").join(format!("{}.zst", blake3::hash(b"nobody").to_hex()));
    fs::File::create(&stray).unwrap().set_modified(SystemTime::now() - Duration::from_secs(2 * 3600)).unwrap();
    store.tidy(NOW).unwrap();
    assert!(!stray.exists());
    fs::File::create(&stray).unwrap().set_modified(SystemTime::now() - Duration::from_secs(2 * 3600)).unwrap();
    store.tidy(at(HOUR)).unwrap();
    assert!(stray.exists(), "once a day is enough");
    store.tidy(day(2)).unwrap();
    assert!(!stray.exists());
}

#[test]
fn a_note_does_not_wait_for_the_index() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("the first"));
    let index = dump::meddle_with(&folder.path().join("index.db"));
    index.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begun = std::time::Instant::now();
    let kept = store.keep(&here(), note("the second"), NOW).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert!(kept.behind && kept.unfinished.is_none(), "{kept:?}");
    let found = store.search(&here(), &Query::new("first second", 5)).unwrap();
    assert!(found.behind && found.hits.len() == 1, "{found:?}");
    index.execute_batch("COMMIT").unwrap();
    assert_eq!(search(&mut store, "second").len(), 1);
}

#[cfg(unix)]
#[test]
fn a_store_that_was_moved_away_is_noticed() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("the first"));
    assert!(!store.was_moved());
    let place = folder.path().join("log.db");
    fs::rename(&place, folder.path().join("elsewhere.db")).unwrap();
    assert!(store.was_moved());
    fs::write(&place, b"").unwrap();
    assert!(store.was_moved());
}

#[test]
fn an_index_that_another_process_set_aside_is_opened_again() {
    let (folder, mut store) = new_store();
    keep(&mut store, note("the first"));
    for suffix in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(folder.path().join(format!("index.db{suffix}")));
    }
    keep(&mut store, note("the second"));
    assert_eq!(search(&mut store, "first second").len(), 2);
    assert_eq!(search(&mut open(folder.path()), "first second").len(), 2);
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_left_by_forgetting_or_by_a_smaller_quota() {
    for task in ["forget", "sweep"] {
        let folder = tempfile::tempdir().unwrap();
        in_namespace("mount -t tmpfs -o size=8m none \"$1\"", folder.path(), ("room::child", task));
    }
}

#[cfg(unix)]
#[test]
fn an_empty_store_without_an_index_can_be_searched_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    in_namespace("mount -t tmpfs -o size=8m none \"$1\"", folder.path(), ("room::child", "search"));
}

fn search_without_an_index(disk: &Path) {
    let [empty, used] = ["empty", "used"].map(|name| disk.join(name));
    drop(open(&empty));
    keep(&mut open(&used), note("the first"));
    for folder in [&empty, &used] {
        for suffix in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(folder.join(format!("index.db{suffix}")));
        }
    }
    fill(disk);
    let query = Query::new("first", 10);
    let found = open(&empty).search(&here(), &query).unwrap();
    assert!(found.hits.is_empty() && !found.behind);
    assert!(open(&empty).search_indexed(&here(), &query).unwrap().hits.is_empty());
    // A store that has entries but cannot be searched reports an error.
    let refused = open(&used).search(&here(), &query).err();
    assert!(matches!(refused, Some(StoreError::Full { .. })), "{refused:?}");
    fs::remove_file(disk.join("ballast")).unwrap();
    assert_eq!(search(&mut open(&used), "first").len(), 1);
}

#[test]
fn child() {
    let Some(task) = process::task() else { return };
    let disk = PathBuf::from(&task[1]);
    if task[0] == "search" {
        return search_without_an_index(&disk);
    }
    let folder = disk.join("store");
    let mut store = open(&folder);
    let mut kept = Vec::new();
    let error = loop {
        match store.keep(&here(), NewEntry { title: "output".into(), ..run(noise(kept.len() as u64, 30_000)) }, NOW) {
            Ok(output) => kept.push(output.reference),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    fill(&disk);
    drop(store);
    // A new process can still read everything.
    let mut store = open(&folder);
    for reference in &kept {
        assert_eq!(store.text(&here(), *reference).unwrap().unwrap().all().unwrap().len(), 30_000);
    }
    if task[0] == "forget" {
        let forgotten = forget(&mut store, &Selection { since: Some(Timestamp(0)), ..Selection::default() });
        assert_eq!(forgotten.entries, kept.len());
    } else {
        drop(store);
        store = open_with(&folder, Limits { quota_bytes: 400_000, ..Limits::default() });
        assert!(store.sweep(at(1)).unwrap().evicted > 10);
    }
    keep_at(&mut store, note("there is room again"), at(2));
    assert_eq!(search(&mut store, "room").len(), 1);
}

fn fill(disk: &Path) {
    use std::io::Write as _;
    let mut file = fs::File::create(disk.join("ballast")).unwrap();
    while file.write_all(&[7; 512]).is_ok() {}
}
