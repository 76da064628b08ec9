//! Ruby.
//!
//! Known misses: methods created by `define_method` in a loop or by `method_missing`; `private` inside a condition.

use std::collections::HashMap;

use tree_sitter::Node;

use super::Language;
use super::common::{children, children_of};
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "ruby",
    version: 1,
    extensions: &["rb", "rake", "gemspec", "ru", "rbw"],
    file_names: &["Rakefile", "Gemfile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Fastfile"],
    programs: &["ruby", "rake"],
    grammar: weir_grammars::ruby,
    rows: &[
        ("module", item(ItemKind::Module).open("body").row()),
        ("class", item(ItemKind::Type).open("body").row()),
        ("singleton_class", item(ItemKind::Implementation).name("value").open("body").row()),
        ("method", item(ItemKind::Function).body("body").row()),
        ("singleton_method", item(ItemKind::Function).body("body").row()),
        ("alias", item(ItemKind::Function).row()),
        ("body_statement", Row::Through),
        ("argument_list", Row::Through),
        ("if", Row::Through),
        ("unless", Row::Through),
        ("then", Row::Through),
        ("else", Row::Through),
        ("begin", Row::Through),
    ],
    comments: &["comment"],
    attributes: &[],
    atoms: &["string", "heredoc_body", "regex", "subshell"],
    by_lines: &[],
    docs: Docs { item: |comment| !is_for_tools(comment), file: |comment| !is_for_tools(comment) },
    hooks: Hooks { row, names, bodies, refine, finish, ..Hooks::NONE },
});

/// Calls that declare fields.
const FIELDS: [&str; 10] = [
    "attr_reader", "attr_writer", "attr_accessor", "attr", "delegate", "def_delegators", "has_many", "has_one",
    "belongs_to", "scope",
];
/// Words that set the visibility of items; removed when all items have been read.
const WORDS: [&str; 7] = [
    "private", "protected", "public", "module_function", "private_class_method", "public_class_method",
    "private_constant",
];
/// Calls whose block belongs to the enclosing item.
const BLOCKS: [&str; 8] =
    ["included", "class_methods", "prepended", "refine", "class_eval", "module_eval", "instance_eval", "concerning"];

fn is_for_tools(comment: &str) -> bool {
    let comment = comment.trim_start_matches(['#', ' ']);
    let tools =
        ["!", "frozen_string_literal", "rubocop:", "encoding:", "typed:", "coding:", "-*-", ":nodoc:", "warn_indent"];
    tools.iter().any(|tool| comment.starts_with(tool))
}

/// Returns the row of a node. In Ruby, many declarations are calls.
fn row(site: &Site<'_>) -> Option<Row> {
    match site.node.kind() {
        "identifier" if WORDS.contains(&site.text_of(site.node)) => Some(item(ItemKind::Key).row()),
        "call" if site.node.child_by_field_name("receiver").is_none() => {
            let method = site.field("method")?;
            let kind = match method {
                _ if FIELDS.contains(&method) => item(ItemKind::Field),
                _ if WORDS.contains(&method) => item(ItemKind::Key).open("arguments"),
                _ if BLOCKS.contains(&method) => item(ItemKind::Key).open_by(block),
                "alias_method" | "define_method" => item(ItemKind::Function),
                "include" | "extend" | "prepend" => item(ItemKind::Export),
                _ => return None,
            };
            Some(kind.row())
        }
        "assignment" => {
            let left = site.node.child_by_field_name("left")?;
            let is_constant = matches!(left.kind(), "constant" | "scope_resolution");
            is_constant.then_some(item(ItemKind::Constant).name("left").open_by(given_block).value("right").row())
        }
        _ => None,
    }
}

fn block(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("block")?.child_by_field_name("body")
}

