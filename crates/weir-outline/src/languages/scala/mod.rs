//! Scala, in both syntaxes.
//!
//! Known misses: the names that a pattern binds (`val (a, b) = …`) count as one name.

use tree_sitter::Node;

use super::Language;
use super::common::{children_of, modifiers};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "scala",
    version: 2,
    extensions: &["scala", "sc", "sbt"],
    file_names: &[],
    programs: &["scala", "scala-cli"],
    grammar: weir_grammars::scala,
    rows: &[
        ("package_clause", item(ItemKind::Module).open("body").row()),
        ("package_object", item(ItemKind::Module).open("body").row()),
        ("class_definition", item(ItemKind::Type).open("body").row()),
        ("object_definition", item(ItemKind::Type).open("body").row()),
        ("trait_definition", item(ItemKind::Type).open("body").row()),
        ("enum_definition", item(ItemKind::Type).open("body").row()),
        ("type_definition", item(ItemKind::Type).row()),
        ("given_definition", item(ItemKind::Implementation).open("body").value("body").row()),
        ("extension_definition", Row::Through),
        ("function_definition", item(ItemKind::Function).body("body").row()),
        ("function_declaration", item(ItemKind::Function).row()),
        ("val_definition", item(ItemKind::Constant).name("pattern").value("value").row()),
        ("var_definition", item(ItemKind::Constant).name("pattern").value("value").row()),
        ("val_declaration", item(ItemKind::Constant).row()),
        ("var_declaration", item(ItemKind::Constant).row()),
        ("simple_enum_case", item(ItemKind::Variant).row()),
        ("full_enum_case", item(ItemKind::Variant).row()),
        ("enum_case_definitions", Row::Through),
        ("template_body", Row::Through),
        ("with_template_body", Row::Through),
        ("enum_body", Row::Through),
    ],
    comments: &["comment", "block_comment"],
    attributes: &["annotation"],
    atoms: &["string", "interpolated_string_expression", "character_literal"],
    by_lines: &[],
    docs: Docs { item: |_| false, file: |_| false },
    hooks: Hooks { names, bodies, visibility, refine, doc, ..Hooks::NONE },
});

/// Returns the names of a declaration, which may have several.
fn names(site: &Site<'_>) -> Option<Vec<String>> {
    // A `given` without a name is known by its type.
    if site.node.kind() == "given_definition" && site.field("name").is_none() {
        return site.field("return_type").map(|of| vec![of.split_whitespace().collect::<Vec<_>>().join(" ")]);
    }
    let several = children_of(site.node, "identifiers");
    let names = several.first().map(|node| children_of(*node, "identifier"))?;
    Some(names.iter().map(|node| site.text_of(*node).to_owned()).collect())
}

/// Returns the `=` before a body, which is omitted with it.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() == "function_definition" { children_of(node, "=") } else { Vec::new() }
}

fn visibility(site: &Site<'_>) -> Visibility {
    let words = modifiers(site);
    let says = |word: &str| words.contains(&word);
    if says("private") || words.iter().any(|word| word.starts_with("private[this")) {
        Visibility::Private
    } else if says("protected")
        || words.iter().any(|word| word.starts_with("private[") || word.starts_with("protected["))
    {
        Visibility::Crate
    } else {
        Visibility::Public
    }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    if site.node.kind() == "package_clause" && site.node.child_by_field_name("body").is_none() {
        return false;
    }
    let body = site.node.child_by_field_name("body").map(|node| node.kind());
    // An alias: `given Ord[Int] = …`.
    if item.kind == ItemKind::Implementation && !matches!(body, Some("template_body" | "with_template_body")) {
        item.kind = ItemKind::Constant;
    }
    if item.kind == ItemKind::Constant && site.inside.is_some_and(|item| item.kind == ItemKind::Type) {
        item.kind = ItemKind::Field;
    }
    // An extension method is written with the type it extends.
    let around = site.is_through("extension_definition").then(|| site.node.parent()).flatten();
    if let Some(around) = around.filter(|node| node.kind() == "extension_definition") {
        let head = site.text.get(around.start_byte()..site.node.start_byte()).unwrap_or_default();
        let head = head.split(['\n', '{']).next().unwrap_or_default().trim();
        item.signature = format!("{head} {}", item.signature);
    }
    item.signature.truncate(item.signature.trim_end_matches(" with").trim_end_matches(':').len());
    true
}

/// Returns the comment that ends directly before an item. The grammar may put it in the preceding block.
fn doc(node: Node<'_>, text: &str) -> Option<String> {
    // Maximum length of a comment in bytes. A hostile file may have an end without a beginning.
    const MAX_COMMENT_BYTES: usize = 16_384;
    let from = text.floor_char_boundary(node.start_byte().saturating_sub(MAX_COMMENT_BYTES));
    let before = text.get(from..node.start_byte()).unwrap_or_default().trim_end();
    let start = before.strip_suffix("*/")?.rfind("/*")?;
    let comment = before.get(start..).filter(|comment| comment.starts_with("/**"))?;
    Some(crate::docs::bare(comment))
}
