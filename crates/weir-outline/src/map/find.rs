//! Finds symbols by their names, by parts of names, and by words of their signatures and documentation.

use super::facts::Symbol;
use super::names::{word_number, words_of};

/// Words of a question that say nothing about its subject.
const STOP_WORDS: &[&str] = &[
    "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "if", "in",
    "is", "it", "its", "of", "on", "or", "our", "the", "that", "this", "to", "was", "we", "what", "when", "where",
    "which", "who", "why", "will", "with", "you",
];

/// A symbol that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSymbol {
    /// The index of the symbol.
    pub at: usize,
    /// How well it matches, above 0. From 1 on, its name matches exactly.
    pub score: f64,
}

/// Returns the symbols that a query may mean, best first. Each must match the name, or more than half of the query's
/// words.
pub fn find<'a>(symbols: impl IntoIterator<Item = &'a Symbol>, query: &str) -> Vec<FoundSymbol> {
    let parsed = ParsedQuery::read(query);
    if parsed.words.is_empty() && parsed.names.is_empty() {
        return Vec::new();
    }
    let scored = symbols.into_iter().enumerate();
    let mut found: Vec<FoundSymbol> =
        scored.filter_map(|(at, symbol)| parsed.score(symbol).map(|score| FoundSymbol { at, score })).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.at.cmp(&b.at)));
    found
}

struct ParsedQuery {
    /// The words as written, in lower case: `Store::open` is two of them.
    names: Vec<String>,
    words: Vec<u32>,
}

impl ParsedQuery {
    fn read(query: &str) -> Self {
        let names = query.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| name.len() > 1);
        let mut words = Vec::new();
        let telling = query.split_whitespace().filter(|word| !STOP_WORDS.contains(&word.to_lowercase().as_str()));
        telling.for_each(|word| words_of(word, |word| words.push(word_number(word))));
        words.sort_unstable();
        words.dedup();
        Self { names: names.map(str::to_lowercase).collect(), words }
    }

    fn score(&self, symbol: &Symbol) -> Option<f64> {
        let name = symbol.name().to_lowercase();
        let offered = if symbol.is_offered { 0.05 } else { 0.0 };
        if self.names.last() == Some(&name) && self.names.len() <= 2 {
            // With the enclosing name, if that was given too.
            let path = symbol.path.to_lowercase();
            let is_in = |part: &String| path.split('.').any(|it| it == part);
            return self.names.iter().all(is_in).then_some(2.0 + offered).or(Some(1.0 + offered));
        }
        let share = |text: &str| {
            let mut found: Vec<u32> = Vec::new();
            words_of(text, |word| found.push(word_number(word)));
            self.words.iter().filter(|word| found.contains(word)).count() as f64 / self.words.len().max(1) as f64
        };
        // The enclosing names say something about a symbol, but not enough by themselves.
        let own = share(&format!("{} {} {}", symbol.name(), symbol.signature, symbol.doc));
        let anywhere = share(&format!("{} {} {}", symbol.path, symbol.signature, symbol.doc));
        let score = share(symbol.name()) * 0.5 + anywhere * 0.4 + offered;
        (own >= 0.3 && anywhere > 0.5).then_some(score.min(0.99))
    }
}
