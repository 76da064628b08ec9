//! What a search found, as data.

use schemars::JsonSchema;
use serde::Serialize;
use weir_core::{EntryKind, Origin};
use weir_host::answer::references;
use weir_host::choice::Choice;
use weir_host::when;
use weir_knowledge::mapping::FoundSymbol;
use weir_knowledge::staleness::Doubt;
use weir_store::Hit;

use super::{Doubts, QueryResult};

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchData {
    /// The queries, in the order they were asked.
    pub(crate) queries: Vec<QueryData>,
}

/// What one query found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct QueryData {
    query: String,
    /// Whether there are more hits than requested.
    more: bool,
    /// Words that were not found as written, each with a word that was searched for too.
    corrected: Vec<(String, String)>,
    /// Words that nothing resembles.
    unknown: Vec<String>,
    /// The number of chunks that have no vector yet, and so were matched by their words only.
    without_vectors: u64,
    /// Whether indexing was not finished.
    behind: bool,
    /// Entries that were matched by their title only, because their text cannot be read.
    unreadable: Vec<String>,
    /// What could not be searched, and why.
    left_out: Vec<String>,
    hits: Vec<HitData>,
    /// Symbols of the project's files.
    symbols: Vec<SymbolData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct HitData {
    reference: String,
    kind: Choice<EntryKind>,
    /// Who wrote the text.
    origin: Choice<Origin>,
    title: String,
    source: Option<String>,
    at: String,
    topic: Option<String>,
    superseded_by: Option<String>,
    /// Other entries with the same passage.
    also: Vec<String>,
    /// The headings, symbols or keys above the excerpt.
    heading: String,
    /// How well the hit matches, as a share of the best hit's. Scores of two queries cannot be compared.
    score: f64,
    /// Whether the hit shares no word with the query.
    by_meaning: bool,
    /// Facts that speak against the entry.
    doubts: Vec<Doubt>,
    /// The line where the excerpt begins, from 1.
    line: u64,
    /// Empty if the text cannot be read.
    excerpt: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SymbolData {
    path: String,
    line: u32,
    name: String,
    signature: String,
    doc: String,
}

impl SearchData {
    pub(super) fn of(found: &[QueryResult], doubts: &Doubts) -> Self {
        Self { queries: found.iter().map(|one| QueryData::of(one, doubts)).collect() }
    }
}

impl QueryData {
    fn of(found: &QueryResult, doubts: &Doubts) -> Self {
        let findings = &found.findings;
        let best = findings.hits.iter().map(|hit| hit.score).fold(f64::MIN_POSITIVE, f64::max);
        Self {
            query: found.query.text.clone(),
            more: found.more,
            corrected: findings.corrected.clone(),
            unknown: findings.unknown.clone(),
            without_vectors: findings.without_vectors,
            behind: findings.behind,
            unreadable: references(&[findings.lost.as_slice(), &findings.unavailable].concat()),
            left_out: found.left_out.clone(),
            hits: findings.hits.iter().map(|hit| HitData::of(hit, best, doubts)).collect(),
            symbols: found.symbols.iter().map(SymbolData::of).collect(),
        }
    }
}

impl HitData {
    fn of(hit: &Hit, best: f64, doubts: &Doubts) -> Self {
        let entry = &hit.entry;
        Self {
            reference: entry.reference.to_string(),
            kind: Choice(entry.kind),
            origin: Choice(entry.origin),
            title: entry.title.clone(),
            source: entry.source.clone(),
            at: when::show(entry.at),
            topic: entry.note.as_ref().and_then(|note| note.topic.clone()),
            superseded_by: entry.superseded_by.map(|reference| reference.to_string()),
            also: references(&hit.also),
            heading: hit.heading.clone(),
            score: (hit.score / best * 1000.0).round() / 1000.0,
            by_meaning: hit.by_meaning,
            doubts: doubts.get(&entry.reference).cloned().unwrap_or_default(),
            line: hit.line,
            excerpt: hit.excerpt.clone(),
        }
    }
}

impl SymbolData {
    fn of(found: &FoundSymbol) -> Self {
        let symbol = found.symbol.clone();
        let (name, signature, doc) = (symbol.path, symbol.signature, symbol.doc);
        Self { path: found.file.clone(), line: symbol.line, name, signature, doc }
    }
}
