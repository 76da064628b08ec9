//! What later records say about a record.

use std::collections::BTreeSet;

use weir_core::{Scope, Timestamp, UserId};

use super::Shelf;
use crate::error::Result;
use crate::id::RecordId;
use crate::ports::StoredRecord;
use crate::record::{Body, Kept, Record};

/// A record that keeps an entry, with what later records say about it. Only records that the scope sees count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecord {
    /// The record.
    pub record: Record,
    /// The newest record that took its place. A record whose successor was removed stands again.
    pub superseded_by: Option<RecordId>,
    /// Who has confirmed it, oldest first, each user once.
    pub confirmed: Vec<Confirmation>,
}

/// A user's confirmation of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    /// The user.
    pub by: UserId,
    /// When they confirmed it.
    pub at: Timestamp,
}

impl KeptRecord {
    /// Returns the entry.
    pub fn entry(&self) -> Option<&Kept> {
        self.record.body.kept()
    }
}

impl Shelf {
    /// Adds to records what later ones say about them, and leaves out those that keep no entry. Keeps their order.
    pub(super) fn with_standing(&self, scope: &Scope, found: Vec<StoredRecord>) -> Result<Vec<KeptRecord>> {
        let entries = found.into_iter().map(|stored| stored.record).filter(|record| record.body.kept().is_some());
        let mut kept: Vec<KeptRecord> =
            entries.map(|record| KeptRecord { record, superseded_by: None, confirmed: Vec::new() }).collect();
        if kept.is_empty() {
            return Ok(kept);
        }
        let ids: Vec<RecordId> = kept.iter().map(|kept| kept.record.id).collect();
        let later = self.ports.log.about(scope, &ids)?;
        let successors = self.visible_successors(scope, &later)?;
        for StoredRecord { record, .. } in later {
            let Some(about) = record.body.about() else { continue };
            for kept in kept.iter_mut().filter(|kept| kept.record.id == about) {
                kept.add(&record, &successors);
            }
        }
        Ok(kept)
    }

    fn visible_successors(&self, scope: &Scope, later: &[StoredRecord]) -> Result<BTreeSet<RecordId>> {
        let named = later.iter().filter_map(|stored| match stored.record.body {
            Body::Superseded { by, .. } => Some(by),
            _ => None,
        });
        let named: Vec<RecordId> = named.collect();
        Ok(self.ports.log.records(scope, &named)?.into_iter().map(|stored| stored.record.id).collect())
    }
}

impl KeptRecord {
    fn add(&mut self, later: &Record, successors: &BTreeSet<RecordId>) {
        match &later.body {
            Body::Superseded { by, .. } if successors.contains(by) => self.superseded_by = Some(*by),
            Body::Confirmed { by, .. } if self.confirmed.iter().all(|known| known.by != *by) => {
                self.confirmed.push(Confirmation { by: by.clone(), at: later.time.timestamp() });
            }
            _ => {}
        }
    }
}
