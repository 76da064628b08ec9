//! Records as a table: which columns they have, which of them tell the records apart, and which fit.

use std::collections::HashMap;

use super::column::{Column, Extent, LAST_SHORT_RANK, LAST_SHOWN_RANK, LITTLE, MAX_CONSTANT_BYTES, rank};
use super::little::{is_nothing, label, last_name};
use super::nested::NestedLists;
use super::tree::Node;
use crate::text::{clip, shorten};

/// The maximum number of columns.
const MAX_COLUMNS: usize = 300;
/// The maximum lengths of a value in a table, tried in turn until it fits, in bytes.
const WIDTHS: [usize; 4] = [400, 160, 80, 40];
/// The maximum length of a title where there is little room.
const TITLE_WIDTH: usize = 80;
/// Names of fields that say what a record is about, the best first.
const TITLES: [&str; 7] = ["title", "name", "subject", "message", "summary", "plain_text", "content"];
/// The maximum length of a remark about columns left out or the same in all records, and of another.
const MAX_REMARK_BYTES: usize = 400;
const MAX_SHORT_REMARK_BYTES: usize = 160;
/// The maximum number of records that need no name.
const MAX_UNNAMED: usize = 40;
/// Fewer records are counted at a glance.
const MIN_COUNTED: usize = 8;
/// The maximum number of columns whose values are counted.
const MAX_COUNTED_COLUMNS: usize = 6;

/// Records under one path.
pub(super) struct Table {
    pub path: String,
    pub count: usize,
    columns: Vec<Column>,
    lines: Vec<Option<u64>>,
}

/// A table as it is shown.
pub(super) struct ShownTable {
    /// The names of the columns.
    pub head: String,
    /// One line for each record.
    pub rows: Vec<(Option<u64>, String)>,
    /// What is said about the other columns.
    pub remarks: Vec<String>,
    /// Whether all columns are shown, none of them cut.
    pub is_complete: bool,
}

impl Table {
    pub(super) fn of(path: String, records: &[(Option<&str>, &Node)]) -> Self {
        let lists = NestedLists::of(records);
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut columns: Vec<Column> = Vec::new();
        for (row, (key, record)) in records.iter().enumerate() {
            let mut put = |name: &str, value: String, names: Option<String>| {
                let next = columns.len();
                let place = *places.entry(name.to_owned()).or_insert(next);
                if place == next && next < MAX_COLUMNS {
                    columns.push(Column { name: name.to_owned(), cells: Vec::new(), names: Vec::new(), rank: 0 });
                }
                if let Some(column) = columns.get_mut(place) {
                    put_in(&mut column.cells, row, &value);
                    if let Some(names) = names {
                        put_in(&mut column.names, row, &names);
                    }
                }
            };
            if let Some(key) = key {
                put("key", (*key).to_owned(), None);
            }
            flatten(record, "", &lists, &mut put);
        }
        let count = records.len();
        for column in &mut columns {
            column.cells.resize(count, String::new());
            if !column.names.is_empty() {
                column.names.resize(count, String::new());
            }
            column.rank = rank(column);
        }
        let lines = records.iter().map(|(_, record)| record.line()).collect();
        Self { path, count, columns, lines }
    }

    /// Returns how much text the records have.
    pub(super) fn bytes(&self) -> usize {
        self.columns.iter().flat_map(|column| &column.cells).map(String::len).sum()
    }

    /// Returns whether a column says which record is which, in at most `budget` tokens.
    pub(super) fn can_be_named(&self, budget: usize) -> bool {
        self.count <= MAX_UNNAMED || (self.name().is_some() && self.least_cost() <= budget)
    }

    /// Returns the column that says which record is which.
    fn name(&self) -> Option<&Column> {
        let named = self.columns.iter().filter(|column| column.rank <= 1 && column.tells_apart());
        named.min_by_key(|column| (column.rank, column.cost(column.extent(WIDTHS[1]))))
    }

    /// Returns the cost of all columns in tokens, about.
    pub(super) fn cost(&self) -> usize {
        let shown = self.told_apart().filter(|column| column.rank <= LAST_SHOWN_RANK);
        shown.map(|column| column.cost(column.extent(WIDTHS[0]))).sum()
    }

