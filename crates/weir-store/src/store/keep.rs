//! Keeps entries. Invariant: text is redacted here or by the writer it went through; once an entry is in the log, later
//! errors are reported along with it and do not replace it.

use std::borrow::Cow;

use rusqlite::Transaction;
use weir_core::redact::redact;
use weir_core::{EntryKind, Level, Limits, NewEntry, Reference, Scope, Timestamp};

use super::{Owner, Progress, Store};
use crate::blobs::{BlobReader, Blobs, FinishedText, KeepError, TextWriter};
use crate::db::Durability;
use crate::error::{Fault, Result, StoreError};
use crate::log::{entries, events, notes, scopes};
pub(super) use crate::redacted::redact_labels;

const MAX_LISTED_REDACTIONS: u64 = 100;

/// The result of keeping an entry.
#[derive(Debug)]
pub struct Kept {
    pub reference: Reference,
    /// The names of the rules that redacted something, one for each redaction, up to a hundred for each rule.
    pub redacted: Vec<&'static str>,
    pub redactions: Vec<(&'static str, u64)>,
    /// The revision, for a note with a topic.
    pub revision: u32,
    pub superseded: Vec<Reference>,
    /// The entries that do not expire any more because this note cites them.
    pub pinned: Vec<Reference>,
    /// Number of runs evicted to stay within the quota.
    pub evicted: usize,
    /// Whether the index does not have the entry yet because another process is indexing. The next search adds it.
    pub behind: bool,
    /// Why eviction or indexing failed after the entry was kept.
    pub unfinished: Option<StoreError>,
}

/// An entry that was written to the log.
pub(super) struct InsertedEntry {
    pub(super) id: i64,
    pub(super) reference: Reference,
    related: notes::NoteEffects,
}

/// A redacted entry with its text, ready to be written to the log.
struct PreparedEntry {
    scope: Scope,
    entry: NewEntry,
    text: FinishedText,
}

/// What was done after entries were written to the log.
#[derive(Clone, Default)]
struct Aftermath {
    evicted: usize,
    behind: bool,
    unfinished: Option<StoreError>,
}

impl InsertedEntry {
    fn kept(self, redactions: Vec<(&'static str, u64)>, after: Aftermath) -> Kept {
        let named = redactions.iter().flat_map(|(rule, count)| (0..*count.min(&MAX_LISTED_REDACTIONS)).map(|_| *rule));
        let Aftermath { evicted, behind, unfinished } = after;
        Kept {
            reference: self.reference,
            redacted: named.collect(),
            redactions,
            revision: self.related.revision,
            superseded: self.related.superseded,
            pinned: self.related.pinned,
            evicted,
            behind,
            unfinished,
        }
    }
}

impl Store {
    pub fn keep(&mut self, scope: &Scope, entry: NewEntry, now: Timestamp) -> Result<Kept> {
        let PreparedEntry { scope, entry, text } = self.prepare(scope, entry)?;
        let taken = self.insert_entry(&scope, &entry, &text, now)?;
        Ok(self.after_insert(taken, text.redactions, true, now))
    }

    /// Keeps entries of several callers in one transaction, which waits for the disk once, and makes them searchable.
    /// Returns one result for each, in order. An entry that cannot be kept does not prevent the others from being kept.
    pub fn keep_together(&mut self, entries: Vec<(Scope, NewEntry)>, now: Timestamp) -> Vec<Result<Kept>> {
        let prepared: Vec<Result<PreparedEntry>> =
            entries.into_iter().map(|(scope, entry)| self.prepare(&scope, entry)).collect();
        let ready: Vec<&PreparedEntry> = prepared.iter().flatten().collect();
        let inserted = match self.insert_together(&ready, now) {
            Ok(inserted) => inserted,
            Err(error) => ready.iter().map(|_| Err(error.clone())).collect(),
        };
        let newest = inserted.iter().flatten().map(|taken| taken.id).max();
        let after = newest.map(|newest| self.evict_and_index(newest, true, now)).unwrap_or_default();
        let mut inserted = inserted.into_iter();
        let kept = prepared.into_iter().map(|one| -> Result<Kept> {
            let PreparedEntry { text, .. } = one?;
            let taken = inserted.next().unwrap_or(Err(StoreError::Cancelled))?;
            Ok(taken.kept(text.redactions, after.clone()))
        });
        kept.collect()
    }

