//! The tables of a page while they are read: small ones are shown by their rows, large ones by their columns.

use crate::Page;
use crate::kinds::documents::grid::Grid;
use crate::kinds::documents::passages::{Passages, USUAL};

const MAX_DEPTH: usize = 6;
/// The maximum number of tables kept, and of tables shown by their columns.
const MAX_TABLES: usize = 60;
const MAX_TABLES_SHOWN: usize = 4;
/// The maximum number of bytes of a cell, and of cells of a row.
const MAX_CELL_BYTES: usize = 400;
const MAX_CELLS: usize = 60;

/// The maximum number of rows of a table that is shown by its rows, unless others have the same header.
const MAX_ROWS_SHOWN_WHOLE: u64 = 12;

#[derive(Default)]
pub(super) struct Tables {
    open: Vec<HtmlTable>,
    kept: Vec<MergedTable>,
    pub total: u64,
    pub rows: u64,
}

/// Tables with the same header, merged.
struct MergedTable {
    grid: Grid,
    tables: u64,
}

#[derive(Default)]
struct HtmlTable {
    grid: Grid,
    cells: Vec<String>,
    /// Whether all cells of the row so far are header cells.
    is_header: bool,
    in_cell: bool,
    line: u64,
    /// The number of earlier tables with this header.
    tables: u64,
}

impl Tables {
    pub(super) fn in_cell(&self) -> bool {
        self.open.last().is_some_and(|table| table.in_cell)
    }

    pub(super) fn begin(&mut self) {
        self.total += 1;
        if self.open.len() < MAX_DEPTH {
            self.open.push(HtmlTable::default());
        }
    }

    pub(super) fn begin_row(&mut self, line: u64, passages: &mut Passages) {
        self.end_row(passages);
        if let Some(table) = self.open.last_mut() {
            table.line = line;
            table.is_header = true;
        }
    }

    pub(super) fn begin_cell(&mut self, is_header: bool) {
        if let Some(table) = self.open.last_mut() {
            table.in_cell = true;
            table.is_header &= is_header;
            if table.cells.len() < MAX_CELLS {
                table.cells.push(String::new());
            }
        }
    }

    pub(super) fn end_cell(&mut self) {
        if let Some(table) = self.open.last_mut() {
            table.in_cell = false;
        }
    }

    /// Adds text to the cell. Returns whether there was room.
    pub(super) fn text(&mut self, text: &str) -> bool {
        let Some(cell) = self.open.last_mut().and_then(|table| table.cells.last_mut()) else { return false };
        if cell.len() + text.len() > MAX_CELL_BYTES {
            return false;
        }
        if !cell.is_empty() && !text.starts_with([',', '.', ';', ':']) {
            cell.push(' ');
        }
        cell.push_str(text);
        true
    }

    pub(super) fn end_row(&mut self, passages: &mut Passages) {
        let Some(table) = self.open.last_mut() else { return };
        table.in_cell = false;
        let cells = std::mem::take(&mut table.cells);
        if cells.iter().all(String::is_empty) {
            return;
        }
        if table.is_header && table.grid.header == cells {
            return;
        }
        if table.is_header && table.grid.header.is_empty() && table.grid.rows == 0 {
            passages.cover(&cells.join(" "));
            table.grid.header = cells;
            // Tables with the same header are merged.
            let same = self.kept.iter().position(|kept| kept.grid.header == table.grid.header);
            if let Some(kept) = same.map(|place| self.kept.swap_remove(place)) {
                table.grid = kept.grid;
                table.tables = kept.tables;
            }
            return;
        }
        self.rows += 1;
        let key = cells.first().is_some_and(|cell| cell.ends_with(':'));
        let text = cells.join(if key { " " } else { " | " });
        table.grid.row(table.line, &cells, &text);
    }

    pub(super) fn end(&mut self, passages: &mut Passages) {
        self.end_row(passages);
        let Some(table) = self.open.pop() else { return };
        if self.kept.len() < MAX_TABLES {
            self.kept.push(MergedTable { grid: table.grid, tables: table.tables + 1 });
        } else {
            as_passages(&table.grid, passages);
        }
    }

    pub(super) fn push(mut self, page: &mut Page, passages: &mut Passages) {
        while !self.open.is_empty() {
            self.end(passages);
        }
        self.kept.sort_by_key(|kept| u64::MAX - kept.grid.rows);
        let mut shown = 0;
        for kept in self.kept {
            let is_small = kept.grid.rows <= MAX_ROWS_SHOWN_WHOLE && kept.tables == 1;
            if is_small || shown >= MAX_TABLES_SHOWN {
                as_passages(&kept.grid, passages);
                continue;
            }
            shown += 1;
            let name = match kept.tables {
                1 => format!("table {shown}"),
                tables => format!("{tables} tables with the same header"),
            };
            kept.grid.push(page, &name);
        }
    }
}

fn as_passages(grid: &Grid, passages: &mut Passages) {
    for (line, text) in &grid.first {
        passages.add(Some(*line), text, USUAL * 11 / 10);
    }
}