    /// Returns the cost of saying which records there are, in tokens, about.
    fn least_cost(&self) -> usize {
        self.name().map_or(0, |name| name.cost(name.extent(WIDTHS[1])))
    }

    /// Returns the cost of saying which records there are, with the title of each.
    pub(super) fn titled_cost(&self) -> usize {
        self.least_cost() + self.title().map_or(0, |title| title.cost(title.extent(TITLE_WIDTH)))
    }

    /// Returns the column that says what a record is about, beside its name.
    fn title(&self) -> Option<&Column> {
        let name = self.name().map(|name| &name.name);
        let columns: Vec<&Column> = self.told_apart().filter(|column| Some(&column.name) != name).collect();
        let is_called = |column: &&&Column, title: &str| last_name(&column.name).eq_ignore_ascii_case(title);
        TITLES.iter().find_map(|title| columns.iter().find(|column| is_called(column, title))).copied()
    }

    fn told_apart(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| !column.is_empty() && !column.is_constant(self.count))
    }

    /// Returns every record in at most `budget` tokens, with the columns that fit.
    pub(super) fn shown(&self, budget: usize) -> ShownTable {
        let mut order: Vec<&Column> = Vec::new();
        let mut copies: Vec<String> = Vec::new();
        for column in self.told_apart().filter(|column| column.rank < LITTLE) {
            match order.iter().find(|earlier| column.is_copy_of(earlier)) {
                Some(earlier) if label(&column.name) == label(&earlier.name) => {}
                Some(earlier) => copies.push(format!("{}={}", label(&column.name), label(&earlier.name))),
                None => order.push(column),
            }
        }
        let chosen = self.choose(&order, budget);
        let shown: Vec<(&Column, Extent)> =
            order.iter().filter_map(|column| Some((*column, *chosen.get(column.name.as_str())?))).collect();
        let rows = (0..self.count).map(|row| {
            let cells = shown.iter().map(|(column, extent)| column.cell(row, *extent));
            (self.lines[row], cells.collect::<Vec<_>>().join(" | ").trim_end_matches([' ', '|']).to_owned())
        });
        let left_out: Vec<&Column> =
            order.iter().filter(|column| !chosen.contains_key(column.name.as_str())).copied().collect();
        let is_cut = |(column, extent): &(&Column, Extent)| {
            extent.only_names || column.cells.iter().any(|cell| cell.len() > extent.width)
        };
        ShownTable {
            is_complete: left_out.is_empty() && !shown.iter().any(is_cut),
            head: heads(&shown.iter().map(|(column, _)| column.name.as_str()).collect::<Vec<_>>()),
            rows: rows.collect(),
            remarks: self.remarks(copies, &left_out),
        }
    }

    /// Chooses the columns that fit, and how much of each of their values is shown.
    fn choose<'a>(&'a self, order: &[&'a Column], budget: usize) -> HashMap<&'a str, Extent> {
        let mut chosen: HashMap<&str, Extent> = HashMap::new();
        let mut left = budget;
        let mut by_rank = order.to_vec();
        by_rank.sort_by_key(|column| (column.rank, column.cost(column.extent(WIDTHS[1])) / 64));
        // What the records are called is shown in any case, if not of all of them.
        if let Some(name) = self.name() {
            let extent = name.extent(WIDTHS[1]);
            left = left.saturating_sub(name.cost(extent));
            chosen.insert(&name.name, extent);
        }
        if let Some(title) = self.title().map(|title| (title, title.extent(TITLE_WIDTH)))
            && !chosen.is_empty()
            && order.iter().any(|column| column.name == title.0.name)
            && title.0.cost(title.0.extent(WIDTHS[0])) > left / 2
            && title.0.cost(title.1) <= left
        {
            left -= title.0.cost(title.1);
            chosen.insert(&title.0.name, title.1);
        }
        for column in by_rank {
            if column.rank > LAST_SHOWN_RANK || chosen.contains_key(column.name.as_str()) {
                continue;
            }
            let most = if column.rank <= LAST_SHORT_RANK { left } else { left / 2 };
            let fits = |extent: &Extent| column.cost(*extent) <= most;
            if let Some(extent) = WIDTHS.into_iter().map(|width| column.extent(width)).find(fits) {
                left -= column.cost(extent);
                chosen.insert(&column.name, extent);
            }
        }
        chosen
    }

    fn remarks(&self, copies: Vec<String>, left_out: &[&Column]) -> Vec<String> {
        let is_constant = |column: &&Column| !column.is_empty() && column.is_constant(self.count);
        let says = |column: &&Column| column.rank < LITTLE && !is_nothing(&column.cells[0]);
        let constants = self.columns.iter().filter(is_constant).filter(says);
        let constants: Vec<String> = constants
            .map(|column| format!("{}={}", label(&column.name), clip(&column.cells[0], MAX_CONSTANT_BYTES)))
            .collect();
        let little = self.told_apart().filter(|column| column.rank >= LITTLE);
        let sizes = left_out.iter().map(|column| column.size()).collect();
        let remarks = [
            ("the same in all", constants, MAX_REMARK_BYTES),
            ("columns left out", sizes, MAX_REMARK_BYTES),
            ("copies", copies, MAX_SHORT_REMARK_BYTES),
            ("also there", little.map(|column| column.name.clone()).collect(), MAX_SHORT_REMARK_BYTES),
        ];
        let said = remarks.into_iter().filter(|(_, names, _)| !names.is_empty());
        let mut said: Vec<String> =
            said.map(|(what, names, most)| shorten(&format!("{what}: {}", names.join(", ")), most)).collect();
        said.extend(self.counts());
        said
    }

    /// Returns how often the values of columns occur that sort the records.
    fn counts(&self) -> Option<String> {
        if self.count < MIN_COUNTED {
            return None;
        }
        let counted = self.told_apart().filter(|column| column.rank <= LAST_SHORT_RANK).filter_map(Column::counts);
        let counted: Vec<String> = counted.take(MAX_COUNTED_COLUMNS).collect();
        (!counted.is_empty()).then(|| format!("counted: {}", counted.join("; ")))
    }

    /// Passes on everything that the records say, except what says little.
    pub(super) fn each_word(&self, take: &mut impl FnMut(&str)) {
        for row in 0..self.count {
            let told = self.columns.iter().filter(|column| column.rank < LITTLE);
            told.map(|column| column.cells[row].as_str()).filter(|cell| !cell.is_empty()).for_each(&mut *take);
        }
    }
}

