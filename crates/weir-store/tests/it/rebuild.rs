//! Tests that the index is derived: whatever happened to the store or to the index file, it can be rebuilt from the
//! log, with the same result.
#![expect(clippy::disallowed_methods, reason = "a child must be given time to be in the middle of something")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use weir_core::{EntryKind, Level, NewEntry, Note, Reference, Timestamp};
use weir_store::{Store, StoreError};

use crate::dump;
use crate::process::{self, ChildGuard};
use crate::support::{
    Dice, NOW, assert_healthy, at, blank_noise, day, entry, forget, here, keep, keep_at, new_store, noise, noisy_word,
    note, note_on, note_with, open, plain_note, run, scope_in, search, sweep, text, these,
};

/// Queries that together cover words, phrases, prefixes, parts of words and other scripts.
const QUERIES: &[&str] =
    &["alpha", "beta gamma", "\"gamma delta\"", "del*", "elt", "検索", "parse", "title", "omega alpha 7"];

/// Returns the hits of all queries, in full detail.
fn answers(store: &mut Store) -> Vec<String> {
    let hits = QUERIES.iter().flat_map(|query| search(store, query));
    hits.map(|hit| format!("{:?} {} {} {:?} {}", hit.entry.reference, hit.ordinal, hit.line, hit.excerpt, hit.score))
        .collect()
}

/// Asserts that the index has the same tables and gives the same answers after a rebuild.
pub(crate) fn check_rebuild(folder: &Path, store: &mut Store) {
    store.catch_up().unwrap();
    let (before, said) = (dump::index(folder), answers(store));
    store.rebuild_index(|_| ()).unwrap();
    dump::assert_same(&before, &dump::index(folder));
    dump::assert_same(&said, &answers(store));
    assert_healthy(store);
}

fn words(dice: &mut Dice, most: u64) -> String {
    const WORDS: &[&str] =
        &["alpha", "beta", "gamma", "delta", "omega", "parseHttp", "検索機能", "snake_case", "\n", "\n\n", "été"];
    let count = dice.roll(most);
    (0..count).map(|_| format!("{} ", dice.pick(WORDS))).collect()
}

/// Makes random changes: entries of all kinds and sizes, revisions, supersessions, forgetting, expiry, restarts.
fn live(folder: &Path, store: &mut Store, seed: u64) {
    let mut dice = Dice::new(seed);
    let mut now = NOW;
    let mut notes: Vec<Reference> = Vec::new();
    let mut others: Vec<Reference> = Vec::new();
    for step in 0..80 {
        now = Timestamp(now.0 + 3_600_000 * dice.roll(30) as i64);
        let scope = scope_in(
            [None, Some("main"), Some("side")][dice.roll(3) as usize],
            [None, Some("s1")][dice.roll(2) as usize],
        );
        let level = *dice.pick(&[Level::Project, Level::Work, Level::Session]);
        let level = if scope.can_hold(level) { level } else { Level::Project };
        match dice.roll(12) {
            0..=3 => {
                let kind = *dice.pick(&[EntryKind::Run, EntryKind::Page, EntryKind::Document, EntryKind::File]);
                let title = format!("title {}", words(&mut dice, 4));
                let made = NewEntry { level, title, ..entry(kind, words(&mut dice, 60)) };
                others.push(store.keep(&scope, made, now).unwrap().reference);
            }
            4 => others.push(keep_at(store, run(words(&mut dice, 1_000)), now).reference),
            5 => others.push(
                keep_at(store, run([words(&mut dice, 99).into_bytes(), blank_noise(step, 40_000)].concat()), now)
                    .reference,
            ),
            6 | 7 => notes.push(
                keep_at(store, note_on(["pool", "cache"][dice.roll(2) as usize], words(&mut dice, 40)), now).reference,
            ),
            8 => {
                let cited = others.last().map_or(String::new(), ToString::to_string);
                let known =
                    |note: &&Reference| matches!(store.get(&here(), **note, now).unwrap(), weir_store::Found::Here(_));
                let supersedes = notes.iter().rev().filter(known).take(1).copied().collect();
                let made = note_with(Note { supersedes, ..plain_note() }, format!("{} {cited}", words(&mut dice, 30)));
                notes.push(keep_at(store, made, now).reference);
            }
            9 | 10 => {
                let from = if dice.roll(2) == 0 { &mut notes } else { &mut others };
                if !from.is_empty() {
                    let gone = from.remove(dice.roll(from.len() as u64) as usize);
                    forget(store, &these(&[gone]));
                }
            }
            _ => {
                store.sweep(now).unwrap();
                *store = open(folder);
            }
        }
    }
}

#[test]
fn an_index_made_again_is_the_same_after_any_life() {
    for seed in 1..=3 {
        println!("seed {seed}");
        let (folder, mut store) = new_store();
        live(folder.path(), &mut store, seed);
        check_rebuild(folder.path(), &mut store);
        sweep(&mut store, day(4_000));
        check_rebuild(folder.path(), &mut store);
    }
}

/// Returns a closed store after random changes, with the contents of its index and its answers.
fn closed_store() -> (tempfile::TempDir, Vec<String>, Vec<String>) {
    let (folder, mut store) = new_store();
    live(folder.path(), &mut store, 99);
    let said = answers(&mut store);
    assert!(said.len() > 20, "{}", said.len());
    drop(store);
    let index = dump::index(folder.path());
    (folder, index, said)
}

