//! Finds tools by words and meaning.
//!
//! A tool's score has two parts, each as a share of the best tool's: how well its words fit those of the request
//! (`words.rs`, where synonyms and similar words count too), and how close its texts are to the request as a whole
//! (`meaning.rs`). The numbers were tuned on the
//! requests for development in `tests/fixtures/find`, which are about other servers than the held-out ones.
//!
//! # Invariants
//!
//! - Any text is a valid request, and any text may stand in a card. What is read of either is bounded.
//! - The same tools and the same request give the same order.

mod meaning;
mod synonyms;
mod terms;
mod words;

use meaning::Meaning;
use words::WordIndex;

/// How much of a tool's score is its meaning. The rest is its words.
const MEANING_SHARE: f32 = 0.4;

/// The beginning of a request that is read, in bytes. A longer one is more than the description of a tool's work.
const MAX_REQUEST_BYTES: usize = 1_000;

/// What a search knows about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCard {
    pub server: String,
    pub name: String,
    pub description: String,
    /// Names and descriptions of the parameters.
    pub parameters: Vec<(String, String)>,
}

/// A list of tools, made ready for requests.
#[derive(Debug)]
pub struct Finder {
    words: WordIndex,
    /// `None` in a program without a model. Tools are then found by words only.
    meaning: Option<Meaning>,
}

impl Finder {
    /// Reads the tools. This takes milliseconds, so it is done when something is looked for, and once for each list.
    pub fn new(tools: &[ToolCard]) -> Self {
        let words = WordIndex::new(tools);
        let meaning = weir_embed::built_in().and_then(|model| Meaning::new(model, tools, words.spellings()));
        Self { words, meaning }
    }

    /// Returns the places of the tools that fit a request best, the best first. Tools that have nothing to do with it
    /// are left out, so there may be fewer than `limit`.
    pub fn find(&self, request: &str, limit: usize) -> Vec<usize> {
        let request = terms::beginning(request, MAX_REQUEST_BYTES);
        let wanted = terms::of_request(request);
        let similar = |word: &str| self.meaning.as_ref().map(|meaning| meaning.similar(word)).unwrap_or_default();
        let words = as_shares(self.words.scores(&wanted, similar));
        let near = as_shares(self.meaning.as_ref().map(|meaning| meaning.nearness(request)).unwrap_or_default());
        let share = if near.is_empty() { 0.0 } else { MEANING_SHARE };
        let score = |(place, words): (usize, &f32)| {
            let near = near.get(place).copied().unwrap_or_default();
            (place, (1.0 - share) * words + share * near)
        };
        let mut scored: Vec<(usize, f32)> =
            words.iter().enumerate().map(score).filter(|(_, score)| *score > 0.0).collect();
        scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        scored.into_iter().take(limit).map(|(place, _)| place).collect()
    }
}

/// Returns the places of the tools that fit a request best, the best first. For several requests to the same tools,
/// keep a [`Finder`].
pub fn find(tools: &[ToolCard], request: &str, limit: usize) -> Vec<usize> {
    Finder::new(tools).find(request, limit)
}

/// Divides scores by the best one. Scores below zero count as zero.
fn as_shares(mut scores: Vec<f32>) -> Vec<f32> {
    let best = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    scores.iter_mut().for_each(|score| *score = score.max(0.0) / best);
    scores
}

#[cfg(test)]
mod tests;
