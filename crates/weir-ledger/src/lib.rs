//! The ledger of migrations of a database, and files that only their owner can use ([`private`]). `weir-store` and
//! `weir-records` have databases and do not know each other; this is what they share.
//!
//! Invariant: each migration runs once, in a transaction that also adds its name and checksum to the ledger; a database
//! from a newer version is refused and left unchanged. Opening a database and waiting for other processes is the
//! caller's part.

pub mod private;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// One step in the history of a database's schema. Its SQL never changes once released.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// Its name in the ledger.
    pub name: &'static str,
    /// The statements.
    pub sql: &'static str,
}

/// Why a ledger does not fit the migrations that this version knows.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The database has a migration that this version does not know.
    #[error("it has migration `{found}`")]
    Newer {
        /// The migration.
        found: String,
    },
    /// The database ran a different migration under this name.
    #[error("it ran another version of migration `{name}`")]
    OtherHistory {
        /// The migration.
        name: String,
    },
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
    for (position, (name, checksum)) in entries(connection)?.into_iter().enumerate() {
        match migrations.get(position) {
            None => return Err(LedgerError::Newer { found: name }),
            Some(known) if known.name != name || checksum_of(known) != checksum => {
                return Err(LedgerError::OtherHistory { name });
            }
            Some(_) => {}
        }
    }
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
        params![position as i64, migration.name, checksum_of(migration)],
    )?;
    tx.pragma_update(None, "user_version", position as i64 + 1)
}

/// Returns names and checksums in the order the migrations ran; empty for a new database.
fn entries(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    let exists = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'", [], |_| Ok(()))
        .optional()?;
    if exists.is_none() {
        return Ok(Vec::new());
    }
    let mut statement = connection.prepare("SELECT name, checksum FROM migrations ORDER BY position")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn checksum_of(migration: &Migration) -> String {
    blake3::hash(migration.sql.as_bytes()).to_hex().to_string()
}
