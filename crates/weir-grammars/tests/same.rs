//! Compares the tables of every grammar with those of its package.
#![allow(unsafe_code)]

use tree_sitter::Language;

/// The beginning of `TSLanguage`, which every version of tree-sitter since 13 has.
#[repr(C)]
struct Head {
    version: u32,
    symbols: u32,
    aliases: u32,
    tokens: u32,
    external_tokens: u32,
    states: u32,
    large_states: u32,
    productions: u32,
    fields: u32,
    longest_alias_sequence: u16,
    parse_table: *const u16,
    small_parse_table: *const u16,
    small_parse_table_map: *const u32,
}

/// Returns the tables of a grammar: of large states, of small states, and where each small state begins.
fn tables(language: Language) -> (Vec<u16>, Vec<u16>, Vec<u32>) {
    // SAFETY: a language begins with these fields, and is never freed, because it is a constant of the program.
    let head = unsafe { &*language.into_raw().cast::<Head>() };
    assert!((13..=15).contains(&head.version), "{}", head.version);
    let large = (head.large_states * head.symbols) as usize;
    // SAFETY: tree-sitter reads the same.
    let large = unsafe { std::slice::from_raw_parts(head.parse_table, large) };
    let count = (head.states - head.large_states) as usize;
    if count == 0 {
        return (large.to_vec(), Vec::new(), Vec::new());
    }
    // SAFETY: as above.
    let map = unsafe { std::slice::from_raw_parts(head.small_parse_table_map, count) };
    // SAFETY: as above; `at` does not leave the table, because a state's entry says how long it is.
    let read = |at: usize| unsafe { *head.small_parse_table.add(at) };
    let end = |&start: &u32| {
        let start = start as usize;
        (0..read(start)).fold(start + 1, |at, _| at + 2 + usize::from(read(at + 1)))
    };
    let small = map.iter().map(end).max().unwrap_or_default();
    (large.to_vec(), (0..small).map(read).collect(), map.to_vec())
}

#[test]
fn grammars_have_the_tables_of_their_packages() {
    let grammars: &[(&str, Language, Language)] = &[
        ("c", weir_grammars::c(), tree_sitter_c::LANGUAGE.into()),
        ("c_sharp", weir_grammars::c_sharp(), tree_sitter_c_sharp::LANGUAGE.into()),
        ("cpp", weir_grammars::cpp(), tree_sitter_cpp::LANGUAGE.into()),
        ("css", weir_grammars::css(), tree_sitter_css::LANGUAGE.into()),
        ("elixir", weir_grammars::elixir(), tree_sitter_elixir::LANGUAGE.into()),
        ("go", weir_grammars::go(), tree_sitter_go::LANGUAGE.into()),
        ("html", weir_grammars::html(), tree_sitter_html::LANGUAGE.into()),
        ("java", weir_grammars::java(), tree_sitter_java::LANGUAGE.into()),
        ("javascript", weir_grammars::javascript(), tree_sitter_javascript::LANGUAGE.into()),
        ("kotlin", weir_grammars::kotlin(), tree_sitter_kotlin_ng::LANGUAGE.into()),
        ("lua", weir_grammars::lua(), tree_sitter_lua::LANGUAGE.into()),
        ("php", weir_grammars::php(), tree_sitter_php::LANGUAGE_PHP.into()),
        ("python", weir_grammars::python(), tree_sitter_python::LANGUAGE.into()),
        ("ruby", weir_grammars::ruby(), tree_sitter_ruby::LANGUAGE.into()),
        ("rust", weir_grammars::rust(), tree_sitter_rust::LANGUAGE.into()),
        ("scala", weir_grammars::scala(), tree_sitter_scala::LANGUAGE.into()),
        ("swift", weir_grammars::swift(), tree_sitter_swift::LANGUAGE.into()),
        ("tsx", weir_grammars::tsx(), tree_sitter_typescript::LANGUAGE_TSX.into()),
        ("typescript", weir_grammars::typescript(), tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into()),
        ("yaml", weir_grammars::yaml(), tree_sitter_yaml::LANGUAGE.into()),
        ("zig", weir_grammars::zig(), tree_sitter_zig::LANGUAGE.into()),
    ];
    for (name, packed, package) in grammars {
        assert!(tables(packed.clone()) == tables(package.clone()), "the tables of {name} differ");
    }
}
