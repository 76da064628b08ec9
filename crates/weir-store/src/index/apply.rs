//! Follows the log. Invariants: the index moves along the log's order, one batch per transaction, each change once;
//! when it has caught up, no word of a forgotten entry is left in its pages.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use weir_core::entry::{INDEXED_HEAD, INDEXED_TAIL};
use weir_core::words;

use super::{MIGRATIONS, text};
use crate::blobs::{BlobReader, Blobs};
use crate::db::{Db, Durability};
use crate::error::{Fault, Result};
use crate::log::changes::{self, Change, What};

/// How much one transaction takes on, so that it stays short. The last entry of a batch may take it above that, by what
/// the index takes of one entry.
const BATCH_CHANGES: usize = 512;
const BATCH_BYTES: u64 = 4 << 20;

/// Taking a chunk's words out of the pages at once costs as much as writing this many chunks anew: 74 ms against
/// 0.16 ms, measured at 20 MB of text. Below that share of the index each word is wiped, above it all is written anew.
const WIPE_COST: usize = 400;

/// Brings the index up to the log's head, telling after each batch how many changes it has followed. Returns that
/// number in the end.
pub(crate) fn catch_up(index: &mut Db, log: &Db, blobs: &Blobs, mut tell: impl FnMut(usize)) -> Result<usize> {
    let mut followed = 0;
    loop {
        match position(index, log)? {
            Ordering::Equal => break,
            // The lock comes first: of many processes that see the same lag, one works and the others find it done.
            Ordering::Less => {
                followed += index.write(Durability::Process, |tx| follow(tx, log, blobs))?;
                tell(followed);
            }
            // The log is not the one that was followed; an older one was put in its place.
            Ordering::Greater => start_over(index)?,
        }
    }
    if index.read(has_residue)? {
        index.write(Durability::Process, clear_residue)?;
    }
    Ok(followed)
}

/// Writes the full-text tables anew without the words of removed chunks.
pub(crate) fn clear_residue(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "INSERT INTO words (words) VALUES ('optimize');
         INSERT INTO pieces (pieces) VALUES ('optimize');
         UPDATE progress SET residue = 0 WHERE id = 1;",
    )
}

/// Forgets everything and starts again from the log's beginning.
pub(crate) fn start_over(index: &mut Db) -> Result<()> {
    index.write(Durability::Process, |tx| -> rusqlite::Result<()> {
        tx.execute_batch(
            "DROP TABLE words; DROP TABLE pieces; DROP TABLE chunks; DROP TABLE documents; DROP TABLE progress;",
        )?;
        MIGRATIONS.iter().try_for_each(|migration| tx.execute_batch(migration.sql))
    })
}

/// Where the index stands against the log. What it has applied is read first, since the log only ever grows.
fn position(index: &Db, log: &Db) -> Result<Ordering> {
    let applied = index.read(applied)?;
    Ok(applied.cmp(&log.read(changes::head)?))
}

/// The ids of an entry's chunks.
pub(crate) fn chunk_ids(connection: &Connection, entry_id: i64) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM chunks WHERE entry_id = ?1 ORDER BY ordinal")?;
    statement.query_map([entry_id], |row| row.get(0))?.collect()
}

/// How far the index has come.
pub(crate) fn applied(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT applied FROM progress WHERE id = 1")?.query_row([], |row| row.get(0))
}

fn has_residue(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT residue FROM progress WHERE id = 1")?.query_row([], |row| row.get(0))
}

