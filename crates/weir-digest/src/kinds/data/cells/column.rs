//! One column: what its cells are, and how that is told in a line.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::LONGEST;
use crate::Item;
use crate::kinds::shared::counts::{Most, Tally, template};
use crate::kinds::shared::dates;
use crate::text::{clip, number};

/// How many values of a column are counted, and of how many the first row is kept.
const VALUES: usize = 3_000;
const EXAMPLES: usize = 100;
/// How many rows are kept of a value that few have.
const ROWS: usize = 8;
/// How many rows with the highest numbers are kept.
const HIGHEST: usize = 3;
/// How much of the name of a row is shown.
const LABEL: usize = 40;
/// One column.
pub(super) struct Column {
    pub(super) name: String,
    /// Whether it may have any text, so that only what its cells are like is told.
    pub(super) free: bool,
    pub(super) empty: u64,
    pub(super) numbers: u64,
    pub(super) zeros: u64,
    pub(super) zero_rows: Vec<Item>,
    /// Of whole numbers without a unit.
    pub(super) sum: Option<u64>,
    pub(super) least: Option<(Number, String)>,
    least_label: String,
    pub(super) most: Option<(Number, String)>,
    pub(super) highest: Most<Number>,
    pub(super) values: HashMap<Box<str>, Value>,
    pub(super) beyond: u64,
    pub(super) like: Tally,
    pub(super) programs: Tally,
    /// What follows the name of a program that tells what it does.
    pub(super) titles: Tally,
}

/// One value of a column.
pub(super) struct Value {
    /// How many rows have it.
    pub(super) count: u64,
    /// The first rows, as long as there are few.
    pub(super) rows: Vec<Item>,
}

/// A number of a cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Number(f64);

impl Eq for Number {}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Column {
    pub(super) fn of(name: &str, free: bool) -> Self {
        Self {
            name: name.to_owned(),
            free,
            empty: 0,
            numbers: 0,
            zeros: 0,
            zero_rows: Vec::new(),
            sum: Some(0),
            least: None,
            least_label: String::new(),
            most: None,
            highest: Most::of(HIGHEST),
            values: HashMap::new(),
            beyond: 0,
            like: Tally::of(2_000),
            programs: Tally::of(500),
            titles: Tally::of(500),
        }
    }

    pub(super) fn add(&mut self, cell: &str, label: &str, line: u64, row: &str) {
        if cell.is_empty() {
            self.empty += 1;
            return;
        }
        if self.free {
            self.like.add(&template(clip_plain(cell, LONGEST)));
            let program = program(cell);
            self.programs.add(program);
            if program.ends_with(':') {
                self.titles.add(&format!("{program}\t{}", title(cell)));
            }
            return;
        }
        if let Some(value) = parse(cell) {
            self.numbers += 1;
            let whole = number(cell).filter(|(_, rest)| rest.is_empty());
            self.sum = self.sum.zip(whole).and_then(|(sum, (value, _))| sum.checked_add(value));
            if value.0 == 0.0 {
                self.zeros += 1;
                if self.zero_rows.len() < 20 {
                    self.zero_rows.push(Item::at(line, clip(row, LONGEST)));
                }
            }
            if self.least.as_ref().is_none_or(|(least, _)| value < *least) {
                self.least = Some((value, clip(cell, 40)));
                self.least_label = clip_dots(label, LABEL);
            }
            if self.most.as_ref().is_none_or(|(most, _)| value > *most) {
                self.most = Some((value, clip(cell, 40)));
            }
            if value.0 > 0.0 {
                let text =
                    || if label == row { clip(row, LONGEST) } else { format!("{cell} {}", clip_dots(label, LABEL)) };
                self.highest.offer(value, text);
            }
        }
        if let Some(value) = self.values.get_mut(cell) {
            value.count += 1;
            if (1..ROWS).contains(&value.rows.len()) && value.rows.len() as u64 + 1 == value.count {
                value.rows.push(Item::at(line, clip(row, LONGEST)));
            } else {
                value.rows.truncate(1);
            }
        } else if self.values.len() < VALUES && cell.len() <= 200 {
            let rows = if self.values.len() < EXAMPLES { vec![Item::at(line, clip(row, LONGEST))] } else { Vec::new() };
            self.values.insert(cell.into(), Value { count: 1, rows });
        } else {
            self.beyond += 1;
        }
    }

