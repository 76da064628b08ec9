//! Embeds chunks that have no vector yet. Invariant: no lock is held while the model works, and its vectors are dropped
//! if the index has changed in the meantime.

use rusqlite::{Connection, Transaction};
use weir_embed::Embed;

use super::chunk_texts::ChunkTexts;
use super::documents::{self, ChunkRow};
use super::meaning::embed;
use super::vectors::{self, EmbedProgress};
use crate::db::{Db, Durability};
use crate::error::{Fault, Result, StoreError};
use crate::feed::Feed;

/// What to do if another process is writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Wait for the lock.
    Wait,
    /// Do nothing, because someone is waiting for an answer.
    IfFree,
}

/// Embeds at most `most` chunks. Returns how many chunks still have no vector.
pub(crate) fn embed_pending(
    index: &mut Db,
    feed: &dyn Feed,
    model: &dyn Embed,
    most: usize,
    lock: Lock,
) -> Result<u64> {
    let is_begun = |index: &Db| Ok(index.read(vectors::covered)?.model == model.name());
    if !is_begun(index)? {
        write(index, lock, |tx| vectors::begin(tx, model.name()))?;
        if !is_begun(index)? {
            return index.read(pending);
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
        return Ok(0);
    }
    let made = embed(model, &index.read(|_| read_texts(feed, &chunks))?)
        .map_err(|error| StoreError::NoVectors { detail: error.to_string() })?;
    write(index, lock, |tx| {
        let now = vectors::covered(tx)?;
        if (now.embedded, &now.model) != (before.embedded, &before.model) {
            return Ok(());
        }
        let mut kept = Vec::with_capacity(made.len());
        for (id, vector) in made {
            if tx.prepare_cached("SELECT 1 FROM chunks WHERE id = ?1")?.exists([id])? {
                kept.push((id, vector));
            }
        }
        vectors::add(tx, &kept, reached)
    })?;
    index.read(pending)
}

fn write(index: &mut Db, lock: Lock, work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<()>) -> Result<()> {
    match lock {
        Lock::Wait => index.write(Durability::Process, work),
        Lock::IfFree => index.write_if_free(Durability::Process, work).map(drop),
    }
}

/// Returns roughly how many chunks have no vector yet. Chunks that are gone are counted too.
pub(crate) fn pending(connection: &Connection) -> rusqlite::Result<u64> {
    let EmbedProgress { embedded, next_chunk, .. } = vectors::covered(connection)?;
    Ok(u64::try_from(next_chunk - 1 - embedded).unwrap_or_default())
}

/// Reads the texts of chunks whose entries are still there.
fn read_texts(feed: &dyn Feed, chunks: &[ChunkRow]) -> Result<Vec<(i64, String)>, Fault> {
    let mut texts = ChunkTexts::new(feed);
    let mut given = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        given.extend(texts.read(chunk)?.map(|text| (chunk.id, text.embedded())));
    }
    Ok(given)
}
