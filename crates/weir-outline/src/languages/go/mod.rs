//! Go.
//!
//! A name is public if it begins with a capital; a method also needs such a receiver. A method's name is
//! `Receiver.Name`.

use tree_sitter::Node;

use super::Language;
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "go",
    version: 1,
    extensions: &["go"],
    file_names: &[],
    programs: &[],
    grammar: weir_grammars::go,
    rows: &[
        ("function_declaration", item(ItemKind::Function).body("body").row()),
        ("method_declaration", item(ItemKind::Function).body("body").row()),
        ("type_spec", item(ItemKind::Type).open("type").row()),
        ("type_alias", item(ItemKind::Type).row()),
        ("const_spec", item(ItemKind::Constant).value("value").row()),
        ("var_spec", item(ItemKind::Constant).value("value").row()),
        ("field_declaration", item(ItemKind::Field).row()),
        ("method_elem", item(ItemKind::Function).row()),
        ("type_elem", item(ItemKind::Field).row()),
        ("type_declaration", Row::Through),
        ("const_declaration", Row::Through),
        ("var_declaration", Row::Through),
        ("var_spec_list", Row::Through),
        ("struct_type", Row::Through),
        ("interface_type", Row::Through),
        ("field_declaration_list", Row::Through),
    ],
    comments: &["comment"],
    attributes: &[],
    atoms: &["interpreted_string_literal", "raw_string_literal", "rune_literal"],
    by_lines: &["field_declaration_list", "interface_type", "statement_list"],
    docs: Docs { item: is_doc, file: is_doc },
    hooks: Hooks { names, visibility, refine, ..Hooks::NONE },
});

/// Returns whether a comment is documentation, and not a directive for the compiler or a tool.
fn is_doc(comment: &str) -> bool {
    !["//go:", "// +build", "//nolint", "//line ", "//export ", "//lint:"].iter().any(|mark| comment.starts_with(mark))
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let node = site.node;
    let mut names: Vec<String> = match node.kind() {
        "method_declaration" => {
            let receiver = base(node.child_by_field_name("receiver")?, site)?;
            vec![format!("{receiver}.{}", site.field("name")?)]
        }
        "type_elem" => {
            (node.named_child_count() == 1).then(|| base(node.named_child(0)?, site)).flatten().into_iter().collect()
        }
        "const_spec" | "var_spec" | "field_declaration" => {
            let mut cursor = node.walk();
            let named = node.children_by_field_name("name", &mut cursor).filter(Node::is_named);
            named.map(|name| site.text_of(name).to_owned()).collect()
        }
        _ => return None,
    };
    // An embedded type names the field.
    if names.is_empty() && node.kind() == "field_declaration" {
        names.extend(base(node.child_by_field_name("type")?, site));
    }
    if names.iter().any(|name| is_public(name)) {
        names.retain(|name| is_public(name));
    }
    Some(names)
}

/// Returns the name of a type without its package, pointer and arguments.
fn base(node: Node<'_>, site: &Site<'_>) -> Option<String> {
    match node.kind() {
        "type_identifier" | "identifier" => Some(site.text.get(node.byte_range())?.to_owned()),
        "qualified_type" => base(node.child_by_field_name("name")?, site),
        "generic_type" | "parameter_declaration" => base(node.child_by_field_name("type")?, site),
        "parameter_list" | "pointer_type" | "parenthesized_type" => base(node.named_child(0)?, site),
        _ => None,
    }
}

/// Returns whether every part of a name begins with a capital.
fn is_public(name: &str) -> bool {
    name.split('.').all(|part| part.starts_with(char::is_uppercase))
}

fn visibility(site: &Site<'_>) -> Visibility {
    let names = names(site).or_else(|| site.field("name").map(|name| vec![name.to_owned()])).unwrap_or_default();
    // A union of types has no name and belongs to its interface.
    let public = names.iter().any(|name| is_public(name)) || names.is_empty() && site.node.kind() == "type_elem";
    if public { Visibility::Public } else { Visibility::Private }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    let keyword = match site.node.kind() {
        "type_spec" | "type_alias" => "type",
        "const_spec" => "const",
        "var_spec" => "var",
        _ => return true,
    };
    item.signature = format!("{keyword} {}", item.signature);
    match site.node.child_by_field_name("type").map(|node| node.kind()) {
        Some("struct_type") if site.node.kind() == "type_spec" => item.signature.push_str(" struct"),
        Some("interface_type") if site.node.kind() == "type_spec" => item.signature.push_str(" interface"),
        _ => {}
    }
    true
}
