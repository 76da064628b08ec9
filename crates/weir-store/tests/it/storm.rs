//! Tests many processes on one project at once: everything acknowledged is there, once, in one order, and can be found.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use weir_core::{Limits, NewEntry, Query, Reference};
use weir_store::{HistoryFilter, Store};

use crate::dump;
use crate::process::{self, ChildGuard};
use crate::rebuild::check_rebuild;
use crate::support::{
    NOW, assert_healthy, at, event, here, new_store, noise, note, note_on, open, open_with, references, run, scope_in,
    search, text, these,
};

const PROCESSES: usize = 8;
const EVENTS: usize = 5_000;
const NOTES: usize = 500;

/// One process of a storm. It prints what was acknowledged, one line each.
#[test]
fn child() {
    let Some(task) = process::task() else { return };
    let (folder, number) = (Path::new(&task[1]), task[2].parse().unwrap());
    match task[0].as_str() {
        "write" => write(folder, number),
        "evict" => write_over_quota(folder, number),
        "forget" => keep_and_forget(folder, number),
        other => panic!("no such task: {other}"),
    }
}

fn event_text(process: usize, n: usize) -> String {
    format!("event {n} of process {process}")
}

/// Returns the text of a note, with a unique word, so that finding it proves something.
fn note_text(process: usize, n: usize) -> String {
    format!("note number{n}of{process} from the storm")
}

fn write(folder: &Path, process: usize) {
    let mut store = open(folder);
    let scope = scope_in(Some("main"), Some(&format!("session {process}")));
    let mut slowest = Duration::ZERO;
    for n in 0..EVENTS {
        let begun = Instant::now();
        let seq = store.append(&scope, &event(event_text(process, n)), NOW).unwrap();
        slowest = slowest.max(begun.elapsed());
        println!("ack event {seq} {process} {n}");
        if n % (EVENTS / NOTES) == 0 {
            let number = n / (EVENTS / NOTES);
            let begun = Instant::now();
            let kept = store.keep(&scope, note(note_text(process, number)), NOW).unwrap();
            slowest = slowest.max(begun.elapsed());
            assert!(kept.unfinished.is_none(), "{:?}", kept.unfinished);
            println!("ack note {} {process} {number}", kept.reference.as_str());
        }
    }
    println!("ack slowest {} {process} 0", slowest.as_millis());
}

/// What all children acknowledged: for each kind, the first word of each line by process and number.
type AcknowledgedLines = BTreeMap<String, BTreeMap<(usize, usize), String>>;

/// Starts the children at once and collects their output. Each must succeed.
fn storm(folder: &Path, task: &str) -> AcknowledgedLines {
    let folder = folder.to_str().unwrap();
    let mut children = Vec::new();
    for number in 0..PROCESSES {
        let mut command = process::child("storm::child", &[task, folder, &number.to_string()]);
        children.push(ChildGuard(command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap()));
    }
    let readers: Vec<_> = children
        .iter_mut()
        .map(|child| {
            let stdout = child.0.stdout.take().unwrap();
            // One thread each, so that no child blocks on a full pipe.
            std::thread::spawn(move || BufReader::new(stdout).lines().map(Result::unwrap).collect::<Vec<String>>())
        })
        .collect();
    let mut acknowledged = AcknowledgedLines::new();
    for (child, reader) in children.iter_mut().zip(readers) {
        for line in reader.join().unwrap() {
            let Some((_, said)) = line.split_once("ack ") else { continue };
            let words: Vec<&str> = said.split(' ').collect();
            let by = (words[2].parse().unwrap(), words[3].parse().unwrap());
            let before = acknowledged.entry(words[0].into()).or_default().insert(by, words[1].into());
            assert!(before.is_none(), "acknowledged twice: {said}");
        }
        let ended = child.0.wait().unwrap();
        assert!(ended.success(), "a child failed: {ended}");
    }
    acknowledged
}

#[test]
fn eight_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // No store exists yet, so the processes also compete to create it.
    let begun = Instant::now();
    let acknowledged = storm(folder.path(), "write");
    let took = begun.elapsed();
    let slowest: u64 = acknowledged["slowest"].values().map(|text| text.parse::<u64>().unwrap()).max().unwrap();
    let writes = PROCESSES * (EVENTS + NOTES);
    println!(
        "{writes} writes by {PROCESSES} processes in {took:.1?}: {:.0} a second, the slowest took {slowest} ms",
        writes as f64 / took.as_secs_f64()
    );
    let mut store = open(folder.path());
    check_events(&store, &acknowledged["event"]);
    check_notes(&mut store, &acknowledged["note"]);
    let log = dump::look_at(&folder.path().join("log.db"));
    assert_eq!(dump::number(&log, "SELECT count(*) FROM events"), writes as i64);
    assert_eq!(dump::number(&log, "SELECT count(DISTINCT id) FROM events"), writes as i64);
    assert_eq!(dump::number(&log, "SELECT count(*) FROM sessions"), PROCESSES as i64);
    assert_eq!(store.check().unwrap().entries, (PROCESSES * NOTES) as u64);
    assert_healthy(&mut store);
}

