//! The schema of the database: its migrations, and what the role of the program may do with it.
//!
//! A change that the servers of the version before cannot bear takes two versions. The first one only adds, and raises
//! nothing; the second one removes what no program uses any more, and raises [`OLDEST_SERVER`] to the schema of the first.
//!
//! Invariants: the ledger is that of `weir-ledger`, kept in `weir.migrations`; a migration holds up those who write for
//! no longer than [`MAX_STALL`] at a time; a program that the schema does not count as too old can start beside newer
//! ones; the program never uses a database whose row-level security does not apply to it.

use std::time::{Duration, Instant};

use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};
use weir_ledger::{Applied, HistoryError, Migration};
use weir_records::{ErrorKind, PortError, Result};

use super::fault::Fault;
use super::options::{PostgresOptions, quoted};
use super::owner::{Owner, as_owner};
use super::tls;
use super::transaction::OpenTransaction;
use crate::bridge::Bridge;

/// A schema with its ledger, and what the role of the program may do with it.
pub(crate) struct Schema {
    pub(crate) name: &'static str,
    pub(crate) migrations: &'static [Migration],
    /// The oldest schema whose programs may use a database that has this one. A migration that takes away what they need
    /// raises it.
    pub(crate) oldest_server: i32,
    /// What the role may do, which is called `APP` here. A migration that adds a table adds it here.
    pub(crate) grants: &'static str,
}

static RECORDS: Schema = Schema { name: "weir", migrations: MIGRATIONS, oldest_server: OLDEST_SERVER, grants: GRANTS };

const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_records", sql: include_str!("../migrations/0001_records.sql") },
    Migration { name: "0002_heads", sql: include_str!("../migrations/0002_heads.sql") },
    Migration { name: "0003_requests", sql: include_str!("../migrations/0003_requests.sql") },
    Migration { name: "0004_cells", sql: include_str!("../migrations/0004_cells.sql") },
    Migration { name: "0005_invitations", sql: include_str!("../migrations/0005_invitations.sql") },
    Migration { name: "0006_texts", sql: include_str!("../migrations/0006_texts.sql") },
];

/// The number of the schema that this version has and knows: how many migrations have run.
pub const SCHEMA: usize = MIGRATIONS.len();

/// The oldest schema whose programs may use a database that has this one. A migration that takes away what they need
/// raises it.
const OLDEST_SERVER: i32 = 1;

/// The schema from which on a program reads small texts in the rows of their records, as a program of an older one cannot.
/// They are written there once no older one can start.
pub(super) const KEEPS_TEXTS: u64 = 6;

/// The oldest PostgreSQL that this was tested with, as `server_version_num` has it.
const MIN_SERVER_VERSION: i32 = 150_000;
/// How long a migration waits for a lock. Everybody who comes after it waits too, so it gives up soon and tries again.
const MAX_STALL: Duration = Duration::from_millis(50);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a migration is tried.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// What the role of the program may do: read, append, move heads, erase the content of a record, bind hosts, add and
/// revoke tokens, add, count, revoke and remove invitations, set quotas, and keep and remove the keys of requests. It may
/// not delete anything else, change what stays of an erased record, change the audit, or say that a tenant is in another
/// cell.
const GRANTS: &str = "
    GRANT USAGE ON SCHEMA weir TO APP;
    GRANT SELECT ON weir.migrations, weir.tenants, weir.projects, weir.heads, weir.records, weir.audit, weir.tokens,
        weir.topics, weir.hosts, weir.requests, weir.invitations, weir.shown_invitations TO APP;
    GRANT INSERT ON weir.records, weir.audit, weir.tokens, weir.hosts, weir.requests, weir.invitations TO APP;
    GRANT UPDATE, DELETE ON weir.requests TO APP;
    GRANT DELETE ON weir.invitations TO APP;
    GRANT UPDATE (max_records, max_bytes) ON weir.tenants TO APP;
    GRANT UPDATE (revoked_at) ON weir.tokens TO APP;
    GRANT UPDATE (uses, revoked_at) ON weir.invitations TO APP;
    GRANT UPDATE (position, bytes) ON weir.heads TO APP;
    GRANT UPDATE (author, reference, about_host, about_number, text, json, imprint) ON weir.records TO APP;
    GRANT EXECUTE ON FUNCTION weir.enter(text), weir.enter_to_write(text), weir.write_in(bigint),
        weir.create_project(text, text), weir.create_tenant(text), weir.find_token(text), weir.find_invitation(text),
        weir.list_heads(bigint, bigint, bigint, bigint) TO APP;";

