//! The controls of a page, by the part of the page that contains them.

use crate::Item;

/// The length of a line of controls.
pub(super) const LINE_BYTES: usize = 200;

/// Controls of one part of the page.
#[derive(Default)]
pub(super) struct ControlGroup {
    pub head: String,
    pub items: Vec<String>,
    pub count: u64,
    /// The index of the enclosing part of the page.
    pub outer: usize,
}

impl ControlGroup {
    /// Returns its controls, several on a line, each line with the name of the group.
    pub(super) fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut line = String::new();
        for control in &self.items {
            if line.len() > LINE_BYTES {
                items.push(self.item(&std::mem::take(&mut line)));
            }
            if !line.is_empty() {
                line.push_str(", ");
            }
            line.push_str(control);
        }
        if !line.is_empty() {
            let more = self.count.saturating_sub(self.items.len() as u64);
            if more > 0 {
                line.push_str(&format!(", {more} more"));
            }
            items.push(self.item(&line));
        }
        items
    }

    fn item(&self, line: &str) -> Item {
        Item::plain(if self.head.is_empty() { line.to_owned() } else { format!("{}: {line}", self.head) })
    }
}
