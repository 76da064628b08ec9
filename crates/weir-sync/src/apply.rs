//! Brings received records into the project's store. Invariants: what a record will be here is stored before the log
//! changes, and that the log has changed is stored afterwards, so a crash in between is repaired by reading the same
//! page again; a removal counts only if it is by the author, or if a server says that it is by an admin.

use weir_core::note::BoundFile;
use weir_core::wording::one_line;
use weir_core::{EntryKind, Level, NewEntry, Note, NoteKind, Origin, Reference, WhyGone};
use weir_host::error::CommandError;
use weir_records::{Body, Kept, LogicalTime, Record, RecordId, Remover, TextKey};
use weir_store::{Found, Selection, TeamKind, TeamRecord, TeamState};

use super::SOURCE;
use super::exchange::{Exchange, Received, Removed, Step};
use super::ledger::row_of;
use super::outbox::{broken, is_inside};
use super::sealing::LOCKED;
use super::server::{Page, ReceivedRecord};

/// Marks the row of a removal by an admin.
const AS_ADMIN: &str = "as admin";
/// How many characters of the name of an author are kept with an entry.
const MAX_AUTHOR_CHARS: usize = 60;

impl Exchange<'_> {
    /// Takes in a page. The position moves past it at the end.
    pub(super) fn take(&mut self, mut page: Page) -> Result<Step, CommandError> {
        self.unreadable.extend(&page.unreadable);
        if self.is_through_git() {
            let (sound, others): (Vec<_>, Vec<_>) =
                page.records.into_iter().partition(|received| self.is_sound(&received.record));
            self.unreadable.extend(others.iter().map(|received| received.position));
            page.records = sound;
        }
        self.unseal(&mut page)?;
        for received in &page.records {
            if let Step::Cloned = self.stage(received)? {
                return Ok(Step::Cloned);
            }
        }
        self.ledger.save()?;
        for received in &page.records {
            let id = received.record.id.to_string();
            let is_open = |row: &&TeamRecord| row.state == TeamState::Received && row.kind == TeamKind::Kept;
            if let Some(row) = self.ledger.get(&id).filter(is_open).cloned()
                && let Some(kept) = received.kept()
            {
                self.keep(&row, kept, received)?;
            }
        }
        self.apply_others(&page)?;
        self.ledger.connection.position = self.ledger.connection.position.max(page.next);
        self.ledger.save()?;
        Ok(Step::Done)
    }

    /// Decides what a record will be here.
    fn stage(&mut self, received: &ReceivedRecord) -> Result<Step, CommandError> {
        let record = &received.record;
        let connection = &self.ledger.connection;
        if record.tenant.0 != connection.tenant || record.project.0 != connection.project {
            self.unreadable.insert(received.position);
            return Ok(Step::Done);
        }
        let id = record.id.to_string();
        let known = self.ledger.get(&id).cloned();
        match known {
            Some(row)
                if row.is_own && matches!(row.state, TeamState::Waiting | TeamState::Tried | TeamState::Refused) =>
            {
                if !self.is_same(&row, record)? {
                    return Ok(Step::Cloned);
                }
                self.ledger.change(&id, |row| row.state = TeamState::Sent);
            }
            Some(row) if row.state == TeamState::Received && row.kind == TeamKind::Kept => {
                let was_locked = row.problem.as_deref() == Some(LOCKED);
                if was_locked { self.stage_entry(row, received)? } else { self.choose(row, received)? }
            }
            Some(row) if row.state == TeamState::Applied && row.kind == TeamKind::Kept && !self.takes(&row.user) => {
                self.hold(row)?;
            }
            Some(row) if row.state == TeamState::Applied && !row.is_own => self.stage_again(&row, received)?,
            Some(_) => {}
            None => {
                if self.is_written_elsewhere(record) || self.reuses_the_id_removed_by(record) {
                    return Ok(Step::Cloned);
                }
                self.observe(record.time);
                self.stage_new(received)?;
            }
        }
        Ok(Step::Done)
    }

    /// Decides what a record will be here that is here already, but whose author may not be taken any more.
    fn stage_again(&mut self, row: &TeamRecord, received: &ReceivedRecord) -> Result<(), CommandError> {
        match row.kind {
            TeamKind::Kept => received.kept().map_or(Ok(()), |kept| self.recount(row, kept)),
            TeamKind::Superseded | TeamKind::Confirmed if !self.takes(&row.user) => self.retract(row),
            _ => Ok(()),
        }
    }

    /// Decides what a record will be here that was never seen.
    fn stage_new(&mut self, received: &ReceivedRecord) -> Result<(), CommandError> {
        let row = row_of(&received.record, TeamState::Received);
        if row.kind == TeamKind::Kept {
            return self.stage_entry(row, received);
        }
        let problem = self.is_by_admin(&received.record).then(|| AS_ADMIN.to_owned());
        let is_mine = row.user == self.ledger.connection.user;
        let json = is_mine.then(|| received.record.to_json()).transpose().map_err(broken)?;
        // Keys are followed as they are read.
        let state = if row.kind == TeamKind::Granted { TeamState::Applied } else { row.state };
        self.ledger.put(TeamRecord { json, state, problem, ..row });
        Ok(())
    }

    /// Whether an admin removes something. A file could say so of anybody.
    fn is_by_admin(&self, record: &Record) -> bool {
        matches!(record.remover(), Remover::Admin) && !self.is_through_git()
    }

    /// Decides what an entry will be here that could not be read before.
    fn stage_entry(&mut self, row: TeamRecord, received: &ReceivedRecord) -> Result<(), CommandError> {
        if let Some(kept) = received.kept()
            && self.was_forgotten(kept.reference)?
        {
            // The plan follows that, as it follows everything that was forgotten.
            let reference = Some(kept.reference);
            self.ledger.put(TeamRecord { state: TeamState::Applied, reference, problem: None, ..row });
            return Ok(());
        }
        self.choose(row, received)
    }

    /// Whether a record of the user names an id of this host that this machine does not know. Another one has the same
    /// identity, or this one was put back to an older state; either way, the next ids may be taken, by records that are
    /// erased and never come. What a teammate writes under this identity changes nothing, unless it is in the way.
    fn is_written_elsewhere(&self, record: &Record) -> bool {
        let connection = &self.ledger.connection;
        let is_unknown =
            |id: &RecordId| id.host.to_string() == connection.host && self.ledger.get(&id.to_string()).is_none();
        record.author.user.0 == connection.user
            && [Some(record.id), record.body.about()].iter().flatten().any(is_unknown)
    }

    /// Whether an own record has an id that another one had before, which this record removes. The own one then counts
    /// as not sent.
    fn reuses_the_id_removed_by(&mut self, removal: &Record) -> bool {
        let Body::Removed { record: target, .. } = &removal.body else { return false };
        if removal.author.user.0 != self.ledger.connection.user {
            return false;
        }
        let id = target.to_string();
        let Some(row) = self.ledger.get(&id).filter(|row| row.is_own && row.json.is_some()) else { return false };
        // A host's removal is later than what it removes.
        let is_earlier = removal.id.host == target.host && removal.time.timestamp() < row.at;
        let state = row.state;
        match state {
            TeamState::Waiting => true,
            TeamState::Tried | TeamState::Sent if is_earlier => {
                self.ledger.change(&id, |row| row.state = TeamState::Tried);
                true
            }
            _ => false,
        }
    }

    /// Follows the clock of a record, so that later records of this machine come after it.
    fn observe(&mut self, time: LogicalTime) {
        let connection = &mut self.ledger.connection;
        let last = LogicalTime { millis: connection.time_millis, count: connection.time_count };
        if time > last && time.is_followed(self.now) {
            (connection.time_millis, connection.time_count) = (time.millis, time.count);
        }
    }

    /// Chooses the reference of a received entry: that of its author, unless it is taken here.
    fn choose(&mut self, mut row: TeamRecord, received: &ReceivedRecord) -> Result<(), CommandError> {
        if row.reference.is_some() {
            return Ok(());
        }
        row.problem = None;
        let is_removal = |one: &TeamRecord| one.kind == TeamKind::Removed && may_remove(one, &row);
        let is_erased = self.ledger.naming(&row.id).any(is_removal);
        let has_text = |kept: &&Kept| received.text().is_some_and(|text| TextKey::of(text.as_bytes()) == kept.text);
        if is_erased {
            row.state = TeamState::Erased;
        } else if self.is_locked(received) {
            row.problem = Some(LOCKED.to_owned());
        } else if !self.takes(&row.user) {
            row.state = TeamState::Held;
        } else if let Some(kept) = received.kept().filter(has_text) {
            if let Some(origin) = self.origin_here(&row, kept, received)? {
                (row.state, row.reference) = (TeamState::Applied, Some(kept.reference));
                if origin != Origin::Teammate {
                    // Written here under an earlier connection. If the server loses it, it is sent again as it was.
                    row.json = Some(received.record.to_json().map_err(broken)?);
                }
            } else if received.opened.is_some() || self.vault.takes_in_clear(received.position) {
                row.reference = Some(self.free_reference(kept.reference)?);
            } else {
                // An honest server takes nothing in clear any more, so nobody knows who wrote this.
                self.unreadable.insert(received.position);
            }
        } else {
            // It is chosen again if the log is read again.
            self.unreadable.insert(received.position);
        }
        self.ledger.put(row);
        Ok(())
    }

    /// Returns the origin of the entry if it is here from before: this machine wrote or took it, and has forgotten its
    /// record since.
    fn origin_here(
        &self,
        row: &TeamRecord,
        kept: &Kept,
        received: &ReceivedRecord,
    ) -> Result<Option<Origin>, CommandError> {
        if self.ledger.of_entry(kept.reference).is_some() {
            return Ok(None);
        }
        let Found::Here(entry) = self.store.find(&self.scope, kept.reference)? else { return Ok(None) };
        let is_by_author = match entry.origin {
            Origin::Teammate => entry.source == Some(source_of(&row.user)),
            _ => row.user == self.ledger.connection.user,
        };
        let is_here = is_by_author && self.text_of(kept.reference)?.as_deref() == received.text();
        Ok(is_here.then_some(entry.origin))
    }

    /// Whether the user has forgotten the entry of a record that this machine has forgotten since, or never had.
    fn was_forgotten(&self, reference: Reference) -> Result<bool, CommandError> {
        let found = self.store.find(&self.scope, reference)?;
        let is_forgotten = matches!(found, Found::Gone(gone) if gone.why == WhyGone::Forgotten);
        Ok(is_forgotten && self.ledger.of_entry(reference).is_none())
    }

    fn free_reference(&self, wanted: Reference) -> Result<Reference, CommandError> {
        let is_free = matches!(self.store.find(&self.scope, wanted)?, Found::Never);
        let is_promised = self.ledger.of_entry(wanted).is_some();
        if is_free && !is_promised { Ok(wanted) } else { Ok(self.store.draw_reference()?) }
    }

    fn keep(&mut self, row: &TeamRecord, kept: &Kept, received: &ReceivedRecord) -> Result<(), CommandError> {
        let (Some(reference), Some(text)) = (row.reference, received.text()) else { return Ok(()) };
        let entry = NewEntry {
            source: Some(source_of(&row.user)),
            text: text.as_bytes().to_vec(),
            note: (kept.kind == EntryKind::Note).then(|| note_of(kept, &received.record)),
            reference: Some(reference),
            ..NewEntry::new(kind_of(kept.kind), Origin::Teammate, Level::Project, one_line(&kept.title, 200))
        };
        let is_new = self.store.keep_received(&self.scope, entry, row.at, self.now)?;
        if is_new {
            let (user, title) = (row.user.clone(), one_line(&kept.title, 100));
            self.report.received.push(Received { reference, user, title });
        }
        self.ledger.change(&row.id, |row| row.state = TeamState::Applied);
        // It may have been here before, with what was said about it then.
        self.reapply(&row.id)
    }

    /// Applies what the records of a page say about others, and what others say about them, as far as those are here.
    fn apply_others(&mut self, page: &Page) -> Result<(), CommandError> {
        let is_open = |row: &&TeamRecord| row.state == TeamState::Received && row.kind != TeamKind::Kept;
        let ids: Vec<String> = page.records.iter().map(|received| received.record.id.to_string()).collect();
        let open: Vec<TeamRecord> = self.ledger.concerning(&ids).filter(is_open).cloned().collect();
        for row in open {
            let Some(target) = row.about.as_deref().and_then(|id| self.ledger.get(id)).cloned() else { continue };
            let is_applied = match row.kind {
                TeamKind::Removed => self.remove(&row, &target)?,
                // Whose notes are not taken has no say about those of others.
                _ if !self.takes(&row.user) => false,
                TeamKind::Confirmed => self.confirm(&row, &target)?,
                TeamKind::Superseded | TeamKind::Kept | TeamKind::Granted => self.supersede(&row, &target)?,
            };
            if is_applied {
                self.ledger.change(&row.id, |row| row.state = TeamState::Applied);
            }
        }
        Ok(())
    }

    pub(super) fn supersede(&mut self, row: &TeamRecord, old: &TeamRecord) -> Result<bool, CommandError> {
        let new = row.successor.as_deref().and_then(|id| self.ledger.get(id)).and_then(|row| row.reference);
        let (Some(old), Some(new)) = (old.reference, new) else { return Ok(false) };
        self.store.supersede(&self.scope, old, new)?;
        Ok(true)
    }

    /// Marks a teammate's note as confirmed by a person. Whom, the record says; an own note waits for its own user.
    pub(super) fn confirm(&mut self, row: &TeamRecord, target: &TeamRecord) -> Result<bool, CommandError> {
        let Some(reference) = target.reference else { return Ok(false) };
        if let Found::Here(entry) = self.store.find(&self.scope, reference)?
            && entry.origin == Origin::Teammate
        {
            self.store.confirm(&self.scope, reference, row.at)?;
        }
        Ok(true)
    }

    /// Removes an entry from the store, as its author has, and checks that nothing is left.
    fn remove(&mut self, row: &TeamRecord, target: &TeamRecord) -> Result<bool, CommandError> {
        // A file could name anybody as its author, so what was written here is removed only here.
        let is_forged = self.is_through_git() && target.is_own && !row.is_own;
        if !may_remove(row, target) || target.kind != TeamKind::Kept || is_forged {
            return Ok(true);
        }
        if let Some(reference) = target.reference {
            let remaining = self.erase(reference)?;
            self.report.removed.push(Removed { reference, user: row.user.clone(), remaining });
        }
        self.ledger.change(&target.id, |target| {
            (target.state, target.json, target.reference) = (TeamState::Erased, None, None);
        });
        self.reapply_without(&target.id)?;
        Ok(true)
    }

    /// Takes a note of a user whose notes are no longer taken out of the store.
    fn hold(&mut self, row: TeamRecord) -> Result<(), CommandError> {
        if let Some(reference) = row.reference {
            self.erase(reference)?;
        }
        let id = row.id.clone();
        self.ledger.put(TeamRecord { state: TeamState::Held, reference: None, ..row });
        self.reapply_without(&id)
    }

    fn erase(&mut self, reference: Reference) -> Result<usize, CommandError> {
        let selection = Selection { references: vec![reference], ..Selection::default() };
        let plan = self.store.plan_to_forget(&self.scope, &selection)?;
        if plan.entries.is_empty() {
            return Ok(0);
        }
        let forgotten = self.store.forget(&self.scope, &selection, &plan.confirmation, self.now)?;
        Ok(forgotten.remaining.iter().map(|(_, count)| count).sum())
    }
}

