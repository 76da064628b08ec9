//! Zig.
//!
//! Known misses: declarations that `comptime` code generates; a `struct` that a function returns from inside a branch.

use tree_sitter::Node;

use super::Language;
use super::common::{children, first_of};
use crate::model::{Item, ItemKind, ItemOrigin, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

/// Node kinds that contain declarations.
const CONTAINERS: [&str; 4] = ["struct_declaration", "enum_declaration", "union_declaration", "opaque_declaration"];

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "zig",
    version: 1,
    extensions: &["zig", "zon"],
    file_names: &[],
    programs: &["zig"],
    grammar: weir_grammars::zig,
    rows: &[
        ("variable_declaration", item(ItemKind::Constant).open_by(container).row()),
        ("function_declaration", item(ItemKind::Function).body("body").open_by(returned).row()),
        ("container_field", item(ItemKind::Field).row()),
        ("test_declaration", item(ItemKind::Function).body_kind("block").row()),
        ("struct_declaration", Row::Through),
        ("enum_declaration", Row::Through),
        ("union_declaration", Row::Through),
        ("opaque_declaration", Row::Through),
    ],
    comments: &["comment"],
    attributes: &[],
    atoms: &["string", "multiline_string", "character"],
    by_lines: &[],
    docs: Docs { item: |comment| comment.starts_with("///"), file: |comment| comment.starts_with("//!") },
    hooks: Hooks { names, values, visibility, refine, ..Hooks::NONE },
});

fn container(node: Node<'_>) -> Option<Node<'_>> {
    first_of(node, &CONTAINERS)
}

fn returned(node: Node<'_>) -> Option<Node<'_>> {
    let body = children(node.child_by_field_name("body")?);
    let given = body.into_iter().filter_map(|node| first_of(node, &["return_expression"]));
    given.into_iter().find_map(container)
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let kinds: &[&str] = match site.node.kind() {
        "variable_declaration" => &["identifier"],
        "test_declaration" => &["string", "identifier"],
        _ => return None,
    };
    Some(vec![site.text_of(first_of(site.node, kinds)?).trim_matches('"').to_owned()])
}

fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let nodes = children(node);
    let after = nodes.iter().position(|node| node.kind() == "=").and_then(|at| nodes.get(at + 1)).copied();
    after.into_iter().collect()
}

fn visibility(site: &Site<'_>) -> Visibility {
    if site.node.kind() == "container_field" {
        return site.inherited();
    }
    let says = |word: &str| children(site.node).iter().any(|node| node.kind() == word);
    if says("pub") || says("export") { Visibility::Public } else { Visibility::Private }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    if site.node.kind() == "test_declaration" {
        item.place = ItemOrigin::Test;
        return true;
    }
    if site.node.kind() == "container_field" {
        let of_enum = site.inside.is_some_and(|item| item.signature.contains("= enum"));
        item.kind = if of_enum { ItemKind::Variant } else { ItemKind::Field };
        // The grammar sees a field in `struct {}`.
        return !item.signature.is_empty();
    }
    if item.kind != ItemKind::Constant {
        return !item.signature.is_empty();
    }
    let value = values(site.node).first().map(|node| site.text_of(*node)).unwrap_or_default();
    if let Some(opened) = container(site.node) {
        let head = site.text_of(opened).split('{').next().unwrap_or_default().trim_end();
        item.kind = ItemKind::Type;
        item.signature = format!("{} {head}", item.signature);
    } else if value.starts_with("error{") {
        item.kind = ItemKind::Type;
    }
    // An import does not belong to this file.
    let is_brought = value.starts_with("@import") || value.starts_with("@This") || value.starts_with("@cImport");
    if is_brought {
        item.kind = ItemKind::Export;
    }
    !(is_brought && item.visibility == Visibility::Private)
}
