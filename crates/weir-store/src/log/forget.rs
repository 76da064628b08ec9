//! Forgets on request. Invariant: what is removed is exactly what the dry run showed, or nothing is.

use rusqlite::{Connection, Params, Transaction, params};
use weir_core::{EntryKind, Reference, Timestamp, WhyGone};

use super::entries::read_reference;
use super::events;
use super::places::{self, Place, VISIBLE};
use super::retention::{self, Removed};
use super::said;
use super::written;
use crate::blobs::Blobs;
use crate::error::{Fault, Result, StoreError};

/// What to forget. Where several conditions are given, all must hold; with none, nothing is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// These entries.
    pub references: Vec<Reference>,
    /// Notes on this topic, every revision.
    pub topic: Option<String>,
    /// Entries from this source, or from below it.
    pub source: Option<String>,
    /// What was made in this session, events included.
    pub session: Option<String>,
    /// What was made at or after this time, events included.
    pub since: Option<Timestamp>,
    /// What was made before this time, events included.
    pub before: Option<Timestamp>,
    /// The whole store.
    pub everything: bool,
}

impl Selection {
    /// Whether the whole store is chosen, with no condition beside it.
    pub(crate) fn is_the_whole_store(&self) -> bool {
        *self == Self { everything: true, ..Self::default() }
    }
}

/// What a selection comes to: the result of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The entries chosen, oldest first.
    pub entries: Vec<PlannedEntry>,
    /// How many events would go that belong to no chosen entry.
    pub events: usize,
    /// Stands for exactly this plan; the removal asks for it.
    pub confirmation: String,
}

/// One entry of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedEntry {
    pub(crate) id: i64,
    pub(crate) blob_id: i64,
    /// Its handle.
    pub reference: Reference,
    /// What it is.
    pub kind: EntryKind,
    /// Its title, if it is seen from here.
    pub title: Option<String>,
    /// Size of its text in bytes.
    pub bytes: u64,
}

/// What a removal did, with the proof that nothing is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// Entries removed.
    pub entries: usize,
    /// Events removed that belonged to no entry.
    pub events: usize,
    /// Texts removed.
    pub blobs: usize,
    /// Texts that stay because another entry has the same text.
    pub shared_blobs: usize,
    /// What was looked for afterwards, and how much of it was found in each place: all zero unless something failed.
    pub remaining: Vec<(&'static str, usize)>,
    /// Whether the write-ahead logs could be emptied too; another open process can hold them back.
    pub logs_emptied: bool,
    /// Whether the index had to go, since it was damaged or the disk was full. The next search makes it anew.
    pub index_removed: bool,
    /// Why something is left to do, if it is: the next call that indexes does it.
    pub unfinished: Option<String>,
}

/// Works out what a selection comes to.
pub(crate) fn plan(connection: &Connection, place: Place, selection: &Selection) -> rusqlite::Result<Plan> {
    let chosen = Chosen::new(connection, place, selection)?;
    let entries = chosen.entries(connection)?;
    let events = chosen.events(connection, &entries)?;
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
    (place, selection): (Place, &Selection),
    confirmation: &str,
    now: Timestamp,
) -> Result<(Plan, Removed), Fault> {
    let plan = plan(tx, place, selection)?;
    if plan.confirmation != confirmation {
        return Err(StoreError::PlanChanged.into());
    }
    let chosen = Chosen::new(tx, place, selection)?;
    if plan.events > 0 {
        events::append_events_gone(tx, plan.events, now)?;
    }
    let events = chosen.events(tx, &plan.entries)?;
    // A guide repeats what its session's events and entries said, and is made anew from what is left. An entry has the id
    // of the event that kept it.
    for id in events.iter().copied().chain(plan.entries.iter().map(|entry| entry.id)) {
        tx.prepare_cached("DELETE FROM guides WHERE session_id = (SELECT session_id FROM events WHERE id = ?1)")?
            .execute([id])?;
    }
    chosen.forget_files(tx)?;
    for event in events {
        events::remove(tx, event)?;
    }
    let ids: Vec<i64> = plan.entries.iter().map(|entry| entry.id).collect();
    let removed = retention::remove(tx, blobs, &ids, WhyGone::Forgotten, now)?;
    if selection.is_the_whole_store() {
        tx.execute_batch(
            "DELETE FROM guides; DELETE FROM session_files; DELETE FROM sessions; DELETE FROM works;
             DELETE FROM imports; DELETE FROM meter;",
        )?;
    }
    Ok((plan, removed))
}

/// A selection with its names resolved.
struct Chosen<'a> {
    place: Place,
    selection: &'a Selection,
    sessions: Option<Vec<i64>>,
}

