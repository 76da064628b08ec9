//! Housekeeping during ordinary calls. Invariant: each call does a bounded amount of it.

use std::path::Path;
use std::time::Duration;

use weir_core::Timestamp;
use weir_shown::ShownLines;

use super::Store;
use crate::db::{Db, Durability, with_suffix};
use crate::error::{Result, StoreError, from_system};
use crate::index;
use crate::index::again::TriedAgain;
use crate::layout::{LOG_FILE, StorePart};
use crate::log::clock::Clock;
use crate::log::feed::LogFeed;
use crate::log::{self, ageing, hook_days, retention};
use crate::spool::Spool;

const BATCH_EVENTS: usize = 2_000;
/// Time limit for indexing texts that could not be read before, once a day.
const MAX_TIME_READING_AGAIN: Duration = Duration::from_secs(1);
/// One day in milliseconds. Orphaned files are looked for this often.
const DAY: i64 = 24 * 60 * 60 * 1000;
const MAX_HOOK_DAYS: i64 = 90;
/// Minimum change of the index's size, in bytes, that is written down. A change also has to exceed a sixteenth of the
/// size.
const MIN_RECORDED_SIZE_CHANGE: i64 = 1 << 20;

const DATABASE_SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];
/// Suffix of an index that was set aside.
const SET_ASIDE: &str = ".damaged";

/// Whether space had to be freed on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Enough,
    /// The index was removed to free space.
    Made,
}

impl Store {
    /// Removes expired entries, some of the expired events and, once a day, orphaned files and the days of old hooks.
    /// Costs almost nothing if there is nothing to do.
    pub fn tidy(&mut self, now: Timestamp) -> Result<()> {
        if self.log.is_read_only() {
            return Ok(());
        }
        self.remove_expired(now)?;
        self.remove_old_events(1, now)?;
        let tidied = self.log.read(retention::tidied_at)?;
        if now.0 - tidied.0 > DAY || now < tidied {
            self.remove_orphans(now)?;
            self.log.give_back_some_space()?;
            self.read_again(TriedAgain::All, MAX_TIME_READING_AGAIN)?;
        }
        Ok(())
    }

    /// Returns the time by which things may expire: now, unless the clock has jumped ahead.
    pub(super) fn expiry_time(&mut self, now: Timestamp) -> Result<Timestamp> {
        let (by, changed) = self.log.read(Clock::read)?.look(now);
        if let Some(clock) = changed {
            self.log.write(Durability::Process, |tx| clock.write(tx))?;
        }
        Ok(by)
    }

    /// Removes files that no row refers to, and merges the days of old hooks. The search for files takes no lock.
    pub(super) fn remove_orphans(&mut self, now: Timestamp) -> Result<usize> {
        ShownLines::tidy(&self.folder, false);
        Spool::beside(&self.folder).put_back()?;
        let orphans = self.log.read_at_once(|c| self.blobs.orphans(c))?;
        let by = self.expiry_time(now)?;
        let blobs = &self.blobs;
        self.log.write(Durability::Process, |tx| {
            retention::set_tidied_at(tx, now)?;
            hook_days::merge_before(tx, Timestamp(by.0 - MAX_HOOK_DAYS * DAY))?;
            blobs.remove_orphans(tx, &orphans)
        })
    }

    /// Removes expired events and tombstones, in at most `most` transactions.
    pub(super) fn remove_old_events(&mut self, most: usize, now: Timestamp) -> Result<usize> {
        let before = self.expiry_time(now)?.0 - i64::from(self.limits.event_days) * DAY;
        let mut removed = 0;
        for _ in 0..most {
            if !self.log.read(|c| ageing::has_old_events(c, Timestamp(before)))? {
                break;
            }
            removed += self
                .log
                .write(Durability::Process, |tx| ageing::remove_old_events(tx, Timestamp(before), BATCH_EVENTS, now))?;
        }
        Ok(removed)
    }

    /// Runs work that may find the disk full. If it does, removes the index, which can be rebuilt, and runs the work
    /// again.
    pub(super) fn with_room<T>(&mut self, work: impl Fn(&mut Self) -> Result<T>) -> Result<(T, Room)> {
        let error = match work(self) {
            Ok(done) => return Ok((done, Room::Enough)),
            Err(error) => error,
        };
        // A log on a full disk may have been opened for reading only.
        let is_full = matches!(error, StoreError::Full { .. })
            || (matches!(error, StoreError::ReadOnly { .. }) && self.log.is_read_only());
        if !is_full || self.remove_index().is_err() {
            return Err(error);
        }
        // What else can be spared. Whatever stays only takes room.
        let _ = self.remove_index_set_aside();
        self.blobs.remove_unfinished();
        if self.log.is_read_only() {
            self.log = Db::open(&self.folder.join(LOG_FILE), log::MIGRATIONS, self.log.patience())?;
        }
        let _ = self.log.truncate_write_ahead_log();
        work(self).map(|done| (done, Room::Made))
    }

    /// Removes the index; the next search rebuilds it.
    pub(super) fn remove_index(&mut self) -> Result<()> {
        self.index = None;
        remove_index_files(&self.index_path())
    }

    pub(super) fn remove_index_set_aside(&self) -> Result<()> {
        remove_index_files(&with_suffix(&self.index_path(), SET_ASIDE))
    }

    /// Records the size of the index, for the quota, and gives back some of what it does not need. The number is
    /// approximate, so this does not wait for a lock.
    pub(super) fn note_index_size(&mut self) {
        let Self { index, log, blobs, learner, limits, .. } = self;
        if let Some(index) = index {
            // Searches do not pay for clearing a small index.
            if index.bytes_in_use().is_ok_and(|bytes| bytes.unsigned_abs() > limits.quota_bytes / 4) {
                let _ = index::apply::clear_if_outgrown(index, &LogFeed { log, blobs }, learner);
            }
            let _ = index.give_back_some_space();
        }
        let Some(Ok(bytes)) = self.index.as_ref().map(Db::bytes_in_use) else { return };
        let Ok(known) = self.log.read(retention::index_bytes) else { return };
        if (bytes - known).abs() > MIN_RECORDED_SIZE_CHANGE.max(known / 16) && !self.log.is_read_only() {
            let _ = self.log.write_if_free(Durability::Process, |tx| retention::set_index_bytes(tx, bytes));
        }
    }

    /// Renames an index that cannot be used, so that it can be inspected.
    pub(super) fn set_index_aside(&mut self) -> Result<()> {
        self.index = None;
        let path = self.index_path();
        let aside = with_suffix(&path, SET_ASIDE);
        for suffix in DATABASE_SUFFIXES {
            match std::fs::rename(with_suffix(&path, suffix), with_suffix(&aside, suffix)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(from_system(StorePart::Index, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

fn remove_index_files(path: &Path) -> Result<()> {
    for suffix in DATABASE_SUFFIXES {
        match std::fs::remove_file(with_suffix(path, suffix)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(from_system(StorePart::Index, &error));
            }
            _ => {}
        }
    }
    Ok(())
}
