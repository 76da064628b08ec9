//! What C and C++ share: names nested in declarators, and macros that a grammar cannot know.

use tree_sitter::Node;

use super::common::{children, fields};
use crate::model::{Item, ItemKind};
use crate::spec::Site;

pub(super) fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let declared = fields(site.node, "declarator");
    if declared.is_empty() {
        let of_type = site.node.child_by_field_name("type").and_then(|node| node.child_by_field_name("name"));
        let own = site.node.child_by_field_name("name").or(of_type)?;
        return Some(vec![flat(site.text_of(own))]);
    }
    Some(declared.into_iter().filter_map(name_in).map(|node| name_of(site.text_of(node))).collect())
}

/// Returns a name on one line. A conversion operator is named by its type only.
fn name_of(text: &str) -> String {
    let text = if text.starts_with("operator ") { text.split('(').next().unwrap_or(text) } else { text };
    flat(text)
}

pub(super) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn name_in(mut node: Node<'_>) -> Option<Node<'_>> {
    loop {
        match node.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "primitive_type"
            | "operator_name"
            | "operator_cast"
            | "qualified_identifier"
            | "destructor_name"
            | "template_function" => return Some(node),
            _ => node = inner(node)?,
        }
    }
}

fn inner(node: Node<'_>) -> Option<Node<'_>> {
    let is_declarator = |node: &Node<'_>| node.kind().ends_with("declarator") || node.kind().ends_with("identifier");
    node.child_by_field_name("declarator").or_else(|| children(node).into_iter().find(is_declarator))
}

/// Returns whether a declaration is of a function, which the innermost declarator around the name determines.
pub(super) fn is_function(node: Node<'_>) -> bool {
    let Some(mut node) = node.child_by_field_name("declarator") else { return false };
    let mut around = "";
    while name_in(node) != Some(node) {
        // Parentheses around a name change nothing.
        if node.kind() != "parenthesized_declarator" {
            around = node.kind();
        }
        match inner(node) {
            Some(next) => node = next,
            None => return false,
        }
    }
    around == "function_declarator" || node.kind() == "operator_cast"
}

pub(super) fn members(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("type")?.child_by_field_name("body")
}

pub(super) fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let declared = fields(node, "declarator").into_iter().filter_map(|node| node.child_by_field_name("value"));
    declared.chain(node.child_by_field_name("default_value")).chain(preproc_value(node)).collect()
}

fn preproc_value(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("value").filter(|_| node.kind() == "preproc_def")
}

/// Returns whether a storage class such as `static` precedes a declaration.
pub(super) fn is_stored(site: &Site<'_>, word: &str) -> bool {
    children(site.node).iter().any(|node| node.kind() == "storage_class_specifier" && site.text_of(*node) == word)
}

/// Adjusts an item as both languages require, and returns whether to keep it.
pub(super) fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    let has = |field: &str| site.node.child_by_field_name(field).is_some();
    match site.node.kind() {
        // A forward declaration: the type is declared elsewhere.
        "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier" if !has("body") => return false,
        // A macro without a value is an include guard.
        "preproc_def" if !has("value") => return false,
        "declaration" | "field_declaration" if is_function(site.node) => item.kind = ItemKind::Function,
        "declaration" | "field_declaration" if !has("declarator") => item.kind = ItemKind::Type,
        "field_declaration" => item.kind = ItemKind::Field,
        _ => {}
    }
    // A multi-line macro does not fit on one line.
    if site.node.kind().starts_with("preproc") && item.signature.contains('\\') {
        let head = item.signature.split('\\').next().unwrap_or_default().trim_end();
        item.signature = format!("{head} …");
    }
    item.doc = item.doc.take().and_then(|doc| {
        let doc = doc.trim_start_matches(['<', '=', '*', '-', ' ']);
        doc.chars().any(char::is_alphanumeric).then(|| doc.to_owned())
    });
    !item.signature.is_empty()
}

/// Merges a function that is declared and later defined.
pub(super) fn without_announcements(items: &mut Vec<Item>) {
    let mut kept: Vec<Item> = Vec::with_capacity(items.len());
    let mut seen = std::collections::HashMap::new();
    for item in items.drain(..) {
        if item.kind != ItemKind::Function {
            kept.push(item);
            continue;
        }
        match seen.get(&item.signature).and_then(|at: &usize| kept.get_mut(*at)) {
            Some(earlier) if earlier.lines.1 - earlier.lines.0 < item.lines.1 - item.lines.0 => {
                let doc = item.doc.clone().or(earlier.doc.take());
                *earlier = Item { doc, ..item };
            }
            Some(_) => {}
            None => {
                seen.insert(item.signature.clone(), kept.len());
                kept.push(item);
            }
        }
    }
    *items = kept;
}

/// Returns whether the text is a header, which shows in its include guard.
pub(super) fn is_header(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}');
    let mut lines = text.lines().map(str::trim).filter(|line| line.starts_with('#'));
    let Some(first) = lines.next() else { return false };
    let words: Vec<&str> = first.split_whitespace().collect();
    match words.as_slice() {
        ["#pragma", "once"] => true,
        ["#ifndef", guard] | ["#if", guard] => {
            let guard = guard.trim_start_matches("!defined(").trim_end_matches(')');
            lines.next().is_some_and(|line| {
                line.split_whitespace().eq(["#define", guard]) || line.starts_with(&format!("#define {guard} "))
            })
        }
        _ => false,
    }
}
