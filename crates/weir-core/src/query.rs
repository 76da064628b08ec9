//! Queries, and the terms they consist of.
//!
//! Invariant: any text is a valid query. Words are joined by *any*, never by *all*, so that one unknown word does not
//! hide everything; ranking prefers chunks with more of them.

use crate::words::{camel_parts, continues_word, is_spaceless, is_stop_word, pairs, script_runs, with_composed_korean};
use crate::{EntryKind, Level, Timestamp};

/// Maximum number of terms. More would take time without adding meaning.
const MAX_TERMS: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The words, as the person or model wrote them.
    pub text: String,
    /// Only entries made in this session or work, or kept for the project or the user.
    pub within: Option<Level>,
    pub kind: Option<EntryKind>,
    /// Only entries from this source, or from below it if it is a folder.
    pub source: Option<String>,
    /// Only entries kept at or after this time.
    pub since: Option<Timestamp>,
    /// The time of the query, for ranking new entries before old ones. Without it, age does not matter.
    pub now: Option<Timestamp>,
    /// At most this many hits.
    pub limit: usize,
    /// What a model has made of the text. Without it, keywords alone decide.
    pub vector: Option<QueryVector>,
}

impl Query {
    /// Creates a query for `text` without filters.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self { text: text.into(), within: None, kind: None, source: None, since: None, now: None, limit, vector: None }
    }
}

/// A query as a model understands it, for search by meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryVector {
    /// The name of the model. Vectors of models with different names are never compared.
    pub model: String,
    /// The vector of the text, of length 1. `None` if the model knows none of its words, or failed.
    pub values: Option<Vec<f32>>,
    /// Vectors of chunks that have none in the index yet, made for this search alone.
    pub chunks: Vec<ChunkVector>,
}

/// The vector of a chunk, of length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkVector {
    pub chunk: ChunkId,
    pub values: Vec<f32>,
}

/// The id of a chunk in one index. It means nothing in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChunkId(pub i64);

/// One alternative of a query: words that must follow one another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// The words, in lower case; never empty.
    pub words: Vec<String>,
    /// Whether the last word is a prefix.
    pub prefix: bool,
}

/// Returns the terms of a query. The result is empty only if the text has no letter and no digit.
pub fn terms(text: &str) -> Vec<Term> {
    let all = every_term(&with_composed_korean(text));
    let telling: Vec<Term> = all.iter().filter(|term| !is_idle(term)).cloned().collect();
    let mut chosen = if telling.is_empty() { all } else { telling };
    let mut seen = std::collections::HashSet::new();
    chosen.retain(|term| seen.insert(term.clone()));
    chosen.truncate(MAX_TERMS);
    chosen
}

fn is_idle(term: &Term) -> bool {
    term.words.len() == 1 && !term.prefix && is_stop_word(&term.words[0])
}

fn every_term(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    for (i, part) in text.split('"').enumerate() {
        // Odd parts are inside quotes, so their words belong together.
        if i % 2 == 1 {
            push_quoted(&mut terms, part);
        } else {
            part.split_whitespace().for_each(|piece| push_piece(&mut terms, piece));
        }
    }
    terms
}

/// Adds the phrase between quotes. The index has scripts without spaces only in pairs, so their words are also searched
/// for one by one.
fn push_quoted(terms: &mut Vec<Term>, part: &str) {
    let words = words_of(part);
    if !words.iter().any(|word| word.contains(is_spaceless)) {
        return push(terms, words);
    }
    if words.len() > 1 {
        push(terms, words.clone());
    }
    for word in words {
        push_word(terms, &word, part);
    }
}

/// Adds the terms of a piece between spaces: `foo-bar` is searched for as a phrase, and as each of its words.
fn push_piece(terms: &mut Vec<Term>, piece: &str) {
    let words = words_of(piece);
    if let [word] = words.as_slice()
        && piece.ends_with('*')
    {
        terms.push(Term { words: vec![word.clone()], prefix: true });
        return;
    }
    if words.len() > 1 {
        push(terms, words.clone());
    }
    for word in words {
        push_word(terms, &word, piece);
    }
}

