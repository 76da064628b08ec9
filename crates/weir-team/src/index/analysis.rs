//! Words as the index has them.
//!
//! Invariants: texts and queries pass through [`push_token`], so a word is found as it was written; its tokens are
//! those of FTS5's `porter unicode61 remove_diacritics 2`, which the local store and the SQLite backend use. A token
//! begins with the name of its project, so the postings of two projects are never the same.

use std::str::Split;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use unicode_normalization::char::decompose_canonical;
use weir_core::stem::stem;
use weir_core::words::is_in_word;
use weir_records::NAME_BYTES;

/// The name of the tokenizer in the schema.
pub(super) const TOKENIZER: &str = "weir";

/// How much of a word is indexed, in bytes. Longer ones are encoded data; they are found by their beginning.
const MAX_WORD_BYTES: usize = 255;

/// Splits a text that begins with the name of its project. See [`of_project`].
#[derive(Clone, Default)]
pub(super) struct WordTokenizer {
    token: Token,
}

/// The tokens of a text.
pub(super) struct Words<'a> {
    project: &'a str,
    words: Split<'a, fn(char) -> bool>,
    token: &'a mut Token,
}

/// Returns a text in the form that [`WordTokenizer`] splits.
pub(super) fn of_project(project: &str, text: &str) -> String {
    format!("{project}{text}")
}

/// Returns the token of a word of a query, if it has one.
pub(super) fn query_token(project: &str, word: &str) -> Option<String> {
    let mut token = project.to_owned();
    push_token(word, &mut token);
    (token.len() > project.len()).then_some(token)
}

/// Adds the token of a word of letters and digits. Adds nothing if the word has only accents.
fn push_token(word: &str, into: &mut String) {
    let start = into.len();
    for c in word.chars() {
        push_folded(c, into);
        if into.len() - start >= MAX_WORD_BYTES {
            return;
        }
    }
    stem(into, start);
}

/// Adds a character in lower case, and a Latin letter without its accents.
fn push_folded(c: char, into: &mut String) {
    if c.is_ascii() {
        into.push(c.to_ascii_lowercase());
        return;
    }
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    match (c, base) {
        (_, Some(base)) if base.is_ascii_alphabetic() => into.push(base.to_ascii_lowercase()),
        ('\u{300}'..='\u{36f}', _) => {}
        // Forms of a letter that depend on where it stands.
        ('ς', _) => into.push('σ'),
        ('ſ', _) => into.push('s'),
        _ => into.extend(c.to_lowercase()),
    }
}

fn is_separator(c: char) -> bool {
    !is_in_word(c)
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = Words<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Words<'a> {
        self.token.reset();
        let (project, text) = text.split_at_checked(NAME_BYTES).unwrap_or((text, ""));
        Words { project, words: text.split(is_separator as fn(char) -> bool), token: &mut self.token }
    }
}

impl TokenStream for Words<'_> {
    fn advance(&mut self) -> bool {
        for word in self.words.by_ref() {
            self.token.text.clear();
            self.token.text.push_str(self.project);
            push_token(word, &mut self.token.text);
            if self.token.text.len() > self.project.len() {
                self.token.position = self.token.position.wrapping_add(1);
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests;
