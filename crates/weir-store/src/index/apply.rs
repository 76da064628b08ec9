//! Follows the log. Invariants: the index moves along the log's order, one batch per transaction, each change once;
//! when it has caught up, no word of a forgotten entry is left in its pages.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use weir_core::EntryKind;
use weir_core::chunk::Form;
use weir_core::entry::{INDEXED_HEAD, INDEXED_TAIL};
use weir_core::words;

use super::vocabulary::{self, Learner};
use super::{MIGRATIONS, text, vectors};
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

/// Stands between the parts of a chunk's title.
pub(super) const BELOW: &str = " > ";

/// Brings the index up to the log's head, telling after each batch how many changes it has followed. Returns that
/// number in the end.
pub(crate) fn catch_up(
    index: &mut Db,
    (log, blobs): (&Db, &Blobs),
    learner: &mut Learner,
    mut tell: impl FnMut(usize),
) -> Result<usize> {
    let mut followed = 0;
    learner.trust_only(index.read(changed_by_others)?);
    loop {
        match position(index, log)? {
            Ordering::Equal => break,
            // The lock comes first: of many processes that see the same lag, one works and the others find it done.
            Ordering::Less => {
                followed += index
                    .write(Durability::Process, |tx| follow(tx, log, blobs, learner))
                    .inspect_err(|_| learner.distrust())?;
                tell(followed);
            }
            // The log is not the one that was followed; an older one was put in its place.
            Ordering::Greater => {
                start_over(index)?;
                learner.distrust();
            }
        }
    }
    if index.read(has_residue)? {
        index.write(Durability::Process, clear_residue)?;
        learner.distrust();
    }
    Ok(followed)
}

/// Takes one step towards the log's head, unless another process is at it. False then.
pub(crate) fn step_if_free(index: &mut Db, (log, blobs): (&Db, &Blobs), learner: &mut Learner) -> Result<bool> {
    learner.trust_only(index.read(changed_by_others)?);
    match position(index, log)? {
        Ordering::Equal => Ok(true),
        Ordering::Less => {
            let step = index.write_if_free(Durability::Process, |tx| follow(tx, log, blobs, learner));
            Ok(step.inspect_err(|_| learner.distrust())?.is_some())
        }
        Ordering::Greater => {
            start_over(index)?;
            learner.distrust();
            Ok(true)
        }
    }
}

/// A number that changes when another connection has written to the index.
fn changed_by_others(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Writes the full-text tables anew without the words of removed chunks.
pub(crate) fn clear_residue(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "INSERT INTO words (words) VALUES ('optimize');
         UPDATE progress SET residue = 0 WHERE id = 1;",
    )?;
    vocabulary::relearn(tx)?;
    tx.execute_batch("INSERT INTO spellings (spellings) VALUES ('optimize');")
}

