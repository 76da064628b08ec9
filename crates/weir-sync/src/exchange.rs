//! One exchange with the server: what is new here goes out, what is new there comes in. Invariants: every step can be
//! repeated; the position moves only after everything before it is in the log; nothing is sent before the server's log
//! was read, since a machine that was put back to an older state would use the ids of records that it has forgotten.

use std::collections::BTreeSet;

use weir_core::{ProjectKey, Reference, Scope, TenantId, Timestamp, UserId};
use weir_host::error::{CommandError, ErrorKind};
use weir_records::sealed::OpenedEntry;
use weir_records::{Body, Record};
use weir_store::{Store, TeamConnection, TeamDb, TeamKind, TeamRecord, TeamState};

use super::ledger::Ledger;
use super::sealing::SealReport;
use super::server::{Downloaded, Page, Server};
use super::shared_folder::GIT;
use super::vault::{KeyWish, MemberNews, SealState, Vault};

/// How often an exchange begins again because the server's log, the host or the keys have changed.
const MAX_ROUNDS: usize = 6;
/// How everybody is written where the names of some would be.
const EVERYBODY: &str = "*";

/// What an exchange did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Report {
    /// How many records the server has taken.
    pub sent: usize,
    /// The notes of others that are new here.
    pub received: Vec<Received>,
    /// The notes that their authors have removed, and that are gone here too.
    pub removed: Vec<Removed>,
    /// Why records were refused, each with its entry.
    pub refused: Vec<String>,
    /// Notes whose text is too long to be sent.
    pub too_long: Vec<Reference>,
    /// Decisions of a model that wait for the user.
    pub unconfirmed: Vec<Reference>,
    /// Why not everything was sent, if the token may not, or the server is full.
    pub unsent: Option<String>,
    /// How many notes are not taken because of their author.
    pub held: usize,
    /// How many records or texts of the server cannot be read.
    pub unreadable: usize,
    /// Whether this machine has a new identity, because another one had the same.
    pub is_rehosted: bool,
    /// Whether the server's log was put back to an older state.
    pub is_put_back: bool,
    /// How many records with keys are new whose author is not known to be a member.
    pub unproven: usize,
    /// What others have changed about the members, and how many such changes the server had lost.
    pub news: Vec<MemberNews>,
    pub lost_changes: usize,
    /// Whether the members needed a new data key, since they were changed at the same time by several.
    pub is_renewed: bool,
    /// What there is to say about the seal, if the project is sealed, and what the user has changed about it.
    pub sealed: Option<SealReport>,
    pub key_change: Option<KeyWish>,
}

/// A note of somebody else that is new here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    pub reference: Reference,
    pub user: String,
    pub title: String,
}

/// A note that its author has removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    pub reference: Reference,
    pub user: String,
    /// How much of it was found in the store afterwards. Zero unless something failed.
    pub remaining: usize,
}

pub struct Exchange<'a> {
    pub(super) ledger: Ledger,
    pub(super) store: &'a mut Store,
    pub(super) scope: Scope,
    /// Whose notes are taken; everybody's without a list.
    pub(super) from: Option<&'a [String]>,
    /// What the user has just named to be sent too.
    pub(super) included: Vec<Reference>,
    /// The keys, if the project is sealed.
    pub(super) vault: Vault,
    /// What the user has just said about them.
    pub(super) wish: Option<KeyWish>,
    /// How far the project was sealed when the records to be sent were written, if they were.
    pub(super) planned_as: Option<SealState>,
    pub(super) now: Timestamp,
    /// Where the server's log has records or texts that cannot be read.
    pub(super) unreadable: BTreeSet<u64>,
    pub(super) report: Report,
}

/// How a step of an exchange ended.
pub(super) enum Step {
    Done,
    /// Another machine has the identity of this one.
    Cloned,
    /// The server's log was put back to an older state.
    PutBack,
}

impl<'a> Exchange<'a> {
    /// Prepares an exchange between a store and the server that it is connected to.
    pub fn new(
        db: TeamDb,
        connection: TeamConnection,
        store: &'a mut Store,
        scope: Scope,
        now: Timestamp,
    ) -> Result<Self, CommandError> {
        // Only what the whole project sees is shared.
        let scope = Scope { work: None, session: None, ..scope };
        let ledger = Ledger::read(db, connection)?;
        let vault = Vault::default().at(&ledger.connection);
        let (from, included, wish, planned_as) = (None, Vec::new(), None, None);
        let (unreadable, report) = (BTreeSet::new(), Report::default());
        Ok(Self { ledger, store, scope, from, included, vault, wish, planned_as, now, unreadable, report })
    }