/// Checks that every event is there once, at the position it was acknowledged with.
fn check_events(store: &Store, acknowledged: &BTreeMap<(usize, usize), String>) {
    assert_eq!(acknowledged.len(), PROCESSES * EVENTS);
    let seqs: BTreeSet<&String> = acknowledged.values().collect();
    assert_eq!(seqs.len(), PROCESSES * EVENTS, "a place in the order was given twice");
    let mut stored = BTreeMap::new();
    let mut before = None;
    loop {
        let page = store.history(&here(), &HistoryFilter { limit: 5_000, before, ..HistoryFilter::default() }).unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.logged.seq);
        for moment in page.into_iter().filter(|moment| moment.entry.is_none()) {
            let again = stored.insert(moment.logged.event.text.clone(), moment.logged.seq.to_string());
            assert!(again.is_none(), "stored twice: {}", moment.logged.event.text);
        }
    }
    let expected: BTreeMap<String, String> =
        acknowledged.iter().map(|((process, n), seq)| (event_text(*process, *n), seq.clone())).collect();
    assert!(stored == expected, "{} events are stored, {} were acknowledged", stored.len(), expected.len());
}

/// Checks that every note is there with its text and is found; some of them by their unique word.
fn check_notes(store: &mut Store, acknowledged: &BTreeMap<(usize, usize), String>) {
    assert_eq!(acknowledged.len(), PROCESSES * NOTES);
    for ((process, n), reference) in acknowledged {
        let reference = Reference::parse(reference).unwrap();
        assert_eq!(text(store, reference), note_text(*process, *n).into_bytes());
        if n % 20 == 7 {
            let hits = store.search(&here(), &Query::new(format!("number{n}of{process}"), 1)).unwrap().hits;
            assert_eq!(references(&hits), [reference], "{n} of {process}");
        }
    }
    let found: BTreeSet<Reference> = search(store, "storm").iter().map(|hit| hit.entry.reference).collect();
    assert_eq!(found, acknowledged.values().map(|text| Reference::parse(text).unwrap()).collect());
}

/// Keeps large runs, far over the quota, so that processes evict what others are about to read or index.
fn write_over_quota(folder: &Path, process: usize) {
    let mut store = open_with(folder, Limits { quota_bytes: 200_000, ..Limits::default() });
    for n in 0..25 {
        let seed = (process * 1_000 + n) as u64;
        let mut large = noise(seed, 20_000);
        large.splice(0..0, format!("run{n}of{process} ").into_bytes());
        // Every third text is also kept by another process.
        if n % 3 == 0 {
            large = noise(n as u64, 20_000);
        }
        let kept = store.keep(&here(), NewEntry { title: format!("storm {n}"), ..run(&large) }, at(n as i64)).unwrap();
        assert!(kept.unfinished.is_none(), "{:?}", kept.unfinished);
        let cited =
            store.keep(&here(), note_on("pin", format!("{process} {n} cites {}", kept.reference)), NOW).unwrap();
        assert!(cited.unfinished.is_none(), "{:?}", cited.unfinished);
        for hit in store.search(&here(), &Query::new("storm", 10)).unwrap().hits {
            if let Some(reader) = store.text(&here(), hit.entry.reference).unwrap() {
                // An open text can be read, even if it is evicted meanwhile.
                assert_eq!(reader.all().unwrap().len() as u64, hit.entry.bytes);
            }
        }
        if n % 5 == 4 {
            store.sweep(at(n as i64)).unwrap();
        }
        let pinned = if cited.pinned.is_empty() { "evicted" } else { kept.reference.as_str() };
        println!("ack run {pinned} {process} {n}");
    }
}

#[test]
fn processes_that_evict_each_others_runs_do_not_stumble() {
    let (folder, mut store) = new_store();
    let acknowledged = storm(folder.path(), "evict");
    let mut here_still = 0;
    for reference in acknowledged["run"].values().filter(|reference| *reference != "evicted") {
        // Entries that a note cites are pinned, and stay whatever the quota says.
        assert!(!text(&store, Reference::parse(reference).unwrap()).is_empty());
        here_still += 1;
    }
    assert!(here_still > 0, "every run was evicted before it could be cited");
    assert_eq!(acknowledged["run"].len(), PROCESSES * 25);
    assert_healthy(&mut store);
    let orphans = dump::files(&folder.path().join("blobs")).len();
    let rows =
        dump::number(&dump::look_at(&folder.path().join("log.db")), "SELECT count(*) FROM blobs WHERE data IS NULL");
    assert_eq!(orphans as i64, rows, "as many files as rows that name one");
}

/// Keeps notes and forgets them again. While it checks whether anything is left, others add new chunks in the same
/// places.
fn keep_and_forget(folder: &Path, process: usize) {
    let mut store = open(folder);
    for n in 0..30 {
        let stays = store.keep(&here(), note(note_text(process, n)), NOW).unwrap().reference;
        let goes = store.keep(&here(), note(format!("forgotten{n}of{process}")), NOW).unwrap().reference;
        let selection = these(&[goes]);
        let plan = store.plan_to_forget(&here(), &selection).unwrap();
        let done = store.forget(&here(), &selection, &plan.confirmation, NOW).unwrap();
        assert!(done.entries == 1 && done.remaining.iter().all(|(_, left)| *left == 0), "{done:?}");
        println!("ack note {} {process} {n}", stays.as_str());
    }
}

#[test]
fn processes_that_forget_at_once_each_prove_it() {
    let folder = tempfile::tempdir().unwrap();
    let acknowledged = storm(folder.path(), "forget");
    let mut store = open(folder.path());
    assert_eq!(acknowledged["note"].len(), PROCESSES * 30);
    for ((process, n), reference) in &acknowledged["note"] {
        assert_eq!(text(&store, Reference::parse(reference).unwrap()), note_text(*process, *n).into_bytes());
    }
    assert!(search(&mut store, "forgotten0of0").is_empty());
    check_rebuild(folder.path(), &mut store);
}
