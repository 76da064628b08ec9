//! What an exchange does in a sealed project. Invariants: no entry leaves in clear once this machine knows of the
//! seal; keys are followed and entries opened in the order of the log; what cannot be opened is counted, and opened as
//! soon as there is a key for it.

use weir_records::sealed::OpenedEntry;
use weir_records::{Body, Record, TextKey};
use weir_store::{TeamKind, TeamRecord, TeamState};

use super::exchange::Exchange;
use super::outbox::{MAX_SEALED_TEXT_BYTES, broken, sent_bytes};
use super::server::Page;
use crate::error::CommandError;

/// Marks the row of a sealed entry that this machine has no key for.
pub(super) const LOCKED: &str = "sealed";

/// How a sealed project looks from this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SealReport {
    /// Whether the log says that the project is sealed. Otherwise only the user of this machine has said so.
    pub(crate) is_sealed: bool,
    /// Whether this machine has the newest key.
    pub(crate) can_seal: bool,
    /// Whether others have a newer key, which this machine was not given.
    pub(crate) is_left_out: bool,
    /// What all members compare.
    pub(crate) fingerprint: Option<String>,
    /// The key of this machine.
    pub(crate) own_key: Option<String>,
    /// The machines that have the newest key.
    pub(crate) members: Vec<String>,
    /// How many entries this machine cannot read.
    pub(crate) locked: usize,
}

