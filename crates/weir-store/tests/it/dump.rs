//! Reads the databases from outside, without the store: the contents of the index, and the bytes in the files.
#![expect(clippy::disallowed_methods, reason = "looks at the databases with its own eyes, not the store's")]

use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

pub(crate) fn look_at(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap()
}

pub(crate) fn meddle_with(path: &Path) -> Connection {
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

pub(crate) fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

pub(crate) fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let columns = statement.column_count();
    let line = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
        let values = (0..columns).map(|column| row.get::<_, Value>(column)).collect::<rusqlite::Result<Vec<_>>>()?;
        Ok(format!("{values:?}"))
    };
    statement.query_map([], line).unwrap().map(Result::unwrap).collect()
}

/// Returns the contents of the index, without its internal ids: chunks are identified by entry and ordinal.
pub(crate) fn index(folder: &Path) -> Vec<String> {
    let connection = look_at(&folder.join("index.db"));
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE temp.words_rows USING fts5vocab('main', 'words', 'row');
             CREATE VIRTUAL TABLE temp.pieces_rows USING fts5vocab('main', 'spellings', 'row');
             CREATE VIRTUAL TABLE temp.words_places USING fts5vocab('main', 'words', 'instance');",
        )
        .unwrap();
    let mut lines = Vec::new();
    for (name, sql) in [
        ("document", "SELECT * FROM documents ORDER BY entry_id"),
        ("chunk", "SELECT entry_id, ordinal, anchor, skip, bytes, line, heading FROM chunks ORDER BY entry_id, ordinal"),
        ("word", "SELECT term, doc, cnt FROM words_rows ORDER BY term"),
        ("piece", "SELECT term, doc, cnt FROM pieces_rows ORDER BY term"),
        (
            "word at",
            "SELECT c.entry_id, c.ordinal, v.term, v.col, v.offset FROM words_places v LEFT JOIN chunks c ON c.id = v.doc
             ORDER BY 1, 2, 3, 4, 5",
        ),
        ("spelling", "SELECT word FROM vocabulary ORDER BY word"),
        ("vectors", "SELECT c.entry_id, c.ordinal FROM vectors v JOIN chunks c ON c.id = v.first ORDER BY 1, 2"),
    ] {
        lines.extend(rows(&connection, sql).into_iter().map(|line| format!("{name} {line}")));
    }
    lines
}

/// Asserts that two dumps are the same, and shows the first line that is not.
pub(crate) fn assert_same(before: &[String], after: &[String]) {
    let differs = before.iter().zip(after).position(|(before, after)| before != after);
    if let Some(at) = differs {
        panic!("line {at} differs:\n  before {}\n  after  {}", before[at], after[at]);
    }
    assert_eq!(
        before.len(),
        after.len(),
        "one dump goes on: {:?}",
        before.iter().chain(after).nth(before.len().min(after.len()))
    );
}

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for item in std::fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the files that contain this ASCII text anywhere in their bytes, as names relative to the folder.
pub(crate) fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    assert!(needle.is_ascii(), "other text could hide in what is not valid");
    // Invalid bytes are replaced, but ASCII never is, and searching a string is faster.
    let holds = |path: &PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap()).contains(needle);
    let name = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
    files(folder).iter().filter(|path| holds(path)).map(name).collect()
}
