//! The controls of a page, by the part of the page that contains them.

use crate::Item;
use crate::kinds::shared::bounded_items::joined;

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
        let mut items = joined(self.items.iter(), ", ", LINE_BYTES);
        let more = self.count.saturating_sub(self.items.len() as u64);
        if let Some(last) = items.last_mut().filter(|_| more > 0) {
            last.text.push_str(&format!(", {more} more"));
        }
        for item in items.iter_mut().filter(|_| !self.head.is_empty()) {
            item.text.insert_str(0, &format!("{}: ", self.head));
        }
        items
    }
}
