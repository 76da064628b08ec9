//! Measures writes and searches at growing sizes, next to a bare full-text table with the same texts.

use std::path::Path;

use rusqlite::{Connection, params};
use weir_core::{EntryKind, Level, Limits, NewEntry, Origin, ProjectKey, Query, Scope, Timestamp, query};
use weir_store::{Owner, Store};

use crate::figures::Figures;
use crate::text::{paragraph, word};

const DEFAULT_SIZES: [u64; 3] = [1_000, 100_000, 1_000_000];
const KEEPS: u64 = 400;
const SEARCHES: usize = 60;
/// The maximum cost of a write at the largest size, as a multiple of that at the smallest.
const MAX_GROWTH: f64 = 2.0;
/// The maximum cost of a search, as a multiple of the bare query.
const MAX_SEARCH_RATIO: f64 = 1.5;

pub(crate) fn run(sizes: &[&str]) -> bool {
    let given: Vec<u64> = sizes.iter().map(|size| size.parse().unwrap()).collect();
    let sizes = if given.is_empty() { DEFAULT_SIZES.to_vec() } else { given };
    let folder = tempfile::tempdir().unwrap();
    let mut weir = Store::open(&folder.path().join("weir"), Owner::Project(key()), Limits::default()).unwrap();
    let mut bare = bare(folder.path());
    let mut filled = 0;
    let mut keeps = Vec::new();
    let mut good = true;
    println!("{:>9} {:>22} {:>22} {:>9}", "entries", "keep us p50/mean", "bare us p50/mean", "disk MB");
    for size in sizes {
        fill(&mut weir, &mut bare, filled, size - KEEPS);
        let (keep, insert) = keep_some(&mut weir, &mut bare, size);
        filled = size;
        println!(
            "{size:>9} {:>12.0} /{:>7.0} {:>12.0} /{:>7.0} {:>9.0}",
            keep.quantile(0.5),
            keep.mean(),
            insert.quantile(0.5),
            insert.mean(),
            disk(&folder.path().join("weir"))
        );
        keeps.push(keep.mean());
        good &= search_all(&mut weir, &bare, size);
    }
    let growth = keeps.last().unwrap() / keeps.first().unwrap();
    println!("\nkeep, largest to smallest: {growth:.2} (at most {MAX_GROWTH})");
    good && growth <= MAX_GROWTH
}

/// Fills both to this size. The store has no bulk insert: every entry is written as in normal use.
fn fill(weir: &mut Store, bare: &mut Connection, from: u64, to: u64) {
    let tx = bare.transaction().unwrap();
    for number in from..to {
        weir.keep(&scope(), entry(number), now(number)).unwrap();
        insert_bare(&tx, number);
    }
    tx.commit().unwrap();
}

fn keep_some(weir: &mut Store, bare: &mut Connection, size: u64) -> (Figures, Figures) {
    let (mut keep, mut insert) = (Figures::default(), Figures::default());
    for number in size - KEEPS..size {
        let entry = entry(number);
        keep.measure(|| weir.keep(&scope(), entry, now(number)).unwrap());
        insert.measure(|| {
            let tx = bare.transaction().unwrap();
            insert_bare(&tx, number);
            tx.commit().unwrap();
        });
    }
    (keep, insert)
}

/// Measures searches of each sort, alternating between the store and the bare query.
fn search_all(weir: &mut Store, bare: &Connection, size: u64) -> bool {
    let mut good = true;
    for (sort, texts) in sorts(size) {
        let (mut ours, mut theirs) = (Figures::default(), Figures::default());
        for round in 0..SEARCHES {
            let text = &texts[round % texts.len()];
            let query = Query::new(text.clone(), 10);
            let hits = ours.measure(|| weir.search(&scope(), &query).unwrap().hits);
            let rows = theirs.measure(|| search_bare(bare, text));
            // For a word that occurs nowhere, the store also tries others that are spelt like it.
            assert!(hits.len() >= rows, "{} hits for {text}, and {rows} without the store", hits.len());
        }
        let ratio = ours.quantile(0.5) / theirs.quantile(0.5);
        let late = ours.quantile(0.95) / theirs.quantile(0.95);
        println!(
            "          search, {sort:<22} weir {:>8.0} us  bare {:>8.0} us  p50 ratio {ratio:.2}  p95 ratio {late:.2}",
            ours.quantile(0.5),
            theirs.quantile(0.5)
        );
        good &= ratio <= MAX_SEARCH_RATIO;
    }
    good
}

fn sorts(size: u64) -> Vec<(&'static str, Vec<String>)> {
    let many = |make: &dyn Fn(u64) -> String| (0..20).map(make).collect::<Vec<_>>();
    vec![
        ("a unique word", many(&|n| format!("unique{}", n * (size / 21)))),
        ("two uncommon words", many(&|n| format!("{} {}", word(2_000 + n * 97), word(1_500 + n * 31)))),
        ("four middling words", many(&|n| (0..4).map(|i| word(900 + n * 13 + i * 211)).collect::<Vec<_>>().join(" "))),
        ("with a very common word", many(&|n| format!("{} {}", word(1 + n % 4), word(700 + n * 7)))),
    ]
}

/// Runs the bare query: the same terms, the same rank, and the engine's own excerpt.
fn search_bare(bare: &Connection, text: &str) -> usize {
    let terms = query::terms(text).iter().map(|term| format!("\"{}\"", term.words.join(" "))).collect::<Vec<_>>();
    let mut statement = bare
        .prepare_cached(
            "SELECT rowid, title, snippet(plain, 1, '', '', '…', 40) FROM plain WHERE plain MATCH ?1
             ORDER BY rank LIMIT 10",
        )
        .unwrap();
    let rows = statement.query_map([terms.join(" OR ")], |row| row.get::<_, String>(2)).unwrap();
    rows.filter(Result::is_ok).count()
}

fn insert_bare(db: &Connection, number: u64) {
    let text = paragraph(number);
    db.prepare_cached("INSERT INTO plain (rowid, title, body) VALUES (?1, ?2, ?3)")
        .unwrap()
        .execute(params![number as i64 + 1, title(number), text])
        .unwrap();
}

fn bare(folder: &Path) -> Connection {
    let db = Connection::open(folder.join("bare.db")).unwrap();
    db.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE VIRTUAL TABLE plain USING fts5 (title, body, tokenize = 'porter unicode61 remove_diacritics 2');",
    )
    .unwrap();
    db
}

fn entry(number: u64) -> NewEntry {
    NewEntry {
        text: paragraph(number).into_bytes(),
        ..NewEntry::new(EntryKind::File, Origin::Tool, Level::Project, title(number))
    }
}

fn title(number: u64) -> String {
    format!("entry {number}")
}

fn key() -> ProjectKey {
    ProjectKey("scale".into())
}

fn scope() -> Scope {
    Scope { work: Some("main".into()), ..Scope::project(key()) }
}

fn now(number: u64) -> Timestamp {
    Timestamp(1_800_000_000_000 + number as i64)
}

fn disk(folder: &Path) -> f64 {
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum::<u64>() as f64 / 1e6
}
