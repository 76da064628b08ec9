//! Work that only the owner of the database may do, because the role of the program may delete nothing. Invariant: it
//! uses one connection of its own, which is closed at the end.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::Client;
use weir_records::Result;

use super::fault::Fault;
use super::options::PostgresOptions;
use super::tls;
use crate::bridge::Bridge;

/// How long one statement may take, instead of what the options say about calls that a user waits for.
const MAX_STATEMENT_TIME: Duration = Duration::from_secs(60 * 60);

/// A connection of the owner.
pub(crate) struct Owner {
    pub(super) client: Client,
    /// What begins a transaction.
    pub(super) begin: String,
    driver: JoinHandle<Result<(), tokio_postgres::Error>>,
}

impl Owner {
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Connects as the owner, whose options these are. It must be called on the runtime of a bridge.
    pub(super) async fn connect(options: &PostgresOptions) -> Result<Self, Fault> {
        let connector = tls::connector(options)?;
        let begin = PostgresOptions { statement_timeout: MAX_STATEMENT_TIME, ..options.clone() }.begin("READ WRITE");
        let (client, connection) = options.config.connect(connector).await?;
        Ok(Self { client, begin, driver: tokio::spawn(connection) })
    }
}

/// Runs work as the owner, whose options these are.
pub(crate) fn as_owner<T>(
    options: &PostgresOptions,
    bridge: &Bridge,
    doing: &str,
    work: impl AsyncFnOnce(&Owner) -> Result<T, Fault>,
) -> Result<T> {
    let work = async {
        let owner = Owner::connect(options).await?;
        let done = work(&owner).await;
        let Owner { client, driver, .. } = owner;
        drop(client);
        // What matters is known by now. This only waits until the connection is closed.
        let _ = driver.await;
        done
    };
    bridge.block_on(work).map_err(|fault: Fault| fault.at(doing))
}
