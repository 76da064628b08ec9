//! Hands out chunks that have no vector yet, and takes their vectors. Invariant: nothing is locked in between, while a
//! model works; a vector is dropped if its chunk is another one by then.

use std::collections::HashMap;

use rusqlite::{Connection, Transaction, params};
use weir_core::query::{ChunkId, ChunkVector};
use weir_ledger::Sql as _;

use super::chunk_texts::ChunkTexts;
use super::documents::{self, ChunkRow};
use super::vectors::{self, EmbedProgress};
use crate::db::{Db, Durability};
use crate::error::{Fault, Result, Unreadable};
use crate::feed::Feed;
use crate::quantised::{Quantised, quantise};

/// What to do if another process is writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockPolicy {
    Wait,
    /// Do nothing, because someone is waiting for an answer.
    GiveUp,
}

/// The text of a chunk, as a model embeds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkText {
    pub chunk: ChunkId,
    /// The title of the entry, the headings above the chunk, and the chunk itself.
    pub text: String,
}

/// The next chunks that have no vector, with the state of the index that they were read from.
#[derive(Debug)]
pub struct UnembeddedChunks {
    texts: ReadChunks,
    chunks: Vec<ChunkRow>,
    before: EmbedProgress,
    reached: i64,
}

/// The texts of some chunks.
#[derive(Debug, Default)]
struct ReadChunks {
    given: Vec<ChunkText>,
    /// The entries of chunks whose text cannot be read at the moment.
    unavailable: Vec<i64>,
}

impl UnembeddedChunks {
    /// Returns the texts to embed. There may be none, if all of these chunks are gone.
    pub fn texts(&self) -> &[ChunkText] {
        &self.texts.given
    }
}

/// Returns at most `most` chunks that have no vector of this model, or `None` if there are none. If the index has
/// vectors of another model, they are removed first.
pub(crate) fn next(
    index: &mut Db,
    feed: &dyn Feed,
    model: &str,
    most: usize,
    lock: LockPolicy,
) -> Result<Option<UnembeddedChunks>> {
    let is_begun = |index: &Db| Ok(index.read(vectors::covered)?.model == model);
    if !is_begun(index)? {
        write(index, lock, |tx| vectors::begin(tx, model))?;
        if !is_begun(index)? {
            return Ok(None);
        }
    }
    // Read the progress and the next chunks in one view, since another process may be indexing.
    let (before, chunks) = index.read_at_once(|c| -> rusqlite::Result<_> {
        let before = vectors::covered(c)?;
        let chunks = documents::chunks_after(c, before.embedded, most)?;
        Ok((before, chunks))
    })?;
    // If no chunks are left, everything before the next chunk is done, including chunks that are gone.
    let last = chunks.last().map(|chunk| chunk.id).filter(|_| chunks.len() == most);
    let reached = last.unwrap_or(before.next_chunk - 1);
    if reached == before.embedded {
        return Ok(None);
    }
    let texts = index.read(|_| read_texts(feed, &chunks))?;
    Ok(Some(UnembeddedChunks { texts, chunks, before, reached }))
}

/// Keeps the vectors of chunks that were handed out, unless others were kept in the meantime. A chunk without one is
/// found by keywords only. Returns how many chunks still have no vector.
pub(crate) fn keep(index: &mut Db, given: &UnembeddedChunks, made: &[ChunkVector], lock: LockPolicy) -> Result<u64> {
    let mut made: HashMap<i64, Quantised> =
        made.iter().map(|vector| (vector.chunk.0, quantise(&vector.values))).collect();
    write(index, lock, |tx| {
        let now = vectors::covered(tx)?;
        if (now.embedded, &now.model) != (given.before.embedded, &given.before.model) {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(made.len());
        // In the order of the index, which is how vectors are stored.
        for chunk in &given.chunks {
            let Some(vector) = made.remove(&chunk.id) else { continue };
            // An index that was rebuilt gives its ids to other chunks.
            let is_same = tx
                .sql("SELECT 1 FROM chunks WHERE id = ?1 AND entry_id = ?2 AND ordinal = ?3")
                .has(params![chunk.id, chunk.entry_id, chunk.ordinal])?;
            if is_same {
                kept.push((chunk.id, vector));
            }
        }
        // Indexed again, these entries have new chunks, which get vectors.
        given.texts.unavailable.iter().try_for_each(|&entry| documents::mark(tx, entry, Unreadable::Now))?;
        vectors::add(tx, &kept, given.reached)
    })?;
    index.read(pending)
}

fn write(index: &mut Db, lock: LockPolicy, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) -> Result<()> {
    match lock {
        LockPolicy::Wait => index.write(Durability::Process, work),
        LockPolicy::GiveUp => index.write_if_free(Durability::Process, work).map(drop),
    }
}

/// Returns roughly how many chunks have no vector yet. Chunks that are gone are counted too.
pub(crate) fn pending(db: &Connection) -> rusqlite::Result<u64> {
    let EmbedProgress { embedded, next_chunk, .. } = vectors::covered(db)?;
    Ok(u64::try_from(next_chunk - 1 - embedded).unwrap_or_default())
}

/// Returns the texts of these chunks, as far as they are still there and can be read.
pub(crate) fn texts_of(db: &Connection, feed: &dyn Feed, chunks: &[ChunkId]) -> Result<Vec<ChunkText>, Fault> {
    let mut rows = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        rows.extend(documents::chunk(db, chunk.0)?);
    }
    Ok(read_texts(feed, &rows)?.given)
}

fn read_texts(feed: &dyn Feed, chunks: &[ChunkRow]) -> Result<ReadChunks, Fault> {
    let mut texts = ChunkTexts::new(feed);
    let mut read = ReadChunks::default();
    for chunk in chunks {
        match texts.read(chunk)? {
            Some(text) if text.unreadable == Some(Unreadable::Now) => read.unavailable.push(chunk.entry_id),
            Some(text) => read.given.push(ChunkText { chunk: ChunkId(chunk.id), text: text.embedded() }),
            None => {}
        }
    }
    Ok(read)
}
