//! Treats rows of cells under named columns as records.

use std::collections::BTreeMap;

use super::row::{ReadValue, Row, ValueSyntax};
use super::rows::Rows;
use super::rows_page::TableFacts;
use crate::template::{COMMON, InputLine, Templates};
use crate::text::clip;
use crate::{Item, Page, Part, Weight};

const MAX_SHOWN_BYTES: usize = 240;
/// The maximum number of states that are distinguished, and of rows shown for one state.
const MAX_STATES: usize = 20;
const MAX_ROWS_PER_STATE: usize = 12;
/// The maximum number of templates shown for texts that are nearly all different.
const MAX_TEMPLATES: usize = 15;

#[derive(Default)]
pub(crate) struct Cells {
    rows: Rows,
    row: Row,
    /// The index of the column that holds the state of a row; the first rows of each state.
    state: Option<usize>,
    states: BTreeMap<String, Vec<Item>>,
    /// The texts of the last column.
    texts: Templates,
    has_words: bool,
}

impl Cells {
    /// Creates columns with these names. A column whose name is empty, too long or already taken is named by its
    /// position.
    pub(crate) fn of<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut rows = Rows::default();
        for (place, name) in names.enumerate() {
            let taken = |name: &str, rows: &Rows| rows.columns.iter().any(|column| column.name == name);
            if !name.is_empty() && name.len() <= 200 && !taken(name, &rows) {
                rows.column(name);
                continue;
            }
            let mut name = format!("column {}", place + 1);
            while taken(&name, &rows) {
                name.push('\'');
            }
            rows.column(&name);
        }
        // Columns beyond the limit are counted by their values, as rows are added.
        rows.beyond = 0;
        let is_state = |name: &str| ["state", "status"].iter().any(|word| name.eq_ignore_ascii_case(word));
        let state = rows.columns.iter().position(|column| is_state(&column.name));
        Self { rows, state, ..Self::default() }
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows.count
    }

    /// Takes a row: its cells, its line number and its text.
    pub(crate) fn add<S: AsRef<str>>(&mut self, cells: impl Iterator<Item = S>, line: u64, row: &str) {
        self.row.begin(line);
        self.row.set_raw(row);
        for (place, cell) in cells.enumerate() {
            let cell = cell.as_ref();
            if Some(place) == self.state {
                self.add_state(cell, line, row);
            }
            if place + 1 == self.rows.columns.len() {
                self.has_words |= cell.trim().contains(' ');
                self.texts.add(&InputLine { number: line, text: cell, skip: (0, 0), sort: COMMON });
            }
            if place < self.rows.columns.len() {
                self.row.push(place, ReadValue::whole(ValueSyntax::Cell, cell));
            } else {
                self.rows.beyond += 1;
            }
        }
        self.rows.add(&mut self.row);
    }

    fn add_state(&mut self, state: &str, line: u64, row: &str) {
        if !self.states.contains_key(state) && self.states.len() < MAX_STATES {
            self.states.insert(state.to_owned(), Vec::new());
        }
        if let Some(rows) = self.states.get_mut(state).filter(|rows| rows.len() <= MAX_ROWS_PER_STATE) {
            rows.push(Item::at(line, clip(row, MAX_SHOWN_BYTES)));
        }
    }

    /// Adds the facts to a page, after the last row.
    pub(crate) fn parts(self, page: &mut Page) {
        let few = self
            .states
            .into_values()
            .filter(|rows| rows.len() <= MAX_ROWS_PER_STATE && self.rows.count > 2 * MAX_ROWS_PER_STATE as u64);
        page.push(Part::new("rows of rare states", Weight::Fact, few.flatten().collect()));
        let mut gathered = TableFacts::default();
        gathered.add(&self.rows);
        gathered.push(page);
        let name = self.rows.columns.last().map_or("", |column| column.name.as_str());
        let (mut kinds, _) = self.texts.finish();
        kinds.retain(|kind| kind.count > 1 && kind.is_telling());
        if self.has_words && !kinds.is_empty() {
            kinds.sort_by_key(|kind| (u64::MAX - kind.count, kind.first.0));
            let total = kinds.len() as u64;
            let told = kinds
                .iter()
                .take(MAX_TEMPLATES)
                .map(|kind| Item::plain(format!("×{} {}", kind.times(), kind.show(MAX_SHOWN_BYTES))));
            page.push(Part::new(format!("similar values of {name}"), Weight::Shape, told.collect()).of(total));
        }
    }
}
