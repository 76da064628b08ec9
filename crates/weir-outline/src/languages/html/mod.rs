//! HTML by its structure: title, headings, named elements, forms and loaded resources.
//!
//! Known misses: elements that a script adds; templates of other languages are treated as text.

use tree_sitter::Node;

use super::common::{children, first_of};
use super::{Content, Language};
use crate::model::{Item, ItemKind};
use crate::spec::{Docs, Hooks, Row, Site, Spec, item};

pub(super) static LANGUAGE: Language = Language::walked(Spec {
    name: "html",
    version: 1,
    extensions: &["html", "htm", "xhtml"],
    file_names: &[],
    programs: &[],
    grammar: weir_grammars::html,
    rows: &[
        ("element", Row::Through),
        ("script_element", item(ItemKind::Export).row()),
        ("style_element", item(ItemKind::Key).row()),
    ],
    comments: &["comment"],
    attributes: &[],
    atoms: &["quoted_attribute_value"],
    by_lines: &[],
    docs: Docs { item: |_| false, file: |_| false },
    hooks: Hooks { row, names, refine, doc, ..Hooks::NONE },
})
.with_content(Content::Text);

/// Elements that structure a page, named or not.
const PARTS: [&str; 9] = ["header", "nav", "main", "section", "article", "aside", "footer", "form", "dialog"];
/// Elements that a user fills in.
const FIELDS: [&str; 5] = ["input", "select", "textarea", "button", "output"];
/// Attributes that say what an element is.
const TELLING: [&str; 9] = ["action", "method", "name", "type", "src", "href", "rel", "for", "role"];
/// Maximum length of a text in characters. A longer one is cut.
const MAX_TEXT_CHARS: usize = 80;

/// Returns the row of an element that is shown.
fn row(site: &Site<'_>) -> Option<Row> {
    if site.node.kind() != "element" {
        return None;
    }
    let tag = tag(site.node, site.text)?;
    let kind = match tag {
        "title" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => return Some(item(ItemKind::Heading).row()),
        "link" | "iframe" => return Some(item(ItemKind::Export).row()),
        _ if FIELDS.contains(&tag) => return Some(item(ItemKind::Field).row()),
        // Custom elements have a hyphen in their name.
        _ if PARTS.contains(&tag) || tag.contains('-') || attribute(site.node, site.text, "id").is_some() => {
            ItemKind::Key
        }
        _ => return None,
    };
    Some(item(kind).open_by(|node| Some(node)).row())
}

fn head(element: Node<'_>) -> Option<Node<'_>> {
    first_of(element, &["start_tag", "self_closing_tag"])
}

fn tag<'t>(element: Node<'_>, text: &'t str) -> Option<&'t str> {
    text.get(first_of(head(element)?, &["tag_name"])?.byte_range())
}

fn attributes<'t>(element: Node<'_>, text: &'t str) -> Vec<(&'t str, &'t str)> {
    let nodes = head(element).map(children).unwrap_or_default().into_iter().filter(|node| node.kind() == "attribute");
    let of = |node: Node<'_>| text.get(node.byte_range()).unwrap_or_default();
    nodes
        .filter_map(|node| of(node).split_once('='))
        .map(|(name, value)| (name.trim(), value.trim().trim_matches(['"', '\''])))
        .collect()
}

fn attribute<'t>(element: Node<'_>, text: &'t str, name: &str) -> Option<&'t str> {
    attributes(element, text).into_iter().find(|(other, _)| *other == name).map(|(_, value)| value)
}

fn names(site: &Site<'_>) -> Option<Vec<String>> {
    let tag = tag(site.node, site.text)?;
    let id = attribute(site.node, site.text, "id").map(|id| format!("#{id}"));
    let named = id.or_else(|| attribute(site.node, site.text, "name").map(str::to_owned));
    let loaded =
        || attribute(site.node, site.text, "src").or(attribute(site.node, site.text, "href")).map(str::to_owned);
    Some(vec![named.or_else(loaded).unwrap_or_else(|| tag.to_owned())])
}

fn refine(site: &Site<'_>, item: &mut Item) -> bool {
    let Some(tag) = tag(site.node, site.text) else { return false };
    let id = attribute(site.node, site.text, "id").map(|id| format!("#{id}"));
    let mut signature = format!("{tag}{}", id.unwrap_or_default());
    for (name, value) in attributes(site.node, site.text) {
        if TELLING.contains(&name) && value.len() < MAX_TEXT_CHARS {
            signature.push_str(&format!(" {name}={value}"));
        }
    }
    if item.kind == ItemKind::Heading {
        let said = words(site.node, site.text);
        item.names = vec![said.clone()];
        signature = format!("{signature} {said}");
    }
    item.signature = signature;
    // A plain style sheet or an empty script: nothing that others use.
    item.kind != ItemKind::Export
        || tag == "script" && site.text_of(site.node).len() > "<script></script>".len()
        || item.signature.contains('=')
}

fn words(element: Node<'_>, text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.get(element.byte_range()).unwrap_or_default();
    while let Some((before, tag)) = rest.split_once('<') {
        plain.push_str(before);
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    match plain.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => format!("{}…", &plain[..end]),
        None => plain,
    }
}

/// Returns the page's own description, from its metadata.
fn doc(node: Node<'_>, text: &str) -> Option<String> {
    if node.kind() != "document" {
        return None;
    }
    let start = text.find("name=\"description\"")?;
    let tag_start = text[..start].rfind('<')?;
    let tag = text[tag_start..].split('>').next()?;
    let said = tag.split("content=\"").nth(1)?.split('"').next()?;
    Some(said.to_owned())
}
