//! A column of a table: how much it matters, what it costs, and how often its values occur.

use std::collections::{HashMap, HashSet};

use super::little::{is_link, label, last_name, says_little};
use crate::text::clip;

/// How many values of a column are counted to estimate its cost.
const MAX_COUNTED: usize = 60;
/// The maximum length of a constant value.
pub(super) const MAX_CONSTANT_BYTES: usize = 80;
/// The last rank of columns that are short, of those that are shown where there is room, and that of columns that say
/// little.
pub(super) const LAST_SHORT_RANK: u8 = 3;
pub(super) const LAST_SHOWN_RANK: u8 = 5;
pub(super) const LITTLE: u8 = 7;
/// The maximum number of different values that are counted.
const MAX_DIFFERENT: usize = 8;

/// Names of fields that identify a record, or say what it is.
pub(super) const IDENTITIES: [&str; 18] = [
    "id", "key", "number", "sha", "uuid", "_id", "ref", "path", "name", "title", "slug", "symbol", "date",
    "plain_text", "filename", "label", "content", "row",
];

pub(super) struct Column {
    pub name: String,
    /// The value of each record; empty where it has none.
    pub cells: Vec<String>,
    /// Of lists within records, only what their items are called.
    pub names: Vec<String>,
    pub rank: u8,
}

/// How much of each value of a column is shown.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub width: usize,
    pub only_names: bool,
}

impl Column {
    pub(super) fn is_empty(&self) -> bool {
        self.cells.iter().all(|cell| matches!(cell.as_str(), "" | "null" | "None"))
    }

    pub(super) fn is_constant(&self, count: usize) -> bool {
        count > 1 && self.cells.iter().all(|cell| *cell == self.cells[0])
    }

    /// Returns whether its values tell most of the records apart.
    pub(super) fn tells_apart(&self) -> bool {
        let filled: Vec<&String> = self.cells.iter().filter(|cell| !cell.is_empty()).collect();
        let different = filled.iter().collect::<HashSet<_>>().len();
        different > 1 && different * 2 > filled.len()
    }

    /// Returns whether nearly all values are those of another column.
    pub(super) fn is_copy_of(&self, other: &Self) -> bool {
        let differ = self.cells.iter().zip(&other.cells).filter(|(one, two)| one != two).count();
        differ == 0 || (self.rank > 1 && differ * 10 <= self.cells.len())
    }

    /// Returns how its values are shown at a width.
    pub(super) fn extent(&self, width: usize) -> Extent {
        let cut = self.cells.iter().filter(|cell| cell.len() > width).count();
        Extent { width, only_names: !self.names.is_empty() && cut * 5 > self.cells.len() }
    }

    pub(super) fn cell(&self, row: usize, extent: Extent) -> String {
        let text = if extent.only_names { &self.names[row] } else { &self.cells[row] };
        clip(&text.replace(['\n', '\r', '\t'], " "), extent.width)
    }

    /// Returns the cost of showing it in every record, in tokens, about.
    pub(super) fn cost(&self, extent: Extent) -> usize {
        let counted = self.cells.len().min(MAX_COUNTED);
        let step = self.cells.len() / counted.max(1);
        let rows = (0..counted).map(|row| row * step.max(1));
        let tokens: usize = rows.map(|row| weir_tokens::count(&self.cell(row, extent)) + 1).sum();
        tokens * self.cells.len() / counted.max(1)
    }

    /// Returns its name and how much text it has.
    pub(super) fn size(&self) -> String {
        let bytes: usize = self.cells.iter().map(String::len).sum();
        format!("{} ({bytes} bytes)", self.name)
    }

    /// Returns its values with how often they occur, if they sort the records, or their range if they are quantities.
    pub(super) fn counts(&self) -> Option<String> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for cell in self.cells.iter().filter(|cell| !cell.is_empty()) {
            let place = *places.entry(cell).or_insert(counts.len());
            if place == counts.len() {
                counts.push((cell, 0));
            }
            counts[place].1 += 1;
        }
        let filled: usize = counts.iter().map(|(_, count)| count).sum();
        if counts.len() > MAX_DIFFERENT
            && let Some(range) = self.range()
        {
            return Some(format!("{} {range}", label(&self.name)));
        }
        if counts.len() * 2 > filled || counts.iter().any(|(value, _)| value.len() > MAX_CONSTANT_BYTES / 2) {
            return None;
        }
        let none = self.cells.len() - filled;
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let more = counts.len().saturating_sub(MAX_DIFFERENT);
        let shown = counts.iter().take(MAX_DIFFERENT).map(|(value, count)| format!("{value} ×{count}"));
        let more = (more > 0).then(|| format!("{more} more"));
        let none = (none > 0).then(|| format!("none ×{none}"));
        Some(format!("{} {}", label(&self.name), shown.chain(more).chain(none).collect::<Vec<_>>().join(", ")))
    }

    /// Returns the smallest and the largest of its values, and the sum of whole ones, if they are quantities.
    fn range(&self) -> Option<String> {
        if self.rank <= 1 || last_name(&self.name).to_ascii_lowercase().ends_with("id") {
            return None;
        }
        let filled = self.cells.iter().filter(|cell| !cell.is_empty());
        let numbers: Vec<(f64, &str)> =
            filled.map(|cell| Some((cell.parse::<f64>().ok()?, cell.as_str()))).collect::<Option<_>>()?;
        let least = numbers.iter().min_by(|one, other| one.0.total_cmp(&other.0))?.1;
        let most = numbers.iter().max_by(|one, other| one.0.total_cmp(&other.0))?.1;
        let sum = numbers.iter().try_fold(0_i64, |sum, (_, text)| sum.checked_add(text.parse().ok()?));
        let sum = sum.map(|sum| format!(", sum {sum}")).unwrap_or_default();
        Some(format!("{least} to {most}{sum}"))
    }
}

/// Returns how important a column is; 0 is what a record is called.
pub(super) fn rank(column: &Column) -> u8 {
    let last = last_name(&column.name).to_ascii_lowercase();
    let filled: Vec<&str> = column.cells.iter().map(String::as_str).filter(|cell| !cell.is_empty()).collect();
    let distinct = filled.iter().collect::<HashSet<_>>().len();
    let bytes = filled.iter().map(|cell| cell.len()).sum::<usize>() / filled.len().max(1);
    let depth = column.name.matches(['.', '[']).count();
    let is_identity = IDENTITIES.contains(&last.as_str());
    let tells = distinct * 2 > filled.len();
    let is_all_distinct = distinct == filled.len() && filled.len() == column.cells.len();
    // Names of fields as data: many kinds of records, each with its own.
    let is_of_kind = depth >= 2 && distinct == 1 && filled.len() < column.cells.len();
    match () {
        () if is_of_kind || filled.iter().take(5).all(|cell| says_little(&column.name, cell)) => LITTLE,
        () if filled.iter().all(|cell| is_link(cell)) => LAST_SHOWN_RANK + 1,
        () if is_identity && depth == 0 && tells => 0,
        () if is_identity && bytes <= 80 => 1,
        () if is_all_distinct && depth == 0 && bytes <= 40 && is_name(&filled) => 1,
        () if bytes <= 40 && depth <= 1 => 2,
        () if bytes <= 40 => 3,
        () if bytes <= 200 || !column.names.is_empty() => 4,
        () => 5,
    }
}

/// Returns whether values are names or dates, and not quantities.
fn is_name(values: &[&str]) -> bool {
    values.iter().all(|value| value.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'-' || byte >= 0x80))
}
