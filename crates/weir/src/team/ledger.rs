//! The records that this machine knows of, in memory. Invariant: a change is noted, and written with the next save,
//! unless everything stays in memory.

use std::collections::{BTreeSet, HashMap};

use weir_core::Reference;
use weir_records::{Body, PortError, Record};
use weir_store::{TeamConnection, TeamDb, TeamKind, TeamRecord, TeamState};

use crate::error::CommandError;

/// The records, in the order in which they were written or received.
pub(super) struct Ledger {
    db: TeamDb,
    pub(super) connection: TeamConnection,
    records: Vec<TeamRecord>,
    places: HashMap<String, usize>,
    changed: BTreeSet<usize>,
    /// Whether nothing is written.
    is_in_memory: bool,
}

impl Ledger {
    /// Reads the records of a connection.
    pub(super) fn read(db: TeamDb, connection: TeamConnection) -> Result<Self, CommandError> {
        let records = db.records()?;
        let places = places(&records);
        Ok(Self { db, connection, records, places, changed: BTreeSet::new(), is_in_memory: false })
    }

    /// Writes nothing from now on.
    pub(super) fn stay_in_memory(&mut self) {
        self.is_in_memory = true;
    }

    /// Returns the database.
    pub(super) fn db(&self) -> &TeamDb {
        &self.db
    }

    /// Returns all records.
    pub(super) fn records(&self) -> &[TeamRecord] {
        &self.records
    }

    /// Returns a record.
    pub(super) fn get(&self, id: &str) -> Option<&TeamRecord> {
        self.places.get(id).and_then(|&place| self.records.get(place))
    }

    /// Returns the record that keeps an entry.
    pub(super) fn of_entry(&self, reference: Reference) -> Option<&TeamRecord> {
        let is_it = |record: &&TeamRecord| record.kind == TeamKind::Kept && record.reference == Some(reference);
        self.records.iter().rev().find(is_it)
    }

    /// Adds a record, or puts it in the place of the one with its id.
    pub(super) fn put(&mut self, record: TeamRecord) {
        let place = match self.places.get(&record.id) {
            Some(&place) => place,
            None => {
                self.places.insert(record.id.clone(), self.records.len());
                self.records.push(record.clone());
                self.records.len() - 1
            }
        };
        if let Some(known) = self.records.get_mut(place) {
            *known = record;
        }
        self.changed.insert(place);
    }

    /// Changes a record, if there is one.
    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut TeamRecord)) {
        if let Some(&place) = self.places.get(id)
            && let Some(record) = self.records.get_mut(place)
        {
            change(record);
            self.changed.insert(place);
        }
    }

    /// Writes the connection and what has changed, in one transaction.
    pub(super) fn save(&mut self) -> Result<(), CommandError> {
        if self.is_in_memory {
            return Ok(());
        }
        let changed = std::mem::take(&mut self.changed);
        let records = changed.iter().filter_map(|&place| self.records.get(place));
        Ok(self.db.save(&self.connection, records)?)
    }

    /// Replaces records by others, and writes that in one transaction.
    pub(super) fn replace(&mut self, old: &[String], new: Vec<TeamRecord>) -> Result<(), CommandError> {
        self.save()?;
        if !self.is_in_memory {
            self.db.replace(&self.connection, old, &new)?;
        }
        self.records.retain(|record| !old.contains(&record.id));
        self.records.extend(new);
        self.places = places(&self.records);
        Ok(())
    }
}

fn places(records: &[TeamRecord]) -> HashMap<String, usize> {
    records.iter().enumerate().map(|(place, record)| (record.id.clone(), place)).collect()
}

/// Whether the row of an own record is that of a record with the same id. Once its entry was forgotten, only the
/// reference of that says so.
pub(super) fn is_same(row: &TeamRecord, record: &Record) -> Result<bool, PortError> {
    Ok(match &row.json {
        Some(json) => *json == record.to_json()?,
        None => row.reference.is_some() && record.body.kept().map(|kept| kept.reference) == row.reference,
    })
}

/// Returns the row of a record, without an entry and without what is sent.
pub(super) fn row_of(record: &Record, state: TeamState) -> TeamRecord {
    let (kind, about, successor) = match &record.body {
        Body::Kept(_) => (TeamKind::Kept, None, None),
        Body::Superseded { old, by } => (TeamKind::Superseded, Some(old.to_string()), Some(by.to_string())),
        Body::Confirmed { record, .. } => (TeamKind::Confirmed, Some(record.to_string()), None),
        Body::Removed { record, .. } => (TeamKind::Removed, Some(record.to_string()), None),
    };
    TeamRecord {
        id: record.id.to_string(),
        kind,
        state,
        is_own: false,
        user: record.author.user.0.clone(),
        client: record.author.client.clone(),
        at: record.time.timestamp(),
        about,
        successor,
        reference: None,
        json: None,
        problem: None,
    }
}
