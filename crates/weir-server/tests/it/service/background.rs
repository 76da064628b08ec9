//! Tests what the operator hears of work that nobody waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use weir_core::Scope;
use weir_records::{
    Index, IndexChange, IndexHits, Ports, Position, RecordId, Result, SearchQuery, Step, TokenScope, sqlite,
};
use weir_server::ServiceOptions;

use super::support::{API, TestServer, options};

/// How often the server has reported something.
static REPORTS: AtomicU64 = AtomicU64::new(0);

/// An index that panics when it is to follow the log.
struct BrokenIndex;

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
        let figures = server.get("/metrics", &token).body;
        assert!(figures.contains(&format!("\nweir_index_failures_total {count}\n")), "{figures}");
    }
}
