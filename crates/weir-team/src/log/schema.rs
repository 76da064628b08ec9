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
use super::tls;
use super::transaction::OpenTransaction;
use crate::bridge::Bridge;

const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_records", sql: include_str!("../migrations/0001_records.sql") },
    Migration { name: "0002_heads", sql: include_str!("../migrations/0002_heads.sql") },
    Migration { name: "0003_requests", sql: include_str!("../migrations/0003_requests.sql") },
];

/// The number of the schema that this version has and knows: how many migrations have run.
pub const SCHEMA: usize = MIGRATIONS.len();

/// The oldest schema whose programs may use a database that has this one. A migration that takes away what they need
/// raises it.
const OLDEST_SERVER: i32 = 1;

/// The oldest PostgreSQL that this was tested with, as `server_version_num` has it.
const MIN_SERVER_VERSION: i32 = 150_000;
/// How long a migration waits for a lock. Everybody who comes after it waits too, so it gives up soon and tries again.
const MAX_STALL: Duration = Duration::from_millis(50);
/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a migration is tried.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Begins a transaction that nobody else's migration runs beside. The number is arbitrary.
const BEGIN_ALONE: &str = "BEGIN; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(5711024880136); \
     CREATE SCHEMA IF NOT EXISTS weir; \
     CREATE TABLE IF NOT EXISTS weir.migrations (position integer PRIMARY KEY, name text NOT NULL, \
     checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()); \
     ALTER TABLE weir.migrations ADD COLUMN IF NOT EXISTS oldest_server integer NOT NULL DEFAULT 1";

/// What the role of the program may do: read, append, move heads, erase the content of a record, bind hosts, add and
/// revoke tokens, set quotas, and keep and remove the keys of requests. It may not delete anything else, change what stays of an erased record, or change the audit. A
/// migration that adds a table adds it here.
const GRANTS: &str = "
    GRANT USAGE ON SCHEMA weir TO APP;
    GRANT SELECT ON weir.migrations, weir.tenants, weir.projects, weir.heads, weir.records, weir.audit, weir.tokens,
        weir.topics, weir.hosts, weir.requests TO APP;
    GRANT INSERT ON weir.records, weir.audit, weir.tokens, weir.hosts, weir.requests TO APP;
    GRANT UPDATE, DELETE ON weir.requests TO APP;
    GRANT UPDATE (max_records, max_bytes) ON weir.tenants TO APP;
    GRANT UPDATE (revoked_at) ON weir.tokens TO APP;
    GRANT UPDATE (position, bytes) ON weir.heads TO APP;
    GRANT UPDATE (author, reference, about_host, about_number, text, json, imprint) ON weir.records TO APP;
    GRANT EXECUTE ON FUNCTION weir.enter(text), weir.create_project(text, text),
        weir.create_tenant(text), weir.find_token(text), weir.list_heads(bigint, bigint, bigint, bigint) TO APP;";

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
    let connector = tls::connector(options)?;
    let work = async {
        let (client, connection) = options.config.connect(connector).await?;
        let driver = tokio::spawn(connection);
        let ran = bring_up_to_date(&client, role).await;
        drop(client);
        // What matters is known by now. This only waits until the connection is closed.
        let _ = driver.await;
        ran
    };
    bridge.block_on(work).map_err(|fault: Fault| fault.at("migrate the database"))
}

/// Checks that the schema is that of this version, and that row-level security holds for the current role.
pub(super) async fn check(client: &Client) -> Result<(), Fault> {
    let refused =
        |reason: String| Fault::from(PortError::new(ErrorKind::Unavailable, "open the database").because(reason));
    let applied = match applied(client).await {
        Err(fault) if fault.is_unprepared() => {
            let reason = "it has no tables of Weir, or its role may not use them; run the migrations as its owner";
            return Err(refused(reason.into()));
        }
        other => other?,
    };
    check_age(client, &applied).await?;
    if let Some(next) = pending(&applied)?.first() {
        return Err(refused(format!("migration `{}` has not run; run the migrations as its owner", next.name)));
    }
    let rows = client.query_typed(&format!("{TABLES} {UNGUARDED}"), &[]).await?;
    let unguarded: Option<String> = rows.first().map(|row| row.try_get(0)).transpose()?.flatten();
    match unguarded {
        Some(reason) => {
            Err(refused(format!("its role {reason}; use one that neither owns the tables nor bypasses it")))
        }
        None => Ok(()),
    }
}

