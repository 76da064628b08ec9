//! Forgets on request. Invariant: exactly what the dry run showed is removed, or nothing.

use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, Params, Transaction, params};
use weir_core::{EntryKind, Reference, Timestamp, WhyGone};
use weir_ledger::Sql as _;

use super::entries::read_reference;
use super::events;
use super::retention::{self, Removal};
use super::said;
use super::scopes::{self, ScopeIds, VISIBLE};
use super::written;
use crate::blobs::Blobs;
use crate::error::{Fault, Result, StoreError};

/// What to forget. If several conditions are given, all must hold; without any, nothing is selected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    pub references: Vec<Reference>,
    /// All revisions of the note on this topic.
    pub topic: Option<String>,
    /// Entries from this source or below it.
    pub source: Option<String>,
    /// Everything from this session, including events.
    pub session: Option<String>,
    /// Everything from this time or later, including events.
    pub since: Option<Timestamp>,
    /// Everything from before this time, including events.
    pub before: Option<Timestamp>,
    /// The whole store.
    pub everything: bool,
}

impl Selection {
    /// Returns whether a damaged record of the spool may be meant. Only its time and its bytes are known.
    pub(crate) fn may_mean_record(&self, at: Timestamp, bytes: &[u8]) -> bool {
        let Self { references, topic, source, session, since, before, everything } = self;
        let is_about_more = !references.is_empty() || topic.is_some() || source.is_some();
        let is_about_records = *everything || session.is_some() || since.is_some() || before.is_some();
        is_about_records
            && !is_about_more
            && session.as_ref().is_none_or(|key| memchr::memmem::find(bytes, key.as_bytes()).is_some())
            && since.is_none_or(|since| at >= since)
            && before.is_none_or(|before| at < before)
    }

    /// Returns whether the whole store is selected, without any other condition.
    pub(crate) fn is_the_whole_store(&self) -> bool {
        *self == Self { everything: true, ..Self::default() }
    }
}

/// The result of a dry run: what a selection would remove.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The selected entries, oldest first.
    pub entries: Vec<PlannedEntry>,
    /// Number of events to remove that belong to no selected entry.
    pub events: usize,
    /// A code for exactly this plan, which the removal requires.
    pub confirmation: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEntry {
    pub(crate) id: i64,
    pub(crate) blob_id: i64,
    pub reference: Reference,
    pub kind: EntryKind,
    /// The entry's title, if it is visible in the scope.
    pub title: Option<String>,
    pub bytes: u64,
}

/// The result of forgetting, with the proof that nothing is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    pub entries: usize,
    /// Number of events removed that belonged to no entry.
    pub events: usize,
    pub blobs: usize,
    /// Number of texts that stay because another entry has the same text.
    pub shared_blobs: usize,
    /// How much was still found in each part of the store afterwards. All zero unless something failed.
    pub remaining: Vec<(&'static str, usize)>,
    /// Whether the write-ahead logs were emptied too. Another process that has the store open can prevent that.
    pub logs_emptied: bool,
    /// Whether the index was removed because it was damaged or the disk was full. The next search rebuilds it.
    pub index_removed: bool,
    /// Why something is left to do, if it is. The next call that indexes finishes it.
    pub unfinished: Option<String>,
}

/// A selection, and the scope that it is made in.
#[derive(Clone, Copy)]
pub(crate) struct ScopedSelection<'a> {
    pub(crate) scope_ids: ScopeIds,
    pub(crate) selection: &'a Selection,
}

pub(crate) fn plan(db: &Connection, scoped: ScopedSelection<'_>) -> rusqlite::Result<Plan> {
    let Chosen { entries, events } = ResolvedSelection::new(db, scoped)?.chosen(db)?;
    let mut hasher = blake3::Hasher::new();
    for id in entries.iter().map(|entry| entry.id).chain([-1]).chain(events.iter().copied()) {
        hasher.update(&id.to_le_bytes());
    }
    let confirmation = hasher.finalize().to_hex()[..8].to_owned();
    Ok(Plan { entries, events: events.len(), confirmation })
}

