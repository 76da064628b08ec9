//! Takes in records that were written elsewhere. Invariants: one result for each record, and a bad one does not fail
//! the others; taking in the same record again changes nothing; a record comes with its text, since the key alone would
//! give access to the text of anybody in the tenant.

use weir_core::{Scope, Timestamp};

use super::Shelf;
use super::forget::TakenText;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::TextKey;
use crate::ports::Position;
use crate::record::{Body, Record};

/// Maximum size of the JSON of a record. What is longer belongs in its text.
const MAX_JSON_BYTES: usize = 256 << 10;
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
        let (mut results, mut good, mut records, mut texts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (at, one) in incoming.iter().enumerate() {
            let admitted = self.admit(scope, one, sender, now);
            results.push(admitted.map(|text| {
                good.push(at);
                records.push(one.record.clone());
                texts.extend(text.map(|text| (at, text)));
                Position(0)
            }));
        }
        for (at, result) in good.into_iter().zip(self.append_each(scope, &records)) {
            results[at] = result;
        }
        for (at, text) in texts {
            if let (Err(error), true) = (self.settle(scope, &text), results[at].is_ok()) {
                results[at] = Err(error);
            }
        }
        results
    }

    /// Appends records at once, or one by one if some are refused.
    fn append_each(&self, scope: &Scope, records: &[Record]) -> Vec<Result<Position>> {
        match self.ports.log.append(scope, records) {
            Ok(positions) => positions.into_iter().map(Ok).collect(),
            Err(_) => {
                let one = |record| self.ports.log.append(scope, std::slice::from_ref(record));
                let first = |positions: Vec<Position>| positions.first().copied().unwrap_or_default();
                records.iter().map(|record| one(record).map(first)).collect()
            }
        }
    }

    /// Checks a record, and stores its text or takes that of the record that it removes. Returns the text, which has to
    /// be settled once the record is in the log or refused.
    fn admit(&self, scope: &Scope, one: &Incoming, sender: &Sender, now: Timestamp) -> Result<Option<TakenText>> {
        let Incoming { record, text } = one;
        let refused = |kind| PortError::new(kind, format!("take in record {}", record.id));
        record.check(scope)?;
        if *sender == Sender::Author && record.author.user != scope.user {
            return Err(refused(ErrorKind::NotAuthor));
        }
        if record.to_json()?.len() > MAX_JSON_BYTES {
            return Err(refused(ErrorKind::Invalid).because("it is too long"));
        }
        if let Some(wrong) = too_much(record) {
            return Err(refused(ErrorKind::Invalid).because(wrong));
        }
        self.writer.clock.observe(record.time, now).map_err(|error| refused(ErrorKind::Invalid).because(error))?;
        let matches = match (record.body.kept(), text) {
            (None, None) => true,
            (Some(kept), Some(text)) => kept.bytes == text.len() as u64 && kept.text == TextKey::of(text),
            _ => false,
        };
        if !matches {
            return Err(refused(ErrorKind::Invalid).because("its text is missing or is another"));
        }
        if let Some(text) = text {
            let key = self.ports.blobs.put(scope, text)?;
            return Ok(Some(TakenText { key, text: Some(text.clone()) }));
        }
        if let Body::Removed { record: target, .. } = &record.body
            && let Some(target) = self.one(scope, *target)?
        {
            record.check_removal_of(&target)?;
            return self.take_text(scope, &target, &record.author.user);
        }
        Ok(None)
    }
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
