//! Imports past sessions. Invariant: the contents of a part of a transcript and how far it was read are written in one
//! transaction, so nothing is imported twice, even if the process is killed.

use weir_core::{Event, NewEntry, Scope, SessionKey, Timestamp};

use super::keep::EntryWriter;
use super::told::EventTime;
use super::{Store, redacted_event};
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::imports::{self, Conversation, ImportPosition, Known};
use crate::log::{entries, scopes};

/// What happened at one moment of a past session.
#[derive(Debug)]
pub struct Past {
    pub at: Timestamp,
    pub events: Vec<Event>,
    /// The client's summary of the conversation, if it was compacted at this moment.
    pub summary: Option<NewEntry>,
}

/// The part of a past session that is not stored yet, redacted.
#[derive(Debug)]
pub struct Fresh(Vec<Past>);

impl Fresh {
    /// Redacts a past session and leaves out what is already known. Also returns how much was left out.
    pub fn of(mut past: Vec<Past>, known: &mut Known) -> (Self, usize) {
        let mut found = 0;
        for Past { at, events, summary } in &mut past {
            *events = events.iter().map(redacted_event).collect();
            let (all, all_summaries) = (events.len(), usize::from(summary.is_some()));
            events.retain(|event| !known.take(event, *at));
            summary.take_if(|_| known.take_summary(*at));
            found += all - events.len() + all_summaries - usize::from(summary.is_some());
        }
        (Self(past), found)
    }

    pub fn past(&self) -> &[Past] {
        &self.0
    }
}

impl Store {
    pub fn imported_to(&self, of: &Conversation) -> Result<Option<ImportPosition>> {
        self.log.read(|c| imports::read_to(c, of))
    }

    pub fn known_of(&self, scope: &Scope, session: &SessionKey) -> Result<Known> {
        let scope = Scope { session: Some(session.clone()), ..scope.clone() };
        match self.scope_ids(&scope)?.session {
            Some(session) => self.log.read(|c| imports::known(c, session)),
            None => Ok(Known::default()),
        }
    }

    /// Imports part of a transcript into the scope's session, and records how far it was read.
    pub fn import(
        &mut self,
        scope: &Scope,
        of: &Conversation,
        (fresh, to): (Fresh, &ImportPosition),
        now: Timestamp,
    ) -> Result<()> {
        let own = self.own_scope(&Scope { session: Some(of.session.clone()), ..scope.clone() });
        self.check_scope(&own)?;
        let mut summaries = Vec::new();
        for Past { at, summary, .. } in &fresh.0 {
            let Some(mut entry) = summary.clone() else { continue };
            let text = self.finished(&own, &mut entry)?;
            summaries.push((*at, entry, text));
        }
        let mut told = Vec::new();
        for Past { at, events, .. } in fresh.0.into_iter().filter(|past| !past.events.is_empty()) {
            told.push((at, self.staged(events.into_iter())?));
        }
        let (blobs, limits) = (&self.blobs, &self.limits);
        self.log.write(Durability::Process, |tx| {
            for (at, entry, text) in &summaries {
                let taken = EntryWriter { tx, blobs, limits }.insert(&own, entry, text, *at)?;
                // Entries from the past expire as if they were stored today.
                entries::set_expiry(tx, taken.id, limits.expiry(entry.kind, now))?;
            }
            for (at, events) in &told {
                let scope_ids = scopes::find_or_make(tx, &own, *at)?;
                let time = EventTime { at: *at, kept_from: now };
                EntryWriter { tx, blobs, limits }.append(scope_ids, events, time)?;
            }
            imports::record(tx, of, to, now)?;
            blobs.sync_names()?;
            Ok::<_, Fault>(())
        })
    }
}
