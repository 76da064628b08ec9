//! Cells of a spreadsheet that are listed one by one, as the rows that they form.

use std::collections::BTreeMap;

use super::tree::Node;

/// Names of the fields that say where a cell is, and what it holds.
const ROWS: [&str; 2] = ["row", "rowIndex"];
const COLUMNS: [&str; 4] = ["column", "col", "columnIndex", "colIndex"];
const VALUES: [&str; 4] = ["value", "text", "formattedValue", "v"];
/// Fewer cells are not worth it.
const MIN_CELLS: usize = 6;

/// Returns the rows of a grid, if all records are cells of one.
pub(super) fn rows(records: &[Node]) -> Option<Vec<Node>> {
    if records.len() < MIN_CELLS {
        return None;
    }
    let mut grid: BTreeMap<u64, BTreeMap<u64, String>> = BTreeMap::new();
    let mut columns: BTreeMap<u64, ()> = BTreeMap::new();
    for record in records {
        let Node::Object(fields, _) = record else { return None };
        let row = number(fields, &ROWS)?;
        let column = number(fields, &COLUMNS)?;
        columns.insert(column, ());
        let value = field(fields, &VALUES).filter(|value| *value != "null").unwrap_or_default();
        grid.entry(row).or_default().insert(column, value.to_owned());
    }
    let rows = grid.into_iter().map(|(row, mut cells)| {
        let number = ("row".to_owned(), Node::Leaf(row.to_string()));
        let cells = columns
            .keys()
            .map(|column| (format!("column {column}"), Node::Leaf(cells.remove(column).unwrap_or_default())));
        Node::Object(std::iter::once(number).chain(cells).collect(), 0)
    });
    Some(rows.collect())
}

fn number(fields: &[(String, Node)], names: &[&str]) -> Option<u64> {
    field(fields, names)?.parse().ok()
}

fn field<'a>(fields: &'a [(String, Node)], names: &[&str]) -> Option<&'a str> {
    fields.iter().find_map(|(key, value)| match value {
        Node::Leaf(text) if names.contains(&key.as_str()) => Some(text.as_str()),
        _ => None,
    })
}