impl Exchange<'_> {
    /// Follows the keys in a page, and opens what is sealed.
    pub(super) fn unseal(&mut self, page: &mut Page) -> Result<(), CommandError> {
        let connection = &self.ledger.connection;
        let (tenant, project) = (connection.tenant.clone(), connection.project.clone());
        let is_here = |record: &Record| record.tenant.0 == tenant && record.project.0 == project;
        // Keys may come after what they open.
        for received in page.records.iter().filter(|received| is_here(&received.record)) {
            let record = &received.record;
            if let Body::Granted(grants) = &record.body {
                let is_by_member = self.vault.follow(record, grants, received.position)?;
                let is_new = self.ledger.get(&record.id.to_string()).is_none();
                self.report.unproven += usize::from(is_new && !is_by_member);
            }
        }
        for received in page.records.iter_mut().filter(|received| is_here(&received.record)) {
            match &received.record.body {
                Body::Sealed(_) => received.opened = self.vault.open(&received.record),
                // An honest server takes nothing in clear any more, so nobody knows who wrote this.
                Body::Kept(_) if self.vault.is_after_seal(received.position) => received.text = None,
                _ => {}
            }
        }
        self.vault.save()
    }

    /// Writes a record for what the user wants to change about the keys. Returns whether there is something: it counts
    /// once it is read back from the log, and what is sealed is sealed after that.
    pub(super) fn change_keys(&mut self) -> Result<bool, CommandError> {
        let Some(wish) = self.wish.take() else { return Ok(false) };
        let is_open = |row: &TeamRecord| {
            row.is_own && row.kind == TeamKind::Granted && matches!(row.state, TeamState::Waiting | TeamState::Tried)
        };
        if !self.ledger.records().iter().any(is_open) {
            let grants = self.vault.grants_for(&wish)?;
            self.add(Body::Granted(Box::new(grants)), String::new(), self.now)?;
            self.ledger.save()?;
        }
        self.report.key_change = Some(wish);
        Ok(true)
    }

    /// Seals what was written down in clear and has not arrived. Without a key, it waits.
    pub(super) fn seal_waiting(&mut self) -> Result<(), CommandError> {
        let is_open = |row: &&TeamRecord| {
            row.is_own && matches!(row.state, TeamState::Waiting | TeamState::Tried | TeamState::Refused)
        };
        let open: Vec<TeamRecord> = self.ledger.records().iter().filter(is_open).cloned().collect();
        for row in open {
            let Some(record) = written_in_clear(&row) else { continue };
            let text = row.reference.map(|reference| self.text_of(reference)).transpose()?.flatten();
            let Some(text) = text else { continue };
            let is_same = record.body.kept().is_some_and(|kept| kept.text == TextKey::of(text.as_bytes()));
            if !is_same || sent_bytes(&text) > MAX_SEALED_TEXT_BYTES {
                if row.state != TeamState::Refused {
                    self.refuse(&row.id, "it cannot be sealed: it is too long, or redacted differently now");
                }
                continue;
            }
            let json = match self.vault.can_seal() {
                true => self.vault.seal(&record, &text)?.to_json().map_err(broken)?,
                false if row.state == TeamState::Refused => record.to_json().map_err(broken)?,
                false => continue,
            };
            // If it was refused in clear just now, that is not the end of it.
            let named = row.reference.map(|reference| format!("{reference}: "));
            self.report.refused.retain(|line| !named.as_ref().is_some_and(|named| line.starts_with(named)));
            self.ledger.change(&row.id, |row| {
                (row.json, row.state, row.problem) = (Some(json), TeamState::Waiting, None);
            });
        }
        Ok(())
    }

    /// Returns a record as it leaves: sealed, if the project is.
    pub(super) fn as_sent(&self, record: Record, text: &str) -> Result<Record, CommandError> {
        if self.vault.is_restricted() { self.vault.seal(&record, text) } else { Ok(record) }
    }

    /// Returns a record with a change. What is sealed is bound to every other field, and is sealed again; nothing is
    /// returned if this machine has no key for that.
    pub(super) fn rewritten(
        &self,
        mut record: Record,
        change: impl FnOnce(&mut Record),
    ) -> Result<Option<Record>, CommandError> {
        if !matches!(record.body, Body::Sealed(_)) {
            change(&mut record);
            return Ok(Some(record));
        }
        let opened = self.vault.open(&record).filter(|_| self.vault.can_seal());
        let Some(OpenedEntry { entry, text }) = opened else { return Ok(None) };
        record.body = Body::Kept(Box::new(entry));
        change(&mut record);
        self.vault.seal(&record, &text).map(Some)
    }

    /// Whether a record is sealed with a key that this machine does not have.
    pub(super) fn is_locked(&self, record: &Record) -> bool {
        matches!(&record.body, Body::Sealed(sealed) if !self.vault.has(sealed.key))
    }

    /// Whether a row may leave. In a sealed project, no entry does in clear.
    pub(super) fn may_leave(&self, row: &TeamRecord) -> bool {
        !self.vault.is_restricted() || written_in_clear(row).is_none()
    }

    /// Returns what there is to say about the seal, if there is one.
    pub(super) fn seal_report(&self) -> Option<SealReport> {
        let is_locked = |row: &&TeamRecord| row.state == TeamState::Received && row.problem.as_deref() == Some(LOCKED);
        self.vault.is_restricted().then(|| SealReport {
            is_sealed: self.vault.is_sealed(),
            can_seal: self.vault.can_seal(),
            is_left_out: self.vault.is_left_out(),
            fingerprint: self.vault.fingerprint().map(|key| key.to_string()),
            own_key: self.vault.own_key().map(|key| key.to_string()),
            members: self.vault.members().iter().map(ToString::to_string).collect(),
            locked: self.ledger.records().iter().filter(is_locked).count(),
        })
    }
}

/// Whether a record to be sent is a sealed entry.
pub(super) fn is_sealed(json: &str) -> bool {
    Record::from_json(json).is_ok_and(|record| matches!(record.body, Body::Sealed(_)))
}

/// Returns the record of a row, if it keeps an entry in clear.
fn written_in_clear(row: &TeamRecord) -> Option<Record> {
    let json = row.json.as_deref().filter(|_| row.kind == TeamKind::Kept)?;
    Record::from_json(json).ok().filter(|record| record.body.kept().is_some())
}
