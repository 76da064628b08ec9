//! A static model: a text's vector is the mean of the rows of its tokens, scaled to length 1.
//!
//! Invariant: no text is refused, however long; a text that the model knows nothing about has no vector.

use std::borrow::Cow;

use crate::rows::{TokenWeights, VectorTable};
use crate::vocabulary::Vocabulary;
use crate::words::{self, LetterNormalisation};
use crate::{Embed, EmbedError, latin};

/// A table with one row per token and nothing else: no layers, and word order does not matter.
#[derive(Debug)]
pub struct StaticModel {
    pub(crate) name: Cow<'static, str>,
    pub(crate) width: usize,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) letters: LetterNormalisation,
    /// The token for words that no other token fits. It has no meaning.
    pub(crate) unknown: Option<u32>,
    /// The maximum length of a word that is split, in characters. Longer words are ignored.
    pub(crate) max_word_chars: usize,
    /// Whether the model only knows texts in Latin letters.
    pub(crate) latin_only: bool,
    pub(crate) rows: VectorTable,
    pub(crate) token_weights: TokenWeights,
}

impl StaticModel {
    /// Collects the tokens of a text, in order, without those that have no meaning. Returns whether the model knows any
    /// of the words: a word that has to be split into single letters, such as `qzxvw`, is unknown.
    pub(crate) fn tokens(&self, text: &str, word: &mut String, tokens: &mut Vec<u32>) -> bool {
        tokens.clear();
        let mut knows_any = false;
        words::each(text, self.letters, word, |word| {
            if word.len() <= self.max_word_chars || word.chars().count() <= self.max_word_chars {
                let before = tokens.len();
                self.vocabulary.split_word(word, tokens);
                let pieces = tokens.len() - before;
                knows_any |= pieces == 1 || (pieces > 1 && pieces * 2 <= word.len());
            }
        });
        tokens.retain(|&token| Some(token) != self.unknown);
        knows_any
    }
}

impl Embed for StaticModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn width(&self) -> usize {
        self.width
    }

    fn is_quick(&self) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EmbedError> {
        let mut word = String::new();
        let mut tokens = Vec::new();
        let vector = |text: &&str| {
            if self.latin_only && !latin::mostly(text) {
                return None;
            }
            if !self.tokens(text, &mut word, &mut tokens) {
                return None;
            }
            to_length_one(self.rows.sum(&tokens, &self.token_weights, self.width))
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// Scales a vector to length 1. Returns `None` if it has no direction.
fn to_length_one(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    if !(length.is_finite() && length > 0.0) {
        return None;
    }
    vector.iter_mut().for_each(|number| *number /= length);
    Some(vector)
}

#[cfg(test)]
#[cfg(feature = "built-in")]
mod tests {
    use serde::Deserialize;

    use crate::{Embed, built_in, latin};

    /// The output of `tools/model/golden.py`: the tokens and every sixteenth number of the vector.
    #[derive(Deserialize)]
    struct Golden {
        text: String,
        tokens: Vec<u32>,
        vector: Option<Vec<f32>>,
    }

    fn vector(text: &str) -> Option<Vec<f32>> {
        built_in().unwrap().embed(&[text]).unwrap().remove(0)
    }

    #[test]
    fn tokens_and_vectors_are_those_of_the_reference() {
        for line in include_str!("../golden/texts.jsonl").lines() {
            let golden: Golden = serde_json::from_str(line).unwrap();
            let mut tokens = vec![7];
            built_in().unwrap().tokens(&golden.text, &mut String::from("left over"), &mut tokens);
            assert_eq!(tokens, golden.tokens, "{:?}", golden.text);
            let Some(ours) = vector(&golden.text) else {
                // The reference also has vectors for texts in other scripts; they have no meaning.
                assert!(tokens.is_empty() || !latin::mostly(&golden.text), "{:?}", golden.text);
                continue;
            };
            let wanted = golden.vector.expect("no vector where there are no tokens");
            assert_eq!(ours.len(), 256);
            for (ours, wanted) in ours.iter().step_by(16).zip(wanted) {
                assert!((ours - wanted).abs() < 1e-4, "{:?}", golden.text);
            }
        }
    }

    #[test]
    fn vectors_have_length_one() {
        for text in ["!", "how to open a file", &"many words ".repeat(5000)] {
            let length: f32 = vector(text).unwrap().iter().map(|number| number * number).sum();
            assert!((length - 1.0).abs() < 1e-5, "{text:.20}: {length}");
        }
    }

    #[test]
    fn what_the_model_knows_nothing_about_has_no_vector() {
        for text in
            ["", " \n", "\u{FFFD}", "日本語のテキスト", "Это написано по-русски", "🙂", "עברית", "qzxvw", "zzqqx"]
        {
            assert_eq!(vector(text), None, "{text}");
        }
        for text in ["12 + 30", "naïve café", "an English text with слово in it", "λ -> μ, in words"] {
            assert!(vector(text).is_some(), "{text}");
        }
    }

    #[test]
    fn texts_of_one_meaning_are_nearer_than_others() {
        let near = |a: &str, b: &str| -> f32 {
            let (a, b) = (vector(a).unwrap(), vector(b).unwrap());
            a.iter().zip(&b).map(|(a, b)| a * b).sum()
        };
        let question = "remove a directory and everything in it";
        assert!(near(question, "delete folders recursively") > near(question, "parse a date from a string") + 0.1);
        assert!((near(question, question) - 1.0).abs() < 0.01);
    }

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let texts = ["first", "", "a second text"];
        let together = built_in().unwrap().embed(&texts).unwrap();
        assert_eq!(together, texts.map(vector));
    }
}