/// Removes what the plan with this confirmation showed.
pub(crate) fn run(
    tx: &Transaction<'_>,
    blobs: &Blobs,
    scoped: ScopedSelection<'_>,
    confirmation: &str,
    now: Timestamp,
) -> Result<(Plan, Removal), Fault> {
    let plan = plan(tx, scoped)?;
    if plan.confirmation != confirmation {
        return Err(StoreError::PlanChanged.into());
    }
    let chosen = ResolvedSelection::new(tx, scoped)?;
    let Chosen { events, .. } = chosen.chosen(tx)?;
    if plan.events > 0 {
        events::append_events_gone(tx, plan.events, now)?;
    }
    // A guide repeats parts of its session's events and entries, and is written again from what is left. An entry has
    // the id of the event that kept it.
    for id in events.iter().copied().chain(plan.entries.iter().map(|entry| entry.id)) {
        tx.sql("DELETE FROM guides WHERE session_id = (SELECT session_id FROM events WHERE id = ?1)").run([id])?;
    }
    chosen.forget_files(tx)?;
    for event in events {
        events::remove(tx, event)?;
    }
    let ids: Vec<i64> = plan.entries.iter().map(|entry| entry.id).collect();
    let removed = retention::remove(tx, blobs, &ids, WhyGone::Forgotten, now)?;
    if scoped.selection.is_the_whole_store() {
        tx.execute_batch(
            "DELETE FROM guides; DELETE FROM session_files; DELETE FROM sessions; DELETE FROM works;
             DELETE FROM imports; DELETE FROM meter;",
        )?;
    }
    Ok((plan, removed))
}

/// What a selection removes.
struct Chosen {
    entries: Vec<PlannedEntry>,
    events: Vec<i64>,
}

/// A selection with its names resolved.
struct ResolvedSelection<'a> {
    scope_ids: ScopeIds,
    selection: &'a Selection,
    sessions: Option<Vec<i64>>,
}

impl<'a> ResolvedSelection<'a> {
    fn new(db: &Connection, scoped: ScopedSelection<'a>) -> rusqlite::Result<Self> {
        let ScopedSelection { scope_ids, selection } = scoped;
        let key = selection.session.as_ref();
        let sessions = key.map(|key| scopes::sessions_with_key(db, key)).transpose()?;
        Ok(Self { scope_ids, selection, sessions })
    }

    /// Returns the selected entries with the events that they repeat, the selected events, and all other entries that
    /// repeat one of these events.
    fn chosen(&self, db: &Connection) -> rusqlite::Result<Chosen> {
        let mut entries = self.entries(db)?;
        let events = self.events(db, &entries)?;
        let known: HashSet<i64> = entries.iter().map(|entry| entry.id).collect();
        let mut others = BTreeSet::new();
        for event in &events {
            others.extend(said::entries_of(db, *event)?);
        }
        // Whatever else is selected, these must not stay.
        let everything = Selection::default();
        let alone = ResolvedSelection { scope_ids: self.scope_ids, selection: &everything, sessions: None };
        for id in others.into_iter().filter(|id| !known.contains(id)) {
            entries.extend(alone.driven_by(db, "e.id = ?3", id)?);
        }
        entries.sort_unstable_by_key(|entry| entry.id);
        Ok(Chosen { entries, events })
    }

    fn entries(&self, db: &Connection) -> rusqlite::Result<Vec<PlannedEntry>> {
        let selection = self.selection;
        let mut entries = Vec::new();
        if !selection.references.is_empty() {
            for reference in &selection.references {
                entries.extend(self.driven_by(db, "e.reference = ?3", reference.as_str())?);
            }
        } else if let Some(topic) = &selection.topic {
            entries = self.driven_by(db, "n.topic = ?3", topic)?;
        } else if let Some(source) = &selection.source {
            // A folder includes everything below it: `/` is the last character before `0`.
            entries = self.driven_by(db, "e.source = ?3", source)?;
            let below = "e.source > ?3 || '/' AND e.source < ?3 || '0'";
            entries.extend(self.driven_by(db, below, source.trim_end_matches('/'))?);
        } else if let Some(sessions) = &self.sessions {
            for session in sessions {
                entries.extend(self.driven_by(db, "e.session_id = ?3", session)?);
            }
        } else if selection.since.is_some() || selection.before.is_some() {
            let since = selection.since.map_or(i64::MIN, |at| at.0);
            entries = self.driven_by(db, "e.at >= ?3", since)?;
        } else if selection.everything {
            entries = self.driven_by(db, "e.id > ?3", 0)?;
        }
        entries.sort_unstable_by_key(|entry| entry.id);
        entries.dedup_by_key(|entry| entry.id);
        Ok(entries)
    }

