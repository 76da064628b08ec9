//! Appends what happened. Invariant: an event and the entry with its whole text are written in one transaction, and a
//! session has one entry for each text, however many events show a part of it.

use serde_json::{Value, json};
use weir_core::event::WHOLE;
use weir_core::{EntryKind, Event, Level, NewEntry, Origin, Timestamp};

use super::Store;
use super::keep::EntryWriter;
use crate::blobs::{Blobs, StagedText};
use crate::error::{Fault, Result};
use crate::log::scopes::ScopeIds;
use crate::log::{entries, events, said};

/// A redacted event, ready to be appended.
pub(super) struct StagedEvent {
    event: Event,
    whole: Option<StagedText>,
}

impl StagedEvent {
    /// Stages the whole text of a redacted event.
    pub(super) fn new(blobs: &Blobs, mut event: Event) -> Result<Self> {
        let whole = event.whole.take().map(|whole| blobs.stage(whole.as_bytes())).transpose()?;
        Ok(Self { event, whole })
    }
}

impl Store {
    pub(super) fn staged(&self, told: impl Iterator<Item = Event>) -> Result<Vec<StagedEvent>> {
        told.map(|event| StagedEvent::new(&self.blobs, event)).collect()
    }
}

/// When an event happened, and the time from which the age of its whole text is counted.
#[derive(Clone, Copy)]
pub(super) struct EventTime {
    pub(super) at: Timestamp,
    pub(super) kept_from: Timestamp,
}

impl EventTime {
    /// An event that has just happened.
    pub(super) fn now(at: Timestamp) -> Self {
        Self { at, kept_from: at }
    }
}

impl EntryWriter<'_> {
    pub(super) fn append(self, scope_ids: ScopeIds, told: &[StagedEvent], time: EventTime) -> Result<i64, Fault> {
        let mut last = 0;
        for StagedEvent { event, whole } in told {
            last = match whole {
                Some(whole) => self.append_with(scope_ids, event, whole, time)?,
                None => events::append(self.tx, scope_ids, event, time.at)?,
            };
        }
        if told.iter().any(|staged| staged.whole.is_some()) {
            self.blobs.sync_names()?;
        }
        Ok(last)
    }

    /// Appends an event and keeps its whole text, unless the session has that text already.
    fn append_with(
        self,
        scope_ids: ScopeIds,
        event: &Event,
        whole: &StagedText,
        time: EventTime,
    ) -> Result<i64, Fault> {
        let Self { tx, blobs, limits } = self;
        let blob_id = blobs.commit(tx, whole)?;
        let (reference, kept) = match said::with_text(tx, scope_ids, blob_id)? {
            Some(reference) => (reference, None),
            None => {
                let kind = event.kind.as_str();
                let origin = said::origin(event).unwrap_or(Origin::User);
                let source = Some(kind.to_owned());
                let entry = NewEntry { source, ..NewEntry::new(EntryKind::Said, origin, Level::Project, kind) };
                let id = events::append_kept(tx, scope_ids, time.at)?;
                let expires_at = limits.expiry(EntryKind::Said, time.kept_from);
                let row =
                    entries::NewRow { id, scope_ids, blob_id, redactions: 0, now: time.at, expires_at, entry: &entry };
                (entries::insert(tx, &row)?, Some(id))
            }
        };
        let mut data: Value =
            event.data.as_deref().and_then(|data| serde_json::from_str(data).ok()).unwrap_or_else(|| json!({}));
        data[WHOLE] = json!(reference.as_str());
        let event = Event { data: Some(data.to_string()), ..event.clone() };
        let id = events::append(tx, scope_ids, &event, time.at)?;
        if let Some(entry_id) = kept {
            said::link(tx, entry_id, id)?;
        }
        Ok(id)
    }
}
