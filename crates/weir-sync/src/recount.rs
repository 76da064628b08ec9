//! Whose word counts about an entry, after that has changed or the entry has come back. Invariant: an entry is
//! confirmed and superseded as the records of the user and of those whose notes are taken say.

use weir_core::Origin;
use weir_host::error::CommandError;
use weir_records::Kept;
use weir_store::{Found, TeamKind, TeamRecord, TeamState};

use super::exchange::Exchange;

impl Exchange<'_> {
    /// Applies once more what is said about an entry, or says that it takes the place of another one.
    pub(super) fn reapply(&mut self, id: &str) -> Result<(), CommandError> {
        let rows: Vec<TeamRecord> = self.ledger.naming(id).filter(|row| self.counts(row)).cloned().collect();
        for row in rows {
            let Some(target) = row.about.as_deref().and_then(|id| self.ledger.get(id)).cloned() else { continue };
            match row.kind {
                TeamKind::Superseded => self.supersede(&row, &target)?,
                TeamKind::Confirmed => self.confirm(&row, &target)?,
                TeamKind::Kept | TeamKind::Removed | TeamKind::Granted => false,
            };
        }
        Ok(())
    }

    /// Applies once more what is said about the entries that one superseded which is no longer here.
    pub(super) fn reapply_without(&mut self, id: &str) -> Result<(), CommandError> {
        let is_superseded = |row: &&TeamRecord| row.successor.as_deref() == Some(id);
        let rows = self.ledger.naming(id).filter(is_superseded);
        let superseded: Vec<String> = rows.filter_map(|row| row.about.clone()).collect();
        superseded.iter().try_for_each(|old| self.reapply(old))
    }

    /// Leaves out what users whose notes are not taken have confirmed of a teammate's entry. What a person wrote is
    /// confirmed by them.
    pub(super) fn recount(&mut self, row: &TeamRecord, kept: &Kept) -> Result<(), CommandError> {
        let is_left_out = |one: &TeamRecord| one.kind == TeamKind::Confirmed && !self.takes(&one.user);
        let has_changed = kept.origin != Origin::User && self.ledger.naming(&row.id).any(is_left_out);
        let Some(reference) = row.reference.filter(|_| has_changed) else { return Ok(()) };
        if let Found::Here(entry) = self.store.find(&self.scope, reference)?
            && entry.origin == Origin::Teammate
        {
            self.store.unconfirm(&self.scope, reference)?;
            self.reapply(&row.id)?;
            // The user's own confirmation may not be a record yet.
            if self.ledger.db().to_confirm()?.contains(&reference) {
                self.store.confirm(&self.scope, reference, self.now)?;
            }
        }
        Ok(())
    }

    /// Takes back what a record of a user whose notes are no longer taken says. It waits until they are taken again.
    pub(super) fn retract(&mut self, row: &TeamRecord) -> Result<(), CommandError> {
        self.ledger.change(&row.id, |row| row.state = TeamState::Received);
        let (Some(about), Some(successor)) = (&row.about, &row.successor) else { return Ok(()) };
        let is_the_same = |one: &TeamRecord| one.about == row.about && one.successor == row.successor;
        if self.ledger.naming(about).any(|one| is_the_same(one) && self.counts(one)) {
            return Ok(());
        }
        let entry = |id: &str| self.ledger.get(id).and_then(|row| row.reference);
        if let (Some(old), Some(new)) = (entry(about), entry(successor)) {
            self.store.unsupersede(&self.scope, old, new)?;
        }
        self.reapply(about)
    }

    /// Whether what a record says is in effect here.
    fn counts(&self, row: &TeamRecord) -> bool {
        use TeamState::{Applied, Sent, Tried, Waiting};
        matches!(row.state, Waiting | Tried | Sent | Applied) && self.takes(&row.user)
    }
}
