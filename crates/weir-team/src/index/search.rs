//! Answers searches.
//!
//! Invariants: a hit is in the project of the scope by its terms and by its column; it is for the team or for the user.
//! The score of a record depends on the records of its project only, so nothing can be told from it about others. The
//! same records give the same answer, however they came into the index: every match is scored, since skipping blocks of
//! postings relies on the mean length of the documents around them; and every vector of the project is compared.

mod best;

use std::collections::BTreeSet;

use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, ConstScoreQuery, PhrasePrefixQuery, PhraseQuery, Query, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Score, Searcher, SegmentReader, Term};
use weir_core::query::Term as QueryTerm;
use weir_core::{Scope, query as core_query};
use weir_records::{IndexHit, IndexHits, RecordId, SearchQuery};

use self::best::{Found, RankedBy, Wanted};
use super::analysis::query_token;
use super::fields::{Fact, Fields, Place, name_of_user};
use super::lookup::segments_with;
use super::progress::ProjectState;
use super::vectors::Quantised;

/// What a word that only begins like one of the query counts, since it has no rarity of its own.
const PREFIX_SCORE: Score = 1.0;

/// How many of the best records by words, and of the closest in meaning, are ranked together.
const MAX_CANDIDATES: usize = 100;
/// How many records a project may have for meaning to count half. It counts less in a larger one, where something is
/// always close.
const SMALL_PROJECT_RECORDS: u64 = 10_000;
const SMALL_PROJECT_MEANING_SHARE: f64 = 0.5;
const LARGE_PROJECT_MEANING_SHARE: f64 = 0.3;

/// What is searched for.
pub(super) struct Asked<'a> {
    pub(super) scope: &'a Scope,
    pub(super) query: &'a SearchQuery,
    /// The state of the scope's project.
    pub(super) state: ProjectState,
    /// The query as a vector, if the index has vectors of the same model.
    pub(super) vector: Option<Quantised>,
}

/// Searches one project.
pub(super) fn search(searcher: &Searcher, fields: &Fields, asked: &Asked<'_>) -> tantivy::Result<IndexHits> {
    let Asked { scope, query, state, vector } = asked;
    let place = Place::of(scope);
    let words: Vec<Box<dyn Query>> =
        core_query::terms(&query.text).iter().filter_map(|term| words_query(fields, &place, term)).collect();
    if query.limit == 0 || words.is_empty() {
        return Ok(IndexHits::default());
    }
    let mut by_words = filters(fields, &place, query);
    by_words.push(Box::new(BooleanQuery::union(words)));
    let mut by_meaning = filters(fields, &place, query);
    by_meaning.push(filter(fields, Fact::Project(&place)));
    let limit = if vector.is_some() { query.limit.max(MAX_CANDIDATES) } else { query.limit };
    let wanted = Wanted {
        facts: fields.facts,
        project: fields.fact(Fact::Project(&place)),
        place,
        reader: name_of_user(&scope.user),
        since: query.since.map_or(i64::MIN, |since| since.0),
        limit,
        vector: vector.clone(),
        ranked_by: RankedBy::Words,
    };
    let statistics = Statistics::new(segments_with(searcher, fields, &wanted.project)?, &wanted.project, *state)?;
    let by_words = BooleanQuery::intersection(by_words);
    let found = searcher.search_with_statistics_provider(&by_words, &wanted, &statistics)?;
    let mut hits = if vector.is_some() {
        let wanted = Wanted { ranked_by: RankedBy::Meaning, ..wanted };
        let by_meaning = BooleanQuery::intersection(by_meaning);
        let close = searcher.search_with_statistics_provider(&by_meaning, &wanted, &statistics)?;
        together(found, close, state.documents)
    } else {
        found.iter().map(|found| IndexHit { id: found.id, score: f64::from(found.score) }).collect()
    };
    hits.truncate(query.limit);
    Ok(IndexHits { hits, used_vector: vector.is_some() })
}

