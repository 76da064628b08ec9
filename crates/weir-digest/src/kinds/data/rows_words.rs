//! Describes the values of one field, and identifies the record that has one of them.

use std::rc::Rc;

use super::column::{Column, ValueCount};
use super::row::KeptRecord;
use super::rows::Rows;
use super::value::{Role, ends_with_word, words_of};
use crate::Item;
use crate::text::{before_cut, count, shorten};

/// The maximum number of different values shown of a field.
const MAX_VALUES: usize = 14;
pub(super) const MAX_VALUE_BYTES: usize = 60;
/// The maximum length of all values of a field.
const MAX_LINE_BYTES: usize = 240;

/// What is needed to describe a table.
pub(super) struct TableDescriber<'a> {
    pub rows: &'a Rows,
    /// The columns whose values together identify a record.
    pub identity: Vec<usize>,
    /// Whether they identify nearly every record.
    is_sure: bool,
}

impl<'a> TableDescriber<'a> {
    pub(super) fn of(rows: &'a Rows) -> Self {
        let identity = identity(rows);
        let tells = |column: &Column| {
            column.values.distinct() as u64 * 10 >= column.filled * 9 || column.values.beyond > 0 || column.name == "of"
        };
        let is_sure = identity.iter().any(|&place| rows.columns.get(place).is_some_and(tells));
        Self { rows, identity, is_sure }
    }

    pub(super) fn name(&self, column: usize) -> &'a str {
        self.rows.columns.get(column).map_or("?", |column| column.name.as_str())
    }

    pub(super) fn field(&self, column: &Column, seen: &[u64]) -> Item {
        let gaps = gaps(column, self.rows.count);
        let is_time = column.is_date() && column.values.distinct() > 5;
        let (full, brief) = if column.is_sorted_out() && !is_time {
            (self.listed(column, true), self.listed(column, false))
        } else {
            self.range(column, seen).unwrap_or_else(|| (texts(column), texts(column)))
        };
        let with = |text: &str| {
            let between = if gaps.is_empty() { "" } else { "; " };
            format!("{}: {text}{between}{gaps}", column.name)
        };
        Item::plain(with(&full)).or(with(&brief))
    }

    /// Returns the range of the values of a field: with the records that have its ends and the sum, and without.
    fn range(&self, column: &Column, seen: &[u64]) -> Option<(String, String)> {
        if column.is_date() {
            let text = format!("{} to {}", column.earliest.1, column.latest.1);
            return Some((format!("{text}, {}", distinct(column)), text));
        }
        if !column.is_number() {
            return None;
        }
        let (low, high) = (column.numbers.low.first()?, column.numbers.high.first()?);
        let text = format!("{} to {}", low.text, high.text);
        if column.is_identity() {
            return Some((format!("{text}{}, {}", moments(column), distinct(column)), text));
        }
        let holder = |kept: &Option<Rc<KeptRecord>>| {
            let kept = kept.as_ref().filter(|kept| !seen.contains(&kept.index))?;
            self.which(kept).map(|named| format!(" ({named})"))
        };
        let (of_low, of_high) = (holder(&low.holder).unwrap_or_default(), holder(&high.holder).unwrap_or_default());
        let measures = self.measures(column);
        let others = column.filled.saturating_sub(column.numbers.count);
        let others = if others > 0 { format!(", {others} not numbers") } else { String::new() };
        if let Some(moments) = Some(moments(column)).filter(|moments| !moments.is_empty()) {
            return Some((format!("{text}{moments}, {}{others}", distinct(column)), text));
        }
        Some((
            format!("{}{of_low} to {}{of_high}{measures}{others}", low.text, high.text),
            format!("{text}{measures}{others}"),
        ))
    }

    /// Returns the mean and the sum of the numbers of a field, as far as they mean something.
    fn measures(&self, column: &Column) -> String {
        let mean = column.numbers.mean().filter(|_| self.can_measure(column)).map(|mean| format!(", mean {mean}"));
        mean.unwrap_or_default() + &self.sum(column)
    }

    fn sum(&self, column: &Column) -> String {
        let sum = column.numbers.sum().filter(|_| self.can_measure(column) && is_amount(column));
        sum.map(|sum| format!(", sum {sum}")).unwrap_or_default()
    }

    /// Returns whether the numbers of a field are quantities. They are not if they are positions or limits, if nothing
    /// says what they are, if `-1` stands for none, or if one of the records is the total of the others.
    fn can_measure(&self, column: &Column) -> bool {
        let is_position = words_of(&column.name).iter().any(|word| POSITIONS.contains(&word.as_str()));
        let is_number = column.is_number() && !column.is_identity() && !column.numbers.has_sentinel();
        is_number && !is_position && !self.rows.has_total
    }

    pub(super) fn which(&self, kept: &KeptRecord) -> Option<String> {
        let values = self.identity.iter().filter_map(|&place| kept.get(place)).filter(|value| !value.is_empty());
        let named = values.map(|value| one_line(value, MAX_VALUE_BYTES)).collect::<Vec<_>>().join(" ");
        (!named.is_empty()).then_some(named)
    }

    /// Lists values with their counts: `ok ×412, failed ×3 (first, second, third)`.
    fn listed(&self, column: &Column, with_holders: bool) -> String {
        let values = column.values.sorted();
        let holders = |value: &ValueCount<'_>| {
            let is_few = value.count <= 5 && value.count * 5 <= column.filled && self.rows.count >= 20;
            let known = value.holders.len() as u64 == value.count && with_holders && self.is_sure;
            let named: Vec<String> = value.holders.iter().filter_map(|kept| self.which(kept)).collect();
            let is_short = named.iter().map(String::len).sum::<usize>() <= 160;
            let tells = is_few
                && known
                && is_short
                && !named.is_empty()
                && matches!(column.role, Role::Other | Role::Outcome | Role::Level);
            if tells { format!(" ({})", named.join(", ")) } else { String::new() }
        };
        let mut text = String::new();
        let mut shown = 0;
        for value in values.iter().take(MAX_VALUES) {
            if text.len() >= MAX_LINE_BYTES {
                break;
            }
            let between = if shown == 0 { "" } else { ", " };
            text.push_str(&format!("{between}{}{}", times(value), holders(value)));
            shown += 1;
        }
        if let Some(more) = values.get(shown..).filter(|more| !more.is_empty()) {
            let times: u64 = more.iter().map(|value| value.count).sum();
            text.push_str(&format!(", {} ×{times}", count(more.len() as u64, "more value", "more values")));
        }
        if values.len() > 1 {
            text.push_str(&self.sum(column));
        }
        text
    }
}

