//! The projects of this user, kept in the user's store so that `weir doctor` and a team's sync can list them.

use rusqlite::{Connection, Transaction, params};
use weir_core::Timestamp;

/// A project that has a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProject {
    /// The identity of the project.
    pub key: String,
    /// The path where the project was last used.
    pub root: String,
    /// The name of its store's folder.
    pub folder: String,
    /// When the project was last used.
    pub used_at: Timestamp,
}

pub(crate) fn remember(tx: &Transaction<'_>, project: &KnownProject) -> rusqlite::Result<()> {
    tx.prepare_cached(
        "INSERT INTO projects (key, root, folder, used_at) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (key) DO UPDATE SET root = ?2, folder = ?3, used_at = ?4",
    )?
    .execute(params![project.key, project.root, project.folder, project.used_at.0])
    .map(drop)
}

pub(crate) fn find(connection: &Connection, key: &str) -> rusqlite::Result<Option<KnownProject>> {
    let mut statement = connection.prepare_cached("SELECT key, root, folder, used_at FROM projects WHERE key = ?1")?;
    let mut rows = statement.query([key])?;
    rows.next()?.map(read).transpose()
}

pub(crate) fn forget(tx: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    tx.prepare_cached("DELETE FROM projects WHERE key = ?1")?.execute([key]).map(drop)
}

/// Returns all projects. A person has tens of them, not millions.
pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<KnownProject>> {
    let mut statement = connection.prepare_cached("SELECT key, root, folder, used_at FROM projects ORDER BY key")?;
    statement.query_map([], read)?.collect()
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<KnownProject> {
    Ok(KnownProject { key: row.get(0)?, root: row.get(1)?, folder: row.get(2)?, used_at: Timestamp(row.get(3)?) })
}
