//! What is told of rows with columns: values with counts, extremes with their rows, and the rows that stand out.

mod column;

use self::column::{Column, parse};
use crate::kinds::shared::counts::{Tally, template};
use crate::text::{clip, number};
use crate::trouble::{self, Trouble};
use crate::{Item, Page, Part, Weight};

/// How much of a row is kept.
const LONGEST: usize = 240;
/// How many rows that tell of trouble are kept.
const KEPT: usize = 60;

/// Rows and their columns.
pub(crate) struct Cells {
    columns: Vec<Column>,
    rows: u64,
    /// The column whose values the others are told by.
    by: Option<usize>,
    /// The column that says which row it is, or else the whole row does.
    label: Option<usize>,
    pairs: Tally,
    trouble: Vec<Item>,
    all_trouble: u64,
    trouble_like: Tally,
}

impl Cells {
    /// Columns of these names, of which the last may be free text.
    pub(crate) fn of(names: &[&str], free_last: bool) -> Self {
        let last = names.len().saturating_sub(1);
        let columns = names.iter().enumerate().map(|(place, name)| Column::of(name, free_last && place == last));
        Self {
            columns: columns.collect(),
            rows: 0,
            by: None,
            label: None,
            pairs: Tally::of(6_000),
            trouble: Vec::new(),
            all_trouble: 0,
            trouble_like: Tally::of(500),
        }
    }

    /// Tells the other columns by this one.
    pub(crate) fn by(mut self, column: Option<usize>) -> Self {
        self.by = column;
        self
    }

