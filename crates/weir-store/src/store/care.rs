//! Looks after a store: retention, quota, forgetting, checks and rebuilding.

use std::collections::HashSet;

use rusqlite::{OptionalExtension, Transaction};
use weir_core::{EntryKind, Scope, Timestamp, WhyGone};

use super::Store;
use crate::db::Durability;
use crate::error::{Fault, Result, StoreError};
use crate::index::{self, Learner};
use crate::log::forget::{self, Forgotten, Plan, Selection};
use crate::log::retention::{self, Removed};
use crate::migrate;

/// How many entries one transaction removes, so that writers are not held up.
const BATCH: usize = 200;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Entries whose time was over.
    pub expired: usize,
    /// Runs that had to go to stay within the quota.
    pub evicted: usize,
    /// Files that no entry named.
    pub orphans: usize,
}

/// How a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// What is wrong with the log; empty when nothing is.
    pub log_problems: Vec<String>,
    /// What is wrong with the index; rebuilding mends it.
    pub index_problems: Vec<String>,
    /// Entries in the log.
    pub entries: u64,
    /// Bytes their texts take as stored.
    pub stored_bytes: u64,
    /// Bytes they may take.
    pub quota_bytes: u64,
}

impl Store {
    /// Removes what has expired, what is over the quota and what a killed process left.
    pub fn sweep(&mut self, now: Timestamp) -> Result<Swept> {
        let mut swept = Swept { expired: self.remove_expired(now)?, ..Swept::default() };
        swept.evicted = self.make_room(None, now)?;
        let blobs = &self.blobs;
        swept.orphans = self.log.write(Durability::Process, |tx| blobs.remove_orphans(tx))?;
        if swept.expired + swept.evicted > 0 {
            self.catch_up()?;
            self.give_back_space()?;
        }
        Ok(swept)
    }

    /// Removes what has expired; next to nothing when nothing has. Returns how many entries went.
    pub fn remove_expired(&mut self, now: Timestamp) -> Result<usize> {
        let mut removed = 0;
        while !self.log.read(|c| retention::expired(c, now, 1))?.is_empty() {
            removed += self.remove(WhyGone::Expired, now, |tx| retention::expired(tx, now, BATCH))?;
        }
        Ok(removed)
    }

    /// What would be forgotten.
    pub fn plan_to_forget(&self, scope: &Scope, selection: &Selection) -> Result<Plan> {
        let place = self.place(scope)?;
        self.log.read(|c| forget::plan(c, place, selection))
    }

    /// Forgets what the plan with this confirmation showed, and looks whether anything is left.
    pub fn forget(
        &mut self,
        scope: &Scope,
        selection: &Selection,
        confirmation: &str,
        now: Timestamp,
    ) -> Result<Forgotten> {
        let place = self.place(scope)?;
        self.catch_up()?;
        let planned = self.plan_to_forget(scope, selection)?;
        let ids: Vec<i64> = planned.entries.iter().map(|entry| entry.id).collect();
        let chunks = self.chunks_of(&ids)?;
        let blobs = &self.blobs;
        let (plan, removed) =
            self.log.write(Durability::Power, |tx| forget::run(tx, blobs, (place, selection), confirmation, now))?;
        self.remove_files(&removed)?;
        self.catch_up()?;
        self.forget_in_map(selection, &plan)?;
        if let (true, Some(index)) = (selection.is_the_whole_store(), &mut self.index) {
            // What expired before may have left words behind, and now nothing may be left at all.
            index.write(Durability::Process, index::apply::clear_residue)?;
            self.learner = Learner::default();
        }
        self.give_back_space()?;
        let (mut remaining, shared_blobs) = self.log.read(|c| left_in_log(c, &plan))?;
        if let Some(index) = &self.index {
            remaining.extend(index.read(|c| index::apply::remaining(c, &ids, &chunks))?);
        }
        Ok(Forgotten {
            entries: removed.entries,
            events: plan.events,
            blobs: removed.blobs,
            shared_blobs,
            remaining,
            logs_emptied: self.empty_write_ahead_logs()?,
        })
    }

    /// What the map knows of files that were forgotten goes too. They come back when the folder is mapped again.
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

    /// Checks everything that can be checked. Takes time with the size of the store.
    pub fn check(&mut self) -> Result<Health> {
        migrate::check_ledger(&self.log, crate::log::MIGRATIONS)?;
        let log_problems = self.log.integrity_problems()?;
        let index_problems = match self.check_index() {
            Ok(problems) => problems,
            Err(error) => vec![error.to_string()],
        };
        let (entries, stored): (i64, i64) = self.log.read(|c| {
            c.query_row("SELECT entries, stored FROM totals WHERE id = 1", [], |row| Ok((row.get(0)?, row.get(1)?)))
        })?;
        Ok(Health {
            log_problems,
            index_problems,
            entries: entries as u64,
            stored_bytes: stored as u64,
            quota_bytes: self.limits.quota_bytes,
        })
    }

