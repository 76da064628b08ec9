//! Connections to the database, and how a call reads. Invariants: every transaction enters its tenant before anything
//! else; statements that need nothing of each other are sent together, so that a call waits for the network once or
//! twice.

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row};
use weir_core::{Scope, TenantId};
use weir_records::{ErrorKind, PortError, Result};

use super::fault::Fault;
use super::options::{CONNECT_TIMEOUT, PostgresOptions, Statements};
use super::places::Places;
use super::queries::{ENTER, ENTER_TO_WRITE, Query, ReadyQuery};
use super::transaction::OpenTransaction;
use super::{schema, tls};
use crate::bridge::Bridge;
use crate::connections::ConnectionFigures;

const OPEN: &str = "open the database";

/// The connections to one database.
pub(crate) struct Database {
    pool: Pool,
    bridge: Bridge,
    statements: Statements,
    begin_read: String,
    begin_write: String,
    places: Places,
    keeps_texts: bool,
}

impl Database {
    /// Connects, and checks that the schema is that of this version and that row-level security applies to the role.
    pub(super) fn open(options: &PostgresOptions, bridge: &Bridge) -> Result<Self> {
        let mut database = Self::connect(options, bridge)?;
        let oldest = database.look(async |client| schema::check(client).await)?;
        database.keeps_texts = oldest >= schema::KEEPS_TEXTS;
        Ok(database)
    }

    /// Makes a pool of connections, and connects when one is needed.
    pub(crate) fn connect(options: &PostgresOptions, bridge: &Bridge) -> Result<Self> {
        let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(options.config.clone(), tls::connector(options)?, manager_config);
        let pool = Pool::builder(manager)
            .max_size(options.connections.max(1))
            .wait_timeout(Some(options.statement_timeout))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| PortError::new(ErrorKind::Unavailable, OPEN).because(error))?;
        Ok(Self {
            pool,
            bridge: bridge.clone(),
            statements: options.statements,
            begin_read: options.begin("READ ONLY"),
            begin_write: options.begin("READ WRITE"),
            places: Places::default(),
            keeps_texts: false,
        })
    }

    /// Looks at the database in a transaction that only reads.
    pub(crate) fn look<T>(&self, work: impl AsyncFnOnce(&Client) -> Result<T, Fault>) -> Result<T> {
        self.wait_for(OPEN, async {
            let client = self.client().await?;
            let transaction = OpenTransaction::on(&client);
            client.batch_execute(&self.begin_read).await?;
            let seen = work(&client).await?;
            // Nothing was written, so the rollback at the end is the end.
            drop(transaction);
            Ok(seen)
        })
    }

    /// Runs one statement that only reads, in one exchange with the server. Its first parameter is the tenant.
    pub(super) fn read(
        &self,
        doing: &str,
        scope: &Scope,
        query: &'static Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        check_tenant(scope, doing)?;
        self.wait_for(doing, async {
            let client = self.client().await?;
            let (enter, query) = (self.ready(&client, &ENTER).await?, self.ready(&client, query).await?);
            let tenant: [&(dyn ToSql + Sync); 1] = [&scope.tenant.0];
            let transaction = OpenTransaction::on(&client);
            let (begun, entered, rows, ended) = tokio::join!(
                biased;
                client.batch_execute(&self.begin_read),
                enter.run(&client, &tenant),
                query.run(&client, values),
                client.batch_execute("COMMIT"),
            );
            transaction.end();
            begun?;
            entered?;
            ended?;
            Ok(rows?)
        })
    }

    /// Runs one statement that only reads and is about no tenant in particular, in one exchange with the server. It
    /// sees rows only through a function of the owner.
    pub(crate) fn read_of_all(
        &self,
        doing: &str,
        query: &'static Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        self.run_alone(doing, &self.begin_read, query, values)
    }

    /// Runs one statement that writes and is about no tenant in particular.
    pub(crate) fn write_of_all(
        &self,
        doing: &str,
        query: &'static Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        self.run_alone(doing, &self.begin_write, query, values)
    }

    fn run_alone(
        &self,
        doing: &str,
        begin: &str,
        query: &'static Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>> {
        self.wait_for(doing, async {
            let client = self.client().await?;
            let query = self.ready(&client, query).await?;
            let transaction = OpenTransaction::on(&client);
            let (begun, rows, ended) = tokio::join!(
                biased;
                client.batch_execute(begin),
                query.run(&client, values),
                client.batch_execute("COMMIT"),
            );
            transaction.end();
            begun?;
            let rows = rows?;
            ended?;
            Ok(rows)
        })
    }

    /// Waits for work on a connection.
    pub(super) fn wait_for<T>(&self, doing: &str, work: impl Future<Output = Result<T, Fault>>) -> Result<T> {
        self.bridge.block_on(work).map_err(|fault| fault.at(doing))
    }

    /// Returns a connection.
    pub(super) async fn client(&self) -> Result<Object, Fault> {
        Ok(self.pool.get().await?)
    }

    /// Makes a statement ready to be sent on a connection.
    pub(super) async fn ready(&self, client: &Object, query: &'static Query) -> Result<ReadyQuery, Fault> {
        Ok(match self.statements {
            Statements::Prepared => ReadyQuery::Prepared(client.prepare_typed_cached(query.sql, query.types).await?),
            Statements::Unnamed => ReadyQuery::Unnamed(query),
        })
    }

    /// Runs a statement within a transaction that has begun.
    pub(super) async fn run(
        &self,
        client: &Object,
        query: &'static Query,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Fault> {
        Ok(self.ready(client, query).await?.run(client, values).await?)
    }

    /// Begins a transaction that writes, and enters the tenant.
    pub(super) async fn begin(&self, client: &Object, tenant: &TenantId) -> Result<(), Fault> {
        client.batch_execute(&self.begin_write).await?;
        self.run(client, &ENTER_TO_WRITE, &[&tenant.0]).await?;
        Ok(())
    }

    /// Returns what begins a transaction that only reads, in a tenant by its number.
    pub(super) fn begin_read_in(&self, tenant: i64) -> String {
        format!("{} SET LOCAL weir.tenant = {tenant}", self.begin_read)
    }

    /// Returns what begins a transaction that writes, in a tenant by its number.
    pub(super) fn begin_write_in(&self, tenant: i64) -> String {
        format!("{} SELECT weir.write_in({tenant})", self.begin_write)
    }

    /// Returns the places that this server remembers.
    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    /// Whether small texts are kept in the rows of their records: every program that can start reads them there.
    pub(super) fn keeps_texts(&self) -> bool {
        self.keeps_texts
    }

    /// Returns how the connections are used.
    pub(crate) fn figures(&self) -> ConnectionFigures {
        let deadpool_postgres::Status { max_size, size, available, waiting } = self.pool.status();
        ConnectionFigures { most: max_size, open: size, in_use: size.saturating_sub(available), waiting }
    }

    /// Returns what begins a transaction that only reads.
    pub(super) fn begin_read(&self) -> &str {
        &self.begin_read
    }

    /// Returns what begins a transaction that writes.
    pub(super) fn begin_write(&self) -> &str {
        &self.begin_write
    }
}

/// Checks that a scope names a tenant. A local scope does not.
pub(super) fn check_tenant(scope: &Scope, doing: &str) -> Result<()> {
    if scope.tenant.0.is_empty() {
        return Err(PortError::new(ErrorKind::Invalid, doing).because("the scope names no tenant"));
    }
    Ok(())
}
