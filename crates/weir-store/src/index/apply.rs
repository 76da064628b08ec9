//! Follows the log. Invariants: the index applies each change of the log once and in order, one batch per transaction;
//! once it has caught up, no word of a forgotten entry is left in its pages.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction};
use weir_core::entry::{INDEXED_HEAD_BYTES, INDEXED_TAIL_BYTES};

use super::documents::{add, chunk_ids, load, remove, texts_of};
use super::origin::{self, AppliedChange, Standing};
use super::vocabulary::{self, Learner};
use super::{MIGRATIONS, vectors};
use crate::blobs::Blobs;
use crate::db::{Db, Durability};
use crate::error::{Fault, Result, StoreError};
use crate::log::changes::{self, Change, ChangeKind};

/// Limits of one transaction, so that it stays short. The last entry of a batch may exceed them by the indexed size of
/// one entry.
const BATCH_CHANGES: usize = 512;
const BATCH_BYTES: u64 = 4 << 20;

/// Number of removed chunks up to which the full-text tables are left as they are.
const MIN_REMOVED_CHUNKS: i64 = 50;

/// Wiping the words of one chunk from the pages costs as much as rewriting this many chunks: 74 ms against 0.16 ms,
/// measured with 20 MB of text. Below that share of the index each word is wiped; above it everything is rewritten.
const WIPE_COST: usize = 400;

/// Brings the index up to the head of the log, and returns how many changes it followed. After each batch, calls `tell`
/// with the number so far.
pub(crate) fn catch_up(
    index: &mut Db,
    (log, blobs): (&Db, &Blobs),
    learner: &mut Learner,
    mut tell: impl FnMut(usize),
) -> Result<usize> {
    let mut followed = 0;
    learner.trust_only(index.read(changed_by_others)?);
    loop {
        match standing(index, log)? {
            Standing::CaughtUp => break,
            // Take the lock first: of many processes that see the same lag, one does the work and the others find it
            // done.
            Standing::Behind => {
                followed += index
                    .write(Durability::Process, |tx| follow(tx, log, blobs, learner))
                    .inspect_err(|_| learner.distrust())?;
                tell(followed);
            }
            Standing::Foreign => {
                start_over(index)?;
                learner.distrust();
            }
        }
    }
    if index.read(has_residue)? || index.read(has_outgrown)? {
        index.write(Durability::Process, clear_residue)?;
        learner.distrust();
    }
    Ok(followed)
}

/// Takes one step towards the head of the log. Returns the standing before the step, or `None` if another process held
/// the index for longer than `patience`.
pub(crate) fn step_within(
    patience: Duration,
    index: &mut Db,
    (log, blobs): (&Db, &Blobs),
    learner: &mut Learner,
) -> Result<Option<Standing>> {
    learner.trust_only(index.read(changed_by_others)?);
    let before = standing(index, log)?;
    let step = match before {
        Standing::CaughtUp => Ok(Some(0)),
        Standing::Behind => index.write_within(patience, Durability::Process, |tx| follow(tx, log, blobs, learner)),
        Standing::Foreign => {
            learner.distrust();
            index.write_within(patience, Durability::Process, |tx| drop_everything(tx).map(|()| 0))
        }
    }
    .inspect_err(|_| learner.distrust())?;
    Ok(step.map(|_| before))
}

/// Returns a number that changes whenever another connection writes to the index.
fn changed_by_others(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

/// Rewrites the full-text tables without the words of removed chunks.
pub(crate) fn clear_residue(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "INSERT INTO words (words) VALUES ('optimize');
         UPDATE progress SET residue = 0, removed = 0 WHERE id = 1;",
    )?;
    vocabulary::relearn(tx)?;
    tx.execute_batch("INSERT INTO spellings (spellings) VALUES ('optimize');")
}

/// Removes everything, to start again from the beginning of the log.
pub(crate) fn start_over(index: &mut Db) -> Result<()> {
    index.write(Durability::Process, drop_everything)
}

fn drop_everything(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "DROP TABLE words; DROP TABLE chunks; DROP TABLE documents; DROP TABLE progress;
         DROP TABLE spellings; DROP TABLE vocabulary; DROP TABLE vectors;
         DROP TABLE map_files; DROP TABLE map_roots;",
    )?;
    MIGRATIONS.iter().try_for_each(|migration| tx.execute_batch(migration.sql))
}

/// Returns the standing of the index relative to the log. Reads the progress of the index first, since the log only
/// grows.
pub(crate) fn standing(index: &Db, log: &Db) -> Result<Standing> {
    let origin = index.read(origin::read)?;
    let standing = log.read_at_once(|c| origin.standing(c))?;
    let is_other = standing != Standing::Foreign
        && origin.is_unnamed()
        && !log.read_at_once(|log| index.read_at_once(|index| origin::fits(index, log)))?;
    Ok(if is_other { Standing::Foreign } else { standing })
}

