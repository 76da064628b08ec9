//! Calls async code from threads that wait for it.
//!
//! The ports block, and their callers are on threads for blocking work (`weir_records::Blobs`). The object store is
//! async and needs a runtime that goes on while they wait. It has one of its own with one thread: a caller's runtime
//! may have a single thread, and that may be the one that waits.

use std::io;
use std::sync::mpsc;

use tokio::runtime::{Builder, Runtime};

/// How many files are read and written at once.
const MAX_BLOCKING_THREADS: usize = 16;

/// A runtime for calls from other threads.
pub(super) struct Bridge {
    /// Only gone while this is dropped.
    runtime: Option<Runtime>,
}

impl Bridge {
    pub(super) fn new() -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).max_blocking_threads(MAX_BLOCKING_THREADS).thread_name("weir-blobs").enable_all();
        Ok(Self { runtime: Some(builder.build()?) })
    }

    /// Runs work to its end while this thread waits.
    pub(super) fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> object_store::Result<T> {
        let (sender, receiver) = mpsc::sync_channel(1);
        if let Some(runtime) = &self.runtime {
            runtime.spawn(async move {
                // The caller waits for it, so it is received.
                drop(sender.send(work.await));
            });
        }
        receiver.recv().unwrap_or_else(|_| {
            let source = "the work ended without a result".into();
            Err(object_store::Error::Generic { store: "runtime", source })
        })
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // Waiting for the threads is not allowed in async code, where a server may drop this.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
