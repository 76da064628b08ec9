//! Searches the index by keywords and by meaning.
//!
//! Invariants: any query text is safe; every hit is visible in the scope; the order is the same for the same store; a
//! search returns as many hits as requested, if there are enough.

mod candidates;
mod rank;
mod spelling;

use std::collections::HashSet;

use rusqlite::Connection;
use weir_core::query::{self, ChunkId};
use weir_core::{Entry, EntryKind, Query, Scope};

use self::candidates::{Candidate, Spoken};
use self::spelling::ResolvedTerms;
use super::Hit;
use super::chunk_texts::{ChunkTexts, TitledText};
use super::meaning::Meaning;
use super::{documents, excerpt};
use crate::error::{Fault, Unreadable};
use crate::feed::Feed;

/// Number of the best chunks by keywords, and of the closest in meaning, that are ranked.
const MAX_CANDIDATES: usize = 100;
/// Number of the best chunks by keywords that are ranked if fewer leave room for hits.
const MAX_EXTENDED_CANDIDATES: usize = 1_000;
/// Number of chunks up to which every vector is compared with the query. In a larger index only those of the best
/// chunks by keywords are compared, and the others only if too little was found.
const MAX_COMPARED_CHUNKS: i64 = 50_000;
/// Minimum closeness in meaning for a hit that shares no word with the query.
const MIN_SIMILARITY: f32 = 0.25;

/// A ranked chunk, before its entry is looked up.
#[derive(Debug, Clone)]
pub(crate) struct RawHit {
    pub(crate) entry_id: i64,
    ordinal: u32,
    line: u64,
    heading: String,
    excerpt: String,
    unreadable: Option<Unreadable>,
    partial: bool,
    score: f64,
    by_meaning: bool,
    /// Other entries with the same passage.
    pub(crate) also: Vec<i64>,
    kind: Option<EntryKind>,
    spoken: Spoken,
}

impl RawHit {
    pub(crate) fn with(self, entry: Entry) -> Hit {
        Hit {
            heading: self.heading,
            entry,
            ordinal: self.ordinal,
            line: self.line,
            excerpt: self.excerpt,
            unreadable: self.unreadable,
            partial: self.partial,
            score: self.score,
            by_meaning: self.by_meaning,
            also: Vec::new(),
        }
    }

    /// Returns whether a reader of one hit learns nothing from the other: both are from one entry or from two outputs
    /// and have the same excerpt, or one repeats what was said or noted in the other.
    fn shares_passage(&self, other: &Self) -> bool {
        let are_outputs = self.kind == Some(EntryKind::Run) && other.kind == Some(EntryKind::Run);
        let is_read = self.unreadable.is_none() && other.unreadable.is_none();
        if !is_read {
            return false;
        }
        if self.entry_id == other.entry_id || are_outputs {
            return self.excerpt == other.excerpt;
        }
        let is_spoken = |hit: &Self| matches!(hit.kind, Some(EntryKind::Said | EntryKind::Note));
        let is_said = |hit: &Self| hit.kind == Some(EntryKind::Said);
        let (one, two) = (self.excerpt.trim(), other.excerpt.trim());
        is_spoken(self)
            && is_spoken(other)
            && (is_said(self) || is_said(other))
            && (one.contains(two) || two.contains(one))
    }

    /// Adds a hit with the same passage. A note goes before the sentence that it repeats, and a turn before its
    /// request.
    fn absorb(&mut self, mut hit: Self) {
        let is_noted = self.kind == Some(EntryKind::Said) && hit.kind == Some(EntryKind::Note);
        if is_noted || self.spoken == Spoken::Question && hit.spoken == Spoken::Turn {
            std::mem::swap(self, &mut hit);
            self.also.append(&mut hit.also);
        }
        if self.entry_id != hit.entry_id && !self.also.contains(&hit.entry_id) {
            self.also.push(hit.entry_id);
        }
    }
}

/// The findings of a search, before the entries are looked up.
#[derive(Debug, Default)]
pub(crate) struct RawFindings {
    pub(crate) hits: Vec<RawHit>,
    pub(crate) corrected: Vec<(String, String)>,
    pub(crate) unknown: Vec<String>,
    /// Chunks among the best that have no vector.
    pub(crate) unembedded: Vec<ChunkId>,
}

/// The index as a search reads it, with the texts of its chunks.
struct SearchedIndex<'a> {
    db: &'a Connection,
    texts: ChunkTexts<'a>,
}

/// Returns the best chunks for a query, best first.
pub(crate) fn search(db: &Connection, feed: &dyn Feed, scope: &Scope, query: &Query) -> Result<RawFindings, Fault> {
    let spelt = spelling::look_up(db, &query::terms(&query.text))?;
    if query.limit == 0 || spelt.alternatives.is_empty() {
        return Ok(RawFindings::default());
    }
    let search = RankedSearch { db, feed, scope, query, spelt: &spelt };
    // Chunks found by keywords only are already in order, except for their age.
    let mut most = if query.vector.is_some() { MAX_CANDIDATES } else { MAX_CANDIDATES / 4 }.max(query.limit);
    let mut ranked = search.among(most)?;
    // Outputs that share a passage become one hit, so many of them can leave no room for others.
    while ranked.has_more && ranked.hits.len() < query.limit && most < MAX_EXTENDED_CANDIDATES {
        most = (most * 8).min(MAX_EXTENDED_CANDIDATES);
        ranked = search.among(most)?;
    }
    let RankedHits { hits, unembedded, .. } = ranked;
    Ok(RawFindings { hits, corrected: spelt.corrected, unknown: spelt.unknown, unembedded })
}

