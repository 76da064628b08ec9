//! Embeds chunks in the background of a server, and indexes if calls leave that to it. Invariant: the thread has its
//! own stores and takes locks only briefly, so no call waits for it; it ends with the server.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use weir_context::embedding::embed_some;
use weir_context::{Context, LockedStores};
use weir_host::error::CommandError;
use weir_store::Store;

/// How many chunks are embedded at once.
const EMBED_BATCH: usize = 256;
/// How long the server must be quiet first.
const QUIET_TIME: Duration = Duration::from_millis(300);
/// How long the thread waits for the server to be quiet.
const MAX_QUIET_WAIT: Duration = Duration::from_secs(5);
/// The least time between two rounds of indexing and housekeeping while calls come in. After each call, a round would
/// compete with the next call for the processor and for the locks.
const KEEP_UP_INTERVAL: Duration = Duration::from_millis(250);

/// Who brings the index up to date with the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUpkeep {
    /// The searches do.
    Leave,
    /// The thread does, and the housekeeping besides, because searches must not be kept waiting.
    Follow,
}

/// A handle to wake the thread.
pub struct EmbedderHandle(SyncSender<()>);

impl EmbedderHandle {
    /// Starts a thread that waits. The thread opens nothing until it is woken.
    pub fn start(context: &Context, upkeep: IndexUpkeep) -> Self {
        // One signal that waits says as much as many.
        let (wake, woken) = sync_channel(1);
        let worker = Worker { context: context.with_own_stores(), upkeep, woken };
        // Without a thread there are no vectors, and search says so.
        let _ = thread::Builder::new().name("vectors".into()).spawn(move || worker.run());
        Self(wake)
    }

    /// Signals that there may be something to do.
    pub fn wake(&self) {
        let _ = self.0.try_send(());
    }
}

/// What the thread works with.
struct Worker {
    context: Context,
    upkeep: IndexUpkeep,
    woken: Receiver<()>,
}

impl Worker {
    fn run(&self) {
        while self.woken.recv().is_ok() {
            self.keep_up();
            self.wait_for_quiet();
            while self.embed().unwrap_or_default() > 0 {
                if self.woken.try_recv().is_ok() {
                    self.keep_up();
                    self.wait_for_quiet();
                }
            }
        }
    }

    /// Waits until no call has come in for a while, since incoming calls take precedence, and keeps up with those that
    /// do. A server that is never quiet still gets its vectors in the end.
    fn wait_for_quiet(&self) {
        let begun = Instant::now();
        let (mut kept_up, mut is_behind) = (begun, false);
        while begun.elapsed() < MAX_QUIET_WAIT && self.woken.recv_timeout(QUIET_TIME).is_ok() {
            is_behind = kept_up.elapsed() < KEEP_UP_INTERVAL;
            if !is_behind {
                self.keep_up();
                kept_up = Instant::now();
            }
        }
        if is_behind {
            self.keep_up();
        }
    }

    /// Indexes what is new and does the housekeeping, if that is left to the thread. What fails is tried again after
    /// the next call.
    fn keep_up(&self) {
        if self.upkeep == IndexUpkeep::Follow {
            let _ = self.context.with_stores_here(|open| {
                let now = open.now;
                let store = open.project()?;
                let _ = store.tidy(now);
                follow(store)?;
                follow(open.user()?)
            });
        }
    }

    /// Embeds some chunks in each store that has an index, without opening the others. Returns how many are left.
    fn embed(&self) -> Option<u64> {
        let model = self.context.knowledge().model()?;
        let is_indexed = |folder: PathBuf| folder.join("index.db").exists();
        let (project, user) = (is_indexed(self.context.project_folder()), is_indexed(self.context.user_folder()));
        let embed = |open: &mut LockedStores<'_>| {
            let mut left = 0;
            if project {
                left += embed_some(open.project()?, model.as_ref(), EMBED_BATCH)?;
            }
            if user {
                left += embed_some(open.user()?, model.as_ref(), EMBED_BATCH)?;
            }
            Ok(left)
        };
        if project || user { self.context.with_stores_here(embed).ok() } else { None }
    }
}

/// Brings the index of a store up to date.
fn follow(store: &mut Store) -> Result<(), CommandError> {
    // What is left over is taken in the next time.
    store.take_in_said(MAX_QUIET_WAIT)?;
    store.catch_up()?;
    Ok(())
}
