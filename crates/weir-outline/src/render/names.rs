//! Renders items by their names, with the signatures of top-level functions.

use super::is_shown;
use crate::model::{Item, ItemKind, Visibility};

/// Writes items, one per line.
pub(super) fn write(items: &[Item], least: Visibility, text: &mut String) {
    for item in items.iter().filter(|item| is_shown(item, least)) {
        let members = members(item, least);
        match item.kind {
            ItemKind::Implementation if members.is_empty() || item.names.len() > 1 => continue,
            ItemKind::Function => text.push_str(&item.signature),
            _ => text.push_str(&item.names.join(", ")),
        }
        if !members.is_empty() {
            text.push_str(&format!(" {{ {} }}", members.join(", ")));
        }
        text.push('\n');
    }
}

fn members(item: &Item, least: Visibility) -> Vec<String> {
    let mut names = Vec::new();
    for child in item.children.iter().filter(|child| is_shown(child, least)) {
        let inside = members(child, least);
        let own = child.names.join(", ");
        names.push(if inside.is_empty() { own } else { format!("{own} {{ {} }}", inside.join(", ")) });
    }
    names.retain(|name| !name.is_empty());
    names
}
