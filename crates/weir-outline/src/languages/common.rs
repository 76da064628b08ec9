//! What several languages share: modifiers, and ways to inspect a node.

use tree_sitter::Node;

use crate::spec::Site;

/// Returns the modifiers of a declaration, such as `public` and `static`, without annotations.
#[allow(dead_code, reason = "used by the languages that are built in")]
pub(super) fn modifiers<'t>(site: &Site<'t>) -> Vec<&'t str> {
    let mut words = Vec::new();
    for child in children(site.node) {
        match child.kind() {
            "modifiers" => {
                let inner = children(child).into_iter();
                words.extend(inner.filter(|node| !is_annotation(*node)).map(|node| site.text_of(node)));
            }
            kind if kind == "modifier" || kind.ends_with("_modifier") => words.push(site.text_of(child)),
            _ => {}
        }
    }
    words
}

fn is_annotation(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "annotation" | "marker_annotation" | "attribute" | "comment" | "line_comment" | "block_comment"
    )
}

#[allow(dead_code, reason = "used by the languages that are built in")]
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}

#[allow(dead_code, reason = "used by the languages that are built in")]
pub(super) fn children_of<'t>(node: Node<'t>, kind: &str) -> Vec<Node<'t>> {
    children(node).into_iter().filter(|child| child.kind() == kind).collect()
}

#[allow(dead_code, reason = "used by the languages that are built in")]
pub(super) fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).collect()
}

#[allow(dead_code, reason = "used by the languages that are built in")]
pub(super) fn first_of<'t>(node: Node<'t>, kinds: &[&str]) -> Option<Node<'t>> {
    children(node).into_iter().find(|child| kinds.contains(&child.kind()))
}

/// The positions of the newlines of a text.
#[allow(dead_code, reason = "used by the languages that are built in")]
pub(super) struct Lines(Vec<usize>);

#[allow(dead_code, reason = "used by the languages that are built in")]
impl Lines {
    pub(super) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Returns the line of a byte, counted from 1.
    pub(super) fn at(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|end| *end < byte) + 1).unwrap_or(u32::MAX)
    }
}
