//! What a query's words stand for in the index: a beginning, a part of a word, or the word that was meant. Invariant: a
//! word that the index knows is taken as it is.

use rusqlite::Connection;
use weir_core::query::Term;

use crate::index::vocabulary;

/// How many words that are equally near to a misspelt one are all looked for.
const MOST_NEAR: usize = 3;
/// How many unknown words are looked into; a page of them is no question.
const MOST_UNKNOWN: usize = 12;

/// A query's terms as the engine takes them.
#[derive(Debug, Default)]
pub(super) struct Spelt {
    /// The alternatives, each in the engine's syntax.
    pub(super) alternatives: Vec<String>,
    /// All words that are looked for.
    pub(super) words: Vec<String>,
    /// Words that were taken for others: as they were written, and what was looked for.
    pub(super) corrected: Vec<(String, String)>,
    /// Words that nothing in the index is like.
    pub(super) unknown: Vec<String>,
}

/// Looks the terms up.
pub(super) fn look_up(connection: &Connection, terms: &[Term]) -> rusqlite::Result<Spelt> {
    let mut spelt = Spelt::default();
    let mut looked_into = 0;
    for term in terms {
        spelt.alternatives.push(expression_of(term));
        spelt.words.extend(term.words.iter().cloned());
        let [word] = term.words.as_slice() else { continue };
        if term.prefix {
            // The stem of a word's beginning is not the beginning of its stem: `deploy*` alone would miss `deployment`.
            let words = vocabulary::beginning_with(connection, word)?;
            spelt.add(words);
        } else if looked_into < MOST_UNKNOWN && !is_known(connection, word)? {
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

impl Spelt {
    fn add(&mut self, words: Vec<String>) {
        self.alternatives.extend(words.iter().map(|word| format!("\"{word}\"")));
        self.words.extend(words);
    }
}

fn replace_unknown(connection: &Connection, word: &str, spelt: &mut Spelt) -> rusqlite::Result<()> {
    let around = vocabulary::containing(connection, word)?;
    let mut near = vocabulary::near(connection, word)?;
    near.retain(|near| !around.contains(near));
    near.sort_by_cached_key(|near| std::cmp::Reverse(uses(connection, near).unwrap_or(0)));
    near.truncate(MOST_NEAR);
    if around.is_empty() && near.is_empty() {
        spelt.unknown.push(word.to_owned());
    }
    spelt.corrected.extend(near.iter().map(|near| (word.to_owned(), near.clone())));
    spelt.add(around);
    spelt.add(near);
    Ok(())
}

/// Whether the index has the word, or a form of it.
fn is_known(connection: &Connection, word: &str) -> rusqlite::Result<bool> {
    if vocabulary::has(connection, word)? {
        return Ok(true);
    }
    connection.prepare_cached("SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 1")?.exists([format!("\"{word}\"")])
}

/// In how many chunks a word stands, as far as it matters.
fn uses(connection: &Connection, word: &str) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT 100)")?
        .query_row([format!("\"{word}\"")], |row| row.get(0))
}

/// A term in the engine's syntax. Words hold letters and digits only, so nothing in them can be an operator.
fn expression_of(term: &Term) -> String {
    let star = if term.prefix { " *" } else { "" };
    format!("\"{}\"{star}", term.words.join(" "))
}
