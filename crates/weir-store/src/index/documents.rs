//! Adds entries to the index and removes them. Invariant: an entry whose text cannot be read is marked, and does not
//! keep others from being indexed. Marks are not for good: marked entries are tried again.

use rusqlite::{Connection, Row, Transaction, params};
use weir_core::EntryKind;
use weir_core::chunk::Form;
use weir_core::words;
use weir_ledger::Sql as _;

use super::span::{Span, readable};
use super::vocabulary::Learner;
use super::{text, vectors};
use crate::blobs::BlobReader;
use crate::error::{Fault, Result, Unreadable};
use crate::feed::IndexedEntry;

/// Separator between the parts of a chunk's title.
const HEADING_SEPARATOR: &str = " > ";

#[derive(Debug, Clone)]
pub(super) struct ChunkRow {
    pub(super) id: i64,
    pub(super) entry_id: i64,
    pub(super) ordinal: u32,
    pub(super) span: Span,
    /// The line of the entry on which the chunk begins, from 1.
    pub(super) line: u64,
    /// The headings, symbols or keys above the chunk.
    pub(super) heading: String,
}

/// The columns of [`ChunkRow`], in its order.
pub(super) const CHUNK_COLUMNS: &str =
    "chunks.id, chunks.entry_id, chunks.ordinal, chunks.anchor, chunks.skip, chunks.bytes, chunks.line, chunks.heading";

impl ChunkRow {
    /// Reads a row that begins with [`CHUNK_COLUMNS`].
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number = |column: usize| row.get::<_, i64>(column).map(|number| number as u64);
        Ok(Self {
            id: row.get(0)?,
            entry_id: row.get(1)?,
            ordinal: row.get(2)?,
            span: Span { anchor: number(3)?, skip: number(4)?, bytes: number(5)? },
            line: number(6)?,
            heading: row.get(7)?,
        })
    }
}

pub(super) fn chunk(db: &Connection, id: i64) -> rusqlite::Result<Option<ChunkRow>> {
    let sql = format!("SELECT {CHUNK_COLUMNS} FROM chunks WHERE id = ?1");
    db.sql(&sql).find([id], ChunkRow::read)
}

pub(super) fn first_chunk(db: &Connection, entry_id: i64) -> rusqlite::Result<Option<ChunkRow>> {
    let sql = format!("SELECT {CHUNK_COLUMNS} FROM chunks WHERE entry_id = ?1 ORDER BY ordinal LIMIT 1");
    db.sql(&sql).find([entry_id], ChunkRow::read)
}

/// Returns the length of an entry's text, as far as it is indexed.
pub(super) fn bytes(db: &Connection, entry_id: i64) -> rusqlite::Result<u64> {
    let bytes: i64 = db.sql("SELECT coalesce(sum(bytes), 0) FROM chunks WHERE entry_id = ?1").value([entry_id])?;
    Ok(bytes.cast_unsigned())
}

pub(super) fn has_others(db: &Connection, chunk: &ChunkRow) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM chunks WHERE entry_id = ?1 AND ordinal <> ?2").has(params![chunk.entry_id, chunk.ordinal])
}

pub(super) fn chunks_of(db: &Connection, entry_id: i64) -> rusqlite::Result<Vec<ChunkRow>> {
    let sql = format!("SELECT {CHUNK_COLUMNS} FROM chunks WHERE entry_id = ?1 ORDER BY ordinal");
    db.sql(&sql).all([entry_id], ChunkRow::read)
}

/// Returns at most `most` chunks after this one, in order.
pub(super) fn chunks_after(db: &Connection, id: i64, most: usize) -> rusqlite::Result<Vec<ChunkRow>> {
    let sql = format!("SELECT {CHUNK_COLUMNS} FROM chunks WHERE id > ?1 ORDER BY id LIMIT ?2");
    db.sql(&sql).all([id, most as i64], ChunkRow::read)
}