    /// Uses the keys of this machine, and changes who has keys if that is asked for.
    pub fn sealed_by(self, vault: Vault, wish: Option<KeyWish>) -> Self {
        let vault = vault.at(&self.ledger.connection);
        Self { vault, wish, ..self }
    }

    /// Limits whose notes are taken.
    pub fn taking_from(self, from: Option<&'a [String]>) -> Self {
        Self { from, ..self }
    }

    pub fn including(self, included: Vec<Reference>) -> Self {
        Self { included, ..self }
    }

    /// Returns the records that would be sent, without sending any. What would be sent only because it was named now
    /// is not remembered.
    pub fn preview(mut self) -> Result<(Vec<PreviewedRecord>, Report), CommandError> {
        // What is sealed is sealed again when it is sent, with the newest key.
        if !self.included.is_empty() || self.vault.is_restricted() {
            self.ledger.stay_in_memory();
        }
        self.plan()?;
        let mut all = Vec::new();
        let mut next = 0;
        while let Some((place, row)) = self.ledger.to_send_from(next) {
            next = place + 1;
            let Some(json) = row.json.clone().filter(|_| self.may_leave(row)) else { continue };
            let text = row.reference.map(|reference| self.text_of(reference)).transpose()?.flatten();
            let opened = Record::from_json(&json).ok().and_then(|record| self.vault.open(&record));
            all.push(PreviewedRecord { json, text, opened });
        }
        self.report.sealed = self.seal_report();
        Ok((all, self.report))
    }

    /// Sends and receives until there is nothing left.
    pub fn run(mut self, server: &dyn Server) -> Result<Report, CommandError> {
        self.ledger.connection.tried_at = Some(self.now);
        self.follow_from();
        for _ in 0..MAX_ROUNDS {
            match self.round(server)? {
                // The project was sealed meanwhile, or there is a key for what could not be sealed.
                Step::Done if self.planned_as != Some(self.vault.state()) => {}
                Step::Done => {
                    self.ledger.connection.synced_at = Some(self.now);
                    self.ledger.connection.problem = None;
                    self.ledger.save()?;
                    self.report.held = self.ledger.records().iter().filter(|row| is_held(row)).count();
                    self.report.unreadable = self.unreadable.len();
                    self.report.sealed = self.seal_report();
                    return Ok(self.report);
                }
                Step::Cloned => self.rehost(server)?,
                Step::PutBack => self.start_over()?,
            }
        }
        Err(CommandError::new(ErrorKind::Failed, "the server's log changes while it is read")
            .hint("sync again; if that does not help, ask the operator of the server"))
    }

    /// Reads the server's log, then sends what is new here, and reads what came meanwhile. The project may have been
    /// connected before, or its disk put back to an older state: what it sent then must not be sent again under another
    /// id, and no id may be used twice. It may be sealed, and the newest keys come first.
    fn round(&mut self, server: &dyn Server) -> Result<Step, CommandError> {
        match self.receive(server) {
            Ok(Step::Done) => {}
            Ok(other) => return Ok(other),
            Err(error) => {
                // What waits is shown by `weir doctor`, whether the server answers or not. What is sealed is written
                // once it is known which key is the newest.
                if self.ledger.connection.synced_at.is_some() && !self.vault.is_restricted() {
                    self.plan()?;
                }
                return Err(error);
            }
        }
        // Entries are sealed in the next round, once new keys were read back.
        if !self.change_keys()? {
            self.plan()?;
        }
        match self.send(server)? {
            Step::Done => self.receive(server),
            other => Ok(other),
        }
    }

    /// Notes whose notes are taken from now on. If that has changed, everything is read again.
    fn follow_from(&mut self) {
        let from = self.from.map_or_else(|| EVERYBODY.to_owned(), |names| format!("[{}]", names.join("\n")));
        if self.ledger.connection.taken_from == from {
            return;
        }
        self.ledger.connection.taken_from = from;
        self.ledger.connection.position = 0;
        let held: Vec<String> =
            self.ledger.records().iter().filter(|row| is_held(row)).map(|row| row.id.clone()).collect();
        for id in held {
            self.ledger.change(&id, |row| row.state = TeamState::Received);
        }
    }

