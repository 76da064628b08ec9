//! Tables. Those with data become Markdown tables; those that are only layout are transparent.

use std::collections::HashMap;

use super::super::attributes::CellSpan;
use super::super::tags::Tag;
use super::super::tree::{NONE, PageTree};

const MAX_CELL_BYTES: u32 = 4_000;
/// The maximum length of a cell that is repeated in each row that it spans. A longer one is in the first row only.
const MAX_REPEATED_BYTES: usize = 80;
/// The number of columns in which cells may span others. This bounds what a row can add to a page.
const MAX_SPANNED_COLUMNS: usize = 50;

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
    cells: Vec<(String, CellSpan)>,
    /// For each column, the text of the cell that spans the next rows, and the number of these rows.
    spanning: Vec<(String, usize)>,
    rows: usize,
}

pub(super) struct TableRow {
    pub text: String,
    /// Whether it follows another row.
    pub is_tight: bool,
}

impl TableWriter {
    pub(super) fn new(is_data: bool) -> Self {
        Self { is_data, is_in_cell: false, cells: Vec::new(), spanning: Vec::new(), rows: 0 }
    }

    pub(super) fn begin_cell(&mut self) {
        self.is_in_cell = self.is_data;
    }

    pub(super) fn end_cell(&mut self, text: &str, span: CellSpan) {
        self.is_in_cell = false;
        self.cells.push((text.trim().replace('\n', " ").replace('|', "\\|"), span));
    }

    pub(super) fn end_row(&mut self) -> Option<TableRow> {
        let own = std::mem::take(&mut self.cells);
        if own.iter().all(|(text, _)| text.is_empty()) {
            return None;
        }
        let cells = self.in_columns(own);
        let mut text = format!("| {} |", cells.join(" | "));
        if self.rows == 0 {
            text.push_str("\n|");
            text.push_str(&" --- |".repeat(cells.len()));
        }
        self.rows += 1;
        Some(TableRow { text, is_tight: self.rows > 1 })
    }

    /// Puts the cells of a row into their columns, together with cells of earlier rows that span this one.
    fn in_columns(&mut self, own: Vec<(String, CellSpan)>) -> Vec<String> {
        let mut row = Vec::with_capacity(own.len());
        let mut own = own.into_iter();
        loop {
            if let Some((text, rows)) = self.spanning.get_mut(row.len()).filter(|(_, rows)| *rows > 0) {
                *rows -= 1;
                row.push(text.clone());
                continue;
            }
            let Some((text, span)) = own.next() else { return row };
            let repeated = if text.len() <= MAX_REPEATED_BYTES { text.as_str() } else { "" };
            let (first, columns) = (row.len(), if row.len() < MAX_SPANNED_COLUMNS { span.columns } else { 1 });
            if span.rows > 1 && first + columns <= MAX_SPANNED_COLUMNS {
                self.spanning.resize(self.spanning.len().max(first + columns), (String::new(), 0));
                for (column, spanned) in self.spanning.iter_mut().skip(first).take(columns).enumerate() {
                    let text = if column == 0 { repeated } else { "" };
                    *spanned = (text.to_owned(), span.rows - 1);
                }
            }
            row.push(text);
            row.extend((1..columns).map(|_| String::new()));
        }
    }
}
