//! Imports the rows of an export, each once.
//!
//! Invariants: what a row says and that it was imported are written in one transaction; a note of an export supersedes
//! nothing but an earlier version of the same row; what was imported and then forgotten does not come back.

use std::collections::{HashMap, HashSet};

use rusqlite::Transaction;
use weir_core::{Event, NewEntry, Reference, Scope, SessionKey, Timestamp};

use super::keep::EntryWriter;
use super::told::{EventTime, StagedEvent};
use super::{Found, Store, redacted_event, redacted_text};
use crate::blobs::FinishedText;
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::imports::{self, Conversation, ImportPosition, Known, SUMMARY};
use crate::log::scopes::ScopeIds;
use crate::log::{entries, notes, scopes};

/// A row of an export.
#[derive(Debug)]
pub struct ForeignRow {
    /// The program and its list that has the row, such as `engram/observation`. No session may have a client of that
    /// name.
    pub list: &'static str,
    /// The row's name in the list.
    pub id: String,
    /// When the row was last changed. A later time is a new version of the row.
    pub changed_at: Timestamp,
    pub at: Timestamp,
    /// The session that it belongs to, if any, with the time at which that began.
    pub session: Option<(SessionKey, Timestamp)>,
    /// The branch, ticket or name that it belongs to.
    pub work: Option<String>,
    pub events: Vec<Event>,
    /// The note or the summary that it stands for.
    pub entry: Option<NewEntry>,
}

/// What one import has seen of a store so far.
#[derive(Debug, Default)]
pub struct RowMemory {
    known: HashMap<SessionKey, Known>,
    /// The hashes of the texts of new notes.
    texts: HashSet<blake3::Hash>,
}

/// The rows that are not stored yet, redacted.
#[derive(Debug, Default)]
pub struct FreshRows {
    rows: Vec<FreshRow>,
    known: usize,
}

#[derive(Debug)]
struct FreshRow {
    row: ForeignRow,
    /// The note that an earlier version of the row became.
    earlier: Option<Reference>,
}

/// What the log has of a row.
enum RowStanding {
    /// The row was never imported.
    New,
    /// The row was imported and has changed since. The note that it became, if it became one.
    Changed(Option<Reference>),
    /// The row was imported, and has not changed or was forgotten.
    Known,
}

impl FreshRows {
    /// Redacts rows and leaves out what is already stored. Without a store, everything is new.
    pub fn of(store: Option<&Store>, scope: &Scope, rows: Vec<ForeignRow>, memory: &mut RowMemory) -> Result<Self> {
        let mut fresh = Self::default();
        for mut row in rows {
            fresh.known += row.leave_out_known_events(store, scope, memory)?;
            let standing = store.map_or(Ok(RowStanding::New), |store| store.standing_of(scope, &row))?;
            let earlier = match standing {
                RowStanding::New => None,
                RowStanding::Changed(earlier) => earlier,
                RowStanding::Known => {
                    fresh.known += row.events.len() + usize::from(row.entry.is_some());
                    continue;
                }
            };
            if row.is_taken(store, scope)? || row.is_repeated_note(store, scope, memory)? {
                fresh.known += 1;
                continue;
            }
            fresh.rows.push(FreshRow { row, earlier });
        }
        Ok(fresh)
    }

    pub fn rows(&self) -> impl Iterator<Item = &ForeignRow> {
        self.rows.iter().map(|fresh| &fresh.row)
    }

    /// Returns how many events, notes and summaries are already stored.
    pub fn known(&self) -> usize {
        self.known
    }
}

impl ForeignRow {
    /// Redacts the events and the summary, and removes those that the session already has from elsewhere. Returns how
    /// many were removed.
    fn leave_out_known_events(
        &mut self,
        store: Option<&Store>,
        scope: &Scope,
        memory: &mut RowMemory,
    ) -> Result<usize> {
        self.events = self.events.iter().map(redacted_event).collect();
        let (Some(store), Some((session, _))) = (store, &self.session) else { return Ok(0) };
        if !memory.known.contains_key(session) {
            memory.known.insert(session.clone(), store.known_of(scope, session)?);
        }
        let Some(known) = memory.known.get_mut(session) else { return Ok(0) };
        let (at, before) = (self.at, self.events.len() + usize::from(self.entry.is_some()));
        self.events.retain(|event| !known.take(event, at));
        self.entry.take_if(|entry| is_summary(entry) && known.take_summary(at));
        Ok(before - self.events.len() - usize::from(self.entry.is_some()))
    }

    /// Whether the store has an entry with the reference of this one, or had it.
    fn is_taken(&self, store: Option<&Store>, scope: &Scope) -> Result<bool> {
        let reference = self.entry.as_ref().and_then(|entry| entry.reference);
        let (Some(store), Some(reference)) = (store, reference) else { return Ok(false) };
        Ok(!matches!(store.find(scope, reference)?, Found::Never))
    }

    /// Whether the row is a note whose text another note has, stored or in the same export.
    fn is_repeated_note(&self, store: Option<&Store>, scope: &Scope, memory: &mut RowMemory) -> Result<bool> {
        let Some(entry) = self.entry.as_ref().filter(|entry| entry.note.is_some()) else { return Ok(false) };
        let text = String::from_utf8_lossy(&entry.text);
        let stored = store.map_or(Ok(None), |store| store.note_with_text(scope, &text))?;
        let is_new = memory.texts.insert(blake3::hash(redacted_text(&text).as_bytes()));
        Ok(stored.is_some() || !is_new)
    }

