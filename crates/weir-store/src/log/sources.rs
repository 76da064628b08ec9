//! The sources of indexed texts: files and pages, as of when they were last checked.

use rusqlite::{Connection, Row, Transaction, params};
use weir_core::{Reference, Timestamp};
use weir_ledger::Sql as _;

use super::entries::read_reference;
use super::scopes::{ScopeIds, VISIBLE};

/// The properties that show whether a file has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    pub bytes: u64,
    /// The modification time, in nanoseconds since 1970.
    pub modified: i64,
    /// The hash of the file's bytes.
    pub hash: String,
}

/// A file that was indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// The name under which the file is found.
    pub source: String,
    /// The stamp of the file when it was indexed.
    pub stamp: Stamp,
    /// The entry that has its text.
    pub reference: Reference,
}

/// What a server needs to decide whether a page has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Validators {
    /// The `ETag` header.
    pub etag: Option<String>,
    /// The `Last-Modified` header.
    pub last_modified: Option<String>,
}

/// A page that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageState {
    /// The entry that has its text.
    pub reference: Reference,
    /// What the server needs to decide whether the page has changed.
    pub validators: Validators,
    /// When the server was last asked.
    pub checked_at: Timestamp,
}

pub(crate) struct TextInFile {
    pub(crate) hash: blake3::Hash,
    pub(crate) stored: u64,
}

/// Number of the newest entries whose sources are read.
const MAX_SOURCES: usize = 40;

/// Returns the sources of the newest entries that are visible in a scope, newest first and without repeats.
pub(crate) fn newest(db: &Connection, scope_ids: ScopeIds) -> rusqlite::Result<Vec<String>> {
    let sql = format!(
        "SELECT coalesce(e.source, e.title) FROM entries e
         WHERE {VISIBLE} AND e.id > 0 AND e.kind <> 'said' ORDER BY e.id DESC LIMIT ?3"
    );
    let mut sources: Vec<String> = Vec::new();
    for source in db.sql(&sql).values(params![scope_ids.session, scope_ids.work, MAX_SOURCES as i64])? {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    Ok(sources)
}

pub(crate) fn files(db: &Connection, under: &str) -> rusqlite::Result<Vec<(KnownFile, Option<TextInFile>)>> {
    const SELECT: &str = "SELECT f.source, f.bytes, f.modified, f.hash, e.reference, b.hash, b.stored, b.data IS NULL
         FROM files f CROSS JOIN entries e ON e.id = f.entry_id CROSS JOIN blobs b ON b.id = e.blob_id";
    let mut found: Vec<_> = db.sql(&format!("{SELECT} WHERE f.source = ?1")).all([under], read_file)?;
    // Sources below begin with the source and a slash; `0` is the character after the slash.
    let below = format!("{SELECT} WHERE f.source > ?1 AND f.source < ?2");
    found.extend(db.sql(&below).all([format!("{under}/"), format!("{under}0")], read_file)?);
    Ok(found)
}

fn read_file(row: &Row<'_>) -> rusqlite::Result<(KnownFile, Option<TextInFile>)> {
    let stamp = Stamp { bytes: row.get::<_, i64>(1)? as u64, modified: row.get(2)?, hash: row.get(3)? };
    let file = KnownFile { source: row.get(0)?, stamp, reference: read_reference(row, 4)? };
    Ok((file, read_text_in_file(row, 5)?))
}

/// Reads three columns: the hash of a text, its length as stored, and whether it is in a file.
fn read_text_in_file(row: &Row<'_>, first: usize) -> rusqlite::Result<Option<TextInFile>> {
    let in_file: bool = row.get(first + 2)?;
    let hash: Vec<u8> = row.get(first)?;
    let stored = row.get::<_, i64>(first + 1)? as u64;
    let hash = blake3::Hash::from_slice(&hash).ok().filter(|_| in_file);
    Ok(hash.map(|hash| TextInFile { hash, stored }))
}

/// Removes the row of a file. Returns the entry with its text, unless a note cites the entry, which then stays.
pub(crate) fn release_file(tx: &Transaction<'_>, source: &str) -> rusqlite::Result<Option<i64>> {
    let entry = tx.sql("DELETE FROM files WHERE source = ?1 RETURNING entry_id").find_value([source])?;
    entry.map_or(Ok(None), |id| unless_pinned(tx, id))
}

/// Removes the row of a page. Returns the entry with its text, unless a note cites the entry, which then stays.
pub(crate) fn release_page(tx: &Transaction<'_>, url: &str) -> rusqlite::Result<Option<i64>> {
    let entry = tx.sql("DELETE FROM pages WHERE url = ?1 RETURNING entry_id").find_value([url])?;
    entry.map_or(Ok(None), |id| unless_pinned(tx, id))
}

fn unless_pinned(tx: &Transaction<'_>, id: i64) -> rusqlite::Result<Option<i64>> {
    tx.sql("SELECT id FROM entries WHERE id = ?1 AND pinned = 0").find_value([id])
}

pub(crate) fn set_file(tx: &Transaction<'_>, source: &str, entry_id: i64, stamp: &Stamp) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO files (source, entry_id, bytes, modified, hash) VALUES (?1, ?2, ?3, ?4, ?5)")
        .run(params![source, entry_id, stamp.bytes as i64, stamp.modified, stamp.hash])
}

/// Records the new stamp of a file whose contents have not changed.
pub(crate) fn restamp(tx: &Transaction<'_>, source: &str, stamp: &Stamp) -> rusqlite::Result<()> {
    tx.sql("UPDATE files SET bytes = ?2, modified = ?3, hash = ?4 WHERE source = ?1")
        .run(params![source, stamp.bytes as i64, stamp.modified, stamp.hash])
}

pub(crate) fn page(db: &Connection, url: &str) -> rusqlite::Result<Option<(PageState, Option<TextInFile>)>> {
    db.sql(
        "SELECT e.reference, p.etag, p.last_modified, p.checked_at, b.hash, b.stored, b.data IS NULL
             FROM pages p CROSS JOIN entries e ON e.id = p.entry_id CROSS JOIN blobs b ON b.id = e.blob_id
             WHERE p.url = ?1",
    )
    .find([url], |row| {
        let validators = Validators { etag: row.get(1)?, last_modified: row.get(2)? };
        let page = PageState { reference: read_reference(row, 0)?, validators, checked_at: Timestamp(row.get(3)?) };
        Ok((page, read_text_in_file(row, 4)?))
    })
}

pub(crate) fn set_page(
    tx: &Transaction<'_>,
    url: &str,
    entry_id: i64,
    validators: &Validators,
    now: Timestamp,
) -> rusqlite::Result<()> {
    tx.sql("INSERT INTO pages (url, entry_id, etag, last_modified, checked_at) VALUES (?1, ?2, ?3, ?4, ?5)")
        .run(params![url, entry_id, validators.etag, validators.last_modified, now.0])
}

/// Records that a page has not changed.
pub(crate) fn check_page(tx: &Transaction<'_>, url: &str, now: Timestamp) -> rusqlite::Result<()> {
    tx.sql("UPDATE pages SET checked_at = ?2 WHERE url = ?1").run(params![url, now.0])
}
