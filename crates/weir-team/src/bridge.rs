//! Runs async backends behind the ports, whose calls block.
//!
//! The ports block for the reasons that `weir-records` gives, so a backend that is async inside waits for itself here.
//! It does so on a runtime of its own and not on that of the server: a server with one thread would otherwise wait for
//! a connection that the same thread has to drive.
//!
//! Invariant: the runtime's thread drives connections and timers, and nothing that runs on it blocks. The rest of a
//! call is done by the thread that makes it.

use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinHandle;
use weir_records::{ErrorKind, PortError, Result};

/// The runtime that async backends share. Clones share it.
#[derive(Clone)]
pub struct Bridge {
    handle: Handle,
    _runtime: Arc<OwnRuntime>,
}

impl Bridge {
    /// Starts the runtime, with one thread.
    pub fn start() -> Result<Self> {
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("weir-bridge").enable_all().build().map_err(
                |error| PortError::new(ErrorKind::Unavailable, "start the runtime of the backends").because(error),
            )?;
        Ok(Self { handle: runtime.handle().clone(), _runtime: Arc::new(OwnRuntime(Some(runtime))) })
    }

    /// Runs a future beside others, until it ends or the last clone of the bridge is dropped.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.handle.spawn(work)
    }

    /// Waits for a future.
    ///
    /// # Panics
    ///
    /// If it is called on a thread that runs async tasks, which must not block: use `spawn_blocking` there.
    pub fn block_on<F: Future>(&self, work: F) -> F::Output {
        self.handle.block_on(work)
    }
}

/// A runtime that may be dropped anywhere.
struct OwnRuntime(Option<Runtime>);

impl Drop for OwnRuntime {
    fn drop(&mut self) {
        // Dropping it as it is would wait for its thread, which async code must not do.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn async_code_calls_through_spawn_blocking_and_may_drop_the_bridge() {
        let server = Builder::new_current_thread().enable_all().build().unwrap();
        let answer = server.block_on(async {
            let bridge = Bridge::start().unwrap();
            let calling = bridge.clone();
            let timer = std::time::Duration::from_millis(1);
            let work =
                move || calling.block_on(async { tokio::time::timeout(timer, std::future::pending::<()>()).await });
            let answer = tokio::task::spawn_blocking(work).await.unwrap();
            drop(bridge);
            answer
        });
        assert!(answer.is_err(), "a timer of the bridge's own runtime");
    }
}
