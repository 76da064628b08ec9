//! Python.
//!
//! A name is public if it has no leading underscore, or two on both sides. If `__all__` is a plain list, it decides for
//! the module. An import counts if `__all__` names it, if it is an explicit re-export (`import a as a`, `from .a import
//! *`), or if a file does nothing else. Known misses: `self.x = …` in methods; names created by loops, `match` or
//! `globals()`.

mod exports;

use tree_sitter::Node;

use super::Language;
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "python",
    version: 2,
    extensions: &["py", "pyi", "pyw"],
    file_names: &["SConstruct", "SConscript", "wscript"],
    programs: &["python", "pypy"],
    grammar: weir_grammars::python,
    rows: &[
        ("function_definition", item(ItemKind::Function).body("body").row()),
        ("class_definition", item(ItemKind::Type).open("body").row()),
        ("assignment", item(ItemKind::Constant).name("left").row()),
        ("type_alias_statement", item(ItemKind::Type).name("left").row()),
        ("import_from_statement", item(ItemKind::Export).row()),
        ("import_statement", item(ItemKind::Export).row()),
        ("block", Row::Through),
        ("decorated_definition", Row::Through),
        ("expression_statement", Row::Through),
        ("if_statement", Row::Through),
        ("elif_clause", Row::Through),
        ("else_clause", Row::Through),
        ("try_statement", Row::Through),
        ("except_clause", Row::Through),
        ("except_group_clause", Row::Through),
        ("finally_clause", Row::Through),
        ("with_statement", Row::Through),
    ],
    comments: &["comment", "line_continuation"],
    attributes: &["decorator"],
    atoms: &["string", "concatenated_string"],
    by_lines: &[],
    docs: Docs {
        item: |comment| comment.starts_with("#:"),
        file: |comment| !comment.starts_with("#!") && !comment.contains("coding") && !comment.contains("vim:"),
    },
    hooks: Hooks { names, visibility, values, doc, refine, finish: exports::finish, ..Hooks::NONE },
});

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let mut names = Vec::new();
    match site.node.kind() {
        "assignment" => {
            let mut next = Some(site.node);
            // `a = b = 1` names both.
            while let Some(node) = next.filter(|node| node.kind() == "assignment") {
                bound(node.child_by_field_name("left")?, site, &mut names);
                next = node.child_by_field_name("right");
            }
            if names.iter().any(|name| is_public(name)) {
                names.retain(|name| is_public(name));
            }
        }
        "type_alias_statement" => {
            let name = site.field("left")?;
            names.push(name.split('[').next().unwrap_or(name).trim().to_owned());
        }
        "import_statement" | "import_from_statement" => exports::imported(site, &mut names),
        _ => return None,
    }
    Some(names)
}

/// Collects the names that the left side of an assignment binds.
fn bound(node: Node<'_>, site: &Site<'_>, names: &mut Vec<String>) {
    match node.kind() {
        "identifier" => names.push(site.text.get(node.byte_range()).unwrap_or_default().to_owned()),
        "pattern_list" | "tuple_pattern" | "list_pattern" | "list_splat_pattern" | "parenthesized_expression" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).for_each(|child| bound(child, site, names));
        }
        // A part of another object: `a.b`, `a[0]`.
        _ => {}
    }
}

/// Returns the last value of `a = b = 1`.
fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let mut value = node;
    while value.kind() == "assignment" {
        match value.child_by_field_name("right") {
            Some(right) => value = right,
            None => return Vec::new(),
        }
    }
    if value == node { Vec::new() } else { vec![value] }
}

/// Returns whether a name has no leading underscore, or two on both sides.
pub(super) fn is_public(name: &str) -> bool {
    !name.starts_with('_') || name.len() > 4 && name.starts_with("__") && name.ends_with("__")
}

fn visibility(site: &Site<'_>) -> Visibility {
    let name = match site.node.kind() {
        "assignment" | "import_statement" | "import_from_statement" => {
            let names = names(site).unwrap_or_default();
            return if names.iter().any(|name| is_public(name)) { Visibility::Public } else { Visibility::Private };
        }
        "type_alias_statement" => site.field("left"),
        _ => site.field("name"),
    };
    if name.is_some_and(is_public) { Visibility::Public } else { Visibility::Private }
}

fn doc(node: Node<'_>, text: &str) -> Option<String> {
    let body = match node.kind() {
        "module" => node,
        "function_definition" | "class_definition" => node.child_by_field_name("body")?,
        _ => return None,
    };
    let mut cursor = body.walk();
    let first = body.named_children(&mut cursor).find(|child| child.kind() != "comment")?;
    let string = first.named_child(0).filter(|_| first.kind() == "expression_statement")?;
    let string = match string.kind() {
        "concatenated_string" => string.named_child(0)?,
        _ => string,
    };
    let string = text.get(string.byte_range()).filter(|_| string.kind() == "string")?;
    let string = string.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let string = string.trim_matches(|c| c == '"' || c == '\'');
    Some(string.trim().to_owned())
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    match item.kind {
        ItemKind::Constant if site.inside.is_some() => item.kind = ItemKind::Field,
        // An import inside a class or a function is local to it.
        ItemKind::Export if site.inside.is_some() => return false,
        // The colon before the body.
        ItemKind::Function | ItemKind::Type => {
            let head = item.signature.trim_end_matches(':').trim_end();
            item.signature.truncate(head.len());
        }
        _ => {}
    }
    !item.names.is_empty()
}
