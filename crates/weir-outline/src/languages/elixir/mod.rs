//! Elixir.
//!
//! Known misses: functions that a macro such as `use` generates.

mod attributes;

use tree_sitter::Node;

use super::Language;
use super::common::{children, first_of};
use crate::model::{Item, ItemKind, ItemOrigin, Visibility};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "elixir",
    version: 1,
    extensions: &["ex", "exs"],
    file_names: &["mix.lock"],
    programs: &["elixir"],
    grammar: weir_grammars::elixir,
    rows: &[("do_block", Row::Through), ("else_block", Row::Through)],
    comments: &["comment"],
    attributes: &[],
    atoms: &["string", "charlist", "sigil"],
    by_lines: &[],
    docs: Docs { item: |_| false, file: |_| false },
    hooks: Hooks { row, names, bodies, visibility, refine, doc, finish: attributes::finish, ..Hooks::NONE },
});

/// Returns the row of a node. In Elixir, every declaration is a call.
fn row(site: &Site<'_>) -> Option<Row> {
    if site.node.kind() == "unary_operator" {
        return attributes::word(site).and_then(attributes::row);
    }
    let word = word(site)?;
    let row = match word {
        "defmodule" => item(ItemKind::Module),
        "defprotocol" => item(ItemKind::Type),
        "defimpl" => item(ItemKind::Implementation),
        "def" | "defp" | "defdelegate" | "defguard" | "defguardp" | "test" | "property" => {
            return Some(item(ItemKind::Function).body_kind("do_block").row());
        }
        "defmacro" | "defmacrop" => return Some(item(ItemKind::Macro).body_kind("do_block").row()),
        "defstruct" | "defexception" => return Some(item(ItemKind::Field).row()),
        // Contains declarations, but is not one itself.
        _ if first_of(site.node, &["do_block"]).is_some() => item(ItemKind::Key),
        _ => return None,
    };
    Some(row.open_kind("do_block").row())
}

/// Returns the word that a call begins with.
fn word<'t>(site: &Site<'t>) -> Option<&'t str> {
    let target = site.node.child_by_field_name("target").filter(|node| node.kind() == "identifier")?;
    (site.node.kind() == "call").then(|| site.text_of(target))
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    if site.node.kind() == "unary_operator" {
        return attributes::names(site);
    }
    let given = children(first_of(site.node, &["arguments"])?).into_iter().filter(Node::is_named);
    let given: Vec<_> = given.collect();
    let first = *given.first()?;
    let text = |node: Node<'_>| site.text.get(node.byte_range()).unwrap_or_default().to_owned();
    match word(site)? {
        "defimpl" => {
            let of = given.get(1).map(|node| text(*node).replacen("for: ", "", 1));
            Some(of.into_iter().chain([text(first)]).collect())
        }
        word @ ("defstruct" | "defexception") => Some(vec![word.to_owned()]),
        "test" | "property" => Some(vec![text(first).trim_matches('"').to_owned()]),
        "defmodule" | "defprotocol" => Some(vec![text(first)]),
        _ => Some(vec![text(head_name(first))]),
    }
}

/// Returns the name in the head of a function: `name(x) when …`, `name`, `left <~> right`.
pub(super) fn head_name(head: Node<'_>) -> Node<'_> {
    let child = |field: &str| head.child_by_field_name(field);
    match head.kind() {
        "binary_operator" if child("operator").is_some_and(|node| matches!(node.kind(), "when" | "::")) => {
            child("left").map_or(head, head_name)
        }
        "binary_operator" | "unary_operator" => child("operator").unwrap_or(head),
        "call" => child("target").unwrap_or(head),
        _ => head,
    }
}

/// Returns the body in `, do: …`.
fn bodies(node: Node<'_>) -> Vec<Node<'_>> {
    let Some(given) = first_of(node, &["arguments"]) else { return Vec::new() };
    // The keywords of `defdelegate` say where the function is.
    if node.child_by_field_name("target").is_some_and(|node| node.end_byte() - node.start_byte() == "defdelegate".len())
    {
        return Vec::new();
    }
    let parts = children(given);
    let Some(at) = parts.iter().position(|node| node.kind() == "keywords") else { return Vec::new() };
    let is_body = parts.get(at).and_then(|node| node.named_child(0)).and_then(|pair| pair.child_by_field_name("key"));
    // A key includes its name, a colon and a space: `do: `.
    match is_body {
        Some(key) if key.end_byte() - key.start_byte() <= 4 && at > 0 => parts.into_iter().skip(at - 1).collect(),
        _ => Vec::new(),
    }
}

fn visibility(site: &Site<'_>) -> Visibility {
    match word(site) {
        Some("defp" | "defmacrop" | "defguardp") => Visibility::Private,
        _ => Visibility::Public,
    }
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    if site.node.kind() == "unary_operator" {
        return attributes::refine(site, item);
    }
    if matches!(word(site), Some("test" | "property")) {
        item.place = ItemOrigin::Test;
    }
    true
}

/// Returns the documentation of a module, which is inside it.
fn doc(node: Node<'_>, text: &str) -> Option<String> {
    match node.kind() {
        "source" => children(node)
            .into_iter()
            .find(|node| node.kind() == "call")
            .and_then(|node| attributes::module_doc(node, text)),
        "call" => attributes::module_doc(node, text),
        _ => None,
    }
}