/// Why row-level security would not hold for the current role, if so. A member of the owner counts as the owner.
const UNGUARDED: &str = "
    SELECT CASE
        WHEN r.rolsuper OR r.rolbypassrls THEN 'bypasses row-level security'
        WHEN EXISTS (SELECT FROM tables WHERE pg_has_role(r.oid, relowner, 'USAGE')) THEN 'owns the tables'
        WHEN EXISTS (SELECT FROM tables WHERE NOT relrowsecurity AND relname <> 'migrations')
            THEN 'is not held back, because a table has no row-level security'
    END
    FROM pg_roles r WHERE r.rolname = current_user";
const TABLES: &str = "WITH tables AS (SELECT relname, relowner, relrowsecurity FROM pg_class
    WHERE relnamespace = 'weir'::regnamespace AND relkind IN ('r', 'p'))";

/// Brings the schema of a database up to this version, and lets `role` use it. Returns the names of the migrations that
/// ran.
///
/// The options are those of the database's owner, who must not be the role that the program uses afterwards. A role
/// that does not exist is created without a login, and the owner becomes a member of it: then one address is enough,
/// with [`PostgresOptions::role`] for the program. Servers of the version before may go on meanwhile.
pub fn migrate(options: &PostgresOptions, role: &str, bridge: &Bridge) -> Result<Vec<&'static str>> {
    RECORDS.migrate(options, role, bridge)
}

/// Ends an update: lets no program start any more that is older than this version, so that what it cannot read can be
/// written. Servers notice when they are started. The options are those of the database's owner.
pub fn end_update(options: &PostgresOptions, bridge: &Bridge) -> Result<()> {
    as_owner(options, bridge, "end the update of the database", async |owner: &Owner| {
        let transaction = OpenTransaction::on(&owner.client);
        owner.client.batch_execute(&owner.begin).await?;
        let applied = RECORDS.applied(&owner.client).await?;
        RECORDS.check_age(&owner.client, &applied).await?;
        if let Some(next) = RECORDS.pending(&applied)?.first() {
            let reason = format!("migration `{}` has not run", next.name);
            return Err(PortError::new(ErrorKind::Unavailable, "end the update").because(reason).into());
        }
        owner.client.batch_execute(&RECORDS.require()).await?;
        owner.client.batch_execute("COMMIT").await?;
        transaction.end();
        Ok(())
    })
}

/// Checks that the schema is that of this version, and that row-level security holds for the current role. Returns the
/// oldest schema whose programs can start.
pub(super) async fn check(client: &Client) -> Result<u64, Fault> {
    let oldest = RECORDS.check(client).await?;
    let rows = client.query_typed(&format!("{TABLES} {UNGUARDED}"), &[]).await?;
    let unguarded: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
    match unguarded {
        Some(reason) => {
            Err(refused(format!("its role {reason}; use one that neither owns the tables nor bypasses it")))
        }
        None => Ok(oldest),
    }
}

