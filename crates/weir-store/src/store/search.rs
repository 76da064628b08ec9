//! Searches. Brings the index up to date first, as far as the time limit allows, and confirms every hit with the log.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use weir_core::{Query, Reference, Scope};

use super::Store;
use crate::error::{Fault, Result, StoreError, Unreadable};
use crate::index::again::TriedAgain;
use crate::index::apply::BatchLimits;
use crate::index::origin::{self, Standing};
use crate::index::search::RawFindings;
use crate::index::{self, Findings, Hit};
use crate::log::feed::LogFeed;
use crate::log::{entries, scopes};

/// Time limit for indexing during a search. The next search continues from there.
const MAX_SEARCH_INDEX_TIME: Duration = Duration::from_secs(10);
/// Time limit for turning what was said into entries during a search.
const MAX_EVENT_INTAKE_TIME: Duration = Duration::from_secs(2);
/// Both time limits for a search that must not keep its caller waiting.
const MAX_PROMPT_INDEX_TIME: Duration = Duration::from_millis(150);
/// How long a search that has found nothing waits for the rest of the index, if it must not keep its caller waiting.
const MAX_EMPTY_WAIT: Duration = Duration::from_secs(1);
/// How long such a search waits for a lock before it looks again.
const MAX_EMPTY_LOCK_WAIT: Duration = Duration::from_millis(50);
/// Time limit for indexing texts that an earlier search could not read.
const MAX_TIME_READING_AGAIN: Duration = Duration::from_millis(100);
/// Maximum number of references listed for entries whose text cannot be read.
const MAX_LISTED_REFERENCES: usize = 5;

/// How much a search does before it answers, so that it finds what is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// Takes in and indexes what is new, for some seconds if there is much. For a caller that is alone.
    #[default]
    Complete,
    /// Takes in and indexes a little at most, waits for no lock, and says if there is more. Only a search that would
    /// find nothing waits for a moment. For one of many callers.
    Prompt,
}

/// How long a search may index.
#[derive(Clone, Copy)]
struct IndexingTime {
    end: Instant,
    /// How long each step waits for a lock. Without it, one that is taken ends the indexing.
    lock: Duration,
}

impl Freshness {
    fn times(self) -> (Duration, Duration) {
        match self {
            Self::Complete => (MAX_EVENT_INTAKE_TIME, MAX_SEARCH_INDEX_TIME),
            Self::Prompt => (MAX_PROMPT_INDEX_TIME, MAX_PROMPT_INDEX_TIME),
        }
    }

    fn batch(self) -> BatchLimits {
        match self {
            Self::Complete => BatchLimits::USUAL,
            Self::Prompt => BatchLimits::SMALL,
        }
    }
}

impl Store {
    /// Sets how much searches do before they answer, and whether reading waits for a lock to note what was read.
    pub fn set_freshness(&mut self, freshness: Freshness) {
        self.freshness = freshness;
    }

    /// Returns the best chunks for a query, best first. Without a vector in the query, keywords alone decide.
    pub fn search(&mut self, scope: &Scope, query: &Query) -> Result<Findings> {
        self.check_scope(scope)?;
        let (intake_time, index_time) = self.freshness.times();
        let all_said = match self.take_in_said(intake_time) {
            Ok(all) => all,
            // What cannot be written now is found by a later search.
            Err(error) if error.may_pass() => false,
            Err(other) => return Err(other),
        };
        if let Err(error) = self.open_index() {
            return self.nothing_if_empty(error);
        }
        self.map_index_for(query)?;
        if self.freshness == Freshness::Complete {
            // A text that cannot be read now may be read by a later search.
            let _ = self.read_again(TriedAgain::Unavailable, MAX_TIME_READING_AGAIN);
        }
        let limits = IndexingTime { end: Instant::now() + index_time, lock: Duration::ZERO };
        if let Some(findings) = self.search_caught_up(scope, query, limits)? {
            return Ok(Findings { behind: findings.behind || !all_said, ..findings });
        }
        let found = self.search_as_it_is(scope, query)?;
        if self.freshness == Freshness::Prompt && found.hits.is_empty() {
            // What a caller looks for is often what it kept a moment ago, so an empty answer is worth a short wait.
            let limits = IndexingTime { end: Instant::now() + MAX_EMPTY_WAIT, lock: MAX_EMPTY_LOCK_WAIT };
            return Ok(self.search_caught_up(scope, query, limits)?.unwrap_or(found));
        }
        Ok(found)
    }

    /// Searches once the index has everything. Returns nothing if that takes longer than it may: while another process
    /// indexes, or if very much is new, indexing may take minutes, and an answer may not.
    fn search_caught_up(&mut self, scope: &Scope, query: &Query, limits: IndexingTime) -> Result<Option<Findings>> {
        let mut stepped = false;
        loop {
            if let Some(findings) = self.search_if(scope, query, |standing| standing == Standing::CaughtUp)? {
                if stepped {
                    self.note_index_size();
                }
                return Ok(Some(findings));
            }
            let batch = self.freshness.batch();
            let Self { index: Some(index), log, blobs, learner, .. } = self else {
                return Ok(Some(Findings::default()));
            };
            if Instant::now() > limits.end {
                return Ok(None);
            }
            match index::apply::step_within(limits.lock, batch, index, &LogFeed { log, blobs }, learner) {
                Ok(Some(step)) if step.is_stuck => return Ok(None),
                Ok(Some(_)) => stepped = true,
                Ok(None) if !limits.lock.is_zero() => {}
                // An index that cannot be written can still be searched.
                Ok(None) | Err(StoreError::ReadOnly { .. } | StoreError::Full { .. }) => return Ok(None),
                Err(other) => return Err(other),
            }
        }
    }