    /// Returns the entries that one condition finds and that meet the others.
    fn driven_by(
        &self,
        db: &Connection,
        condition: &str,
        value: impl rusqlite::ToSql,
    ) -> rusqlite::Result<Vec<PlannedEntry>> {
        // A topic leads from notes to entries, everything else from entries to notes.
        let tables = if condition.starts_with("n.") {
            "notes n CROSS JOIN entries e ON e.id = n.entry_id"
        } else {
            "entries e LEFT JOIN notes n ON n.entry_id = e.id"
        };
        let sql = format!(
            "SELECT e.id, e.blob_id, e.reference, e.kind, e.title, {VISIBLE}, b.bytes, e.session_id
             FROM {tables} CROSS JOIN blobs b ON b.id = e.blob_id
             WHERE {condition} AND (?4 IS NULL OR n.topic = ?4) AND (?5 IS NULL OR e.source = ?5
                     OR (e.source > rtrim(?5, '/') || '/' AND e.source < rtrim(?5, '/') || '0'))
                 AND e.at BETWEEN ?6 AND ?7"
        );
        let mut statement = db.prepare_cached(&sql)?;
        let (since, last) = self.span();
        let parameters = params![
            self.scope_ids.session, self.scope_ids.work, value, self.selection.topic, self.selection.source, since,
            last
        ];
        let mut rows = statement.query(parameters)?;
        let mut entries = Vec::new();
        while let Some(row) = rows.next()? {
            let session: Option<i64> = row.get(7)?;
            let in_session = self.sessions.as_ref().is_none_or(|chosen| session.is_some_and(|id| chosen.contains(&id)));
            if in_session {
                let title = row.get::<_, Option<bool>>(5)?.unwrap_or(false).then(|| row.get(4)).transpose()?;
                entries.push(PlannedEntry {
                    id: row.get(0)?,
                    blob_id: row.get(1)?,
                    reference: read_reference(row, 2)?,
                    kind: written(row, 3, EntryKind::parse)?,
                    title,
                    bytes: row.get::<_, i64>(6)? as u64,
                });
            }
        }
        Ok(entries)
    }

    /// Returns the events to remove along with the entries: those that an entry repeats, and those selected themselves.
    fn events(&self, db: &Connection, entries: &[PlannedEntry]) -> rusqlite::Result<Vec<i64>> {
        let mut events = self.own_events(db)?;
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Said) {
            events.extend(said::events_of(db, entry.id, entry.reference)?);
        }
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    /// Returns the events that the selection itself covers. Only selections by session, by time or of everything cover
    /// any.
    fn own_events(&self, db: &Connection) -> rusqlite::Result<Vec<i64>> {
        let selection = self.selection;
        if !selection.references.is_empty() || selection.topic.is_some() || selection.source.is_some() {
            return Ok(Vec::new());
        }
        let (since, last) = self.span();
        if let Some(sessions) = &self.sessions {
            let mut events = Vec::new();
            for session in sessions {
                let condition = "session_id = ?3 AND session_id IS NOT NULL AND id > 0";
                events.extend(event_ids(db, condition, params![since, last, session])?);
            }
            return Ok(events);
        }
        if selection.since.is_some() || selection.before.is_some() {
            // Look at every event: forgetting is rare, and must be exact even if the clock was changed.
            return event_ids(db, "id > 0", params![since, last]);
        }
        match selection.everything {
            true => event_ids(db, "id > 0", params![since, last]),
            false => Ok(Vec::new()),
        }
    }

    /// Forgets what sessions know of files, if the selection is by session or time, or covers everything.
    fn forget_files(&self, tx: &Transaction<'_>) -> rusqlite::Result<()> {
        let selection = self.selection;
        if !selection.references.is_empty() || selection.topic.is_some() || selection.source.is_some() {
            return Ok(());
        }
        let (since, last) = self.span();
        if let Some(sessions) = &self.sessions {
            let sql = "DELETE FROM session_files WHERE session_id = ?3 AND known_at BETWEEN ?1 AND ?2";
            let mut statement = tx.prepare_cached(sql)?;
            return sessions.iter().try_for_each(|id| statement.execute(params![since, last, id]).map(drop));
        }
        if selection.since.is_some() || selection.before.is_some() || selection.everything {
            let sql = "DELETE FROM session_files WHERE session_id > 0 AND known_at BETWEEN ?1 AND ?2";
            tx.sql(sql).run(params![since, last])?;
        }
        Ok(())
    }

    /// Returns the first and the last moment selected.
    fn span(&self) -> (i64, i64) {
        let since = self.selection.since.map_or(i64::MIN, |at| at.0);
        (since, self.selection.before.map_or(i64::MAX, |at| at.0.saturating_sub(1)))
    }
}

fn event_ids(db: &Connection, condition: &str, parameters: impl Params) -> rusqlite::Result<Vec<i64>> {
    let sql = format!(
        "SELECT id FROM events WHERE {condition} AND at BETWEEN ?1 AND ?2 AND entry_id IS NULL
             AND kind <> 'gone' ORDER BY id"
    );
    db.sql(&sql).values(parameters)
}
