//! The index in memory: every document is scored by BM25 for every query.

use std::collections::BTreeMap;
use std::sync::Mutex;

use weir_core::query::{self, Term};
use weir_core::{Scope, words};

use super::{Place, lock, place};
use crate::error::Result;
use crate::id::RecordId;
use crate::ports::{Index, IndexChange, IndexHit, IndexHits, IndexedRecord, Position, SearchQuery, Step};
use crate::record::Audience;

/// The usual constants of BM25.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A word of the title counts as much as this many of the text.
const TITLE_WEIGHT: f64 = 2.0;

#[derive(Debug, Default)]
pub struct MemoryIndex {
    projects: Mutex<BTreeMap<Place, Project>>,
}

#[derive(Debug, Default)]
struct Project {
    position: Position,
    documents: BTreeMap<RecordId, Document>,
}

#[derive(Debug)]
struct Document {
    record: IndexedRecord,
    title: Vec<String>,
    body: Vec<String>,
    /// The parts of names, and pairs of characters of scripts without spaces.
    hidden: Vec<String>,
}

impl Index for MemoryIndex {
    fn position(&self, scope: &Scope) -> Result<Position> {
        Ok(lock(&self.projects).get(&place(scope)).map_or(Position(0), |project| project.position))
    }

    fn apply(&self, scope: &Scope, changes: &[IndexChange], step: Step) -> Result<bool> {
        let mut projects = lock(&self.projects);
        let project = projects.entry(place(scope)).or_default();
        if project.position != step.from {
            return Ok(false);
        }
        for change in changes {
            match change {
                IndexChange::Put(record) => drop(project.documents.insert(record.id, Document::new(record))),
                IndexChange::Remove(id) => drop(project.documents.remove(id)),
            }
        }
        project.position = step.to;
        Ok(true)
    }

    fn search(&self, scope: &Scope, query: &SearchQuery) -> Result<IndexHits> {
        let projects = lock(&self.projects);
        let Some(project) = projects.get(&place(scope)) else { return Ok(IndexHits::default()) };
        let terms = query::terms(&query.text);
        let mut found = project.score(&terms);
        found.retain(|(document, _)| is_wanted(&document.record, scope, query));
        found.sort_by(|(a, a_score), (b, b_score)| {
            let by_age = b.record.at.cmp(&a.record.at).then(a.record.id.cmp(&b.record.id));
            b_score.total_cmp(a_score).then(by_age)
        });
        let hits =
            found.into_iter().take(query.limit).map(|(document, score)| IndexHit { id: document.record.id, score });
        Ok(IndexHits { hits: hits.collect(), used_vector: false })
    }

    fn holds(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64> {
        let projects = lock(&self.projects);
        let has = |id: &&RecordId| projects.get(&place(scope)).is_some_and(|known| known.documents.contains_key(*id));
        Ok(ids.iter().filter(has).count() as u64)
    }

    fn clear(&self, scope: &Scope) -> Result<()> {
        lock(&self.projects).remove(&place(scope));
        Ok(())
    }
}

impl Document {
    fn new(record: &IndexedRecord) -> Self {
        let hidden = words::hidden_words(&format!("{}\n{}", record.title, record.text));
        // The words are enough: the text itself is in its blob.
        let (title, body) = (split(&record.title), split(&record.text));
        let record = IndexedRecord { text: String::new(), ..record.clone() };
        Self { record, title, body, hidden: split(&hidden) }
    }

    /// Returns how often the term occurs, and the length of the document.
    fn count(&self, term: &Term) -> f64 {
        let title = occurrences(&self.title, term) as f64 * TITLE_WEIGHT;
        title + (occurrences(&self.body, term) + occurrences(&self.hidden, term)) as f64
    }

    fn length(&self) -> f64 {
        (self.title.len() + self.body.len()) as f64
    }
}

impl Project {
    fn score(&self, terms: &[Term]) -> Vec<(&Document, f64)> {
        let documents: Vec<&Document> = self.documents.values().collect();
        let mean = documents.iter().map(|document| document.length()).sum::<f64>() / (documents.len() as f64).max(1.0);
        let mut scores = vec![0.0; documents.len()];
        for term in terms {
            let counts: Vec<f64> = documents.iter().map(|document| document.count(term)).collect();
            let having = counts.iter().filter(|count| **count > 0.0).count() as f64;
            let rarity = ((documents.len() as f64 - having + 0.5) / (having + 0.5) + 1.0).ln();
            for ((score, count), document) in scores.iter_mut().zip(&counts).zip(&documents) {
                let length = 1.0 - B + B * document.length() / mean.max(1.0);
                *score += rarity * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        documents.into_iter().zip(scores).filter(|(_, score)| *score > 0.0).collect()
    }
}

fn is_wanted(record: &IndexedRecord, scope: &Scope, query: &SearchQuery) -> bool {
    let is_visible = record.audience == Audience::Team || record.author == scope.user;
    let below = |folder: &str, source: &str| {
        let folder = folder.trim_end_matches('/');
        source.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_visible
        && query.kind.is_none_or(|kind| record.kind == kind)
        && query.author.as_ref().is_none_or(|author| record.author == *author)
        && query.since.is_none_or(|since| record.at >= since)
        && query
            .source
            .as_deref()
            .is_none_or(|wanted| record.source.as_deref().is_some_and(|source| below(wanted, source)))
}

fn split(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    words::each_word(text, |word| found.push(word.to_lowercase()));
    found
}

fn occurrences(words: &[String], term: &Term) -> usize {
    let matches = |found: &[String]| {
        let last = term.words.len() - 1;
        found.iter().zip(&term.words).enumerate().all(|(at, (found, wanted))| {
            if at == last && term.prefix { found.starts_with(wanted.as_str()) } else { found == wanted }
        })
    };
    if term.words.is_empty() { 0 } else { words.windows(term.words.len()).filter(|found| matches(found)).count() }
}