/// Forgets everything and starts again from the log's beginning.
pub(crate) fn start_over(index: &mut Db) -> Result<()> {
    index.write(Durability::Process, |tx| -> rusqlite::Result<()> {
        tx.execute_batch(
            "DROP TABLE words; DROP TABLE chunks; DROP TABLE documents; DROP TABLE progress;
             DROP TABLE spellings; DROP TABLE vocabulary; DROP TABLE vectors;
             DROP TABLE map_files; DROP TABLE map_roots;",
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

fn follow(tx: &Transaction<'_>, log: &Db, blobs: &Blobs, learner: &mut Learner) -> Result<usize, Fault> {
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
                    add(tx, learner, change.entry_id, &document, &text)?;
                }
            }
            What::Forgotten if wipe => {
                set_wiping(tx, true)?;
                let texts = texts_of(tx, change.entry_id)?;
                remove(tx, change.entry_id)?;
                texts.iter().try_for_each(|text| vocabulary::forget(tx, text))?;
                learner.distrust();
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
    for table in ["words", "spellings"] {
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

fn add(
    tx: &Transaction<'_>,
    learner: &mut Learner,
    entry_id: i64,
    document: &Document,
    reader: &BlobReader,
) -> Result<(), Fault> {
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
    learner.learn(tx, &document.title)?;
    let mut writer = Writer::new(tx, entry_id, &document.title)?;
    let kind = EntryKind::parse(&document.kind).unwrap_or(EntryKind::Run);
    let mut form = None;
    for part in text::parts(reader)? {
        let form = *form.get_or_insert_with(|| part.form(kind, document.source.as_deref()));
        (writer.start, writer.line) = (part.start(), part.first_line()?);
        let mut before = String::new();
        part.each_chunk(form, |chunk, heading| -> Result<(), Fault> {
            let body = readable(chunk);
            writer.write(heading, &body, &before)?;
            writer.pass(chunk);
            learner.learn(tx, &body)?;
            // In a conversation a turn is understood by the one before it.
            if form == Form::Turns {
                before = body;
            }
            Ok(())
        })?;
    }
    if writer.ordinal == 0 {
        // An empty text can still be found by its title.
        writer.write("", "", "")?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes the chunks of one entry.
struct Writer<'a> {
    tx: &'a Transaction<'a>,
    entry_id: i64,
    title: &'a str,
    next: i64,
    ordinal: u32,
    start: u64,
    line: u64,
}

impl<'a> Writer<'a> {
    fn new(tx: &'a Transaction<'a>, entry_id: i64, title: &'a str) -> rusqlite::Result<Self> {
        let next = vectors::covered(tx)?.next_chunk;
        Ok(Self { tx, entry_id, title, next, ordinal: 0, start: 0, line: 1 })
    }

    fn write(&mut self, heading: &str, body: &str, before: &str) -> rusqlite::Result<()> {
        let title = title_of_chunk(self.title, heading);
        let hidden = format!("{}{}", words::hidden_words(&title), words::hidden_words(body));
        let (start, line) = (self.start as i64, self.line as i64);
        self.tx
            .prepare_cached(
                "INSERT INTO chunks (id, entry_id, ordinal, start, line, title, body, hidden, before)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![self.next, self.entry_id, self.ordinal, start, line, title, body, hidden, before])?;
        self.tx
            .prepare_cached("INSERT INTO words (rowid, title, body, hidden, before) VALUES (?1, ?2, ?3, ?4, ?5)")?
            .execute(params![self.next, title, body, hidden, before])?;
        self.next += 1;
        Ok(())
    }

    /// Moves past a chunk.
    fn pass(&mut self, chunk: &[u8]) {
        self.ordinal += 1;
        self.start += chunk.len() as u64;
        self.line += chunk.iter().filter(|&&byte| byte == b'\n').count() as u64;
    }

    fn finish(self) -> rusqlite::Result<()> {
        self.tx.prepare_cached("UPDATE progress SET next_chunk = ?1 WHERE id = 1")?.execute([self.next]).map(drop)
    }
}

/// The title of a chunk: the entry's, and the headings it stands under.
fn title_of_chunk(title: &str, heading: &str) -> String {
    if heading.is_empty() { title.to_owned() } else { format!("{title}{BELOW}{heading}") }
}

/// The texts of an entry, with its title.
fn texts_of(tx: &Transaction<'_>, entry_id: i64) -> rusqlite::Result<Vec<String>> {
    let mut statement = tx.prepare_cached("SELECT title || ' ' || body FROM chunks WHERE entry_id = ?1")?;
    statement.query_map([entry_id], |row| row.get(0))?.collect()
}

fn remove(tx: &Transaction<'_>, entry_id: i64) -> Result<(), Fault> {
    let chunks = chunk_ids(tx, entry_id)?;
    vectors::remove(tx, &chunks)?;
    for id in chunks {
        // An external-content table must be told the very values it was given.
        tx.prepare_cached(
            "INSERT INTO words (words, rowid, title, body, hidden, before)
             SELECT 'delete', id, title, body, hidden, before FROM chunks WHERE id = ?1",
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
    if !text.as_bytes().iter().any(|&byte| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte >= 0x7f) {
        return text.into_owned();
    }
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
}

/// How much of these chunks and entries is left in each part of the index.
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
        ("words", count("SELECT 1 FROM words_docsize WHERE id = ?1", chunks)?),
        ("vectors", vectors::remaining(connection, chunks)?),
    ])
}
