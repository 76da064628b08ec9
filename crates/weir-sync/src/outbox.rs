//! What leaves this machine: the notes of the project, what the user has confirmed, and what they have forgotten.
//! Invariants: nothing that hooks captured leaves, and no output unless the user named it; texts are redacted once
//! more; each change becomes a record once.

use std::collections::HashSet;

use weir_core::redact::redact;
use weir_core::{
    Entry, EntryKind, Level, Note, NoteKind, Origin, ProjectKey, Reference, TenantId, Timestamp, UserId, WhyGone,
};
use weir_host::error::{CommandError, ErrorKind};
use weir_records::{
    Audience, Author, Body, Clock, HostId, Kept, LogicalTime, NoteFields, NoteFile, Record, RecordId, TextKey,
};
use weir_store::{Found, TeamKind, TeamRecord, TeamState};

use super::exchange::Exchange;
use super::ledger::row_of;

/// The longest text that is sent, in bytes of JSON. A server takes requests of 4 MiB.
const MAX_TEXT_BYTES: usize = 2 << 20;
/// The longest text that is sealed, in bytes of JSON. It is sent within its record, where it takes a third more.
pub(super) const MAX_SEALED_TEXT_BYTES: usize = 1 << 20;
/// Marks the row of an entry that was forgotten before it was known whether the server has it.
pub(super) const UNSURE: &str = "unsure";
/// Marks the row of a teammate's entry that the user has forgotten.
const FORGOTTEN: &str = "forgotten here";

