//! Ends a run from another thread.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

use weir_core::run::Stream;

/// What the thread that watches a run is told.
#[derive(Debug)]
#[cfg_attr(not(target_os = "macos"), expect(dead_code, reason = "only macOS makes runs"))]
pub(crate) enum Event {
    /// The run printed something.
    Output(Stream, Vec<u8>),
    Ended,
    Stop,
}

/// A handle that stops a run. Clones share the same signal.
#[derive(Debug, Clone)]
pub struct Stopper(Arc<Mutex<Signal>>);

#[derive(Debug, Default)]
struct Signal {
    stopped: bool,
    watcher: Option<Sender<Event>>,
}

impl Stopper {
    /// Creates a stopper that has not been triggered.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::default()))
    }

    /// Stops the run that holds this stopper, either now or as soon as it starts.
    pub fn stop(&self) {
        let mut signal = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        signal.stopped = true;
        if let Some(watcher) = signal.watcher.take() {
            // A watcher that is gone has nothing left to stop.
            let _ = watcher.send(Event::Stop);
        }
    }

    /// Tells `watcher` when to stop, at once if that was before.
    #[cfg(target_os = "macos")]
    pub(crate) fn watch(&self, watcher: Sender<Event>) {
        let mut signal = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if signal.stopped {
            let _ = watcher.send(Event::Stop);
        } else {
            signal.watcher = Some(watcher);
        }
    }
}
