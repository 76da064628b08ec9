//! Maintains a store: retention, quota, forgetting, checks and rebuilding.
//!
//! The quota counts texts, log and index, without the first MiB that every store needs. Above it, runs are evicted, a
//! batch per call, down to a quarter of the quota, which documents cannot take from them. On a full disk, forgetting
//! and sweeping drop the index, which can be rebuilt, and go on. If nothing can be written, the store opens for
//! reading.

use std::collections::HashSet;

use rusqlite::Transaction;
use weir_core::{EntryKind, Scope, Timestamp, WhyGone};
use weir_ledger::Sql as _;
use weir_shown::ShownLines;

use super::tidy::Room;
use super::{Store, UnreadTexts};
use crate::blobs::{Blobs, Depth};
use crate::db::migrate;
use crate::db::{Db, Durability, check_room, exists};
use crate::error::{Fault, Result, StoreError};
use crate::index::apply::ForgottenWords;
use crate::index::unembedded::LockPolicy;
use crate::index::{self, Learner};
use crate::log::feed::LogFeed;
use crate::log::forget::{self, Forgotten, Plan, ScopedSelection, Selection};
use crate::log::retention::{self, Removal, Usage};
use crate::spool::Spool;

/// Number of entries that one transaction removes, so that other writers are not held up.
const BATCH_ENTRIES: usize = 200;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    pub expired: usize,
    /// Runs that were evicted to stay within the quota.
    pub evicted: usize,
    pub events: usize,
    /// Files that no entry refers to.
    pub orphans: usize,
    /// Whether the index was removed because the disk was full. The next search rebuilds it.
    pub index_removed: bool,
}

/// The result of checking a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Problems found in the log; empty if there are none.
    pub log_problems: Vec<String>,
    /// Problems found in the index. A rebuild fixes them.
    pub index_problems: Vec<String>,
    /// Why the index could not be checked, if it could not: another process is indexing, or the system refuses to read
    /// it at the moment.
    pub index_unchecked: Option<StoreError>,
    /// Entries whose text cannot be read.
    pub unread: UnreadTexts,
    /// Files of texts that are older than the log, and that the log does not know. They belong to a log that is gone.
    pub stray_texts: usize,
    pub entries: u64,
    pub stored_bytes: u64,
    pub index_bytes: u64,
    /// Size of the store as the quota counts it, in bytes: everything except the first MiB of log and index.
    pub used_bytes: u64,
    pub quota_bytes: u64,
}

/// Entries to forget, with what the index had of them before.
struct IndexedEntries {
    entries: Vec<i64>,
    chunks: Vec<i64>,
    words: ForgottenWords,
}

impl Store {
    /// Removes expired entries and events, evicts runs that exceed the quota, and removes files that killed processes
    /// left.
    pub fn sweep(&mut self, now: Timestamp) -> Result<Swept> {
        let (swept, room) = self.with_room(|store| store.sweep_all(now))?;
        Ok(Swept { index_removed: room == Room::Made, ..swept })
    }

    fn sweep_all(&mut self, now: Timestamp) -> Result<Swept> {
        let mut swept = Swept { expired: self.remove_expired(now)?, ..Swept::default() };
        swept.evicted = self.make_room(None, usize::MAX, now)?;
        swept.events = self.remove_old_events(usize::MAX, now)?;
        swept.orphans = self.remove_orphans(now)?;
        if swept.expired + swept.evicted > 0 {
            self.catch_up()?;
            self.give_back_space()?;
        }
        Ok(swept)
    }

    /// Removes expired entries, and returns how many. Costs almost nothing if there are none.
    pub fn remove_expired(&mut self, now: Timestamp) -> Result<usize> {
        let (by, mut removed) = (self.expiry_time(now)?, 0);
        while !self.log.read(|c| retention::expired(c, by, 1))?.is_empty() {
            removed += self.remove(WhyGone::Expired, now, |tx, _| Ok(retention::expired(tx, by, BATCH_ENTRIES)?))?;
        }
        Ok(removed)
    }

    /// Returns what [`Self::forget`] would remove.
    pub fn plan_to_forget(&self, scope: &Scope, selection: &Selection) -> Result<Plan> {
        let scoped = ScopedSelection { scope_ids: self.scope_ids(scope)?, selection };
        self.log.read(|c| forget::plan(c, scoped))
    }

