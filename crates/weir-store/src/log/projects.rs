//! The projects of this user, kept in the user's store so that `weir doctor` and a team's sync can list them.

use rusqlite::{Connection, Transaction, params};
use weir_core::{RepositoryIdentity, Timestamp};
use weir_ledger::Sql as _;

/// A project that has a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownProject {
    pub key: String,
    /// The path where the project was last used.
    pub root: String,
    pub folder: String,
    pub used_at: Timestamp,
    pub identity: Option<RepositoryIdentity>,
}

/// Adds or updates a project. An identity that is not given stays as it is.
pub(crate) fn remember(tx: &Transaction<'_>, project: &KnownProject) -> rusqlite::Result<()> {
    tx.sql(
        "INSERT INTO projects (key, root, folder, used_at, identity) VALUES (?1, ?2, ?3, ?4, coalesce(?5, ''))
         ON CONFLICT (key) DO UPDATE SET root = ?2, folder = ?3, used_at = ?4, identity = coalesce(?5, identity)",
    )
    .run(params![
        project.key,
        project.root,
        project.folder,
        project.used_at.0,
        project.identity.as_ref().map(ToString::to_string)
    ])
}

pub(crate) fn find(db: &Connection, key: &str) -> rusqlite::Result<Option<KnownProject>> {
    let sql = "SELECT key, root, folder, used_at, identity FROM projects WHERE key = ?1";
    db.sql(sql).find([key], read)
}

pub(crate) fn forget(tx: &Transaction<'_>, key: &str) -> rusqlite::Result<()> {
    tx.sql("DELETE FROM projects WHERE key = ?1").run([key])
}

/// Returns all projects. A person has tens of them, not millions.
pub(crate) fn all(db: &Connection) -> rusqlite::Result<Vec<KnownProject>> {
    let sql = "SELECT key, root, folder, used_at, identity FROM projects ORDER BY key";
    db.sql(sql).all([], read)
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<KnownProject> {
    Ok(KnownProject {
        key: row.get(0)?,
        root: row.get(1)?,
        folder: row.get(2)?,
        used_at: Timestamp(row.get(3)?),
        identity: row.get::<_, String>(4)?.parse().ok(),
    })
}