fn identity(rows: &Rows) -> Vec<usize> {
    let short = |column: &Column| column.longest <= 100 && column.filled > 0;
    let is_name = |column: &Column| !column.is_number() || column.is_identity();
    let good = |column: &Column| short(column) && is_name(column) && column.missing(rows.count) * 20 <= rows.count;
    let columns = || rows.columns.iter().enumerate().filter(|(_, column)| good(column));
    let nearly = |column: &Column| column.values.distinct() as u64 * 10 >= column.filled * 9;
    let is_named = |column: &Column| matches!(column.role, Role::Name | Role::Id);
    let mut named: Vec<_> = columns().filter(|(_, column)| is_named(column) && nearly(column)).collect();
    named.sort_by_key(|(_, column)| (column.depth(), column.longest));
    if let Some((place, column)) = named.first() {
        let second = named.get(1).filter(|second| second.1.longest + column.longest <= 60).map(|second| second.0);
        return [Some(*place), second].into_iter().flatten().collect();
    }
    let tells = |column: &Column| {
        column.values.distinct() > 1
            && !matches!(column.role, Role::Level | Role::Outcome | Role::Error | Role::Message)
    };
    let names: Vec<usize> =
        columns().filter(|(_, column)| is_named(column) && tells(column)).map(|(place, _)| place).take(2).collect();
    if !names.is_empty() {
        return names;
    }
    if let Some((place, _)) = columns().find(|(_, column)| column.is_unique() && !column.is_date()) {
        return vec![place];
    }
    columns().filter(|(_, column)| tells(column)).map(|(place, _)| place).take(3).collect()
}

/// Words in the names of fields whose numbers are places, limits or names, so that a mean of them means nothing.
#[rustfmt::skip]
const POSITIONS: [&str; 30] = [
    "character", "col", "column", "date", "day", "edition", "fd", "field", "hour", "index", "inode", "level", "limit",
    "line", "lineno", "max", "min", "mode", "month", "offset", "oid", "port", "position", "range", "sourceline",
    "status", "threshold", "timestamp", "version", "year",
];

/// Words in the names of fields whose numbers are measured at one moment or computed, so that a sum means nothing.
#[rustfmt::skip]
const STATES: [&str; 16] = [
    "average", "avg", "capacity", "free", "mean", "median", "p50", "p90", "p95", "p99", "pct", "per", "percent",
    "rate", "ratio", "used",
];