    /// Names rows by this column.
    pub(crate) fn labelled(mut self, column: Option<usize>) -> Self {
        self.label = column;
        self
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Whether a column has numbers of which the highest are told.
    pub(crate) fn has_numbers(&self) -> bool {
        self.columns.iter().any(|column| column.is_range(self.rows) && !column.is_name())
    }

    /// Takes a row: its cells, and the whole line.
    pub(crate) fn add(&mut self, cells: &[&str], line: u64, row: &str) {
        self.rows += 1;
        let by = self.by.and_then(|by| cells.get(by)).copied();
        let label = self.label.and_then(|label| cells.get(label)).copied().unwrap_or(row);
        let mut bad = false;
        for (place, (column, cell)) in self.columns.iter_mut().zip(cells).enumerate() {
            column.add(cell, label, line, row);
            bad |= is_bad(&column.name, cell, column.free);
            if let Some(by) =
                by.filter(|_| Some(place) != self.by && !column.free && parse(cell).is_none() && cell.len() > 1)
            {
                self.pairs.add(&format!("{place}\t{by}\t{cell}"));
            }
        }
        if bad {
            self.all_trouble += 1;
            let like = template(row);
            self.trouble_like.add(&like);
            if self.trouble.len() < KEPT && self.trouble_like.get(&like) == 1 {
                self.trouble.push(Item::at(line, clip(row, LONGEST)));
            }
        }
    }

    /// The facts, after the last row.
    pub(crate) fn parts(mut self, page: &mut Page) {
        for item in &mut self.trouble {
            let count = self.trouble_like.get(&template(&item.text));
            if count > 1 {
                item.text.push_str(&format!("  (×{count} like this)"));
            }
        }
        let trouble = std::mem::take(&mut self.trouble);
        let told: Vec<Option<u64>> = trouble.iter().map(|item| item.line).collect();
        page.push(Part::new("rows that tell of trouble", Weight::Failure, trouble).of(self.all_trouble));
        let rows = self.rows;
        page.push(columns_part(&self.columns, rows));
        page.push(self.pairs_part());
        let mut rare = rare(&self.columns, rows);
        rare.retain(|item| !told.contains(&item.line));
        // Where programs tell the texts apart, that is enough.
        for column in self.columns.iter().filter(|column| column.free && column.programs.names() == 1) {
            let often = column.like.sorted();
            let often: Vec<Item> = often
                .iter()
                .filter(|(_, count)| *count > 1)
                .take(15)
                .map(|(text, count)| Item::plain(format!("{text}: {count}")))
                .collect();
            let total = column.like.names() as u64 + u64::from(column.like.beyond() > 0);
            let total = if often.is_empty() { 0 } else { total };
            page.push(Part::new("texts of the last column, digits as #", Weight::Shape, often).of(total));
        }
        page.push(Part::new("rows with rare values", Weight::Shape, rare));
    }

    /// For each value of the column that the others are told by, what is most frequent with it.
    fn pairs_part(&self) -> Part {
        let Some(by) = self.by.and_then(|by| self.columns.get(by)) else {
            return Part::new("", Weight::Fact, Vec::new());
        };
        if by.values.len() < 2 {
            return Part::new("", Weight::Fact, Vec::new());
        }
        let mut values: Vec<(&str, u64)> = by.values.iter().map(|(name, value)| (name.as_ref(), value.count)).collect();
        values.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let sorted = self.pairs.sorted();
        let mut items = Vec::new();
        // What nearly all rows are is told by the columns already.
        for (value, count) in values.into_iter().filter(|(_, count)| count * 10 < self.rows * 9).take(8) {
            for (place, column) in self.columns.iter().enumerate() {
                let head = format!("{place}\t{value}\t");
                let with: Vec<(&str, u64)> =
                    sorted.iter().filter_map(|(key, count)| Some((key.strip_prefix(&head)?, *count))).take(6).collect();
                // What is as frequent in every row says nothing of this value.
                let all = with.first().map_or(0, |(name, _)| column.values.get(*name).map_or(0, |value| value.count));
                if with.first().is_none_or(|(_, most)| *most < 3 || *most * 10 < count || all == self.rows) {
                    continue;
                }
                let with: Vec<String> = with.iter().map(|(name, count)| format!("{name} {count}")).collect();
                items.push(Item::plain(format!("{value}: {} {}", column.name, with.join(", "))));
            }
        }
        Part::new("most frequent together", Weight::Shape, items)
    }
}

/// The columns in the order of what they tell: sorts with counts, then numbers, then texts, then what is always the same.
fn columns_part(columns: &[Column], rows: u64) -> Part {
    let rank = |column: &Column| match () {
        () if column.free => 1,
        () if column.is_same(rows) => 5,
        () if column.is_name() || column.is_time() => 4,
        () if column.is_range(rows) => 2,
        () if column.is_sort(rows) && !column.is_mostly_same(rows) => 0,
        () => 3,
    };
    let mut ranked: Vec<(u8, &Column)> = columns.iter().map(|column| (rank(column), column)).collect();
    // What a process has reserved says less than what it uses.
    let minor = |column: &Column| ["VSZ", "VIRT", "SHR", "%MEM", "SZ"].contains(&column.name.as_str());
    ranked.sort_by_key(|(rank, column)| (*rank, minor(column)));
    let mut items: Vec<Item> = ranked
        .iter()
        .filter(|(rank, _)| *rank < 5)
        .filter_map(|(_, column)| column.told(rows))
        .map(Item::plain)
        .collect();
    let same = columns.iter().filter(|column| column.is_same(rows));
    let same: Vec<String> =
        same.filter_map(|column| Some(format!("{} {}", column.name, column.sorted().first()?.0))).collect();
    if !same.is_empty() {
        items.push(Item::plain(format!("the same in all rows: {}", same.join(", "))));
    }
    Part::new("columns", Weight::Fact, items)
}

/// Rows with a value that hardly any other has, where most have the same.
fn rare(columns: &[Column], rows: u64) -> Vec<Item> {
    let few = (rows / 100).max(1);
    let mut items: Vec<Item> = Vec::new();
    for column in columns
        .iter()
        .filter(|column| column.zeros <= few.min(20) && column.numbers > few * 20 && !column.is_sort(rows))
    {
        items.extend(column.zero_rows.iter().cloned());
    }
    for column in columns.iter().filter(|column| !column.free && rows >= 10 && column.is_sort(rows)) {
        let sorted = column.sorted();
        if sorted.first().is_none_or(|(_, most)| *most * 2 < rows) || sorted.len() > 12 {
            continue;
        }
        for (name, _) in sorted.iter().rev().filter(|(_, count)| *count <= few).take(20) {
            let rows = column.values.get(*name).map(|value| value.rows.as_slice()).unwrap_or_default();
            for row in rows {
                if !items.iter().any(|item| item.line == row.line) {
                    items.push(row.clone());
                }
            }
        }
    }
    items
}

/// Whether a cell tells of trouble, by what its column is.
fn is_bad(name: &str, cell: &str, free: bool) -> bool {
    if cell.is_empty() {
        return false;
    }
    match name {
        "STAT" | "S" => return cell.starts_with(['Z', 'D']),
        "READY" => {
            return cell
                .split_once('/')
                .is_some_and(|(ready, all)| number(ready).map(|ready| ready.0) < number(all).map(|all| all.0));
        }
        "Use%" | "IUse%" | "Capacity" | "%iused" => return number(cell).is_some_and(|(percent, _)| percent >= 90),
        _ => {}
    }
    if free || cell.bytes().any(|byte| matches!(byte, b'/' | b'@')) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    if !["STATUS", "STATE", "HEALTH", "CONDITION", "PHASE", "RESULT", "REASON", "ACTIVE", "SUB", "OUTCOME"]
        .iter()
        .any(|word| upper.contains(word))
    {
        return false;
    }
    let lower = cell.to_ascii_lowercase();
    let words = [
        "crash",
        "backoff",
        "evicted",
        "unhealthy",
        "notready",
        "oomkilled",
        "dead",
        "lost",
        "unknown",
        "exited (",
        "imagepull",
        "terminating",
        "pending",
        "unavailable",
        "degraded",
    ];
    trouble::of(cell) == Some(Trouble::Error)
        || words.iter().any(|word| lower.contains(word)) && !lower.starts_with("exited (0)")
}
