//! What JavaScript, TypeScript and TSX share: declarations, names, and which of them a module exports.

use tree_sitter::Node;

use super::exports;
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Row, Site, item};

/// The rows of all three languages.
pub(in crate::languages) const ROWS: &[(&str, Row)] = &[
    ("function_declaration", item(ItemKind::Function).body("body").row()),
    ("generator_function_declaration", item(ItemKind::Function).body("body").row()),
    ("function_expression", item(ItemKind::Function).body("body").row()),
    ("generator_function", item(ItemKind::Function).body("body").row()),
    ("arrow_function", item(ItemKind::Function).body("body").row()),
    ("class_declaration", item(ItemKind::Type).open("body").row()),
    ("class", item(ItemKind::Type).open("body").row()),
    ("method_definition", item(ItemKind::Function).body("body").row()),
    ("field_definition", item(ItemKind::Field).name("property").value("value").row()),
    ("lexical_declaration", item(ItemKind::Constant).row()),
    ("variable_declaration", item(ItemKind::Constant).row()),
    ("assignment_expression", item(ItemKind::Constant).name("left").value("right").row()),
    ("class_body", Row::Through),
    ("export_statement", Row::Through),
    ("expression_statement", Row::Through),
];

/// Returns the row of an `export` that declares nothing itself.
pub(in crate::languages) fn row(site: &Site<'_>) -> Option<Row> {
    if site.node.kind() != "export_statement" {
        return None;
    }
    let declares = |node: Node<'_>| {
        matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function" | "class")
            || node.kind().ends_with("_declaration")
    };
    let value = site.node.child_by_field_name("value");
    let inside = site.node.child_by_field_name("declaration").or(value.filter(|node| declares(*node)));
    let is_import = || site.child("import_alias").is_some();
    (inside.is_none() && !is_import()).then(|| item(ItemKind::Export).value("value").row())
}

pub(in crate::languages) fn names(site: &Site<'_>) -> Option<Vec<String>> {
    match site.node.kind() {
        "lexical_declaration" | "variable_declaration" => {
            let mut names = Vec::new();
            let mut cursor = site.node.walk();
            let declarators = site.node.named_children(&mut cursor).filter(|node| node.kind() == "variable_declarator");
            declarators
                .filter_map(|node| node.child_by_field_name("name"))
                .for_each(|node| bound(node, site, &mut names));
            Some(names)
        }
        "assignment_expression" => Some(exports::assigned(site)),
        "export_statement" => Some(exports::names(site)),
        _ => {
            let name = site.field("name").or_else(|| site.field("property")).map(unquoted);
            // Only a default export may have no name.
            Some(vec![name.unwrap_or("default").to_owned()])
        }
    }
}

/// Returns the names that the left side of a declaration binds.
fn bound(node: Node<'_>, site: &Site<'_>, names: &mut Vec<String>) {
    match node.kind() {
        "identifier" | "shorthand_property_identifier_pattern" | "undefined" => {
            names.push(site.text.get(node.byte_range()).unwrap_or_default().to_owned());
        }
        "pair_pattern" => node.child_by_field_name("value").into_iter().for_each(|node| bound(node, site, names)),
        "assignment_pattern" | "object_assignment_pattern" => {
            node.child_by_field_name("left").into_iter().for_each(|node| bound(node, site, names));
        }
        "object_pattern" | "array_pattern" | "rest_pattern" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).for_each(|child| bound(child, site, names));
        }
        _ => {}
    }
}

/// Returns a name without its quotes, if it is written as a string.
pub(in crate::languages) fn unquoted(name: &str) -> &str {
    let inside = |mark: char| name.strip_prefix(mark).and_then(|name| name.strip_suffix(mark));
    inside('"').or_else(|| inside('\'')).unwrap_or(name)
}

/// Returns the values of a declaration with several names, or the value of `export = value`, which is in no field.
pub(in crate::languages) fn values(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "export_statement" {
        let mut cursor = node.walk();
        return node.children(&mut cursor).skip_while(|child| child.kind() != "=").skip(1).take(1).collect();
    }
    if !matches!(node.kind(), "lexical_declaration" | "variable_declaration") {
        return Vec::new();
    }
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter_map(|node| node.child_by_field_name("value")).collect()
}

/// Returns the visibility of an item: exported statements are public, and class members have their own modifiers.
pub(in crate::languages) fn visibility(site: &Site<'_>) -> Visibility {
    let is_member = matches!(
        site.node.kind(),
        "method_definition" | "field_definition" | "public_field_definition" | "abstract_method_signature"
    ) || site.inside.is_some_and(|item| item.kind == ItemKind::Type);
    if is_member {
        let private = site.field("name").or_else(|| site.field("property")).is_some_and(|name| name.starts_with('#'));
        return match site.child("accessibility_modifier").map(|node| site.text_of(node)) {
            _ if private => Visibility::Private,
            Some("private") => Visibility::Private,
            Some("protected") => Visibility::Crate,
            _ => Visibility::Public,
        };
    }
    let is_global = site.node.kind() == "module" && site.field("name").is_some_and(|name| unquoted(name) != name);
    let exported = is_global
        || matches!(site.node.kind(), "export_statement" | "assignment_expression")
        || site.is_through("export_statement")
        || site.is_through("statement_block") && (site.is_through("ambient_declaration") || site.inside.is_some());
    if exported { Visibility::Public } else { Visibility::Private }
}

pub(in crate::languages) fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    // A constant that holds a function counts as a function.
    let is_function =
        |node: &Node<'_>| matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function");
    match (item.kind, values(site.node).as_slice()) {
        (ItemKind::Constant, [value]) if is_function(value) => item.kind = ItemKind::Function,
        _ => {}
    }
    if item.kind == ItemKind::Field && site.node.child_by_field_name("value").as_ref().is_some_and(is_function) {
        item.kind = ItemKind::Function;
    }
    if site.node.kind() == "assignment_expression" {
        match site.node.child_by_field_name("right") {
            Some(right) if is_function(&right) => item.kind = ItemKind::Function,
            Some(right) if matches!(right.kind(), "identifier" | "object") => item.kind = ItemKind::Export,
            _ => {}
        }
    }
    // An empty `export { }` says that nothing else is exported.
    !item.names.is_empty() || site.node.kind() == "export_statement"
}

/// Returns whether a comment documents what follows.
pub(in crate::languages) fn is_doc(comment: &str) -> bool {
    comment.starts_with("/**") && comment.len() > 5
}

/// Returns whether a comment may say what a file is for.
pub(in crate::languages) fn is_file_doc(comment: &str) -> bool {
    !["#!", "/// <", "// @ts-", "/* eslint", "// eslint", "//#", "/* @"].iter().any(|mark| comment.starts_with(mark))
}
