//! Embeds chunks in the background of a server. Invariant: the thread has its own stores and takes locks only briefly,
//! so no call waits for it; it ends with the server.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crate::context::{Context, LockedStores};
use crate::embedding::embed_some;

/// How many chunks are embedded at once.
const EMBED_BATCH: usize = 256;
/// How long the server must be quiet first.
const QUIET_TIME: Duration = Duration::from_millis(300);

/// A handle to wake the thread that embeds.
pub(super) struct EmbedderHandle(Sender<()>);

impl EmbedderHandle {
    /// Starts a thread that waits. The thread opens nothing until it is woken.
    pub(super) fn start(context: &Context) -> Self {
        let (wake, woken) = channel();
        let context = context.with_own_stores();
        // Without a thread there are no vectors, and search says so.
        let _ = thread::Builder::new().name("vectors".into()).spawn(move || work(&context, &woken));
        Self(wake)
    }

    /// Signals that there may be chunks to embed.
    pub(super) fn wake(&self) {
        let _ = self.0.send(());
    }
}

fn work(context: &Context, woken: &Receiver<()>) {
    while woken.recv().is_ok() {
        // Incoming calls take precedence.
        while woken.recv_timeout(QUIET_TIME).is_ok() {}
        while embed(context).unwrap_or_default() > 0 {
            if woken.try_recv().is_ok() {
                while woken.recv_timeout(QUIET_TIME).is_ok() {}
            }
        }
    }
}

/// Embeds some chunks in each store that has an index, without opening the others. Returns how many are left.
fn embed(context: &Context) -> Option<u64> {
    let model = context.knowledge().model()?;
    let is_indexed = |folder: PathBuf| folder.join("index.db").exists();
    let (project, user) = (is_indexed(context.project_folder()), is_indexed(context.user_folder()));
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
    if project || user { context.with_stores_here(embed).ok() } else { None }
}
