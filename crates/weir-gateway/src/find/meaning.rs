//! Compares requests with tools, and words with each other, by the vectors of a model.

use weir_embed::{Embed as _, StaticModel};

use super::ToolCard;
use super::terms;

/// How much a tool's closest sentence counts, next to its name with the first sentence.
const SENTENCE_WEIGHT: f32 = 0.6;
/// Words that are less alike have nothing in common. The cosine of unrelated words is around zero.
const MIN_WORD_COSINE: f32 = 0.2;
/// How much a word of the same meaning counts.
const SIMILAR_DISCOUNT: f32 = 0.7;

/// How much is read of a tool.
const MAX_NAME_BYTES: usize = 200;
const MAX_DESCRIPTION_BYTES: usize = 4_000;
const MAX_SENTENCES: usize = 12;
const MIN_SENTENCE_BYTES: usize = 15;

/// The vectors of a list of tools.
#[derive(Debug)]
pub(super) struct Meaning {
    model: &'static StaticModel,
    tools: Vec<ToolVectors>,
    words: Vec<Option<Vec<f32>>>,
}

#[derive(Debug)]
struct ToolVectors {
    /// The name with the first sentence.
    summary: Option<Vec<f32>>,
    sentences: Vec<Vec<f32>>,
}

impl Meaning {
    /// Returns the vectors of some tools and words, or `None` if the model fails.
    pub(super) fn new(model: &'static StaticModel, tools: &[ToolCard], words: &[String]) -> Option<Self> {
        let spellings: Vec<&str> = words.iter().map(String::as_str).collect();
        let words = model.embed(&spellings).ok()?;
        let tools = tools.iter().map(|tool| ToolVectors::of(model, tool)).collect::<Option<_>>()?;
        Some(Self { model, tools, words })
    }

    /// Returns the places of the words that mean something similar, and how much each counts.
    pub(super) fn similar(&self, word: &str) -> Vec<(usize, f32)> {
        let Some(wanted) = self.vector(word) else { return Vec::new() };
        let cosines = self.words.iter().map(|vector| vector.as_ref().map_or(0.0, |vector| dot(&wanted, vector)));
        let discount = |cosine: f32| SIMILAR_DISCOUNT * (cosine - MIN_WORD_COSINE) / (1.0 - MIN_WORD_COSINE);
        let alike = cosines.enumerate().filter(|(_, cosine)| *cosine > MIN_WORD_COSINE);
        alike.map(|(place, cosine)| (place, discount(cosine))).collect()
    }

    /// Returns how close each tool is to a request. There is nothing to return if the request has no vector.
    pub(super) fn nearness(&self, request: &str) -> Vec<f32> {
        let Some(wanted) = self.vector(request) else { return Vec::new() };
        self.tools.iter().map(|tool| tool.nearness(&wanted)).collect()
    }

    fn vector(&self, text: &str) -> Option<Vec<f32>> {
        self.model.embed(&[text]).ok()?.pop()?
    }
}

impl ToolVectors {
    fn of(model: &StaticModel, tool: &ToolCard) -> Option<Self> {
        let words = terms::of(terms::beginning(&tool.name, MAX_NAME_BYTES));
        let name = words.iter().map(|term| term.spelling.as_str()).collect::<Vec<_>>().join(" ");
        let description = terms::beginning(&tool.description, MAX_DESCRIPTION_BYTES);
        let summary = format!("{name} {}", terms::first_sentence(description).0);
        let sentences = description.split(['.', '\n', ';']).filter(|text| text.len() > MIN_SENTENCE_BYTES);
        let texts: Vec<&str> = [summary.as_str()].into_iter().chain(sentences.take(MAX_SENTENCES)).collect();
        let mut vectors = model.embed(&texts).ok()?.into_iter();
        Some(Self { summary: vectors.next()?, sentences: vectors.flatten().collect() })
    }

    fn nearness(&self, wanted: &[f32]) -> f32 {
        let closest = self.sentences.iter().map(|sentence| dot(wanted, sentence)).fold(0.0, f32::max);
        self.summary.as_ref().map_or(0.0, |summary| dot(wanted, summary)) + SENTENCE_WEIGHT * closest
    }
}

/// Adds up in eight lanes, which a compiler turns into vector instructions; it may not change the order of a plain sum.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut lanes = [0.0; 8];
    for (a, b) in a.0.iter().zip(b.0) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * b;
        }
    }
    let rest: f32 = a.1.iter().zip(b.1).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f32>() + rest
}