    fn filled(&self) -> u64 {
        self.values.values().map(|value| value.count).sum::<u64>() + self.beyond
    }

    fn is_number(&self) -> bool {
        self.numbers > 0 && self.numbers * 20 >= self.filled() * 19
    }

    /// Whether it has numbers of which the least and the most tell something. Few numbers that are never 0 are codes.
    pub(super) fn is_range(&self, rows: u64) -> bool {
        self.is_number() && !(self.is_sort(rows) && self.zeros == 0 && self.values.len() <= 12)
    }

    /// Whether its values come again and again.
    pub(super) fn is_sort(&self, rows: u64) -> bool {
        let names = self.values.len() as u64;
        let again = names < self.filled() || names == 1;
        self.beyond == 0 && again && (1..=200).contains(&names) && (names <= 12 || names * 4 <= rows)
    }

    pub(super) fn is_name(&self) -> bool {
        let lower = self.name.to_ascii_lowercase();
        [
            "pid", "ppid", "pgid", "sid", "tpgid", "uid", "gid", "id", "node", "inode", "tid", "port", "device", "pr",
            "ni", "pri",
        ]
        .contains(&lower.as_str())
            || lower.ends_with("_id")
    }

    /// Whether its values are times of day or durations.
    pub(super) fn is_time(&self) -> bool {
        let time =
            |text: &str| text.contains(':') && text.bytes().all(|byte| byte.is_ascii_digit() || b":-.".contains(&byte));
        !self.values.is_empty() && self.values.keys().all(|text| time(text))
    }

    /// Its values in a line.
    pub(super) fn told(&self, rows: u64) -> Option<String> {
        let name = &self.name;
        if self.free {
            let command = ["COMMAND", "CMD", "ARGS", "Command"].contains(&name.as_str());
            let often = command && self.programs.sorted().first().is_some_and(|(_, count)| *count > 2);
            return often.then(|| format!("{name} begins with: {}", self.programs_in_line()));
        }
        let empty = if self.empty > 0 { format!(", {} empty", self.empty) } else { String::new() };
        let sorted = self.sorted();
        let frequent =
            || sorted.iter().take(10).map(|(value, count)| format!("{value} {count}")).collect::<Vec<_>>().join(", ");
        let more = match sorted.len().saturating_sub(10) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        if self.is_range(rows) && !(self.is_sort(rows) && sorted.len() <= 8) {
            let (Some((_, least)), Some((_, most))) = (&self.least, &self.most) else { return None };
            let zeros = match self.zeros {
                0 => String::new(),
                zeros => format!(", {} not 0, {zeros} times 0", self.numbers - zeros),
            };
            let sum = self.sum.filter(|_| !self.is_name() && self.numbers > 1);
            let sum = sum.map(|sum| format!(", sum {sum}")).unwrap_or_default();
            let lowest = match &self.least {
                Some((value, cell)) if value.0 < 0.0 => format!("; lowest: {cell} {}", self.least_label),
                _ => String::new(),
            };
            return Some(format!("{name}: {least} to {most}{zeros}{sum}{empty}{}{lowest}", self.highest_told()));
        }
        if self.is_sort(rows) {
            let highest = if self.is_range(rows) { self.highest_told() } else { String::new() };
            return Some(format!("{name}: {}{more}{empty}{highest}", frequent()));
        }
        let over = if self.beyond > 0 { "more than " } else { "" };
        let again = sorted.iter().filter(|(_, count)| *count > 1).take(6);
        let again: Vec<String> = again.map(|(value, count)| format!("{value} {count}")).collect();
        let again = if again.is_empty() { String::new() } else { format!(": {}", again.join(", ")) };
        Some(format!("{name}: {over}{} different{again}{empty}", sorted.len()))
    }

