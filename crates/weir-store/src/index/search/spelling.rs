//! Resolves the words of a query in the index: prefixes, parts of words and misspellings. Invariant: a word that the
//! index knows is not changed.

use rusqlite::Connection;
use weir_core::query::Term;
use weir_ledger::Sql as _;

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
    pub(super) words: Vec<String>,
    /// Words that were replaced: as written, and the words searched for instead.
    pub(super) corrected: Vec<(String, String)>,
    /// Words without any similar word in the index.
    pub(super) unknown: Vec<String>,
}

pub(super) fn look_up(db: &Connection, terms: &[Term]) -> rusqlite::Result<ResolvedTerms> {
    let mut spelt = ResolvedTerms::default();
    let mut looked_into = 0;
    for term in terms {
        spelt.alternatives.push(expression_of(term));
        spelt.words.extend(term.words.iter().cloned());
        let [word] = term.words.as_slice() else { continue };
        if term.prefix {
            // The stem of a prefix is not a prefix of the stem: `deploy*` alone would miss `deployment`.
            let words = vocabulary::beginning_with(db, word)?;
            spelt.add(words);
        } else if looked_into < MAX_UNKNOWN_WORDS && !is_known(db, word)? {
            looked_into += 1;
            replace_unknown(db, word, &mut spelt)?;
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

fn replace_unknown(db: &Connection, word: &str, spelt: &mut ResolvedTerms) -> rusqlite::Result<()> {
    let around = vocabulary::containing(db, word)?;
    let mut near = vocabulary::near(db, word)?;
    near.retain(|near| !around.contains(near));
    near.sort_by_cached_key(|near| std::cmp::Reverse(uses(db, near).unwrap_or(0)));
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
fn is_known(db: &Connection, word: &str) -> rusqlite::Result<bool> {
    if vocabulary::has(db, word)? {
        return Ok(true);
    }
    db.sql("SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 1").has([format!("\"{word}\"")])
}

/// Returns how many chunks have a word, counting up to 100.
fn uses(db: &Connection, word: &str) -> rusqlite::Result<i64> {
    db.sql("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 100)").value([format!("\"{word}\"")])
}

/// Returns a term in the engine's syntax. Words consist of letters and digits only, so none of them can be an operator.
fn expression_of(term: &Term) -> String {
    let star = if term.prefix { " *" } else { "" };
    format!("\"{}\"{star}", term.words.join(" "))
}