/// Whether a removal is by the author of what it removes, or by an admin.
fn may_remove(removal: &TeamRecord, target: &TeamRecord) -> bool {
    removal.user == target.user || removal.problem.as_deref() == Some(AS_ADMIN)
}

/// Returns the source of a teammate's entry.
fn source_of(user: &str) -> String {
    format!("{SOURCE}/{}", one_line(user, MAX_AUTHOR_CHARS).replace('/', "_"))
}

/// Returns what a received entry is here. Only sessions of this machine say something, or are imported.
fn kind_of(kind: EntryKind) -> EntryKind {
    match kind {
        EntryKind::Said | EntryKind::Import => EntryKind::Document,
        kind => kind,
    }
}

/// Returns the fields of a note. What a person wrote is confirmed by them.
fn note_of(kept: &Kept, record: &Record) -> Note {
    let fields = kept.note.as_ref();
    let files = fields.map(|fields| fields.files.as_slice()).unwrap_or_default();
    let inside = files.iter().filter(|file| is_inside(&file.path));
    Note {
        topic: fields.and_then(|fields| fields.topic.clone()),
        files: inside.map(|file| BoundFile { path: file.path.clone(), hash: file.hash.clone() }).collect(),
        commit: fields.and_then(|fields| fields.commit.clone()),
        branch: fields.and_then(|fields| fields.branch.clone()),
        confirmed_at: (kept.origin == Origin::User).then(|| record.time.timestamp()),
        ..Note::new(fields.map_or(NoteKind::Finding, |fields| fields.kind))
    }
}
