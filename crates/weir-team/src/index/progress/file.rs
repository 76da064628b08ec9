//! The database of the states of projects. Invariant: it has one file between two calls, so that a copy of the file is a
//! copy of the database.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, params};
use tantivy::TantivyError;
use weir_ledger::{Sql as _, private};

use super::super::fields::Place;
use super::{Changes, ProjectState, wrong};

/// The name of the file, in the folder of the index.
pub(in crate::index) const PROGRESS_FILE: &str = "progress.db";

/// Projects have names of their own in the index, so a tenant is not part of the key.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS projects (
        project TEXT NOT NULL PRIMARY KEY,
        tenant TEXT NOT NULL,
        position INTEGER NOT NULL,
        documents INTEGER NOT NULL,
        words INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS saved (id INTEGER PRIMARY KEY CHECK (id = 1), commit_number INTEGER NOT NULL) STRICT;
    INSERT INTO saved VALUES (1, 0) ON CONFLICT DO NOTHING";

/// The database. The one who writes to the index has it.
pub(in crate::index) struct ProgressFile {
    connection: Connection,
}

impl ProgressFile {
    /// Opens the database in the folder of an index, and creates it if it does not exist.
    #[expect(clippy::disallowed_methods, reason = "this is the one place of this crate that opens a database")]
    pub(in crate::index) fn open(folder: &Path) -> tantivy::Result<Self> {
        let path = folder.join(PROGRESS_FILE);
        private::open(&path, &private::options())?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = || -> rusqlite::Result<Connection> {
            let connection = Connection::open_with_flags(&path, flags)?;
            // Without a write-ahead log, which would be a second file.
            connection.query_row("PRAGMA journal_mode = DELETE", [], |_| Ok(()))?;
            connection.execute_batch("PRAGMA synchronous = EXTRA; PRAGMA secure_delete = ON;")?;
            connection.execute_batch(TABLES)?;
            Ok(connection)
        };
        Ok(Self { connection: open().map_err(failed)? })
    }

    /// Returns the number of the commit that it speaks of, and the states of all projects.
    pub(super) fn read(&self) -> tantivy::Result<(u64, Vec<(Place, ProjectState)>)> {
        let read = || -> rusqlite::Result<_> {
            let commit: i64 = self.connection.sql("SELECT commit_number FROM saved WHERE id = 1").value([])?;
            let sql = "SELECT tenant, project, position, documents, words FROM projects";
            let projects = self.connection.sql(sql).all([], |row| {
                let number = |column: usize| row.get::<_, i64>(column).map(|number| number as u64);
                let state = ProjectState { position: number(2)?, documents: number(3)?, words: number(4)? };
                Ok((Place { tenant: row.get(0)?, project: row.get(1)? }, state))
            })?;
            Ok((commit as u64, projects))
        };
        read().map_err(failed)
    }

    /// Writes changes, and that they are those up to a commit.
    pub(super) fn write(&mut self, commit: u64, changes: &Changes) -> tantivy::Result<()> {
        let mut write = || -> rusqlite::Result<()> {
            let tx = self.connection.transaction()?;
            changes.iter().try_for_each(|(place, state)| set(&tx, place, *state))?;
            tx.sql("UPDATE saved SET commit_number = ?1 WHERE id = 1").run([commit as i64])?;
            tx.commit()
        };
        write().map_err(failed)
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) -> tantivy::Result<()> {
        let clear = "BEGIN; DELETE FROM projects; UPDATE saved SET commit_number = 0; COMMIT";
        self.connection.execute_batch(clear).map_err(failed)
    }
}

fn set(tx: &Transaction<'_>, place: &Place, state: Option<ProjectState>) -> rusqlite::Result<()> {
    let Some(ProjectState { position, documents, words }) = state else {
        return tx.sql("DELETE FROM projects WHERE project = ?1").run([&place.project]);
    };
    let numbers = [position, documents, words].map(|number| number as i64);
    tx.sql("INSERT OR REPLACE INTO projects (project, tenant, position, documents, words) VALUES (?1, ?2, ?3, ?4, ?5)")
        .run(params![place.project, place.tenant, numbers[0], numbers[1], numbers[2]])
}

/// Returns the error of the index. What the engine says may name a file, so it is not repeated.
fn failed(error: rusqlite::Error) -> TantivyError {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => io::ErrorKind::StorageFull,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => return wrong("the positions cannot be read"),
        Some(_) => io::ErrorKind::Other,
        // It has other tables or values than ours.
        None => return wrong("the positions cannot be read"),
    };
    TantivyError::IoError(Arc::new(io::Error::new(kind, "the database of positions cannot be used")))
}