impl<'a> Chosen<'a> {
    fn new(connection: &Connection, place: Place, selection: &'a Selection) -> rusqlite::Result<Self> {
        let key = selection.session.as_ref();
        let sessions = key.map(|key| places::sessions_with_key(connection, key)).transpose()?;
        Ok(Self { place, selection, sessions })
    }

    fn entries(&self, connection: &Connection) -> rusqlite::Result<Vec<PlannedEntry>> {
        let selection = self.selection;
        let mut entries = Vec::new();
        if !selection.references.is_empty() {
            for reference in &selection.references {
                entries.extend(self.driven_by(connection, "e.reference = ?3", reference.as_str())?);
            }
        } else if let Some(topic) = &selection.topic {
            entries = self.driven_by(connection, "n.topic = ?3", topic)?;
        } else if let Some(source) = &selection.source {
            // A folder stands for what is below it: `/` is the last character before `0`.
            entries = self.driven_by(connection, "e.source = ?3", source)?;
            let below = "e.source > ?3 || '/' AND e.source < ?3 || '0'";
            entries.extend(self.driven_by(connection, below, source.trim_end_matches('/'))?);
        } else if let Some(sessions) = &self.sessions {
            for session in sessions {
                entries.extend(self.driven_by(connection, "e.session_id = ?3", session)?);
            }
        } else if selection.since.is_some() || selection.before.is_some() {
            let since = selection.since.map_or(i64::MIN, |at| at.0);
            entries = self.driven_by(connection, "e.at >= ?3", since)?;
        } else if selection.everything {
            entries = self.driven_by(connection, "e.id > ?3", 0)?;
        }
        entries.sort_unstable_by_key(|entry| entry.id);
        entries.dedup_by_key(|entry| entry.id);
        Ok(entries)
    }

    /// The entries that one condition leads to and that meet the others.
    fn driven_by(
        &self,
        connection: &Connection,
        condition: &str,
        value: impl rusqlite::ToSql,
    ) -> rusqlite::Result<Vec<PlannedEntry>> {
        // A topic leads from the notes to the entries; everything else from the entries to the notes.
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
        let mut statement = connection.prepare_cached(&sql)?;
        let (since, last) = self.span();
        let parameters = params![
            self.place.session,
            self.place.work,
            value,
            self.selection.topic,
            self.selection.source,
            since,
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

    /// Events that go with the entries: those that an entry repeats, and those of their own.
    fn events(&self, connection: &Connection, entries: &[PlannedEntry]) -> rusqlite::Result<Vec<i64>> {
        let mut events = self.own_events(connection)?;
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Said) {
            events.extend(said::event_of(connection, entry.id)?);
        }
        events.sort_unstable();
        events.dedup();
        Ok(events)
    }

    /// Events of their own: a selection by session, time or everything takes them along.
    fn own_events(&self, connection: &Connection) -> rusqlite::Result<Vec<i64>> {
        let selection = self.selection;
        if !selection.references.is_empty() || selection.topic.is_some() || selection.source.is_some() {
            return Ok(Vec::new());
        }
        let (since, last) = self.span();
        if let Some(sessions) = &self.sessions {
            let mut events = Vec::new();
            for session in sessions {
                let condition = "session_id = ?3 AND session_id IS NOT NULL AND id > 0";
                events.extend(event_ids(connection, condition, params![since, last, session])?);
            }
            return Ok(events);
        }
        if selection.since.is_some() || selection.before.is_some() {
            // Every event is looked at: forgetting is rare, and must be exact whatever the clock has done.
            return event_ids(connection, "id > 0", params![since, last]);
        }
        match selection.everything {
            true => event_ids(connection, "id > 0", params![since, last]),
            false => Ok(Vec::new()),
        }
    }

    /// Forgets what sessions know of files, where a selection by session or time takes it along.
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
            tx.prepare_cached(sql)?.execute(params![since, last])?;
        }
        Ok(())
    }

    /// The first and the last moment chosen.
    fn span(&self) -> (i64, i64) {
        let since = self.selection.since.map_or(i64::MIN, |at| at.0);
        (since, self.selection.before.map_or(i64::MAX, |at| at.0.saturating_sub(1)))
    }
}

fn event_ids(connection: &Connection, condition: &str, parameters: impl Params) -> rusqlite::Result<Vec<i64>> {
    let sql = format!(
        "SELECT id FROM events WHERE {condition} AND at BETWEEN ?1 AND ?2 AND entry_id IS NULL
             AND kind <> 'gone' ORDER BY id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map(parameters, |row| row.get(0))?.collect()
}
