//! Measures the storage of a team server on a real PostgreSQL, next to bare inserts, bare tantivy and a GIN index, in
//! one run. `.ci/postgres run --` starts the server and says where it is.

mod bare;
mod database;
mod http;
mod ingest;
mod made;
mod search;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use weir_records::{Ports, Shelf, Writer, memory};
use weir_team::{ObjectBlobs, PostgresLog, TantivyIndex};

use self::database::Database;
use self::made::Made;

const DEFAULT_ENTRIES: u64 = 100_000;
/// How many texts are written to a folder, to see how much room each takes.
const MAX_STORED_TEXTS: usize = 2_000;
/// How many rows go through the HTTP service.
const MAX_HTTP_ROWS: usize = 20_000;

pub(crate) fn run(options: &[&str]) -> bool {
    let (mut entries, mut as_json) = (DEFAULT_ENTRIES, false);
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match *word {
            "--entries" => entries = words.next().unwrap().parse().unwrap(),
            "--json" => as_json = true,
            other => panic!("unknown option {other}"),
        }
    }
    let made = Made::new(entries);
    let entries = made.entries.len();
    let database = Database::create();
    let folder = tempfile::tempdir().unwrap();
    progress(&format!("{entries} entries of {} tenants", made.tenants.len()));
    let ingest = ingest::run(&made, &database);
    progress("index from zero");
    let index_folder = folder.path().join("index");
    let (index, rebuild_seconds) = rebuild(&made, &database, &index_folder);
    progress("searches");
    let searches = search::run(&made, &database, &index, &folder.path().join("bare"));
    let sizes = sizes(&made, &database, &index_folder, &folder.path().join("texts"));
    // Last, because it adds records.
    progress("through the HTTP service");
    let http = http::run(&made, &database, &folder.path().join("http"), MAX_HTTP_ROWS);
    let seconds = rebuild_seconds * 1e6 / entries as f64;
    let rebuild = json!({ "seconds": rebuild_seconds, "seconds_per_million": seconds });
    let report = json!({
        "entries": entries, "ingest": ingest, "http": http, "rebuild": rebuild, "searches": searches, "bytes": sizes,
    });
    if as_json {
        println!("{report:#}");
    } else {
        print(&report);
    }
    true
}

/// Makes the index from the log, project by project, as a server does with an empty folder.
fn rebuild(made: &Made, database: &Database, folder: &Path) -> (Arc<TantivyIndex>, f64) {
    let index = Arc::new(TantivyIndex::open(folder).unwrap());
    let blobs = memory::ports().blobs;
    for entry in &made.entries {
        blobs.put(&made.scope(entry.tenant), entry.text().as_bytes()).unwrap();
    }
    let log = PostgresLog::open(&database.options(), database.bridge()).unwrap();
    let ports = Ports { log: Arc::new(log), index: index.clone(), blobs };
    let shelf = Shelf::new(ports, Writer::new().unwrap());
    let start = Instant::now();
    for tenant in 0..made.tenants.len() {
        shelf.follow(&made.scope(tenant), usize::MAX).unwrap();
    }
    let seconds = start.elapsed().as_secs_f64();
    let documents = index.figures().documents;
    assert_eq!(documents, made.entries.len() as u64, "every record is in the index");
    (index, seconds)
}

fn sizes(made: &Made, database: &Database, index: &Path, texts: &Path) -> Value {
    let count = made.entries.len() as f64;
    let log = database.number(
        "SELECT sum(pg_total_relation_size(inhrelid))::bigint FROM pg_inherits
         WHERE inhparent = 'weir.records'::regclass",
    );
    let blobs = ObjectBlobs::in_folder(texts).unwrap();
    let stored = made.entries.iter().take(MAX_STORED_TEXTS);
    for entry in stored.clone() {
        weir_records::Blobs::put(&blobs, &made.scope(entry.tenant), entry.text().as_bytes()).unwrap();
    }
    json!({
        "log": log as f64 / count,
        "index": folder_bytes(index) as f64 / count,
        "texts": folder_bytes(texts) as f64 / stored.count() as f64,
    })
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { folder_bytes(&path) } else { path.metadata().unwrap().len() }).sum()
}

/// Prints every table of the report, one after the other.
fn print(report: &Value) {
    let figure = |value: &Value| value.as_f64().map_or_else(|| "–".to_owned(), |number| format!("{number:.2}"));
    let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    println!("entries: {}\n", report["entries"]);
    println!("| ingest | rows/s | p99 ms of a batch | log to this |\n| --- | --- | --- | --- |");
    for row in report["ingest"].as_array().into_iter().flatten().chain([&report["http"]]) {
        let [rate, p99, ratio] = ["rows_per_second", "p99_ms", "log_to_this"].map(|field| figure(&row[field]));
        println!("| {} | {rate} | {p99} | {ratio} |", name(&row["what"]));
    }
    println!("\n| tenants | query | Weir p50/p99 ms | bare tantivy | GIN | p50 to bare | p99 to bare |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for row in report["searches"].as_array().into_iter().flatten() {
        let pair = |engine: &str| format!("{}/{}", figure(&row[engine]["p50_ms"]), figure(&row[engine]["p99_ms"]));
        let ratio = |share: &str| figure(&row["ratio"][share]);
        let [weir, bare, gin] = ["weir", "tantivy", "gin"].map(pair);
        println!(
            "| {} | {} | {weir} | {bare} | {gin} | {} | {} |",
            name(&row["tenants"]),
            name(&row["query"]),
            ratio("p50"),
            ratio("p99")
        );
    }
    println!("\nindex from zero: {} s per million records", figure(&report["rebuild"]["seconds_per_million"]));
    let bytes = ["log", "index", "texts"].map(|part| format!("{part} {}", figure(&report["bytes"][part])));
    println!("bytes per entry: {}", bytes.join(", "));
}

#[expect(clippy::print_stderr, reason = "progress is for people, and the table for programs")]
fn progress(what: &str) {
    eprintln!("{what} …");
}
