//! Measures databases.

use rusqlite::Connection;
use weir_ledger::Sql as _;

/// The size of a database.
pub struct Space {
    /// Size of the pages in use, in bytes.
    pub in_use: i64,
    /// Size of the pages that are not in use, in bytes.
    pub unused: i64,
}

impl Space {
    pub fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let number = |pragma: &str| connection.sql(pragma).one([], |row| row.get::<_, i64>(0));
        let (pages, unused) = (number("PRAGMA page_count")?, number("PRAGMA freelist_count")?);
        let page = number("PRAGMA page_size")?;
        Ok(Self { in_use: (pages - unused) * page, unused: unused * page })
    }
}