/// Returns the newest entries whose text could not be read, at most `most` of them.
pub(crate) fn unreadable(connection: &Connection, most: usize) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare_cached(
        "SELECT entry_id FROM documents WHERE unreadable = 1 AND entry_id > 0 ORDER BY entry_id DESC LIMIT ?1",
    )?;
    statement.query_map([most as i64], |row| row.get(0))?.collect()
}

fn has_residue(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT residue FROM progress WHERE id = 1")?.query_row([], |row| row.get(0))
}

/// Returns whether more chunks were removed than are left, so that most words of the vocabulary may be obsolete.
fn has_outgrown(connection: &Connection) -> rusqlite::Result<bool> {
    let removed: i64 =
        connection.prepare_cached("SELECT removed FROM progress WHERE id = 1")?.query_row([], |row| row.get(0))?;
    if removed <= MIN_REMOVED_CHUNKS {
        return Ok(false);
    }
    let left: i64 = connection.query_row("SELECT count(*) FROM chunks", [], |row| row.get(0))?;
    Ok(removed > left)
}

fn follow(tx: &Transaction<'_>, log: &Db, blobs: &Blobs, learner: &mut Learner) -> Result<usize, Fault> {
    let from = origin::read(tx)?.applied();
    let (mut last, mut followed, mut bytes) = (None, 0, 0);
    let batch = log.read(|c| changes::since(c, from, BATCH_CHANGES))?;
    let wipe = wiping_is_cheaper(tx, &batch)?;
    for change in batch {
        if bytes >= BATCH_BYTES {
            break;
        }
        match change.kind {
            ChangeKind::Kept => bytes += index_entry(tx, (log, blobs), learner, change.entry_id)?,
            ChangeKind::Forgotten if wipe => {
                set_wiping(tx, true)?;
                let texts = texts_of(tx, change.entry_id)?;
                remove(tx, change.entry_id)?;
                texts.iter().try_for_each(|text| vocabulary::forget(tx, text))?;
                learner.distrust();
                set_wiping(tx, false)?;
            }
            ChangeKind::Forgotten => {
                remove(tx, change.entry_id)?;
                tx.prepare_cached("UPDATE progress SET residue = 1 WHERE id = 1")?.execute([])?;
            }
            // These need not be wiped without a trace, and someone may be waiting.
            ChangeKind::OtherwiseGone => {
                let removed = remove(tx, change.entry_id)?;
                tx.prepare_cached("UPDATE progress SET removed = removed + ?1 WHERE id = 1")?
                    .execute([removed as i64])?;
            }
        }
        last = Some(change);
        followed += 1;
    }
    if let Some(change) = last {
        let (identity, reference) = log.read_at_once(|c| -> rusqlite::Result<_> {
            Ok((origin::identity(c)?, origin::reference(c, change.entry_id)?))
        })?;
        let reference = reference.unwrap_or_default();
        origin::write(tx, &AppliedChange { log: identity, seq: change.seq, entry_id: change.entry_id, reference })?;
    }
    Ok(followed)
}

/// Indexes an entry, unless it is gone by now. If its text cannot be read, indexes the title and as much as can be
/// read, and marks the entry. Returns the size of the indexed text in bytes.
fn index_entry(
    tx: &Transaction<'_>,
    (log, blobs): (&Db, &Blobs),
    learner: &mut Learner,
    entry_id: i64,
) -> Result<u64, Fault> {
    match blobs.open(log, |c| load(c, entry_id)) {
        Ok(None) => Ok(0),
        Ok(Some((document, text))) => {
            add(tx, learner, entry_id, &document, Some(&text))?;
            Ok(text.bytes().min(INDEXED_HEAD_BYTES + INDEXED_TAIL_BYTES))
        }
        Err(StoreError::Unreadable { .. }) => {
            if let Some((document, _)) = log.read(|c| load(c, entry_id))? {
                add(tx, learner, entry_id, &document, None)?;
            }
            Ok(0)
        }
        Err(other) => Err(other.into()),
    }
}

/// Returns whether the forgotten entries of a batch are such a small part of the index that wiping each word is
/// cheaper.
fn wiping_is_cheaper(tx: &Transaction<'_>, batch: &[Change]) -> rusqlite::Result<bool> {
    let mut chunks = 0;
    for change in batch.iter().filter(|change| change.kind == ChangeKind::Forgotten) {
        chunks += chunk_ids(tx, change.entry_id)?.len();
    }
    // The largest id is close to the number of chunks, and costs nothing to find.
    let all: Option<i64> = tx.prepare_cached("SELECT max(id) FROM chunks")?.query_row([], |row| row.get(0))?;
    Ok(chunks * WIPE_COST <= all.unwrap_or(0) as usize)
}

/// Sets whether removing a chunk wipes its words from the pages at once, or leaves that to a later merge.
fn set_wiping(tx: &Transaction<'_>, on: bool) -> rusqlite::Result<()> {
    for table in ["words", "spellings"] {
        tx.prepare_cached(&format!("INSERT INTO {table} ({table}, rank) VALUES ('secure-delete', ?1)"))?
            .execute([on])?;
    }
    Ok(())
}

/// Counts what is left of these chunks and entries in each part of the index.
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
