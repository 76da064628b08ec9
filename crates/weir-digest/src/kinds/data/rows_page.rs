//! Describes many records: what is unusual first, then each field in one line, then the first and last records.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::column::{Column, ValueCount};
use super::row::KeptRecord;
use super::rows::{Groups, MAX_FIRST_RECORDS, Rows};
use super::rows_words::{MAX_VALUE_BYTES, TableDescriber, one_line};
use super::value::Role;
use crate::text::{clip, count, shorten};
use crate::{Item, Page, Part, Weight};

/// The maximum number of bytes shown of a verbatim record.
const MAX_RECORD_BYTES: usize = 420;
/// The maximum number of bytes shown of a record by its fields.
const MAX_FIELDS_BYTES: usize = 240;
/// The maximum length of an unusual record that is shown whole.
const MAX_INLINE_BYTES: usize = 150;
/// The maximum length of a list of the names of records.
const MAX_NAMES_BYTES: usize = 700;
/// The fields that describe a record best, besides its name.
const TELLING: [&str; 7] = ["version", "value", "status", "state", "Status", "type", "kind"];

/// What is known about several tables of records.
#[derive(Default)]
pub(super) struct TableFacts {
    errors: Vec<Item>,
    error_groups: u64,
    warnings: Vec<Item>,
    warning_groups: u64,
    unusual: Vec<Item>,
    names: Vec<Item>,
    fields: Vec<Part>,
    ends: Vec<Part>,
}

impl TableFacts {
    pub(super) fn add(&mut self, rows: &Rows) {
        let words = TableDescriber::of(rows);
        self.errors.extend(words.troubles(&rows.errors));
        self.error_groups += rows.errors.groups();
        self.warnings.extend(words.troubles(&rows.warnings));
        self.warning_groups += rows.warnings.groups();
        let is_first = self.fields.is_empty();
        let unusual = words.unusual();
        let seen: Vec<u64> = unusual.iter().map(|odd| odd.kept.index).collect();
        self.unusual.extend(unusual.iter().map(|odd| words.odd_item(odd)));
        self.names.extend(words.names());
        self.fields.push(words.fields(&seen));
        if is_first {
            self.ends.push(words.ends(&seen));
        }
    }

    pub(super) fn push(self, page: &mut Page) {
        let errors = Part::new("errors, grouped by message", Weight::Failure, self.errors);
        page.push(errors.of(self.error_groups));
        let warnings = Part::new("warnings, grouped by message", Weight::Fact, self.warnings);
        page.push(warnings.of(self.warning_groups));
        page.push(Part::uncounted("which records there are", Weight::Fact, self.names));
        page.push(Part::new("unusual records", Weight::Fact, self.unusual));
        for part in self.fields {
            page.push(part);
        }
        for part in self.ends {
            page.push(part);
        }
    }
}

pub(super) fn names(rows: &Rows) -> Option<Item> {
    TableDescriber::of(rows).names()
}

/// Returns the records of a table that has only a few, verbatim.
pub(super) fn few(rows: &Rows) -> Vec<Item> {
    let words = TableDescriber::of(rows);
    let path = rows.path.trim_end_matches('.');
    let text = |kept: &KeptRecord| kept.with_names(|column| words.name(column), &words.identity, MAX_FIELDS_BYTES);
    rows.first
        .iter()
        .map(|kept| Item::at(kept.line, format!("{path}: {}", shorten(&text(kept), MAX_RECORD_BYTES))))
        .collect()
}

struct UnusualRecord {
    kept: Rc<KeptRecord>,
    columns: Vec<usize>,
}

impl<'a> TableDescriber<'a> {
    /// Returns a record as an item, verbatim if it is one line of the output.
    fn item(&self, kept: &KeptRecord, first: &[usize], after: &str) -> Item {
        if !kept.raw.is_empty() {
            return Item::at(kept.line, clip(&kept.raw, MAX_RECORD_BYTES) + after);
        }
        let text = shorten(&kept.with_names(|column| self.name(column), first, MAX_FIELDS_BYTES), MAX_RECORD_BYTES);
        self.at(kept, &(text + after))
    }

    /// Returns an unusual record as an item: whole if it is short, otherwise which record it is and what is unusual.
    fn odd_item(&self, odd: &UnusualRecord) -> Item {
        let name = |column| self.name(column);
        let names: Vec<&str> = odd.columns.iter().map(|&column| self.name(column)).collect();
        let after = format!(" (unusual: {})", shorten(&names.join(", "), 120));
        let first: Vec<usize> = self.identity.iter().chain(&odd.columns).copied().collect();
        let is_short = odd.kept.with_names(name, &[], MAX_FIELDS_BYTES).len() < MAX_INLINE_BYTES;
        if is_short || !odd.kept.raw.is_empty() {
            let brief = odd.kept.with_names(name, &first, 1);
            return self.item(&odd.kept, &[], &after).or(shorten(&brief, 160) + &after);
        }
        let text = odd.kept.only(name, &first, 100);
        self.at(&odd.kept, &text)
    }