fn put_in(cells: &mut Vec<String>, row: usize, value: &str) {
    cells.resize(row + 1, String::new());
    let cell = &mut cells[row];
    if !cell.is_empty() && !value.is_empty() {
        cell.push_str("; ");
    }
    cell.push_str(value);
}

/// Returns the heads of some columns, short where that is not ambiguous.
fn heads(names: &[&str]) -> String {
    let labels: Vec<String> = names.iter().map(|name| label(name)).collect();
    let heads = names.iter().zip(&labels).map(|(name, label)| {
        let is_one = labels.iter().filter(|other| *other == label).count() == 1;
        if is_one { label.as_str() } else { name }
    });
    heads.collect::<Vec<_>>().join(" | ")
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Passes on the values of a record, with their paths.
fn flatten(node: &Node, path: &str, lists: &NestedLists, put: &mut impl FnMut(&str, String, Option<String>)) {
    match node {
        Node::Leaf(text) => put(if path.is_empty() { "value" } else { path }, text.clone(), None),
        Node::Object(fields, _) if fields.is_empty() => put(path, String::new(), None),
        Node::Object(fields, _) => {
            for (key, value) in fields {
                flatten(value, &join(path, key), lists, put);
            }
        }
        Node::Array(values) => {
            let inside = format!("{path}[]");
            if values.is_empty() {
                put(&inside, String::new(), None);
            } else if path.is_empty() && values.iter().any(|value| !value.is_record()) {
                // A record that is an array: its places are its columns.
                for (place, value) in values.iter().enumerate() {
                    flatten(value, &place.to_string(), lists, put);
                }
            } else if lists.contains(&inside) {
                let (whole, names) = lists.brief(values, &inside);
                put(&inside, whole, Some(names));
            } else {
                for value in values {
                    flatten(value, &inside, lists, put);
                }
            }
        }
    }
}
