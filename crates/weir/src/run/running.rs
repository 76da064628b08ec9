//! What a process has under way: its runs, those in the background, and a helper that waits for the next.

use std::path::Path;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use weir_policy::masks::Tree;
use weir_runner::{Ready, Stopper, Supervisor};

use super::HELPER;

/// The runs that are under way, and a helper that waits for the next.
#[derive(Default)]
pub(crate) struct Running {
    stoppers: Mutex<Vec<(u64, Stopper)>>,
    ready: Mutex<Option<Ready>>,
    /// What is in the project, so that not every run lists every folder.
    tree: Mutex<Tree>,
    /// What looks after runs in the background that end with this session.
    keepers: Mutex<Vec<Supervisor>>,
}

impl Running {
    /// Ends all of them, and waits a while for the threads that keep their output.
    pub(crate) async fn end_all(&self, patience: Duration) {
        lock(&self.stoppers).iter().for_each(|(_, stopper)| stopper.stop());
        let deadline = tokio::time::Instant::now() + patience;
        while !lock(&self.stoppers).is_empty() && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        lock(&self.ready).take().into_iter().for_each(Ready::dismiss);
    }

    /// Takes a run in, and gives the number by which it leaves.
    pub(super) fn enter(&self, stopper: &Stopper) -> u64 {
        let mut running = lock(&self.stoppers);
        let number = running.last().map_or(0, |(number, _)| number + 1);
        running.push((number, stopper.clone()));
        number
    }

    /// A run is over.
    pub(super) fn leave(&self, number: u64) {
        lock(&self.stoppers).retain(|(other, _)| *other != number);
    }

    /// Holds on to a keeper until this session ends, and lets go of those that have ended.
    pub(super) fn keep(&self, keeper: Supervisor) {
        let mut keepers = lock(&self.keepers);
        keepers.retain_mut(|keeper| !keeper.is_over());
        keepers.push(keeper);
    }

    /// What is in the project, as of the last look.
    pub(super) fn tree(&self) -> MutexGuard<'_, Tree> {
        lock(&self.tree)
    }

    /// The helper that waits, if there is one.
    pub(super) fn take_ready(&self) -> Option<Ready> {
        lock(&self.ready).take()
    }

    /// Has a helper wait for the next run. Without one, the run starts its own and takes a little longer.
    pub(super) fn prepare_next(&self) {
        let mut ready = lock(&self.ready);
        if ready.is_none() {
            *ready = Ready::new(Path::new(HELPER)).ok();
        }
    }
}

/// A panic in one run must not stop all later ones.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
