//! Makes turns searchable, and failures together with what fixed them. A search does this after it has taken in the
//! single events, so that hooks get no slower.
//!
//! Invariants: an entry names every event that it was made of, so that it is forgotten with any of them; a turn has at
//! most one entry, which is replaced when the turn goes on.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction};
use weir_core::guide::{self, Fact};
use weir_core::{EntryKind, EventKind, Level, NewEntry, Origin, Reference, Timestamp, WhyGone};

use super::{Freshness, Owner, Store};
use crate::blobs::{Blobs, StagedText};
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::retention::{self, Removal};
use crate::log::scopes::ScopeIds;
use crate::log::source_events::SourceEvent;
use crate::log::turns::{self, FIX, Place, TURN};
use crate::log::{entries, events, said};

const BATCH_EVENTS: usize = 1_024;
/// Number of events after which progress is recorded even if there was nothing to keep.
const PROGRESS_INTERVAL_EVENTS: i64 = 4_096;
/// The longest message that is read for its sentences and names, in bytes.
const MAX_MESSAGE_BYTES: u64 = 8 << 10;

/// An entry that is made of several events.
struct Made {
    source: &'static str,
    origin: Origin,
    text: String,
    /// The events, oldest first.
    events: Vec<i64>,
    /// The event by which an entry that was made before is found.
    key: i64,
    /// The events whose entries with this source are replaced.
    replaced: Vec<(i64, &'static str)>,
    at: Timestamp,
    kept_from: Timestamp,
    scope_ids: ScopeIds,
}

impl Store {
    /// Makes entries of turns that have ended and of fixes, for at most `patience`. Returns whether none are left.
    pub(super) fn take_in_turns(&mut self, patience: Duration) -> Result<bool> {
        let begun = Instant::now();
        let mut seen = 0;
        while self.owner != Owner::User && begun.elapsed() < patience {
            let blobs = &self.blobs;
            let (from, last, is_all, made) = self.log.read_at_once(|c| -> Result<_, Fault> {
                let from = turns::taken_to(c)?;
                let new = turns::since(c, from.max(seen), BATCH_EVENTS)?;
                let is_all = new.len() < BATCH_EVENTS;
                let last = if is_all { said::newest(c)? } else { new.last().map_or(from, |(id, ..)| *id) };
                Ok((from, last, is_all, made_of(c, blobs, &new)?))
            })?;
            seen = last;
            let is_far = last - from >= PROGRESS_INTERVAL_EVENTS;
            if made.is_empty() && !is_far {
                if is_all {
                    return Ok(true);
                }
                continue;
            }
            match self.keep_made(made, (from, last))? {
                None => return Ok(false),
                Some(true) if is_all => return Ok(true),
                Some(true) => {}
                // The other process may have gone only part of the way, so look again.
                Some(false) => seen = 0,
            }
        }
        Ok(self.owner == Owner::User)
    }

    /// Keeps entries and records the progress. Returns whether no other process had done so before, or `None` if the
    /// log is locked.
    fn keep_made(&mut self, made: Vec<Made>, (from, to): (i64, i64)) -> Result<Option<bool>> {
        let stage = |made: Made| Ok((self.blobs.stage(made.text.as_bytes())?, made));
        let staged: Vec<(StagedText, Made)> = made.into_iter().map(stage).collect::<Result<_>>()?;
        let (blobs, limits) = (&self.blobs, &self.limits);
        let keep = |tx: &Transaction<'_>| {
            // Another process may have been here since.
            if turns::taken_to(tx)? != from {
                return Ok::<_, Fault>((false, Removal::default()));
            }
            let mut removed = Removal::default();
            for (text, made) in &staged {
                let expires_at = limits.expiry(EntryKind::Said, made.kept_from);
                removed += keep_one(tx, blobs, (made, text), expires_at)?;
            }
            turns::record_taken(tx, to)?;
            blobs.sync_names()?;
            Ok((true, removed))
        };
        let kept = match self.freshness {
            Freshness::Complete => self.log.write(Durability::Process, keep).map(Some)?,
            Freshness::Prompt => self.log.write_if_free(Durability::Process, keep)?,
        };
        let Some((is_ours, removed)) = kept else { return Ok(None) };
        self.remove_files(&removed)?;
        Ok(Some(is_ours))
    }
}

