//! The ceiling: our full text fused with the vectors of a model that is too heavy to ship.
//!
//! `tools/ceiling/embed.py` makes the vectors, one row for each line of a set's documents and questions.

use std::collections::HashMap;
use std::path::Path;

use super::set::Set;
use super::{MAX_RANKING_DEPTH, RankedDocument, Rankings};

/// The width of all-MiniLM-L6-v2.
const WIDTH: usize = 384;
/// The weight of meaning; the rest is the weight of words.
const MEANING_WEIGHT: f64 = 0.5;

/// Returns full-text rankings fused with the vectors in a folder, or `None` if they do not exist.
pub(crate) fn rank(set: &Set, folder: &Path, words: &Rankings) -> Option<Rankings> {
    let documents = read(&folder.join(format!("{}.documents.f32", set.name)))?;
    let queries = read(&folder.join(format!("{}.queries.f32", set.name)))?;
    let rows = rows_of(set);
    assert_eq!(documents.len(), rows.len() * WIDTH, "{}: vectors of another state of the documents", set.name);
    let groups = set.groups();
    let mut by_document: HashMap<usize, Vec<usize>> = HashMap::new();
    for (row, document) in rows.into_iter().enumerate() {
        by_document.entry(document).or_default().push(row);
    }
    let fused = set.questions.iter().enumerate().map(|(asked, question)| {
        let query = row(&queries, asked);
        let near = |document: &usize| {
            let best = by_document[document].iter().map(|&at| cosine(query, row(&documents, at)));
            (*document, best.fold(f64::MIN, f64::max))
        };
        fuse(groups[question.group.as_str()].iter().map(near).collect(), &words[asked])
    });
    Some(fused.collect())
}

/// Returns the convex combination of cosine and score, the score divided by the best of its question.
fn fuse(near: Vec<(usize, f64)>, words: &[RankedDocument]) -> Vec<RankedDocument> {
    let most = words.iter().map(|ranked| ranked.score).fold(f64::MIN_POSITIVE, f64::max);
    let mut best: HashMap<usize, &RankedDocument> = HashMap::new();
    for ranked in words {
        best.entry(ranked.document).or_insert(ranked);
    }
    let mut fused: Vec<RankedDocument> = near
        .into_iter()
        .map(|(document, cosine)| {
            let by_words = best.get(&document);
            let score =
                MEANING_WEIGHT * cosine + (1.0 - MEANING_WEIGHT) * by_words.map_or(0.0, |ranked| ranked.score / most);
            RankedDocument { document, score, shown: by_words.map_or_else(String::new, |ranked| ranked.shown.clone()) }
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score));
    fused.truncate(MAX_RANKING_DEPTH);
    fused
}

/// Returns the document of each row of vectors: the public sets have a row for each document, ours for each span.
fn rows_of(set: &Set) -> Vec<usize> {
    let all: Vec<usize> = (0..set.documents.len()).collect();
    if set.name != "own" {
        return all;
    }
    set.pieces(&all).iter().map(|piece| piece.document).collect()
}

fn read(path: &Path) -> Option<Vec<f32>> {
    let bytes = std::fs::read(path).ok()?;
    Some(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

fn row(vectors: &[f32], at: usize) -> &[f32] {
    &vectors[at * WIDTH..(at + 1) * WIDTH]
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}
