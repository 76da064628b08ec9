//! Rust.

use tree_sitter::{Node, Range};

use super::Language;
use crate::model::{Item, ItemKind, ItemOrigin, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "rust",
    version: 2,
    extensions: &["rs"],
    file_names: &[],
    programs: &["rust-script"],
    grammar: weir_grammars::rust,
    rows: &[
        ("mod_item", item(ItemKind::Module).open("body").row()),
        ("struct_item", item(ItemKind::Type).open("body").row()),
        ("union_item", item(ItemKind::Type).open("body").row()),
        ("enum_item", item(ItemKind::Type).open("body").row()),
        ("type_item", item(ItemKind::Type).row()),
        ("associated_type", item(ItemKind::Type).row()),
        ("trait_item", item(ItemKind::Type).open("body").row()),
        ("impl_item", item(ItemKind::Implementation).name("type").open("body").row()),
        ("function_item", item(ItemKind::Function).body("body").row()),
        ("function_signature_item", item(ItemKind::Function).row()),
        ("field_declaration", item(ItemKind::Field).row()),
        ("enum_variant", item(ItemKind::Variant).row()),
        ("const_item", item(ItemKind::Constant).value("value").row()),
        ("static_item", item(ItemKind::Constant).value("value").row()),
        ("macro_definition", item(ItemKind::Macro).row()),
        ("use_declaration", item(ItemKind::Export).name("argument").row()),
        ("extern_crate_declaration", item(ItemKind::Export).row()),
        ("declaration_list", Row::Through),
        ("field_declaration_list", Row::Through),
        ("enum_variant_list", Row::Through),
        ("foreign_mod_item", Row::Through),
        ("macro_invocation", Row::Macro),
        ("expression_statement", Row::Through),
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["attribute_item", "inner_attribute_item"],
    atoms: &["string_literal", "raw_string_literal", "char_literal"],
    by_lines: &[],
    docs: Docs {
        item: |comment| {
            comment.starts_with("///") && !comment.starts_with("////")
                || comment.starts_with("/**") && !comment.starts_with("/***") && comment.len() > 4
        },
        file: |comment| comment.starts_with("//!") || comment.starts_with("/*!"),
    },
    hooks: Hooks { names, visibility, macros, refine, ..Hooks::NONE },
});

/// Returns the names that a `use` imports.
fn names(site: &Site<'_>) -> Option<Vec<String>> {
    match site.node.kind() {
        "use_declaration" => {
            let mut names = Vec::new();
            used(site.node.child_by_field_name("argument")?, site, MAX_USE_DEPTH, &mut names);
            Some(names)
        }
        _ => None,
    }
}

/// Maximum nesting of a `use` list. Only hostile files exceed it.
const MAX_USE_DEPTH: usize = 50;

/// Collects the names that a `use` imports.
fn used(node: Node<'_>, site: &Site<'_>, depth: usize, names: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    match node.kind() {
        "use_as_clause" => names.extend(node.child_by_field_name("alias").map(text)),
        "scoped_identifier" => names.extend(node.child_by_field_name("name").map(text)),
        "use_wildcard" => names.push("*".to_owned()),
        "identifier" | "self" | "crate" => names.push(text(node)),
        _ => {
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                // The path before a list says where the names are from.
                if node.child_by_field_name("path") != Some(child) {
                    used(child, site, depth, names);
                }
            }
        }
    }
}

fn visibility(site: &Site<'_>) -> Visibility {
    if site.node.kind() == "macro_definition" {
        let exported = site.attributes.iter().any(|attribute| attribute.contains("macro_export"));
        return if exported { Visibility::Public } else { Visibility::Private };
    }
    if matches!(site.node.kind(), "enum_variant" | "impl_item") || is_member_of_trait(site) {
        return match site.node.kind() {
            "impl_item" => Visibility::Public,
            _ => site.inherited(),
        };
    }
    match site.child("visibility_modifier").map(|node| site.text_of(node)) {
        Some("pub") => Visibility::Public,
        Some("pub(self)" | "pub(in self)") | None => Visibility::Private,
        Some(_) => Visibility::Crate,
    }
}

/// Returns whether an item is a member of a trait or of its implementation, and so visible wherever the trait is.
fn is_member_of_trait(site: &Site<'_>) -> bool {
    site.inside.is_some_and(|item| match item.kind {
        ItemKind::Type => !matches!(site.node.kind(), "field_declaration"),
        ItemKind::Implementation => is_of_trait(item),
        _ => false,
    })
}

/// Returns whether an `impl` is of a trait.
fn is_of_trait(item: &Item) -> bool {
    item.names.len() > 1
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    let says = |what: &str| site.attributes.iter().any(|attribute| attribute.replace(' ', "").contains(what));
    if says("#[cfg(test)]") || says("#[test]") || says("::test]") || says("::test(") || says("#[bench]") {
        item.place = ItemOrigin::Test;
    }
    match item.kind {
        // Only a re-export is an interface.
        ItemKind::Export => item.visibility > Visibility::Private,
        ItemKind::Macro => {
            item.signature = format!("macro_rules! {}", item.names.join(""));
            true
        }
        ItemKind::Implementation => {
            item.names.extend(site.field("trait").map(str::to_owned));
            true
        }
        _ => true,
    }
}

/// Returns the tokens of a macro that seems to contain items: in braces, with one of their keywords.
fn macros(site: &Site<'_>) -> Vec<Range> {
    let Some(tokens) = site.child("token_tree") else { return Vec::new() };
    let text = site.text_of(tokens);
    let has_items =
        ["fn ", "struct ", "enum ", "trait ", "type ", "const ", "static ", "mod ", "impl", "use ", "macro_rules"];
    if !text.starts_with('{') || !has_items.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    // `cfg_if!` has its items one level further in.
    if site.field("macro").is_some_and(|name| name.ends_with("cfg_if")) {
        let mut cursor = tokens.walk();
        let arms = tokens.named_children(&mut cursor).filter(|node| node.kind() == "token_tree");
        return arms.filter(|arm| site.text_of(*arm).starts_with('{')).map(inside).collect();
    }
    vec![inside(tokens)]
}

/// Returns the range of a node without its first and last byte, which are brackets.
fn inside(node: Node<'_>) -> Range {
    let mut range = node.range();
    range.start_byte += 1;
    range.start_point.column += 1;
    range.end_byte = (range.end_byte - 1).max(range.start_byte);
    range.end_point.column = range.end_point.column.saturating_sub(1);
    range
}