/// Keeps an entry unless it is there already, and removes those that it replaces. One that a note cites stays.
fn keep_one(
    tx: &Transaction<'_>,
    blobs: &Blobs,
    (made, text): (&Made, &StagedText),
    expires_at: Option<Timestamp>,
) -> Result<Removal, Fault> {
    let blob_id = blobs.commit(tx, text)?;
    let known = turns::entries_of(tx, made.key, made.source)?;
    let mut removed = Removal::default();
    if known.iter().any(|entry| entry.blob_id == blob_id || entry.pinned) {
        removed.files.extend(blobs.remove_if_unused(tx, blob_id)?.and_then(|text| text.file));
        return Ok(removed);
    }
    let id = events::append_kept(tx, made.scope_ids, made.at)?;
    let entry = NewEntry {
        source: Some(made.source.to_owned()),
        ..NewEntry::new(EntryKind::Said, made.origin, Level::Project, made.source)
    };
    let scope_ids = made.scope_ids;
    let row = entries::NewRow { id, scope_ids, blob_id, redactions: 0, now: made.at, expires_at, entry: &entry };
    entries::insert(tx, &row)?;
    made.events.iter().try_for_each(|event| said::link(tx, id, *event))?;
    let mut old: Vec<i64> = known.into_iter().map(|entry| entry.id).collect();
    for (event, source) in &made.replaced {
        let others = turns::entries_of(tx, *event, source)?;
        old.extend(others.into_iter().filter(|entry| !entry.pinned && entry.id != id).map(|entry| entry.id));
    }
    old.sort_unstable();
    old.dedup();
    removed += retention::remove(tx, blobs, &old, WhyGone::Replaced, made.at)?;
    Ok(removed)
}

/// Returns the entries to make because of new events.
fn made_of(db: &Connection, blobs: &Blobs, new: &[(i64, Option<i64>, Place)]) -> Result<Vec<Made>, Fault> {
    let mut sessions: BTreeMap<i64, Vec<Place>> = BTreeMap::new();
    for (_, session, place) in new {
        if let Some(session) = session {
            sessions.entry(*session).or_default().push(*place);
        }
    }
    let mut made = Vec::new();
    for (session, places) in &mut sessions {
        places.sort_unstable();
        made.extend(turns_of(db, blobs, *session, places)?);
        made.extend(fixes_of(db, *session, places)?);
    }
    Ok(made)
}

/// Returns the turns of a session that new events belong to or have ended.
fn turns_of(db: &Connection, blobs: &Blobs, session: i64, new: &[Place]) -> Result<Vec<Made>, Fault> {
    let requests = turns::requests(db, session)?;
    let (Some(first), Some(last)) = (new.first(), new.last()) else { return Ok(Vec::new()) };
    // A request ends the turn before it.
    let turn_of = |place: &Place| requests.partition_point(|(at, _)| at <= place).saturating_sub(1);
    let (begin, end) = (turn_of(first).saturating_sub(1), turn_of(last));
    let Some((from, _)) = requests.get(begin) else { return Ok(Vec::new()) };
    let to = requests.get(end + 1).map_or(i64::MAX, |((at, _), _)| *at);
    let events = turns::between(db, session, from.0, to)?;
    let mut made = Vec::new();
    for at in begin..=end {
        let (from, next) = (requests[at].0, requests.get(at + 1).map(|(place, _)| *place));
        let is_in = |place: &Place| *place >= from && next.is_none_or(|next| *place < next);
        if !new.iter().any(|place| is_in(place) || Some(*place) == next) {
            continue;
        }
        let of_turn: Vec<&SourceEvent> = events.iter().filter(|event| is_in(&(event.at.0, event.id))).collect();
        let before = requests[..at].iter().rev().map(|(_, text)| text.as_str());
        let before = before.clone().find(|text| !guide::says_little(text)).unwrap_or_default();
        made.extend(turn(db, blobs, &of_turn, (before, next.is_some()))?);
    }
    Ok(made)
}

