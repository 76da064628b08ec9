//! The names of spool records that were taken in and whose files may still exist.

use rusqlite::Transaction;
use weir_ledger::Sql as _;

pub(crate) fn is_taken(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<bool> {
    tx.sql("SELECT 1 FROM spooled WHERE name = ?1").has([name])
}

pub(crate) fn mark_taken(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO spooled (name) VALUES (?1)").run([name])
}

/// Forgets the names of records whose files are gone, since these cannot be taken in again.
pub(crate) fn forget(tx: &Transaction<'_>, is_gone: impl Fn(&str) -> bool) -> rusqlite::Result<()> {
    let names: Vec<String> = tx.sql("SELECT name FROM spooled").values([])?;
    for name in names.iter().filter(|name| is_gone(name)) {
        tx.sql("DELETE FROM spooled WHERE name = ?1").run([name])?;
    }
    Ok(())
}
