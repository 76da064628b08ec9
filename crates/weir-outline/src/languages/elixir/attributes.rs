//! Module attributes before a declaration in Elixir: `@doc`, `@spec`, `@type` and similar ones.

use tree_sitter::Node;

use super::super::common::{children_of, first_of};
use super::head_name;
use crate::docs;
use crate::model::{Item, ItemKind, Visibility};
use crate::spec::{Row, Site, item};

/// Returns the name after the `@`, if the attribute has an argument.
pub(super) fn word<'t>(site: &Site<'t>) -> Option<&'t str> {
    let call = site.node.child_by_field_name("operand").filter(|node| node.kind() == "call")?;
    call.child_by_field_name("target").map(|node| site.text_of(node))
}

pub(super) fn row(word: &str) -> Option<Row> {
    match word {
        "type" | "typep" | "opaque" => Some(item(ItemKind::Type).row()),
        "callback" | "macrocallback" => Some(item(ItemKind::Function).row()),
        "doc" | "typedoc" | "spec" | "impl" => Some(item(ItemKind::Key).row()),
        _ => None,
    }
}

fn given(node: Node<'_>) -> Option<Node<'_>> {
    first_of(node.child_by_field_name("operand")?, &["arguments"])?.named_child(0)
}

pub(super) fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let word = word(site)?;
    if matches!(word, "doc" | "typedoc" | "spec" | "impl") {
        return Some(vec![word.to_owned()]);
    }
    given(site.node).map(|node| vec![site.text_of(head_name(node)).to_owned()])
}

pub(super) fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    match word(site) {
        Some("typep") => item.visibility = Visibility::Private,
        Some("doc" | "typedoc") => {
            item.doc = given(site.node)
                .and_then(|node| quoted_text(node, site.text))
                .and_then(|doc| docs::first_sentence(&doc));
        }
        _ => {}
    }
    true
}

fn quoted_text(node: Node<'_>, text: &str) -> Option<String> {
    let content = match node.kind() {
        "string" | "sigil" => first_of(node, &["quoted_content"])?,
        _ => return None,
    };
    text.get(content.byte_range()).map(str::to_owned)
}

pub(super) fn module_doc(module: Node<'_>, text: &str) -> Option<String> {
    let inside = first_of(module, &["do_block"])?;
    let documents = children_of(inside, "unary_operator")
        .into_iter()
        .take(4)
        .find(|node| text.get(node.byte_range()).is_some_and(|text| text.starts_with("@moduledoc")))?;
    quoted_text(given(documents)?, text)
}

/// What was found on the way to a declaration.
#[derive(Default)]
struct PendingAttributes {
    doc: Option<String>,
    spec: Option<String>,
    /// `@doc false` or `@impl …`: not for others to call.
    hidden: bool,
}

pub(super) fn finish(items: &mut Vec<Item>, _: Node<'_>, _: &str) {
    attach_attributes(items);
}

/// Gives each declaration the attributes before it, and merges the clauses of a function.
fn attach_attributes(items: &mut Vec<Item>) {
    let mut pending = PendingAttributes::default();
    for mut item in std::mem::take(items) {
        attach_attributes(&mut item.children);
        if item.kind == ItemKind::Key {
            if !record_attribute(&mut pending, &item) {
                items.append(&mut item.children);
            }
            continue;
        }
        let pending = std::mem::take(&mut pending);
        let clause_of = items.last_mut().filter(|last| is_clause(last, &item));
        if let Some(last) = clause_of {
            last.lines.1 = item.lines.1;
            last.bytes.end = item.bytes.end;
            continue;
        }
        item.doc = item.doc.or(pending.doc);
        if pending.hidden {
            item.visibility = Visibility::Private;
        }
        if let Some(spec) = pending.spec {
            item.signature.push(' ');
            item.signature.push_str(&spec);
        }
        items.push(item);
    }
}

/// Records an attribute. Returns false if the item is not one.
fn record_attribute(pending: &mut PendingAttributes, item: &Item) -> bool {
    match item.names.first().map(String::as_str) {
        Some("doc" | "typedoc") => {
            pending.hidden |= item.signature.ends_with("doc false");
            pending.doc = pending.doc.take().or(item.doc.clone());
        }
        Some("spec") => pending.spec = pending.spec.take().or(Some(item.signature.clone())),
        Some("impl") => pending.hidden |= !item.signature.ends_with("impl false"),
        _ => return false,
    }
    true
}

/// Returns whether a function is another clause of the one before it.
fn is_clause(last: &Item, item: &Item) -> bool {
    let takes = |item: &Item| arity(&item.signature);
    matches!(item.kind, ItemKind::Function | ItemKind::Macro)
        && item.kind == last.kind
        && item.names == last.names
        && item.place == last.place
        && takes(last) == takes(item)
}

/// Returns how many arguments the head of a function names.
fn arity(signature: &str) -> usize {
    let Some(start) = signature.find('(') else { return 0 };
    let mut depth = 0_usize;
    let mut count = 0;
    for (at, c) in signature[start..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 1 => count += 1,
            _ => {}
        }
        if depth == 0 {
            return if signature[start + 1..start + at].trim().is_empty() { 0 } else { count + 1 };
        }
    }
    count + 1
}