/// Returns the block of `Point = Struct.new(:x) do … end`.
fn given_block(node: Node<'_>) -> Option<Node<'_>> {
    block(node.child_by_field_name("right").filter(|node| makes_type(*node))?)
}

/// Returns whether a call creates a class.
fn makes_type(node: Node<'_>) -> bool {
    node.kind() == "call"
        && node
            .child_by_field_name("receiver")
            .is_some_and(|node| node.kind() == "constant" && node.end_byte() - node.start_byte() < 7)
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    match site.node.kind() {
        "identifier" => Some(vec![site.text_of(site.node).to_owned()]),
        "call" => {
            let method = site.field("method")?;
            let given = site.node.child_by_field_name("arguments").map(children).unwrap_or_default();
            let given = given
                .into_iter()
                .filter(|node| matches!(node.kind(), "simple_symbol" | "string" | "constant" | "scope_resolution"));
            let given = given.map(|node| site.text_of(node).trim_matches([':', '"', '\'']).to_owned());
            let word = (WORDS.contains(&method) || BLOCKS.contains(&method)).then(|| method.to_owned());
            let most =
                if matches!(method, "alias_method" | "define_method" | "has_many" | "has_one" | "belongs_to" | "scope")
                {
                    1
                } else {
                    usize::MAX
                };
            Some(word.into_iter().chain(given.take(most)).collect())
        }
        _ => None,
    }
}

/// Returns the lambdas and the block of a call.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    if node.kind() != "call" {
        return Vec::new();
    }
    let given = node.child_by_field_name("arguments").map(|node| children_of(node, "lambda")).unwrap_or_default();
    given.into_iter().chain(node.child_by_field_name("block")).collect()
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    if site.node.kind() == "assignment" && site.node.child_by_field_name("right").is_some_and(makes_type) {
        item.kind = ItemKind::Type;
    }
    if site.node.kind() != "call" {
        let mut signature = item.signature.as_str();
        for end in ["end", "do", ";", "="] {
            let shorter = signature.strip_suffix(end).filter(|rest| end == ";" || rest.ends_with([' ', ';', ')']));
            signature = shorter.unwrap_or(signature).trim_end();
        }
        item.signature.truncate(signature.len());
    }
    true
}

fn finish(items: &mut Vec<Item>, _: Node<'_>, _: &str) {
    apply_visibility(items);
}

/// Applies the visibility words among items, and replaces a word or a block by its contents.
fn apply_visibility(items: &mut Vec<Item>) {
    let mut current = Visibility::Public;
    let mut stated = HashMap::new();
    for mut item in std::mem::take(items) {
        apply_visibility(&mut item.children);
        if item.kind == ItemKind::Key {
            let inside = std::mem::take(&mut item.children);
            current = apply_visibility_word(&item.names, inside, (current, &mut stated), items);
            continue;
        }
        let is_of_class = item.signature.starts_with("def self.");
        if matches!(item.kind, ItemKind::Function | ItemKind::Field) && !is_of_class {
            item.visibility = current;
        }
        items.push(item);
    }
    for item in items.iter_mut() {
        let named = item.names.iter().find_map(|name| stated.get(name));
        item.visibility = named.copied().unwrap_or(item.visibility);
    }
}

/// Applies a visibility word to the items it names or contains. Returns the visibility of what follows.
fn apply_visibility_word(
    names: &[String],
    inside: Vec<Item>,
    (current, of_names): (Visibility, &mut HashMap<String, Visibility>),
    items: &mut Vec<Item>,
) -> Visibility {
    let Some((word, named)) = names.split_first() else { return current };
    if BLOCKS.contains(&word.as_str()) {
        items.extend(inside);
        return current;
    }
    let stated = match word.as_str() {
        "private" | "protected" | "private_class_method" | "private_constant" => Visibility::Private,
        _ => Visibility::Public,
    };
    if inside.is_empty() && named.is_empty() {
        return stated;
    }
    of_names.extend(named.iter().map(|name| (name.clone(), stated)));
    items.extend(inside.into_iter().map(|item| Item { visibility: stated, ..item }));
    current
}
