//! Answers searches.
//!
//! Invariants: a hit is in the project of the scope by its terms and by its column; it is for the team or for the user.
//! The score of a record depends on the records of its project only, so nothing can be told from it about others. The
//! same records give the same answer, however they came into the index: every match is scored, since skipping blocks of
//! postings relies on the mean length of the documents around them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{BytesColumn, Column};
use tantivy::query::{
    Bm25StatisticsProvider, BooleanQuery, ConstScoreQuery, PhrasePrefixQuery, PhraseQuery, Query, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Score, Searcher, SegmentOrdinal, SegmentReader, TantivyError, Term};
use weir_core::query::Term as QueryTerm;
use weir_core::{Scope, query as core_query};
use weir_records::{HostId, IndexHit, IndexHits, RecordId, SearchQuery};

use super::analysis::query_token;
use super::fields::{Fact, Fields, Place, columns, name_of_user};
use super::lookup::segments_with;
use super::progress::ProjectState;

/// What a word that only begins like one of the query counts, since it has no rarity of its own.
const PREFIX_SCORE: Score = 1.0;

/// Searches one project, whose state is `state`.
pub(super) fn search(
    searcher: &Searcher,
    fields: &Fields,
    scope: &Scope,
    query: &SearchQuery,
    state: ProjectState,
) -> tantivy::Result<IndexHits> {
    let place = Place::of(scope);
    let words: Vec<Box<dyn Query>> =
        core_query::terms(&query.text).iter().filter_map(|term| words_query(fields, &place, term)).collect();
    if query.limit == 0 || words.is_empty() {
        return Ok(IndexHits::default());
    }
    let mut parts = filters(fields, &place, query);
    parts.push(Box::new(BooleanQuery::union(words)));
    let wanted = Wanted {
        facts: fields.facts,
        project: fields.fact(Fact::Project(&place)),
        place,
        reader: name_of_user(&scope.user),
        since: query.since.map_or(i64::MIN, |since| since.0),
        limit: query.limit,
    };
    let statistics = Statistics::new(segments_with(searcher, fields, &wanted.project)?, &wanted.project, state)?;
    let found = searcher.search_with_statistics_provider(&BooleanQuery::intersection(parts), &wanted, &statistics)?;
    let hits = found.into_iter().map(|found| IndexHit { id: found.id, score: f64::from(found.score) });
    Ok(IndexHits { hits: hits.collect(), used_vector: false })
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
    let filter = |fact: Fact<'_>| -> Box<dyn Query> {
        let query = TermQuery::new(fields.fact(fact), IndexRecordOption::Basic);
        Box::new(ConstScoreQuery::new(Box::new(query), 0.0))
    };
    [kind, author, source].into_iter().flatten().map(filter).collect()
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

/// Collects the best records that the reader may see.
struct Wanted {
    facts: Field,
    project: Term,
    place: Place,
    reader: String,
    since: i64,
    limit: usize,
}

/// A record that was found.
struct Found {
    id: RecordId,
    score: Score,
    at: i64,
}

impl Found {
    /// Orders by rank: the best first, of equally good ones the newest.
    fn rank(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(other.at.cmp(&self.at)).then(self.id.cmp(&other.id))
    }
}

impl Collector for Wanted {
    type Fruit = Vec<Found>;
    type Child = Best;

