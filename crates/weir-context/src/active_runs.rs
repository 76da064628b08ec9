//! The state of this process's runs: those in progress, those in the background, and a helper waiting for the next one.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use weir_host::mutex::lock;
use weir_host::os;
use weir_policy::masks::Tree;
use weir_runner::{Ready, Stopper, Supervisor};

/// The runs in progress, and a helper waiting for the next one.
#[derive(Default)]
pub struct ActiveRuns {
    stoppers: Mutex<Vec<(u64, Stopper)>>,
    ready: Mutex<Option<Ready>>,
    /// The files of the project, cached so that not every run lists every folder.
    tree: Mutex<Tree>,
    /// The keepers of background runs that end with this session.
    keepers: Mutex<Vec<Supervisor>>,
}

impl ActiveRuns {
    /// Stops all runs. Returns whether there are any.
    pub fn stop_all(&self) -> bool {
        let stoppers = lock(&self.stoppers);
        stoppers.iter().for_each(|(_, stopper)| stopper.stop());
        !stoppers.is_empty()
    }

    /// Stops all runs, and waits up to `patience` for the threads that store their output.
    pub async fn end_all(&self, patience: Duration) {
        self.stop_all();
        let deadline = tokio::time::Instant::now() + patience;
        while !lock(&self.stoppers).is_empty() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        lock(&self.ready).take().into_iter().for_each(Ready::dismiss);
    }

    /// Registers a run, and returns the number with which to remove it.
    pub fn enter(&self, stopper: &Stopper) -> u64 {
        let mut running = lock(&self.stoppers);
        let number = running.last().map_or(0, |(number, _)| number + 1);
        running.push((number, stopper.clone()));
        number
    }

    pub fn leave(&self, number: u64) {
        lock(&self.stoppers).retain(|(other, _)| *other != number);
    }

    /// Holds a keeper until this session ends, and drops those that have ended.
    pub fn keep(&self, keeper: Supervisor) {
        let mut keepers = lock(&self.keepers);
        keepers.retain_mut(|keeper| !keeper.is_over());
        keepers.push(keeper);
    }

    /// Returns the files of the project, as of the last check.
    pub fn tree(&self) -> MutexGuard<'_, Tree> {
        lock(&self.tree)
    }

    pub fn take_ready(&self) -> Option<Ready> {
        lock(&self.ready).take()
    }

    /// Starts a helper for the next run. Without one, the run starts its own and takes slightly longer.
    pub fn prepare_next(&self) {
        let mut ready = lock(&self.ready);
        if ready.is_none() {
            *ready = Ready::new(&os::helper()).ok();
        }
    }
}
