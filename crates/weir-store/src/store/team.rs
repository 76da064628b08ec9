//! Keeps notes that were received from a team. Invariants: a received note takes the place of another only if a record
//! says so; keeping one under a reference that it has already changes nothing; looking is not using.

use weir_core::{Entry, Level, NewEntry, Reference, Scope, Timestamp};
use weir_ledger::Sql as _;

use super::keep::EntryWriter;
use super::{Found, Store};
use crate::db::Durability;
use crate::error::{Fault, Result, StoreError};
use crate::log::{entries, notes};

impl Store {
    /// Looks up a reference like [`Self::get`], without recording that the entry was used.
    pub fn find(&self, scope: &Scope, reference: Reference) -> Result<Found> {
        if let Some(entry) = self.entry(scope, reference)? {
            return Ok(Found::Here(Box::new(entry)));
        }
        let gone = self.log.read(|c| entries::gone(c, reference))?;
        Ok(gone.map_or(Found::Never, Found::Gone))
    }

    /// Keeps an entry that was received, as of the time at which its author kept it. It must have a reference; if that
    /// is taken, nothing is kept, and the result is false.
    pub fn keep_received(&mut self, scope: &Scope, mut entry: NewEntry, at: Timestamp, now: Timestamp) -> Result<bool> {
        let text = self.finished(scope, &mut entry)?;
        // Kept without a topic first, since a topic would take the place of the notes on it.
        let (mut topic, mut confirmed_at) = (None, None);
        if let Some(note) = &mut entry.note {
            note.supersedes.clear();
            (topic, confirmed_at) = (note.topic.take(), note.confirmed_at);
        }
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        let kept = self.log.write(Durability::Power, |tx| {
            let taken = EntryWriter { tx, blobs, limits }.insert(&own, &entry, &text, now)?;
            entries::set_time(tx, taken.id, Timestamp(at.0.min(now.0)))?;
            if entry.note.is_some() {
                notes::complete_received(tx, taken.id, topic.as_deref(), confirmed_at)?;
            }
            blobs.sync_names()?;
            Ok::<_, Fault>(taken)
        });
        match kept {
            Ok(taken) => {
                self.after_insert(taken, text.redactions, false, now);
                Ok(true)
            }
            Err(StoreError::ReferenceTaken { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the client of the session that an entry was kept in, if there was one.
    pub fn client_of(&self, reference: Reference) -> Result<Option<String>> {
        let sql = "SELECT s.client FROM entries e JOIN sessions s ON s.id = e.session_id WHERE e.reference = ?1";
        self.log.read(|c| c.sql(sql).find_value([reference.as_str()]))
    }

    /// Records that a note takes the place of another one. Returns whether that is new: a note keeps the successor that
    /// it has.
    pub fn supersede(&mut self, scope: &Scope, old: Reference, new: Reference) -> Result<bool> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.write(Durability::Power, |tx| {
            let id = |reference| -> rusqlite::Result<Option<i64>> {
                let found = entries::by_reference(tx, scope_ids, reference)?;
                Ok(found.filter(|stored| stored.entry.note.is_some()).map(|stored| stored.id))
            };
            match (id(old)?, id(new)?) {
                (Some(old), Some(new)) if old != new => Ok::<_, Fault>(notes::supersede_later(tx, old, new)?),
                _ => Ok(false),
            }
        })
    }

    /// Records that a note does not take the place of another one after all.
    pub fn unsupersede(&mut self, scope: &Scope, old: Reference, new: Reference) -> Result<()> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.write(Durability::Power, |tx| {
            let id = |reference| -> rusqlite::Result<Option<i64>> {
                Ok(entries::by_reference(tx, scope_ids, reference)?.map(|stored| stored.id))
            };
            if let (Some(old), Some(new)) = (id(old)?, id(new)?) {
                notes::unsupersede(tx, old, new)?;
            }
            Ok::<_, Fault>(())
        })
    }

    /// Records that nobody whose word counts has confirmed a note.
    pub fn unconfirm(&mut self, scope: &Scope, reference: Reference) -> Result<()> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.write(Durability::Power, |tx| {
            if let Some(stored) = entries::by_reference(tx, scope_ids, reference)? {
                notes::unconfirm(tx, stored.id)?;
            }
            Ok::<_, Fault>(())
        })
    }

    /// Returns the other current revisions of a note's topic, newest first. There are some only if several people
    /// revised the same note.
    pub fn rivals(&self, scope: &Scope, entry: &Entry) -> Result<Vec<Entry>> {
        let topic = entry.note.as_ref().and_then(|note| note.topic.as_deref());
        let Some(topic) = topic.filter(|_| entry.superseded_by.is_none() && entry.level == Level::Project) else {
            return Ok(Vec::new());
        };
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| {
            let mut rivals = Vec::new();
            for head in notes::heads_on(c, topic, Level::Project, scope_ids)? {
                rivals.extend(entries::by_id(c, scope_ids, head.id)?.map(|stored| stored.entry));
            }
            rivals.retain(|rival| rival.reference != entry.reference);
            Ok::<_, rusqlite::Error>(rivals)
        })
    }
}