#[test]
fn a_deleted_index_comes_back_by_itself() {
    for leave_side_files in [false, true] {
        let (folder, index, said) = closed_store();
        let path = folder.path().join("index.db");
        if leave_side_files {
            // What a killed process leaves, if someone deletes only the index file itself.
            std::fs::write(folder.path().join("index.db-wal"), noise(1, 50_000)).unwrap();
            std::fs::write(folder.path().join("index.db-shm"), noise(2, 32_768)).unwrap();
        }
        std::fs::remove_file(&path).unwrap();
        let mut store = open(folder.path());
        dump::assert_same(&said, &answers(&mut store));
        dump::assert_same(&index, &dump::index(folder.path()));
        assert_healthy(&mut store);
    }
}

/// Damages the index file, and checks that this is reported, that nothing else is affected, and that a rebuild fixes
/// it.
fn check_damage(damage: impl Fn(&mut Vec<u8>), kept_aside: bool) {
    let (folder, index, said) = closed_store();
    let path = folder.path().join("index.db");
    let mut bytes = std::fs::read(&path).unwrap();
    damage(&mut bytes);
    std::fs::write(&path, &bytes).unwrap();
    let mut store = open(folder.path());
    let health = store.check().unwrap();
    assert!(health.log_problems.is_empty() && !health.index_problems.is_empty(), "{health:?}");
    // Entries can still be kept, and the result says what could not be done.
    let kept = store.keep(&here(), note("while the index is damaged"), at(5)).unwrap();
    assert_eq!(text(&store, kept.reference), b"while the index is damaged");
    store.rebuild_index(|_| ()).unwrap();
    let aside = folder.path().join("index.db.damaged");
    assert_eq!(aside.exists(), kept_aside);
    if kept_aside {
        assert_eq!(std::fs::read(&aside).unwrap(), bytes, "the damaged file is there to be looked at");
    }
    assert_eq!(search(&mut store, "damaged").len(), 1);
    forget(&mut store, &these(&[kept.reference]));
    assert!(!aside.exists(), "it may have the words of what is forgotten");
    dump::assert_same(&said, &answers(&mut store));
    dump::assert_same(&index, &dump::index(folder.path()));
    assert_healthy(&mut store);
}

#[test]
fn an_index_of_garbage_is_reported_and_repaired_and_kept_aside() {
    check_damage(|bytes| bytes.clone_from(&noise(1, 60_000)), true);
    check_damage(|bytes| bytes[..100].fill(b'x'), true);
}

#[test]
fn an_index_with_damaged_pages_is_reported_and_repaired() {
    let page = 4096;
    check_damage(
        |bytes| {
            for number in (2..bytes.len() / page).step_by(2) {
                bytes[number * page..(number + 1) * page].copy_from_slice(&noise(number as u64, page));
            }
        },
        true,
    );
    check_damage(|bytes| bytes.truncate(bytes.len() / 2), true);
}

#[test]
fn a_search_in_a_damaged_index_says_that_it_is_damaged() {
    let (folder, ..) = closed_store();
    std::fs::write(folder.path().join("index.db"), noise(1, 60_000)).unwrap();
    let mut store = open(folder.path());
    let refused = store.search(&here(), &weir_core::Query::new("alpha", 5));
    assert!(matches!(refused, Err(StoreError::Damaged { .. })), "{refused:?}");
    let kept = store.keep(&here(), note("kept all the same"), NOW).unwrap();
    assert!(matches!(kept.unfinished, Some(StoreError::Damaged { .. })), "{:?}", kept.unfinished);
}

#[test]
fn an_index_that_is_ahead_of_its_log_is_made_again() {
    // The log comes from a backup, the index does not.
    let (folder, mut store) = new_store();
    keep(&mut store, note("the first"));
    drop(store);
    let backup = std::fs::read(folder.path().join("log.db")).unwrap();
    let mut store = open(folder.path());
    for n in 0..20 {
        keep(&mut store, note(format!("lost {n}")));
    }
    drop(store);
    std::fs::write(folder.path().join("log.db"), backup).unwrap();
    let mut store = open(folder.path());
    keep(&mut store, note("the second"));
    assert_eq!(search(&mut store, "second").len(), 1);
    assert!(search(&mut store, "lost").is_empty());
    check_rebuild(folder.path(), &mut store);
}

/// The child of the next test: rebuilds over and over.
#[test]
fn rebuilding_child() {
    let Some(task) = process::task() else { return };
    let mut store = open(Path::new(&task[0]));
    println!("begun");
    loop {
        store.rebuild_index(|_| ()).unwrap();
    }
}

#[test]
fn a_process_killed_in_the_middle_of_rebuilding_loses_nothing() {
    let (folder, mut store) = new_store();
    live(folder.path(), &mut store, 5);
    for n in 0..20 {
        keep(&mut store, run((0..1_500).map(|k| noisy_word(n * 40 + k % 200, 6) + " ").collect::<String>()));
    }
    let (index, said) = (dump::index(folder.path()), answers(&mut store));
    drop(store);
    let mut dice = Dice::new(3);
    let mut in_the_middle = 0;
    for round in 0..12 {
        let mut command = process::child("rebuild::rebuilding_child", &[folder.path().to_str().unwrap()]);
        let mut child = ChildGuard(command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("begun")), "the child did not begin");
        std::thread::sleep(Duration::from_millis(1 + dice.roll(300)));
        child.kill();
        let documents = dump::number(&dump::look_at(&folder.path().join("index.db")), "SELECT count(*) FROM documents");
        let mut store = open(folder.path());
        dump::assert_same(&said, &answers(&mut store));
        if round % 4 == 3 {
            dump::assert_same(&index, &dump::index(folder.path()));
        }
        assert_healthy(&mut store);
        let all = dump::number(&dump::look_at(&folder.path().join("index.db")), "SELECT count(*) FROM documents");
        in_the_middle += usize::from(documents < all);
    }
    assert!(in_the_middle > 0, "no kill came in the middle; the test shows nothing");
}
