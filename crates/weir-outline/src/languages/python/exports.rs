//! What a Python module offers: `__all__` if there is one, and re-exported imports.

use std::collections::HashSet;

use tree_sitter::Node;

use super::is_public;
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::Site;

pub(super) fn imported(site: &Site<'_>, names: &mut Vec<String>) {
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    let mut cursor = site.node.walk();
    for node in site.node.children(&mut cursor) {
        match node.kind() {
            "wildcard_import" => names.push("*".to_owned()),
            "aliased_import" => names.extend(node.child_by_field_name("alias").map(text)),
            "dotted_name" if site.node.child_by_field_name("module_name") != Some(node) => {
                let name = text(node);
                names.push(name.split('.').next().unwrap_or(&name).to_owned());
            }
            _ => {}
        }
    }
}

pub(super) fn finish(items: &mut Vec<Item>, root: Node<'_>, text: &str) {
    let listed = all(root, text);
    let imports_only = items.iter().all(|item| item.kind == ItemKind::Export || is_dunder(item));
    for item in items.iter_mut() {
        if item.kind == ItemKind::Export {
            let offered = offered(&item.signature);
            let relative = imports_only && item.signature.starts_with("from .");
            item.names.retain(|name| match &listed {
                Some(listed) => listed.contains(name),
                None => offered.contains(name.as_str()) || relative && is_public(name),
            });
            item.visibility = Visibility::Public;
            continue;
        }
        let Some(listed) = &listed else { continue };
        if item.names.iter().any(|name| listed.contains(name)) {
            item.names.retain(|name| listed.contains(name));
            item.visibility = Visibility::Public;
        } else {
            item.visibility = Visibility::Private;
        }
    }
    items.retain(|item| !item.names.is_empty());
}

fn is_dunder(item: &Item) -> bool {
    item.names.iter().all(|name| name.starts_with("__"))
}

/// Returns the names that an import re-exports: `from .a import *`, `import a as a`.
fn offered(import: &str) -> HashSet<&str> {
    let list = import.rsplit_once("import").map_or("", |(_, list)| list);
    let twice = list.split([',', '(', ')']).filter_map(|part| part.trim().split_once(" as "));
    let mut offered: HashSet<&str> = twice.filter(|(name, alias)| name == alias).map(|(name, _)| name).collect();
    if import.starts_with("from .") {
        offered.insert("*");
    }
    offered
}

/// Returns the names in `__all__`, if it is a plain list at the top level that is not modified dynamically.
fn all(root: Node<'_>, text: &str) -> Option<HashSet<String>> {
    let text_of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    let mut names: Option<HashSet<String>> = None;
    let mut cursor = root.walk();
    for statement in root.named_children(&mut cursor).filter(|node| node.kind() == "expression_statement") {
        let Some(node) = statement.named_child(0) else { continue };
        let is_all = |field: &str| node.child_by_field_name(field).is_some_and(|node| text_of(node) == "__all__");
        match node.kind() {
            "assignment" if is_all("left") => names = Some(strings(node.child_by_field_name("right")?, text)?),
            "augmented_assignment" if is_all("left") => {
                let more = strings(node.child_by_field_name("right")?, text)?;
                names.get_or_insert_default().extend(more);
            }
            "call" if text_of(node).starts_with("__all__.") => return None,
            _ => {}
        }
    }
    names
}

/// Returns the strings of a list or a tuple that contains nothing else.
fn strings(list: Node<'_>, text: &str) -> Option<HashSet<String>> {
    if !matches!(list.kind(), "list" | "tuple" | "expression_list") {
        return None;
    }
    let mut cursor = list.walk();
    let members = list.named_children(&mut cursor).filter(|node| node.kind() != "comment");
    members
        .map(|node| {
            let string = text.get(node.byte_range()).filter(|_| node.kind() == "string")?;
            let name = string.trim_start_matches(['u', 'b', 'r']).trim_matches(['"', '\'']);
            Some(name.to_owned())
        })
        .collect()
}