    /// Returns a record with its line number, or with its index where all records are on one line.
    fn at(&self, kept: &KeptRecord, text: &str) -> Item {
        let same_line = self.rows.first.first().map(|first| first.line) == self.rows.last().map(|last| last.line);
        if same_line && self.rows.count > 1 {
            // An index is one within all records; within one of many arrays, it would be another.
            let is_one_array = self.rows.top_depth <= 2;
            let place = if is_one_array { format!("[{}]", kept.index) } else { format!("[] #{}", kept.index + 1) };
            return Item::plain(format!("{}{place} {text}", self.base()));
        }
        Item::at(kept.line, text)
    }

    /// Returns where the records are, for those without a line number: `items`.
    fn base(&self) -> &str {
        self.rows.path.strip_suffix("[].").or(self.rows.path.strip_suffix("{}.")).unwrap_or_default()
    }

    fn troubles(&self, groups: &Groups) -> Vec<Item> {
        let mut order: Vec<_> = groups.found.iter().collect();
        order.sort_by_key(|group| std::cmp::Reverse(group.count));
        let items = order.iter().take(60).map(|group| {
            let times = if group.count > 1 { format!(" ×{}", group.count) } else { String::new() };
            let item = self.item(&group.first, &self.identity, &times);
            match self.message(&group.first) {
                Some(message) => item.or(one_line(message, 200) + &times),
                None => item,
            }
        });
        items.collect()
    }

