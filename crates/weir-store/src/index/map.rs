//! The map of folders. Invariant: a file of a folder has one row; nothing here is derived from the log, so that following
//! the log leaves it alone.

use rusqlite::{Connection, OptionalExtension, Transaction, params};

/// A file as the map keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MapFile {
    /// Its path below the folder.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last changed, in nanoseconds since 1970; 0 if it may change again without looking newer.
    pub modified: i64,
    /// BLAKE3 of its bytes.
    pub hash: Vec<u8>,
    /// The language and the version of what reads it.
    pub spec: String,
    /// How many symbols it has.
    pub count: u32,
    /// The words it is found by.
    pub words: Vec<u8>,
    /// The names it defines.
    pub defines: Vec<u8>,
    /// The names that stand in it.
    pub mentions: Vec<u8>,
    /// Its symbols, one on a line. Not filled where many files are read at once.
    pub symbols: String,
}

/// The id of a folder, if it was mapped.
pub(crate) fn root(connection: &Connection, path: &str) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM map_roots WHERE path = ?1")?;
    statement.query_row([path], |row| row.get(0)).optional()
}

fn root_or_new(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<i64> {
    if let Some(id) = root(tx, path)? {
        return Ok(id);
    }
    tx.prepare_cached("INSERT INTO map_roots (path, head, commits) VALUES (?1, '', '')")?.execute([path])?;
    Ok(tx.last_insert_rowid())
}

/// The folders that were mapped.
pub(crate) fn roots(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare_cached("SELECT path FROM map_roots ORDER BY path")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// The files of a folder, or of a part of it, in the order of their paths, without their symbols.
pub(crate) fn files(connection: &Connection, path: &str, part: &str) -> rusqlite::Result<Vec<MapFile>> {
    let Some(root) = root(connection, path)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT path, bytes, modified, hash, spec, count, words, defines, mentions FROM map_files
         WHERE root_id = ?1 AND path >= ?2 AND path < ?3 ORDER BY path",
    )?;
    // `0` is the first character after `/`, and no path reaches the last one of all.
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
    statement.query_map(params![root, from, to], file)?.collect()
}

/// The words that the files of a folder are found by, in the order of their paths.
pub(crate) fn words(connection: &Connection, path: &str) -> rusqlite::Result<Vec<(String, Vec<u8>)>> {
    let Some(root) = root(connection, path)? else { return Ok(Vec::new()) };
    let mut statement = connection
        .prepare_cached("SELECT path, words FROM map_files WHERE root_id = ?1 AND count > 0 ORDER BY path")?;
    statement.query_map([root], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The symbols of some files, each empty where the file is not known.
pub(crate) fn symbols(connection: &Connection, path: &str, files: &[&str]) -> rusqlite::Result<Vec<String>> {
    let root = root(connection, path)?.unwrap_or_default();
    let mut statement = connection.prepare_cached("SELECT symbols FROM map_files WHERE root_id = ?1 AND path = ?2")?;
    let one = |file: &&str| statement.query_row(params![root, file], |row| row.get(0)).optional();
    files.iter().map(one).map(|symbols| Ok(symbols?.unwrap_or_default())).collect()
}

/// Puts files in the place of what was known of them, and lets go of those that are gone.
pub(crate) fn update(tx: &Transaction<'_>, path: &str, files: &[MapFile], gone: &[String]) -> rusqlite::Result<()> {
    let root = root_or_new(tx, path)?;
    for file in files {
        tx.prepare_cached(
            "INSERT INTO map_files (root_id, path, bytes, modified, hash, spec, count, words, defines, mentions,
                 symbols)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
             ON CONFLICT (root_id, path) DO UPDATE SET bytes = excluded.bytes, modified = excluded.modified,
                 hash = excluded.hash, spec = excluded.spec, count = excluded.count, words = excluded.words, defines = excluded.defines,
                 mentions = excluded.mentions, symbols = excluded.symbols",
        )?
        .execute(params![
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
    tx.prepare_cached("DELETE FROM map_files WHERE root_id = ?1 AND path = ?2")?.execute(params![root, file]).map(drop)
}

/// Notes that files are what they were, though they look newer.
pub(crate) fn restamp(tx: &Transaction<'_>, path: &str, files: &[(String, i64)]) -> rusqlite::Result<()> {
    let root = root_or_new(tx, path)?;
    for (file, modified) in files {
        tx.prepare_cached("UPDATE map_files SET modified = ?3 WHERE root_id = ?1 AND path = ?2")?
            .execute(params![root, file, modified])?;
    }
    Ok(())
}

/// The commit up to which a folder's history was read, and what its commits changed.
pub(crate) fn commits(connection: &Connection, path: &str) -> rusqlite::Result<Option<(String, String)>> {
    let mut statement = connection.prepare_cached("SELECT head, commits FROM map_roots WHERE path = ?1")?;
    statement.query_row([path], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Keeps what a folder's commits changed.
pub(crate) fn set_commits(tx: &Transaction<'_>, path: &str, head: &str, commits: &str) -> rusqlite::Result<()> {
    let root = root_or_new(tx, path)?;
    tx.prepare_cached("UPDATE map_roots SET head = ?2, commits = ?3 WHERE id = ?1")?
        .execute(params![root, head, commits])
        .map(drop)
}

/// Lets go of a folder.
pub(crate) fn drop_root(tx: &Transaction<'_>, path: &str) -> rusqlite::Result<()> {
    if let Some(root) = root(tx, path)? {
        tx.prepare_cached("DELETE FROM map_files WHERE root_id = ?1")?.execute([root])?;
        tx.prepare_cached("DELETE FROM map_roots WHERE id = ?1")?.execute([root])?;
    }
    Ok(())
}

/// Lets go of files at a path or below it, in every folder, and of what is known of their changes.
pub(crate) fn forget(tx: &Transaction<'_>, source: &str) -> rusqlite::Result<()> {
    let source = source.strip_prefix("./").unwrap_or(source);
    for path in roots(tx)? {
        if source == "." {
            drop_root(tx, &path)?;
        } else if let Some(root) = root(tx, &path)? {
            remove(tx, root, source)?;
            tx.prepare_cached("DELETE FROM map_files WHERE root_id = ?1 AND path >= ?2 || '/' AND path < ?2 || '0'")?
                .execute(params![root, source])?;
            set_commits(tx, &path, "", "")?;
        }
    }
    Ok(())
}
