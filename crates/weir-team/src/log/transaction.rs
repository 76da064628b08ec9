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
            end_unseen(self.client, "ROLLBACK");
        }
    }
}

/// Sends the end of a transaction. The first poll hands it to the connection, which sends it before anything that comes
/// later. There is nobody to wait for the answer.
pub(super) fn end_unseen(client: &Client, end: &str) {
    let ending = pin!(client.batch_execute(end));
    let _ = ending.poll(&mut Context::from_waker(Waker::noop()));
}
