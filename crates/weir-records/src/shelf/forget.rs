//! Removes records from all three ports, and proves it.

use weir_core::{Scope, Timestamp, WhyGone};

use super::Shelf;
use crate::error::Result;
use crate::id::{RecordId, TextKey};
use crate::ports::{StoredRecord, TextPart};
use crate::record::{Body, Record, Remover};

/// The proof that a record was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    /// The record of the removal, which every other machine follows.
    pub removal: Record,
    /// What was found of the record afterwards.
    pub left: Left,
}

/// What is left of a record, counted in each port. All zero after a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Left {
    /// Records with this id that still have content.
    pub in_log: u64,
    pub in_index: u64,
    /// Its text, if it is stored although no record has it any more.
    pub in_blobs: u64,
}

/// A text that was deleted, or may have to be.
#[derive(Debug)]
pub(super) struct TakenText {
    pub(super) key: TextKey,
    pub(super) text: Option<Vec<u8>>,
}

impl Shelf {
    /// Removes a record of the user's own: its content from the log, its words from the index, and its text, unless
    /// another record of the tenant has the same. The removal is a record itself. If this fails half way, calling it
    /// again completes it.
    pub fn forget(&self, scope: &Scope, id: RecordId, why: WhyGone, now: Timestamp) -> Result<Forgotten> {
        let record = self.visible(scope, id, "forget")?;
        self.forget_record(scope, &record, Body::Removed { record: id, why, as_admin: false }, now)
    }

    /// Removes a record that the user of the scope sees and need not have written: they are an admin of the tenant. Who
    /// they are is in the removal and in the audit.
    pub fn forget_as_admin(&self, scope: &Scope, id: RecordId, now: Timestamp) -> Result<Forgotten> {
        let record = self.visible(scope, id, "forget")?;
        let is_own = record.author.user == scope.user;
        let why = WhyGone::Forgotten;
        self.forget_record(scope, &record, Body::Removed { record: id, why, as_admin: !is_own }, now)
    }

    fn forget_record(&self, scope: &Scope, record: &Record, removal: Body, now: Timestamp) -> Result<Forgotten> {
        let (stored, taken) = self.remove(scope, record, removal, now)?;
        self.follow_up_to(scope, stored.position)?;
        Ok(Forgotten { removal: stored.record, left: self.left(scope, record.id, taken.as_ref())? })
    }

    /// Removes the content of a record from the log, and its text. The index has its words until it follows.
    pub(super) fn remove(
        &self,
        scope: &Scope,
        record: &Record,
        removal: Body,
        now: Timestamp,
    ) -> Result<(StoredRecord, Option<TakenText>)> {
        let by = match removal {
            Body::Removed { as_admin: true, .. } => Remover::Admin,
            _ => Remover::Author(&scope.user),
        };
        let taken = self.take_text(scope, record, by)?;
        let appended = self.append(scope, record.audience, removal, now);
        if let Some(taken) = &taken {
            self.settle(scope, std::slice::from_ref(taken))?;
        }
        Ok((appended?, taken))
    }

    /// Deletes the text of a record that is about to be removed, unless others have the same. The text goes first: once
    /// the record is erased, nothing names it. [`Self::settle`] must follow.
    pub(super) fn take_text(&self, scope: &Scope, record: &Record, by: Remover<'_>) -> Result<Option<TakenText>> {
        record.check_removable(by)?;
        let Some(key) = record.body.kept().map(|kept| kept.text) else { return Ok(None) };
        // A text that cannot be read cannot be put back either.
        let text = self.ports.blobs.get(scope, &key).ok().flatten();
        if self.ports.log.text_uses(scope, &key)? <= 1 {
            self.ports.blobs.delete(scope, &key)?;
        }
        Ok(Some(TakenText { key, text }))
    }

    /// Makes the blobs agree with the log: a text that a record has is stored, and one that none has is not. A record
    /// may not have been removed after all, somebody may have kept the same text meanwhile, or the last two records
    /// with it may have been removed at the same time.
    pub(super) fn settle(&self, scope: &Scope, taken: &[TakenText]) -> Result<()> {
        if taken.is_empty() {
            return Ok(());
        }
        let keys = || taken.iter().map(|taken| taken.key);
        let mut used = self.ports.log.used_texts(scope, &keys().collect::<Vec<_>>())?;
        let unused: Vec<TextKey> = keys().filter(|key| !used.contains(key)).collect();
        for key in &unused {
            self.ports.blobs.delete(scope, key)?;
        }
        if !unused.is_empty() {
            used.extend(self.ports.log.used_texts(scope, &unused)?);
        }
        let used: Vec<&TakenText> = taken.iter().filter(|taken| used.contains(&taken.key)).collect();
        let parts: Vec<TextPart> = used.iter().map(|taken| TextPart { key: taken.key, range: 0..0 }).collect();
        let mut gone = Vec::new();
        for (taken, stored) in used.into_iter().zip(self.ports.blobs.range_all(scope, &parts)) {
            if stored?.is_none() {
                gone.extend(taken.text.as_deref());
            }
        }
        self.ports.blobs.put_all(scope, &gone).into_iter().try_for_each(|put| put.map(drop))
    }

    fn left(&self, scope: &Scope, id: RecordId, taken: Option<&TakenText>) -> Result<Left> {
        let in_blobs = match taken {
            Some(TakenText { key, .. }) if self.ports.log.text_uses(scope, key)? == 0 => {
                u64::from(self.ports.blobs.range(scope, key, 0..0)?.is_some())
            }
            _ => 0,
        };
        let in_log = self.ports.log.records(scope, &[id])?.len() as u64;
        Ok(Left { in_log, in_index: self.indexed(scope, id)?, in_blobs })
    }
}
