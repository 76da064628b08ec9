//! Tests that the index of a server follows the log by itself: what was there before, and what other servers write.

use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use weir_core::Scope;
use weir_core::WhyGone::Forgotten;
use weir_records::memory::{MemoryBlobs, MemoryIndex, MemoryLog};
use weir_records::{
    Accounts, Blobs, Index, IndexChange, IndexHits, Log, Ports, Position, RecordId, Result, SearchQuery, Shelf, Step,
    TokenScope, sqlite,
};
use weir_team::{BucketOptions, BucketedIndex, PostgresLog, ServiceOptions};

use super::support::{API, TestServer, options};
use crate::postgres::support::{TestDatabase, bridge};
use crate::support::{NOW, assert_no_trace, keep, scope, shelf_of};

/// What several servers share, and a folder for what each has for itself.
struct Shared {
    log: Arc<dyn Log>,
    accounts: Arc<dyn Accounts>,
    blobs: Arc<dyn Blobs>,
    folder: TempDir,
    _database: Option<TestDatabase>,
}

impl Shared {
    fn in_memory() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let accounts = Arc::new(sqlite::open_accounts(folder.path()).unwrap());
        Self {
            log: Arc::new(MemoryLog::default()),
            accounts,
            blobs: Arc::new(MemoryBlobs::default()),
            folder,
            _database: None,
        }
    }

    fn on_postgres() -> Self {
        let database = TestDatabase::new();
        let log = PostgresLog::open(&database.options("app"), bridge()).unwrap();
        let accounts = Arc::new(log.accounts());
        Self { log: Arc::new(log), accounts, _database: Some(database), ..Self::in_memory() }
    }

    fn ports(&self, index: Arc<dyn Index>) -> Ports {
        Ports { log: Arc::clone(&self.log), index, blobs: Arc::clone(&self.blobs) }
    }

    /// Returns a shelf of somebody who writes elsewhere.
    fn elsewhere(&self) -> Shelf {
        shelf_of(self.ports(Arc::new(MemoryIndex::default())))
    }

    /// Opens an index for a server.
    fn index(&self, name: &str) -> Arc<BucketedIndex> {
        Arc::new(BucketedIndex::open(&self.folder.path().join(name), BucketOptions::default()).unwrap())
    }

    /// Starts a server that looks for new records all the time.
    fn server(&self, index: Arc<dyn Index>) -> TestServer {
        let options = ServiceOptions { walk_every: Duration::from_millis(10), ..options() };
        TestServer::start(self.ports(index), Arc::clone(&self.accounts), options)
    }

    /// Waits until an index is where the log is, in all of these projects.
    fn wait_for(&self, index: &dyn Index, places: &[Scope]) {
        for place in places {
            let head = self.log.head(place).unwrap();
            assert!(head > Position(0));
            while index.position(place).unwrap() != head {
                std::thread::yield_now();
            }
        }
    }
}

fn check_a_removal_reaches_a_server_where_nobody_does_anything(shared: &Shared) {
    let (busy, idle, place) = (shared.index("busy"), shared.index("idle"), scope("acme", "ana", API));
    let _servers = [shared.server(busy.clone()), shared.server(idle.clone())];
    let shelf = shelf_of(shared.ports(busy));
    let kept = keep(&shelf, &place, "ephemeral");
    shared.wait_for(idle.as_ref(), std::slice::from_ref(&place));
    assert_eq!(idle.holds(&place, &[kept.id]).unwrap(), 1);
    shelf.forget(&place, kept.id, Forgotten, NOW).unwrap();
    while idle.holds(&place, &[kept.id]).unwrap() > 0 {
        std::thread::yield_now();
    }
    assert_no_trace(&shared.folder.path().join("idle"), &["ephemer"]);
}

#[test]
fn a_removal_reaches_a_server_where_nobody_does_anything() {
    check_a_removal_reaches_a_server_where_nobody_does_anything(&Shared::in_memory());
}

