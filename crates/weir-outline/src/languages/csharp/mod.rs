//! C#.
//!
//! Known misses: both branches of `#if` are shown; code that only exists in an `#else` of half a declaration is not.

use tree_sitter::Node;

use super::Language;
use super::common::{children, children_of, modifiers};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "csharp",
    version: 1,
    extensions: &["cs", "csx"],
    file_names: &[],
    programs: &[],
    grammar: weir_grammars::c_sharp,
    rows: &[
        ("namespace_declaration", item(ItemKind::Module).open("body").row()),
        ("file_scoped_namespace_declaration", item(ItemKind::Module).row()),
        ("class_declaration", item(ItemKind::Type).open("body").row()),
        ("struct_declaration", item(ItemKind::Type).open("body").row()),
        ("record_declaration", item(ItemKind::Type).open("body").row()),
        ("interface_declaration", item(ItemKind::Type).open("body").row()),
        ("enum_declaration", item(ItemKind::Type).open("body").row()),
        ("delegate_declaration", item(ItemKind::Type).row()),
        ("method_declaration", item(ItemKind::Function).body("body").row()),
        ("constructor_declaration", item(ItemKind::Function).body("body").row()),
        ("operator_declaration", item(ItemKind::Function).name("operator").body("body").row()),
        ("conversion_operator_declaration", item(ItemKind::Function).name("type").body("body").row()),
        ("indexer_declaration", item(ItemKind::Function).body("value").row()),
        ("property_declaration", item(ItemKind::Field).value("value").row()),
        ("event_declaration", item(ItemKind::Field).row()),
        ("event_field_declaration", item(ItemKind::Field).row()),
        ("field_declaration", item(ItemKind::Field).row()),
        ("enum_member_declaration", item(ItemKind::Variant).value("value").row()),
        ("local_function_statement", item(ItemKind::Function).body("body").row()),
        ("global_statement", Row::Through),
        ("declaration_list", Row::Through),
        ("enum_member_declaration_list", Row::Through),
        ("preproc_if", Row::Through),
        ("preproc_elif", Row::Through),
        ("preproc_else", Row::Through),
    ],
    comments: &["comment"],
    attributes: &["attribute_list"],
    atoms: &["string_literal", "verbatim_string_literal", "raw_string_literal", "interpolated_string_expression"],
    by_lines: &[],
    docs: Docs { item: |comment| comment.starts_with("///") || comment.starts_with("/**"), file: |_| false },
    hooks: Hooks { names, values, bodies, visibility, refine, ..Hooks::NONE },
});

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    match site.node.kind() {
        "indexer_declaration" => Some(vec!["this".to_owned()]),
        "field_declaration" | "event_field_declaration" => {
            let declared = children_of(site.child("variable_declaration")?, "variable_declarator");
            let names = declared.iter().filter_map(|node| node.child_by_field_name("name").or(node.named_child(0)));
            Some(names.map(|node| site.text_of(node).to_owned()).collect())
        }
        _ => None,
    }
}

/// Returns the values of the names that a field declares.
fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let declared =
        children_of(node, "variable_declaration").into_iter().flat_map(|node| children_of(node, "variable_declarator"));
    let value = |node: Node<'_>| node.named_child_count() > 1;
    declared.filter(|node| value(*node)).filter_map(|node| children(node).into_iter().last()).collect()
}

/// Returns the bodies of accessors and properties, and the initialiser of a constructor.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    let mut bodies = children_of(node, "constructor_initializer");
    if node.kind() == "property_declaration" {
        bodies.extend(children_of(node, "arrow_expression_clause"));
    }
    if let Some(accessors) = node.child_by_field_name("accessors") {
        let accessors = children_of(accessors, "accessor_declaration");
        bodies.extend(accessors.into_iter().filter_map(|node| node.child_by_field_name("body")));
    }
    bodies
}

fn visibility(site: &Site<'_>) -> Visibility {
    let words = modifiers(site);
    if words.contains(&"public") {
        return Visibility::Public;
    }
    if words.contains(&"internal") || words.contains(&"protected") {
        return Visibility::Crate;
    }
    if words.contains(&"private") || words.contains(&"file") {
        return Visibility::Private;
    }
    let kind = site.node.kind();
    if kind.contains("namespace") || kind == "enum_member_declaration" || kind == "local_function_statement" {
        return site.inherited();
    }
    match site.inside {
        Some(item) if item.kind == ItemKind::Type => {
            let of_interface = item.signature.split_whitespace().any(|word| word == "interface");
            if of_interface { site.inherited() } else { Visibility::Private }
        }
        _ => Visibility::Crate,
    }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    // A static constructor cannot be called.
    if site.node.kind() == "constructor_declaration" && modifiers(site).contains(&"static") {
        item.visibility = Visibility::Private;
    }
    item.doc = item.doc.take().and_then(|doc| without_tags(&doc));
    true
}

/// Returns documentation without its XML.
fn without_tags(doc: &str) -> Option<String> {
    let doc = doc.split("</summary>").next().unwrap_or(doc);
    let mut plain = String::with_capacity(doc.len());
    let mut rest = doc;
    while let Some(start) = rest.find('<') {
        plain.push_str(&rest[..start]);
        let tag = &rest[start..];
        let end = tag.find('>').map_or(tag.len(), |end| end + 1);
        // `<see cref="Name"/>` is replaced by the name.
        plain.push_str(tag[..end].split('"').nth(1).filter(|_| tag.starts_with("<see")).unwrap_or_default());
        rest = &tag[end..];
    }
    plain.push_str(rest);
    crate::docs::first_sentence(&plain)
}
