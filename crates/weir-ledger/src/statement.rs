//! Statements that a connection prepares once, each used in one call: `tx.sql("DELETE FROM hooks WHERE day < ?1").run([day])`.

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Params, Result, Row};

/// A connection that runs statements.
pub trait Sql {
    fn sql<'a>(&'a self, sql: &'a str) -> Statement<'a>;
}

impl Sql for Connection {
    fn sql<'a>(&'a self, sql: &'a str) -> Statement<'a> {
        Statement { connection: self, sql }
    }
}

/// A statement that has not run yet.
#[must_use]
pub struct Statement<'a> {
    connection: &'a Connection,
    sql: &'a str,
}

impl<'a> Statement<'a> {
    fn prepare(self) -> Result<CachedStatement<'a>> {
        self.connection.prepare_cached(self.sql)
    }

    pub fn run(self, parameters: impl Params) -> Result<()> {
        self.execute(parameters).map(drop)
    }

    /// Returns how many rows were changed.
    pub fn execute(self, parameters: impl Params) -> Result<usize> {
        self.prepare()?.execute(parameters)
    }

    /// Returns the id of the new row.
    pub fn insert(self, parameters: impl Params) -> Result<i64> {
        self.prepare()?.insert(parameters)
    }

    pub fn has(self, parameters: impl Params) -> Result<bool> {
        self.prepare()?.exists(parameters)
    }

    /// Reads the only row.
    pub fn one<T>(self, parameters: impl Params, read: impl FnOnce(&Row<'_>) -> Result<T>) -> Result<T> {
        self.prepare()?.query_row(parameters, read)
    }

    /// Reads the first row, if there is one.
    pub fn find<T>(self, parameters: impl Params, read: impl FnOnce(&Row<'_>) -> Result<T>) -> Result<Option<T>> {
        self.one(parameters, read).optional()
    }

    pub fn all<T>(self, parameters: impl Params, read: impl FnMut(&Row<'_>) -> Result<T>) -> Result<Vec<T>> {
        self.prepare()?.query_map(parameters, read)?.collect()
    }

    /// Reads the first column of the only row.
    pub fn value<T: FromSql>(self, parameters: impl Params) -> Result<T> {
        self.one(parameters, |row| row.get(0))
    }

    /// Reads the first column of the first row, if there is one.
    pub fn find_value<T: FromSql>(self, parameters: impl Params) -> Result<Option<T>> {
        self.find(parameters, |row| row.get(0))
    }

    /// Reads the first column of every row.
    pub fn values<T: FromSql>(self, parameters: impl Params) -> Result<Vec<T>> {
        self.all(parameters, |row| row.get(0))
    }
}
