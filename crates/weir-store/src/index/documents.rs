//! Adds entries to the index and removes them. Invariant: an entry whose text cannot be read is marked, and does not
//! keep others from being indexed.

use rusqlite::{Connection, Transaction, params};
use weir_core::EntryKind;
use weir_core::chunk::Form;
use weir_core::words;

use super::vocabulary::Learner;
use super::{text, vectors};
use crate::blobs::BlobReader;
use crate::error::{Fault, Result, StoreError};

/// Separator between the parts of a chunk's title.
pub(super) const HEADING_SEPARATOR: &str = " > ";

/// The data of one entry that the index takes from the log.
pub(super) struct IndexedEntry {
    kind: String,
    level: String,
    client: Option<String>,
    session: Option<String>,
    work: Option<String>,
    source: Option<String>,
    at: i64,
    title: String,
}

/// Reads an entry for the index. Returns `None` if the entry is gone by now.
pub(super) fn load(connection: &Connection, entry_id: i64) -> Result<Option<(IndexedEntry, i64)>, Fault> {
    let mut statement = connection.prepare_cached(
        "SELECT e.kind, e.level, s.client, s.key, w.name, e.source, e.at, e.title, e.blob_id
         FROM entries e LEFT JOIN sessions s ON s.id = e.session_id LEFT JOIN works w ON w.id = e.work_id
         WHERE e.id = ?1",
    )?;
    let mut rows = statement.query([entry_id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let document = IndexedEntry {
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

/// Indexes an entry. Without a reader, only its title.
pub(super) fn add(
    tx: &Transaction<'_>,
    learner: &mut Learner,
    entry_id: i64,
    document: &IndexedEntry,
    reader: Option<&BlobReader>,
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
    let mut writer = ChunkWriter::new(tx, entry_id, &document.title)?;
    let is_whole = match reader.map(|reader| add_text(&mut writer, learner, document, reader)) {
        Some(Ok(())) => true,
        None | Some(Err(Fault::Store(StoreError::Unreadable { .. }))) => false,
        Some(Err(other)) => return Err(other),
    };
    if !is_whole {
        tx.prepare_cached("UPDATE documents SET unreadable = 1 WHERE entry_id = ?1")?.execute([entry_id])?;
    }
    if writer.ordinal == 0 {
        // An entry without text can still be found by its title.
        writer.write("", "", "")?;
    }
    writer.finish()?;
    Ok(())
}

fn add_text(
    writer: &mut ChunkWriter<'_>,
    learner: &mut Learner,
    document: &IndexedEntry,
    reader: &BlobReader,
) -> Result<(), Fault> {
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
            learner.learn(writer.tx, &body)?;
            // In a conversation, a turn is understood from the one before it.
            if form == Form::Turns {
                before = body;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// Writes the chunks of one entry.
struct ChunkWriter<'a> {
    tx: &'a Transaction<'a>,
    entry_id: i64,
    title: &'a str,
    next: i64,
    ordinal: u32,
    start: u64,
    line: u64,
}

impl<'a> ChunkWriter<'a> {
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

    /// Advances past a chunk.
    fn pass(&mut self, chunk: &[u8]) {
        self.ordinal += 1;
        self.start += chunk.len() as u64;
        self.line += chunk.iter().filter(|&&byte| byte == b'\n').count() as u64;
    }

    fn finish(self) -> rusqlite::Result<()> {
        self.tx.prepare_cached("UPDATE progress SET next_chunk = ?1 WHERE id = 1")?.execute([self.next]).map(drop)
    }
}

/// Returns the title of a chunk: that of the entry, followed by the headings above the chunk.
fn title_of_chunk(title: &str, heading: &str) -> String {
    if heading.is_empty() { title.to_owned() } else { format!("{title}{HEADING_SEPARATOR}{heading}") }
}

/// Returns the texts of an entry's chunks, each with its title.
pub(super) fn texts_of(tx: &Transaction<'_>, entry_id: i64) -> rusqlite::Result<Vec<String>> {
    let mut statement = tx.prepare_cached("SELECT title || ' ' || body FROM chunks WHERE entry_id = ?1")?;
    statement.query_map([entry_id], |row| row.get(0))?.collect()
}

/// Removes an entry. Returns how many chunks it had.
pub(super) fn remove(tx: &Transaction<'_>, entry_id: i64) -> Result<usize, Fault> {
    let chunks = chunk_ids(tx, entry_id)?;
    vectors::remove(tx, &chunks)?;
    for &id in &chunks {
        // An external-content table needs the exact values that were inserted.
        tx.prepare_cached(
            "INSERT INTO words (words, rowid, title, body, hidden, before)
             SELECT 'delete', id, title, body, hidden, before FROM chunks WHERE id = ?1",
        )?
        .execute([id])?;
        tx.prepare_cached("DELETE FROM chunks WHERE id = ?1")?.execute([id])?;
    }
    tx.prepare_cached("DELETE FROM documents WHERE entry_id = ?1")?.execute([entry_id])?;
    Ok(chunks.len())
}

/// Makes text valid and readable: without control characters that could move a cursor or be taken for our marks.
fn readable(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    if !text.as_bytes().iter().any(|&byte| (byte < b' ' && byte != b'\n' && byte != b'\t') || byte >= 0x7f) {
        return text.into_owned();
    }
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }).collect()
}

/// Returns the ids of an entry's chunks.
pub(crate) fn chunk_ids(connection: &Connection, entry_id: i64) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached("SELECT id FROM chunks WHERE entry_id = ?1 ORDER BY ordinal")?;
    statement.query_map([entry_id], |row| row.get(0))?.collect()
}
