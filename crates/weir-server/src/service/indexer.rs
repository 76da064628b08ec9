//! Indexes what is new, off the way of those who write. Invariant: it holds the service only while it works, so that it
//! ends with the service; what fails is counted and reported, a panic too, and the next project has its turn.

use std::sync::{Arc, Weak};

use tokio::sync::mpsc::Receiver;
use weir_core::Scope;

use super::Service;

/// How many changes are indexed before another project has its turn.
const MAX_FOLLOWED: usize = 5_000;

/// Indexes the projects that are announced, one after the other.
pub(super) async fn run(service: Weak<Service>, mut waiting: Receiver<Scope>) {
    while let Some(scope) = waiting.recv().await {
        let Some(service) = service.upgrade() else { return };
        let working = Arc::clone(&service);
        let followed = tokio::task::spawn_blocking(move || follow(&working, &scope)).await;
        if followed.is_err_and(|error| error.is_panic()) {
            service.figures.index_failed();
            (service.options.report)("the indexing of a project panicked; this is a bug");
        }
    }
}

fn follow(service: &Service, scope: &Scope) {
    match service.shelf.follow(scope, MAX_FOLLOWED) {
        Ok(followed) if followed >= MAX_FOLLOWED => service.announce(scope),
        Ok(_) => {}
        Err(error) => {
            service.figures.index_failed();
            (service.options.report)(&error.to_string());
        }
    }
}
