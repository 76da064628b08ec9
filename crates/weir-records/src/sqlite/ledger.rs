//! The ledger of migrations of a database. Invariant: each migration runs once, in a transaction that also adds its
//! name and checksum to the ledger; a database from a newer version is refused and left unchanged.

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use super::db::{self, Fault};
use crate::error::{ErrorKind, PortError};

/// One step in the history of a database's schema. Its SQL never changes once released.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// Its name in the ledger.
    pub(super) name: &'static str,
    /// The statements.
    pub(super) sql: &'static str,
}

/// Runs the migrations that have not run yet. In the common case, where there are none, this reads one number.
pub(super) fn bring_up_to_date(connection: &mut Connection, migrations: &[Migration]) -> Result<(), Fault> {
    if version(connection)? == migrations.len() {
        return Ok(());
    }
    check(connection, migrations)?;
    db::set_write_ahead_logging(connection)?;
    for (position, migration) in migrations.iter().enumerate() {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have run it since the check above; under the lock we know.
        if version(&tx)? <= position {
            run(&tx, position, migration)?;
        }
        tx.commit()?;
    }
    Ok(())
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

/// Compares the ledger with the migrations that this version knows.
fn check(connection: &Connection, migrations: &[Migration]) -> Result<(), Fault> {
    let refused = |kind, reason: String| Err(Fault::Port(PortError::new(kind, "open the database").because(reason)));
    for (position, (name, checksum)) in ledger(connection)?.into_iter().enumerate() {
        match migrations.get(position) {
            None => return refused(ErrorKind::Newer, format!("it has migration `{name}`")),
            Some(known) if known.name != name || checksum_of(known) != checksum => {
                return refused(ErrorKind::Damaged, format!("it ran another version of migration `{name}`"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Returns names and checksums in the order the migrations ran; empty for a new database.
fn ledger(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let exists = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'", [], |_| Ok(()))
        .optional()?;
    if exists.is_none() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name, checksum FROM migrations ORDER BY position")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn run(tx: &Transaction<'_>, position: usize, migration: &Migration) -> rusqlite::Result<()> {
    tx.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (
             position INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL
         ) STRICT",
    )?;
    tx.execute_batch(migration.sql)?;
    tx.execute(
        "INSERT INTO migrations (position, name, checksum, applied_at) VALUES (?1, ?2, ?3, datetime('now'))",
        params![position as i64, migration.name, checksum_of(migration)],
    )?;
    tx.pragma_update(None, "user_version", position as i64 + 1)
}

fn checksum_of(migration: &Migration) -> String {
    blake3::hash(migration.sql.as_bytes()).to_hex().to_string()
}
