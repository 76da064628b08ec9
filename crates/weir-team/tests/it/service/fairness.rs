//! Tests that a tenant with many calls leaves other tenants their share of the server.

use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::json;
use weir_core::Scope;
use weir_records::{
    Index, IndexChange, IndexHits, Ports, Position, RecordId, Result, SearchQuery, Step, TokenScope, sqlite,
};
use weir_team::ServiceOptions;

use super::support::{API, TestServer, options};

/// What searches wait at until it is open.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    arrived: usize,
    is_open: bool,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap();
        state.arrived += 1;
        self.changed.notify_all();
        drop(self.changed.wait_while(state, |state| !state.is_open).unwrap());
    }

    fn wait_for(&self, arrived: usize) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.arrived < arrived).unwrap());
    }

    fn open(&self) {
        self.state.lock().unwrap().is_open = true;
        self.changed.notify_all();
    }
}

/// An index in which the searches of one tenant wait at a gate.
struct GatedIndex {
    inner: Arc<dyn Index>,
    gate: Arc<Gate>,
}

impl Index for GatedIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        self.inner.position(scope)
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        self.inner.apply(scope, changes, step)
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        if scope.tenant.0 == "acme" {
            self.gate.pass();
        }
        self.inner.search(scope, query)
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        self.inner.holds(scope, ids)
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        self.inner.clear(scope)
    }
}

#[test]
fn a_tenant_with_too_many_calls_waits_and_others_do_not() {
    let (folder, gate) = (tempfile::tempdir().unwrap(), Arc::new(Gate::default()));
    let accounts = Arc::new(sqlite::open_accounts(folder.path()).unwrap());
    let ports = sqlite::open(folder.path()).unwrap();
    let index = GatedIndex { inner: Arc::clone(&ports.index), gate: Arc::clone(&gate) };
    let few = ServiceOptions { max_tenant_calls: 2, max_call_time: Duration::from_secs(2), ..options() };
    let server = TestServer::start(Ports { index: Arc::new(index), ..ports }, accounts, few);
    let (greedy, other) =
        (server.token("acme", "ana", TokenScope::Read), server.token("umbrella", "eve", TokenScope::Read));
    let search = |token: &str| server.post("/v1/search", token, &json!({ "project": API, "query": "x" }));
    let (stuck, of_other, refused) = thread::scope(|threads| {
        let stuck: Vec<_> = (0..2).map(|_| threads.spawn(|| search(&greedy))).collect();
        gate.wait_for(2);
        let (of_other, refused) = (search(&other), search(&greedy));
        let stuck: Vec<_> = stuck.into_iter().map(|one| one.join().unwrap()).collect();
        (stuck, of_other, refused)
    });
    gate.open();
    of_other.ok(200);
    // They took too long, and count until their work ends.
    stuck.iter().for_each(|one| drop(one.problem(503)));
    let problem = refused.problem(429);
    assert_eq!(problem["title"], "Too many calls", "{problem}");
    assert!(refused.head.contains("retry-after: 2"), "{}", refused.head);
    search(&greedy).ok(200);
}