    /// Returns what the log records the row under.
    fn recorded_as(&self) -> Conversation {
        let session = SessionKey { client: self.list.to_owned(), key: self.id.clone() };
        Conversation { session, subagent: String::new() }
    }

    /// Returns the version of the row, as the log records it.
    fn version(&self) -> u64 {
        u64::try_from(self.changed_at.0).unwrap_or_default()
    }
}

struct ReadyRow {
    fresh: FreshRow,
    scope: Scope,
    text: Option<FinishedText>,
    told: Vec<StagedEvent>,
}

impl Store {
    /// Imports rows, and records that they were imported. Returns how many notes were imported without their topic,
    /// because another note has it.
    pub fn import_rows(&mut self, scope: &Scope, fresh: FreshRows, now: Timestamp) -> Result<usize> {
        let mut ready = Vec::with_capacity(fresh.rows.len());
        for mut fresh in fresh.rows {
            let session = fresh.row.session.as_ref().map(|(session, _)| session.clone());
            let scope = self.own_scope(&Scope { session, work: fresh.row.work.take(), ..scope.clone() });
            self.check_scope(&scope)?;
            let text = match &mut fresh.row.entry {
                Some(entry) => Some(self.finished(&scope, entry)?),
                None => None,
            };
            let told = self.staged(fresh.row.events.drain(..))?;
            ready.push(ReadyRow { fresh, scope, text, told });
        }
        let (blobs, limits) = (&self.blobs, &self.limits);
        self.log.write(Durability::Process, |tx| {
            let mut without_topic = 0;
            for row in &mut ready {
                without_topic += usize::from(row.write(EntryWriter { tx, blobs, limits }, now)?);
            }
            blobs.sync_names()?;
            Ok::<_, Fault>(without_topic)
        })
    }

    fn standing_of(&self, scope: &Scope, row: &ForeignRow) -> Result<RowStanding> {
        let Some(position) = self.imported_to(&row.recorded_as())? else { return Ok(RowStanding::New) };
        if position.steps >= row.version() {
            return Ok(RowStanding::Known);
        }
        let Ok(earlier) = Reference::parse(&position.message) else { return Ok(RowStanding::Changed(None)) };
        let scope_ids = self.scope_ids(scope)?;
        let stored = self.log.read(|c| entries::by_reference(c, scope_ids, earlier))?;
        Ok(stored.map_or(RowStanding::Known, |_| RowStanding::Changed(Some(earlier))))
    }
}

impl ReadyRow {
    /// Writes the row. Returns whether it is a note that lost its topic.
    fn write(&mut self, to: EntryWriter<'_>, now: Timestamp) -> Result<bool, Fault> {
        let EntryWriter { tx, limits, .. } = to;
        let FreshRow { row, earlier } = &mut self.fresh;
        // Another process may have imported it in the meantime.
        let recorded = imports::read_to(tx, &row.recorded_as())?;
        if recorded.is_some_and(|position| position.steps >= row.version()) {
            return Ok(false);
        }
        let began = row.session.as_ref().map_or(row.at, |(_, began)| *began);
        let scope_ids = scopes::find_or_make(tx, &self.scope, began)?;
        let (mut lost_topic, mut message) = (false, String::new());
        if let (Some(entry), Some(text)) = (&mut row.entry, &self.text) {
            lost_topic = place_note(tx, scope_ids, entry, *earlier)?;
            let taken = to.insert(&self.scope, entry, text, row.at)?;
            if let Some(confirmed_at) = entry.note.as_ref().and_then(|note| note.confirmed_at) {
                notes::confirm(tx, taken.id, confirmed_at)?;
            }
            // Entries from the past expire as if they were stored today.
            entries::set_expiry(tx, taken.id, limits.expiry(entry.kind, now))?;
            message = taken.reference.to_string();
        }
        to.append(scope_ids, &self.told, EventTime { at: row.at, kept_from: now })?;
        imports::record(tx, &row.recorded_as(), &ImportPosition { steps: row.version(), message }, now)?;
        // The age of the session's events is counted from the import.
        if let Some(session) = &self.scope.session {
            let conversation = Conversation { session: session.clone(), subagent: String::new() };
            imports::record(tx, &conversation, &ImportPosition::default(), now)?;
        }
        Ok(lost_topic)
    }
}

/// Makes a note supersede the earlier version of its row, if that is still current. Takes its topic away if another
/// note has it, and returns whether it did.
fn place_note(
    tx: &Transaction<'_>,
    scope_ids: ScopeIds,
    entry: &mut NewEntry,
    earlier: Option<Reference>,
) -> Result<bool, Fault> {
    let level = entry.level;
    let Some(note) = &mut entry.note else { return Ok(false) };
    let found = earlier.map(|earlier| entries::by_reference(tx, scope_ids, earlier)).transpose()?.flatten();
    let current = found.filter(|stored| stored.entry.superseded_by.is_none());
    note.supersedes = current.iter().map(|stored| stored.entry.reference).collect();
    let Some(topic) = &note.topic else { return Ok(false) };
    let own = current.map(|stored| stored.id);
    let is_taken = notes::heads_on(tx, topic, level, scope_ids)?.iter().any(|head| Some(head.id) != own);
    if is_taken {
        note.topic = None;
    }
    Ok(is_taken)
}

fn is_summary(entry: &NewEntry) -> bool {
    entry.note.is_none() && entry.source.as_deref() == Some(SUMMARY)
}
