//! Takes in past sessions. Invariant: what a part of a transcript says and how far it was read are one transaction, so that
//! nothing is taken in twice, whatever ends the process.

use weir_core::{Event, NewEntry, Scope, SessionKey, Timestamp};

use super::keep::{redact_labels, redact_text};
use super::{Store, redacted_event};
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::imports::{self, Conversation, Known, ReadTo};
use crate::log::{entries, events, places};

/// What happened at a moment of a past session.
#[derive(Debug)]
pub struct Past {
    /// When.
    pub at: Timestamp,
    /// The events.
    pub events: Vec<Event>,
    /// The client's summary of the conversation, if it was compacted then.
    pub summary: Option<NewEntry>,
}

/// What of a past session is not there yet, redacted.
#[derive(Debug)]
pub struct Fresh(Vec<Past>);

impl Fresh {
    /// Leaves out what is known. Returns how much that was, too.
    pub fn of(past: Vec<Past>, known: &mut Known) -> (Self, usize) {
        let mut found = 0;
        let mut fresh = |Past { at, events, summary }: Past| {
            let mut is_new = |is_known: bool| {
                found += usize::from(is_known);
                !is_known
            };
            let events = events.iter().map(redacted_event).filter(|event| is_new(known.take(event, at))).collect();
            let summary = summary.filter(|_| is_new(known.take_summary(at)));
            Past { at, events, summary }
        };
        let fresh = Self(past.into_iter().map(&mut fresh).collect());
        (fresh, found)
    }

    /// What there is.
    pub fn past(&self) -> &[Past] {
        &self.0
    }
}

impl Store {
    /// How far the transcript of a conversation was taken in.
    pub fn imported_to(&self, of: &Conversation) -> Result<Option<ReadTo>> {
        self.log.read(|c| imports::read_to(c, of))
    }

    /// What a session has already.
    pub fn known_of(&self, scope: &Scope, session: &SessionKey) -> Result<Known> {
        let scope = Scope { session: Some(session.clone()), ..scope.clone() };
        match self.place(&scope)?.session {
            Some(session) => self.log.read(|c| imports::known(c, session)),
            None => Ok(Known::default()),
        }
    }

    /// Takes in what a transcript says of the scope's session, and notes how far it was read.
    pub fn import(
        &mut self,
        scope: &Scope,
        of: &Conversation,
        (fresh, to): (Fresh, &ReadTo),
        now: Timestamp,
    ) -> Result<()> {
        let own = self.own_scope(&Scope { session: Some(of.session.clone()), ..scope.clone() });
        self.check_scope(&own)?;
        let mut told = Vec::new();
        for Past { at, events, summary } in fresh.0 {
            told.extend(events.into_iter().map(|event| (at, event)));
            if let Some(entry) = summary {
                self.keep_past(&own, entry, (at, now))?;
            }
        }
        self.log.write(Durability::Process, |tx| -> rusqlite::Result<()> {
            if let Some((first, _)) = told.first() {
                let place = places::find_or_make(tx, &own, *first)?;
                for (at, event) in &told {
                    events::append(tx, place, event, *at)?;
                }
            }
            imports::note(tx, of, to, now)
        })
    }

    /// Keeps an entry of another time. It expires as if it were of today.
    fn keep_past(&mut self, scope: &Scope, mut entry: NewEntry, (at, now): (Timestamp, Timestamp)) -> Result<()> {
        self.check_level(scope, &entry)?;
        redact_labels(&mut entry);
        let redactions: u64 = redact_text(&mut entry).iter().map(|(_, count)| count).sum();
        let staged = self.blobs.stage(&entry.text)?;
        let (blobs, limits) = (&self.blobs, &self.limits);
        self.log.write(Durability::Process, |tx| {
            let place = places::find_or_make(tx, scope, at)?;
            let blob_id = blobs.commit(tx, &staged)?;
            let id = events::append_kept(tx, place, at)?;
            let redactions = u32::try_from(redactions).unwrap_or(u32::MAX);
            let expires_at = limits.expiry(entry.kind, now);
            entries::insert(
                tx,
                &entries::NewRow { id, place, blob_id, redactions, now: at, expires_at, entry: &entry },
            )?;
            blobs.settle()?;
            Ok::<_, Fault>(())
        })
    }
}