/// More projects than are looked at in one page, that wait for announcements, or that go into a commit.
fn check_all_projects_are_indexed(shared: &Shared, count: usize) {
    let places: Vec<Scope> = (0..count)
        .map(|number| scope(&format!("tenant {}", number % 100), "ana", &format!("project {number}")))
        .collect();
    let (elsewhere, index) = (shared.elsewhere(), shared.index("one"));
    for (number, place) in places.iter().enumerate() {
        (0..=number % 3).for_each(|_| drop(keep(&elsewhere, place, "before the start")));
    }
    let server = shared.server(index.clone());
    shared.wait_for(index.as_ref(), &places);
    for place in places.iter().rev() {
        keep(&elsewhere, place, "while it runs");
    }
    shared.wait_for(index.as_ref(), &places);
    assert_eq!(index.figures().unwrap().projects, count as u64);
    let token = server.token("tenant 7", "ana", TokenScope::Read);
    assert_eq!(server.search(&token, "project 7", "while").len(), 1);
}

#[test]
fn all_projects_are_indexed_however_many_there_are() {
    check_all_projects_are_indexed(&Shared::in_memory(), 3_000);
}

mod postgres {
    use super::*;

    #[test]
    fn a_removal_reaches_a_server_where_nobody_does_anything() {
        check_a_removal_reaches_a_server_where_nobody_does_anything(&Shared::on_postgres());
    }

    #[test]
    fn all_projects_are_indexed_however_many_there_are() {
        check_all_projects_are_indexed(&Shared::on_postgres(), 300);
    }

    /// Leaves the processor to the servers, until it is worth looking again.
    fn pause() {
        std::thread::park_timeout(Duration::from_millis(20));
    }

    /// Waits until an index has the first record of each project, and returns how long that took.
    fn wait_for_first(index: &dyn Index, places: &[Scope]) -> Duration {
        let start = Instant::now();
        for place in places {
            while index.position(place).unwrap() == Position(0) {
                pause();
            }
        }
        start.elapsed()
    }

    /// Writes a note to each of these projects, or to as many as a slow machine can. Returns these.
    fn write_one_note_each(elsewhere: &Shelf, all: &[Scope]) -> Vec<Scope> {
        const WRITERS: usize = 8;
        const MAX_WRITING: Duration = Duration::from_secs(120);
        let start = Instant::now();
        std::thread::scope(|threads| {
            let writers = all.chunks(all.len().div_ceil(WRITERS)).map(|all| {
                threads.spawn(move || {
                    let places = all.iter().take_while(|_| start.elapsed() < MAX_WRITING);
                    places.inspect(|place| drop(keep(elsewhere, place, "amber"))).cloned().collect::<Vec<_>>()
                })
            });
            let writers: Vec<_> = writers.collect();
            writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
        })
    }

    #[test]
    #[ignore = "minutes; .ci/postgres run -- cargo nextest run -E 'test(nightly_ten_thousand)' --run-ignored only --no-capture"]
    fn nightly_ten_thousand_tenants_are_indexed_and_words_are_forgotten_on_a_second_node() {
        const TENANTS: usize = 10_000;
        let shared = Shared::on_postgres();
        let start_server = |index: &Arc<BucketedIndex>| {
            TestServer::start(shared.ports(index.clone()), Arc::clone(&shared.accounts), options())
        };
        let all: Vec<Scope> = (0..TENANTS).map(|number| scope(&format!("tenant {number}"), "ana", API)).collect();
        let idle = shared.index("idle");
        let server = start_server(&idle);
        let start = Instant::now();
        let places = write_one_note_each(&shared.elsewhere(), &all);
        println!("{} tenants: written on another node in {:.1} s", places.len(), start.elapsed().as_secs_f64());
        let took = wait_for_first(idle.as_ref(), &places);
        println!("all found {:.1} s after the last write, by the walk alone", took.as_secs_f64());
        for place in places.iter().step_by(places.len() / 50) {
            let token = server.token(&place.tenant.0, "ana", TokenScope::Read);
            assert_eq!(server.search(&token, API, "amber"), ["amber"]);
        }

        let fresh = shared.index("fresh");
        let start = Instant::now();
        let second = start_server(&fresh);
        wait_until_ready(&second);
        let ready = start.elapsed();
        wait_for_first(fresh.as_ref(), &places);
        let all = start.elapsed();
        println!(
            "a fresh node: ready after {:.1} s, all indexed after {:.1} s",
            ready.as_secs_f64(),
            all.as_secs_f64()
        );

        let busy = shelf_of(shared.ports(fresh));
        for place in places.iter().take(5) {
            let kept = keep(&busy, place, "ephemeral");
            let start = Instant::now();
            while idle.holds(place, &[kept.id]).unwrap() == 0 {
                pause();
            }
            let found = start.elapsed();
            let start = Instant::now();
            busy.forget(place, kept.id, Forgotten, NOW).unwrap();
            while idle.holds(place, &[kept.id]).unwrap() > 0 {
                pause();
            }
            let gone = start.elapsed();
            println!(
                "on the idle node: found after {:.1} s, gone after {:.1} s",
                found.as_secs_f64(),
                gone.as_secs_f64()
            );
        }
    }
}

