//! TypeScript; its dialect with JSX is in `tsx`.
//!
//! An item is public if it is exported, there or later; in a file that is not a module, and in ambient declarations,
//! everything is. A member is public unless it is `private` or begins with `#`.

mod preprocess;

use super::Language;
use super::javascript::{DOCS, HOOKS, declared};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language =
    Language::walked(spec("typescript", &["ts", "mts", "cts"], weir_grammars::typescript));

/// Returns the spec shared by both dialects.
pub(in crate::languages) const fn spec(
    name: &'static str,
    extensions: &'static [&'static str],
    grammar: fn() -> tree_sitter::Language,
) -> Spec {
    Spec {
        name,
        version: 2,
        extensions,
        file_names: &[],
        programs: &["tsx", "ts-node"],
        grammar,
        rows: ROWS,
        comments: &["comment", "html_comment", "hash_bang_line"],
        attributes: &["decorator"],
        atoms: &["string", "template_string", "regex"],
        by_lines: &["object_type", "interface_body", "class_body", "statement_block"],
        docs: DOCS,
        hooks: Hooks { preprocess: preprocess::preprocess, row, names, refine, ..HOOKS },
    }
}

const ROWS: &[(&str, Row)] = &[
    ("function_declaration", item(ItemKind::Function).body("body").row()),
    ("function_signature", item(ItemKind::Function).row()),
    ("generator_function_declaration", item(ItemKind::Function).body("body").row()),
    ("function_expression", item(ItemKind::Function).body("body").row()),
    ("generator_function", item(ItemKind::Function).body("body").row()),
    ("arrow_function", item(ItemKind::Function).body("body").row()),
    ("class_declaration", item(ItemKind::Type).open("body").row()),
    ("abstract_class_declaration", item(ItemKind::Type).open("body").row()),
    ("class", item(ItemKind::Type).open("body").row()),
    ("method_definition", item(ItemKind::Function).body("body").row()),
    ("method_signature", item(ItemKind::Function).row()),
    ("abstract_method_signature", item(ItemKind::Function).row()),
    ("call_signature", item(ItemKind::Function).row()),
    ("construct_signature", item(ItemKind::Function).row()),
    ("index_signature", item(ItemKind::Field).row()),
    ("property_signature", item(ItemKind::Field).row()),
    ("public_field_definition", item(ItemKind::Field).value("value").row()),
    ("interface_declaration", item(ItemKind::Type).open("body").row()),
    ("type_alias_declaration", item(ItemKind::Type).row()),
    ("enum_declaration", item(ItemKind::Type).open("body").row()),
    ("enum_assignment", item(ItemKind::Variant).value("value").row()),
    ("internal_module", item(ItemKind::Module).open("body").row()),
    ("module", item(ItemKind::Module).open("body").row()),
    ("import_alias", item(ItemKind::Export).row()),
    ("lexical_declaration", item(ItemKind::Constant).row()),
    ("variable_declaration", item(ItemKind::Constant).row()),
    ("class_body", Row::Through),
    ("interface_body", Row::Through),
    ("enum_body", Row::Through),
    ("statement_block", Row::Through),
    ("ambient_declaration", Row::Through),
    ("export_statement", Row::Through),
    ("expression_statement", Row::Through),
];

/// Returns the row of an enum member without a value, which consists only of its name.
fn row(site: &Site<'_>) -> Option<Row> {
    let is_name = matches!(site.node.kind(), "property_identifier" | "string" | "number" | "computed_property_name");
    if is_name && site.inside.is_some_and(|item| item.kind == ItemKind::Type) {
        return Some(item(ItemKind::Variant).row());
    }
    if is_default_without_name(site) {
        return Some(item(ItemKind::Function).row());
    }
    declared::row(site)
}

/// Returns whether this is `export default function (): T;`: the grammar knows no function without a name and a body.
fn is_default_without_name(site: &Site<'_>) -> bool {
    site.node.is_error() && site.text_of(site.node).starts_with("default function (")
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    if is_default_without_name(site) {
        return Some(vec!["default".to_owned()]);
    }
    let name = match site.node.kind() {
        "property_identifier" | "string" | "number" | "computed_property_name" => {
            declared::unquoted(site.text_of(site.node))
        }
        "call_signature" => "()",
        "construct_signature" => "new()",
        "index_signature" => "[]",
        "import_alias" => site.text_of(site.child("identifier")?),
        _ => return declared::names(site),
    };
    Some(vec![name.to_owned()])
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    // Only a re-export is an interface.
    if site.node.kind() == "import_alias" {
        return site.is_through("export_statement");
    }
    if is_default_without_name(site) {
        item.signature = item.signature.trim_start_matches("default ").to_owned();
        item.visibility = Visibility::Public;
    }
    if item.signature.starts_with("export *") && site.text_of(site.node).starts_with("export type ") {
        item.signature.insert_str("export ".len(), "type ");
    }
    declared::refine(site, item)
}
