//! Takes in records that were written elsewhere. Invariants: one result for each record, and a bad one does not fail
//! the others; taking in the same record again changes nothing; a record comes with its text, since the key alone would
//! give access to the text of anybody in the tenant; what a user sends has a host that nobody else has sent from.

use std::collections::BTreeSet;

use weir_core::{Scope, Timestamp};

use super::Shelf;
use super::forget::TakenText;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, TextKey};
use crate::ports::Position;
use crate::record::{Body, Record};

/// Maximum size of a title, of another field, or of the path of a file, in bytes.
const MAX_FIELD_BYTES: usize = 16 << 10;
/// How many files a note may be about.
const MAX_FILES: usize = 1_000;

/// A record from elsewhere.
#[derive(Debug, Clone)]
pub struct Incoming {
    /// The record.
    pub record: Record,
    /// Its text, if it keeps an entry.
    pub text: Option<Vec<u8>>,
}

/// Where records come from, which decides whose they may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    /// The user of the scope: every record must be their own.
    Author,
    /// Another log that this one trusts, such as that of a server: every record must be visible in the scope.
    Log,
}

impl Shelf {
    /// Appends records from elsewhere, with their texts. Returns a result for each.
    pub fn import(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        sender: &Sender,
        now: Timestamp,
    ) -> Vec<Result<Position>> {
        let mut results: Vec<Result<Position>> = Vec::with_capacity(incoming.len());
        results.extend(incoming.iter().map(|one| check(scope, one, sender, now).map(|()| Position(0))));
        if *sender == Sender::Author {
            self.refuse_foreign_hosts(scope, incoming, &mut results);
        }
        self.refuse_clear(scope, incoming, &mut results);
        let taken = self.take_texts(scope, incoming, &mut results);
        let good: Vec<usize> = (0..results.len()).filter(|&at| results[at].is_ok()).collect();
        let records: Vec<Record> = good.iter().map(|&at| incoming[at].record.clone()).collect();
        for (at, result) in good.into_iter().zip(self.append_each(scope, &records)) {
            results[at] = result;
        }
        for (one, _) in incoming.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
            self.writer.observe(&scope.tenant, one.record.time, now);
        }
        let (places, texts): (Vec<usize>, Vec<TakenText>) = taken.into_iter().unzip();
        if let Err(error) = self.settle(scope, &texts) {
            // It is not known which of them are stored, so all have to be sent again.
            for at in places {
                if results[at].is_ok() {
                    results[at] = Err(copy_of(&error));
                }
            }
        }
        results
    }

    /// Binds the hosts of the records that were admitted to the user of the scope, and refuses records of other users'
    /// hosts, and ids that this server gives itself.
    fn refuse_foreign_hosts(&self, scope: &Scope, incoming: &[Incoming], results: &mut [Result<Position>]) {
        let own = self.writer.host();
        let admitted = incoming.iter().zip(results.iter()).filter(|(_, result)| result.is_ok());
        let hosts: BTreeSet<HostId> = admitted.map(|(one, _)| one.record.id.host).filter(|host| *host != own).collect();
        let hosts: Vec<HostId> = hosts.into_iter().collect();
        let bound = if hosts.is_empty() { Ok(Vec::new()) } else { self.ports.log.bind_hosts(scope, &hosts) };
        for (Incoming { record, .. }, result) in incoming.iter().zip(results).filter(|(_, result)| result.is_ok()) {
            match &bound {
                Ok(others) if others.contains(&record.id.host) || self.writer.may_give(record.id) => {
                    *result = Err(refused(record, ErrorKind::ForeignHost));
                }
                Ok(_) => {}
                Err(error) => *result = Err(copy_of(error)),
            }
        }
    }

    /// Appends records at once, or one by one if some are refused.
    fn append_each(&self, scope: &Scope, records: &[Record]) -> Vec<Result<Position>> {
        match self.ports.log.append(scope, records) {
            Ok(positions) => positions.into_iter().map(Ok).collect(),
            // Each would wait as long as all of them did.
            Err(error) if error.kind.may_pass() => records.iter().map(|_| Err(copy_of(&error))).collect(),
            Err(_) => {
                let one = |record| self.ports.log.append(scope, std::slice::from_ref(record));
                let first = |positions: Vec<Position>| positions.first().copied().unwrap_or_default();
                records.iter().map(|record| one(record).map(first)).collect()
            }
        }
    }

    /// Refuses clear records of a sealed project, before their texts are stored, except those that the log has had since
    /// before it was sealed.
    fn refuse_clear(&self, scope: &Scope, incoming: &[Incoming], results: &mut [Result<Position>]) {
        let clear = incoming.iter().zip(results).filter(|(one, result)| one.text.is_some() && result.is_ok());
        let mut clear = clear.peekable();
        if clear.peek().is_none() {
            return;
        }
        let sealed = self.is_sealed(scope);
        for (Incoming { record, .. }, result) in clear {
            let checked = match &sealed {
                Ok(false) => return,
                Ok(true) => self.one(scope, record.id).map(|known| known.as_ref() == Some(record)),
                Err(error) => Err(copy_of(error)),
            };
            match checked {
                Ok(true) => {}
                Ok(false) => {
                    let hint = "run `weir sync` of a version that can seal it";
                    *result = Err(refused(record, ErrorKind::Sealed).because(hint));
                }
                Err(error) => *result = Err(error),
            }
        }
    }

    /// Stores the texts of the records that are good so far, and takes those of the records that they remove. Returns
    /// the texts with the places of their records: they have to be settled once the records are in the log or refused.
    fn take_texts(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        results: &mut [Result<Position>],
    ) -> Vec<(usize, TakenText)> {
        let mut taken = Vec::new();
        let of = |at: usize| incoming[at].text.as_deref();
        let with_text: Vec<usize> = (0..incoming.len()).filter(|&at| results[at].is_ok() && of(at).is_some()).collect();
        let texts: Vec<&[u8]> = with_text.iter().filter_map(|&at| of(at)).collect();
        for ((at, text), stored) in with_text.into_iter().zip(&texts).zip(self.ports.blobs.put_all(scope, &texts)) {
            match stored {
                Ok(key) => taken.push((at, TakenText { key, text: Some(text.to_vec()) })),
                Err(error) => results[at] = Err(error),
            }
        }
        for (at, (one, result)) in incoming.iter().zip(results).enumerate().filter(|(_, (_, result))| result.is_ok()) {
            match self.take_removed(scope, &one.record) {
                Ok(text) => taken.extend(text.map(|text| (at, text))),
                Err(error) => *result = Err(error),
            }
        }
        taken
    }

    /// Takes the text of the record that this one removes, if it removes one.
    fn take_removed(&self, scope: &Scope, record: &Record) -> Result<Option<TakenText>> {
        let Body::Removed { record: target, .. } = &record.body else { return Ok(None) };
        let Some(target) = self.one(scope, *target)? else { return Ok(None) };
        record.check_removal_of(&target)?;
        self.take_text(scope, &target, &record.author.user)
    }
}

