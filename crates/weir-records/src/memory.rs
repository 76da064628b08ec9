//! The ports in memory: for tests, and for a server that keeps nothing. Small rather than quick.

mod blobs;
mod index;
mod log;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use blobs::MemoryBlobs;
pub use index::MemoryIndex;
pub use log::MemoryLog;
use weir_core::{ProjectKey, Scope, TenantId};

use crate::shelf::Ports;

/// Returns the three ports in memory, empty.
pub fn ports() -> Ports {
    Ports {
        log: Arc::new(MemoryLog::default()),
        index: Arc::new(MemoryIndex::default()),
        blobs: Arc::new(MemoryBlobs::default()),
    }
}

type Place = (TenantId, ProjectKey);

fn place(scope: &Scope) -> Place {
    (scope.tenant.clone(), scope.project.clone())
}

/// Locks a value. Every change to it is made at once, so it is whole even if another thread panicked.
fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