/// A search whose words are resolved.
struct RankedSearch<'a> {
    db: &'a Connection,
    feed: &'a dyn Feed,
    scope: &'a Scope,
    query: &'a Query,
    spelt: &'a ResolvedTerms,
}

struct RankedHits {
    hits: Vec<RawHit>,
    /// Chunks among the best that have no vector.
    unembedded: Vec<ChunkId>,
    /// Whether more chunks have the words than were ranked.
    has_more: bool,
}

impl RankedSearch<'_> {
    /// Ranks the best chunks by keywords, at most `most`, with those that are close in meaning.
    fn among(&self, most: usize) -> Result<RankedHits, Fault> {
        let Self { db, feed, scope, query, spelt } = *self;
        let mut found = candidates::by_words(db, scope, query, &spelt.alternatives.join(" OR "), most)?;
        let has_more = found.len() == most;
        let meaning = match &query.vector {
            Some(vector) => Meaning::of(db, vector)?,
            None => None,
        };
        let unembedded = match &meaning {
            Some(meaning) => weigh_meaning(db, meaning, scope, query, &mut found)?,
            None => Vec::new(),
        };
        for turn in found.iter_mut().filter(|candidate| candidate.spoken == Spoken::Turn) {
            turn.turn_bytes = documents::bytes(db, turn.entry_id)?;
        }
        rank::sort(&mut found, meaning.as_ref().map(|meaning| meaning.chunks), query.now);
        let mut index = SearchedIndex { db, texts: ChunkTexts::new(feed) };
        let hits = load(&mut index, &found, &spelt.words, query.limit)?;
        Ok(RankedHits { hits, unembedded, has_more })
    }
}

/// Sets how close each candidate is in meaning, and adds chunks that are close without sharing a word. Returns the
/// candidates that have no vector.
fn weigh_meaning(
    db: &Connection,
    meaning: &Meaning,
    scope: &Scope,
    query: &Query,
    found: &mut Vec<Candidate>,
) -> rusqlite::Result<Vec<ChunkId>> {
    let ids: Vec<i64> = found.iter().map(|candidate| candidate.id).collect();
    let unembedded = meaning.without_vector(&ids);
    let near = meaning.nearness(db, &ids)?;
    for candidate in found.iter_mut() {
        candidate.near = near.get(&candidate.id).copied().unwrap_or_default();
    }
    if found.len() >= query.limit && meaning.chunks > MAX_COMPARED_CHUNKS {
        return Ok(unembedded);
    }
    let known: HashSet<i64> = ids.into_iter().collect();
    for (id, near) in meaning.nearest(db, MAX_CANDIDATES)? {
        if near >= MIN_SIMILARITY
            && !known.contains(&id)
            && let Some(candidate) = candidates::one(db, scope, query, id)?
        {
            found.push(Candidate { near, ..candidate });
        }
    }
    Ok(unembedded)
}

/// Loads the excerpts of the best candidates. Those that share a passage become one hit; any other text that was
/// already shown is moved to the end.
fn load(
    index: &mut SearchedIndex<'_>,
    found: &[Candidate],
    words: &[String],
    limit: usize,
) -> Result<Vec<RawHit>, Fault> {
    let (mut hits, mut repeated, mut seen) = (Vec::<RawHit>::new(), Vec::new(), HashSet::new());
    for candidate in found {
        if hits.len() == limit {
            break;
        }
        let Some((hit, is_new)) = load_one(index, candidate, words, &mut seen)? else { continue };
        // Without their texts, the chunks of an entry say nothing that the first does not say.
        let is_unread = |other: &RawHit| other.entry_id == hit.entry_id && other.unreadable.is_some();
        if hit.unreadable.is_some() && hits.iter().any(is_unread) {
            continue;
        }
        if let Some(same) = hits.iter_mut().find(|other| other.shares_passage(&hit)) {
            same.absorb(hit);
            continue;
        }
        if is_new { hits.push(hit) } else { repeated.push(hit) }
    }
    let room = limit - hits.len();
    hits.extend(repeated.into_iter().take(room));
    Ok(hits)
}

/// Loads the excerpt of a candidate. Also returns whether its text has not been seen yet.
fn load_one(
    index: &mut SearchedIndex<'_>,
    candidate: &Candidate,
    words: &[String],
    seen: &mut HashSet<String>,
) -> Result<Option<(RawHit, bool)>, Fault> {
    let Some(found) = documents::chunk(index.db, candidate.id)? else { return Ok(None) };
    let is_turn = candidate.spoken == Spoken::Turn;
    let first = if is_turn { documents::first_chunk(index.db, candidate.entry_id)? } else { None };
    let chunk = first.unwrap_or(found);
    let Some(TitledText { title, body, unreadable }) = index.texts.read(&chunk)? else { return Ok(None) };
    let excerpt = if is_turn { excerpt::beginning(&body) } else { excerpt::cut(&body, words) };
    let is_new = seen.insert(format!("{title}\n{body}"));
    let hit = RawHit {
        entry_id: candidate.entry_id,
        ordinal: chunk.ordinal,
        line: chunk.line + excerpt.lines_before,
        partial: excerpt.partial || documents::has_others(index.db, &chunk)?,
        heading: chunk.heading,
        excerpt: excerpt.text,
        unreadable,
        score: candidate.score,
        by_meaning: candidate.words <= 0.0,
        also: Vec::new(),
        kind: candidate.kind,
        spoken: candidate.spoken,
    };
    Ok(Some((hit, is_new)))
}
