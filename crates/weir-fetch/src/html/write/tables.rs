//! Tables. Those with data become Markdown tables; those that are only layout are transparent.

use std::collections::HashMap;

use super::super::tags::Tag;
use super::super::tree::{NONE, PageTree};

/// The maximum length of a cell in a table of data.
const MAX_CELL_BYTES: u32 = 4_000;

#[derive(Default)]
struct TableShape {
    rows: u32,
    cells: u32,
    holds_blocks: bool,
}

/// Returns the indices of all tables with data, in order.
pub(super) fn find(tree: &PageTree) -> Vec<u32> {
    let mut shapes: HashMap<u32, TableShape> = HashMap::new();
    // For each node, the nearest table around it; for each table, the length of the current cell's text so far.
    let mut around = vec![NONE; tree.nodes.len()];
    let mut cell: HashMap<u32, u32> = HashMap::new();
    for (place, node) in tree.nodes.iter().enumerate() {
        let outer = around.get(node.parent as usize).copied().unwrap_or(NONE);
        if node.tag == Tag::Table {
            shapes.insert(place as u32, TableShape::default());
        }
        if let Some(around) = around.get_mut(place) {
            *around = if node.tag == Tag::Table { place as u32 } else { outer };
        }
        let Some(shape) = shapes.get_mut(&outer) else { continue };
        match node.tag {
            Tag::Tr => shape.rows += 1,
            Tag::Td | Tag::Th => {
                shape.cells += 1;
                cell.insert(outer, 0);
            }
            Tag::Text => {
                let length = cell.entry(outer).or_default();
                *length = length.saturating_add(node.text.1 - node.text.0);
                shape.holds_blocks |= *length > MAX_CELL_BYTES;
            }
            Tag::Table | Tag::Pre => shape.holds_blocks = true,
            tag => shape.holds_blocks |= tag.heading().is_some(),
        }
    }
    let is_data = |shape: &TableShape| shape.rows >= 2 && shape.cells > shape.rows && !shape.holds_blocks;
    let mut found: Vec<u32> = shapes.iter().filter(|(_, shape)| is_data(shape)).map(|(place, _)| *place).collect();
    found.sort_unstable();
    found
}

/// A table that is being written.
pub(super) struct TableWriter {
    is_data: bool,
    pub is_in_cell: bool,
    cells: Vec<String>,
    rows: usize,
}

/// A row of a table.
pub(super) struct TableRow {
    pub text: String,
    /// Whether it follows another row.
    pub is_tight: bool,
}

impl TableWriter {
    pub(super) fn new(is_data: bool) -> Self {
        Self { is_data, is_in_cell: false, cells: Vec::new(), rows: 0 }
    }

    pub(super) fn begin_cell(&mut self) {
        self.is_in_cell = self.is_data;
    }

    pub(super) fn end_cell(&mut self, text: &str) {
        self.is_in_cell = false;
        self.cells.push(text.trim().replace('\n', " ").replace('|', "\\|"));
    }

    pub(super) fn end_row(&mut self) -> Option<TableRow> {
        let cells = std::mem::take(&mut self.cells);
        if cells.iter().all(String::is_empty) {
            return None;
        }
        let mut text = format!("| {} |", cells.join(" | "));
        if self.rows == 0 {
            text.push_str("\n|");
            text.push_str(&" --- |".repeat(cells.len()));
        }
        self.rows += 1;
        Some(TableRow { text, is_tight: self.rows > 1 })
    }
}
