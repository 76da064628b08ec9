//! CSS.
//!
//! Known misses: Sass and Less are other languages; a range with two ends in a query (`300px < width < 400px`) counts
//! as a syntax error.

use tree_sitter::Node;

use super::common::{children, first_of};
use super::{Content, Language};
use crate::model::{Item, ItemKind};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "css",
    version: 1,
    extensions: &["css"],
    file_names: &[],
    programs: &[],
    grammar: weir_grammars::css,
    rows: &[
        ("rule_set", item(ItemKind::Key).open_kind("block").row()),
        ("media_statement", item(ItemKind::Module).open_kind("block").row()),
        ("supports_statement", item(ItemKind::Module).open_kind("block").row()),
        ("scope_statement", item(ItemKind::Module).open_kind("block").row()),
        ("at_rule", item(ItemKind::Module).open_kind("block").row()),
        ("keyframes_statement", item(ItemKind::Key).body_kind("keyframe_block_list").row()),
        ("import_statement", item(ItemKind::Export).row()),
        ("declaration", item(ItemKind::Field).row()),
        ("block", Row::Through),
    ],
    comments: &["comment", "js_comment"],
    attributes: &[],
    // A number with its unit is one token; so is a colour.
    atoms: &["string_value", "color_value", "integer_value", "float_value"],
    by_lines: &[],
    docs: Docs { item: |_| true, file: |_| true },
    hooks: Hooks { preprocess, names, values, refine, ..Hooks::NONE },
})
.with_content(Content::Keys);

/// Replaces the comparison in a range query by the colon that the grammar knows.
fn preprocess(text: &str) -> Option<String> {
    let is_query = |line: &str| line.trim_start().starts_with("@media") || line.trim_start().starts_with("@container");
    if !text.lines().any(|line| is_query(line) && line.contains(['<', '>'])) {
        return None;
    }
    let mut preprocessed = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_query(line) && line.matches(['<', '>']).count() == 1 {
            preprocessed.push_str(&line.replace("<=", ": ").replace(">=", ": ").replace(['<', '>'], ":"));
        } else {
            preprocessed.push_str(line);
        }
    }
    Some(preprocessed)
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default();
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match site.node.kind() {
        "declaration" => Some(vec![text(first_of(site.node, &["property_name"])?).to_owned()]),
        "rule_set" => {
            let each = children(first_of(site.node, &["selectors"])?).into_iter().filter(Node::is_named);
            Some(each.filter(|node| node.kind() != "comment").map(|node| flat(text(node))).collect())
        }
        "keyframes_statement" => Some(vec![text(first_of(site.node, &["keyframes_name"])?).to_owned()]),
        _ => Some(vec![flat(text(site.node).split(['{', ';']).next().unwrap_or_default())]),
    }
}

/// Returns everything after the colon.
fn values(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() != "declaration" { Vec::new() } else { children(node).into_iter().skip(2).collect() }
}

fn refine(_: &Site<'_>, item: &mut Item) -> bool {
    /// Values of more characters are omitted.
    const MAX_VALUE_CHARS: usize = 80;
    if item.kind == ItemKind::Module {
        // As written: the tree may come from a modified text.
        item.signature = item.names.join("");
    }
    if item.kind != ItemKind::Field {
        return true;
    }
    // A custom property is an interface; a standard one is not.
    let Some((name, value)) = item.signature.split_once(':').filter(|(name, _)| name.starts_with("--")) else {
        return false;
    };
    if value.chars().count() > MAX_VALUE_CHARS {
        item.signature = format!("{name}: …");
    }
    true
}
