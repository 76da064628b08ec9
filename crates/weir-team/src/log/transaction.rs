//! Transactions that cannot be left open. Invariant: a connection goes back to the pool only when its transaction has
//! ended, or its end has been sent.

use std::pin::pin;
use std::task::{Context, Waker};

use tokio_postgres::Client;

/// A transaction on a connection. If it is dropped before it has ended, it is rolled back.
pub(super) struct OpenTransaction<'a> {
    client: &'a Client,
    has_ended: bool,
}

impl<'a> OpenTransaction<'a> {
    /// Watches over the transaction that is about to begin on a connection.
    pub(super) fn on(client: &'a Client) -> Self {
        Self { client, has_ended: false }
    }

    /// Stops watching: the end of the transaction was sent.
    pub(super) fn end(mut self) {
        self.has_ended = true;
    }
}

impl Drop for OpenTransaction<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            // The first poll hands it to the connection, which sends it before anything that comes later. There is
            // nobody to wait for the answer.
            let rollback = pin!(self.client.batch_execute("ROLLBACK"));
            let _ = rollback.poll(&mut Context::from_waker(Waker::noop()));
        }
    }
}
