//! Tables of documents: their columns, which values are frequent and which are rare, the greatest numbers, both ends.
//!
//! Unlike those of tables that programs read, cells hold text for people: `+94 min`, `271.42 EUR`. Invariants: bounded
//! memory, exact counts of rows; where a column has more different values than are kept, that is said.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::text::clip;
use crate::{Item, Page, Part, Weight};

/// How many columns are looked at.
const MOST_COLUMNS: usize = 30;
/// How many different values of a column are told apart.
const MOST_VALUES: usize = 300;
/// A table with so few rows is shown by its rows.
pub(super) const FEW: usize = 40;
/// How much of a cell and of a row is kept.
const CELL: usize = 100;
const ROW: usize = 300;
/// How long a line of several rows is.
const LINE: usize = 120;
/// How many values of a column are shown.
const SHOWN: usize = 8;
/// How many rows are kept of a value.
const HOLDERS: usize = 3;
/// From so many rows on, a value that is there once or twice is rare.
const MANY: u64 = 20;

/// A row as it is shown.
#[derive(Debug)]
pub(super) struct Row {
    /// Its place among the rows, from 1.
    number: u64,
    pub line: Option<u64>,
    pub text: String,
}

/// A table.
#[derive(Default)]
pub(super) struct Grid {
    pub header: Vec<String>,
    pub rows: u64,
    columns: Vec<Column>,
    pub first: Vec<Rc<Row>>,
    last: Option<Rc<Row>>,
}

#[derive(Default)]
struct Column {
    /// How often each value is there, and the first rows that have it.
    values: HashMap<Box<str>, (u64, Vec<Rc<Row>>)>,
    beyond: u64,
    empty: u64,
    numbers: u64,
    most: Option<(f64, Rc<Row>, String)>,
    least: Option<(f64, String)>,
}

impl Grid {
    /// Takes a row, which is shown as `text`.
    pub(super) fn row(&mut self, line: Option<u64>, cells: &[String], text: &str) {
        self.rows += 1;
        let row = Rc::new(Row { number: self.rows, line, text: clip(text, ROW) });
        for (place, cell) in cells.iter().take(MOST_COLUMNS).enumerate() {
            if self.columns.len() <= place {
                self.columns.push(Column::default());
            }
            if let Some(column) = self.columns.get_mut(place) {
                column.take(cell.trim(), &row);
            }
        }
        if self.first.len() < FEW {
            self.first.push(Rc::clone(&row));
        }
        self.last = Some(row);
    }

    /// How many columns there are.
    pub(super) fn width(&self) -> usize {
        self.columns.len().max(self.header.len())
    }

    /// Adds its parts to a page: rows if there are few; or else unusual rows, columns, both ends.
    pub(super) fn push(&self, page: &mut Page, name: &str) {
        if self.rows as usize <= FEW {
            page.push(Part::new(
                format!("{name}, {} rows, several on a line", self.rows),
                Weight::Fact,
                self.compact(),
            ));
            return;
        }
        // A table of two columns rather lists what is set than what happened.
        let weight = if self.width() > 2 { Weight::Fact } else { Weight::Shape };
        let unusual = self.unusual();
        page.push(Part::new(format!("{name}: unusual rows"), Weight::Failure, unusual));
        let columns = self.columns.iter().enumerate().map(|(place, column)| {
            let name = self.header.get(place).map(|name| clip(name, 60)).unwrap_or_default();
            let name = if name.is_empty() { format!("column {}", place + 1) } else { name };
            Item::plain(format!("{name}: {}", column.words()))
        });
        let columns: Vec<Item> = columns.collect();
        let title = format!("{name} with {} rows: columns", self.rows);
        page.push(Part::new(title, weight, columns));
        let last = self.last.iter().filter(|last| last.number as usize > self.first.len());
        let ends: Vec<Item> = self.first.iter().take(2).chain(last).map(|row| self.item(row, "")).collect();
        page.push(Part::new(format!("{name}: first and last rows"), weight, ends).of(self.rows));
    }

    /// The rows, several on a line, after the header.
    fn compact(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let mut line =
            if self.header.is_empty() { String::new() } else { format!("[{}]", clip(&self.header.join(" | "), ROW)) };
        for row in &self.first {
            if line.len() > LINE {
                items.push(Item::plain(std::mem::take(&mut line)));
            }
            if !line.is_empty() {
                line.push_str("; ");
            }
            line.push_str(&row.text);
        }
        if !line.is_empty() {
            items.push(Item::plain(line));
        }
        items
    }

    /// A row with the number of its line; or its own, where all rows stand on one line.
    fn item(&self, row: &Row, after: &str) -> Item {
        let lines = self.first.first().map(|first| first.line) != self.last.as_ref().map(|last| last.line);
        let number = if lines { String::new() } else { format!("row {}: ", row.number) };
        let line = row.line.filter(|_| lines);
        Item { line, text: format!("{number}{}{after}", row.text), ..Item::default() }
    }

    /// Rows with a value that hardly any other has, and those with the greatest numbers.
    fn unusual(&self) -> Vec<Item> {
        let mut found: BTreeMap<u64, (Rc<Row>, Vec<String>)> = BTreeMap::new();
        if self.rows < MANY {
            return Vec::new();
        }
        for (place, column) in self.columns.iter().enumerate() {
            let name = self.header.get(place).map_or("", String::as_str);
            let mut add = |row: &Rc<Row>, why: String| {
                found.entry(row.number).or_insert_with(|| (Rc::clone(row), Vec::new())).1.push(why);
            };
            if column.is_measured()
                && let Some((_, row, text)) = &column.most
            {
                add(row, format!("greatest {}: {}", clip(name, 40), clip(text, 40)));
            }
            for row in column.rare() {
                add(row, format!("rare {}", clip(name, 40)));
            }
        }
        found.values().take(20).map(|(row, why)| self.item(row, &format!(" ({})", why.join(", ")))).collect()
    }
}

