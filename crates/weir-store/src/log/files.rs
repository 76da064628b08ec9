//! The files of a session. Invariant: at most one file is active; a session has at most [`MAX_FILES`] files, the most
//! recently used ones.

use rusqlite::{Connection, Row, Transaction, params};
use weir_core::{EventKind, Timestamp};
use weir_ledger::Sql as _;

const MAX_FILES: i64 = 400;

/// A file as a session knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// The path of the file, as the project names it.
    pub path: String,
    /// The hash of the content when the session last read or wrote it.
    pub hash: String,
    pub bytes: u64,
    pub lines: u64,
    pub tokens: u64,
    pub outline_tokens: Option<u64>,
    /// When the session last read or wrote the file.
    pub known_at: Timestamp,
    /// How often the session changed the file.
    pub edits: u64,
    pub active: bool,
    /// Whether the session has read or written any of this content, not only its outline.
    pub was_read: bool,
    /// Whether the model has been given all of this content, and has not been compacted since.
    pub shown: bool,
}

const COLUMNS: &str = "path, hash, bytes, lines, tokens, outline_tokens, known_at, edits, active, was_read, shown";

pub(crate) fn find(db: &Connection, session: i64, path: &str) -> rusqlite::Result<Option<SessionFile>> {
    let sql = format!("SELECT {COLUMNS} FROM session_files WHERE session_id = ?1 AND path = ?2");
    db.sql(&sql).find(params![session, path], read)
}

/// Returns the files of a session, the most recently used first.
pub(crate) fn all(db: &Connection, session: i64) -> rusqlite::Result<Vec<SessionFile>> {
    let sql = format!("SELECT {COLUMNS} FROM session_files WHERE session_id = ?1 ORDER BY turn DESC");
    db.sql(&sql).all([session], read)
}

/// Returns what the events of a session say about files, oldest first.
pub(crate) fn event_data(db: &Connection, session: i64) -> rusqlite::Result<Vec<String>> {
    db.sql("SELECT data FROM events WHERE session_id = ?1 AND kind = ?2 AND data IS NOT NULL ORDER BY id")
        .values(params![session, EventKind::File.as_str()])
}

/// Stores what a session knows of a file. `turn` counts up. Returns the previously active file if this one replaces it.
pub(crate) fn keep(
    tx: &Transaction<'_>,
    session: i64,
    turn: i64,
    file: &SessionFile,
) -> rusqlite::Result<Option<String>> {
    let before = if file.active { no_longer_active(tx, session, &file.path)? } else { None };
    tx.sql(
        "INSERT OR REPLACE INTO session_files (session_id, path, hash, bytes, lines, tokens, outline_tokens, known_at,
             turn, edits, active, was_read, shown) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
    )
    .run(params![
        session,
        file.path,
        file.hash,
        file.bytes.cast_signed(),
        file.lines.cast_signed(),
        file.tokens.cast_signed(),
        file.outline_tokens.map(u64::cast_signed),
        file.known_at.0,
        turn,
        file.edits.cast_signed(),
        file.active,
        file.was_read,
        file.shown
    ])?;
    tx.sql(
        "DELETE FROM session_files WHERE session_id = ?1 AND turn <= (SELECT turn FROM session_files
             WHERE session_id = ?1 ORDER BY turn DESC LIMIT 1 OFFSET ?2)",
    )
    .run(params![session, MAX_FILES])?;
    Ok(before)
}

/// Deactivates the active file and returns it, unless it is the one at `path`.
fn no_longer_active(tx: &Transaction<'_>, session: i64, path: &str) -> rusqlite::Result<Option<String>> {
    tx.sql("UPDATE session_files SET active = 0 WHERE session_id = ?1 AND active = 1 AND path <> ?2 RETURNING path")
        .find_value(params![session, path])
}

/// Forgets one file of a session, or all of them. Returns how many.
pub(crate) fn forget(tx: &Transaction<'_>, session: i64, path: Option<&str>) -> rusqlite::Result<usize> {
    match path {
        Some(path) => {
            tx.sql("DELETE FROM session_files WHERE session_id = ?1 AND path = ?2").execute(params![session, path])
        }
        None => tx.sql("DELETE FROM session_files WHERE session_id = ?1").execute([session]),
    }
}

/// Returns whether the model of any session has been given a file.
pub(crate) fn any_shown(db: &Connection) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM session_files WHERE shown = 1 LIMIT 1").has([])
}

/// Records that the model no longer has any of the texts. Some clients do not say to which session a tool call belongs,
/// so if the session has no files of its own, this applies to all sessions.
pub(crate) fn not_shown(tx: &Transaction<'_>, session: Option<i64>) -> rusqlite::Result<()> {
    let own = tx.sql("SELECT 1 FROM session_files WHERE session_id = ?1 LIMIT 1").has([session])?;
    match own {
        true => tx.sql("UPDATE session_files SET shown = 0 WHERE session_id = ?1 AND +shown = 1").run([session]),
        false => tx.sql("UPDATE session_files SET shown = 0 WHERE shown = 1").run([]),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<SessionFile> {
    let number = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
    Ok(SessionFile {
        path: row.get(0)?,
        hash: row.get(1)?,
        bytes: number(2)?,
        lines: number(3)?,
        tokens: number(4)?,
        outline_tokens: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
        known_at: Timestamp(row.get(6)?),
        edits: number(7)?,
        active: row.get(8)?,
        was_read: row.get(9)?,
        shown: row.get(10)?,
    })
}
