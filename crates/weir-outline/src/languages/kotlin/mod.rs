//! Kotlin.
//!
//! Known misses: declarations in a local scope of a script.

use tree_sitter::Node;

use super::Language;
use super::common::{children, children_of, first_of, modifiers};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "kotlin",
    version: 1,
    extensions: &["kt", "kts"],
    file_names: &[],
    programs: &["kotlin"],
    grammar: weir_grammars::kotlin,
    rows: &[
        ("class_declaration", item(ItemKind::Type).open_by(body).row()),
        ("object_declaration", item(ItemKind::Type).open_by(body).row()),
        ("companion_object", item(ItemKind::Type).open_by(body).row()),
        ("type_alias", item(ItemKind::Type).name("type").row()),
        ("function_declaration", item(ItemKind::Function).body_kind("function_body").row()),
        ("secondary_constructor", item(ItemKind::Function).body_kind("block").row()),
        ("property_declaration", item(ItemKind::Constant).row()),
        ("enum_entry", item(ItemKind::Variant).body_kind("class_body").row()),
        ("class_body", Row::Through),
        ("enum_class_body", Row::Through),
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["annotation", "file_annotation"],
    atoms: &["string_literal", "character_literal", "multiline_string_literal"],
    by_lines: &[],
    docs: Docs { item: |comment| comment.starts_with("/**"), file: |_| false },
    hooks: Hooks { preprocess, names, values, bodies, visibility, refine, ..Hooks::NONE },
});

const ANNOTATION: &str = "\nannotation class ";

/// Blanks `annotation` before `class`: after an annotation, the grammar takes `annotation class` for an expression.
fn preprocess(text: &str) -> Option<String> {
    text.contains(ANNOTATION).then(|| text.replace(ANNOTATION, "\n           class "))
}

fn body(node: Node<'_>) -> Option<Node<'_>> {
    first_of(node, &["class_body", "enum_class_body"])
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    match site.node.kind() {
        "property_declaration" => {
            let declared = first_of(site.node, &["variable_declaration", "multi_variable_declaration"])?;
            let each = match declared.kind() {
                "variable_declaration" => vec![declared],
                _ => children_of(declared, "variable_declaration"),
            };
            Some(each.into_iter().filter_map(|node| first_of(node, &["identifier"])).map(text).collect())
        }
        "enum_entry" => Some(vec![text(first_of(site.node, &["identifier"])?)]),
        "secondary_constructor" => Some(vec!["constructor".to_owned()]),
        "companion_object" if site.field("name").is_none() => Some(vec!["Companion".to_owned()]),
        _ => None,
    }
}

/// Returns the value of a property, and its delegate.
fn values(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() != "property_declaration" {
        return Vec::new();
    }
    let nodes = children(node);
    let value = nodes.iter().position(|node| node.kind() == "=").and_then(|at| nodes.get(at + 1)).copied();
    value.into_iter().chain(first_of(node, &["property_delegate"])).collect()
}

/// Returns the accessors of a property, and the delegation call of a constructor.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    let nodes = children(node).into_iter();
    let mut bodies: Vec<_> =
        nodes.filter(|node| matches!(node.kind(), "getter" | "setter" | "constructor_delegation_call")).collect();
    if node.kind() == "secondary_constructor" {
        bodies.extend(children(node).into_iter().filter(|node| node.kind() == ":"));
    }
    bodies
}

fn visibility(site: &Site<'_>) -> Visibility {
    let words = modifiers(site);
    if words.contains(&"private") {
        Visibility::Private
    } else if words.contains(&"internal") || words.contains(&"protected") {
        Visibility::Crate
    } else if site.node.kind() == "enum_entry" {
        site.inherited()
    } else {
        Visibility::Public
    }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    let before = site.text.get(..site.node.start_byte()).unwrap_or_default();
    let is_annotation = item.kind == ItemKind::Type
        && (before.ends_with("\nannotation ") || site.text_of(site.node).contains(ANNOTATION));
    if is_annotation && item.signature.starts_with("class ") {
        item.signature.insert_str(0, "annotation ");
    }
    if item.kind == ItemKind::Constant && site.inside.is_some() {
        item.kind = ItemKind::Field;
    }
    true
}
