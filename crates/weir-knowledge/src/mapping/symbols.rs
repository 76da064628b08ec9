//! Finds symbols for a search: by name, by part of a name, or by words of the signature and documentation.
//!
//! Invariant: only the existing map is used, and a search walks no folder. A symbol is returned only if its file is
//! unchanged since it was mapped; otherwise, the file is read again.

use std::collections::HashMap;
use std::path::Path;

use weir_context::Context;
use weir_context::permission;
use weir_core::Scope;
use weir_host::error::CommandError;
use weir_host::os;
use weir_outline::map::{Facts, Known, Symbol, Wish, find as find_in, rank, symbols_from_text, unpack};
use weir_policy::gate::Gate;
use weir_store::Store;

use super::key;
use crate::indexing::read_content;

/// How many of the best matching files are examined.
const MAX_FILES: usize = 40;

#[derive(Debug, Clone, PartialEq)]
pub struct FoundSymbol {
    /// The file of the symbol, relative to the root of the project.
    pub file: String,
    pub symbol: Symbol,
    /// Whether the symbol has exactly the requested name.
    pub is_named: bool,
}

pub struct SymbolQuery<'a> {
    /// A name, or words.
    pub query: &'a str,
    /// The file or folder to search, if limited.
    pub below: Option<&'a str>,
    pub most: usize,
}

/// Returns the symbols of the project that a query may mean, best first.
pub fn find(
    context: &Context,
    store: &mut Store,
    scope: &Scope,
    wanted: &SymbolQuery<'_>,
) -> Result<Vec<FoundSymbol>, CommandError> {
    let root = &context.project().root;
    let mut words = store.map_words(scope, &key(root))?;
    words.retain(|(path, _)| wanted.below.is_none_or(|below| is_below(path, below)));
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let known: Vec<Known> =
        words.into_iter().map(|(path, words)| Known { path, words: unpack(&words), ..Known::default() }).collect();
    let (ranked, _) = rank(&known, Wish { query: wanted.query, ..Wish::default() });
    let files: Vec<&str> = ranked
        .iter()
        .take(MAX_FILES)
        .filter_map(|ranked| known.get(ranked.file))
        .map(|file| file.path.as_str())
        .collect();
    let texts = store.map_symbols(scope, &key(root), &files)?;
    let all: Vec<(&str, Symbol)> = files
        .iter()
        .zip(&texts)
        .flat_map(|(file, text)| symbols_from_text(text).into_iter().map(|symbol| (*file, symbol)))
        .collect();
    let found = find_in(all.iter().map(|(_, symbol)| symbol), wanted.query);
    let gate = permission::gate(context);
    let mut now: HashMap<&str, Vec<Symbol>> = HashMap::new();
    let mut shown = Vec::new();
    for (place, score) in found.iter().filter_map(|found| Some((all.get(found.at)?, found.score))) {
        if shown.len() >= wanted.most {
            break;
        }
        let (file, symbol) = place;
        let current = now.entry(file).or_insert_with(|| as_it_is(root, file, &gate));
        // Its line may have moved, and it may be gone.
        let same = |other: &&Symbol| other.path == symbol.path;
        let nearest = current.iter().filter(same).min_by_key(|other| other.line.abs_diff(symbol.line));
        shown.extend(nearest.map(|nearest| FoundSymbol {
            file: (*file).to_owned(),
            // The text is the stored one, which was redacted.
            symbol: Symbol { line: nearest.line, ..symbol.clone() },
            is_named: score >= 1.0,
        }));
    }
    Ok(shown)
}

fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.strip_prefix("./").unwrap_or(folder);
    folder == "." || path == folder || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// The symbols of a file as it is now; none if it may not be read.
fn as_it_is(root: &Path, file: &str, gate: &Gate) -> Vec<Symbol> {
    let path = root.join(file);
    let is_inside = os::real_path(&path).is_ok_and(|real| real == path);
    if !is_inside || gate.refuses(&path).is_some() {
        return Vec::new();
    }
    let Ok(content) = read_content(&path) else { return Vec::new() };
    let text = String::from_utf8_lossy(&content.bytes);
    let outline = weir_files::outlining::outline_of(&path, &text);
    outline.map(|outline| Facts::of(file, &text, &outline).symbols).unwrap_or_default()
}
