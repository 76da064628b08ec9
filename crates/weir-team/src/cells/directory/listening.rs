//! Listens for changes of the directory, so that what is remembered of it is soon forgotten. Invariant: nothing depends on
//! it but how soon: a cell refuses a tenant that has left it.

use std::sync::Weak;
use std::time::Duration;

use tokio::task::JoinHandle;
use weir_core::TenantId;

use super::Memory;
use crate::bridge::Bridge;
use crate::log::PostgresOptions;
use crate::log::notices::{Notice, listen};

/// How long after a connection has ended another one is made.
const PAUSE: Duration = Duration::from_secs(1);

/// What listens, until it is dropped.
pub(super) struct Listening(JoinHandle<()>);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Listening {
    pub(super) fn start(options: &PostgresOptions, bridge: &Bridge, memory: Weak<Memory>) -> Self {
        let options = options.clone();
        Self(bridge.spawn(async move {
            loop {
                let hear = |notice: Notice<'_>| match (memory.upgrade(), notice) {
                    (None, _) => {}
                    // What changed before was not told.
                    (Some(memory), Notice::Begun) => memory.forget_all(),
                    (Some(memory), Notice::Told("")) => memory.forget_cells(),
                    (Some(memory), Notice::Told(tenant)) => memory.forget(&TenantId(tenant.to_owned())),
                };
                // A failure is told by the next call that needs the directory.
                let _ = listen(&options, "weir_directory", hear).await;
                tokio::time::sleep(PAUSE).await;
            }
        }))
    }
}
