//! Follows the log. Invariants: the index applies each change of the log once and in order, one batch per transaction;
//! once it has caught up, no word of a forgotten entry is left in its pages.

use std::collections::HashSet;
use std::time::Duration;

use rusqlite::{Connection, Transaction};
use weir_core::entry::{INDEXED_HEAD_BYTES, INDEXED_TAIL_BYTES};
use weir_core::words;
use weir_ledger::Sql as _;

use super::chunk_texts::ChunkTexts;
use super::documents::{self, add, remove};
use super::origin::{self, AppliedChange, Standing};
use super::vocabulary::{self, Learner};
use super::{MIGRATIONS, vectors};
use crate::blobs::BlobReader;
use crate::db::{Db, Durability};
use crate::error::{Fault, Result};
use crate::feed::{ChangeKind, Feed};

/// The limits of one transaction, so that it stays short. The last entry of a batch may exceed them by the indexed size
/// of one entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    changes: usize,
    bytes: u64,
    /// The largest entry that is indexed. A larger one ends the batch before it.
    entry_bytes: u64,
}

impl BatchLimits {
    /// For callers that want everything indexed in the end.
    pub(crate) const USUAL: Self = Self { changes: 512, bytes: 4 << 20, entry_bytes: u64::MAX };
    /// For a caller that waits for an answer and for nothing else.
    pub(crate) const SMALL: Self = Self { changes: 128, bytes: 1 << 20, entry_bytes: 1 << 20 };
}

/// A step towards the head of the log.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Step {
    followed: usize,
    /// Whether the limits allowed no step, because the next entry is too large for them.
    pub(crate) is_stuck: bool,
}

/// Number of removed chunks up to which the vocabulary is left as it is.
const MIN_REMOVED_CHUNKS: i64 = 50;

/// Forgetting one word takes about as long as learning the words of this many chunks again: the word has to be looked
/// for in other texts.
const FORGET_COST: usize = 2;

/// The words of entries that are about to be forgotten. Their texts are gone by the time the index follows.
#[derive(Debug, Default)]
pub(crate) struct ForgottenWords {
    entries: HashSet<i64>,
    words: HashSet<String>,
}

impl ForgottenWords {
    /// Collects the words of entries, unless learning all other words again is cheaper than forgetting so many.
    pub(crate) fn of(index: &Connection, feed: &dyn Feed, entries: &[i64]) -> Result<Self, Fault> {
        // The largest id is close to the number of chunks, and costs nothing to find.
        let chunks: Option<i64> = index.sql("SELECT max(id) FROM chunks").value([])?;
        let most = FORGET_COST * chunks.unwrap_or_default() as usize;
        let (mut texts, mut forgotten) = (ChunkTexts::new(feed), Self::default());
        for &entry in entries {
            let chunks = documents::chunks_of(index, entry)?;
            // Another process may be about to index the entry, and a text that is lost was learnt while it was there.
            let mut are_known = !chunks.is_empty();
            for chunk in chunks {
                let Some(text) = texts.read(&chunk)? else {
                    are_known = false;
                    continue;
                };
                are_known &= !text.body.is_empty() || chunk.span.bytes == 0;
                words::each_spelling(&text.title, |word| forgotten.add(word));
                words::each_spelling(&text.body, |word| forgotten.add(word));
            }
            if forgotten.words.len() > most {
                return Ok(Self::default());
            }
            if are_known {
                forgotten.entries.insert(entry);
            }
        }
        Ok(forgotten)
    }

    fn add(&mut self, word: &str) {
        if !self.words.contains(word) {
            self.words.insert(word.to_owned());
        }
    }
}

/// What is left of forgotten entries, until it is cleared. The numbers are in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Residue {
    Nothing = 0,
    /// Postings, and the words that the forgetting process knows.
    Postings = 1,
    /// Postings, and unknown words of the vocabulary.
    Vocabulary = 2,
}

