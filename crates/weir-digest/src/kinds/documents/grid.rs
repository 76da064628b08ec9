//! Tables of documents: their rows if there are few, otherwise a description of their columns.
//!
//! Unlike in tables for programs, cells hold text for people: `+94 min`, `271.42 EUR`.

use crate::kinds::data::cells::Cells;
use crate::kinds::shared::bounded_items::joined;
use crate::text::{count, shorten};
use crate::{Item, Page, Part, Weight};

const MAX_COLUMNS: usize = 30;
/// The maximum number of rows of a table that is shown by its rows.
pub(super) const MAX_ROWS_SHOWN_WHOLE: usize = 40;
const MAX_ROW_BYTES: usize = 300;
/// The length of a line of several rows.
const LINE_BYTES: usize = 120;

#[derive(Default)]
pub(super) struct Grid {
    pub header: Vec<String>,
    pub rows: u64,
    width: usize,
    cells: Option<Cells>,
    /// The first rows, as shown.
    pub first: Vec<(u64, String)>,
}

impl Grid {
    /// Takes a row, which is shown as `text`.
    pub(super) fn row(&mut self, line: u64, cells: &[String], text: &str) {
        self.rows += 1;
        self.width = self.width.max(cells.len());
        let names = self.header.iter().map(String::as_str).chain(std::iter::repeat(""));
        let width = self.header.len().max(cells.len()).min(MAX_COLUMNS);
        let table = self.cells.get_or_insert_with(|| Cells::of(names.take(width)));
        table.add(cells.iter().map(|cell| plain(cell.trim())), line, &shorten(text, MAX_ROW_BYTES));
        if self.first.len() < MAX_ROWS_SHOWN_WHOLE {
            self.first.push((line, shorten(text, MAX_ROW_BYTES)));
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width.max(self.header.len())
    }

    /// Adds its parts to a page: the rows if there are few, otherwise a description of them.
    pub(super) fn push(self, page: &mut Page, name: &str) {
        if self.rows as usize <= MAX_ROWS_SHOWN_WHOLE {
            let title = format!("{name}, {}, several on a line", count(self.rows, "row", "rows"));
            page.push(Part::new(title, Weight::Fact, self.compact()));
            return;
        }
        // A table of two columns lists settings rather than events.
        let settings = self.width() <= 2;
        let mut told = Page::default();
        if let Some(cells) = self.cells {
            cells.parts(&mut told);
        }
        for mut part in told.parts {
            part.name = format!("{name}: {}", part.name);
            part.weight = if settings { part.weight.max(Weight::Shape) } else { part.weight };
            page.push(part);
        }
    }

    /// Returns the rows, several on a line, after the header.
    fn compact(&self) -> Vec<Item> {
        let names = || format!("[{}]", shorten(&self.header.join(" | "), MAX_ROW_BYTES));
        let header = (!self.header.is_empty()).then(names);
        joined(header.into_iter().chain(self.first.iter().map(|(_, row)| row.clone())), "; ", LINE_BYTES)
    }
}

/// Returns a cell without the unit of its number, so that numbers can be compared.
fn plain(cell: &str) -> std::borrow::Cow<'_, str> {
    match number(cell).filter(|_| cell.contains([' ', '+', '%', '$', '€', '£'])) {
        Some(number) => number.to_string().into(),
        None => cell.into(),
    }
}

/// Returns the number in a cell that has exactly one: `+94 min`, `271.42 EUR`, `1,200`.
fn number(cell: &str) -> Option<f64> {
    if cell.len() > 30 {
        return None;
    }
    let start = cell.bytes().position(|byte| byte.is_ascii_digit())?;
    let rest = cell.get(start..)?;
    let end =
        rest.bytes().position(|byte| !(byte.is_ascii_digit() || matches!(byte, b'.' | b','))).unwrap_or(rest.len());
    let after = rest.get(end..)?;
    let before = cell.get(..start)?;
    if after.bytes().any(|byte| byte.is_ascii_digit()) || before.contains(|c: char| c.is_alphabetic() || c == '#') {
        return None;
    }
    let digits: String = rest.get(..end)?.trim_end_matches(['.', ',']).replace(',', "");
    let number: f64 = digits.parse().ok()?;
    Some(if before.trim().ends_with(['-', '−']) { -number } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_among_units() {
        assert_eq!(number("+94 min"), Some(94.0));
        assert_eq!(number("271.42 EUR"), Some(271.42));
        assert_eq!(number("1,200"), Some(1200.0));
        assert_eq!(number("-3 °C"), Some(-3.0));
        for text in ["05:04", "2026-01-02", "on time", "", "Customer 570", "#51200"] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