    fn prepare(&self, scope: &Scope, mut entry: NewEntry) -> Result<PreparedEntry> {
        let text = self.finished(scope, &mut entry)?;
        Ok(PreparedEntry { scope: scope.clone(), entry, text })
    }

    /// Redacts an entry and stages its text.
    pub(super) fn finished(&self, scope: &Scope, entry: &mut NewEntry) -> Result<FinishedText> {
        self.check_level(scope, entry)?;
        redact_labels(entry);
        let redactions = redact_text(entry);
        Ok(FinishedText { staged: self.blobs.stage(&entry.text)?, redactions })
    }

    /// Records that entries are in use, so that each is kept from now on for as long as a new one. Entries that are
    /// gone stay gone.
    pub fn renew(&mut self, scope: &Scope, references: &[Reference], now: Timestamp) -> Result<()> {
        let (scope_ids, limits) = (self.scope_ids(scope)?, &self.limits);
        self.log.write(Durability::Process, |tx| -> rusqlite::Result<()> {
            for &reference in references {
                let Some(stored) = entries::by_reference(tx, scope_ids, reference)? else { continue };
                entries::touch(tx, stored.id, now)?;
                if let Some(expiry) = limits.expiry(stored.entry.kind, now)
                    && stored.entry.expires_at.is_none_or(|at| at < expiry)
                {
                    entries::set_expiry(tx, stored.id, Some(expiry))?;
                }
            }
            Ok(())
        })
    }

    /// Starts a text that is written piece by piece and then kept with [`Self::keep_written`].
    ///
    /// Also removes what killed processes left of their own texts, at the cost of listing a folder that is usually
    /// empty.
    pub fn writer(&self) -> Result<TextWriter> {
        Ok(self.blobs.writer())
    }

    /// Returns an unused reference, for an entry that is kept later.
    pub fn draw_reference(&self) -> Result<Reference> {
        self.log.read(entries::unused_reference)
    }

    /// Keeps an entry whose text was written piece by piece. If the entry itself has a text, it is appended.
    ///
    /// The output of a run is indexed by the next search, so that keeping it takes a single transaction on the log and
    /// the model waits for nothing else.
    pub fn keep_written(&mut self, scope: &Scope, entry: NewEntry, writer: TextWriter, now: Timestamp) -> Result<Kept> {
        self.keep_and_open(scope, entry, writer, now).map(|(kept, _)| kept).map_err(|failed| failed.error)
    }

    /// Like [`Self::keep_written`], but also returns the stored text, open for reading. The text can be read even if
    /// another process evicts the entry at once, or if the entry could not be kept.
    pub fn keep_and_open(
        &mut self,
        scope: &Scope,
        mut entry: NewEntry,
        mut writer: TextWriter,
        now: Timestamp,
    ) -> Result<(Kept, BlobReader), KeepError> {
        self.check_level(scope, &entry)?;
        redact_labels(&mut entry);
        // A write error is reported by `finish`, along with what was written of the text.
        let _ = writer.write(&entry.text);
        let finished = writer.finish()?;
        let text = finished.staged.reader()?;
        // The text of a note contains its citations.
        entry.text = if entry.note.is_some() { text.all()? } else { Vec::new() };
        match self.insert_entry(scope, &entry, &finished, now) {
            Ok(taken) => Ok((self.after_insert(taken, finished.redactions, entry.kind != EntryKind::Run, now), text)),
            Err(error) => Err(KeepError { error, text: Some(Box::new(text)) }),
        }
    }

    fn insert_entry(
        &mut self,
        scope: &Scope,
        entry: &NewEntry,
        text: &FinishedText,
        now: Timestamp,
    ) -> Result<InsertedEntry> {
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        self.log.write(durability_of(entry), |tx| {
            let taken = EntryWriter { tx, blobs, limits }.insert(&own, entry, text, now)?;
            blobs.sync_names()?;
            Ok::<_, Fault>(taken)
        })
    }

