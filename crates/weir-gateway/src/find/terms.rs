//! The words of requests and tools, in the form in which they are compared.

use weir_core::stem::stem;
use weir_core::words::{camel_parts, each_word, is_spaceless, is_stop_word, pairs};

/// A longer word is encoded data, in bytes.
const MAX_WORD_BYTES: usize = 40;
/// More words than this say nothing new about what is wanted.
const MAX_REQUEST_TERMS: usize = 40;

/// A word as it is compared, and as a person writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Term {
    pub(super) stem: String,
    pub(super) spelling: String,
}

/// Returns the terms of a text, in order. A name such as `createPullRequest` gives its parts too, unlike `GitHub` and
/// `PRs`, of which the parts mean something else.
pub(super) fn of(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    each_word(text, |word| {
        if word.len() > MAX_WORD_BYTES && word.is_ascii() {
            return;
        }
        if word.contains(is_spaceless) {
            pairs(word).iter().for_each(|pair| push(pair, &mut terms));
            return;
        }
        let parts = camel_parts(word);
        if parts.len() > 1 && word.starts_with(char::is_lowercase) {
            parts.iter().for_each(|part| push(part, &mut terms));
        }
        push(word, &mut terms);
    });
    terms
}

/// Returns the different terms of a request, in order.
pub(super) fn of_request(request: &str) -> Vec<Term> {
    let mut terms: Vec<Term> = Vec::new();
    for term in of(request) {
        if terms.len() < MAX_REQUEST_TERMS && terms.iter().all(|other| other.stem != term.stem) {
            terms.push(term);
        }
    }
    terms
}

/// Returns the stem of a word in lower case.
pub(super) fn stem_of(word: &str) -> String {
    let mut text = word.to_owned();
    stem(&mut text, 0);
    text
}

/// Returns the beginning of a text, at most so many bytes long.
pub(super) fn beginning(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

/// Splits a description after its first sentence. A line is a sentence too.
pub(super) fn first_sentence(text: &str) -> (&str, &str) {
    const MIN_BYTES: usize = 10;
    const MAX_BYTES: usize = 300;
    let text = text.trim_start();
    let ends = ["\n", ". ", "。"].iter().filter_map(|end| text.find(end));
    let end = ends.min().filter(|end| *end >= MIN_BYTES).unwrap_or(text.len());
    text.split_at(text.floor_char_boundary(end.min(MAX_BYTES)))
}

fn push(word: &str, terms: &mut Vec<Term>) {
    let spelling = word.to_lowercase();
    if !is_stop_word(&spelling) {
        terms.push(Term { stem: stem_of(&spelling), spelling });
    }
}
