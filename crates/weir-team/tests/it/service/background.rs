//! Tests what the operator hears of work that nobody waits for.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use weir_core::Scope;
use weir_records::{
    ErrorKind, Index, IndexChange, IndexHits, PortError, Ports, Position, RecordId, Result, SearchQuery, Step,
    TokenScope, sqlite,
};
use weir_team::ServiceOptions;

use super::support::{API, TestServer, encoded, options};

/// How often the server has reported something.
static REPORTS: AtomicU64 = AtomicU64::new(0);

/// An index that panics when it is to follow the log.
pub(super) struct BrokenIndex;

impl Index for BrokenIndex {
    fn position(&self, _: &Scope) -> Result<Position> {
        Ok(Position(0))
    }

    fn apply(&self, _: &Scope, _: &[IndexChange], _: Step) -> Result<bool> {
        panic!("the index is broken")
    }

    fn search(&self, _: &Scope, _: &SearchQuery) -> Result<IndexHits> {
        Ok(IndexHits::default())
    }

    fn holds(&self, _: &Scope, _: &[RecordId]) -> Result<u64> {
        Ok(0)
    }

    fn clear(&self, _: &Scope) -> Result<()> {
        Ok(())
    }
}

#[test]
fn indexing_that_panics_is_counted_and_reported_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let accounts = Arc::new(sqlite::open_accounts(folder.path()).unwrap());
    let ports = Ports { index: Arc::new(BrokenIndex), ..sqlite::open(folder.path()).unwrap() };
    let report = |_: &str| {
        REPORTS.fetch_add(1, Ordering::SeqCst);
    };
    let server = TestServer::start(ports, accounts, ServiceOptions { report, ..options() });
    let token = server.token("acme", "ana", TokenScope::Admin);
    for count in 1..=2 {
        server.note(&token, API, "not indexed");
        while REPORTS.load(Ordering::SeqCst) < count {
            std::thread::yield_now();
        }
        assert!(figure(&server, &token, "weir_index_failures_total") >= count);
    }
}

/// An index that cannot follow the log while it is down.
struct UnreliableIndex {
    inner: Arc<dyn Index>,
    is_down: Arc<AtomicBool>,
}

impl Index for UnreliableIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        self.inner.position(scope)
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(PortError::new(ErrorKind::Unavailable, "index records"));
        }
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

/// Returns a figure of the page for Prometheus.
fn figure(server: &TestServer, token: &str, name: &str) -> u64 {
    let page = server.get("/metrics", token).body;
    let value = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).map(str::to_owned);
    value.unwrap_or_else(|| panic!("{name}\n{page}")).parse().unwrap()
}

/// Starts a server whose index is down, and returns it with what brings the index up.
fn server_without_index(folder: &Path) -> (TestServer, Arc<AtomicBool>) {
    let accounts = Arc::new(sqlite::open_accounts(folder).unwrap());
    let (ports, is_down) = (sqlite::open(folder).unwrap(), Arc::new(AtomicBool::new(true)));
    let index = UnreliableIndex { inner: Arc::clone(&ports.index), is_down: Arc::clone(&is_down) };
    let ports = Ports { index: Arc::new(index), ..ports };
    (TestServer::start(ports, accounts, ServiceOptions { report: |_| {}, ..options() }), is_down)
}

/// Waits until the server has tried again and everything is indexed.
fn wait_for_index(server: &TestServer, token: &str) {
    while figure(server, token, "weir_index_lag_records") > 0 || figure(server, token, "weir_index_retries") > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn indexing_that_fails_is_tried_again_without_another_write() {
    let folder = tempfile::tempdir().unwrap();
    let (server, is_down) = server_without_index(folder.path());
    let token = server.token("acme", "ana", TokenScope::Admin);
    server.note(&token, API, "indexed late");
    while figure(&server, &token, "weir_index_retries") == 0 {
        std::thread::yield_now();
    }
    assert_eq!(figure(&server, &token, "weir_index_lag_records"), 1);
    is_down.store(false, Ordering::SeqCst);
    wait_for_index(&server, &token);
    assert_eq!(server.search(&token, API, "late"), ["indexed late"]);
}

#[test]
fn words_of_a_forgotten_note_leave_the_index_even_if_it_was_down() {
    let folder = tempfile::tempdir().unwrap();
    let (server, is_down) = server_without_index(folder.path());
    let token = server.token("acme", "ana", TokenScope::Admin);
    is_down.store(false, Ordering::SeqCst);
    let id = server.note(&token, API, "ephemeral");
    wait_for_index(&server, &token);
    is_down.store(true, Ordering::SeqCst);
    let path = format!("/v1/entries/{id}?project={}", encoded(API));
    server.send("DELETE", &path, &token, "").problem(503);
    // The removal is in the log, so asking again finds nothing to forget.
    server.send("DELETE", &path, &token, "").problem(404);
    is_down.store(false, Ordering::SeqCst);
    wait_for_index(&server, &token);
}
