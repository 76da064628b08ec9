//! Searches. Invariant: every hit is a record that the log shows to the scope.

use std::collections::BTreeMap;

use weir_core::Scope;

use super::Shelf;
use super::standing::{KeptRecord, forks, standing};
use super::texts::small_texts;
use crate::error::Result;
use crate::id::RecordId;
use crate::ports::{KeptTexts, SearchQuery};

/// How many changes a search indexes first, if the index is behind. More would keep the searcher waiting; the answer
/// says how far behind it is.
const MAX_FOLLOWED: usize = 2_000;

/// A record that answers a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    pub kept: KeptRecord,
    /// The other current notes on its topic.
    pub fork: Vec<KeptRecord>,
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
    /// The texts of the hits that the log keeps. The others are in the blobs.
    pub texts: KeptTexts,
}

impl Shelf {
    /// Searches among the records that are visible in the scope, after indexing what is new.
    pub fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<Found> {
        let behind = self.catch_up(scope, MAX_FOLLOWED)?.behind;
        // Superseded records move to the end, so more are needed to tell which of the others are the best.
        let wider = SearchQuery { limit: query.limit.saturating_mul(2), ..query.clone() };
        let found = self.ports.index.search(scope, &wider)?;
        let ids: Vec<RecordId> = found.hits.iter().map(|hit| hit.id).collect();
        let mut look_ups = self.ports.log.look_ups(scope);
        let records = look_ups.records(&ids)?;
        let kept = standing(&mut *look_ups, records)?;
        let mut kept: BTreeMap<RecordId, KeptRecord> = kept.into_iter().map(|kept| (kept.record.id, kept)).collect();
        let shown = found.hits.iter().filter_map(|hit| Some((kept.remove(&hit.id)?, hit.score)));
        let (superseded, mut best): (Vec<_>, Vec<_>) = shown.partition(|(kept, _)| kept.superseded_by.is_some());
        best.extend(superseded);
        best.truncate(query.limit);
        let (best, scores): (Vec<KeptRecord>, Vec<f64>) = best.into_iter().unzip();
        let forks = forks(&mut *look_ups, &best)?;
        let texts = look_ups.kept_texts(&small_texts(best.iter().map(|kept| &kept.record)))?;
        let hits = best.into_iter().zip(scores).zip(forks).map(|((kept, score), fork)| Hit { kept, fork, score });
        Ok(Found { hits: hits.collect(), behind, used_vector: found.used_vector, texts })
    }
}