/// Ranks what was found by words together with what is close in meaning, as a developer's own store does: the sum of
/// both, each as a share of its maximum.
fn together(by_words: Vec<Found>, close: Vec<Found>, documents: u64) -> Vec<IndexHit> {
    let best = by_words.iter().map(|found| f64::from(found.score)).fold(f64::MIN_POSITIVE, f64::max);
    let share =
        if documents <= SMALL_PROJECT_RECORDS { SMALL_PROJECT_MEANING_SHARE } else { LARGE_PROJECT_MEANING_SHARE };
    let known: BTreeSet<RecordId> = by_words.iter().map(|found| found.id).collect();
    let others = close.into_iter().filter(|found| !known.contains(&found.id));
    let mut all = by_words;
    all.extend(others.map(|found| Found { score: 0.0, ..found }));
    let score = |found: &Found| share * f64::from(found.near) + (1.0 - share) * f64::from(found.score) / best;
    all.sort_by(|one, other| {
        let by_time = other.at.cmp(&one.at).then(one.id.cmp(&other.id));
        score(other).total_cmp(&score(one)).then(by_time)
    });
    all.iter().map(|found| IndexHit { id: found.id, score: score(found) }).collect()
}

/// Returns the query for words that must follow one another.
fn words_query(fields: &Fields, place: &Place, term: &QueryTerm) -> Option<Box<dyn Query>> {
    let tokens = term.words.iter().filter_map(|word| query_token(&place.project, word));
    let mut terms: Vec<Term> = tokens.map(|token| Term::from_field_text(fields.words, &token)).collect();
    if term.prefix && !terms.is_empty() {
        let mut query = PhrasePrefixQuery::new(terms);
        query.set_max_expansions(u32::MAX);
        return Some(Box::new(ConstScoreQuery::new(Box::new(query), PREFIX_SCORE)));
    }
    match terms.len() {
        0 | 1 => {
            let term = terms.pop()?;
            Some(Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)))
        }
        _ => Some(Box::new(PhraseQuery::new(terms))),
    }
}

/// Returns the filters of a query. They do not count in the score.
fn filters(fields: &Fields, place: &Place, query: &SearchQuery) -> Vec<Box<dyn Query>> {
    let kind = query.kind.map(|kind| Fact::Kind(place, kind));
    let author = query.author.as_ref().map(|author| Fact::Author(place, author));
    let source = query.source.as_deref().map(|source| Fact::Source(place, source.trim_end_matches('/')));
    [kind, author, source].into_iter().flatten().map(|fact| filter(fields, fact)).collect()
}

fn filter(fields: &Fields, fact: Fact<'_>) -> Box<dyn Query> {
    let query = TermQuery::new(fields.fact(fact), IndexRecordOption::Basic);
    Box::new(ConstScoreQuery::new(Box::new(query), 0.0))
}

/// The figures that BM25 needs, of one project.
struct Statistics<'a> {
    /// The segments that have records of the project.
    segments: Vec<&'a SegmentReader>,
    documents: u64,
    words: u64,
}

impl<'a> Statistics<'a> {
    fn new(segments: Vec<&'a SegmentReader>, project: &Term, state: ProjectState) -> tantivy::Result<Self> {
        // Counted in the same files as the words, so that no word is in more documents than there are.
        let documents = documents_with(&segments, project)?;
        let mean = state.words as f64 / state.documents.max(1) as f64;
        Ok(Self { segments, documents, words: (mean * documents as f64).max(1.0) as u64 })
    }
}

fn documents_with(segments: &[&SegmentReader], term: &Term) -> tantivy::Result<u64> {
    let mut documents = 0;
    for segment in segments {
        documents += u64::from(segment.inverted_index(term.field())?.doc_freq(term)?);
    }
    Ok(documents)
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, _field: Field) -> tantivy::Result<u64> {
        Ok(self.words)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        documents_with(&self.segments, term)
    }
}