    fn message(&self, kept: &'a KeptRecord) -> Option<&'a str> {
        let of = |role| self.rows.columns.iter().position(|column| column.role == role);
        of(Role::Message).or(of(Role::Error)).and_then(|column| kept.get(column))
    }

    /// Returns the records that differ from the others, and in which fields.
    fn unusual(&self) -> Vec<UnusualRecord> {
        let mut found: BTreeMap<u64, UnusualRecord> = BTreeMap::new();
        let rare = self.rows.columns.iter().filter(|column| is_rare(column, self.rows.count)).count();
        // Where many fields are rare, a rare field is not unusual.
        let is_sparse = rare > 6.max(self.rows.columns.len() / 4);
        for (place, column) in self.rows.columns.iter().enumerate() {
            if column.name == "of" || (is_sparse && is_rare(column, self.rows.count)) {
                continue;
            }
            for kept in odd(column, self.rows.count).into_iter().filter(|kept| !kept.troubled) {
                let odd = || UnusualRecord { kept: Rc::clone(kept), columns: Vec::new() };
                let odd = found.entry(kept.index).or_insert_with(odd);
                if !odd.columns.contains(&place) {
                    odd.columns.push(place);
                }
            }
        }
        let mut found: Vec<UnusualRecord> = found.into_values().collect();
        found.sort_by_key(|odd| (std::cmp::Reverse(odd.columns.len()), odd.kept.index));
        found.truncate(12);
        found
    }

    /// Returns the names of the outermost records, if each has its own, and what it is.
    fn names(&self) -> Option<Item> {
        let rows = self.rows;
        if rows.top_count < 3 || rows.tops.len() as u64 != rows.top_count {
            return None;
        }
        let called_last = |column: &Column, name: &str| column.name.rsplit('.').next() == Some(name);
        let place = |is: &dyn Fn(&Column) -> bool| rows.columns.iter().position(is);
        let is_name = |column: &Column| column.role == Role::Name && column.name != "of" && !column.is_number();
        let name = place(&|column| column.name == "key")
            .or_else(|| self.identity.iter().copied().find(|&place| rows.columns.get(place).is_some_and(is_name)))?;
        let names: Vec<&str> = rows.tops.iter().filter_map(|kept| kept.get(name)).collect();
        let different: BTreeSet<&str> = names.iter().copied().collect();
        if different.len() as u64 != rows.top_count || rows.tops.iter().any(|kept| !kept.raw.is_empty()) {
            return None;
        }
        let tells = |column: &Column, word: &str| {
            called_last(column, word) && column.longest <= MAX_VALUE_BYTES && column.values.distinct() > 1
        };
        let second = TELLING.iter().find_map(|word| place(&|column| tells(column, word))).filter(|&at| at != name);
        let called = rows.tops.iter().zip(names).map(|(kept, name)| {
            let second = second.and_then(|second| kept.get(second)).filter(|second| !second.is_empty());
            let second = second.map(|second| format!(" {second}")).unwrap_or_default();
            one_line(name, MAX_VALUE_BYTES) + &second
        });
        let text = format!("{}: {}", rows.path.trim_end_matches('.'), called.collect::<Vec<_>>().join(", "));
        Some(Item::plain(shorten(&text, MAX_NAMES_BYTES)).or(shorten(&text, MAX_NAMES_BYTES / 2)))
    }

    fn fields(&self, seen: &[u64]) -> Part {
        let rows = self.rows;
        let (mut items, mut same, mut none, mut once) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for column in &rows.columns {
            let value = constant(column).map(|value| format!("{}={}", column.name, one_line(value, MAX_VALUE_BYTES)));
            match value {
                _ if column.filled == 0 => none.push(column.name.clone()),
                // Each record is nested in a different one.
                _ if column.name == "of" && column.is_unique() => {}
                Some(value) if column.missing(rows.count) == 0 && rows.count > 2 => same.push(value),
                Some(value) if column.filled == 1 && rows.count > 2 => once.push(value),
                _ => items.push(((rank(column), column.depth()), self.field(column, seen))),
            }
        }
        if items.len() > 10 {
            items.sort_by_key(|(rank, _)| *rank);
        }
        let mut items: Vec<Item> = items.into_iter().map(|(_, item)| item).collect();
        for (name, values) in [("the same in all", same), ("in one record only", once), ("without a value", none)] {
            if !values.is_empty() {
                items.push(Item::plain(shorten(&format!("{name}: {}", values.join(", ")), 500)));
            }
        }
        if rows.beyond > 0 {
            items.push(Item::plain(format!(
                "not looked at: {} of further fields",
                count(rows.beyond, "value", "values")
            )));
        }
        if items.len() > 16 {
            let names: Vec<&str> = rows.columns.iter().map(|column| column.name.as_str()).collect();
            items.insert(4, Item::plain(shorten(&format!("all names: {}", names.join(", ")), 400)));
        }
        if let Some(first) = items.first_mut().filter(|_| !rows.path.is_empty()) {
            let path = format!("{}: ", rows.path.trim_end_matches('.'));
            first.text.insert_str(0, &path);
            if let Some(brief) = &mut first.brief {
                brief.insert_str(0, &path);
            }
        }
        Part::new(format!("fields of {}", count(rows.count, "record", "records")), Weight::Fact, items)
    }

    /// Returns the first and the last records, or all of them if there are few.
    fn ends(&self, seen: &[u64]) -> Part {
        let few = self.rows.count <= MAX_FIRST_RECORDS as u64;
        let last = if few { None } else { self.rows.last() };
        let ends = self.rows.first.iter().take(if few { MAX_FIRST_RECORDS } else { 2 }).chain(&last);
        let ends = ends.filter(|kept| !seen.contains(&kept.index) && !kept.troubled);
        let items = ends.map(|kept| self.item(kept, &self.identity, "")).collect();
        let weight = if few { Weight::Shape } else { Weight::Sample };
        Part::new(if few { "records" } else { "first and last records" }, weight, items).of(self.rows.count)
    }
}

/// Returns the rank by which fields are sorted where there are many.
fn rank(column: &Column) -> u8 {
    match column.role {
        Role::Level | Role::Outcome | Role::Error => 0,
        Role::Message if column.is_sorted_out() => 0,
        _ if column.is_sorted_out() && column.values.distinct() > 1 && !column.is_number() => 1,
        Role::Name | Role::Id => 2,
        _ if column.is_number() && !column.is_identity() && column.values.distinct() > 2 => 3,
        _ => 4,
    }
}

fn is_rare(column: &Column, records: u64) -> bool {
    (1..=3).contains(&column.filled) && column.filled * 10 <= records
}

/// Returns the records that stand out by this field.
fn odd(column: &Column, records: u64) -> Vec<&Rc<KeptRecord>> {
    let mut found = Vec::new();
    if records < 20 || column.filled == 0 {
        return found;
    }
    let values = || column.values.sorted();
    if is_rare(column, records) {
        found.extend(values().iter().flat_map(|value| value.holders));
    }
    let is_listed = column.is_sorted_out() && (!column.is_number() || column.role != Role::Other);
    if is_listed && column.filled >= 20 {
        let values = values();
        let is_even = values.first().is_some_and(|value| value.count * 5 < column.filled * 4);
        let few = |value: &&ValueCount<'_>| {
            value.count <= 2 && value.count * (if is_even { 50 } else { 10 }) <= column.filled
        };
        let rare: Vec<&ValueCount<'_>> = values.iter().filter(few).collect();
        if rare.len() <= 5 {
            found.extend(rare.iter().flat_map(|value| value.holders));
        }
    } else if column.is_number() && !column.is_identity() && column.numbers.count >= 20 {
        let numbers = &column.numbers;
        let few_negative = numbers.negative <= 3 && numbers.negative * 50 <= numbers.count;
        let is_far = |number: f64| numbers.is_far(number) || (few_negative && number < 0.0);
        let extremes = numbers.high.iter().chain(&numbers.low).filter(|extreme| is_far(extreme.number));
        found.extend(extremes.filter_map(|extreme| extreme.holder.as_ref()));
    }
    found
}

/// Returns the value of a column that has only one.
fn constant(column: &Column) -> Option<&str> {
    let value = || column.values.sorted().first().map(|value| value.text);
    let is_one = column.values.distinct() == 1 && !column.values.is_varied();
    if is_one { value() } else { None }
}
