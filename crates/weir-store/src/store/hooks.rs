//! The part of the store that hooks use. Invariant: everything a hook reports is one transaction, whose cost does not
//! depend on the size of the store.

use std::ops::RangeInclusive;

use weir_core::event::to_drop;
use weir_core::{Entry, Event, Priority, Scope, SessionKey, Timestamp};

use super::keep::EntryWriter;
use super::told::{EventTime, StagedEvent};
use super::{Store, redacted_event};
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::hook_days::{self, HookDay, HookRun, HookUse, OutcomeSum};
use crate::log::hooks::{self, Guide};
use crate::log::{events, notes, scopes};

/// Number of a session's failures that are searched for one that was repaired.
const MAX_FAILURES: usize = 40;

/// Number of a session's events that are kept, not counting those that refer to an entry.
const MAX_SESSION_EVENTS: usize = 5_000;

impl Store {
    /// Appends the events of a hook and records that the hook ran, in one transaction.
    pub fn record(&mut self, scope: &Scope, told: &[Event], run: &HookRun) -> Result<()> {
        self.check_scope(scope)?;
        let told: Vec<StagedEvent> = self.staged(told.iter().map(redacted_event))?;
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        self.log.write(Durability::Process, |tx| -> Result<(), Fault> {
            let scope_ids = scopes::find_or_make(tx, &own, run.at)?;
            EntryWriter { tx, blobs, limits }.append(scope_ids, &told, EventTime::now(run.at))?;
            Ok(hook_days::record(tx, run)?)
        })
    }

    pub fn hooks_seen(&self) -> Result<Vec<HookUse>> {
        self.log.read(hook_days::last_of_each_client)
    }

    /// Returns the days since a time on which hooks ran, oldest first.
    pub fn hook_days(&self, since: Timestamp) -> Result<Vec<HookDay>> {
        self.log.read(|c| hook_days::days(c, since))
    }

    /// Returns what became of the outputs that hooks reported since a time, by client.
    pub fn outcomes(&self, since: Option<Timestamp>) -> Result<Vec<OutcomeSum>> {
        self.log.read(|c| hook_days::outcomes(c, since))
    }

    /// Returns the newest failures and repairs of the scope's session, newest first.
    pub fn failures(&self, scope: &Scope) -> Result<Vec<Event>> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(Vec::new()) };
        self.log.read(|c| events::failures(c, session, MAX_FAILURES))
    }

    /// Returns the newest events of the scope's session that belong to no entry, newest first.
    pub fn newest_events(&self, scope: &Scope, most: usize) -> Result<Vec<Event>> {
        let Some(session) = &scope.session else { return Ok(Vec::new()) };
        self.log.read(|c| events::newest(c, session, most))
    }

    /// Removes events of the scope's session if there are too many: the least important ones, and of those the oldest.
    /// Returns how many were removed.
    pub fn thin(&mut self, scope: &Scope, now: Timestamp) -> Result<usize> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(0) };
        if self.log.read(|c| events::priorities(c, session))?.len() <= MAX_SESSION_EVENTS {
            return Ok(0);
        }
        self.log.write(Durability::Process, |tx| {
            let events = events::priorities(tx, session)?;
            let priorities: Vec<Priority> = events.iter().map(|(_, priority)| *priority).collect();
            let dropped = to_drop(&priorities, MAX_SESSION_EVENTS);
            events::append_events_gone(tx, dropped.len(), now)?;
            dropped.iter().try_for_each(|&at| events::remove(tx, events[at].0))?;
            Ok::<_, rusqlite::Error>(dropped.len())
        })
    }

    /// Returns the newest notes that are visible in the scope and not superseded, at most `most` of them.
    pub fn newest_notes(&self, scope: &Scope, most: usize) -> Result<Vec<Entry>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| notes::newest(c, scope_ids, most))
    }

    /// Stores the guide of the scope's session, replacing the previous one.
    pub fn keep_guide(&mut self, scope: &Scope, guide: &Guide, now: Timestamp) -> Result<()> {
        self.check_scope(scope)?;
        let guide = Guide { text: super::redacted_text(&guide.text), ..guide.clone() };
        let own = self.own_scope(scope);
        self.log.write(Durability::Process, |tx| match scopes::find_or_make(tx, &own, now)?.session {
            Some(session) => hooks::keep_guide(tx, session, &guide, now),
            None => Ok(()),
        })
    }

    pub fn guide(&self, scope: &Scope) -> Result<Option<Guide>> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(None) };
        self.log.read(|c| hooks::guide(c, session))
    }

    /// Takes the guide of the scope's session if it is waiting for a hook that can deliver it.
    pub fn take_waiting_guide(&mut self, scope: &Scope) -> Result<Option<String>> {
        let waiting = self.guide(scope)?.is_some_and(|guide| guide.waiting);
        let Some(session) = self.scope_ids(scope)?.session.filter(|_| waiting) else { return Ok(None) };
        self.log.write(Durability::Process, |tx| hooks::take_waiting(tx, session))
    }

    /// Returns the session of the same client that came before the scope's own in the same work.
    pub fn last_session(&self, scope: &Scope) -> Result<Option<SessionKey>> {
        let (Some(own), Some(work)) = (&scope.session, self.scope_ids(scope)?.work) else { return Ok(None) };
        self.log.read(|c| hooks::last_session(c, own, work))
    }

    /// The client's session, other than the scope's own, in which the user asked for just this at that time.
    pub fn session_that_asked(
        &self,
        scope: &Scope,
        text: &str,
        at: RangeInclusive<Timestamp>,
    ) -> Result<Option<SessionKey>> {
        let Some(own) = &scope.session else { return Ok(None) };
        self.log.read(|c| hooks::session_that_asked(c, own, text, at))
    }
}
