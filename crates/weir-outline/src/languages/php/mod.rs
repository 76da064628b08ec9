//! PHP.
//!
//! Known misses: declarations inside a function or by `eval`; HTML around the code is skipped.

use tree_sitter::Node;

use super::Language;
use super::common::{children, children_of, modifiers};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "php",
    version: 1,
    extensions: &["php", "phtml", "inc"],
    file_names: &[],
    programs: &["php"],
    grammar: weir_grammars::php,
    rows: &[
        ("namespace_definition", item(ItemKind::Module).open("body").row()),
        ("class_declaration", item(ItemKind::Type).open("body").row()),
        ("interface_declaration", item(ItemKind::Type).open("body").row()),
        ("trait_declaration", item(ItemKind::Type).open("body").row()),
        ("enum_declaration", item(ItemKind::Type).open("body").row()),
        ("function_definition", item(ItemKind::Function).body("body").row()),
        ("method_declaration", item(ItemKind::Function).body("body").row()),
        ("property_declaration", item(ItemKind::Field).body_kind("property_hook_list").row()),
        ("const_declaration", item(ItemKind::Constant).row()),
        ("use_declaration", item(ItemKind::Export).body_kind("use_list").row()),
        ("enum_case", item(ItemKind::Variant).value("value").row()),
        ("declaration_list", Row::Through),
        ("enum_declaration_list", Row::Through),
        ("compound_statement", Row::Through),
        ("if_statement", Row::Through),
        ("else_clause", Row::Through),
        ("else_if_clause", Row::Through),
        ("colon_block", Row::Through),
        ("expression_statement", Row::Through),
    ],
    comments: &["comment"],
    attributes: &["attribute_list"],
    atoms: &["string", "encapsed_string", "heredoc", "nowdoc"],
    by_lines: &[],
    docs: Docs { item: |comment| comment.starts_with("/**"), file: |comment| comment.starts_with("/**") },
    hooks: Hooks { row, names, values, visibility, refine, doc, ..Hooks::NONE },
});

/// Returns the row of a `define` call, which declares a constant.
fn row(site: &Site<'_>) -> Option<Row> {
    let is_define = site.node.kind() == "function_call_expression" && site.field("function") == Some("define");
    is_define.then_some(item(ItemKind::Constant).row())
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    match site.node.kind() {
        "const_declaration" => {
            let declared = children_of(site.node, "const_element");
            Some(declared.iter().filter_map(|node| node.named_child(0)).map(text).collect())
        }
        "property_declaration" => {
            let declared = children_of(site.node, "property_element");
            Some(declared.iter().filter_map(|node| node.child_by_field_name("name")).map(text).collect())
        }
        "use_declaration" => {
            let used = children(site.node).into_iter().filter(|node| matches!(node.kind(), "name" | "qualified_name"));
            Some(used.map(text).collect())
        }
        "function_call_expression" => {
            let name = site.node.child_by_field_name("arguments")?.named_child(0)?;
            Some(vec![text(name).trim_matches(['\'', '"']).to_owned()])
        }
        _ => None,
    }
}

fn values(node: Node<'_>) -> Vec<Node<'_>> {
    let of_constants =
        children_of(node, "const_element").into_iter().filter_map(|node| children(node).into_iter().last());
    let of_properties =
        children_of(node, "property_element").into_iter().filter_map(|node| node.child_by_field_name("default_value"));
    let defined = (node.kind() == "function_call_expression").then(|| node.child_by_field_name("arguments")).flatten();
    let defined = defined.and_then(|node| node.named_child(1));
    of_constants.chain(of_properties).chain(defined).collect()
}

fn visibility(site: &Site<'_>) -> Visibility {
    let words = modifiers(site);
    if words.iter().any(|word| word.starts_with("private") && !word.contains("set")) {
        Visibility::Private
    } else if words.contains(&"protected") {
        Visibility::Crate
    } else {
        Visibility::Public
    }
}

fn refine(_: &Site<'_>, item: &mut Item) -> bool {
    if item.doc.as_deref().is_some_and(|doc| doc.to_ascii_lowercase().starts_with("{@inheritdoc")) {
        item.doc = None;
    }
    true
}

/// Returns the comment after the opening tag, which describes the file if another comment or a blank line follows it.
fn doc(node: Node<'_>, text: &str) -> Option<String> {
    if node.kind() != "program" {
        return None;
    }
    let nodes = children(node);
    let comment = nodes.iter().find(|node| node.kind() != "php_tag").filter(|node| node.kind() == "comment")?;
    let whole = text.get(comment.byte_range()).unwrap_or_default();
    let rest = text.get(comment.end_byte()..).unwrap_or_default();
    let is_apart = rest
        .trim_start_matches([' ', '\r'])
        .strip_prefix('\n')
        .is_some_and(|rest| rest.trim_start_matches([' ', '\r']).starts_with('\n'));
    (whole.starts_with("/**") && is_apart).then(|| crate::docs::bare(whole))
}
