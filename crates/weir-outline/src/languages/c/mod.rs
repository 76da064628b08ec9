//! C.
//!
//! Known misses: declarations that a macro generates; a function whose head is written in both branches of an `#if`
//! with one body.

use tree_sitter::Node;

use super::{Language, c_family, c_macros};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "c",
    version: 2,
    extensions: &["c", "h"],
    file_names: &[],
    programs: &["tcc"],
    grammar: weir_grammars::c,
    rows: &[
        ("function_definition", item(ItemKind::Function).body("body").row()),
        ("declaration", item(ItemKind::Constant).open_by(c_family::members).row()),
        ("type_definition", item(ItemKind::Type).open_by(c_family::members).row()),
        ("struct_specifier", item(ItemKind::Type).open("body").row()),
        ("union_specifier", item(ItemKind::Type).open("body").row()),
        ("enum_specifier", item(ItemKind::Type).open("body").row()),
        ("field_declaration", item(ItemKind::Field).open_by(c_family::members).row()),
        ("enumerator", item(ItemKind::Variant).value("value").row()),
        ("preproc_def", item(ItemKind::Constant).row()),
        ("preproc_function_def", item(ItemKind::Macro).body("value").row()),
        ("field_declaration_list", Row::Through),
        ("enumerator_list", Row::Through),
        ("declaration_list", Row::Through),
        ("linkage_specification", Row::Through),
        ("preproc_if", Row::Through),
        ("preproc_ifdef", Row::Through),
        ("preproc_elif", Row::Through),
        ("preproc_elifdef", Row::Through),
        ("preproc_else", Row::Through),
    ],
    comments: &["comment"],
    attributes: &["attribute_declaration"],
    atoms: &["string_literal", "char_literal", "preproc_arg"],
    by_lines: &[],
    docs: Docs { item: |_| true, file: |_| true },
    hooks: Hooks {
        claims: |text| !looks_like_cpp(text),
        preprocess: c_macros::preprocess,
        names: c_family::names,
        values: c_family::values,
        visibility,
        refine: c_family::refine,
        finish,
        ..Hooks::NONE
    },
});

/// Returns whether a header contains lines that are not valid C.
fn looks_like_cpp(text: &str) -> bool {
    const HEADS: [&str; 9] = [
        "class ", "namespace ", "template <", "template<", "using ", "public:", "private:", "protected:", "constexpr ",
    ];
    text.lines().map(str::trim_start).any(|line| HEADS.iter().any(|head| line.starts_with(head)))
}

fn visibility(site: &Site<'_>) -> Visibility {
    if site.inside.is_some() {
        return site.inherited();
    }
    if c_family::is_stored(site, "static") { Visibility::Private } else { Visibility::Public }
}

fn finish(items: &mut Vec<Item>, _: Node<'_>, text: &str) {
    c_family::without_announcements(items);
    // Private items of a header are available to every file that includes it.
    if c_family::is_header(text) {
        items.iter_mut().for_each(|item| item.visibility = Visibility::Public);
    }
}