    fn for_segment(&self, _segment: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<Best> {
        let fast = reader.fast_fields();
        let missing = || TantivyError::SchemaError("a column is missing".into());
        let place = fast.str(columns::PLACE)?.ok_or_else(missing)?;
        let own_place = place.dictionary().term_ord(self.place.project.as_bytes())?;
        // A segment that has only records for the team has no such column.
        let readers = match fast.str(columns::READER)? {
            None => None,
            Some(readers) => {
                let own = readers.dictionary().term_ord(self.reader.as_bytes())?;
                Some(Readers { only: readers.ords().clone(), own })
            }
        };
        Ok(Best {
            places: place.ords().clone(),
            own_place,
            readers,
            hosts: fast.bytes(columns::HOST)?.ok_or_else(missing)?,
            numbers: fast.u64(columns::NUMBER)?,
            times: fast.i64(columns::AT)?,
            since: self.since,
            limit: self.limit,
            best: BinaryHeap::new(),
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn collect_segment(
        &self,
        weight: &dyn Weight,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<tantivy::Result<Vec<Found>>> {
        // Most segments have nothing of a small tenant.
        if reader.inverted_index(self.facts)?.doc_freq(&self.project)? == 0 {
            return Ok(Ok(Vec::new()));
        }
        let mut best = self.for_segment(segment, reader)?;
        weight.for_each(reader, &mut |doc, score| {
            if !reader.is_deleted(doc) {
                best.collect(doc, score);
            }
        })?;
        Ok(best.harvest())
    }

    fn merge_fruits(&self, fruits: Vec<tantivy::Result<Vec<Found>>>) -> tantivy::Result<Vec<Found>> {
        let mut found = Vec::new();
        for fruit in fruits {
            found.append(&mut fruit?);
        }
        found.sort_by(Found::rank);
        found.truncate(self.limit);
        Ok(found)
    }
}

/// Who sees the private records of a segment.
struct Readers {
    /// The only reader of each private record.
    only: Column<u64>,
    /// The number of the reader who asks, if any record here is theirs.
    own: Option<u64>,
}

/// The best records of one segment.
struct Best {
    places: Column<u64>,
    own_place: Option<u64>,
    readers: Option<Readers>,
    hosts: BytesColumn,
    numbers: Column<u64>,
    times: Column<i64>,
    since: i64,
    limit: usize,
    /// The worst is at the top.
    best: BinaryHeap<Reverse<Candidate>>,
}

/// A record of a segment; the greater, the better. Hosts have their numbers in their own order.
struct Candidate {
    score: Score,
    at: i64,
    host: u64,
    number: u64,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_id = (other.host, other.number).cmp(&(self.host, self.number));
        self.score.total_cmp(&other.score).then(self.at.cmp(&other.at)).then(by_id)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl Best {
    /// Returns a record as a candidate, if the reader may see it and asked for it.
    fn candidate(&self, doc: DocId, score: Score) -> Option<Candidate> {
        let is_here = self.own_place.is_some() && self.places.first(doc) == self.own_place;
        let only_reader = self.readers.as_ref().and_then(|readers| Some((readers.only.first(doc)?, readers.own)));
        let is_visible = only_reader.is_none_or(|(only, own)| own == Some(only));
        let at = self.times.first(doc)?;
        if !is_here || !is_visible || at < self.since {
            return None;
        }
        Some(Candidate { score, at, host: self.hosts.ords().first(doc)?, number: self.numbers.first(doc)? })
    }

    fn found(&self, candidate: &Candidate) -> tantivy::Result<Found> {
        let mut bytes = Vec::new();
        self.hosts.ord_to_bytes(candidate.host, &mut bytes)?;
        let host = <[u8; 16]>::try_from(bytes.as_slice())
            .map_err(|_| TantivyError::SchemaError("a host has another length".into()))?;
        let id = RecordId { host: HostId::from_bytes(host), index: candidate.number };
        Ok(Found { id, score: candidate.score, at: candidate.at })
    }
}

impl SegmentCollector for Best {
    type Fruit = tantivy::Result<Vec<Found>>;

    fn collect(&mut self, doc: DocId, score: Score) {
        let is_full = self.best.len() >= self.limit;
        // Most records end here, before their columns are read.
        if is_full && self.best.peek().is_some_and(|Reverse(worst)| score < worst.score) {
            return;
        }
        if let Some(candidate) = self.candidate(doc, score) {
            self.best.push(Reverse(candidate));
            if is_full {
                self.best.pop();
            }
        }
    }

    fn harvest(self) -> tantivy::Result<Vec<Found>> {
        self.best.iter().map(|Reverse(candidate)| self.found(candidate)).collect()
    }
}