fn follow(tx: &Transaction<'_>, log: &Db, blobs: &Blobs) -> Result<usize, Fault> {
    let from = applied(tx)?;
    let (mut reached, mut followed, mut bytes) = (from, 0, 0);
    let batch = log.read(|c| changes::since(c, from, BATCH_CHANGES))?;
    let wipe = wiping_is_cheaper(tx, &batch)?;
    for change in batch {
        if bytes >= BATCH_BYTES {
            break;
        }
        match change.what {
            What::Kept => {
                if let Some((document, text)) = blobs.open(log, |c| load(c, change.entry_id))? {
                    bytes += text.bytes().min(INDEXED_HEAD + INDEXED_TAIL);
                    add(tx, change.entry_id, &document, &text)?;
                }
            }
            What::Forgotten if wipe => {
                set_wiping(tx, true)?;
                remove(tx, change.entry_id)?;
                set_wiping(tx, false)?;
            }
            What::Forgotten => {
                remove(tx, change.entry_id)?;
                tx.prepare_cached("UPDATE progress SET residue = 1 WHERE id = 1")?.execute([])?;
            }
            // Nobody asked for these to leave no trace, and someone may be waiting.
            What::OtherwiseGone => remove(tx, change.entry_id)?,
        }
        reached = change.seq;
        followed += 1;
    }
    tx.prepare_cached("UPDATE progress SET applied = ?1 WHERE id = 1")?.execute([reached])?;
    Ok(followed)
}

/// Whether the forgotten entries of a batch are so small a part of the index that each word is better wiped.
fn wiping_is_cheaper(tx: &Transaction<'_>, batch: &[Change]) -> rusqlite::Result<bool> {
    let mut chunks = 0;
    for change in batch.iter().filter(|change| change.what == What::Forgotten) {
        chunks += chunk_ids(tx, change.entry_id)?.len();
    }
    // The largest id is about how many there are, and costs nothing to find.
    let all: Option<i64> = tx.prepare_cached("SELECT max(id) FROM chunks")?.query_row([], |row| row.get(0))?;
    Ok(chunks * WIPE_COST <= all.unwrap_or(0) as usize)
}

/// Whether removing a chunk takes its words out of the pages at once, or leaves that to a later merge.
fn set_wiping(tx: &Transaction<'_>, on: bool) -> rusqlite::Result<()> {
    for table in ["words", "pieces"] {
        tx.prepare_cached(&format!("INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', ?1)"))?
            .execute([on])?;
    }
    Ok(())
}

/// What the index takes from the log for one entry.
struct Document {
    kind: String,
    level: String,
    client: Option<String>,
    session: Option<String>,
    work: Option<String>,
    source: Option<String>,
    at: i64,
    title: String,
}

/// Reads an entry for the index; none when it is gone by now.
fn load(connection: &Connection, entry_id: i64) -> Result<Option<(Document, i64)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT e.kind, e.level, s.client, s.key, w.name, e.source, e.at, e.title, e.blob_id
         FROM entries e LEFT JOIN sessions s ON s.id = e.session_id LEFT JOIN works w ON w.id = e.work_id
         WHERE e.id = ?1",
    )?;
    let mut rows = statement.query([entry_id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let document = Document {
        kind: row.get(0)?,
        level: row.get(1)?,
        client: row.get(2)?,
        session: row.get(3)?,
        work: row.get(4)?,
        source: row.get(5)?,
        at: row.get(6)?,
        title: row.get(7)?,
    };
    Ok(Some((document, row.get(8)?)))
}

fn add(tx: &Transaction<'_>, entry_id: i64, document: &Document, reader: &BlobReader) -> Result<(), Fault> {
    tx.prepare_cached(
        "INSERT INTO documents (entry_id, kind, level, client, session, work, source, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        entry_id,
        document.kind,
        document.level,
        document.client,
        document.session,
        document.work,
        document.source,
        document.at
    ])?;
    let heading = Heading { title: &document.title, hidden: words::hidden_words(&document.title) };
    let mut position = Position { entry_id, ordinal: 0, start: 0, line: 1 };
    for part in text::parts(reader)? {
        (position.start, position.line) = (part.start(), part.first_line()?);
        part.each_chunk(|chunk| -> Result<(), Fault> {
            insert_chunk(tx, position, &heading, &readable(chunk))?;
            position.pass(chunk);
            Ok(())
        })?;
    }
    if position.ordinal == 0 {
        // An empty text can still be found by its title.
        insert_chunk(tx, position, &heading, "")?;
    }
    Ok(())
}

