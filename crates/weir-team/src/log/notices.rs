//! What a database tells those who listen. Invariant: a connection of its own, which no pool has.

use std::future::poll_fn;

use tokio_postgres::AsyncMessage;

use super::fault::Fault;
use super::options::PostgresOptions;
use super::tls;

/// What somebody who listens learns.
pub(crate) enum Notice<'a> {
    /// From now on everything is told.
    Begun,
    Told(&'a str),
}

/// Listens to a channel until the connection ends.
pub(crate) async fn listen(options: &PostgresOptions, channel: &str, hear: impl Fn(Notice<'_>)) -> Result<(), Fault> {
    let (client, mut connection) = options.config.connect(tls::connector(options)?).await?;
    let told = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            if let AsyncMessage::Notification(notification) = message? {
                hear(Notice::Told(notification.payload()));
            }
        }
        Ok(())
    };
    let begun = async {
        client.batch_execute(&format!("LISTEN {channel}")).await?;
        hear(Notice::Begun);
        // The connection lives as long as its client.
        std::future::pending().await
    };
    tokio::select! {
        ended = told => ended,
        failed = begun => failed,
    }
}