    /// Forgets what the plan with this confirmation showed, then checks whether anything is left of it, in the spool
    /// too. If the index is damaged, or cannot be updated because the disk is full, it is removed, and the next search
    /// rebuilds it.
    pub fn forget(
        &mut self,
        scope: &Scope,
        selection: &Selection,
        confirmation: &str,
        now: Timestamp,
    ) -> Result<Forgotten> {
        // What waits in the spool would be kept after everything else is forgotten. On a full disk, it has to stay
        // there.
        if let Err(error) = self.take_in_with(LockPolicy::Wait)
            && !error.may_pass()
        {
            return Err(error);
        }
        let scoped = ScopedSelection { scope_ids: self.scope_ids(scope)?, selection };
        let planned = self.plan_to_forget(scope, selection)?;
        let entries: Vec<i64> = planned.entries.iter().map(|entry| entry.id).collect();
        let (chunks, words) = self.open_index().and_then(|()| self.indexed_of(&entries)).unwrap_or_default();
        let indexed = IndexedEntries { entries, chunks, words };
        let ((plan, removed), room) = self.with_room(|store| {
            let blobs = &store.blobs;
            let run = |tx: &Transaction<'_>| forget::run(tx, blobs, scoped, confirmation, now);
            store.log.write(Durability::Power, run)
        })?;
        self.remove_files(&removed)?;
        ShownLines::tidy(&self.folder, true);
        let (mut remaining, shared_blobs) = self.log.read(|c| left_in_log(c, &plan))?;
        let (mut index_removed, mut unfinished) = (room == Room::Made, None);
        match self.forget_in_index(selection, &plan, &indexed) {
            Ok(left) => remaining.extend(left),
            Err(error) if error.is_of_content() || matches!(error, StoreError::Full { .. }) => {
                self.remove_index()?;
                index_removed = true;
            }
            // Another process is indexing, or the index cannot be used at the moment. The next one to index takes these
            // removals along.
            Err(error) => unfinished = Some(error),
        }
        match self.forget_in_spool(selection) {
            Ok(0) => {}
            Ok(left) => remaining.push(("spool", left)),
            Err(error) => unfinished = unfinished.or(Some(error)),
        }
        let freed = self
            .remove_index_set_aside()
            .and_then(|()| self.give_back_space())
            .and_then(|()| self.empty_write_ahead_logs());
        let (logs_emptied, not_freed) = freed.map_or_else(|error| (false, Some(error)), |emptied| (emptied, None));
        Ok(Forgotten {
            entries: removed.entries,
            events: plan.events,
            blobs: removed.blobs,
            shared_blobs,
            remaining,
            logs_emptied,
            index_removed,
            unfinished: unfinished.or(not_freed).map(|error| error.to_string()),
        })
    }

    /// Removes damaged records of the spool that a selection may mean. Returns how many records are left: damaged ones
    /// of which it is not known whose they are, and records that could not be taken in.
    fn forget_in_spool(&self, selection: &Selection) -> Result<usize> {
        let spool = Spool::beside(&self.folder);
        let waiting = spool.names()?.len();
        let damaged = spool.remove_damaged(|at, bytes| selection.may_mean_record(at, bytes))?;
        let is_by_reference = !selection.references.is_empty() || selection.topic.is_some();
        Ok(if is_by_reference { waiting } else { waiting + damaged })
    }

    /// Removes forgotten entries from the index, and returns what is left of them there.
    fn forget_in_index(
        &mut self,
        selection: &Selection,
        plan: &Plan,
        indexed: &IndexedEntries,
    ) -> Result<Vec<(&'static str, usize)>> {
        self.catch_up_forgetting(&indexed.words)?;
        self.forget_in_map(selection, plan)?;
        let Self { index: Some(index), log, blobs, .. } = self else { return Ok(Vec::new()) };
        if selection.is_the_whole_store() {
            // Entries that expired earlier may have left words behind, and nothing at all may be left now.
            index.write(Durability::Process, |tx| index::apply::clear_residue(tx, &LogFeed { log, blobs }))?;
            self.learner = Learner::default();
        }
        index.read(|c| index::apply::remaining(c, &indexed.entries, &indexed.chunks))
    }

