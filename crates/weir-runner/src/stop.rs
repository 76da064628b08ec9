//! Ends a run from another thread.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A handle that stops a run. Clones share the same signal.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<OwnedFd>);

impl Stopper {
    /// Creates a stopper that has not been triggered.
    pub fn new() -> io::Result<Self> {
        let flags = rustix::event::EventfdFlags::CLOEXEC | rustix::event::EventfdFlags::NONBLOCK;
        Ok(Self(Arc::new(rustix::event::eventfd(0, flags)?)))
    }

    /// Stops the run that holds this stopper, either now or as soon as it starts.
    pub fn stop(&self) {
        // This fails only if the event counter would overflow.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

impl AsFd for Stopper {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
