//! Measures `weir serve` and `weir ui` on a store of many entries.
//!
//! Searches and notes over HTTP, at each number of connections, stand next to the same work on the store in this
//! process and to a bare handler that answers with as many bytes. Of the pages, the time to the first byte is measured.

mod home;
mod pages;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::post;
use serde_json::{Value, json};
use weir_core::{EntryKind, Level, Limits, NewEntry, Origin, Query, Scope, Timestamp};
use weir_store::{Freshness, Owner, Store};

use self::home::Home;
use crate::figures::Figures;
use crate::http::Connection;
use crate::text::word;

const DEFAULT_ENTRIES: u64 = 100_000;
const CONNECTIONS: [usize; 3] = [1, 16, 64];
/// How long each figure is measured.
const PERIOD: Duration = Duration::from_secs(5);
/// How long keeping is measured in this process: it adds thousands of entries each second, which the server has to
/// index while the next figures are measured.
const KEEPING_PERIOD: Duration = Duration::from_millis(300);
const HITS: usize = 5;

pub(crate) fn run(weir: &str, entries: Option<u64>) -> bool {
    let home = Home::filled(weir, entries.unwrap_or(DEFAULT_ENTRIES));
    println!("{:<34} {:>4} {:>10} {:>9} {:>9}", "", "at a time", "each s", "p50 ms", "p99 ms");
    let (server, address) = home.start(&["serve", "--bind", "127.0.0.1:0"]);
    let headers = format!("Content-Type: application/json\r\nAuthorization: Bearer {}\r\n", home.token());
    wait_for_vectors(address, &headers);
    let size = sample_size(address, &headers);
    let bare = bare_handler(size);
    for connections in CONNECTIONS {
        let over_http = |name: &str, address: SocketAddr, path: &str, body: &(dyn Fn(u64) -> String + Sync)| {
            measure(name, connections, PERIOD, || {
                let mut connection = Connection::open(address);
                let headers = headers.clone();
                move |number| connection.post(path, &headers, &body(number)).expect_ok()
            });
        };
        over_http("bare handler", bare, "/", &search_body);
        over_http("ctx_search over HTTP", address, "/v1/tools/ctx_search", &search_body);
        measure("Store::search in process", connections, PERIOD, || {
            let (mut store, scope) = (open(&home.store, &home.owner), home.scope());
            store.set_freshness(Freshness::Prompt);
            move |number| assert!(!store.search(&scope, &Query::new(terms(number), HITS)).unwrap().hits.is_empty())
        });
        over_http("ctx_annotate over HTTP", address, "/v1/tools/ctx_annotate", &note_body);
        measure("Store::keep in process", connections, KEEPING_PERIOD, || {
            let (mut store, scope) = (open(&home.store, &home.owner), home.scope());
            move |number| drop(store.keep(&scope, note(number), Timestamp(1_800_000_000_000)).unwrap())
        });
    }
    server.end();
    pages::run(&home)
}

/// Does work in as many threads as there are connections, and prints how often each second and how long it takes.
fn measure<W: FnMut(u64) + Send>(name: &str, at_a_time: usize, period: Duration, worker: impl Fn() -> W + Sync) {
    let ready = Barrier::new(at_a_time);
    let work = |thread: u64| {
        let (mut worker, mut figures) = (worker(), Figures::default());
        worker(thread);
        ready.wait();
        let start = Instant::now();
        let mut number = thread * 1_000_000;
        while start.elapsed() < period {
            number += 1;
            figures.measure(|| worker(number));
        }
        figures
    };
    let figures = std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..at_a_time as u64).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold(Figures::default(), Figures::and)
    });
    println!(
        "{name:<34} {at_a_time:>9} {:>10.0} {:>9.2} {:>9.2}",
        figures.count() as f64 / period.as_secs_f64(),
        figures.quantile(0.5) / 1e3,
        figures.quantile(0.99) / 1e3
    );
}

/// Returns the words that a search looks for: two uncommon ones, others each time.
fn terms(number: u64) -> String {
    format!("{} {}", word(1_500 + number % 400), word(2_000 + number * 7 % 900))
}

fn search_body(number: u64) -> String {
    json!({ "queries": [terms(number)], "limit": HITS }).to_string()
}

fn note_body(number: u64) -> String {
    json!({ "text": format!("Measured note {number}: {}", terms(number)) }).to_string()
}

fn note(number: u64) -> NewEntry {
    let text = format!("Measured entry {number}: {}", terms(number)).into_bytes();
    NewEntry { text, ..NewEntry::new(EntryKind::Document, Origin::Tool, Level::Project, "measured".to_owned()) }
}

/// Waits until the server has embedded everything, which it does in the background when it is quiet.
fn wait_for_vectors(address: SocketAddr, headers: &str) {
    let mut connection = Connection::open(address);
    let start = Instant::now();
    loop {
        let answer = connection.post("/v1/tools/ctx_search", headers, &search_body(1));
        answer.expect_ok();
        let answer: Value = serde_json::from_slice(&answer.body).unwrap();
        let waiting = answer["data"]["queries"][0]["without_vectors"].as_u64().expect("a number of chunks");
        if waiting == 0 {
            println!("embedded after {:.0} s", start.elapsed().as_secs_f64());
            return;
        }
        std::thread::sleep(Duration::from_secs(2));
    }
}

/// Returns the size of the answer to a search, in bytes.
fn sample_size(address: SocketAddr, headers: &str) -> usize {
    let answer = Connection::open(address).post("/v1/tools/ctx_search", headers, &search_body(1));
    answer.expect_ok();
    answer.body.len()
}

/// Starts a handler that answers with as many bytes as a search, on a thread that lives as long as this program.
fn bare_handler(size: usize) -> SocketAddr {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            let answer = "x".repeat(size);
            let router = Router::new().route("/", post(move |_: String| std::future::ready(answer.clone())));
            axum::serve(listener, router).await.unwrap();
        });
    });
    receiver.recv().unwrap()
}

fn open(folder: &Path, owner: &Owner) -> Store {
    Store::open(folder, owner.clone(), Limits::default()).unwrap()
}

impl Home {
    fn scope(&self) -> Scope {
        match &self.owner {
            Owner::Project(key) => Scope::project(key.clone()),
            Owner::User => unreachable!("the home has the store of a project"),
        }
    }
}
