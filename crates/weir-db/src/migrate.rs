//! Migrates databases with the ledger that all of Weir's databases have (`weir-ledger`). Invariant: each migration runs
//! once, in a transaction of its own; a database from a newer version is refused and left unchanged.

use weir_ledger::HistoryError;
pub use weir_ledger::Migration;
use weir_ledger::sqlite::{self, LedgerError};

use crate::error::{Fault, Result, StoreError};
use crate::{Db, Durability};

/// Runs the migrations that have not run yet. In the common case, where there are none, this reads one number.
pub fn bring_up_to_date(db: &mut Db, migrations: &[Migration]) -> Result<()> {
    if db.read(sqlite::version)? == migrations.len() {
        return Ok(());
    }
    check_ledger(db, migrations)?;
    db.set_write_ahead_logging()?;
    for (position, migration) in migrations.iter().enumerate() {
        db.write(Durability::Power, |tx| sqlite::run_once(tx, position, migration))?;
    }
    Ok(())
}

/// Checks that no migration has to run, for a database that cannot or must not be written.
pub fn check_is_current(db: &Db, migrations: &[Migration]) -> Result<()> {
    check_ledger(db, migrations)?;
    let is_current = db.read(sqlite::version)? == migrations.len();
    if is_current { Ok(()) } else { Err(StoreError::Older { at: db.part().clone() }) }
}

pub fn check_ledger(db: &Db, migrations: &[Migration]) -> Result<()> {
    let at = db.part().clone();
    db.read(|connection| {
        sqlite::check(connection, migrations).map_err(|error| match error {
            LedgerError::History(HistoryError::Newer { found }) => Fault::Store(StoreError::Newer { at, found }),
            LedgerError::History(HistoryError::Other { name }) => Fault::Store(StoreError::OtherHistory { at, name }),
            LedgerError::Engine(error) => Fault::Engine(error),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Patience;

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
