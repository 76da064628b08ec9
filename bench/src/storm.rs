//! Measures eight concurrent writers, through the store and, in the same run, into a bare table.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rusqlite::{Connection, TransactionBehavior, params};
use weir_core::{
    EntryKind, Event, EventKind, Level, Limits, NewEntry, Note, NoteKind, Origin, Priority, ProjectKey, Scope,
    SessionKey, Timestamp,
};
use weir_store::{Owner, Store};

use crate::figures::Figures;

const PROCESSES: usize = 8;
const EVENTS: usize = 5_000;
const NOTES: usize = 500;
/// The maximum p99 of an append, as a multiple of a bare insert.
const MAX_P99_RATIO: f64 = 3.0;

pub(crate) fn run() -> bool {
    println!("{PROCESSES} processes x {EVENTS} events and {NOTES} notes, microseconds per call\n");
    println!("{:<34} {:>9} {:>9} {:>9} {:>9} {:>9}", "", "p50", "p95", "p99", "max", "wall s");
    // Twice each, alternating, so that neither gets the quiet half of the run alone.
    let mut events = [Figures::default(), Figures::default()];
    for _ in 0..2 {
        for (kind, into) in [("bare", 0), ("weir", 1)] {
            let (figures, seconds) = round(kind, "events");
            row(&format!("event, {kind}"), &figures, seconds);
            merge(&mut events[into], &figures);
        }
    }
    for kind in ["bare", "weir"] {
        let (figures, seconds) = round(kind, "notes");
        row(&format!("note, {kind} (waits for the disk)"), &figures, seconds);
    }
    let alone: Vec<Figures> = ["bare", "weir"].map(alone).to_vec();
    row("event alone, bare", &alone[0], 0.0);
    row("event alone, weir", &alone[1], 0.0);
    let ratio = events[1].quantile(0.99) / events[0].quantile(0.99);
    println!("\nappend p99, weir to bare: {ratio:.2} (at most {MAX_P99_RATIO})");
    println!("append p50 alone, weir to bare: {:.2}", alone[1].quantile(0.5) / alone[0].quantile(0.5));
    ratio <= MAX_P99_RATIO
}

fn row(name: &str, figures: &Figures, seconds: f64) {
    println!(
        "{name:<34} {:>9.0} {:>9.0} {:>9.0} {:>9.0} {seconds:>9.1}",
        figures.quantile(0.5),
        figures.quantile(0.95),
        figures.quantile(0.99),
        figures.quantile(1.0)
    );
}

fn merge(into: &mut Figures, from: &Figures) {
    into.extend_from_lines(&from.to_lines());
}

/// Runs one storm: all processes at once in a new folder.
fn round(kind: &str, what: &str) -> (Figures, f64) {
    let folder = tempfile::tempdir().unwrap();
    prepare(kind, folder.path());
    let start = Instant::now();
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| {
            Command::new(std::env::current_exe().unwrap())
                .args(["storm-child", &format!("{kind}-{what}")])
                .arg(folder.path())
                .arg(number.to_string())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let mut figures = Figures::default();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        figures.extend_from_lines(&String::from_utf8(output.stdout).unwrap());
    }
    let seconds = start.elapsed().as_secs_f64();
    check(kind, what, folder.path());
    (figures, seconds)
}

/// Runs a single process without competition.
fn alone(kind: &str) -> Figures {
    let folder = tempfile::tempdir().unwrap();
    prepare(kind, folder.path());
    write(&format!("{kind}-events"), folder.path(), 0)
}

/// Runs one process of the storm and prints its durations.
pub(crate) fn child(kind: &str, folder: &Path, number: &str) -> bool {
    print!("{}", write(kind, folder, number.parse().unwrap()).to_lines());
    true
}