/// Brings the index up to the head of the log, and returns how many changes it followed. After each batch, calls `tell`
/// with the number so far.
pub(crate) fn catch_up(
    index: &mut Db,
    feed: &dyn Feed,
    learner: &mut Learner,
    forgotten: &ForgottenWords,
    mut tell: impl FnMut(usize),
) -> Result<usize> {
    let mut followed = 0;
    learner.trust_only(index.read(changed_by_others)?);
    // Residue that is already there is of words that only another process knew, which may have been killed.
    let was_clean = index.read(residue)? == Residue::Nothing;
    loop {
        match standing(index, feed)? {
            Standing::CaughtUp => break,
            // Take the lock first: of many processes that see the same lag, one does the work and the others find it
            // done.
            Standing::Behind => {
                let step = index
                    .write(Durability::Process, |tx| follow(tx, feed, learner, forgotten, BatchLimits::USUAL))
                    .inspect_err(|_| learner.distrust())?;
                followed += step.followed;
                tell(followed);
            }
            Standing::Foreign => {
                start_over(index)?;
                learner.distrust();
            }
        }
    }
    let has_outgrown = index.read(|c| has_outgrown(c, learner))?;
    let left = if has_outgrown { Residue::Vocabulary } else { index.read(residue)? };
    // Another process that forgets at the same time may have cleared the postings, but it does not know these words.
    if left != Residue::Nothing || !forgotten.words.is_empty() {
        let are_known = was_clean && left != Residue::Vocabulary && !forgotten.words.is_empty();
        index.write(Durability::Process, |tx| match are_known {
            true => clear_words(tx, feed, forgotten),
            false => clear_residue(tx, feed),
        })?;
        learner.distrust();
    }
    Ok(followed)
}

/// Clears what removed chunks have left if that is more than what is there, unless another process is writing.
pub(crate) fn clear_if_outgrown(index: &mut Db, feed: &dyn Feed, learner: &mut Learner) -> Result<()> {
    if index.read(|c| has_outgrown(c, learner))? {
        index.write_if_free(Durability::Process, |tx| clear_residue(tx, feed))?;
        learner.distrust();
    }
    Ok(())
}

/// Takes one step towards the head of the log, within limits. Returns `None` if another process held the index for
/// longer than `patience`.
pub(crate) fn step_within(
    patience: Duration,
    limits: BatchLimits,
    index: &mut Db,
    feed: &dyn Feed,
    learner: &mut Learner,
) -> Result<Option<Step>> {
    learner.trust_only(index.read(changed_by_others)?);
    match standing(index, feed)? {
        Standing::CaughtUp => Ok(Some(Step::default())),
        Standing::Behind => {
            let none = ForgottenWords::default();
            index.write_within(patience, Durability::Process, |tx| follow(tx, feed, learner, &none, limits))
        }
        Standing::Foreign => {
            learner.distrust();
            index.write_within(patience, Durability::Process, |tx| drop_everything(tx).map(|()| Step::default()))
        }
    }
    .inspect_err(|_| learner.distrust())
}

/// Returns a number that changes whenever another connection writes to the index.
pub(super) fn changed_by_others(db: &Connection) -> rusqlite::Result<i64> {
    db.sql("PRAGMA data_version").value([])
}

/// Rewrites the postings without those of removed chunks, and learns the words of all other chunks again.
pub(crate) fn clear_residue(tx: &Transaction<'_>, feed: &dyn Feed) -> Result<(), Fault> {
    clear_postings(tx)?;
    vocabulary::relearn(tx, &mut ChunkTexts::new(feed))?;
    tx.execute_batch(
        "INSERT INTO spellings (spellings) VALUES ('optimize');
         UPDATE progress SET removed = 0 WHERE id = 1;",
    )?;
    Ok(())
}

/// Rewrites the postings without those of removed chunks, and forgets these words unless another chunk has them.
fn clear_words(tx: &Transaction<'_>, feed: &dyn Feed, forgotten: &ForgottenWords) -> Result<(), Fault> {
    clear_postings(tx)?;
    vocabulary::forget(tx, &mut ChunkTexts::new(feed), &forgotten.words)
}

