//! The tables of a page, read row by row.

use super::super::grid::Grid;
use super::group::LINE_BYTES;
use super::node::Node;
use super::{ElementKind, Tree};
use crate::Line;
use crate::text::clip;

const MAX_TABLES: usize = 4;
/// The maximum number of bytes of a cell, and of cells of a row.
const MAX_CELL_BYTES: usize = 200;
const MAX_CELLS: usize = 40;

pub(super) struct OpenTable {
    grid: Grid,
    cells: Vec<String>,
    header: bool,
    /// The text of the row: its cells, and what can be clicked in it.
    text: String,
    line: u64,
}

impl Tree {
    pub(super) fn begin_table(&mut self) -> ElementKind {
        self.table_total += 1;
        if self.table.is_none() {
            let table =
                OpenTable { grid: Grid::default(), cells: Vec::new(), header: true, text: String::new(), line: 0 };
            self.table = Some(table);
            return ElementKind::Table;
        }
        ElementKind::Other
    }

    pub(super) fn begin_row(&mut self, line: &Line<'_>, node: &Node<'_>) -> ElementKind {
        let Some(table) = &mut self.table else { return ElementKind::Other };
        table.cells.clear();
        table.header = true;
        table.line = line.number;
        table.text = match node.reference() {
            "" => String::new(),
            reference => format!("[ref={reference}] "),
        };
        ElementKind::Row
    }

    pub(super) fn cell(&mut self, node: &Node<'_>) -> ElementKind {
        let Some(table) = &mut self.table else { return ElementKind::Other };
        table.header &= node.role == "columnheader";
        if table.cells.len() < MAX_CELLS {
            table.cells.push(clip(node.shown_text(), MAX_CELL_BYTES));
        }
        ElementKind::Cell
    }

    pub(super) fn in_table(&mut self, node: &Node<'_>, said: &str) -> ElementKind {
        let Some(table) = &mut self.table else { return ElementKind::Other };
        if node.is_control() {
            self.controls += u64::from(node.role != "link");
            self.links += u64::from(node.role == "link");
        }
        if let Some(cell) = table
            .cells
            .last_mut()
            .filter(|cell| cell.len() < MAX_CELL_BYTES && !said.is_empty() && !cell.contains(said))
        {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&clip(said, MAX_CELL_BYTES));
        }
        if node.is_control() && !node.reference().is_empty() && table.text.len() < LINE_BYTES {
            table.text.push_str(&format!("{} ", node.words()));
        }
        ElementKind::Other
    }

    pub(super) fn end_row(&mut self) {
        let Some(table) = &mut self.table else { return };
        let cells = std::mem::take(&mut table.cells);
        if cells.is_empty() {
            return;
        }
        if table.header && table.grid.header.is_empty() {
            table.grid.header = cells;
            return;
        }
        let text = format!("{} {}", cells.join(" | "), table.text.trim());
        table.grid.row(table.line, &cells, text.trim());
    }

    pub(super) fn end_table(&mut self) {
        if let Some(table) = self.table.take()
            && self.tables.len() < MAX_TABLES
        {
            self.tables.push(table.grid);
        }
    }
}
