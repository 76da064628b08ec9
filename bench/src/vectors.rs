//! Measures search by meaning at growing sizes: its time, its size in bytes, and whether quantised vectors find what
//! the original vectors would.

use std::path::Path;
use std::time::Instant;

use weir_core::{EntryKind, Level, Limits, NewEntry, Origin, ProjectKey, Query, Scope, Timestamp};
use weir_embed::Embed;
use weir_store::quantised::{dots, quantise};
use weir_store::{Owner, Store};

use crate::figures::Figures;
use crate::semantic;
use crate::text::RandomNumbers;

const DEFAULT_SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
const SEARCHES: usize = 30;
/// The number of texts on which quantised and original vectors are compared.
const COMPARED_TEXTS: u64 = 20_000;
/// The maximum number of turns in an entry, since an entry is indexed in full up to 8 MiB.
const MAX_TURNS_PER_ENTRY: u64 = 100_000;

/// Words that the texts are made of. The questions use other words for nearly the same things, which no text contains.
const WORDS: [&str; 48] = [
    "database", "pool", "connection", "timeout", "server", "client", "request", "answer", "password", "hash", "image",
    "upload", "invoice", "customer", "payment", "refund", "deploy", "production", "branch", "commit", "merge", "test",
    "failure", "retry", "queue", "worker", "memory", "leak", "cache", "disk", "file", "folder", "network", "proxy",
    "certificate", "browser", "button", "form", "language", "translation", "clock", "zone", "color", "font", "road",
    "river", "garden", "kitchen",
];
const QUESTIONS: [&str; 10] = [
    "SQL storage exhausted sockets", "picture transmitting", "bill reimbursed shopper", "release rollout",
    "credential digest secrecy", "internet gateway TLS", "linguistic localization", "RAM consumption",
    "typography hue", "stream brook",
];

pub(crate) fn run(sizes: &[&str]) -> bool {
    let given: Vec<u64> = sizes.iter().map(|size| size.parse().unwrap()).collect();
    let sizes = if given.is_empty() { DEFAULT_SIZES.to_vec() } else { given };
    let recall = recall_of_bytes();
    println!("the ten nearest by bytes, of those by whole numbers, {COMPARED_TEXTS} texts: {:.1} %\n", recall * 100.0);
    println!("| chunks | search p50, ms | p95, ms | vectors, bytes per chunk | embedding, µs per chunk |");
    println!("| --- | --- | --- | --- | --- |");
    for size in sizes {
        measure(size);
    }
    recall > 0.95
}

fn measure(size: u64) {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Owner::Project(key()), Limits::default()).unwrap();
    for first in (0..size).step_by(MAX_TURNS_PER_ENTRY as usize) {
        let turns = (first..size.min(first + MAX_TURNS_PER_ENTRY)).map(turn).collect::<Vec<_>>();
        let entry = NewEntry::new(EntryKind::Import, Origin::Tool, Level::Project, "turns");
        let entry = NewEntry { text: turns.join("\n\n").into_bytes(), ..entry };
        store.keep(&scope(), entry, Timestamp(1)).unwrap();
    }
    let start = Instant::now();
    semantic::embed_all(&mut store, 4_096);
    let embedding = start.elapsed().as_secs_f64() * 1e6 / size as f64;
    let bytes = bytes_of_vectors(folder.path()) as f64 / size as f64;
    let mut figures = Figures::default();
    for round in 0..SEARCHES {
        let question = QUESTIONS[round % QUESTIONS.len()];
        let query = Query::new(question, 5);
        let found = figures.measure(|| semantic::search(&mut store, &scope(), query).unwrap());
        assert!(found.hits.iter().all(|hit| hit.by_meaning), "no text has a word of {question}");
    }
    let (p50, p95) = (figures.quantile(0.5) / 1e3, figures.quantile(0.95) / 1e3);
    println!("| {size} | {p50:.1} | {p95:.1} | {bytes:.0} | {embedding:.1} |");
}

/// Returns the share of the ten nearest texts by original vectors that are among the ten nearest by quantised vectors.
fn recall_of_bytes() -> f64 {
    let model = semantic::model();
    let texts: Vec<String> = (0..COMPARED_TEXTS).map(turn).collect();
    let given: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors: Vec<Vec<f32>> = model.embed(&given).unwrap().into_iter().flatten().collect();
    let bytes: Vec<_> = vectors.iter().map(|vector| quantise(vector)).collect();
    let mut shared = 0;
    for question in QUESTIONS {
        let query = model.embed(&[question]).unwrap().remove(0).unwrap();
        let whole = nearest(vectors.iter().map(|vector| vector.iter().zip(&query).map(|(a, b)| a * b).sum()));
        let query = quantise(&query);
        let mut products = Vec::new();
        let small = nearest(bytes.iter().map(|vector| {
            dots(&query.values, &vector.values, query.values.len(), &mut products);
            products[0] as f32 * vector.scale
        }));
        shared += small.iter().filter(|place| whole.contains(place)).count();
    }
    shared as f64 / (10 * QUESTIONS.len()) as f64
}

fn nearest(scores: impl Iterator<Item = f32>) -> Vec<usize> {
    let mut places: Vec<(usize, f32)> = scores.enumerate().collect();
    places.sort_by(|a, b| b.1.total_cmp(&a.1));
    places.into_iter().take(10).map(|(place, _)| place).collect()
}

/// Returns eight words, the same in every run.
fn turn(number: u64) -> String {
    let mut numbers = RandomNumbers::new(number + 1);
    let words = (0..8).map(|_| WORDS[(numbers.next() % WORDS.len() as u64) as usize]);
    words.collect::<Vec<_>>().join(" ")
}

fn bytes_of_vectors(folder: &Path) -> i64 {
    let index = rusqlite::Connection::open(folder.join("index.db")).unwrap();
    let sql = "SELECT sum(length(ids) + length(scales) + length(data)) FROM vectors";
    index.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn key() -> ProjectKey {
    ProjectKey("vectors".into())
}

fn scope() -> Scope {
    Scope::project(key())
}
