//! The records that this machine knows of, in memory. Invariants: a change is noted, and written with the next save,
//! unless everything stays in memory; no look-up goes through all records.

use std::collections::{BTreeSet, HashMap, HashSet};

use weir_core::Reference;
use weir_host::error::CommandError;
use weir_records::{Body, Record};
use weir_store::{TeamConnection, TeamDb, TeamKind, TeamRecord, TeamState};

/// The records, in the order in which they were written or received.
pub(super) struct Ledger {
    db: TeamDb,
    pub(super) connection: TeamConnection,
    records: Vec<TeamRecord>,
    places: Places,
    changed: BTreeSet<usize>,
    /// Whether nothing is written.
    is_in_memory: bool,
}

/// Where records are, by what they are and what they name.
#[derive(Default)]
struct Places {
    ids: HashMap<String, usize>,
    entries: HashMap<Reference, BTreeSet<usize>>,
    /// Those that are about a record, or say that it takes the place of another.
    naming: HashMap<String, BTreeSet<usize>>,
}

impl Places {
    fn of(records: &[TeamRecord]) -> Self {
        let mut places = Self::default();
        records.iter().enumerate().for_each(|(place, record)| places.add(place, record));
        places
    }

    fn add(&mut self, place: usize, record: &TeamRecord) {
        self.ids.insert(record.id.clone(), place);
        if let Some(reference) = record.reference {
            self.entries.entry(reference).or_default().insert(place);
        }
        for named in [&record.about, &record.successor].into_iter().flatten() {
            self.naming.entry(named.clone()).or_default().insert(place);
        }
    }

    fn remove(&mut self, place: usize, record: &TeamRecord) {
        self.ids.remove(&record.id);
        if let Some(reference) = record.reference
            && let Some(places) = self.entries.get_mut(&reference)
        {
            places.remove(&place);
        }
        for named in [&record.about, &record.successor].into_iter().flatten() {
            if let Some(places) = self.naming.get_mut(named) {
                places.remove(&place);
            }
        }
    }
}

impl Ledger {
    pub(super) fn read(db: TeamDb, connection: TeamConnection) -> Result<Self, CommandError> {
        let records = db.records()?;
        let places = Places::of(&records);
        Ok(Self { db, connection, records, places, changed: BTreeSet::new(), is_in_memory: false })
    }

    /// Writes nothing from now on.
    pub(super) fn stay_in_memory(&mut self) {
        self.is_in_memory = true;
    }

    pub(super) fn db(&self) -> &TeamDb {
        &self.db
    }

    pub(super) fn records(&self) -> &[TeamRecord] {
        &self.records
    }

    pub(super) fn get(&self, id: &str) -> Option<&TeamRecord> {
        self.places.ids.get(id).and_then(|&place| self.records.get(place))
    }

    pub(super) fn of_entry(&self, reference: Reference) -> Option<&TeamRecord> {
        let places = self.places.entries.get(&reference).into_iter().flatten().rev();
        places.filter_map(|&place| self.records.get(place)).find(|record| record.kind == TeamKind::Kept)
    }

    /// Returns the records that are about a record, or say that it takes the place of another.
    pub(super) fn naming(&self, id: &str) -> impl Iterator<Item = &TeamRecord> {
        let places = self.places.naming.get(id).into_iter().flatten();
        places.filter_map(move |&place| self.records.get(place))
    }

    /// Returns the first record at or after a place that waits to be sent, with its place.
    pub(super) fn to_send_from(&self, place: usize) -> Option<(usize, &TeamRecord)> {
        let is_open = |row: &TeamRecord| row.is_own && matches!(row.state, TeamState::Waiting | TeamState::Tried);
        self.records.iter().enumerate().skip(place).find(|(_, row)| is_open(row))
    }

    /// Returns these records and those that name them, in their order.
    pub(super) fn concerning(&self, ids: &[String]) -> impl Iterator<Item = &TeamRecord> {
        let mut places: BTreeSet<usize> = ids.iter().filter_map(|id| self.places.ids.get(id)).copied().collect();
        places.extend(ids.iter().filter_map(|id| self.places.naming.get(id)).flatten());
        places.into_iter().filter_map(move |place| self.records.get(place))
    }

