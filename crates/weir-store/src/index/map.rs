//! The map of folders. Invariant: each file of a folder has one row; the map is not derived from the log, so following
//! the log does not change it.
//!
//! Its tables are in the file of the index, since both can be rebuilt at any time: they count towards the quota, make
//! room on a full disk and are forgotten together, and a search that reads both opens one file.

use rusqlite::{Connection, Transaction, params};
use weir_ledger::Sql as _;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapFile {
    /// The path of the file, relative to the folder.
    pub path: String,
    pub bytes: u64,
    /// The modification time, in nanoseconds since 1970; 0 if the file may change again without looking newer.
    pub modified: i64,
    /// The BLAKE3 hash of the file's bytes.
    pub hash: Vec<u8>,
    /// The language and version of the parser.
    pub spec: String,
    pub count: u32,
    /// The words under which the file is found.
    pub words: Vec<u8>,
    pub defines: Vec<u8>,
    /// The names that occur in the file.
    pub mentions: Vec<u8>,
    /// The symbols of the file, one per line. Empty if many files are read at once.
    pub symbols: String,
}

pub(crate) fn root(db: &Connection, path: &str) -> rusqlite::Result<Option<i64>> {
    db.sql("SELECT id FROM map_roots WHERE path = ?1").find_value([path])
}

fn root_or_new(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<i64> {
    if let Some(id) = root(tx, path)? {
        return Ok(id);
    }
    tx.sql("INSERT INTO map_roots (path, head, commits) VALUES (?1, '', '')").run([path])?;
    Ok(tx.last_insert_rowid())
}

pub(crate) fn roots(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.sql("SELECT path FROM map_roots ORDER BY path").values([])
}

/// Returns the files of a folder, or of a part of it, ordered by path, without their symbols.
pub(crate) fn files(db: &Connection, path: &str, part: &str) -> rusqlite::Result<Vec<MapFile>> {
    let Some(root) = root(db, path)? else { return Ok(Vec::new()) };
    // `0` is the character after `/`, and no path reaches the last character of all.
    let (from, to) = match part {
        "" => (String::new(), char::MAX.to_string()),
        part => (format!("{part}/"), format!("{part}0")),
    };
    let file = |row: &rusqlite::Row<'_>| {
        Ok(MapFile {
            path: row.get(0)?,
            bytes: row.get::<_, i64>(1)? as u64,
            modified: row.get(2)?,
            hash: row.get(3)?,
            spec: row.get(4)?,
            count: row.get(5)?,
            words: row.get(6)?,
            defines: row.get(7)?,
            mentions: row.get(8)?,
            symbols: String::new(),
        })
    };
    db.sql(
        "SELECT path, bytes, modified, hash, spec, count, words, defines, mentions FROM map_files
         WHERE root_id = ?1 AND path >= ?2 AND path < ?3 ORDER BY path",
    )
    .all(params![root, from, to], file)
}

/// Returns the words under which the files of a folder are found, ordered by path.
pub(crate) fn words(db: &Connection, path: &str) -> rusqlite::Result<Vec<(String, Vec<u8>)>> {
    let Some(root) = root(db, path)? else { return Ok(Vec::new()) };
    db.sql("SELECT path, words FROM map_files WHERE root_id = ?1 AND count > 0 ORDER BY path")
        .all([root], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Returns the symbols of some files; empty for a file that is not in the map.
pub(crate) fn symbols(db: &Connection, path: &str, files: &[&str]) -> rusqlite::Result<Vec<String>> {
    let root = root(db, path)?.unwrap_or_default();
    let one = |file: &&str| {
        db.sql("SELECT symbols FROM map_files WHERE root_id = ?1 AND path = ?2").find_value(params![root, file])
    };
    files.iter().map(one).map(|symbols| Ok(symbols?.unwrap_or_default())).collect()
}

/// Updates the rows of files, and removes files that no longer exist.
pub(crate) fn update(tx: &Transaction<'_>, path: &str, files: &[MapFile], gone: &[String]) -> rusqlite::Result<()> {
    let root = root_or_new(tx, path)?;
    for file in files {
        tx.sql("INSERT INTO map_files (root_id, path, bytes, modified, hash, spec, count, words, defines, mentions,
                 symbols)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (root_id, path) DO UPDATE SET bytes = excluded.bytes, modified = excluded.modified,
                 hash = excluded.hash, spec = excluded.spec, count = excluded.count, words = excluded.words, defines = excluded.defines,
                 mentions = excluded.mentions, symbols = excluded.symbols").run(params![
            root,
            file.path,
            file.bytes as i64,
            file.modified,
            file.hash,
            file.spec,
            file.count,
            file.words,
            file.defines,
            file.mentions,
            file.symbols
        ])?;
    }
    gone.iter().try_for_each(|file| remove(tx, root, file))
}

fn remove(tx: &Transaction<'_>, root: i64, file: &str) -> rusqlite::Result<()> {
    tx.sql("DELETE FROM map_files WHERE root_id = ?1 AND path = ?2").run(params![root, file])
}

/// Records the new modification times of files whose contents have not changed.
pub(crate) fn restamp(tx: &Transaction<'_>, path: &str, files: &[(String, i64)]) -> rusqlite::Result<()> {
    let root = root_or_new(tx, path)?;
    for (file, modified) in files {
        tx.sql("UPDATE map_files SET modified = ?3 WHERE root_id = ?1 AND path = ?2")
            .run(params![root, file, modified])?;
    }
    Ok(())
}

/// Returns the commit up to which a folder's history was read, and what its commits changed.
pub(crate) fn commits(db: &Connection, path: &str) -> rusqlite::Result<Option<(String, String)>> {
    db.sql("SELECT head, commits FROM map_roots WHERE path = ?1").find([path], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// Stores what a folder's commits changed.
pub(crate) fn set_commits(tx: &Transaction<'_>, path: &str, head: &str, commits: &str) -> rusqlite::Result<()> {
    let root = root_or_new(tx, path)?;
    tx.sql("UPDATE map_roots SET head = ?2, commits = ?3 WHERE id = ?1").run(params![root, head, commits])
}

pub(crate) fn drop_root(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<()> {
    if let Some(root) = root(tx, path)? {
        tx.sql("DELETE FROM map_files WHERE root_id = ?1").run([root])?;
        tx.sql("DELETE FROM map_roots WHERE id = ?1").run([root])?;
    }
    Ok(())
}

/// Removes files at a path or below it from every folder, along with what is known of their changes.
pub(crate) fn forget(tx: &Transaction<'_>, source: &str) -> rusqlite::Result<()> {
    let source = source.strip_prefix("./").unwrap_or(source);
    for path in roots(tx)? {
        if source == "." {
            drop_root(tx, &path)?;
        } else if let Some(root) = root(tx, &path)? {
            remove(tx, root, source)?;
            tx.sql("DELETE FROM map_files WHERE root_id = ?1 AND path >= ?2 || '/' AND path < ?2 || '0'")
                .run(params![root, source])?;
            set_commits(tx, &path, "", "")?;
        }
    }
    Ok(())
}
