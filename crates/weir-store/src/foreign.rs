//! Reads databases of other programs. Invariant: they are only read, and nothing in them is executed: no view, no
//! trigger, no function of a schema.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use crate::error::{Result, StoreError};

/// A database of another program, open for reading.
pub struct ForeignDb {
    connection: Connection,
    path: std::path::PathBuf,
}

impl ForeignDb {
    /// Opens the database at a path.
    #[expect(clippy::disallowed_methods, reason = "it is not ours: nothing of how a store is opened holds for it")]
    pub fn open(path: &Path) -> Result<Self> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            Ok(connection)
        });
        let path = path.to_owned();
        match opened {
            Ok(connection) => Ok(Self { connection, path }),
            Err(error) => Err(StoreError::Unusable { path, detail: error.to_string() }),
        }
    }

    /// Passes these columns of every row of a table to `each` as text. If `whose` names a column and a value, only rows
    /// with that value. Numbers are passed as their digits, missing values as empty text.
    pub fn rows(
        &self,
        table: &str,
        columns: &[&str],
        whose: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[String]),
    ) -> Result<()> {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let names = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let condition = whose.map_or_else(String::new, |(column, _)| format!(" WHERE {} = ?1", quoted(column)));
        let mut read = || -> rusqlite::Result<()> {
            let mut statement =
                self.connection.prepare(&format!("SELECT {names} FROM {}{condition}", quoted(table)))?;
            let mut rows = statement.query(params_from_iter(whose.map(|(_, value)| value)))?;
            let mut texts = vec![String::new(); columns.len()];
            while let Some(row) = rows.next()? {
                for (at, text) in texts.iter_mut().enumerate() {
                    *text = match row.get_ref(at)? {
                        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                        ValueRef::Integer(number) => number.to_string(),
                        ValueRef::Real(number) => number.to_string(),
                        ValueRef::Null => String::new(),
                    };
                }
                each(&texts);
            }
            Ok(())
        };
        read().map_err(|error| StoreError::Unusable { path: self.path.clone(), detail: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "it stands for a database of another program")]
    fn rows_are_read_as_text_and_nothing_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("their.db");
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE part (id TEXT PRIMARY KEY, session_id TEXT, at INTEGER, data BLOB);
                 INSERT INTO part VALUES ('b', 's1', 2, x'ff41'), ('a', 's1', NULL, 'text'), ('c', 's2', 3, '');
                 CREATE VIEW session AS SELECT load_extension('x') AS id;",
            )
            .unwrap();
        let db = ForeignDb::open(&path).unwrap();
        let mut found = Vec::new();
        let columns = ["id", "at", "data"];
        db.rows("part", &columns, Some(("session_id", "s1")), &mut |row| found.push(row.join(" "))).unwrap();
        found.sort();
        assert_eq!(found, ["a  text", "b 2 \u{fffd}A"]);
        for table in ["session", "nothing", "part\" WHERE 1 --"] {
            let error = db.rows(table, &["id"], None, &mut |_| panic!("{table} has a row")).unwrap_err();
            assert!(error.to_string().starts_with("cannot use "), "{error}");
        }
        assert!(ForeignDb::open(&folder.path().join("none.db")).is_err());
    }
}
