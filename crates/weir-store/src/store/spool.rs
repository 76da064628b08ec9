//! Takes in what hooks left in the spool. Invariant: each record is taken in exactly once, even if the process is
//! killed: its name is written in the same transaction and stays until its file is gone.

use rusqlite::Transaction;
use weir_core::{Limits, Scope};

use super::keep::EntryWriter;
use super::{Owner, Store};
use crate::blobs::FinishedText;
use crate::db::{Durability, Patience};
use crate::error::{Fault, Result, StoreError};
use crate::log::{events, files, hook_days, hooks, scopes, spooled};
use crate::spool::{DecodedRecord, Spool};

/// Number of records that one transaction takes in, so that other writers are not held up.
const BATCH_RECORDS: usize = 256;

impl Store {
    /// Takes in the records of the spool, oldest first, and returns how many. A hook waits for the lock as long as its
    /// patience allows, so that its own events come after those in the spool; any other call leaves the spool to the
    /// next one if the lock is taken.
    pub fn take_in(&mut self) -> Result<usize> {
        let spool = Spool::beside(&self.folder);
        let mut taken = 0;
        loop {
            let mut names = spool.names();
            if names.is_empty() {
                return Ok(taken);
            }
            names.truncate(BATCH_RECORDS);
            match self.take_in_batch(&spool, &names) {
                Ok(Some(count)) => taken += count,
                Ok(None) => return Ok(taken),
                Err((name, error)) if error.may_pass() || name.is_empty() => return Err(error),
                Err((name, _)) => {
                    spool.set_aside(&name)?;
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

    /// Takes in records in one transaction. Returns `None` if the lock is taken. An error names the record that caused
    /// it, if one did.
    fn take_in_batch(&mut self, spool: &Spool, names: &[String]) -> Result<Option<usize>, (String, StoreError)> {
        let Owner::Project(project) = self.owner.clone() else { return Ok(None) };
        let (blobs, limits) = (&self.blobs, &self.limits);
        let mut at = String::new();
        let work = |tx: &Transaction<'_>| -> Result<usize, Fault> {
            spooled::forget(tx, |name| spool.has(name))?;
            let mut count = 0;
            for name in names {
                at.clone_from(name);
                if spooled::is_taken(tx, name)? {
                    continue;
                }
                // Read under the lock: the process that held it before may have taken in the record and removed it.
                let Some(read) = spool.read(name)? else { continue };
                let (work, session) = (read.work.clone(), read.session.clone());
                let scope = Scope { work, session, ..Scope::project(project.clone()) };
                let limits = Limits { run_days: read.run_days, page_days: read.page_days, ..limits.clone() };
                apply(EntryWriter { tx, blobs, limits: &limits }, &scope, read)?;
                spooled::mark_taken(tx, name)?;
                count += 1;
            }
            at.clear();
            blobs.sync_names()?;
            Ok(count)
        };
        let written = match self.log.patience() {
            Patience::InAll(_) => self.log.write(Durability::Process, work).map(Some),
            Patience::Each(_) => self.log.write_if_free(Durability::Process, work),
        };
        written.map_err(|error| (at, error))
    }
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
    for event in &spooled.told {
        events::append(tx, scope_ids, event, at)?;
    }
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