    /// Whether the records go through a folder of the project, in which anybody may have written in any name.
    pub(super) fn is_through_git(&self) -> bool {
        self.ledger.connection.server == GIT
    }

    /// Whether a record is one that a server would have taken. A file in the folder of the project may say anything,
    /// and nothing there proves whose keys it grants, so it can seal nothing.
    pub(super) fn is_sound(&self, record: &Record) -> bool {
        let connection = &self.ledger.connection;
        let scope = Scope {
            tenant: TenantId(connection.tenant.clone()),
            user: UserId(connection.user.clone()),
            ..Scope::project(ProjectKey(connection.project.clone()))
        };
        let is_about_keys = matches!(record.body, Body::Sealed(_) | Body::Granted(_));
        !is_about_keys && record.check(&scope).is_ok() && record.time.check(self.now).is_ok()
    }

    /// Whether the notes of a user are taken.
    pub(super) fn takes(&self, user: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|name| name == user);
        user == self.ledger.connection.user || self.from.is_none_or(is_named)
    }

    /// Receives everything that is new, and the last record that is not, to see that the log is the same one.
    fn receive(&mut self, server: &dyn Server) -> Result<Step, CommandError> {
        if self.vault.must_read_again() || !server.keeps_order() {
            self.ledger.connection.position = 0;
        }
        let mut after = self.ledger.connection.position.saturating_sub(1);
        let mut ring = self.vault.state();
        loop {
            let page = match server.download(after)? {
                Downloaded::Page(page) if self.is_continued_by(&page) => page,
                Downloaded::Page(_) | Downloaded::PutBack => return Ok(Step::PutBack),
            };
            let more = page.more && page.next > after;
            if let Step::Cloned = self.take(page)? {
                return Ok(Step::Cloned);
            }
            // There are keys now for what was passed over.
            if self.vault.must_read_again() && self.vault.state() != ring {
                ring = self.vault.state();
                self.ledger.connection.position = 0;
                self.ledger.save()?;
            } else if !more {
                self.vault.has_read_all()?;
                return Ok(Step::Done);
            }
            after = self.ledger.connection.position;
        }
    }

    /// Whether a page belongs to the log that was read before. One that was put back to an older state and written
    /// since has other records at the same places.
    fn is_continued_by(&self, page: &Page) -> bool {
        let position = self.ledger.connection.position;
        let last = page.records.iter().find(|received| received.position == position);
        page.next >= position && last.is_none_or(|last| self.ledger.get(&last.record.id.to_string()).is_some())
    }

    /// Begins again after the server's log was put back: reads from the beginning, and sends what is no longer there,
    /// also what the user sent before they connected again.
    fn start_over(&mut self) -> Result<(), CommandError> {
        self.report.is_put_back = true;
        self.unreadable.clear();
        self.vault.has_been_put_back();
        self.ledger.connection.position = 0;
        let me = &self.ledger.connection.user;
        let was_there = |row: &&TeamRecord| match row.state {
            // The vault knows which of those are no longer there, of any author.
            _ if row.kind == TeamKind::Granted => false,
            TeamState::Sent | TeamState::Applied => true,
            // What it removed was erased, and never came.
            TeamState::Received => row.kind == TeamKind::Removed,
            _ => false,
        };
        let mine = self.ledger.records().iter().filter(|row| row.user == *me && row.json.is_some());
        let sent: Vec<String> = mine.filter(was_there).map(|row| row.id.clone()).collect();
        for id in sent {
            self.ledger.change(&id, |row| (row.state, row.is_own) = (TeamState::Tried, true));
        }
        self.ledger.save()
    }
}

/// A record that would be sent.
pub struct PreviewedRecord {
    /// The record, byte for byte.
    pub json: String,
    pub text: Option<String>,
    /// What is sealed in it, if something is.
    pub opened: Option<OpenedEntry>,
}

/// Whether a note is not taken because of its author.
fn is_held(row: &TeamRecord) -> bool {
    row.state == TeamState::Held && row.problem.is_none()
}
