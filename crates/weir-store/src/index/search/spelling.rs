//! Resolves the words of a query in the index: prefixes, parts of words and misspellings. Invariant: a word that the
//! index knows is not changed.

use rusqlite::Connection;
use weir_core::query::Term;

use crate::index::vocabulary;

/// Maximum number of words equally close to a misspelt one that are searched for.
const MAX_CORRECTIONS: usize = 3;
/// Maximum number of unknown words that are resolved. An input with more is not a query.
const MAX_UNKNOWN_WORDS: usize = 12;

/// The terms of a query, in the engine's syntax.
#[derive(Debug, Default)]
pub(super) struct ResolvedTerms {
    /// The alternatives, each in the engine's syntax.
    pub(super) alternatives: Vec<String>,
    /// All words that are searched for.
    pub(super) words: Vec<String>,
    /// Words that were replaced: as written, and the words searched for instead.
    pub(super) corrected: Vec<(String, String)>,
    /// Words without any similar word in the index.
    pub(super) unknown: Vec<String>,
}

/// Resolves the terms of a query.
pub(super) fn look_up(connection: &Connection, terms: &[Term]) -> rusqlite::Result<ResolvedTerms> {
    let mut spelt = ResolvedTerms::default();
    let mut looked_into = 0;
    for term in terms {
        spelt.alternatives.push(expression_of(term));
        spelt.words.extend(term.words.iter().cloned());
        let [word] = term.words.as_slice() else { continue };
        if term.prefix {
            // The stem of a prefix is not a prefix of the stem: `deploy*` alone would miss `deployment`.
            let words = vocabulary::beginning_with(connection, word)?;
            spelt.add(words);
        } else if looked_into < MAX_UNKNOWN_WORDS && !is_known(connection, word)? {
            looked_into += 1;
            replace_unknown(connection, word, &mut spelt)?;
        }
    }
    for list in [&mut spelt.alternatives, &mut spelt.words] {
        let mut seen = std::collections::HashSet::new();
        list.retain(|item| seen.insert(item.clone()));
    }
    Ok(spelt)
}

impl ResolvedTerms {
    fn add(&mut self, words: Vec<String>) {
        self.alternatives.extend(words.iter().map(|word| format!("\"{word}\"")));
        self.words.extend(words);
    }
}

fn replace_unknown(connection: &Connection, word: &str, spelt: &mut ResolvedTerms) -> rusqlite::Result<()> {
    let around = vocabulary::containing(connection, word)?;
    let mut near = vocabulary::near(connection, word)?;
    near.retain(|near| !around.contains(near));
    near.sort_by_cached_key(|near| std::cmp::Reverse(uses(connection, near).unwrap_or(0)));
    near.truncate(MAX_CORRECTIONS);
    if around.is_empty() && near.is_empty() {
        spelt.unknown.push(word.to_owned());
    }
    spelt.corrected.extend(near.iter().map(|near| (word.to_owned(), near.clone())));
    spelt.add(around);
    spelt.add(near);
    Ok(())
}

/// Returns whether the index has the word, or a form of it.
fn is_known(connection: &Connection, word: &str) -> rusqlite::Result<bool> {
    if vocabulary::has(connection, word)? {
        return Ok(true);
    }
    connection.prepare_cached("SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 1")?.exists([format!("\"{word}\"")])
}

/// Returns how many chunks have a word, counting up to 100.
fn uses(connection: &Connection, word: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 100)")?
        .query_row([format!("\"{word}\"")], |row| row.get(0))
}

/// Returns a term in the engine's syntax. Words consist of letters and digits only, so none of them can be an operator.
fn expression_of(term: &Term) -> String {
    let star = if term.prefix { " *" } else { "" };
    format!("\"{}\"{star}", term.words.join(" "))
}