    /// The programs with counts, and those that tell what they do with what they tell.
    fn programs_in_line(&self) -> String {
        let titles = self.titles.sorted();
        let sorted = self.programs.sorted();
        let often = sorted.iter().filter(|(_, count)| *count > 1).count().clamp(4, 14);
        let told = sorted.iter().take(often).map(|(name, count)| {
            let of = titles.iter().filter_map(|(title, count)| match title.split_once('\t') {
                Some((program, title)) if program == *name && !title.is_empty() => Some(format!("{title} {count}")),
                _ => None,
            });
            let of: Vec<String> = of.take(6).collect();
            if of.is_empty() { format!("{name} {count}") } else { format!("{name} {count} ({})", of.join(", ")) }
        });
        let mut told: Vec<String> = told.collect();
        let rest: u64 = sorted.iter().skip(often).map(|(_, count)| count).sum::<u64>() + self.programs.beyond();
        if rest > 0 {
            told.push(format!("{rest} others"));
        }
        told.join(", ")
    }

    fn highest_told(&self) -> String {
        if self.is_name() || self.is_often_highest() {
            return String::new();
        }
        let texts = self.highest.texts();
        if texts.is_empty() { String::new() } else { format!("; highest: {}", texts.join(", ")) }
    }

    pub(super) fn sorted(&self) -> Vec<(&str, u64)> {
        let mut sorted: Vec<(&str, u64)> =
            self.values.iter().map(|(name, value)| (name.as_ref(), value.count)).collect();
        sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        sorted
    }

    /// Whether so many rows have the highest number that it does not tell them apart.
    fn is_often_highest(&self) -> bool {
        let value = self.most.as_ref().and_then(|(_, cell)| self.values.get(cell.as_str()));
        value.is_some_and(|value| value.count > 4)
    }

    /// Whether nearly all rows have the same.
    pub(super) fn is_mostly_same(&self, rows: u64) -> bool {
        self.sorted().first().is_some_and(|(_, count)| count * 100 >= rows * 95) && !self.is_state()
    }

    fn is_state(&self) -> bool {
        let lower = self.name.to_ascii_lowercase();
        lower.starts_with("stat") || lower == "ready" || lower == "s"
    }

    /// Whether all rows have the same.
    pub(super) fn is_same(&self, rows: u64) -> bool {
        rows > 1 && self.values.len() == 1 && self.empty == 0 && self.beyond == 0
    }
}

/// A number, also with a sign for hundredths or a unit of size, or a date.
pub(super) fn parse(cell: &str) -> Option<Number> {
    if let Some(stamp) = dates::iso(cell) {
        return Some(Number(stamp.digits() as f64));
    }
    let first = cell.as_bytes().first()?;
    if !first.is_ascii_digit() && !matches!(first, b'-' | b'+' | b'.') {
        return None;
    }
    let end =
        cell.bytes().skip(1).position(|byte| !byte.is_ascii_digit() && byte != b'.').map_or(cell.len(), |end| end + 1);
    let (digits, unit) = cell.split_at_checked(end)?;
    let factor = match unit {
        "" | "%" | "B" => 1.0,
        "K" | "k" | "Ki" | "KB" | "kB" | "KiB" => 1024.0,
        "M" | "Mi" | "MB" | "MiB" => 1024.0 * 1024.0,
        "G" | "Gi" | "GB" | "GiB" => 1024.0 * 1024.0 * 1024.0,
        "T" | "Ti" | "TB" | "TiB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| Number(value * factor))
}

/// The first word of a command, without the folder that it is in.
fn program(text: &str) -> &str {
    // A tree of processes is drawn before the command.
    let text = text.trim_start_matches(['\\', '_', '|', ' ']);
    let word = text.split_whitespace().next().unwrap_or(text);
    if let Some(inner) = word.strip_prefix('[') {
        // A thread of the kernel, with what it does after a slash.
        return inner.split(['/', ':', ']']).next().unwrap_or(inner);
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    clip_plain(if name.is_empty() { word } else { name }, 60)
}

/// The last words of a command that are words: what a program says that it does.
fn title(text: &str) -> &str {
    let is_word = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let mut from = text.len();
    for (place, _) in text.rmatch_indices(' ') {
        if !text.get(place + 1..from).is_some_and(|word| is_word(word.trim())) {
            break;
        }
        from = place;
    }
    clip_plain(text.get(from..).unwrap_or_default().trim(), 60)
}

fn clip_dots(text: &str, most: usize) -> String {
    let cut = clip_plain(text, most);
    if cut.len() == text.len() { cut.to_owned() } else { format!("{cut}…") }
}

fn clip_plain(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}