    /// Adds a record, or puts it in the place of the one with its id.
    pub(super) fn put(&mut self, record: TeamRecord) {
        match self.places.ids.get(&record.id).copied() {
            Some(place) => self.set(place, record),
            None => {
                let place = self.records.len();
                self.places.add(place, &record);
                self.records.push(record);
                self.changed.insert(place);
            }
        }
    }

    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut TeamRecord)) {
        if let Some(place) = self.places.ids.get(id).copied()
            && let Some(mut record) = self.records.get(place).cloned()
        {
            change(&mut record);
            self.set(place, record);
        }
    }

    fn set(&mut self, place: usize, record: TeamRecord) {
        let Some(known) = self.records.get_mut(place) else { return };
        self.places.remove(place, known);
        self.places.add(place, &record);
        *known = record;
        self.changed.insert(place);
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

    pub(super) fn drop_wishes(&mut self, included: &[Reference], confirmed: &[Reference]) -> Result<(), CommandError> {
        if self.is_in_memory || (included.is_empty() && confirmed.is_empty()) {
            return Ok(());
        }
        Ok(self.db.drop_wishes(included, confirmed)?)
    }

    /// Replaces records by others, and writes that in one transaction.
    pub(super) fn replace(&mut self, old: &[String], new: Vec<TeamRecord>) -> Result<(), CommandError> {
        self.save()?;
        if !self.is_in_memory {
            self.db.replace(&self.connection, old, &new)?;
        }
        let old: HashSet<&str> = old.iter().map(String::as_str).collect();
        self.records.retain(|record| !old.contains(record.id.as_str()));
        self.records.extend(new);
        self.places = Places::of(&self.records);
        Ok(())
    }
}

/// Returns the row of a record, without an entry and without what is sent.
pub(super) fn row_of(record: &Record, state: TeamState) -> TeamRecord {
    let (kind, about, successor) = match &record.body {
        Body::Kept(_) | Body::Sealed(_) => (TeamKind::Kept, None, None),
        Body::Granted(_) => (TeamKind::Granted, None, None),
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
        is_sealed: matches!(record.body, Body::Sealed(_)),
        reference: None,
        json: None,
        problem: None,
    }
}

#[cfg(test)]
mod tests {
    use weir_core::Timestamp;

    use super::*;

    fn row(id: &str, about: Option<&str>, successor: Option<&str>) -> TeamRecord {
        TeamRecord {
            id: id.to_owned(),
            kind: if about.is_some() { TeamKind::Superseded } else { TeamKind::Kept },
            state: TeamState::Received,
            is_own: false,
            user: "ana".to_owned(),
            client: String::new(),
            at: Timestamp(0),
            about: about.map(str::to_owned),
            successor: successor.map(str::to_owned),
            is_sealed: false,
            reference: None,
            json: None,
            problem: None,
        }
    }

    #[test]
    fn a_record_is_found_by_its_entry_and_by_what_it_names_after_every_change() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::read(TeamDb::open(folder.path()).unwrap(), TeamConnection::default()).unwrap();
        for row in [row("old", None, None), row("new", None, None), row("says", Some("old"), Some("new"))] {
            ledger.put(row);
        }
        let [first, second] = [1, 2].map(Reference::from_bits);
        let found = |ledger: &Ledger, entry| ledger.of_entry(entry).map(|row| row.id.clone());
        ledger.change("old", |row| row.reference = Some(first));
        assert_eq!((found(&ledger, first), found(&ledger, second)), (Some("old".to_owned()), None));
        ledger.change("old", |row| row.reference = Some(second));
        assert_eq!((found(&ledger, first), found(&ledger, second)), (None, Some("old".to_owned())));
        for named in ["old", "new"] {
            assert_eq!(ledger.naming(named).map(|row| row.id.as_str()).collect::<Vec<_>>(), ["says"]);
            assert_eq!(ledger.concerning(&[named.to_owned()]).count(), 2, "{named} and what names it");
        }
        ledger.replace(&["old".to_owned(), "says".to_owned()], vec![row("other", Some("new"), None)]).unwrap();
        assert_eq!(ledger.naming("new").map(|row| row.id.as_str()).collect::<Vec<_>>(), ["other"]);
        assert_eq!((found(&ledger, second), ledger.naming("old").count()), (None, 0));
    }
}
