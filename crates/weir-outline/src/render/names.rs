//! Renders items by their names, with the signatures of top-level functions.

use super::Selection;
use crate::model::{Item, ItemKind};

pub(super) fn write(items: &[Item], selection: Selection, text: &mut String) {
    for item in items.iter().filter(|item| selection.has(item)) {
        let members = members(item, selection);
        match item.kind {
            ItemKind::Implementation if members.is_empty() || item.names.len() > 1 => continue,
            ItemKind::Function => text.push_str(&item.signature),
            _ if item.names.is_empty() && members.is_empty() => text.push_str(&item.signature),
            _ => text.push_str(&item.names.join(", ")),
        }
        if !members.is_empty() {
            text.push_str(&format!(" {{ {} }}", members.join(", ")));
        }
        text.push('\n');
    }
}

fn members(item: &Item, selection: Selection) -> Vec<String> {
    let mut names = Vec::new();
    for child in item.children.iter().filter(|child| selection.has(child)) {
        let inside = members(child, selection);
        let own = child.names.join(", ");
        names.push(if inside.is_empty() { own } else { format!("{own} {{ {} }}", inside.join(", ")) });
    }
    names.retain(|name| !name.is_empty());
    names
}
