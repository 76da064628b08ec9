//! Lua.
//!
//! Known misses: entries added to a table by a loop or by `setmetatable`.

use std::collections::HashSet;

use tree_sitter::Node;

use super::Language;
use super::common::{children, children_of, fields, first_of};
use crate::model::{Item, ItemKind, ItemOrigin, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "lua",
    version: 1,
    extensions: &["lua", "rockspec"],
    file_names: &[".luacheckrc"],
    programs: &["lua", "luajit"],
    grammar: weir_grammars::lua,
    rows: &[
        ("function_declaration", item(ItemKind::Function).body("body").row()),
        ("variable_declaration", item(ItemKind::Constant).row()),
        ("assignment_statement", item(ItemKind::Constant).row()),
        ("do_statement", Row::Through),
        ("if_statement", Row::Through),
        ("else_statement", Row::Through),
        ("block", Row::Through),
    ],
    comments: &["comment", "hash_bang_line"],
    attributes: &[],
    atoms: &["string"],
    by_lines: &[],
    docs: Docs { item: |comment| !comment.starts_with("#!"), file: |comment| !comment.starts_with("#!") },
    hooks: Hooks { names, values, bodies, visibility, refine, finish: offer, ..Hooks::NONE },
});

/// Returns the assignment in a declaration, which has the names and the values.
fn assignment(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "assignment_statement" => Some(node),
        "variable_declaration" => first_of(node, &["assignment_statement"]).or(Some(node)),
        _ => None,
    }
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let list = first_of(assignment(site.node)?, &["variable_list"])?;
    Some(fields(list, "name").into_iter().map(|node| site.text_of(node).to_owned()).collect())
}

fn given(node: Node<'_>) -> Vec<Node<'_>> {
    let list = assignment(node).and_then(|node| first_of(node, &["expression_list"]));
    list.map(|list| fields(list, "value")).unwrap_or_default()
}

fn values(node: Node<'_>) -> Vec<Node<'_>> {
    given(node).into_iter().filter(|node| node.kind() != "function_definition").collect()
}

fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    let functions = given(node).into_iter().filter(|node| node.kind() == "function_definition");
    functions.filter_map(|node| node.child_by_field_name("body")).collect()
}

fn visibility(site: &Site<'_>) -> Visibility {
    let is_local = site.text_of(site.node).starts_with("local");
    let name = names(site).and_then(|names| names.into_iter().next()).or_else(|| site.field("name").map(str::to_owned));
    let is_hidden = name.is_some_and(|name| name.rsplit(['.', ':']).next().is_some_and(|last| last.starts_with('_')));
    if is_local || is_hidden { Visibility::Private } else { Visibility::Public }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    let value = given(site.node).first().copied();
    // An imported module does not belong to this file.
    if value.is_some_and(|node| site.text_of(node).starts_with("require")) && item.visibility == Visibility::Private {
        return false;
    }
    let is_function =
        site.node.kind() == "function_declaration" || value.is_some_and(|node| node.kind() == "function_definition");
    if is_function {
        item.kind = ItemKind::Function;
        item.signature.truncate(item.signature.trim_end_matches("end").trim_end().len());
    }
    true
}

/// Makes what the module returns public: a table of its local names, or one of them.
fn offer(items: &mut Vec<Item>, root: Node<'_>, text: &str) {
    let Some(end) = children(root).into_iter().rfind(|node| node.kind() == "return_statement") else { return };
    let Some(value) = first_of(end, &["expression_list"]).and_then(|list| list.named_child(0)) else { return };
    let of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default().to_owned();
    let fields: Vec<Node<'_>> = match value.kind() {
        "table_constructor" => children_of(value, "field"),
        _ => vec![value],
    };
    let known: HashSet<String> = items.iter().flat_map(|item| item.names.clone()).collect();
    let mut named = HashSet::new();
    for field in fields {
        let offered = of(field.child_by_field_name("value").unwrap_or(field));
        match field.child_by_field_name("name") {
            Some(name) if !known.contains(&offered) => items.push(given_back(field, of(name), offered)),
            _ => {
                named.insert(offered);
            }
        }
    }
    for item in items.iter_mut().filter(|item| item.names.iter().any(|name| named.contains(name))) {
        item.visibility = Visibility::Public;
    }
}

/// Creates an item for a value whose only name is its key in the returned table.
fn given_back(field: Node<'_>, name: String, value: String) -> Item {
    /// Values of more bytes are omitted.
    const MAX_VALUE_BYTES: usize = 80;
    let is_function = value.starts_with("function");
    let value = if is_function { value.split_inclusive(')').next().unwrap_or_default() } else { value.as_str() };
    let shown = if value.len() > MAX_VALUE_BYTES || value.contains('\n') { "…" } else { value };
    let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
    Item {
        kind: if is_function { ItemKind::Function } else { ItemKind::Constant },
        signature: format!("{name} = {shown}"),
        names: vec![name],
        visibility: Visibility::Public,
        place: ItemOrigin::Program,
        doc: None,
        attributes: Vec::new(),
        bytes: field.byte_range(),
        lines: (line(field.start_position().row), line(field.end_position().row)),
        children: Vec::new(),
    }
}
