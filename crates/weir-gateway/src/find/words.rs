//! Scores tools by their words, as BM25F does: the fields of a tool count differently, and rare words count most.
//!
//! A word of a request also finds its synonyms and words of similar meaning, at a discount. It is as rare as all of
//! these together, so that an unusual word for a usual thing does not outweigh the rest of the request.

use std::collections::HashMap;

use super::ToolCard;
use super::synonyms::Synonyms;
use super::terms::{self, Term};

/// How much a word counts in each field of a tool, in the order of [`fields`].
const FIELD_WEIGHTS: [f32; FIELDS] = [3.0, 2.0, 3.0, 0.7, 0.7, 0.2];
const FIELDS: usize = 6;
/// How fast repeating a word stops counting: `k1` of BM25.
const SATURATION: f32 = 1.2;
/// How much a long field dilutes its words: `b` of BM25.
const LENGTH_SHARE: f32 = 0.4;
const SYNONYM_DISCOUNT: f32 = 0.9;
/// How much a word counts that begins with the one of the request, as in `mongo` and `mongodb`.
const PREFIX_DISCOUNT: f32 = 0.8;
const MIN_PREFIX_BYTES: usize = 4;
/// How much less words at a discount count when it is judged how many tools a word fits.
const RARITY_EXPONENT: i32 = 2;

/// How much is read of a tool, so that a server cannot buy attention, or memory, by length.
const MAX_NAME_BYTES: usize = 200;
const MAX_DESCRIPTION_BYTES: usize = 700;
const MAX_PARAMETERS: usize = 40;
const MAX_PARAMETER_BYTES: usize = 300;

/// The words of a list of tools.
#[derive(Debug)]
pub(super) struct WordIndex {
    places: HashMap<String, usize>,
    spellings: Vec<String>,
    /// For each word, the tools that have it and how much it counts there.
    tools: Vec<Vec<(usize, f32)>>,
    tool_count: usize,
    synonyms: Synonyms,
}

impl WordIndex {
    pub(super) fn new(tools: &[ToolCard]) -> Self {
        let fields: Vec<[Vec<Term>; FIELDS]> = tools.iter().map(fields).collect();
        let mean: [f32; FIELDS] = std::array::from_fn(|field| {
            let words: usize = fields.iter().filter_map(|fields| fields.get(field)).map(Vec::len).sum();
            (words as f32 / tools.len().max(1) as f32).max(1.0)
        });
        let mut index = Self {
            places: HashMap::new(),
            spellings: Vec::new(),
            tools: Vec::new(),
            tool_count: tools.len(),
            synonyms: Synonyms::new(),
        };
        for (tool, fields) in fields.into_iter().enumerate() {
            for ((terms, weight), mean) in fields.into_iter().zip(FIELD_WEIGHTS).zip(mean) {
                let length = 1.0 - LENGTH_SHARE + LENGTH_SHARE * terms.len() as f32 / mean;
                terms.into_iter().for_each(|term| index.add(term, tool, weight / length));
            }
        }
        index
    }

    /// Returns each word of the index once, as it is spelt somewhere.
    pub(super) fn spellings(&self) -> &[String] {
        &self.spellings
    }

    /// Returns the score of each tool. `similar` gives places of words in [`WordIndex::spellings`], and their discount.
    pub(super) fn scores(&self, wanted: &[Term], similar: impl Fn(&str) -> Vec<(usize, f32)>) -> Vec<f32> {
        let mut scores = vec![0.0; self.tool_count];
        for term in wanted {
            let fits = self.fits(&self.forms(term, similar(&term.spelling)));
            let rarity = self.rarity(fits.iter().map(|fit| fit.discount.powi(RARITY_EXPONENT)).sum());
            scores.iter_mut().zip(fits).for_each(|(score, fit)| *score += rarity * fit.score);
        }
        scores
    }

    fn add(&mut self, term: Term, tool: usize, weight: f32) {
        let next = self.tools.len();
        let place = *self.places.entry(term.stem).or_insert(next);
        if place == next {
            self.spellings.push(term.spelling);
            self.tools.push(Vec::new());
        }
        let Some(tools) = self.tools.get_mut(place) else { return };
        match tools.last_mut() {
            Some((last, sum)) if *last == tool => *sum += weight,
            _ => tools.push((tool, weight)),
        }
    }

    /// Returns the places of the words that stand for a word, and how much each counts.
    fn forms(&self, term: &Term, similar: Vec<(usize, f32)>) -> Vec<(usize, f32)> {
        let mut forms = similar;
        let synonyms = self.synonyms.of(&term.stem).iter();
        forms.extend(synonyms.filter_map(|synonym| Some((*self.places.get(synonym)?, SYNONYM_DISCOUNT))));
        if term.stem.len() >= MIN_PREFIX_BYTES {
            let longer = self.places.iter().filter(|(stem, _)| stem.starts_with(&term.stem));
            forms.extend(longer.map(|(_, place)| (*place, PREFIX_DISCOUNT)));
        }
        forms.extend(self.places.get(&term.stem).map(|place| (*place, 1.0)));
        forms
    }

    /// Returns how well the best of these words fits each tool.
    fn fits(&self, forms: &[(usize, f32)]) -> Vec<Fit> {
        let mut fits = vec![Fit::default(); self.tool_count];
        for (word, discount) in forms {
            for (tool, weight) in self.tools.get(*word).into_iter().flatten() {
                let Some(fit) = fits.get_mut(*tool) else { continue };
                let score = discount * weight * (SATURATION + 1.0) / (weight + SATURATION);
                fit.score = fit.score.max(score);
                fit.discount = fit.discount.max(*discount);
            }
        }
        fits
    }

    /// Returns how much a word counts that so many tools have.
    fn rarity(&self, tools: f32) -> f32 {
        let tools = tools.max(1.0);
        (1.0 + (self.tool_count as f32 - tools + 0.5).max(0.0) / (tools + 0.5)).ln()
    }
}

#[derive(Debug, Clone, Default)]
struct Fit {
    score: f32,
    discount: f32,
}

/// Returns the words of a tool's name, server, first sentence, further description, parameters, and what is said about
/// these.
fn fields(tool: &ToolCard) -> [Vec<Term>; FIELDS] {
    let name = terms::beginning(&tool.name, MAX_NAME_BYTES);
    let server = terms::beginning(&tool.server, MAX_NAME_BYTES);
    let (first, rest) = terms::first_sentence(terms::beginning(&tool.description, MAX_DESCRIPTION_BYTES));
    let parameters = tool.parameters.iter().take(MAX_PARAMETERS);
    let names = parameters.clone().flat_map(|(name, _)| terms::of(terms::beginning(name, MAX_NAME_BYTES)));
    let descriptions = parameters.flat_map(|(_, text)| terms::of(terms::beginning(text, MAX_PARAMETER_BYTES)));
    [terms::of(name), terms::of(server), terms::of(first), terms::of(rest), names.collect(), descriptions.collect()]
}
