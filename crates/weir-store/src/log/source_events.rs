//! Events that entries are made from.

use rusqlite::Row;
use weir_core::guide::Fact;
use weir_core::{Event, EventKind, Priority, Timestamp};

use super::scopes::ScopeIds;
use super::written;

/// An event that an entry may be made from.
pub(crate) struct SourceEvent {
    pub(crate) id: i64,
    pub(crate) at: Timestamp,
    /// The time from which its age is counted: for an imported event, the time of the import.
    pub(crate) kept_from: Timestamp,
    pub(crate) scope_ids: ScopeIds,
    pub(crate) event: Event,
}

impl SourceEvent {
    /// The columns that [`read`](Self::read) reads. [`KEPT_FROM`](super::ageing::KEPT_FROM) follows them.
    pub(crate) const COLUMNS: &str = "id, at, session_id, work_id, kind, priority, text, data";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            at: Timestamp(row.get(1)?),
            kept_from: Timestamp(row.get(8)?),
            scope_ids: ScopeIds { session: row.get(2)?, work: row.get(3)? },
            event: Event {
                kind: written(row, 4, EventKind::parse)?,
                priority: written(row, 5, Priority::parse)?,
                text: row.get(6)?,
                data: row.get(7)?,
                whole: None,
            },
        })
    }

    pub(crate) fn fact(&self) -> Fact<'_> {
        Fact { number: self.id, event: &self.event, at: self.at, reference: None, entry: None }
    }
}