    /// Writes entries to the log in one transaction. An entry that cannot be written is left out.
    fn insert_together(&mut self, entries: &[&PreparedEntry], now: Timestamp) -> Result<Vec<Result<InsertedEntry>>> {
        let own_scopes: Vec<Scope> = entries.iter().map(|one| self.own_scope(&one.scope)).collect();
        let waits = entries.iter().any(|one| durability_of(&one.entry) == Durability::Power);
        let durability = if waits { Durability::Power } else { Durability::Process };
        let (blobs, limits) = (&self.blobs, &self.limits);
        let inserted = self.log.write(durability, |tx| -> Result<_, Fault> {
            let mut inserted = Vec::with_capacity(entries.len());
            for (own, one) in own_scopes.iter().zip(entries) {
                tx.execute_batch("SAVEPOINT entry")?;
                let taken = EntryWriter { tx, blobs, limits }.insert(own, &one.entry, &one.text, now);
                tx.execute_batch(if taken.is_ok() { "RELEASE entry" } else { "ROLLBACK TO entry; RELEASE entry" })?;
                inserted.push(taken);
            }
            blobs.sync_names()?;
            Ok(inserted)
        })?;
        Ok(inserted.into_iter().map(|taken| taken.map_err(|fault| self.log.name(fault))).collect())
    }

    /// Evicts and indexes after an entry was written. Errors are only reported in the result: the entry is kept, and if
    /// this failed the caller would keep it a second time.
    pub(super) fn after_insert(
        &mut self,
        taken: InsertedEntry,
        redactions: Vec<(&'static str, u64)>,
        index_now: bool,
        now: Timestamp,
    ) -> Kept {
        let after = self.evict_and_index(taken.id, index_now, now);
        taken.kept(redactions, after)
    }

    fn evict_and_index(&mut self, newest: i64, index_now: bool, now: Timestamp) -> Aftermath {
        // One transaction only: a hook must not pay for a quota that was lowered.
        let room = self.make_room(Some(newest), 1, now);
        let indexed = if index_now { self.catch_up_soon() } else { Ok(Progress::Done) };
        Aftermath {
            evicted: *room.as_ref().unwrap_or(&0),
            behind: matches!(indexed, Ok(Progress::Behind)),
            unfinished: room.map(drop).and(indexed.map(drop)).err(),
        }
    }

    fn check_level(&self, scope: &Scope, entry: &NewEntry) -> Result<()> {
        self.check_scope(scope)?;
        if !scope.can_hold(entry.level) || (entry.level == Level::User) != (self.owner == Owner::User) {
            return Err(StoreError::NoSuchLevel { level: entry.level });
        }
        Ok(())
    }
}

/// Writes entries to the log within a transaction, which has to end with [`Blobs::sync_names`].
#[derive(Clone, Copy)]
pub(super) struct EntryWriter<'a> {
    pub(super) tx: &'a Transaction<'a>,
    pub(super) blobs: &'a Blobs,
    pub(super) limits: &'a Limits,
}

impl EntryWriter<'_> {
    pub(super) fn insert(
        self,
        scope: &Scope,
        entry: &NewEntry,
        text: &FinishedText,
        now: Timestamp,
    ) -> Result<InsertedEntry, Fault> {
        let Self { tx, blobs, limits } = self;
        let places_redacted: u64 = text.redactions.iter().map(|(_, count)| count).sum();
        let scope_ids = scopes::find_or_make(tx, scope, now)?;
        let blob_id = blobs.commit(tx, &text.staged)?;
        let id = events::append_kept(tx, scope_ids, now)?;
        let row = entries::NewRow {
            id,
            scope_ids,
            blob_id,
            redactions: u32::try_from(places_redacted).unwrap_or(u32::MAX),
            now,
            expires_at: limits.expiry(entry.kind, now),
            entry,
        };
        let reference = entries::insert(tx, &row)?;
        let related = match &entry.note {
            Some(note) => notes::insert(tx, id, scope_ids, entry, note)?,
            None => notes::NoteEffects::default(),
        };
        Ok(InsertedEntry { id, reference, related })
    }
}

/// Returns how durable an entry must be. What a person or model wrote must survive a power cut; the output of a program
/// can be produced again.
fn durability_of(entry: &NewEntry) -> Durability {
    match entry.kind {
        EntryKind::Note | EntryKind::Document => Durability::Power,
        EntryKind::Run | EntryKind::Page | EntryKind::File | EntryKind::Import | EntryKind::Said => Durability::Process,
    }
}

pub(super) fn redact_text(entry: &mut NewEntry) -> Vec<(&'static str, u64)> {
    let redacted = redact(&entry.text);
    let mut counts: Vec<(&'static str, u64)> = Vec::new();
    for finding in &redacted.found {
        match counts.iter_mut().find(|(rule, _)| *rule == finding.rule) {
            Some((_, count)) => *count += 1,
            None => counts.push((finding.rule, 1)),
        }
    }
    if let Cow::Owned(text) = redacted.text {
        entry.text = text;
    }
    counts
}
