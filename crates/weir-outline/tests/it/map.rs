//! Tests the map on small projects of Rust files.

use std::path::Path;

use weir_outline::map::{
    Commits, Entry, Facts, Known, Wish, find, pack, rank, show, symbols_from_text, symbols_to_text, unpack,
};
use weir_outline::{language_of, outline};

const STORE: &str = "//! Keeps entries.\n/// A place for things.\npub struct EntryStore;\nimpl EntryStore {\n    /// Opens the store of a folder.\n    pub fn open_store(folder: &str) -> Self { todo!() }\n    fn hidden(&self) {}\n}\n";
const SEARCH: &str = "use crate::store::EntryStore;\n/// Finds entries by their words.\npub fn search_entries(store: &EntryStore) -> usize { EntryStore::open_store(\"x\"); 0 }\n";
const SHOWN: &str = "use crate::search::search_entries;\npub fn render_hits() { search_entries(&todo!()); }\n";
const OTHER: &str = "/// The colours of a terminal.\npub enum TerminalColour { RedTone }\n";

fn project() -> (Vec<Known>, Vec<Facts>) {
    let files = [("src/store.rs", STORE), ("src/search.rs", SEARCH), ("src/shown.rs", SHOWN), ("lib/other.rs", OTHER)];
    let facts: Vec<Facts> = files.iter().map(|(path, text)| facts(path, text)).collect();
    let known = files.iter().zip(&facts).map(|((path, _), facts)| Known {
        path: (*path).to_owned(),
        defines: facts.defines.clone(),
        mentions: facts.mentions.clone(),
        words: facts.words.clone(),
    });
    (known.collect(), facts)
}

fn facts(path: &str, text: &str) -> Facts {
    let language = language_of(Path::new(path), text).unwrap();
    Facts::of(path, text, &outline(language, text).unwrap())
}

fn order(known: &[Known], wish: Wish<'_>) -> Vec<String> {
    rank(known, wish).0.iter().map(|ranked| known[ranked.file].path.clone()).collect()
}

#[test]
fn what_the_focus_uses_and_what_uses_the_focus_come_first() {
    let (known, _) = project();
    let order = order(&known, Wish { focus: &[1], ..Wish::default() });
    assert_eq!(order, ["src/store.rs", "src/shown.rs", "lib/other.rs"]);
}

#[test]
fn words_and_common_changes_count_too() {
    let (known, _) = project();
    let by_words = order(&known, Wish { query: "terminal colours", ..Wish::default() });
    assert_eq!(by_words.first().unwrap(), "lib/other.rs");
    let commits = Commits::read("lib/other.rs\nsrc/shown.rs\n\nsrc/shown.rs\nlib/other.rs\nsrc/gone.rs\n");
    assert_eq!(commits.len(), 2);
    assert_eq!(Commits::read(&commits.write()), commits);
    let place = |path: &str| known.iter().position(|file| file.path == path);
    let together = commits.with(&[2], place);
    let order = order(&known, Wish { focus: &[2], together: &together, ..Wish::default() });
    assert_eq!(order.first().unwrap(), "lib/other.rs");
}

#[test]
fn a_project_of_one_file_is_found_by_its_words() {
    let (known, _) = project();
    let one = &known[..1];
    assert_eq!(order(one, Wish { query: "open the store", ..Wish::default() }), ["src/store.rs"]);
    assert!(order(one, Wish { query: "terminal colours", ..Wish::default() }).is_empty());
}

#[test]
fn without_a_wish_the_core_comes_first() {
    let (known, _) = project();
    assert_eq!(order(&known, Wish::default()).first().unwrap(), "src/store.rs");
}

#[test]
fn a_map_keeps_its_budget_and_shows_signatures_with_lines() {
    let (known, facts) = project();
    let (ranked, heat) = rank(&known, Wish::default());
    let entries: Vec<Entry<'_>> = ranked
        .iter()
        .map(|ranked| Entry { ranked: *ranked, path: &known[ranked.file].path, symbols: &facts[ranked.file].symbols })
        .collect();
    let whole = show(&entries, &heat, 1_000);
    expect_test::expect![[r#"
        src/store.rs
          pub struct EntryStore :3
          EntryStore: pub fn open_store(folder: &str) -> Self :6
          EntryStore: fn hidden(&self) :7
        src/search.rs
          pub fn search_entries(store: &EntryStore) -> usize :3
        lib/other.rs
          pub enum TerminalColour :2
          TerminalColour: RedTone :2
        src/shown.rs
          pub fn render_hits() :2"#]]
    .assert_eq(&whole.text);
    for budget in 0..120 {
        let map = show(&entries, &heat, budget);
        assert!(weir_tokens::count(&map.text) <= budget, "{budget}: {}", map.text);
        assert_eq!(map, show(&entries, &heat, budget), "the same every time");
    }
}

#[test]
fn a_symbol_is_found_by_its_name_a_part_of_it_and_words_of_its_doc() {
    let (_, facts) = project();
    let symbols: Vec<_> = facts.iter().flat_map(|facts| &facts.symbols).collect();
    let first = |query: &str| {
        let found = find(symbols.iter().copied(), query);
        found.first().map(|found| symbols[found.at].path.clone())
    };
    for query in ["search_entries", "searchEntries", "EntryStore::open_store", "open", "opens the store of folder"] {
        let expected = if query.contains("search") { "search_entries" } else { "EntryStore.open_store" };
        assert_eq!(first(query).as_deref(), Some(expected), "{query}");
    }
    assert_eq!(first("kubernetes"), None);
}

#[test]
fn facts_are_kept_as_they_were() {
    let (_, facts) = project();
    for facts in facts {
        assert_eq!(unpack(&pack(facts.mentions.iter().copied())), facts.mentions);
        assert_eq!(symbols_from_text(&symbols_to_text(&facts.symbols)), facts.symbols);
    }
}