async fn bring_up_to_date(client: &Client, role: &str) -> Result<Vec<&'static str>, Fault> {
    check_server(client).await?;
    check_own(client).await?;
    let mut ran = Vec::new();
    let mut deadline = Instant::now() + MAX_WAIT;
    loop {
        match run_next(client).await {
            Ok(Some(name)) => {
                ran.push(name);
                deadline = Instant::now() + MAX_WAIT;
            }
            Ok(None) => break,
            Err(fault) if fault.is_lock_timeout() && Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
            Err(fault) => return Err(fault),
        }
    }
    allow(client, role).await?;
    Ok(ran)
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

/// Refuses a schema `weir` of another program: one that has tables, and no ledger of migrations.
async fn check_own(client: &Client) -> Result<(), Fault> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE c.relname = 'migrations')
               FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'weir' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')";
    let rows = client.query_typed(sql, &[]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let (found, ledgers): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
    if found > 0 && ledgers == 0 {
        let reason = "its schema `weir` belongs to another program; use another database";
        return Err(PortError::new(ErrorKind::Unavailable, "migrate the database").because(reason).into());
    }
    Ok(())
}

/// Runs the first migration that has not run, and returns its name, or `None` if all have.
async fn run_next(client: &Client) -> Result<Option<&'static str>, Fault> {
    let transaction = OpenTransaction::on(client);
    client.batch_execute(BEGIN_ALONE).await?;
    let applied = applied(client).await?;
    check_age(client, &applied).await?;
    let Some(next) = pending(&applied)?.first() else { return Ok(None) };
    client.batch_execute(&format!("SET LOCAL lock_timeout = {}", MAX_STALL.as_millis())).await?;
    client.batch_execute(next.sql).await?;
    let position = i32::try_from(applied.len()).unwrap_or(i32::MAX);
    let insert = "INSERT INTO weir.migrations (position, name, checksum, oldest_server) VALUES ($1, $2, $3, $4)";
    let checksum = next.checksum();
    let values: [(&(dyn ToSql + Sync), Type); 4] =
        [(&position, Type::INT4), (&next.name, Type::TEXT), (&checksum, Type::TEXT), (&OLDEST_SERVER, Type::INT4)];
    client.query_typed(insert, &values).await?;
    client.batch_execute("COMMIT").await?;
    transaction.end();
    Ok(Some(next.name))
}

/// Returns what has run, in order.
async fn applied(client: &Client) -> Result<Vec<Applied>, Fault> {
    let rows = client.query_typed("SELECT name, checksum FROM weir.migrations ORDER BY position", &[]).await?;
    rows.iter().map(|row| Ok(Applied { name: row.try_get(0)?, checksum: row.try_get(1)? })).collect()
}

/// Returns the migrations that have not run. A database that has run more than this program knows has none.
fn pending(applied: &[Applied]) -> Result<&'static [Migration], HistoryError> {
    weir_ledger::pending(applied.get(..MIGRATIONS.len()).unwrap_or(applied), MIGRATIONS)
}

/// Checks that this program is not too old for a database that has run more migrations than it knows.
async fn check_age(client: &Client, applied: &[Applied]) -> Result<(), Fault> {
    if applied.len() <= SCHEMA {
        return Ok(());
    }
    let rows = client.query_typed("SELECT max(oldest_server)::bigint FROM weir.migrations", &[]).await?;
    let oldest = super::number(&rows)?;
    if oldest <= SCHEMA as u64 {
        return Ok(());
    }
    let reason = format!(
        "it has schema {} and needs programs of schema {oldest} or newer, and this one has {SCHEMA}",
        applied.len()
    );
    Err(PortError::new(ErrorKind::Newer, "open the database").because(reason).into())
}

/// Lets a role use the schema.
async fn allow(client: &Client, role: &str) -> Result<(), Fault> {
    let transaction = OpenTransaction::on(client);
    client.batch_execute(BEGIN_ALONE).await?;
    let known = client.query_typed("SELECT FROM pg_roles WHERE rolname = $1", &[(&role, Type::NAME)]).await?;
    let role = quoted(role);
    if known.is_empty() {
        client.batch_execute(&format!("CREATE ROLE {role} NOLOGIN; GRANT {role} TO CURRENT_USER")).await?;
    }
    client.batch_execute(&GRANTS.replace("APP", &role)).await?;
    client.batch_execute("COMMIT").await?;
    transaction.end();
    Ok(())
}
