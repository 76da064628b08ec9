//! Renders the answer with a map.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use weir_context::Context;
use weir_core::{Reference, Scope};
use weir_host::answer::{Answer, counted, fence, one_line};
use weir_host::error::CommandError;
use weir_host::random;
use weir_outline::map::{Entry, Heat, Known, Map, Ranked, Symbol, show, symbols_from_text};
use weir_store::Store;

use super::{MapRequest, key};
use crate::indexing::below;

/// A map that is ready to be rendered.
pub(super) struct RankedMap<'a> {
    pub(super) root: &'a Path,
    pub(super) order: &'a MapRequest,
    pub(super) known: &'a [Known],
    /// The number of symbols in each file.
    pub(super) counts: &'a [u32],
    pub(super) ranked: Vec<Ranked>,
    pub(super) heat: Heat,
}

/// The usual maximum of tokens around a map.
const FRAMING_TOKENS: usize = 50;
/// The minimum tokens of a line in a map, which limits how many files can be shown.
const MIN_LINE_TOKENS: usize = 8;

pub(super) fn answer(
    context: &Context,
    store: &mut Store,
    scope: &Scope,
    drawing: RankedMap<'_>,
) -> Result<Answer<MapData>, CommandError> {
    let RankedMap { root, order, known, counts, ranked, heat } = drawing;
    let part = below(root, &order.folder).unwrap_or_default();
    let is_in_part = |path: &str| {
        part.is_empty() || path.strip_prefix(&part).is_some_and(|rest| rest.starts_with('/')) || path == part
    };
    let files = known.iter().zip(counts).filter(|(file, _)| is_in_part(&file.path) && !file.mentions.is_empty());
    let (all_files, all_symbols) =
        files.fold((0, 0), |(files, symbols), (_, count)| (files + 1, symbols + *count as usize));
    let path = |ranked: &Ranked| known.get(ranked.file).map_or("", |file| file.path.as_str());
    let ranked: Vec<Ranked> = ranked
        .into_iter()
        .filter(|ranked| is_in_part(path(ranked)))
        .take(order.budget.tokens() / MIN_LINE_TOKENS)
        .collect();
    let paths: Vec<&str> = ranked.iter().map(path).collect();
    let symbols = store.map_symbols(scope, &key(root), &paths)?;
    let symbols: Vec<Vec<Symbol>> = symbols.iter().map(|text| symbols_from_text(text)).collect();
    let entries = ranked.iter().zip(&paths).zip(&symbols);
    let entries: Vec<Entry<'_>> =
        entries.map(|((ranked, path), symbols)| Entry { ranked: *ranked, path, symbols }).collect();
    let said = MapAnswer { context, order, all_files, all_symbols, mark: random::mark()? };
    if entries.is_empty() {
        return Ok(Answer::nothing(said.nothing(), MapData { files: Vec::new(), all_files, all_symbols: None }));
    }
    let map = said.fit(|tokens| show(&entries, &heat, tokens));
    let data = data(&map, &entries, all_files, all_symbols);
    Ok(Answer::new(said.text(&map), data))
}

struct MapAnswer<'a> {
    context: &'a Context,
    order: &'a MapRequest,
    all_files: usize,
    all_symbols: usize,
    /// The mark that fences the map, which contains text from files.
    mark: Reference,
}

impl MapAnswer<'_> {
    /// Returns the largest map that fits together with the text around it.
    fn fit(&self, make: impl Fn(usize) -> Map) -> Map {
        let budget = self.order.budget.tokens();
        let mut tokens = budget.saturating_sub(FRAMING_TOKENS);
        loop {
            let map = make(tokens);
            let whole = weir_tokens::count(&self.text(&map));
            if whole <= budget || tokens == 0 {
                return map;
            }
            tokens = tokens.saturating_sub(whole - budget);
        }
    }

    fn text(&self, map: &Map) -> String {
        let parts = [self.head(map), fence(self.mark, &map.text), self.foot(map)];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn head(&self, map: &Map) -> String {
        let focus = self.order.focus.iter().filter_map(|path| below(&self.context.project().root, path));
        let focus = focus.take(3).collect::<Vec<_>>().join(", ");
        let by = match (focus.is_empty(), self.order.query.is_empty()) {
            (true, true) => "most used first".to_owned(),
            (true, false) => format!("nearest to `{}` first", one_line(&self.order.query, 60)),
            (false, true) => format!("nearest to {} first", one_line(&focus, 120)),
            (false, false) => {
                format!("nearest to {} and `{}` first", one_line(&focus, 120), one_line(&self.order.query, 60))
            }
        };
        let (files, symbols) = (map.files, map.symbols);
        let all_files = counted(self.all_files, "file", "files");
        let all_symbols = counted(self.all_symbols, "symbol", "symbols");
        format!("{files} of {all_files}, {symbols} of {all_symbols}, {by}")
    }

    fn foot(&self, map: &Map) -> String {
        if map.files == self.all_files && map.symbols == self.all_symbols {
            return String::new();
        }
        let more = self.context.face().word(
            "more: --budget, --focus FILE, --query TEXT; `weir outline FILE` for all of a file",
            "more: `budget`, `focus`, `query`; context_peek for all of a file",
        );
        more.to_owned()
    }

    fn nothing(&self) -> String {
        match self.all_files {
            0 => "no files here are in a language that can be outlined".to_owned(),
            files => format!("none of {} match; try other words", counted(files, "file", "files")),
        }
    }
}

/// A map, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MapData {
    /// The files shown, most important first.
    files: Vec<FileData>,
    /// The number of files that could be shown.
    all_files: usize,
    /// The number of symbols that could be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    all_symbols: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct FileData {
    path: String,
    score: f64,
    symbols: Vec<SymbolData>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SymbolData {
    name: String,
    signature: String,
    line: u32,
}

fn data(map: &Map, entries: &[Entry<'_>], all_files: usize, all_symbols: usize) -> MapData {
    let symbol = |it: &Symbol| SymbolData { name: it.path.clone(), signature: it.signature.clone(), line: it.line };
    let files = map.shown.iter().filter_map(|(at, symbols)| {
        let entry = entries.get(*at)?;
        let symbols = symbols.iter().filter_map(|at| entry.symbols.get(*at)).map(symbol).collect();
        let score = (entry.ranked.score * 1_000.0).round() / 1_000.0;
        Some(FileData { path: entry.path.to_owned(), score, symbols })
    });
    MapData { files: files.collect(), all_files, all_symbols: Some(all_symbols) }
}
