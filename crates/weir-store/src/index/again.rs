//! Indexes entries again whose text could not be read when they were indexed. Invariant: once their texts can be read,
//! the index is as good as a new one.

use std::time::{Duration, Instant};

use rusqlite::Transaction;
use weir_ledger::Sql as _;

use super::apply::changed_by_others;
use super::documents::{self, add, remove};
use super::vocabulary::Learner;
use crate::db::{Db, Durability};
use crate::error::{Fault, Result, Unreadable};
use crate::feed::Feed;

/// Which of the entries whose text could not be read are tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TriedAgain {
    /// Those whose text is not known to be lost.
    Unavailable,
    /// All of them. The same text may have been stored again, or its file restored.
    All,
}

/// Indexes entries again whose text could not be read before and can be read now, newest first. Waits for no lock, and
/// tries no more after `limit`.
pub(crate) fn read_again(
    index: &mut Db,
    feed: &dyn Feed,
    learner: &mut Learner,
    tried: TriedAgain,
    limit: Duration,
) -> Result<()> {
    const BATCH_ENTRIES: usize = 64;
    let begun = Instant::now();
    let mut before = i64::MAX;
    loop {
        let marked = index.read(|c| documents::marked(c, before, BATCH_ENTRIES))?;
        let Some(&(last, _)) = marked.last() else { return Ok(()) };
        before = last;
        let mut readable = Vec::new();
        for (id, why) in marked {
            if begun.elapsed() > limit {
                break;
            }
            if (tried == TriedAgain::All || why == Unreadable::Now) && can_be_read(feed, id)? {
                readable.push(id);
            }
        }
        if !readable.is_empty() {
            learner.trust_only(index.read(changed_by_others)?);
            index
                .write_if_free(Durability::Process, |tx| {
                    readable.iter().try_for_each(|&id| index_again(tx, feed, learner, id))
                })
                .inspect_err(|_| learner.distrust())?;
        }
        if begun.elapsed() > limit {
            return Ok(());
        }
    }
}

fn can_be_read(feed: &dyn Feed, entry_id: i64) -> Result<bool> {
    let entry = feed.entry(entry_id)?;
    Ok(entry.is_some_and(|entry| entry.text.is_ok_and(|text| text.verify().is_ok())))
}

/// Replaces what the index has of an entry. Its chunks are new ones, so they get vectors too.
fn index_again(tx: &Transaction<'_>, feed: &dyn Feed, learner: &mut Learner, entry_id: i64) -> Result<(), Fault> {
    // Another process may have removed the entry, or indexed it again.
    let is_marked = "SELECT 1 FROM documents WHERE entry_id = ?1 AND unreadable > 0";
    if !tx.sql(is_marked).has([entry_id])? {
        return Ok(());
    }
    // If the entry is gone, a later change of the log says so, and removes it from the index.
    let Some(entry) = feed.entry(entry_id)? else { return Ok(()) };
    let removed = remove(tx, entry_id)?;
    tx.sql("UPDATE progress SET removed = removed + ?1 WHERE id = 1").run([removed as i64])?;
    add(tx, learner, entry_id, &entry)
}
