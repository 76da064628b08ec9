//! Searches. Invariant: every hit is a record that the log shows to the scope.

use std::collections::BTreeMap;

use weir_core::Scope;

use super::Shelf;
use super::standing::KeptRecord;
use crate::error::Result;
use crate::id::RecordId;
use crate::ports::SearchQuery;

/// How many changes a search indexes first, if the index is behind. More would keep the searcher waiting; the answer
/// says how far behind it is.
const MAX_FOLLOWED: usize = 2_000;

/// A record that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub kept: KeptRecord,
    /// How well it answers; more is better. Comparable within one answer only.
    pub score: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The hits, best first; superseded ones after all others.
    pub hits: Vec<Hit>,
    /// How many positions of the log are not indexed yet, and so may be missing.
    pub behind: u64,
    pub used_vector: bool,
}

impl Shelf {
    /// Searches among the records that are visible in the scope, after indexing what is new.
    pub fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<Found> {
        self.follow(scope, MAX_FOLLOWED)?;
        let behind = self.lag(scope)?;
        // Superseded records move to the end, so more are needed to tell which of the others are the best.
        let wider = SearchQuery { limit: query.limit.saturating_mul(2), ..query.clone() };
        let found = self.ports.index.search(scope, &wider)?;
        let ids: Vec<RecordId> = found.hits.iter().map(|hit| hit.id).collect();
        let records = self.ports.log.records(scope, &ids)?;
        let kept = self.with_standing(scope, records)?;
        let mut kept: BTreeMap<RecordId, KeptRecord> = kept.into_iter().map(|kept| (kept.record.id, kept)).collect();
        let shown = found.hits.iter().filter_map(|hit| Some(Hit { kept: kept.remove(&hit.id)?, score: hit.score }));
        let (superseded, mut hits): (Vec<Hit>, Vec<Hit>) = shown.partition(|hit| hit.kept.superseded_by.is_some());
        hits.extend(superseded);
        hits.truncate(query.limit);
        Ok(Found { hits, behind, used_vector: found.used_vector })
    }
}