fn clear_postings(tx: &Transaction<'_>) -> rusqlite::Result<()> {
    tx.execute_batch(
        "INSERT INTO words (words) VALUES ('optimize');
         UPDATE progress SET residue = 0 WHERE id = 1;",
    )
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
pub(crate) fn standing(index: &Db, feed: &dyn Feed) -> Result<Standing> {
    index.read(origin::read)?.standing(feed)
}

fn residue(db: &Connection) -> rusqlite::Result<Residue> {
    let number: i64 = db.sql("SELECT residue FROM progress WHERE id = 1").value([])?;
    Ok(match number {
        0 => Residue::Nothing,
        1 => Residue::Postings,
        _ => Residue::Vocabulary,
    })
}

/// Returns whether more chunks were removed than are left, so that most words of the vocabulary may be obsolete. Counts
/// what is left only if more were removed since the last count, because that takes time in proportion to the index.
fn has_outgrown(db: &Connection, learner: &mut Learner) -> rusqlite::Result<bool> {
    let removed: i64 = db.sql("SELECT removed FROM progress WHERE id = 1").value([])?;
    if removed <= MIN_REMOVED_CHUNKS || removed == learner.removed_when_counted {
        return Ok(false);
    }
    let left: i64 = db.query_row("SELECT count(*) FROM chunks", [], |row| row.get(0))?;
    let has_outgrown = removed > left;
    if !has_outgrown {
        learner.removed_when_counted = removed;
    }
    Ok(has_outgrown)
}

fn follow(
    tx: &Transaction<'_>,
    feed: &dyn Feed,
    learner: &mut Learner,
    forgotten: &ForgottenWords,
    limits: BatchLimits,
) -> Result<Step, Fault> {
    let from = origin::read(tx)?.applied();
    let (mut last, mut step, mut bytes) = (None, Step::default(), 0);
    for change in feed.changes_after(from, limits.changes)? {
        if bytes >= limits.bytes {
            break;
        }
        match change.kind {
            ChangeKind::Kept => match index_entry(tx, feed, learner, change.entry_id, limits)? {
                Some(indexed) => bytes += indexed,
                None => {
                    step.is_stuck = step.followed == 0;
                    break;
                }
            },
            ChangeKind::Forgotten => {
                let is_known = forgotten.entries.contains(&change.entry_id);
                let left = if is_known { Residue::Postings } else { Residue::Vocabulary };
                if remove(tx, change.entry_id)? > 0 {
                    tx.sql("UPDATE progress SET residue = max(residue, ?1) WHERE id = 1").run([left as i64])?;
                }
            }
            // These need not be wiped without a trace, and someone may be waiting.
            ChangeKind::OtherwiseGone => {
                let removed = remove(tx, change.entry_id)?;
                tx.sql("UPDATE progress SET removed = removed + ?1 WHERE id = 1").run([removed as i64])?;
            }
        }
        last = Some(change);
        step.followed += 1;
    }
    if let Some(change) = last {
        let reference = feed.reference(change.entry_id)?.unwrap_or_default();
        let (position, entry_id) = (change.position, change.entry_id);
        origin::write(tx, &AppliedChange { log: feed.identity()?, position, entry_id, reference })?;
    }
    Ok(step)
}

/// Indexes an entry, unless it is gone by now. If its text cannot be read, indexes the title and as much as can be
/// read, and marks the entry. Returns the size of the indexed text in bytes, or `None` if it is too large for the
/// limits.
fn index_entry(
    tx: &Transaction<'_>,
    feed: &dyn Feed,
    learner: &mut Learner,
    entry_id: i64,
    limits: BatchLimits,
) -> Result<Option<u64>, Fault> {
    let Some(entry) = feed.entry(entry_id)? else { return Ok(Some(0)) };
    let bytes = entry.text.as_ref().map_or(0, BlobReader::bytes).min(INDEXED_HEAD_BYTES + INDEXED_TAIL_BYTES);
    if bytes > limits.entry_bytes {
        return Ok(None);
    }
    add(tx, learner, entry_id, &entry)?;
    Ok(Some(bytes))
}

/// Counts what is left of these chunks and entries in each part of the index.
pub(crate) fn remaining(
    db: &Connection,
    entries: &[i64],
    chunks: &[i64],
) -> rusqlite::Result<Vec<(&'static str, usize)>> {
    let count = |sql: &str, ids: &[i64]| -> rusqlite::Result<usize> {
        ids.iter().try_fold(0, |found, id| Ok(found + usize::from(db.sql(sql).has([id])?)))
    };
    Ok(vec![
        ("documents", count("SELECT 1 FROM documents WHERE entry_id = ?1", entries)?),
        ("chunks", count("SELECT 1 FROM chunks WHERE entry_id = ?1", entries)?),
        ("words", count("SELECT 1 FROM words_docsize WHERE id = ?1", chunks)?),
        ("vectors", vectors::remaining(db, chunks)?),
    ])
}