    /// Removes forgotten files from the map. They return when the folder is mapped again.
    fn forget_in_map(&mut self, selection: &Selection, plan: &Plan) -> Result<()> {
        let documents = plan.entries.iter().filter(|entry| entry.kind == EntryKind::Document);
        let titles = documents.filter_map(|entry| entry.title.as_deref());
        let sources: Vec<&str> = selection.source.as_deref().into_iter().chain(titles).collect();
        let everything = selection.is_the_whole_store();
        let Some(index) = self.index.as_mut().filter(|_| everything || !sources.is_empty()) else { return Ok(()) };
        index.write(Durability::Process, |tx| -> rusqlite::Result<()> {
            if everything {
                index::map::roots(tx)?.iter().try_for_each(|root| index::map::drop_root(tx, root))?;
            }
            sources.iter().try_for_each(|source| index::map::forget(tx, source))
        })
    }

    /// Checks that the store can be written, without changing it: the lock can be taken, and the disk has room.
    pub fn check_writable(&mut self) -> Result<()> {
        self.log.check_writable()?;
        self.log.write(Durability::Process, |_| Ok::<_, Fault>(()))?;
        check_room(&self.folder)
    }

    /// Checks everything except the contents of the texts. The time grows with the size of the store.
    pub fn check(&mut self) -> Result<Health> {
        self.check_to(Depth::Quick)
    }

