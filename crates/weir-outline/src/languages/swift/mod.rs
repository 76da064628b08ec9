//! Swift.
//!
//! Known misses: declarations that a macro or a result builder generates.

use tree_sitter::Node;

use super::Language;
use super::common::{children_of, fields, modifiers};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "swift",
    version: 2,
    extensions: &["swift"],
    file_names: &[],
    programs: &["swift"],
    grammar: weir_grammars::swift,
    rows: &[
        ("class_declaration", item(ItemKind::Type).open("body").row()),
        ("protocol_declaration", item(ItemKind::Type).open("body").row()),
        ("typealias_declaration", item(ItemKind::Type).row()),
        ("associatedtype_declaration", item(ItemKind::Type).row()),
        ("function_declaration", item(ItemKind::Function).body("body").row()),
        ("protocol_function_declaration", item(ItemKind::Function).row()),
        ("init_declaration", item(ItemKind::Function).body("body").row()),
        ("subscript_declaration", item(ItemKind::Function).body_kind("computed_property").row()),
        ("macro_declaration", item(ItemKind::Macro).row()),
        ("property_declaration", item(ItemKind::Constant).body("computed_value").value("value").row()),
        ("protocol_property_declaration", item(ItemKind::Field).row()),
        ("enum_entry", item(ItemKind::Variant).row()),
        ("class_body", Row::Through),
        ("enum_class_body", Row::Through),
        ("protocol_body", Row::Through),
    ],
    comments: &["comment", "multiline_comment"],
    attributes: &["attribute"],
    atoms: &["line_string_literal", "multi_line_string_literal", "raw_string_literal"],
    by_lines: &[],
    docs: Docs { item: |comment| comment.starts_with("///") || comment.starts_with("/**"), file: |_| false },
    hooks: Hooks { names, bodies, visibility, refine, finish: |items, _, _| conform(items), ..Hooks::NONE },
});

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    match site.node.kind() {
        "property_declaration" | "protocol_property_declaration" => {
            let names = fields(site.node, "name").into_iter().filter(|node| node.kind() == "pattern");
            Some(names.map(|node| text(node.child_by_field_name("bound_identifier").unwrap_or(node))).collect())
        }
        "enum_entry" => {
            let names = fields(site.node, "name").into_iter().filter(|node| node.kind() == "simple_identifier");
            Some(names.map(text).collect())
        }
        "subscript_declaration" => Some(vec!["subscript".to_owned()]),
        "macro_declaration" => {
            Some(children_of(site.node, "simple_identifier").into_iter().take(1).map(text).collect())
        }
        _ => None,
    }
}

/// Returns the observers of a property.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    children_of(node, "willset_didset_block")
}

fn visibility(site: &Site<'_>) -> Visibility {
    let words = modifiers(site);
    if words.contains(&"private") || words.contains(&"fileprivate") {
        return Visibility::Private;
    }
    if words.contains(&"public") || words.contains(&"open") {
        return Visibility::Public;
    }
    let around = site.inside.map_or("", |item| item.signature.as_str());
    let of_protocol = around.split_whitespace().any(|word| word == "protocol");
    let of_public_extension = around.starts_with("public extension");
    if site.node.kind() == "enum_entry" || of_protocol || of_public_extension {
        return site.inherited();
    }
    if is_extension(site) { Visibility::Public } else { Visibility::Crate }
}

fn is_extension(site: &Site<'_>) -> bool {
    site.field("declaration_kind") == Some("extension")
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    if is_extension(site) {
        item.kind = ItemKind::Implementation;
    }
    if item.kind == ItemKind::Constant && site.inside.is_some() {
        item.kind = ItemKind::Field;
    }
    true
}

/// Names the protocols of extensions without members, which only declare conformance.
fn conform(items: &mut [Item]) {
    for item in items.iter_mut().filter(|item| item.kind == ItemKind::Implementation && item.children.is_empty()) {
        if let Some((_, what)) = item.signature.split_once(": ") {
            item.names.push(what.to_owned());
        }
    }
}