/// An index that follows the log as far as it is let.
struct HeldIndex {
    inner: Arc<dyn Index>,
    turns: Arc<(Mutex<usize>, Condvar)>,
}

impl Index for HeldIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        self.inner.position(scope)
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        let (turns, changed) = self.turns.as_ref();
        let mut left = changed.wait_while(turns.lock().unwrap(), |left| *left == 0).unwrap();
        *left -= 1;
        drop(left);
        self.inner.apply(scope, changes, step)
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        self.inner.search(scope, query)
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        self.inner.holds(scope, ids)
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        self.inner.clear(scope)
    }
}

fn wait_until_ready(server: &TestServer) {
    while server.get("/ready", "").status != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn a_fresh_server_is_not_ready_until_its_index_is_near_the_log_and_answers_searches() {
    let shared = Shared::in_memory();
    let (elsewhere, places) = (shared.elsewhere(), ["a", "b", "c"].map(|name| scope("acme", "ana", name)));
    for (place, count) in places.iter().zip([1_001, 5, 0]) {
        (0..count).for_each(|number| drop(keep(&elsewhere, place, &format!("amber {number}"))));
    }
    let turns = Arc::new((Mutex::new(0), Condvar::new()));
    let index: Arc<dyn Index> = Arc::new(MemoryIndex::default());
    let server = shared.server(Arc::new(HeldIndex { inner: Arc::clone(&index), turns: Arc::clone(&turns) }));
    server.get("/health", "").ok(200);
    let problem = server.get("/ready", "").problem(503);
    assert_eq!(problem["title"], "Index behind", "{problem}");
    assert!(problem["detail"].as_str().unwrap().starts_with("the index of this server"), "{problem}");
    // A project without records is searched, whose index has nothing to follow.
    let token = server.token("acme", "ana", TokenScope::Read);
    assert_eq!(server.search(&token, "c", "amber"), [""; 0]);
    for _ in 0..20 {
        server.get("/ready", "").problem(503);
    }
    *turns.0.lock().unwrap() = usize::MAX;
    turns.1.notify_all();
    wait_until_ready(&server);
    for (place, count) in places.iter().zip([1_001, 5]) {
        assert_eq!(index.position(place).unwrap(), Position(count), "{place:?}");
    }
    // Once it is ready, new records do not change that.
    *turns.0.lock().unwrap() = 0;
    (0..2_000).for_each(|number| drop(keep(&elsewhere, &places[1], &format!("later {number}"))));
    server.get("/ready", "").ok(200);
    *turns.0.lock().unwrap() = usize::MAX;
    turns.1.notify_all();
}

#[test]
fn a_server_is_ready_although_a_project_cannot_be_read() {
    let shared = Shared::in_memory();
    let options = ServiceOptions { report: |_| {}, walk_every: Duration::from_millis(10), ..options() };
    let (elsewhere, place) = (shared.elsewhere(), scope("acme", "ana", API));
    (0..1_500).for_each(|number| drop(keep(&elsewhere, &place, &format!("amber {number}"))));
    let broken: Arc<dyn Index> = Arc::new(super::background::BrokenIndex);
    let server = TestServer::start(shared.ports(broken), Arc::clone(&shared.accounts), options);
    wait_until_ready(&server);
    let token = server.token("acme", "ana", TokenScope::Read);
    let search = json!({ "project": "other", "query": "amber" });
    server.post("/v1/search", &token, &search).ok(200);
}