    /// Searches only what is already indexed, for a caller that cannot wait.
    pub fn search_indexed(&mut self, scope: &Scope, query: &Query) -> Result<Findings> {
        self.check_scope(scope)?;
        if let Err(error) = self.open_index() {
            return self.nothing_if_empty(error);
        }
        self.map_index_for(query)?;
        self.search_as_it_is(scope, query)
    }

    /// Maps the index for reading if a query compares its vectors.
    fn map_index_for(&mut self, query: &Query) -> Result<()> {
        match self.index.as_mut().filter(|_| query.vector.is_some()) {
            Some(index) => index.map_for_reading(),
            None => Ok(()),
        }
    }

    /// Answers a search without an index, if none can be created. An empty store returns no findings, so that the
    /// search can go on in another store; any other store returns the error.
    fn nothing_if_empty(&self, error: StoreError) -> Result<Findings> {
        let cannot_write = matches!(error, StoreError::ReadOnly { .. } | StoreError::Full { .. });
        if cannot_write && self.log.read(entries::are_none)? { Ok(Findings::default()) } else { Err(error) }
    }

    fn search_as_it_is(&self, scope: &Scope, query: &Query) -> Result<Findings> {
        let findings = self.search_if(scope, query, |standing| standing != Standing::Foreign)?.unwrap_or_default();
        Ok(Findings { behind: true, ..findings })
    }

    /// Searches if the state of the index relative to the log is good enough. Uses one view of each database, opened
    /// once, since opening takes most of the time of a small search. The index is opened first, because the log only
    /// grows.
    fn search_if(&self, scope: &Scope, query: &Query, good_enough: fn(Standing) -> bool) -> Result<Option<Findings>> {
        let Some(index) = &self.index else { return Ok(None) };
        index.read_at_once(|c| -> Result<_, Fault> {
            let origin = origin::read(c)?;
            let found = self.log.read_at_once(|log| -> Result<_, Fault> {
                let feed = LogFeed { log: &self.log, blobs: &self.blobs };
                let standing = origin.standing(&feed)?;
                if !good_enough(standing) {
                    return Ok(None);
                }
                let raw = index::search::search(c, &feed, scope, query)?;
                let marked = index::documents::marked(c, i64::MAX, MAX_LISTED_REFERENCES)?;
                look_up(log, scope, raw, &marked).map(Some)
            })?;
            let Some(findings) = found else { return Ok(None) };
            let without_vectors = if query.vector.is_some() { index::unembedded::pending(c)? } else { 0 };
            Ok(Some(Findings { without_vectors, ..findings }))
        })
    }
}

/// Looks up the entries of hits. The log decides which entries still exist and are visible in the scope.
fn look_up(log: &Connection, scope: &Scope, raw: RawFindings, marked: &[(i64, Unreadable)]) -> Result<Findings, Fault> {
    let scope_ids = scopes::find(log, scope)?;
    let mut hits = Vec::with_capacity(raw.hits.len());
    for hit in raw.hits {
        if let Some(stored) = entries::by_id(log, scope_ids, hit.entry_id)? {
            let mut also = Vec::new();
            for id in &hit.also {
                also.extend(entries::by_id(log, scope_ids, *id)?.map(|stored| stored.entry.reference));
            }
            hits.push(Hit { also, ..hit.with(stored.entry) });
        }
    }
    let (mut lost, mut unavailable) = (Vec::new(), Vec::new());
    for (id, why) in marked {
        let list = if *why == Unreadable::Lost { &mut lost } else { &mut unavailable };
        list.extend(entries::by_id(log, scope_ids, *id)?.map(|stored| stored.entry.reference));
    }
    Ok(Findings {
        hits: order_by_succession(hits),
        corrected: raw.corrected,
        unknown: raw.unknown,
        lost,
        unavailable,
        unembedded: raw.unembedded,
        ..Findings::default()
    })
}

/// Moves every hit of a superseded note below those of its successor, if both were found.
fn order_by_succession(hits: Vec<Hit>) -> Vec<Hit> {
    let mut to_come: HashMap<Reference, usize> = HashMap::new();
    for hit in &hits {
        *to_come.entry(hit.entry.reference).or_default() += 1;
    }
    let mut ordered = Vec::with_capacity(hits.len());
    let mut waiting: HashMap<Reference, Vec<Hit>> = HashMap::new();
    for hit in hits {
        let mut next = vec![hit];
        while let Some(hit) = next.pop() {
            let successor = hit.entry.superseded_by.filter(|note| to_come.get(note).is_some_and(|&count| count > 0));
            if let Some(successor) = successor {
                waiting.entry(successor).or_default().push(hit);
                continue;
            }
            let reference = hit.entry.reference;
            ordered.push(hit);
            let count = to_come.entry(reference).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 {
                next.extend(waiting.remove(&reference).into_iter().flatten().rev());
            }
        }
    }
    ordered
}
