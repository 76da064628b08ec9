//! Embeds chunks that have no vector yet. Invariant: no lock is held while the model works, and its vectors are dropped
//! if the index has changed in the meantime.

use rusqlite::{Connection, Transaction};
use weir_embed::Embed;

use super::meaning::{embed, text_of};
use super::vectors::{self, EmbedProgress};
use crate::db::{Db, Durability};
use crate::error::{Result, StoreError};

/// What to do if another process is writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Wait for the lock.
    Wait,
    /// Do nothing, because someone is waiting for an answer.
    IfFree,
}

/// Embeds at most `most` chunks. Returns how many chunks still have no vector.
pub(crate) fn embed_pending(index: &mut Db, model: &dyn Embed, most: usize, lock: Lock) -> Result<u64> {
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
        let chunks = after(c, before.embedded, most)?;
        Ok((before, chunks))
    })?;
    // If no chunks are left, everything before the next chunk is done, including chunks that are gone.
    let last = chunks.last().map(|(id, _)| *id).filter(|_| chunks.len() == most);
    let reached = last.unwrap_or(before.next_chunk - 1);
    if reached == before.embedded {
        return Ok(0);
    }
    let made = embed(model, &chunks).map_err(|error| StoreError::NoVectors { detail: error.to_string() })?;
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

fn after(connection: &Connection, id: i64, most: usize) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare_cached("SELECT id FROM chunks WHERE id > ?1 ORDER BY id LIMIT ?2")?;
    let ids = statement.query_map([id, most as i64], |row| row.get::<_, i64>(0))?;
    let ids: Vec<i64> = ids.collect::<rusqlite::Result<_>>()?;
    let mut texts = Vec::with_capacity(ids.len());
    for id in ids {
        texts.extend(text_of(connection, id)?);
    }
    Ok(texts)
}
