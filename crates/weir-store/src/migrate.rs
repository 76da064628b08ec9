//! Migrates databases. Invariant: each migration runs once, in a transaction of its own that also adds its name and
//! checksum to the ledger; a database from a newer version is refused and left unchanged.

use rusqlite::{Connection, OptionalExtension, params};

use crate::db::{Db, Durability};
use crate::error::{Result, StoreError};

/// One step in the history of a database's schema. Its SQL never changes once released.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Migration {
    /// Its name in the ledger.
    pub(crate) name: &'static str,
    /// The statements.
    pub(crate) sql: &'static str,
}

/// Runs the migrations that have not run yet. In the common case, where there are none, this reads one number.
pub(crate) fn bring_up_to_date(db: &mut Db, migrations: &[Migration]) -> Result<()> {
    if version(db)? == migrations.len() {
        return Ok(());
    }
    check_ledger(db, migrations)?;
    db.set_write_ahead_logging()?;
    for (position, migration) in migrations.iter().enumerate() {
        run_once(db, position, migration)?;
    }
    Ok(())
}

/// Checks that no migration has to run, for a database that cannot be written.
pub(crate) fn check_is_current(db: &Db, migrations: &[Migration]) -> Result<()> {
    check_ledger(db, migrations)?;
    if version(db)? == migrations.len() { Ok(()) } else { Err(StoreError::ReadOnly { path: db.path().to_owned() }) }
}

/// Compares the ledger with the migrations that this version knows.
pub(crate) fn check_ledger(db: &Db, migrations: &[Migration]) -> Result<()> {
    for (position, (name, checksum)) in db.read(ledger)?.into_iter().enumerate() {
        let path = db.path().to_owned();
        match migrations.get(position) {
            None => return Err(StoreError::Newer { path, found: name }),
            Some(known) if known.name != name || checksum_of(known) != checksum => {
                return Err(StoreError::OtherHistory { path, name });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn version(db: &Db) -> Result<usize> {
    db.read(|c| c.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)))
        .map(|version| usize::try_from(version).unwrap_or(usize::MAX))
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

fn run_once(db: &mut Db, position: usize, migration: &Migration) -> Result<()> {
    db.write(Durability::Power, |tx| -> rusqlite::Result<()> {
        // Another process may have run the migration since the check above; under the lock we know.
        let done: i64 = tx.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if done > position as i64 {
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
    })
}

fn checksum_of(migration: &Migration) -> String {
    blake3::hash(migration.sql.as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Patience;

    const FIRST: Migration = Migration { name: "0001_a", sql: "CREATE TABLE a (x INTEGER) STRICT;" };
    const SECOND: Migration = Migration { name: "0002_b", sql: "CREATE TABLE b (y TEXT) STRICT;" };
    const BROKEN: Migration = Migration { name: "0002_b", sql: "CREATE TABLE b (y TEXT) STRICT; CREATE NONSENSE;" };

    fn tables(db: &Db) -> Vec<String> {
        db.read(|c| {
            let mut statement = c.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })
        .unwrap()
    }

    #[test]
    fn an_older_database_catches_up_and_a_current_one_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(Db::open(&path, &[FIRST], Patience::default()).unwrap());
        for _ in 0..2 {
            let db = Db::open(&path, &[FIRST, SECOND], Patience::default()).unwrap();
            assert_eq!(tables(&db), ["a", "b", "migrations"]);
        }
    }

    #[test]
    fn a_newer_database_is_refused_and_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(Db::open(&path, &[FIRST, SECOND], Patience::default()).unwrap());
        let before = std::fs::read(&path).unwrap();
        let error = Db::open(&path, &[FIRST], Patience::default()).err().unwrap();
        assert!(matches!(error, StoreError::Newer { ref found, .. } if found == "0002_b"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_different_past_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        drop(Db::open(&path, &[FIRST], Patience::default()).unwrap());
        let other = Migration { name: "0001_a", sql: "CREATE TABLE a (x TEXT) STRICT;" };
        let error = Db::open(&path, &[other, SECOND], Patience::default()).err().unwrap();
        assert!(matches!(error, StoreError::OtherHistory { .. }), "{error}");
    }

    #[test]
    fn a_migration_that_fails_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        assert!(Db::open(&path, &[FIRST, BROKEN], Patience::default()).is_err());
        assert_eq!(tables(&Db::open(&path, &[FIRST], Patience::default()).unwrap()), ["a", "migrations"]);
    }
}
