//! The ledger of migrations of a database, and files that only their owner can use ([`private`]). Crates with databases
//! do not know each other; this is what they share.
//!
//! The rules are here and know no engine: [`pending`] compares what a database has run with what this version knows.
//! [`sqlite`] keeps the ledger of an SQLite database; a backend on another engine keeps its own by the same rules.
//! Opening a database and waiting for other processes is the caller's part. [`Sql`] is how all of them run statements.
//!
//! # Invariants
//!
//! - Each migration runs once, in a transaction that also adds its name and checksum to the ledger.
//! - A released migration never changes. A database from a newer version is refused and left unchanged.

pub mod private;
pub mod sqlite;
mod statement;

pub use statement::{Sql, Statement};

/// One step in the history of a database's schema. Its SQL never changes once released.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    pub name: &'static str,
    pub sql: &'static str,
}

impl Migration {
    /// Returns what the ledger keeps of the statements: their BLAKE3 hash, in hexadecimal.
    pub fn checksum(&self) -> String {
        blake3::hash(self.sql.as_bytes()).to_hex().to_string()
    }
}

/// A migration that has run, as the ledger of a database has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    pub name: String,
    pub checksum: String,
}

/// Why a ledger does not fit the migrations that this version knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// The database has a migration that this version does not know.
    #[error("it has migration `{found}`")]
    Newer { found: String },
    /// The database ran a different migration under this name.
    #[error("it ran another version of migration `{name}`")]
    Other { name: String },
}

/// Returns the migrations that have not run, in their order. `applied` has those that have, in the order they ran.
pub fn pending<'a>(applied: &[Applied], migrations: &'a [Migration]) -> Result<&'a [Migration], HistoryError> {
    for (position, applied) in applied.iter().enumerate() {
        match migrations.get(position) {
            None => return Err(HistoryError::Newer { found: applied.name.clone() }),
            Some(known) if known.name != applied.name || known.checksum() != applied.checksum => {
                return Err(HistoryError::Other { name: applied.name.clone() });
            }
            Some(_) => {}
        }
    }
    Ok(migrations.get(applied.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Migration] = &[
        Migration { name: "0001_a", sql: "CREATE TABLE a (x int)" },
        Migration { name: "0002_b", sql: "CREATE TABLE b (y int)" },
    ];

    fn check(applied: &[(&str, &str)], expected: Result<&[&str], HistoryError>) {
        let checksum = |sql: &str| blake3::hash(sql.as_bytes()).to_hex().to_string();
        let applied: Vec<Applied> =
            applied.iter().map(|(name, sql)| Applied { name: (*name).into(), checksum: checksum(sql) }).collect();
        let found = pending(&applied, KNOWN).map(|left| left.iter().map(|one| one.name).collect::<Vec<_>>());
        assert_eq!(found, expected.map(<[&str]>::to_vec));
    }

    #[test]
    fn what_has_not_run_is_left_to_run_in_order() {
        let (a, b) = (("0001_a", KNOWN[0].sql), ("0002_b", KNOWN[1].sql));
        check(&[], Ok(&["0001_a", "0002_b"]));
        check(&[a], Ok(&["0002_b"]));
        check(&[a, b], Ok(&[]));
    }

    #[test]
    fn a_ledger_with_more_than_this_version_knows_is_newer() {
        let (a, b) = (("0001_a", KNOWN[0].sql), ("0002_b", KNOWN[1].sql));
        check(&[a, b, ("0003_c", "")], Err(HistoryError::Newer { found: "0003_c".into() }));
    }

    #[test]
    fn another_text_another_name_and_another_order_are_another_history() {
        let (a, b) = (("0001_a", KNOWN[0].sql), ("0002_b", KNOWN[1].sql));
        check(&[("0001_a", "CREATE TABLE a (x text)")], Err(HistoryError::Other { name: "0001_a".into() }));
        check(&[("0001_z", KNOWN[0].sql)], Err(HistoryError::Other { name: "0001_z".into() }));
        check(&[b, a], Err(HistoryError::Other { name: "0002_b".into() }));
    }
}
