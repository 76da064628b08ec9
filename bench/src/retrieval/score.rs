//! Scores rankings.

use std::collections::HashSet;

use super::set::{Question, Set};
use super::{RankedDocument, Rankings};

/// The figures of one question, or their mean over many.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Score {
    /// The share of the right documents among the first 1, 5 and 10.
    pub recall: [f64; 3],
    pub ndcg: f64,
    pub reciprocal: f64,
    /// Whether the answer is in the excerpts shown for the first five.
    pub shown: f64,
}

/// The figures of questions whose newest evidence is the right one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NewestScore {
    pub questions: usize,
    /// The share of questions for which the newest is above the older.
    pub above: f64,
    /// The share of questions for which the newest is the first hit.
    pub first: f64,
    /// nDCG of the other questions.
    pub others: f64,
}

const CUTS: [usize; 3] = [1, 5, 10];
const NDCG_DEPTH: usize = 10;
const SHOWN_HITS: usize = 5;

impl Score {
    pub(crate) fn mean(scores: &[Self]) -> Self {
        let count = scores.len().max(1) as f64;
        let mean = |value: &dyn Fn(&Self) -> f64| scores.iter().map(value).sum::<f64>() / count;
        Self {
            recall: [0, 1, 2].map(|cut| mean(&|score: &Self| score.recall[cut])),
            ndcg: mean(&|score| score.ndcg),
            reciprocal: mean(&|score| score.reciprocal),
            shown: mean(&|score| score.shown),
        }
    }
}

pub(crate) fn scores(set: &Set, rankings: &Rankings, chosen: &[usize]) -> Vec<Score> {
    chosen.iter().map(|&asked| score(set, &rankings[asked], &set.questions[asked])).collect()
}

fn score(set: &Set, ranking: &[RankedDocument], question: &Question) -> Score {
    let grades = grades_of(set, ranking, question);
    let right = question.grades.len() as f64;
    let found = |cut: usize| grades.iter().take(cut).filter(|grade| **grade > 0).count() as f64 / right;
    let first = grades.iter().position(|grade| *grade > 0);
    let shown = question.answer.as_ref().is_some_and(|answer| {
        ranking.iter().take(SHOWN_HITS).any(|ranked| spaced(&ranked.shown).contains(&spaced(answer)))
    });
    Score {
        recall: CUTS.map(found),
        ndcg: gain(grades.iter().copied()) / gain(std::iter::repeat_n(1, question.grades.len())),
        reciprocal: first.map_or(0.0, |place| 1.0 / (place + 1) as f64),
        shown: f64::from(u8::from(shown)),
    }
}

/// Returns the figures of the chosen questions that ask for the newest evidence, or `None` if there are none.
pub(crate) fn newest(set: &Set, rankings: &Rankings, chosen: &[usize]) -> Option<NewestScore> {
    let (updates, others): (Vec<usize>, Vec<usize>) =
        chosen.iter().partition(|&&asked| set.questions[asked].is_update());
    if updates.is_empty() {
        return None;
    }
    let mut newest = NewestScore { questions: updates.len(), ..NewestScore::default() };
    for &asked in &updates {
        let grades = grades_of(set, &rankings[asked], &set.questions[asked]);
        let place = |wanted: u8| grades.iter().position(|grade| *grade == wanted);
        let above = place(2).is_some_and(|new| place(1).is_none_or(|old| new < old));
        newest.above += f64::from(u8::from(above)) / updates.len() as f64;
        newest.first += f64::from(u8::from(place(2) == Some(0))) / updates.len() as f64;
    }
    newest.others = Score::mean(&scores(set, rankings, &others)).ndcg;
    Some(newest)
}

/// Returns the grades of the documents in the order they were found, each document once.
fn grades_of(set: &Set, ranking: &[RankedDocument], question: &Question) -> Vec<u8> {
    let mut seen = HashSet::new();
    let documents = ranking.iter().map(|ranked| &set.documents[ranked.document].id).filter(|id| seen.insert(*id));
    documents.map(|id| question.grades.get(id).copied().unwrap_or(0)).collect()
}

/// Sums up the relevant documents, discounted by their position. The newest counts no more than the older here: their
/// order has separate figures.
fn gain(grades: impl Iterator<Item = u8>) -> f64 {
    let right = grades.take(NDCG_DEPTH).enumerate().filter(|(_, grade)| *grade > 0);
    // The sum of nothing would be -0.
    right.map(|(place, _)| 1.0 / (place as f64 + 2.0).log2()).fold(0.0, |sum, gain| sum + gain)
}

/// Collapses every run of white space into one space, since lines are broken anywhere.
pub(crate) fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