/// Indexes an entry. If its text cannot be read, only its title.
pub(super) fn add(
    tx: &Transaction<'_>,
    learner: &mut Learner,
    entry_id: i64,
    document: &IndexedEntry,
) -> Result<(), Fault> {
    tx.sql(
        "INSERT INTO documents (entry_id, kind, level, client, session, work, source, at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )
    .run(params![
        entry_id, document.kind, document.level, document.client, document.session, document.work, document.source,
        document.at
    ])?;
    learner.learn(tx, &document.title)?;
    let mut writer = ChunkWriter::new(tx, entry_id, &document.title)?;
    let unreadable = match &document.text {
        Ok(reader) => why_not(add_text(&mut writer, learner, document, reader))?,
        Err(why) => Some(*why),
    };
    if let Some(why) = unreadable {
        mark(tx, entry_id, why)?;
    }
    if writer.ordinal == 0 {
        // An entry without text can still be found by its title.
        let nothing = text::Chunk { text: b"", heading: "", span: Span { anchor: 0, skip: 0, bytes: 0 }, line: 1 };
        writer.write(&nothing, "", "")?;
    }
    writer.finish()?;
    Ok(())
}

/// Marks an entry whose text cannot be read.
pub(super) fn mark(tx: &Transaction<'_>, entry_id: i64, why: Unreadable) -> rusqlite::Result<()> {
    let mark = match why {
        Unreadable::Lost => 1,
        Unreadable::Now => 2,
    };
    tx.sql("UPDATE documents SET unreadable = ?2 WHERE entry_id = ?1").run(params![entry_id, mark])
}

/// Returns why a text cannot be read, if that is why something failed. Any other error stays an error.
pub(super) fn why_not(read: Result<(), Fault>) -> Result<Option<Unreadable>, Fault> {
    match read {
        Ok(()) => Ok(None),
        Err(Fault::Store(error)) => Ok(Some(error.unreadable_text().ok_or(error)?)),
        Err(other) => Err(other),
    }
}

/// Returns at most `most` marked entries with an id below `before`, newest first, and whether each is lost.
pub(crate) fn marked(db: &Connection, before: i64, most: usize) -> rusqlite::Result<Vec<(i64, Unreadable)>> {
    let mark = |number: i64| if number == 1 { Unreadable::Lost } else { Unreadable::Now };
    db.sql(
        "SELECT entry_id, unreadable FROM documents INDEXED BY documents_unreadable
         WHERE unreadable > 0 AND entry_id < ?1 ORDER BY entry_id DESC LIMIT ?2",
    )
    .all([before, most as i64], |row| Ok((row.get(0)?, mark(row.get(1)?))))
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
        let mut before = String::new();
        part.each_chunk(form, |chunk| -> Result<(), Fault> {
            let body = readable(chunk.text);
            writer.write(&chunk, &body, &before)?;
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

struct ChunkWriter<'a> {
    tx: &'a Transaction<'a>,
    entry_id: i64,
    title: &'a str,
    next: i64,
    ordinal: u32,
}

impl<'a> ChunkWriter<'a> {
    fn new(tx: &'a Transaction<'a>, entry_id: i64, title: &'a str) -> rusqlite::Result<Self> {
        let next = vectors::covered(tx)?.next_chunk;
        Ok(Self { tx, entry_id, title, next, ordinal: 0 })
    }

    fn write(&mut self, chunk: &text::Chunk<'_>, body: &str, before: &str) -> rusqlite::Result<()> {
        let title = title_of_chunk(self.title, chunk.heading);
        let hidden = format!("{}{}", words::hidden_words(&title), words::hidden_words(body));
        let Span { anchor, skip, bytes } = chunk.span;
        self.tx
            .sql(
                "INSERT INTO chunks (id, entry_id, ordinal, anchor, skip, bytes, line, heading)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )
            .run(params![
                self.next, self.entry_id, self.ordinal, anchor as i64, skip as i64, bytes as i64, chunk.line as i64,
                chunk.heading
            ])?;
        self.tx
            .sql("INSERT INTO words (rowid, body, title, hidden, before) VALUES (?1, ?2, ?3, ?4, ?5)")
            .run(params![self.next, body, title, hidden, before])?;
        self.next += 1;
        self.ordinal += 1;
        Ok(())
    }

    fn finish(self) -> rusqlite::Result<()> {
        self.tx.sql("UPDATE progress SET next_chunk = ?1 WHERE id = 1").run([self.next])
    }
}

/// Returns the title of a chunk: that of the entry, followed by the headings above the chunk.
pub(super) fn title_of_chunk(title: &str, heading: &str) -> String {
    if heading.is_empty() { title.to_owned() } else { format!("{title}{HEADING_SEPARATOR}{heading}") }
}

/// Removes an entry. Returns how many chunks it had.
pub(super) fn remove(tx: &Transaction<'_>, entry_id: i64) -> Result<usize, Fault> {
    let chunks = chunk_ids(tx, entry_id)?;
    vectors::remove(tx, &chunks)?;
    for &id in &chunks {
        tx.sql("DELETE FROM words WHERE rowid = ?1").run([id])?;
        tx.sql("DELETE FROM chunks WHERE id = ?1").run([id])?;
    }
    tx.sql("DELETE FROM documents WHERE entry_id = ?1").run([entry_id])?;
    Ok(chunks.len())
}

pub(crate) fn chunk_ids(db: &Connection, entry_id: i64) -> rusqlite::Result<Vec<i64>> {
    db.sql("SELECT id FROM chunks WHERE entry_id = ?1 ORDER BY ordinal").values([entry_id])
}
