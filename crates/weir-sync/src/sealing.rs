//! What an exchange does in a sealed project. Invariants: no entry leaves in clear once this machine knows of the
//! seal; keys are followed and entries opened in the order of the log; what cannot be opened is counted, and opened as
//! soon as there is a key for it.

use weir_core::wording::one_line;
use weir_host::error::{CommandError, ErrorKind};
use weir_records::sealed::{Member, OpenedEntry};
use weir_records::{Body, Record, TextKey};
use weir_store::{TeamKind, TeamRecord, TeamState};

use super::exchange::Exchange;
use super::outbox::{MAX_SEALED_TEXT_BYTES, broken, sent_bytes};
use super::server::{Page, ReceivedRecord};
use super::vault::{KeyWish, MemberNews};

/// Marks the row of a sealed entry that this machine has no key for.
pub(super) const LOCKED: &str = "sealed";

const MAX_USER_CHARS: usize = 60;

/// How a sealed project looks from this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealReport {
    /// Whether the log says that the project is sealed. Otherwise only the user of this machine has said so.
    pub is_sealed: bool,
    /// Whether this machine has the newest key.
    pub can_seal: bool,
    /// Whether this machine was a member and is none any more, and whether its key was removed.
    pub is_left_out: bool,
    pub is_removed: bool,
    /// What all members compare.
    pub fingerprint: Option<String>,
    /// The user and the key of this machine.
    pub user: String,
    pub own_key: Option<String>,
    /// The machines that have the newest key.
    pub members: Vec<Member>,
    /// How many entries this machine cannot read.
    pub locked: usize,
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
                let followed = self.vault.follow(record, grants, received.position)?;
                let is_new = self.ledger.get(&record.id.to_string()).is_none();
                self.report.unproven += usize::from(is_new && !followed.is_proven);
                self.report.news.extend(followed.news);
                if followed.opens_more && self.ledger.records().iter().any(is_row_locked) {
                    self.vault.read_again();
                }
            }
        }
        for received in page.records.iter_mut().filter(|received| is_here(&received.record)) {
            received.opened = self.vault.open(&received.record);
        }
        self.vault.save()
    }

    /// Writes records for what the user wants to change about the keys, and for what the members need: a data key that
    /// all of them have, and changes that the server has lost. Returns whether there is something: it counts once it is
    /// read back from the log, and what is sealed is sealed after that.
    pub(super) fn change_keys(&mut self) -> Result<bool, CommandError> {
        let lost = self.vault.lost();
        self.report.lost_changes += lost.len();
        let has_lost = !lost.is_empty();
        for change in lost {
            self.add(Body::Granted(Box::new(change)), String::new(), self.now)?;
        }
        let is_open = |row: &TeamRecord| {
            row.is_own && row.kind == TeamKind::Granted && matches!(row.state, TeamState::Waiting | TeamState::Tried)
        };
        let is_pending = self.ledger.records().iter().any(is_open);
        let change = match self.wish.take() {
            Some(KeyWish::Seal) if is_pending => {
                self.report.key_change = Some(KeyWish::Seal);
                return Ok(true);
            }
            Some(wish) => {
                self.check_news(&wish)?;
                let change = self.vault.grants_for(&wish)?;
                self.report.key_change = Some(wish);
                Some(change)
            }
            // A server that does not show it is not given one after the other.
            None if is_pending || self.report.is_renewed => None,
            None => self.vault.renewal()?.inspect(|_| self.report.is_renewed = true),
        };
        let is_changed = change.is_some();
        if let Some(change) = change {
            self.add(Body::Granted(Box::new(change)), String::new(), self.now)?;
        }
        self.ledger.save()?;
        Ok(has_lost || is_changed)
    }

    /// Refuses to give a key to machines that the user has not heard of yet.
    fn check_news(&self, wish: &KeyWish) -> Result<(), CommandError> {
        let joined: Vec<String> = self.report.news.iter().filter(|news| news.is_member).map(described).collect();
        if joined.is_empty() || *wish == KeyWish::Seal {
            return Ok(());
        }
        let what = format!("the members have changed since the last sync: {}", joined.join("; "));
        Err(CommandError::new(ErrorKind::Denied, what).hint("if that is right, run the command again"))
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

    /// Whether a key or a change that is still to come may open a record.
    pub(super) fn is_locked(&self, received: &ReceivedRecord) -> bool {
        let Body::Sealed(sealed) = &received.record.body else { return false };
        received.opened.is_none() && self.vault.is_locked(&received.record, sealed.key)
    }

    /// Whether a row may leave. In a sealed project, no entry does in clear.
    pub(super) fn may_leave(&self, row: &TeamRecord) -> bool {
        !self.vault.is_restricted() || written_in_clear(row).is_none()
    }

    /// Returns what there is to say about the seal, if there is one.
    pub(super) fn seal_report(&self) -> Option<SealReport> {
        self.vault.is_restricted().then(|| SealReport {
            is_sealed: self.vault.is_sealed(),
            can_seal: self.vault.can_seal(),
            is_left_out: self.vault.is_left_out(),
            is_removed: self.vault.is_removed(),
            fingerprint: self.vault.fingerprint(),
            user: self.ledger.connection.user.clone(),
            own_key: self.vault.own_key().map(|key| key.to_string()),
            members: self.vault.members(),
            locked: self.ledger.records().iter().filter(|row| is_row_locked(row)).count(),
        })
    }
}

/// Says who became a member or is none any more, and by whom.
pub fn described(news: &MemberNews) -> String {
    let (user, by) = (one_line(&news.member.user, MAX_USER_CHARS), one_line(&news.by, MAX_USER_CHARS));
    let what = if news.is_member { "is a member now, admitted" } else { "is no member any more, removed" };
    format!("{user} ({}) {what} by {by}", news.member.key)
}

/// Whether a row is that of a sealed entry that this machine has no key for.
fn is_row_locked(row: &TeamRecord) -> bool {
    row.state == TeamState::Received && row.problem.as_deref() == Some(LOCKED)
}

pub(super) fn is_sealed(json: &str) -> bool {
    Record::from_json(json).is_ok_and(|record| matches!(record.body, Body::Sealed(_)))
}

/// Returns the record of a row, if it keeps an entry in clear.
fn written_in_clear(row: &TeamRecord) -> Option<Record> {
    let json = row.json.as_deref().filter(|_| row.kind == TeamKind::Kept)?;
    Record::from_json(json).ok().filter(|record| record.body.kept().is_some())
}
