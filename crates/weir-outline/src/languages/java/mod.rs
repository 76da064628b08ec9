//! Java.
//!
//! Known misses: an unclosed bracket inside a method may lose the class around it.

use tree_sitter::Node;

use super::Language;
use super::common::{fields, modifiers};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "java",
    version: 1,
    extensions: &["java"],
    file_names: &[],
    programs: &[],
    grammar: weir_grammars::java,
    rows: &[
        ("class_declaration", item(ItemKind::Type).open("body").row()),
        ("interface_declaration", item(ItemKind::Type).open("body").row()),
        ("enum_declaration", item(ItemKind::Type).open("body").row()),
        ("record_declaration", item(ItemKind::Type).open("body").row()),
        ("annotation_type_declaration", item(ItemKind::Type).open("body").row()),
        ("method_declaration", item(ItemKind::Function).body("body").row()),
        ("constructor_declaration", item(ItemKind::Function).body("body").row()),
        ("compact_constructor_declaration", item(ItemKind::Function).body("body").row()),
        ("annotation_type_element_declaration", item(ItemKind::Function).row()),
        ("field_declaration", item(ItemKind::Field).row()),
        ("constant_declaration", item(ItemKind::Field).row()),
        ("enum_constant", item(ItemKind::Variant).body("body").row()),
        ("module_declaration", item(ItemKind::Module).body("body").row()),
        ("class_body", Row::Through),
        ("interface_body", Row::Through),
        ("enum_body", Row::Through),
        ("enum_body_declarations", Row::Through),
        ("annotation_type_body", Row::Through),
    ],
    comments: &["line_comment", "block_comment"],
    attributes: &["annotation", "marker_annotation"],
    atoms: &["string_literal", "character_literal"],
    by_lines: &[],
    docs: Docs { item: |comment| comment.starts_with("/**"), file: |_| false },
    hooks: Hooks { names, values, visibility, refine, ..Hooks::NONE },
});

/// Returns the names of a field, which may declare several.
fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let declared = fields(site.node, "declarator");
    if declared.is_empty() {
        return None;
    }
    let names = declared.iter().filter_map(|node| node.child_by_field_name("name"));
    Some(names.map(|node| site.text_of(node).to_owned()).collect())
}

fn values(node: Node<'_>) -> Vec<Node<'_>> {
    fields(node, "declarator").into_iter().filter_map(|node| node.child_by_field_name("value")).collect()
}

fn visibility(site: &Site<'_>) -> Visibility {
    let words = modifiers(site);
    if words.contains(&"private") {
        return Visibility::Private;
    }
    let of_interface = site.inside.is_some_and(|item| is_interface(&item.signature));
    if words.contains(&"public") {
        Visibility::Public
    } else if of_interface || site.node.kind() == "enum_constant" {
        site.inherited()
    } else {
        Visibility::Crate
    }
}

fn is_interface(signature: &str) -> bool {
    signature.split_whitespace().any(|word| word.trim_start_matches('@') == "interface")
}

fn refine(_: &Site<'_>, item: &mut Item) -> bool {
    // Inherited documentation adds nothing.
    if item.doc.as_deref().is_some_and(|doc| doc.starts_with("{@inheritDoc")) {
        item.doc = None;
    }
    true
}
