//! Writes a map: files in order of their rank, with as many of their best symbols as the budget allows.
//!
//! Invariants: the text never has more tokens than the budget, by an actual count, and [`Map`] reports what it shows,
//! so callers can tell what was left out.

use std::collections::{BTreeMap, BTreeSet};

use super::facts::Symbol;
use super::rank::{Heat, Ranked};

/// Maximum length of a signature in characters. A longer one is cut.
const MAX_SIGNATURE_CHARS: usize = 110;
/// The factor by which each further symbol of a file counts less.
const SYMBOL_DECAY: f64 = 0.75;

/// A ranked file with its symbols.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub ranked: Ranked,
    pub path: &'a str,
    /// Its symbols, in the order of the file.
    pub symbols: &'a [Symbol],
}

/// A map as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map {
    /// The text, without a final newline.
    pub text: String,
    pub files: usize,
    pub symbols: usize,
    /// The entries and symbols shown, as indices, in order.
    pub shown: Vec<(usize, Vec<usize>)>,
}

/// Writes the best symbols of the best files within a budget of tokens.
pub fn show(entries: &[Entry<'_>], heat: &Heat, budget: usize) -> Map {
    let mut chosen: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    let mut order: Vec<(usize, Option<usize>)> = Vec::new();
    let mut left = budget;
    for candidate in candidate_lines(entries, heat) {
        let Some(entry) = entries.get(candidate.entry) else { continue };
        let is_new = !chosen.contains_key(&candidate.entry);
        let head = if is_new { cost(entry.path) } else { 0 };
        let line = candidate.symbol.and_then(|at| entry.symbols.get(at)).map_or(0, |symbol| cost(&line(symbol)));
        if head + line > left {
            // A shorter line may still fit, but stop when the budget is nearly used up.
            if left < 12 {
                break;
            }
            continue;
        }
        left -= head + line;
        chosen.entry(candidate.entry).or_default().extend(candidate.symbol);
        order.push((candidate.entry, candidate.symbol));
    }
    loop {
        let text = write(entries, &chosen);
        // The parts were counted separately, so count the whole text to be sure.
        if weir_tokens::count(&text) <= budget || order.is_empty() {
            return finished(text, &chosen);
        }
        if let Some((entry, symbol)) = order.pop() {
            match symbol {
                Some(symbol) => drop(chosen.get_mut(&entry).map(|symbols| symbols.remove(&symbol))),
                None => drop(chosen.remove(&entry)),
            }
            if chosen.get(&entry).is_some_and(BTreeSet::is_empty) && !order.iter().any(|(other, _)| *other == entry) {
                chosen.remove(&entry);
            }
        }
    }
}

fn finished(text: String, chosen: &BTreeMap<usize, BTreeSet<usize>>) -> Map {
    let shown: Vec<(usize, Vec<usize>)> =
        chosen.iter().map(|(entry, symbols)| (*entry, symbols.iter().copied().collect())).collect();
    Map { text, files: shown.len(), symbols: shown.iter().map(|(_, symbols)| symbols.len()).sum(), shown }
}

/// A line that may be shown.
struct CandidateLine {
    entry: usize,
    symbol: Option<usize>,
    gain: f64,
}

fn candidate_lines(entries: &[Entry<'_>], heat: &Heat) -> Vec<CandidateLine> {
    let mut all = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let mut symbols: Vec<(usize, f64)> =
            entry.symbols.iter().enumerate().map(|(place, symbol)| (place, heat.of(symbol))).collect();
        symbols.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        // A file deserves a line even if none of its symbols stands out.
        let strongest = symbols.first().map_or(1.0, |(_, heat)| heat.max(f64::MIN_POSITIVE));
        all.push(CandidateLine {
            entry: at,
            symbol: symbols.first().map(|(place, _)| *place),
            gain: entry.ranked.score,
        });
        for (nth, (place, heat)) in symbols.into_iter().enumerate().skip(1) {
            let gain =
                entry.ranked.score * (heat / strongest) * SYMBOL_DECAY.powi(i32::try_from(nth).unwrap_or(i32::MAX));
            all.push(CandidateLine { entry: at, symbol: Some(place), gain });
        }
    }
    all.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.entry.cmp(&b.entry)).then(a.symbol.cmp(&b.symbol)));
    all
}

fn write(entries: &[Entry<'_>], chosen: &BTreeMap<usize, BTreeSet<usize>>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (entry, symbols) in chosen.iter().filter_map(|(at, symbols)| Some((entries.get(*at)?, symbols))) {
        lines.push(entry.path.to_owned());
        lines.extend(symbols.iter().filter_map(|at| entry.symbols.get(*at)).map(line));
    }
    lines.join("\n")
}

/// Formats a symbol on one line: its enclosing name, its signature and its line number.
fn line(symbol: &Symbol) -> String {
    let signature = match symbol.signature.char_indices().nth(MAX_SIGNATURE_CHARS) {
        Some((end, _)) => format!("{}…", &symbol.signature[..end]),
        None => symbol.signature.clone(),
    };
    let within = symbol.path.rsplit_once('.').map(|(within, _)| format!("{within}: ")).unwrap_or_default();
    format!("  {within}{signature} :{}", symbol.line)
}

fn cost(line: &str) -> usize {
    weir_tokens::count(line) + 1
}