/// Words with which the names of fields end whose numbers add up, besides plurals.
#[rustfmt::skip]
const AMOUNTS: [&str; 22] = [
    "added", "amount", "balance", "changed", "cost", "count", "discount", "duration", "elapsed", "fee", "ms", "paid",
    "price", "qty", "quantity", "removed", "revenue", "size", "sum", "tax", "took", "total",
];

/// Returns whether the numbers of a field add up to something: amounts, counts, sizes and durations do.
fn is_amount(column: &Column) -> bool {
    let words = words_of(&column.name);
    let adds_up = |word: &String| {
        let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("us");
        is_plural || AMOUNTS.contains(&word.as_str())
    };
    let is_count = column.name.ends_with("[]") || column.name.ends_with("{}");
    !words.iter().any(|word| STATES.contains(&word.as_str())) && (is_count || words.last().is_some_and(adds_up))
}

fn texts(column: &Column) -> String {
    let values = column.values.sorted();
    let repeated = values.first().is_some_and(|value| value.count > 1);
    let examples = values.iter().take(if repeated { 5 } else { 2 });
    let examples =
        examples.map(|value| if value.count == 1 { one_line(value.text, MAX_VALUE_BYTES) } else { times(value) });
    let examples = shorten(&examples.collect::<Vec<_>>().join(", "), MAX_LINE_BYTES);
    let long = if column.longest > 120 { format!(", up to {} bytes", column.longest) } else { String::new() };
    format!("{}{long}, {} {examples}", distinct(column), if repeated { "most often" } else { "such as" })
}

/// Returns a value with its count: `paid ×412`.
fn times(value: &ValueCount<'_>) -> String {
    match (value.count, value.is_varied) {
        (1, _) => format!("{} ×1", one_line(value.text, MAX_VALUE_BYTES)),
        (count, true) => format!("{} ×{count} with other numbers", one_line(value.text, MAX_VALUE_BYTES)),
        (count, false) => format!("{} ×{count}", one_line(value.text, MAX_VALUE_BYTES)),
    }
}

fn distinct(column: &Column) -> String {
    if column.is_unique() {
        return "all different".to_owned();
    }
    let more = if column.values.beyond > 0 { "at least " } else { "" };
    let but = if column.values.is_varied() { " but for their numbers" } else { "" };
    format!("{more}{} different{but}", column.values.distinct())
}

/// Returns the gaps with their counts: `11 empty, 29 NA, 3 absent`.
fn gaps(column: &Column, records: u64) -> String {
    let gap = |(text, count): &(String, u64)| format!("{count} {}", if text.is_empty() { "empty" } else { text });
    let mut all: Vec<String> = column.gaps.iter().map(gap).collect();
    let absent = records.saturating_sub(column.records);
    all.extend((absent > 0).then(|| format!("{absent} absent")));
    all.join(", ")
}

/// Returns the moments that numbers represent if they count seconds, or fractions of them, since 1970.
fn moments(column: &Column) -> String {
    let name = &column.name;
    #[rustfmt::skip]
    let words = [
        "time", "ts", "timestamp", "at", "date", "epoch", "t", "expires", "created", "updated", "mtime", "since",
        "until",
    ];
    let ends = column.numbers.low.first().zip(column.numbers.high.first());
    let is_time = name == "0" || words.iter().any(|word| ends_with_word(name, word));
    let Some((low, high)) = ends.filter(|_| is_time) else {
        return String::new();
    };
    let scale = [1.0, 1e3, 1e6, 1e9].into_iter().find(|scale| (1e9..4e9).contains(&(low.number / scale)));
    match scale.filter(|scale| (1e9..4e9).contains(&(high.number / scale))) {
        Some(scale) => format!(" ({} to {})", moment(low.number / scale), moment(high.number / scale)),
        None => String::new(),
    }
}

/// Formats a moment in seconds since 1970 as a date and a time of the civil calendar.
fn moment(seconds: f64) -> String {
    let seconds = seconds.max(0.0) as u64;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years are counted from March, which makes the leap day the last day of the year.
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Returns a value on one line, in at most `most` bytes.
pub(super) fn one_line(text: &str, most: usize) -> String {
    let (whole, missing) = before_cut(text);
    let mut line = whole[..whole.floor_char_boundary(most)].replace(['\n', '\r'], "⏎");
    if whole.len() > most || missing > 0 {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        assert_eq!(moment(0.0), "1970-01-01T00:00:00Z");
        assert_eq!(moment(951_827_696.0), "2000-02-29T12:34:56Z");
        assert_eq!(moment(1_760_000_000.0), "2025-10-09T08:53:20Z");
    }
}
