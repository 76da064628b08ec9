//! Look-ups in a log that belong together.

use weir_core::Scope;

use super::{KeptTexts, Log, StoredRecord};
use crate::error::Result;
use crate::id::{RecordId, TextKey};

/// Look-ups in one project of a log. They answer as the methods of [`Log`] do that have the same names.
pub trait LookUps {
    fn records(&mut self, ids: &[RecordId]) -> Result<Vec<StoredRecord>>;

    fn about(&mut self, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>>;

    fn on_topics(&mut self, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>>;

    fn kept_texts(&mut self, keys: &[TextKey]) -> Result<KeptTexts>;
}

/// Look-ups of which each is a call of its own.
pub(super) struct SeparateLookUps<'a, L: ?Sized> {
    pub(super) log: &'a L,
    pub(super) scope: &'a Scope,
}

impl<L: Log + ?Sized> LookUps for SeparateLookUps<'_, L> {
    fn records(&mut self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.log.records(self.scope, ids)
    }

    fn about(&mut self, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        self.log.about(self.scope, ids, limit)
    }

    fn on_topics(&mut self, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        self.log.on_topics(self.scope, topics, limit)
    }

    fn kept_texts(&mut self, keys: &[TextKey]) -> Result<KeptTexts> {
        self.log.kept_texts(self.scope, keys)
    }
}