/// Checks a record that comes with its text.
fn check(scope: &Scope, one: &Incoming, sender: &Sender, now: Timestamp) -> Result<()> {
    let Incoming { record, text } = one;
    record.check(scope)?;
    if *sender == Sender::Author && record.author.user != scope.user {
        return Err(refused(record, ErrorKind::NotAuthor));
    }
    record.check_size()?;
    if let Some(wrong) = too_much(record) {
        return Err(refused(record, ErrorKind::Invalid).because(wrong));
    }
    record.time.check(now).map_err(|error| refused(record, ErrorKind::Invalid).because(error))?;
    let matches = match (record.body.kept(), text) {
        (None, None) => true,
        (Some(kept), Some(text)) => kept.bytes == text.len() as u64 && kept.text == TextKey::of(text),
        _ => false,
    };
    if !matches {
        return Err(refused(record, ErrorKind::Invalid).because("its text is missing or is another"));
    }
    Ok(())
}

/// Returns the same error, for another record.
fn copy_of(error: &PortError) -> PortError {
    let copy = PortError::new(error.kind, error.at.clone());
    match &error.source {
        Some(reason) => copy.because(reason.to_string()),
        None => copy,
    }
}

fn refused(record: &Record, kind: ErrorKind) -> PortError {
    PortError::new(kind, format!("take in record {}", record.id))
}

/// Says which field of a record is longer than any machine writes it, if one is.
fn too_much(record: &Record) -> Option<&'static str> {
    let is_long = |text: &str| text.len() > MAX_FIELD_BYTES;
    let kept = record.body.kept()?;
    if is_long(&kept.title) {
        return Some("its title is too long");
    }
    if kept.source.as_deref().is_some_and(is_long) {
        return Some("its source is too long");
    }
    let note = kept.note.as_ref()?;
    let fields = [&note.topic, &note.commit, &note.branch];
    if fields.into_iter().flatten().any(|field| is_long(field)) {
        return Some("its topic, commit or branch is too long");
    }
    if note.files.len() > MAX_FILES {
        return Some("it is about too many files");
    }
    note.files.iter().any(|file| is_long(&file.path) || is_long(&file.hash)).then_some("the path of a file is too long")
}

impl Incoming {
    /// Creates what is taken in from a record and its text.
    pub fn new(record: Record, text: Option<Vec<u8>>) -> Self {
        Self { record, text }
    }
}
