//! Locks the state that calls share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even after a panic: one failed call must not stop all later ones.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
