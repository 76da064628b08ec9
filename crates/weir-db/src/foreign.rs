//! Reads databases of other programs. Invariant: they are only read, and nothing in them is executed: no view, no
//! trigger, no function of a schema.

use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, params_from_iter};

/// A database of another program, open for reading.
pub struct ForeignDb {
    connection: Connection,
}

/// Why the database of another program cannot be read: the engine's message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ForeignDbError(String);

impl From<rusqlite::Error> for ForeignDbError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

impl ForeignDb {
    #[expect(clippy::disallowed_methods, reason = "it is not ours: nothing of how a store is opened holds for it")]
    pub fn open(path: &Path) -> Result<Self, ForeignDbError> {
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        Ok(Self { connection })
    }

    /// Passes these columns of every row of a table to `each` as text. If `whose` names a column and a value, only rows
    /// with that value. Numbers are passed as their digits, missing values as empty text.
    pub fn rows(
        &self,
        table: &str,
        columns: &[&str],
        whose: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[String]),
    ) -> Result<(), ForeignDbError> {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let names = columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let condition = whose.map_or_else(String::new, |(column, _)| format!(" WHERE {} = ?1", quoted(column)));
        let mut statement = self.connection.prepare(&format!("SELECT {names} FROM {}{condition}", quoted(table)))?;
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
            assert!(db.rows(table, &["id"], None, &mut |_| panic!("{table} has a row")).is_err(), "{table}");
        }
        assert!(ForeignDb::open(&folder.path().join("none.db")).is_err());
    }
}
