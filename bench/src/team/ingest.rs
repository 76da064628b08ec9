//! Appends all entries to the log, and inserts the same rows into plain tables: the same batches, from four threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use serde_json::{Value, json};
use weir_records::{Log as _, Record};
use weir_team::PostgresLog;

use super::bare::{self, BareRows};
use super::database::Database;
use super::made::Made;
use crate::figures::Figures;

pub(super) const THREADS: usize = 4;

pub(super) fn run(made: &Made, database: &Database) -> Vec<Value> {
    bare::create(database);
    let batches = made.batches();
    let rows = made.entries.len() as f64;
    super::progress("bare inserts");
    let bare: Vec<BareRows> = batches.iter().map(|batch| BareRows::of(made, batch)).collect();
    let plain = insert_bare(database, &bare, "bare_rows");
    let with_keys = insert_bare(database, &bare, "bare_keys");
    drop(bare);
    super::progress("appends to the log");
    let records: Vec<Vec<Record>> =
        batches.iter().map(|batch| batch.iter().map(|entry| made.record(*entry)).collect()).collect();
    let log = PostgresLog::open(&database.options(), database.bridge()).unwrap();
    let (records, batches, log) = (&records, &batches, &log);
    let appended = in_threads(records.len(), || {
        move |at: usize| {
            let batch = &records[at];
            let scope = made.scope(batches[at][0].tenant);
            assert_eq!(log.append(&scope, batch).unwrap().len(), batch.len());
        }
    });
    let row = |what: &str, taken: &Taken| {
        json!({
            "what": what,
            "rows_per_second": rows / taken.seconds,
            "p50_ms": taken.batches.quantile(0.5) / 1e3,
            "p99_ms": taken.batches.quantile(0.99) / 1e3,
            // More is better: how fast the log is next to this one.
            "log_to_this": taken.seconds / appended.seconds,
        })
    };
    vec![
        row("append to the log", &appended),
        row("bare inserts, primary key only", &plain),
        row("bare inserts, all keys of the log", &with_keys),
    ]
}

fn insert_bare(database: &Database, batches: &[BareRows], table: &str) -> Taken {
    in_threads(batches.len(), || {
        let client = database.connect();
        let statement = database.bridge().block_on(bare::prepare(&client, table));
        move |at: usize| database.bridge().block_on(batches[at].insert(&client, &statement))
    })
}

/// How long all batches took, and each of them.
pub(super) struct Taken {
    pub(super) seconds: f64,
    pub(super) batches: Figures,
}

/// Runs work of these numbers in threads, each of which prepares itself once before the time counts.
pub(super) fn in_threads<W: Fn(usize)>(count: usize, prepare: impl Fn() -> W + Sync) -> Taken {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Figures::default()));
    let ready = std::sync::Barrier::new(THREADS + 1);
    let start = std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let work = prepare();
                let mut figures = Figures::default();
                ready.wait();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    figures.measure(|| work(at));
                }
                all.lock().unwrap().extend_from_lines(&figures.to_lines());
            });
        }
        ready.wait();
        Instant::now()
    });
    Taken { seconds: start.elapsed().as_secs_f64(), batches: all.into_inner().unwrap() }
}
