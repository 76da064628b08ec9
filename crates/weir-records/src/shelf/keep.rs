//! Writes records: entries, and what supersedes or confirms them.

use weir_core::redact::redact;
use weir_core::{EntryKind, Origin, Reference, Scope, Timestamp, UserId};

use super::Shelf;
use super::forget::TakenText;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{RecordId, TextKey};
use crate::ports::Once;
use crate::record::{Audience, Body, Kept, NoteFields, Record};
use crate::requests::RequestKey;

/// An entry to be kept as a record.
#[derive(Debug, Clone)]
pub struct NewRecord {
    pub kind: EntryKind,
    /// Who wrote the text.
    pub origin: Origin,
    /// Who sees it besides its author.
    pub audience: Audience,
    pub title: String,
    pub source: Option<String>,
    pub text: Vec<u8>,
    pub note: Option<NoteFields>,
    /// The reference, if one was drawn earlier.
    pub reference: Option<Reference>,
}

/// What became of an entry that was to be kept once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeptOnce {
    New(Box<Record>),
    /// It was kept before, in this record.
    Before(RecordId),
    /// Its key is that of another request.
    Other,
}

/// An entry whose text is stored, and that has no record yet.
struct Stored {
    kept: Kept,
    audience: Audience,
    text: Vec<u8>,
}

impl NewRecord {
    /// Creates an entry with only the required fields. The others are set as in `..NewRecord::new(…)`.
    pub fn new(kind: EntryKind, audience: Audience, title: impl Into<String>, text: impl Into<Vec<u8>>) -> Self {
        Self {
            kind,
            origin: Origin::User,
            audience,
            title: title.into(),
            source: None,
            text: text.into(),
            note: None,
            reference: None,
        }
    }
}

impl Shelf {
    /// Keeps an entry for the user of the scope. Secrets in it are redacted first.
    pub fn keep(&self, scope: &Scope, new: NewRecord, now: Timestamp) -> Result<Record> {
        let Stored { kept, audience, text } = self.store_text(scope, new)?;
        let key = kept.text;
        let record = self.written(scope, audience, Body::Kept(Box::new(kept)), now)?;
        self.append_record(scope, &record, &self.small([(key, text.as_slice())]))?;
        self.ensure_text(scope, &key, &text)?;
        Ok(record)
    }

    /// Keeps an entry for a request with a key, unless a request has the key already.
    pub fn keep_once(&self, scope: &Scope, new: NewRecord, key: &RequestKey, now: Timestamp) -> Result<KeptOnce> {
        let Stored { kept, audience, text } = self.store_text(scope, new)?;
        let text_key = kept.text;
        let record = self.written(scope, audience, Body::Kept(Box::new(kept)), now)?;
        let texts = self.small([(text_key, text.as_slice())]);
        let other = match self.ports.log.append_once_with_texts(scope, &record, key, &texts)? {
            Once::Appended(_) => {
                self.ensure_text(scope, &text_key, &text)?;
                return Ok(KeptOnce::New(Box::new(record)));
            }
            Once::Before(record) => KeptOnce::Before(record),
            Once::Other => KeptOnce::Other,
        };
        if !texts.is_empty() {
            return Ok(other);
        }
        // No record may have the text: that of the same request may have been removed.
        self.settle(scope, &[TakenText { key: text_key, text: Some(text) }])?;
        Ok(other)
    }

    /// Stores the text of an entry, unless the log keeps it with the record. The record must follow.
    fn store_text(&self, scope: &Scope, new: NewRecord) -> Result<Stored> {
        if self.is_sealed(scope)? {
            return Err(PortError::new(ErrorKind::Sealed, "keep an entry"));
        }
        let text = redact(&new.text).text.into_owned();
        let note = new.note.map(|note| NoteFields { topic: note.topic.map(redacted), ..note });
        let key = match self.keeps(text.len()) {
            true => TextKey::of(&text),
            false => self.ports.blobs.put(scope, &text)?,
        };
        let kept = Kept {
            reference: new.reference.map_or_else(draw_reference, Ok)?,
            kind: new.kind,
            origin: new.origin,
            title: redacted(new.title),
            source: new.source.map(redacted),
            note,
            text: key,
            bytes: text.len() as u64,
        };
        Ok(Stored { kept, audience: new.audience, text })
    }

    /// Records that `by` takes the place of `old`. Both must be visible in the scope. The record is for the team if
    /// both of them are; otherwise only for its author, to whom alone the older one then counts as superseded.
    pub fn supersede(&self, scope: &Scope, old: RecordId, by: RecordId, now: Timestamp) -> Result<Record> {
        let doing = "supersede";
        let audiences =
            [self.visible_entry(scope, old, doing)?.audience, self.visible_entry(scope, by, doing)?.audience];
        let for_team = audiences == [Audience::Team; 2];
        let audience = if for_team { Audience::Team } else { Audience::Author };
        Ok(self.append(scope, audience, Body::Superseded { old, by }, now)?.record)
    }

    /// Records that the user of the scope confirms what a record says. Everyone who sees the record sees that.
    pub fn confirm(&self, scope: &Scope, record: RecordId, now: Timestamp) -> Result<Record> {
        let audience = self.visible_entry(scope, record, "confirm")?.audience;
        let by: UserId = scope.user.clone();
        Ok(self.append(scope, audience, Body::Confirmed { record, by }, now)?.record)
    }

    /// Stores a text again if it was deleted between the look-up of the same text and the record that now has it.
    fn ensure_text(&self, scope: &Scope, key: &TextKey, text: &[u8]) -> Result<()> {
        if self.keeps(text.len()) {
            return Ok(());
        }
        if self.ports.blobs.range(scope, key, 0..0)?.is_none() {
            self.ports.blobs.put(scope, text)?;
        }
        Ok(())
    }

    fn visible_entry(&self, scope: &Scope, id: RecordId, doing: &str) -> Result<Record> {
        let record = self.visible(scope, id, doing)?;
        if record.body.kept().is_none() {
            let error = PortError::new(ErrorKind::Invalid, format!("{doing} record {id}"));
            return Err(error.because("it does not keep an entry"));
        }
        Ok(record)
    }
}

fn redacted(text: String) -> String {
    String::from_utf8_lossy(&redact(text.as_bytes()).text).into_owned()
}

fn draw_reference() -> Result<Reference> {
    getrandom::u64()
        .map(Reference::from_bits)
        .map_err(|error| PortError::new(ErrorKind::Unavailable, "draw a reference").because(error.to_string()))
}