impl Column {
    fn take(&mut self, cell: &str, row: &Rc<Row>) {
        if cell.is_empty() {
            self.empty += 1;
            return;
        }
        if let Some(number) = number(cell) {
            self.numbers += 1;
            if self.most.as_ref().is_none_or(|most| number > most.0) {
                self.most = Some((number, Rc::clone(row), clip(cell, CELL)));
            }
            if self.least.as_ref().is_none_or(|least| number < least.0) {
                self.least = Some((number, clip(cell, CELL)));
            }
        }
        let cell = cell.get(..cell.floor_char_boundary(CELL)).unwrap_or_default();
        if let Some(value) = self.values.get_mut(cell) {
            value.0 += 1;
            if value.1.len() < HOLDERS {
                value.1.push(Rc::clone(row));
            }
        } else if self.values.len() < MOST_VALUES {
            self.values.insert(cell.into(), (1, vec![Rc::clone(row)]));
        } else {
            self.beyond += 1;
        }
    }

    fn filled(&self) -> u64 {
        self.beyond + self.values.values().map(|value| value.0).sum::<u64>()
    }

    /// The values, the most frequent first.
    fn sorted(&self) -> Vec<(&str, u64, &[Rc<Row>])> {
        let mut values: Vec<_> =
            self.values.iter().map(|(text, (count, rows))| (text.as_ref(), *count, rows.as_slice())).collect();
        let first = |rows: &[Rc<Row>]| rows.first().map_or(0, |row| row.number);
        values.sort_by(|a, b| b.1.cmp(&a.1).then(first(a.2).cmp(&first(b.2))));
        values
    }

    /// Whether its numbers are amounts: most are different, and they do not only count the rows.
    fn is_measured(&self) -> bool {
        let filled = self.filled();
        let texts = self.values.keys().filter(|value| number(value).is_none()).count();
        let unit = self.most.as_ref().is_some_and(|most| {
            most.2.contains([' ', '.', '+', '%', '$', '€', '£']) || most.2.ends_with(|c: char| c.is_alphabetic())
        });
        self.numbers >= 3 && unit && texts <= 5 && filled > 0
    }

    /// Rows of values that hardly any row has, where others are there often.
    fn rare(&self) -> Vec<&Rc<Row>> {
        let filled = self.filled();
        let few = |value: &(&str, u64, &[Rc<Row>])| value.1 as usize <= HOLDERS && value.1 * 50 <= filled;
        let rare: Vec<_> = self.sorted().into_iter().filter(few).collect();
        // Numbers are rare by themselves.
        let telling = rare.len() <= 4 && self.values.len() as u64 * 4 <= filled && filled >= MANY;
        if telling && self.beyond == 0 && self.numbers * 2 < filled {
            rare.into_iter().flat_map(|value| value.2).collect()
        } else {
            Vec::new()
        }
    }

    fn words(&self) -> String {
        let values = self.sorted();
        let mut parts = Vec::new();
        let repeats = values.first().is_some_and(|value| value.1 > 1);
        let filled = self.filled();
        if values.len() <= SHOWN || repeats && values.len() as u64 * 2 <= filled {
            let listed = values.iter().take(SHOWN).map(|(text, count, _)| match count {
                1 => clip(text, 60),
                _ => format!("{} ×{count}", clip(text, 60)),
            });
            parts.push(listed.collect::<Vec<_>>().join(", "));
        }
        if values.len() > SHOWN {
            let more = if self.beyond > 0 { "more than " } else { "" };
            parts.push(format!("{more}{} different", values.len()));
        }
        if let (Some((_, _, most)), Some((_, least))) = (&self.most, &self.least)
            && self.numbers * 2 > filled
            && values.len() > SHOWN
        {
            parts.push(format!("from {least} to {most}"));
        }
        if parts.len() == 1
            && values.len() > SHOWN
            && let (Some(first), Some(last)) = (values.first(), values.last())
        {
            parts.push(format!("such as {}, {}", clip(first.0, 60), clip(last.0, 60)));
        }
        if self.empty > 0 {
            parts.push(format!("{} empty", self.empty));
        }
        parts.join("; ")
    }
}

/// The number in a cell, if it has exactly one: `+94 min`, `271.42 EUR`, `1,200`.
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

    #[test]
    fn the_row_that_is_not_like_the_others_is_found() {
        let mut grid = Grid { header: vec!["Name".into(), "State".into(), "Delay".into()], ..Grid::default() };
        for number in 0..100 {
            let state = if number == 50 { "broken" } else { "open" };
            let cells =
                [format!("n{number}"), state.to_owned(), format!("{} min", if number == 70 { 94 } else { number % 5 })];
            grid.row(None, &cells, &cells.join(" | "));
        }
        let unusual: Vec<String> = grid.unusual().into_iter().map(|item| item.text).collect();
        assert_eq!(
            unusual,
            ["row 51: n50 | broken | 0 min (rare State)", "row 71: n70 | open | 94 min (greatest Delay: 94 min)"]
        );
    }
}