    /// Like [`Self::check`], with a choice of how thoroughly the texts are checked.
    pub fn check_to(&mut self, depth: Depth) -> Result<Health> {
        migrate::check_ledger(&self.log, crate::log::MIGRATIONS)?;
        let log_problems = self.log.integrity_problems()?;
        let (index_problems, index_unchecked) = match self.check_index() {
            Ok(problems) => (problems, None),
            Err(error) if error.is_of_content() => (vec![error.to_string()], None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let entries: i64 =
            self.log.read(|c| c.query_row("SELECT entries FROM totals WHERE id = 1", [], |row| row.get(0)))?;
        let mut usage = self.log.read(Usage::read)?;
        if let Some(Ok(bytes)) = self.index.as_ref().map(Db::bytes_in_use) {
            usage.index = bytes;
        }
        Ok(Health {
            log_problems,
            index_problems,
            index_unchecked,
            unread: self.unread_texts(depth)?,
            stray_texts: self.log.read_at_once(|c| self.blobs.strays(c))?.len(),
            entries: entries as u64,
            stored_bytes: usage.texts as u64,
            index_bytes: usage.index as u64,
            used_bytes: usage.counted() as u64,
            quota_bytes: self.limits.quota_bytes,
        })
    }

    /// Rebuilds the index from the log, and returns how many changes it followed. After each batch, calls `tell` with
    /// the number so far.
    pub fn rebuild_index(&mut self, tell: impl FnMut(usize)) -> Result<usize> {
        let rebuilt = self.open_index().and_then(|()| match &mut self.index {
            Some(index) => index::apply::start_over(index),
            None => Ok(()),
        });
        match rebuilt {
            Ok(()) => {}
            Err(error) if error.is_of_content() => self.set_index_aside()?,
            Err(other) => return Err(other),
        }
        self.open_index()?;
        self.learner = Learner::default();
        let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(0) };
        let followed =
            index::apply::catch_up(index, &LogFeed { log, blobs }, learner, &ForgottenWords::default(), tell)?;
        self.note_index_size();
        Ok(followed)
    }

    /// Evicts the least recently used runs, except the one just kept, until the store fits the quota or the runs are
    /// down to their share of it. Uses at most `most` transactions, so that a hook does not pay for everything at once.
    pub(super) fn make_room(&mut self, just_kept: Option<i64>, most: usize, now: Timestamp) -> Result<usize> {
        let quota = i64::try_from(self.limits.quota_bytes).unwrap_or(i64::MAX);
        let mut evicted = 0;
        for _ in 0..most {
            let over = self.log.read(Usage::read)?.to_free(quota);
            if over == 0 {
                break;
            }
            let removed = self
                .remove(WhyGone::Evicted, now, |tx, _| Ok(retention::to_evict(tx, over, just_kept, BATCH_ENTRIES)?))?;
            if removed == 0 {
                break;
            }
            evicted += removed;
        }
        Ok(evicted)
    }

    /// Removes entries. `choose` runs under the lock, since another process may be about to pin one of them.
    pub(super) fn remove(
        &mut self,
        why: WhyGone,
        now: Timestamp,
        choose: impl FnOnce(&Transaction<'_>, &Blobs) -> Result<Vec<i64>, Fault>,
    ) -> Result<usize> {
        let blobs = &self.blobs;
        let removed = self.log.write(Durability::Process, |tx| -> Result<_, Fault> {
            let ids = choose(tx, blobs)?;
            retention::remove(tx, blobs, &ids, why, now)
        })?;
        self.remove_files(&removed)?;
        Ok(removed.entries)
    }

    /// Removes the files of removed texts, once the removal of their rows would survive a power cut.
    pub(super) fn remove_files(&mut self, removed: &Removal) -> Result<()> {
        if removed.files.is_empty() {
            return Ok(());
        }
        self.log.wait_for_disk()?;
        let blobs = &self.blobs;
        self.log.write(Durability::Process, |tx| blobs.remove_files(tx, &removed.files))
    }

    fn indexed_of(&self, entries: &[i64]) -> Result<(Vec<i64>, ForgottenWords)> {
        let Some(index) = &self.index else { return Ok(Default::default()) };
        let feed = LogFeed { log: &self.log, blobs: &self.blobs };
        index.read_at_once(|c| {
            let mut chunks = Vec::new();
            for &id in entries {
                chunks.extend(index::documents::chunk_ids(c, id)?);
            }
            Ok::<_, Fault>((chunks, ForgottenWords::of(c, &feed, entries)?))
        })
    }

    fn check_index(&mut self) -> Result<Vec<String>> {
        if !self.as_is {
            self.catch_up()?;
        } else if exists(&self.index_path())? {
            match self.open_index() {
                // The next search migrates it.
                Err(StoreError::Older { .. }) => {}
                opened => opened?,
            }
        }
        let Some(index) = &mut self.index else { return Ok(Vec::new()) };
        let problems = index.integrity_problems()?;
        if self.as_is && index.is_read_only() {
            return Ok(problems);
        }
        // The engine checks the postings, and compares every word of the vocabulary with its own.
        index.write(Durability::Process, |tx| {
            tx.execute_batch(
                "INSERT INTO words (words, rank) VALUES ('integrity-check', 1);
                 INSERT INTO spellings (spellings, rank) VALUES ('integrity-check', 1);",
            )
        })?;
        Ok(problems)
    }

    fn give_back_space(&self) -> Result<()> {
        self.log.give_back_space()?;
        self.index.as_ref().map_or(Ok(()), Db::give_back_space)
    }

    fn empty_write_ahead_logs(&self) -> Result<bool> {
        let log = self.log.truncate_write_ahead_log()?;
        let index = self.index.as_ref().map_or(Ok(true), Db::truncate_write_ahead_log)?;
        Ok(log && index)
    }
}

/// Counts what is left in the log of a plan that was carried out: entries, their events and runs, and texts that no
/// other entry has. Also returns how many texts stay because another entry has them.
fn left_in_log(db: &rusqlite::Connection, plan: &Plan) -> rusqlite::Result<(Vec<(&'static str, usize)>, usize)> {
    let (mut entries, mut events, mut runs, mut texts, mut shared) = (0, 0, 0, 0, HashSet::new());
    for planned in &plan.entries {
        let found = |sql: &str, id: i64| db.sql(sql).find([id], |_| Ok(1));
        entries += found("SELECT 1 FROM entries WHERE id = ?1", planned.id)?.unwrap_or(0);
        events += found("SELECT 1 FROM events WHERE entry_id = ?1 AND kind <> 'gone'", planned.id)?.unwrap_or(0);
        runs += found("SELECT 1 FROM runs WHERE entry_id = ?1", planned.id)?.unwrap_or(0);
        let unused = "SELECT 1 FROM blobs b WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM entries WHERE blob_id = b.id)";
        texts += found(unused, planned.blob_id)?.unwrap_or(0);
        if found("SELECT 1 FROM entries WHERE blob_id = ?1", planned.blob_id)?.is_some() {
            shared.insert(planned.blob_id);
        }
    }
    Ok((vec![("entries", entries), ("events", events), ("runs", runs), ("texts", texts)], shared.len()))
}