    /// Makes the index anew from the log, telling after each batch how many changes it has followed so far. Returns
    /// how many those were in the end.
    pub fn rebuild_index(&mut self, tell: impl FnMut(usize)) -> Result<usize> {
        let rebuilt = self.open_index().and_then(|()| match &mut self.index {
            Some(index) => index::apply::start_over(index),
            None => Ok(()),
        });
        match rebuilt {
            Ok(()) => {}
            Err(StoreError::Damaged { .. } | StoreError::Engine { .. } | StoreError::OtherHistory { .. }) => {
                self.set_index_aside()?;
            }
            Err(other) => return Err(other),
        }
        self.open_index()?;
        self.learner = Learner::default();
        let Self { index: Some(index), log, blobs, learner, .. } = self else { return Ok(0) };
        index::apply::catch_up(index, (log, blobs), learner, tell)
    }

    /// Evicts the runs used longest ago until the texts fit the quota, sparing the one just kept.
    pub(super) fn make_room(&mut self, just_kept: Option<i64>, now: Timestamp) -> Result<usize> {
        let mut evicted = 0;
        loop {
            let quota = i64::try_from(self.limits.quota_bytes).unwrap_or(i64::MAX);
            let over = self.log.read(retention::stored_bytes)? - quota;
            if over <= 0 {
                return Ok(evicted);
            }
            let removed = self.remove(WhyGone::Evicted, now, |tx| retention::to_evict(tx, over, just_kept, BATCH))?;
            if removed == 0 {
                return Ok(evicted);
            }
            evicted += removed;
        }
    }

    /// Removes entries. They are chosen under the lock, since another process may just be about to pin one.
    pub(super) fn remove(
        &mut self,
        why: WhyGone,
        now: Timestamp,
        choose: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Vec<i64>>,
    ) -> Result<usize> {
        let blobs = &self.blobs;
        let removed = self.log.write(Durability::Process, |tx| -> Result<_, Fault> {
            let ids = choose(tx)?;
            retention::remove(tx, blobs, &ids, why, now)
        })?;
        self.remove_files(&removed)?;
        Ok(removed.entries)
    }

    /// Removes the files of removed texts, now that their rows are gone for good.
    pub(super) fn remove_files(&mut self, removed: &Removed) -> Result<()> {
        if removed.files.is_empty() {
            return Ok(());
        }
        let blobs = &self.blobs;
        self.log.write(Durability::Process, |tx| blobs.remove_files(tx, &removed.files))
    }

    fn chunks_of(&self, entries: &[i64]) -> Result<Vec<i64>> {
        let Some(index) = &self.index else { return Ok(Vec::new()) };
        index.read(|c| {
            let mut chunks = Vec::new();
            for &id in entries {
                chunks.extend(index::apply::chunk_ids(c, id)?);
            }
            Ok::<_, Fault>(chunks)
        })
    }

    fn check_index(&mut self) -> Result<Vec<String>> {
        self.catch_up()?;
        let Some(index) = &mut self.index else { return Ok(Vec::new()) };
        let problems = index.integrity_problems()?;
        // The engine compares every word of the index with the text it was made of.
        index.write(Durability::Process, |tx| {
            tx.execute_batch(
                "INSERT INTO words (words, rank) VALUES ('integrity-check', 1);
                 INSERT INTO spellings (spellings, rank) VALUES ('integrity-check', 1);",
            )
        })?;
        Ok(problems)
    }

    /// A file that cannot be mended is kept for whoever wants to look at it.
    fn set_index_aside(&mut self) -> Result<()> {
        self.index = None;
        let path = self.index_path();
        for suffix in ["", "-wal", "-shm"] {
            let from = path.with_file_name(format!("index.db{suffix}"));
            let to = path.with_file_name(format!("index.db.damaged{suffix}"));
            match std::fs::rename(&from, &to) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(crate::error::from_system(&from, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn give_back_space(&self) -> Result<()> {
        self.log.give_back_space()?;
        self.index.as_ref().map_or(Ok(()), crate::db::Db::give_back_space)
    }

    fn empty_write_ahead_logs(&self) -> Result<bool> {
        let log = self.log.truncate_write_ahead_log()?;
        let index = self.index.as_ref().map_or(Ok(true), crate::db::Db::truncate_write_ahead_log)?;
        Ok(log && index)
    }
}

/// How much of a carried-out plan is left in the log: entries, their events and runs, and texts no other entry has. And
/// how many of its texts stay because another entry has them.
fn left_in_log(
    connection: &rusqlite::Connection,
    plan: &Plan,
) -> rusqlite::Result<(Vec<(&'static str, usize)>, usize)> {
    let (mut entries, mut events, mut runs, mut texts, mut shared) = (0, 0, 0, 0, HashSet::new());
    for planned in &plan.entries {
        let found = |sql: &str, id: i64| connection.prepare_cached(sql)?.query_row([id], |_| Ok(1)).optional();
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