impl Schema {
    /// Does what [`migrate`] does, for this schema.
    pub(crate) fn migrate(
        &'static self,
        options: &PostgresOptions,
        role: &str,
        bridge: &Bridge,
    ) -> Result<Vec<&'static str>> {
        let connector = tls::connector(options)?;
        let work = async {
            let (client, connection) = options.config.connect(connector).await?;
            let driver = tokio::spawn(connection);
            let ran = self.bring_up_to_date(&client, role).await;
            drop(client);
            // What matters is known by now. This only waits until the connection is closed.
            let _ = driver.await;
            ran
        };
        bridge.block_on(work).map_err(|fault: Fault| fault.at("migrate the database"))
    }

    /// Checks that the schema is that of this version. Returns the oldest one whose programs can start.
    pub(crate) async fn check(&self, client: &Client) -> Result<u64, Fault> {
        let applied = match self.applied(client).await {
            Err(fault) if fault.is_unprepared() => {
                let reason = "it has no tables of Weir, or its role may not use them; run the migrations as its owner";
                return Err(refused(reason.into()));
            }
            other => other?,
        };
        let oldest = self.check_age(client, &applied).await?;
        match self.pending(&applied)?.first() {
            Some(next) => {
                Err(refused(format!("migration `{}` has not run; run the migrations as its owner", next.name)))
            }
            None => Ok(oldest),
        }
    }

    async fn bring_up_to_date(&'static self, client: &Client, role: &str) -> Result<Vec<&'static str>, Fault> {
        check_server(client).await?;
        self.check_own(client).await?;
        let mut ran = Vec::new();
        let mut deadline = Instant::now() + MAX_WAIT;
        loop {
            match self.run_next(client).await {
                Ok(Some(name)) => {
                    ran.push(name);
                    deadline = Instant::now() + MAX_WAIT;
                }
                Ok(None) => break,
                Err(fault) if fault.is_lock_timeout() && Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Err(fault) => return Err(fault),
            }
        }
        // A new database has no older programs.
        if ran.len() == self.migrations.len() {
            client.batch_execute(&self.require()).await?;
        }
        match self.allow(client, role).await {
            // Somebody has created the role for another database at the same moment.
            Err(fault) if fault.is_collision() => self.allow(client, role).await?,
            allowed => allowed?,
        }
        Ok(ran)
    }

    /// Returns what begins a transaction that nobody else's migration runs beside. The number is arbitrary.
    fn begin_alone(&self) -> String {
        let name = self.name;
        format!(
            "BEGIN; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(5711024880136); \
             CREATE SCHEMA IF NOT EXISTS {name}; \
             CREATE TABLE IF NOT EXISTS {name}.migrations (position integer PRIMARY KEY, name text NOT NULL, \
             checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()); \
             ALTER TABLE {name}.migrations ADD COLUMN IF NOT EXISTS oldest_server integer NOT NULL DEFAULT 1"
        )
    }

    /// Refuses a schema of this name that is another program's: one that has tables, and no ledger of migrations.
    async fn check_own(&self, client: &Client) -> Result<(), Fault> {
        let sql = "SELECT count(*), count(*) FILTER (WHERE c.relname = 'migrations')
                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                   WHERE n.nspname = $1 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')";
        let rows = client.query_typed(sql, &[(&self.name, Type::TEXT)]).await?;
        let Some(row) = rows.first() else { return Ok(()) };
        let (found, ledgers): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        if found > 0 && ledgers == 0 {
            let reason = format!("its schema `{}` belongs to another program; use another database", self.name);
            return Err(PortError::new(ErrorKind::Unavailable, "migrate the database").because(reason).into());
        }
        Ok(())
    }

    /// Runs the first migration that has not run, and returns its name, or `None` if all have.
    async fn run_next(&self, client: &Client) -> Result<Option<&'static str>, Fault> {
        let transaction = OpenTransaction::on(client);
        client.batch_execute(&self.begin_alone()).await?;
        let applied = self.applied(client).await?;
        self.check_age(client, &applied).await?;
        let Some(next) = self.pending(&applied)?.first() else { return Ok(None) };
        client.batch_execute(&format!("SET LOCAL lock_timeout = {}", MAX_STALL.as_millis())).await?;
        client.batch_execute(next.sql).await?;
        let position = i32::try_from(applied.len()).unwrap_or(i32::MAX);
        let insert = format!(
            "INSERT INTO {}.migrations (position, name, checksum, oldest_server) VALUES ($1, $2, $3, $4)",
            self.name
        );
        let checksum = next.checksum();
        let values: [(&(dyn ToSql + Sync), Type); 4] = [
            (&position, Type::INT4),
            (&next.name, Type::TEXT),
            (&checksum, Type::TEXT),
            (&self.oldest_server, Type::INT4),
        ];
        client.query_typed(&insert, &values).await?;
        client.batch_execute("COMMIT").await?;
        transaction.end();
        Ok(Some(next.name))
    }

    /// Returns what has run, in order.
    async fn applied(&self, client: &Client) -> Result<Vec<Applied>, Fault> {
        let sql = format!("SELECT name, checksum FROM {}.migrations ORDER BY position", self.name);
        let rows = client.query_typed(&sql, &[]).await?;
        rows.iter().map(|row| Ok(Applied { name: row.try_get(0)?, checksum: row.try_get(1)? })).collect()
    }

    /// Returns the migrations that have not run. A database that has run more than this program knows has none.
    fn pending(&self, applied: &[Applied]) -> Result<&'static [Migration], HistoryError> {
        weir_ledger::pending(applied.get(..self.migrations.len()).unwrap_or(applied), self.migrations)
    }

    /// Returns what notes that no program may start that is older than this version.
    fn require(&self) -> String {
        let (name, schema) = (self.name, self.migrations.len());
        format!(
            "UPDATE {name}.migrations SET oldest_server = greatest(oldest_server, {schema}) WHERE position = {schema} - 1"
        )
    }

    /// Checks that this program is not too old for a database that has run more migrations than it knows. Returns the
    /// oldest schema whose programs may start.
    async fn check_age(&self, client: &Client, applied: &[Applied]) -> Result<u64, Fault> {
        let known = self.migrations.len();
        // A ledger from before it named the oldest program has no such column.
        let name = self.name;
        let column =
            format!("SELECT coalesce(max((to_jsonb(m) ->> 'oldest_server')::bigint), 0) FROM {name}.migrations m");
        let oldest = super::number(&client.query_typed(&column, &[]).await?)?;
        if applied.len() <= known || oldest <= known as u64 {
            return Ok(oldest);
        }
        let reason = format!(
            "it has schema {} and needs programs of schema {oldest} or newer, and this one has {known}",
            applied.len()
        );
        Err(PortError::new(ErrorKind::Newer, "open the database").because(reason).into())
    }

    /// Lets a role use the schema.
    async fn allow(&self, client: &Client, role: &str) -> Result<(), Fault> {
        let transaction = OpenTransaction::on(client);
        client.batch_execute(&self.begin_alone()).await?;
        let known = client.query_typed("SELECT FROM pg_roles WHERE rolname = $1", &[(&role, Type::NAME)]).await?;
        let role = quoted(role);
        if known.is_empty() {
            client.batch_execute(&format!("CREATE ROLE {role} NOLOGIN; GRANT {role} TO CURRENT_USER")).await?;
        }
        client.batch_execute(&self.grants.replace("APP", &role)).await?;
        client.batch_execute("COMMIT").await?;
        transaction.end();
        Ok(())
    }
}

fn refused(reason: String) -> Fault {
    PortError::new(ErrorKind::Unavailable, "open the database").because(reason).into()
}

/// Checks that the server is one that this was made for.
async fn check_server(client: &Client) -> Result<(), Fault> {
    let sql = "SELECT current_setting('server_version_num')::integer, current_setting('server_encoding')";
    let rows = client.query_typed(sql, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (version, encoding): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
    let refused = |reason: String| PortError::new(ErrorKind::Unavailable, "migrate the database").because(reason);
    if version < MIN_SERVER_VERSION {
        let (found, oldest) = (version / 10_000, MIN_SERVER_VERSION / 10_000);
        return Err(refused(format!("it is PostgreSQL {found}, and Weir needs {oldest} or newer")).into());
    }
    if encoding != "UTF8" {
        return Err(refused(format!("its encoding is {encoding}; create it with `ENCODING 'UTF8'`")).into());
    }
    Ok(())
}
