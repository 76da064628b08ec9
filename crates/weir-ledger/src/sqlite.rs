//! The ledger of an SQLite database: a table, and the number of its rows in `user_version`, so that a database that is
//! up to date is recognised by reading one number.

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use crate::{Applied, HistoryError, Migration};

/// Why a database cannot be brought up to this version.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Its ledger does not fit.
    #[error(transparent)]
    History(#[from] HistoryError),
    /// The ledger could not be read.
    #[error(transparent)]
    Engine(#[from] rusqlite::Error),
}

/// Returns how many migrations have run. This reads one number.
pub fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

/// Compares the ledger with the migrations that this version knows.
pub fn check(connection: &Connection, migrations: &[Migration]) -> Result<(), LedgerError> {
    crate::pending(&applied(connection)?, migrations)?;
    Ok(())
}

/// Runs the migration at a position of the list, unless it has run already: another process may have been faster. The
/// transaction must hold the write lock.
pub fn run_once(tx: &Transaction<'_>, position: usize, migration: &Migration) -> rusqlite::Result<()> {
    if version(tx)? > position {
        return Ok(());
    }
    tx.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (
             position INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at TEXT NOT NULL
         ) STRICT",
    )?;
    tx.execute_batch(migration.sql)?;
    tx.execute(
        "INSERT INTO migrations (position, name, checksum, applied_at) VALUES (?1, ?2, ?3, datetime('now'))",
        params![position as i64, migration.name, migration.checksum()],
    )?;
    tx.pragma_update(None, "user_version", position as i64 + 1)
}

/// Returns what has run, in order; nothing for a new database.
fn applied(connection: &Connection) -> rusqlite::Result<Vec<Applied>> {
    let exists = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'", [], |_| Ok(()))
        .optional()?;
    if exists.is_none() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name, checksum FROM migrations ORDER BY position")?;
    statement.query_map([], |row| Ok(Applied { name: row.get(0)?, checksum: row.get(1)? }))?.collect()
}