/// What every chunk of an entry has in common.
struct Heading<'a> {
    title: &'a str,
    hidden: String,
}

#[derive(Clone, Copy)]
struct Position {
    entry_id: i64,
    ordinal: u32,
    start: u64,
    line: u64,
}

impl Position {
    /// Moves past a chunk.
    fn pass(&mut self, chunk: &[u8]) {
        self.ordinal += 1;
        self.start += chunk.len() as u64;
        self.line += chunk.iter().filter(|&&byte| byte == b'\n').count() as u64;
    }
}

fn insert_chunk(tx: &Transaction<'_>, position: Position, heading: &Heading<'_>, body: &str) -> rusqlite::Result<()> {
    let Heading { title, hidden } = heading;
    let hidden = format!("{hidden}{}", words::hidden_words(body));
    let id = tx
        .prepare_cached(
            "INSERT INTO chunks (entry_id, ordinal, start, line, title, body, hidden)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .insert(params![
            position.entry_id,
            position.ordinal,
            position.start as i64,
            position.line as i64,
            title,
            body,
            hidden
        ])?;
    tx.prepare_cached("INSERT INTO words (rowid, title, body, hidden) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, title, body, hidden])?;
    tx.prepare_cached("INSERT INTO pieces (rowid, title, body) VALUES (?1, ?2, ?3)")?
        .execute(params![id, title, body])
        .map(drop)
}

fn remove(tx: &Transaction<'_>, entry_id: i64) -> Result<(), Fault> {
    for id in chunk_ids(tx, entry_id)? {
        // An external-content table must be told the very values it was given.
        tx.prepare_cached(
            "INSERT INTO words (words, rowid, title, body, hidden)
             SELECT 'delete', id, title, body, hidden FROM chunks WHERE id = ?1",
        )?
        .execute([id])?;
        tx.prepare_cached(
            "INSERT INTO pieces (pieces, rowid, title, body) SELECT 'delete', id, title, body FROM chunks WHERE id = ?1",
        )?
        .execute([id])?;
        tx.prepare_cached("DELETE FROM chunks WHERE id = ?1")?.execute([id])?;
    }
    tx.prepare_cached("DELETE FROM documents WHERE entry_id = ?1")?.execute([entry_id])?;
    Ok(())
}

/// Text as the index and a reader can take it: valid, and without control characters that could move a cursor or
/// stand for our marks.
fn readable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
}

/// How much of these chunks and entries is left in each part of the index. The id of a removed chunk may already be
/// that of a new one.
pub(crate) fn remaining(
    connection: &Connection,
    entries: &[i64],
    chunks: &[i64],
) -> rusqlite::Result<Vec<(&'static str, usize)>> {
    let count = |sql: &str, ids: &[i64]| -> rusqlite::Result<usize> {
        let mut statement = connection.prepare_cached(sql)?;
        let mut found = 0;
        for id in ids {
            found += statement.query_row([id], |_| Ok(1)).optional()?.unwrap_or(0);
        }
        Ok(found)
    };
    Ok(vec![
        ("documents", count("SELECT 1 FROM documents WHERE entry_id = ?1", entries)?),
        ("chunks", count("SELECT 1 FROM chunks WHERE entry_id = ?1", entries)?),
        (
            "words",
            count(
                "SELECT 1 FROM words_docsize WHERE id = ?1 AND id NOT IN (SELECT id FROM chunks WHERE id = ?1)",
                chunks,
            )?,
        ),
        (
            "pieces",
            count(
                "SELECT 1 FROM pieces_docsize WHERE id = ?1 AND id NOT IN (SELECT id FROM chunks WHERE id = ?1)",
                chunks,
            )?,
        ),
    ])
}
