//! Takes in what hooks left in the spool. Invariant: each record is taken in exactly once, even if the process is
//! killed: its name is written in the same transaction and stays until its file is gone.

use rusqlite::Transaction;
use weir_core::{Limits, Scope};

use super::keep::EntryWriter;
use super::told::{EventTime, StagedEvent};
use super::{Owner, Store};
use crate::blobs::FinishedText;
use crate::db::{Durability, Patience};
use crate::error::{Fault, Result, StoreError};
use crate::index::unembedded::LockPolicy;
use crate::log::{files, hook_days, hooks, scopes, spooled};
use crate::spool::{DamagedRecord, DecodedRecord, Spool};

/// Number of records that one transaction takes in, so that other writers are not held up.
const BATCH_RECORDS: usize = 256;

impl Store {
    /// Takes in the records of the spool, oldest first, and returns how many. A hook waits for the lock as long as its
    /// patience allows, so that its own events come after those in the spool; any other call leaves the spool to the
    /// next one if the lock is taken.
    pub fn take_in(&mut self) -> Result<usize> {
        let lock = match self.log.patience() {
            Patience::InAll(_) => LockPolicy::Wait,
            Patience::Each(_) => LockPolicy::GiveUp,
        };
        self.take_in_with(lock)
    }

    pub(super) fn take_in_with(&mut self, lock: LockPolicy) -> Result<usize> {
        let spool = Spool::beside(&self.folder);
        let mut taken = 0;
        loop {
            let mut names = spool.names()?;
            if names.is_empty() {
                return Ok(taken);
            }
            names.truncate(BATCH_RECORDS);
            match self.take_in_batch(&spool, &names, lock)? {
                Batch::Taken(count) => taken += count,
                Batch::Busy => return Ok(taken),
                Batch::Damaged(record) => {
                    spool.set_aside(&record)?;
                    continue;
                }
            }
            let are_gone = spool.remove(&names);
            spool.tidy();
            if !are_gone {
                return Ok(taken);
            }
            // A hook whose patience is used up leaves the rest of a long spool to the next one.
            if matches!(self.log.patience(), Patience::InAll(left) if left.is_zero()) {
                return Ok(taken);
            }
        }
    }

    /// Takes in records in one transaction.
    fn take_in_batch(&mut self, spool: &Spool, names: &[String], lock: LockPolicy) -> Result<Batch> {
        let Owner::Project(project) = self.owner.clone() else { return Ok(Batch::Busy) };
        let (blobs, limits) = (&self.blobs, &self.limits);
        let mut damaged = None;
        let work = |tx: &Transaction<'_>| -> Result<Batch, Fault> {
            spooled::forget(tx, |name| spool.is_gone(name))?;
            let mut count = 0;
            for name in names {
                if spooled::is_taken(tx, name)? {
                    continue;
                }
                // Read under the lock: the process that held it before may have taken in the record and removed it.
                let read = match spool.read(name)? {
                    None => continue,
                    Some(Ok(read)) => read,
                    // What was taken in before it is rolled back, and taken in again once the record is set aside.
                    Some(Err(record)) => {
                        damaged = Some(record);
                        return Err(StoreError::Cancelled.into());
                    }
                };
                let (work, session) = (read.work.clone(), read.session.clone());
                let scope = Scope { work, session, ..Scope::project(project.clone()) };
                let limits = Limits { run_days: read.run_days, page_days: read.page_days, ..limits.clone() };
                apply(EntryWriter { tx, blobs, limits: &limits }, &scope, read)?;
                spooled::mark_taken(tx, name)?;
                count += 1;
            }
            blobs.sync_names()?;
            Ok(Batch::Taken(count))
        };
        let written = match lock {
            LockPolicy::Wait => self.log.write(Durability::Process, work),
            LockPolicy::GiveUp => self.log.write_if_free(Durability::Process, work).map(|it| it.unwrap_or(Batch::Busy)),
        };
        damaged.map_or(written, |record| Ok(Batch::Damaged(record)))
    }
}

/// What came of taking in a batch of records.
enum Batch {
    /// This many are in the log.
    Taken(usize),
    /// Another process holds the lock.
    Busy,
    /// One of them is damaged, so none was taken in.
    Damaged(DamagedRecord),
}

fn apply(writer: EntryWriter<'_>, scope: &Scope, read: DecodedRecord) -> Result<(), Fault> {
    let EntryWriter { tx, blobs, .. } = writer;
    let (at, spooled) = (read.at, read.spooled);
    let scope_ids = scopes::find_or_make(tx, scope, at)?;
    if let Some(mut output) = spooled.output {
        let text = FinishedText { staged: blobs.stage(&output.text)?, redactions: Vec::new() };
        output.text.clear();
        writer.insert(scope, &output, &text, at)?;
    }
    let told: Vec<StagedEvent> =
        spooled.told.into_iter().map(|event| StagedEvent::new(blobs, event)).collect::<Result<_>>()?;
    writer.append(scope_ids, &told, EventTime::now(at))?;
    if let Some(session) = scope_ids.session {
        if let Some(guide) = &spooled.guide {
            hooks::keep_guide(tx, session, guide, at)?;
        }
        if spooled.guide_taken {
            hooks::take_waiting(tx, session)?;
        }
    }
    if spooled.texts_lost {
        files::not_shown(tx, scope_ids.session)?;
    }
    if let Some(seen) = &spooled.seen {
        hook_days::record_late(tx, seen)?;
    }
    Ok(())
}