fn push_word(terms: &mut Vec<Term>, word: &str, piece: &str) {
    if word.chars().any(is_spaceless) {
        push_spaceless(terms, word);
        // A single character among words of another script would be found nearly everywhere.
        let is_telling =
            |run: &&str| run.len() < word.len() && (!run.starts_with(is_spaceless) || run.chars().nth(1).is_some());
        script_runs(word).filter(is_telling).for_each(|run| push_word(terms, run, piece));
        return;
    }
    push(terms, vec![word.to_owned()]);
    let mut originals = piece.split(|c: char| !continues_word(c)).flat_map(script_runs);
    let original = originals.find(|part| part.to_lowercase() == *word);
    let parts = camel_parts(original.unwrap_or(word));
    if parts.len() > 1 {
        push(terms, parts.clone());
        parts.into_iter().for_each(|part| push(terms, vec![part]));
    }
}

fn push_spaceless(terms: &mut Vec<Term>, word: &str) {
    let mut pairs = pairs(word);
    if pairs.len() > 1 {
        // The last character alone is indexed only at the end of a run, so it is not part of the phrase.
        pairs.pop();
        push(terms, pairs);
    } else if !pairs.is_empty() {
        terms.push(Term { words: pairs, prefix: true });
    }
}

fn push(terms: &mut Vec<Term>, words: Vec<String>) {
    if !words.is_empty() {
        terms.push(Term { words, prefix: false });
    }
}

/// Returns the words of a piece in lower case. More than [`MAX_TERMS`] of them would take time without adding meaning.
fn words_of(piece: &str) -> Vec<String> {
    let words = piece.split(|c: char| !continues_word(c)).filter(|word| word.contains(char::is_alphanumeric));
    words.take(MAX_TERMS).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use proptest::prelude::*;

    fn check(text: &str, expected: Expect) {
        let written = terms(text).into_iter().map(|term| {
            let star = if term.prefix { "*" } else { "" };
            format!("{}{star}", term.words.join("+"))
        });
        expected.assert_eq(&written.collect::<Vec<_>>().join(" | "));
    }

    #[test]
    fn stop_words_go_unless_there_is_nothing_else() {
        check("how is the pool sized", expect!["pool | sized"]);
        check("what is this", expect!["what | is | this"]);
    }

    #[test]
    fn quotes_hyphens_paths_and_names() {
        check("\"exact phrase\" more", expect!["exact+phrase | more"]);
        check("foo-bar", expect!["foo+bar | foo | bar"]);
        check("src/db.rs:42", expect!["src+db+rs+42 | src | db | rs | 42"]);
        check("parseUrl", expect!["parseurl | parse+url | parse | url"]);
        check("deploy*", expect!["deploy*"]);
        check("\"unclosed quote", expect!["unclosed+quote"]);
    }

    #[test]
    fn operators_of_the_engine_are_only_words() {
        check("NOT (a OR b) NEAR/2 c^2 {x}: -y", expect!["not | b | near+2 | near | 2 | c+2 | c | x | y"]);
        check("&& || => *", expect![""]);
    }

    #[test]
    fn scripts_without_spaces_are_looked_for_in_pairs() {
        check("検索", expect!["検索"]);
        check("検索機能", expect!["検索+索機+機能"]);
        check("検", expect!["検*"]);
        check("ค\u{e49}นหา", expect!["คน+นห+หา"]);
        check("\u{1100}\u{1165}\u{11b7}\u{1109}\u{1162}\u{11a8}", expect!["검색"]);
        check("x\u{e49}\u{e49}", expect!["x* | x"]);
        check("检索API", expect!["检索+索a+ap+pi | 检索 | api"]);
        check("用parseUrl", expect!["用p+pa+ar+rs+se+eu+ur+rl | parseurl | parse+url | parse | url"]);
    }

    #[test]
    fn quoted_scripts_without_spaces_are_looked_for_in_pairs_too() {
        check("\"検索機能\" x", expect!["検索+索機+機能 | x"]);
        check("\"检索 API 文档\"", expect!["检索+api+文档 | 检索 | api | 文档"]);
    }

    #[test]
    fn a_piece_of_very_many_words_takes_little_time() {
        let terms = terms(&"aB1,".repeat(1 << 20));
        assert_eq!(terms.len(), 4);
        assert_eq!(terms[0].words.len(), MAX_TERMS);
    }

    #[test]
    fn an_accent_belongs_to_the_letter_before_it() {
        check("re\u{301}sume\u{301}", expect!["re\u{301}sume\u{301}"]);
        check("\u{301} \u{301}*", expect![""]);
    }

    proptest! {
        #[test]
        fn any_text_makes_terms_of_letters_and_digits(text: String) {
            for term in terms(&text) {
                prop_assert!(!term.words.is_empty());
                prop_assert!(term.words.iter().all(|word| !word.contains('"')));
            }
        }
    }
}
