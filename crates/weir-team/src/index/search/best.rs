//! Collects the best records of a project, by words or by meaning. Invariant: each is in the project by its column too,
//! and for the team or for the user who asks.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{BytesColumn, Column};
use tantivy::query::Weight;
use tantivy::schema::Field;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader, TantivyError, Term};
use weir_records::{HostId, RecordId};

use super::super::fields::{Place, columns};
use super::super::vectors::Quantised;

/// The least closeness in meaning of a hit that shares no word with the query.
const MIN_SIMILARITY: Score = 0.25;

/// Collects the best records that the reader may see.
pub(super) struct Wanted {
    pub(super) facts: Field,
    pub(super) project: Term,
    pub(super) place: Place,
    pub(super) reader: String,
    pub(super) since: i64,
    pub(super) limit: usize,
    /// The query as a vector, if there is one.
    pub(super) vector: Option<Quantised>,
    pub(super) ranked_by: RankedBy,
}

/// What makes a record one of the best.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RankedBy {
    Words,
    /// How close it is in meaning, if it is close.
    Meaning,
}

/// A record that was found.
pub(super) struct Found {
    pub(super) id: RecordId,
    pub(super) score: Score,
    /// How close it is in meaning; 0 if that is not known.
    pub(super) near: Score,
    pub(super) at: i64,
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
            meaning: match &self.vector {
                None => None,
                Some(query) => {
                    let vectors = fast.column_opt::<u64>(columns::VECTOR)?;
                    vectors.map(|vectors| SegmentMeaning { query: query.clone(), vectors })
                }
            },
            ranked_by: self.ranked_by,
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

/// The vectors of a segment, and what they are compared with.
struct SegmentMeaning {
    query: Quantised,
    vectors: Column<u64>,
}

/// The best records of one segment.
pub(super) struct Best {
    places: Column<u64>,
    own_place: Option<u64>,
    readers: Option<Readers>,
    hosts: BytesColumn,
    numbers: Column<u64>,
    times: Column<i64>,
    since: i64,
    limit: usize,
    meaning: Option<SegmentMeaning>,
    ranked_by: RankedBy,
    /// The worst is at the top.
    best: BinaryHeap<Reverse<Candidate>>,
}

/// A record of a segment; the greater, the better. Hosts have their numbers in their own order.
struct Candidate {
    doc: DocId,
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
        Some(Candidate { doc, score, at, host: self.hosts.ords().first(doc)?, number: self.numbers.first(doc)? })
    }

    fn found(&self, candidate: &Candidate) -> tantivy::Result<Found> {
        let mut bytes = Vec::new();
        self.hosts.ord_to_bytes(candidate.host, &mut bytes)?;
        let host = <[u8; 16]>::try_from(bytes.as_slice())
            .map_err(|_| TantivyError::SchemaError("a host has another length".into()))?;
        let id = RecordId { host: HostId::from_bytes(host), index: candidate.number };
        let near = self.near(candidate.doc).unwrap_or_default();
        Ok(Found { id, score: candidate.score, near, at: candidate.at })
    }

    /// Returns how close a record is in meaning, if that is known.
    fn near(&self, doc: DocId) -> Option<Score> {
        let SegmentMeaning { query, vectors } = self.meaning.as_ref()?;
        query.cosine(vectors, doc)
    }
}

impl SegmentCollector for Best {
    type Fruit = tantivy::Result<Vec<Found>>;

    fn collect(&mut self, doc: DocId, score: Score) {
        let score = match self.ranked_by {
            RankedBy::Words => score,
            RankedBy::Meaning => match self.near(doc) {
                Some(near) if near >= MIN_SIMILARITY => near,
                _ => return,
            },
        };
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