impl Exchange<'_> {
    /// Writes records for everything that has changed since the last exchange, and stores them.
    pub(super) fn plan(&mut self) -> Result<(), CommandError> {
        self.planned_as = Some(self.vault.state());
        // Each plan finds these again.
        self.report.unconfirmed.clear();
        self.report.too_long.clear();
        self.redate()?;
        if self.vault.is_restricted() {
            self.seal_waiting()?;
        }
        if !self.vault.is_restricted() || self.vault.can_seal() {
            // Notes first: they have the time at which they were written, and a clock does not go back.
            self.add_notes()?;
            self.add_included()?;
        }
        self.follow_forgotten()?;
        self.add_confirmations()?;
        self.ledger.save()?;
        self.drop_wishes()
    }

    pub(super) fn text_of(&self, reference: Reference) -> Result<Option<String>, CommandError> {
        let Some(text) = self.store.text(&self.scope, reference)? else { return Ok(None) };
        Ok(Some(String::from_utf8_lossy(&redact(&text.all()?).text).into_owned()))
    }

    /// Writes records again that the server has not taken and whose time is far ahead: this machine's clock was wrong.
    fn redate(&mut self) -> Result<(), CommandError> {
        let is_ahead = |row: &&TeamRecord| {
            let time = LogicalTime { millis: row.at.0, count: 0 };
            row.is_own && matches!(row.state, TeamState::Waiting | TeamState::Refused) && time.check(self.now).is_err()
        };
        let ahead: Vec<TeamRecord> = self.ledger.records().iter().filter(is_ahead).cloned().collect();
        for row in ahead {
            let Some(json) = &row.json else { continue };
            let (record, time) = (Record::from_json(json).map_err(broken)?, self.tick(self.now));
            // What is sealed and cannot be sealed again waits for a key.
            let Some(record) = self.rewritten(record, |record| record.time = time)? else { continue };
            let (at, json) = (record.time.timestamp(), Some(record.to_json().map_err(broken)?));
            self.ledger.put(TeamRecord { state: TeamState::Waiting, at, json, problem: None, ..row });
        }
        Ok(())
    }

    /// Follows what the user has forgotten: an own note is removed everywhere, a teammate's is not taken again.
    fn follow_forgotten(&mut self) -> Result<(), CommandError> {
        use TeamState::{Applied, Refused, Sent, Tried, Waiting};
        let mut unsent = Vec::new();
        let with_entry = |row: &&TeamRecord| row.kind == TeamKind::Kept && row.state != TeamState::Received;
        let rows: Vec<TeamRecord> = self.ledger.records().iter().filter(with_entry).cloned().collect();
        for row in rows {
            let Some(reference) = row.reference else { continue };
            match (self.store.find(&self.scope, reference)?, row.state) {
                (Found::Here(_), _) => {}
                (_, Waiting | Refused) => unsent.push(row.id),
                (Found::Gone(gone), state) if gone.why == WhyGone::Forgotten => {
                    let is_mine = row.user == self.ledger.connection.user;
                    self.ledger.change(&row.id, |row| {
                        (row.json, row.reference) = (None, None);
                        row.state = if is_mine { TeamState::Erased } else { TeamState::Held };
                        row.problem = match state {
                            Tried => Some(UNSURE.to_owned()),
                            _ if is_mine => None,
                            _ => Some(FORGOTTEN.to_owned()),
                        };
                    });
                    if is_mine && matches!(state, Tried | Sent | Applied) {
                        let record = RecordId::parse(&row.id).map_err(broken)?;
                        self.add(Body::forgets(record), String::new(), self.now)?;
                    }
                }
                (Found::Gone(_), _) => {}
                // The log was put back to an older state, so the server's copy is taken again.
                (Found::Never, _) => {
                    self.ledger.change(&row.id, |row| {
                        (row.state, row.is_own, row.json, row.reference) = (TeamState::Received, false, None, None);
                    });
                    self.ledger.connection.position = 0;
                }
            }
        }
        if unsent.is_empty() { Ok(()) } else { self.ledger.replace(&unsent, Vec::new()) }
    }

    /// Adds the notes of the project that are not shared yet, oldest first, and what they supersede.
    fn add_notes(&mut self) -> Result<(), CommandError> {
        let named = self.named()?;
        let mut notes = self.store.notes(&self.scope, usize::MAX)?;
        notes.reverse();
        for entry in notes.into_iter().map(|note| note.entry) {
            let is_ours = entry.level == Level::Project && entry.origin != Origin::Teammate;
            if !is_ours || entry.superseded_by.is_some() || self.ledger.of_entry(entry.reference).is_some() {
                continue;
            }
            let Some(note) = &entry.note else { continue };
            let superseded = self.superseded_by(note)?;
            if self.is_through_git() && !named.contains(&entry.reference) && !self.has_own(&superseded) {
                continue;
            }
            if entry.origin == Origin::Model && note.kind == NoteKind::Decision && note.confirmed_at.is_none() {
                self.report.unconfirmed.push(entry.reference);
                continue;
            }
            let Some(by) = self.add_entry(&entry)? else { continue };
            for old in superseded {
                self.add(Body::Superseded { old, by }, String::new(), entry.at)?;
            }
        }
        Ok(())
    }

    /// Returns the records whose place a note takes. One that was never sent stands for those whose place it took.
    fn superseded_by(&self, note: &Note) -> Result<Vec<RecordId>, CommandError> {
        let (mut open, mut seen, mut records) = (note.supersedes.clone(), HashSet::new(), Vec::new());
        while let Some(reference) = open.pop() {
            if !seen.insert(reference) {
                continue;
            }
            if let Some(row) = self.ledger.of_entry(reference).filter(|row| row.state != TeamState::Refused) {
                records.push(RecordId::parse(&row.id).map_err(broken)?);
            } else if let Found::Here(older) = self.store.find(&self.scope, reference)? {
                open.extend(older.note.into_iter().flat_map(|older| older.supersedes));
            }
        }
        Ok(records)
    }

    /// Returns what the user has named to be sent too, now and before.
    fn named(&self) -> Result<Vec<Reference>, CommandError> {
        let mut named = self.ledger.db().to_include()?;
        named.extend(&self.included);
        Ok(named)
    }

    /// Whether one of these records was written here.
    fn has_own(&self, records: &[RecordId]) -> bool {
        records.iter().any(|id| self.ledger.get(&id.to_string()).is_some_and(|row| row.is_own))
    }

    /// Adds the other entries that the user has named.
    fn add_included(&mut self) -> Result<(), CommandError> {
        for reference in self.named()? {
            if self.ledger.of_entry(reference).is_some() {
                continue;
            }
            if let Found::Here(entry) = self.store.find(&self.scope, reference)?
                && entry.origin != Origin::Teammate
            {
                self.add_entry(&entry)?;
            }
        }
        Ok(())
    }

    /// Adds the confirmations of the user: of notes that a model wrote here, and of notes of teammates.
    fn add_confirmations(&mut self) -> Result<(), CommandError> {
        let me = self.ledger.connection.user.clone();
        let mut wanted = self.ledger.db().to_confirm()?;
        for row in self.ledger.records().iter().filter(|row| row.kind == TeamKind::Kept && row.is_own) {
            let Some(reference) = row.reference else { continue };
            if let Found::Here(entry) = self.store.find(&self.scope, reference)?
                && entry.origin == Origin::Model
                && entry.note.is_some_and(|note| note.confirmed_at.is_some())
            {
                wanted.push(reference);
            }
        }
        for reference in wanted {
            let is_current = |row: &&TeamRecord| !matches!(row.state, TeamState::Refused | TeamState::Erased);
            let Some(row) = self.ledger.of_entry(reference).filter(is_current) else { continue };
            let id = row.id.clone();
            let is_mine = |one: &TeamRecord| one.kind == TeamKind::Confirmed && one.user == me;
            if !self.ledger.naming(&id).any(is_mine) {
                let record = RecordId::parse(&id).map_err(broken)?;
                self.add(Body::Confirmed { record, by: UserId(me.clone()) }, String::new(), self.now)?;
            }
        }
        Ok(())
    }

    /// Drops the wishes of the user that records say now, and those about entries that are gone.
    fn drop_wishes(&mut self) -> Result<(), CommandError> {
        let me = &self.ledger.connection.user;
        let is_mine = |one: &TeamRecord| one.kind == TeamKind::Confirmed && one.user == *me;
        let is_gone = |reference| self.store.find(&self.scope, reference).map(|found| !matches!(found, Found::Here(_)));
        let (mut included, mut confirmed) = (Vec::new(), Vec::new());
        for reference in self.ledger.db().to_include()? {
            if self.ledger.of_entry(reference).is_some() || is_gone(reference)? {
                included.push(reference);
            }
        }
        for reference in self.ledger.db().to_confirm()? {
            let row = self.ledger.of_entry(reference);
            if row.is_some_and(|row| self.ledger.naming(&row.id).any(is_mine)) || is_gone(reference)? {
                confirmed.push(reference);
            }
        }
        self.ledger.drop_wishes(&included, &confirmed)
    }

    /// Adds the record that keeps an entry. Returns its id, unless its text cannot be sent.
    fn add_entry(&mut self, entry: &Entry) -> Result<Option<RecordId>, CommandError> {
        let Some(text) = self.text_of(entry.reference)? else { return Ok(None) };
        let most = if self.vault.is_restricted() { MAX_SEALED_TEXT_BYTES } else { MAX_TEXT_BYTES };
        if sent_bytes(&text) > most {
            self.report.too_long.push(entry.reference);
            return Ok(None);
        }
        let note = entry.note.as_ref().map(|note| NoteFields {
            kind: note.kind,
            topic: note.topic.as_deref().map(redacted),
            // A path outside the project says something about this machine only.
            files: note.files.iter().filter(|file| is_inside(&file.path)).cloned().map(NoteFile::from).collect(),
            commit: note.commit.clone(),
            branch: note.branch.as_deref().map(redacted),
        });
        let kept = Kept {
            reference: entry.reference,
            kind: entry.kind,
            origin: entry.origin,
            title: redacted(&entry.title),
            source: entry.source.as_deref().filter(|_| entry.kind != EntryKind::Note).map(redacted),
            note,
            text: TextKey::of(text.as_bytes()),
            bytes: text.len() as u64,
        };
        let client = self.store.client_of(entry.reference)?.unwrap_or_default();
        let clear = self.new_record(Body::Kept(Box::new(kept)), client, entry.at)?;
        let record = self.as_sent(clear, &text)?;
        self.put_own(&record)?;
        self.ledger.change(&record.id.to_string(), |row| row.reference = Some(entry.reference));
        Ok(Some(record.id))
    }

    pub(super) fn add(&mut self, body: Body, client: String, at: Timestamp) -> Result<RecordId, CommandError> {
        let record = self.new_record(body, client, at)?;
        self.put_own(&record)?;
        Ok(record.id)
    }

    /// Stores a record of the user's own, to be sent.
    fn put_own(&mut self, record: &Record) -> Result<(), CommandError> {
        let json = Some(record.to_json().map_err(broken)?);
        self.ledger.put(TeamRecord { is_own: true, json, ..row_of(record, TeamState::Waiting) });
        Ok(())
    }

    /// Returns a record of the user's own, with the next id.
    fn new_record(&mut self, body: Body, client: String, at: Timestamp) -> Result<Record, CommandError> {
        let host = HostId::parse(&self.ledger.connection.host).map_err(broken)?;
        let mut id = RecordId { host, index: self.ledger.connection.next_index };
        // A teammate may have written under this identity; such a record keeps its row.
        while self.ledger.get(&id.to_string()).is_some() {
            id.index += 1;
        }
        let time = self.tick(at);
        let connection = &mut self.ledger.connection;
        connection.next_index = id.index + 1;
        Ok(Record {
            id,
            time,
            tenant: TenantId(connection.tenant.clone()),
            project: ProjectKey(connection.project.clone()),
            author: Author { user: UserId(connection.user.clone()), client },
            audience: Audience::Team,
            body,
        })
    }

    /// Returns the time of a new record, as of a time. If this machine's clock was far ahead for a while, neither what
    /// was written then nor the clock of records stays there, since the server would refuse all that follows.
    fn tick(&mut self, at: Timestamp) -> LogicalTime {
        let connection = &mut self.ledger.connection;
        let last = LogicalTime { millis: connection.time_millis, count: connection.time_count };
        let last = if last.check(self.now).is_err() { LogicalTime::ZERO } else { last };
        let time = Clock::new(last).tick(Timestamp(at.0.min(self.now.0)));
        (connection.time_millis, connection.time_count) = (time.millis, time.count);
        time
    }
}

/// Returns how many bytes a text has in a request, where some characters are written as several.
pub(super) fn sent_bytes(text: &str) -> usize {
    serde_json::to_string(text).map_or(text.len(), |written| written.len())
}

pub(super) fn is_inside(path: &str) -> bool {
    use std::path::{Component, Path};
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn redacted(text: &str) -> String {
    String::from_utf8_lossy(&redact(text.as_bytes()).text).into_owned()
}

/// Returns the error for a record that this version wrote and cannot read.
pub(super) fn broken(error: weir_records::PortError) -> CommandError {
    CommandError::new(ErrorKind::Broken, error.to_string())
}