/// Returns the entry of a turn that has ended, if it says anything.
fn turn(
    db: &Connection,
    blobs: &Blobs,
    events: &[&SourceEvent],
    (before, has_next): (&str, bool),
) -> Result<Option<Made>, Fault> {
    let facts: Vec<Fact<'_>> = events.iter().map(|event| event.fact()).collect();
    let Some(request) = events.first().filter(|_| has_next || guide::has_ended(&facts)) else { return Ok(None) };
    let said = events.iter().rev().find(|event| event.event.kind == EventKind::Said);
    let message = match said.and_then(|event| event.event.whole_reference()) {
        Some(reference) => message(db, blobs, reference)?,
        None => String::new(),
    };
    let text = guide::turn(&facts, before, &message);
    Ok((!text.is_empty()).then(|| Made {
        source: TURN,
        origin: Origin::Model,
        text,
        events: events.iter().map(|event| event.id).collect(),
        key: request.id,
        replaced: Vec::new(),
        at: request.at,
        kept_from: request.kept_from,
        scope_ids: request.scope_ids,
    }))
}

/// Reads a message that an entry has in full. One that cannot be read counts as unknown.
fn message(db: &Connection, blobs: &Blobs, reference: Reference) -> Result<String, Fault> {
    let Some(blob_id) = said::blob_of(db, reference)? else { return Ok(String::new()) };
    let Ok(Some(reader)) = blobs.open_at(db, blob_id) else { return Ok(String::new()) };
    let is_short = reader.bytes() <= MAX_MESSAGE_BYTES;
    let text = if is_short { reader.all().unwrap_or_default() } else { Vec::new() };
    Ok(String::from_utf8(text).unwrap_or_default())
}

/// Returns the entries of new fixes: what failed, and what was done between the last failure and the success.
fn fixes_of(db: &Connection, session: i64, new: &[Place]) -> Result<Vec<Made>, Fault> {
    let (Some(first), Some(last)) = (new.first(), new.last()) else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    for fix in turns::between(db, session, first.0, last.0)? {
        let place = (fix.at.0, fix.id);
        if fix.event.kind != EventKind::Fix || new.binary_search(&place).is_err() {
            continue;
        }
        let subject = guide::subject(&fix.event);
        let before = turns::failures(db, session, place)?;
        let of_subject = before.iter().filter(|event| guide::subject(&event.event) == subject);
        let errors: Vec<&SourceEvent> = of_subject.take_while(|event| event.event.kind == EventKind::Error).collect();
        let since = errors.first().map_or(fix.at.0, |error| error.at.0);
        let mut between = turns::between(db, session, since, fix.at.0)?;
        let from = errors.first().map_or(place, |error| (error.at.0, error.id));
        between.retain(|event| (event.at.0, event.id) > from && (event.at.0, event.id) < place);
        made.push(fixed(&fix, &errors, &between));
    }
    Ok(made)
}

fn fixed(fix: &SourceEvent, errors: &[&SourceEvent], between: &[SourceEvent]) -> Made {
    let facts: Vec<Fact<'_>> = between.iter().map(SourceEvent::fact).collect();
    let text = match errors.first() {
        Some(error) => guide::fix(&error.event, errors.len(), &facts),
        None => fix.event.text.clone(),
    };
    let mut events: Vec<i64> = errors.iter().map(|error| error.id).chain([fix.id]).collect();
    events.extend(between.iter().filter(|event| guide::may_repair(&event.event)).map(|event| event.id));
    events.sort_unstable();
    Made {
        source: FIX,
        origin: Origin::Tool,
        text,
        key: fix.id,
        replaced: errors.iter().map(|error| (error.id, EventKind::Error.as_str())).collect(),
        events,
        at: fix.at,
        kept_from: errors.last().map_or(fix.kept_from, |error| error.kept_from),
        scope_ids: fix.scope_ids,
    }
}