fn write(kind: &str, folder: &Path, number: usize) -> Figures {
    let mut figures = Figures::default();
    match kind {
        "weir-events" => {
            let mut store = open(folder);
            let scope = scope(number);
            for n in 0..EVENTS {
                let event = event(number, n);
                figures.measure(|| store.append(&scope, &event, now(n)).unwrap());
            }
        }
        "weir-notes" => {
            let mut store = open(folder);
            let scope = scope(number);
            for n in 0..NOTES {
                let note = note(number, n);
                figures.measure(|| store.keep(&scope, note, now(n)).unwrap());
            }
        }
        "bare-events" => bare_events(folder, number, &mut figures),
        "bare-notes" => bare_notes(folder, number, &mut figures),
        other => panic!("no such storm: {other}"),
    }
    figures
}

fn bare_events(folder: &Path, number: usize, figures: &mut Figures) {
    let mut db = bare(folder, "NORMAL");
    for n in 0..EVENTS {
        let event = event(number, n);
        figures.measure(|| {
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            tx.prepare_cached(
                "INSERT INTO events (at, session, work, kind, priority, text, data) VALUES (?,?,?,?,?,?,?)",
            )
            .unwrap()
            .execute(params![n as i64, number as i64, 1, "prompt", "P1", event.text, event.data])
            .unwrap();
            tx.commit().unwrap();
        });
    }
}

fn bare_notes(folder: &Path, number: usize, figures: &mut Figures) {
    let mut db = bare(folder, "FULL");
    for n in 0..NOTES {
        let text = note(number, n).text;
        figures.measure(|| {
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            tx.prepare_cached("INSERT INTO notes (at, text) VALUES (?, ?)")
                .unwrap()
                .execute(params![n as i64, text])
                .unwrap();
            tx.commit().unwrap();
        });
    }
}

fn prepare(kind: &str, folder: &Path) {
    if kind == "weir" {
        drop(open(folder));
    } else {
        bare(folder, "FULL")
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE events (id INTEGER PRIMARY KEY, at, session, work, kind, priority, text, data);
                 CREATE TABLE notes (id INTEGER PRIMARY KEY, at, text);",
            )
            .unwrap();
    }
}

/// Checks that nothing is lost and nothing is duplicated.
fn check(kind: &str, what: &str, folder: &Path) {
    let (file, table, expected) = match (kind, what) {
        ("weir", "events") => ("log.db", "events", EVENTS),
        ("weir", _) => ("log.db", "notes", NOTES),
        (_, "events") => ("bare.db", "events", EVENTS),
        (_, _) => ("bare.db", "notes", NOTES),
    };
    let db = Connection::open(folder.join(file)).unwrap();
    let count: i64 = db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
    let integrity: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!((count, integrity.as_str()), ((expected * PROCESSES) as i64, "ok"));
}

fn bare(folder: &Path, synchronous: &str) -> Connection {
    let db = Connection::open(folder.join("bare.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
    db.execute_batch(&format!("PRAGMA synchronous = {synchronous}")).unwrap();
    db
}

fn open(folder: &Path) -> Store {
    Store::open(folder, Owner::Project(ProjectKey("storm".into())), Limits::default()).unwrap()
}

fn scope(number: usize) -> Scope {
    Scope {
        work: Some("main".into()),
        session: Some(SessionKey { client: "bench".into(), key: number.to_string() }),
        ..Scope::project(ProjectKey("storm".into()))
    }
}

fn event(number: usize, n: usize) -> Event {
    Event {
        kind: EventKind::Prompt,
        priority: Priority::P1,
        text: format!("event {n} of process {number}: read src/store.rs and changed the order of two calls"),
        data: Some(format!("{{\"tool\":\"Read\",\"path\":\"src/store.rs\",\"n\":{n}}}")),
        whole: None,
    }
}

fn note(number: usize, n: usize) -> NewEntry {
    let title = format!("note {n} of process {number}");
    NewEntry {
        text: crate::text::paragraph((number * NOTES + n) as u64).into_bytes(),
        note: Some(Note::new(NoteKind::Finding)),
        ..NewEntry::new(EntryKind::Note, Origin::Model, Level::Project, title)
    }
}

fn now(n: usize) -> Timestamp {
    Timestamp(1_800_000_000_000 + n as i64)
}
