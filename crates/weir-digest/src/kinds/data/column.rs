//! Describes the values of one field across many records: their number, their frequencies, their range.
//!
//! Invariant: memory does not grow with the number of records. Counts are exact; where there are more different values
//! than are kept, the digest says so.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use super::row::{Field, KeptRecord, Row};
use super::value::{Role, date, ends_with_word, hash_without_numbers, is_gap, number, role};
use crate::text::clip_part;

const MAX_TEXT_BYTES: usize = 64 << 10;
const MAX_VALUE_BYTES: usize = 200;
/// The number of different values whose first records are kept, and the maximum number of records for each.
const MAX_VALUES_WITH_HOLDERS: usize = 40;
const MAX_HOLDERS: usize = 5;
/// How many extremes are kept at each end.
const MAX_EXTREMES: usize = 3;

#[derive(Default)]
pub(super) struct Column {
    /// Its name. A field of a nested object is named with its path.
    pub name: String,
    pub role: Role,
    /// The number of values, without gaps.
    pub filled: u64,
    pub records: u64,
    last_record: u64,
    /// How gaps are written, and how often: `null`, `NA`, empty.
    pub gaps: Vec<(String, u64)>,
    pub numbers: Numbers,
    /// The number of values that are dates or times of day.
    pub dates: u64,
    /// The earliest of them, after its sort key; then the latest.
    pub earliest: (String, String),
    pub latest: (String, String),
    pub values: Values,
    pub longest: usize,
}

#[derive(Default)]
pub(super) struct Numbers {
    pub count: u64,
    pub negative: u64,
    /// The maximum number of digits after the decimal point.
    pub decimals: usize,
    sum: f64,
    carry: f64,
    mean: f64,
    squares: f64,
    /// The lowest numbers, the most extreme first; then the highest.
    pub low: Vec<Extreme>,
    pub high: Vec<Extreme>,
    last: f64,
    /// How many of the last values were each greater than their predecessor.
    rising: u64,
}

/// A number and the record that contains it.
pub(super) struct Extreme {
    pub number: f64,
    pub text: String,
    pub holder: Option<Rc<KeptRecord>>,
}

/// How often each value occurs.
#[derive(Default)]
pub(super) struct Values {
    most: usize,
    found: HashMap<u64, Value>,
    text: String,
    /// The number of values that occurred after the limit of different values was reached.
    pub beyond: u64,
    /// The first records of each value, by the order in which the values appeared.
    holders: Vec<Vec<Rc<KeptRecord>>>,
}

#[derive(Clone, Copy)]
struct Value {
    count: u64,
    order: usize,
    start: usize,
    end: usize,
    exact: u64,
    is_varied: bool,
}

/// A value, its count and the first records that have it.
pub(super) struct ValueCount<'a> {
    pub text: &'a str,
    pub count: u64,
    pub holders: &'a [Rc<KeptRecord>],
    /// Whether it represents values that differ in their numbers.
    pub is_varied: bool,
}

impl Column {
    /// Creates a column without values that distinguishes at most `most` different ones.
    pub(super) fn new(name: &str, most: usize) -> Self {
        let values = Values { most, ..Values::default() };
        Self { name: name.to_owned(), role: role(name), values, ..Self::default() }
    }

    pub(super) fn take(&mut self, field: &Field, row: &Row) {
        if self.last_record != row.index + 1 {
            self.last_record = row.index + 1;
            self.records += 1;
        }
        let text = row.text_of(field);
        if is_gap(text, field.sort) {
            // A gap has few spellings, so this list does not grow.
            match self.gaps.iter_mut().find(|gap| gap.0 == text.trim()) {
                Some(gap) => gap.1 += 1,
                None => self.gaps.push((text.trim().to_owned(), 1)),
            }
            return;
        }
        self.filled += 1;
        self.longest = self.longest.max(field.length);
        if let Some(number) = number(text, field.sort) {
            self.numbers.take(number, text, row);
        } else if let Some(order) = date(text) {
            self.dates += 1;
            if self.dates == 1 || *order < *self.earliest.0 {
                self.earliest = (order.to_string(), text.to_owned());
            }
            if *order > *self.latest.0 {
                self.latest = (order.into_owned(), text.to_owned());
            }
        }
        self.values.take(field, row, self.role == Role::Message);
    }

    /// Returns how many objects of its record the field is nested in.
    pub(super) fn depth(&self) -> usize {
        self.name.matches('.').count()
    }

    /// Returns how many of `records` records have no value here.
    pub(super) fn missing(&self, records: u64) -> u64 {
        records.saturating_sub(self.records) + self.gaps.iter().map(|gap| gap.1).sum::<u64>()
    }

    pub(super) fn is_number(&self) -> bool {
        self.filled > 0 && self.numbers.count * 20 >= self.filled * 19
    }

    pub(super) fn is_date(&self) -> bool {
        self.filled > 0 && self.dates * 20 >= self.filled * 19
    }

    pub(super) fn is_unique(&self) -> bool {
        self.filled > 1 && self.values.beyond == 0 && self.values.distinct() as u64 == self.filled
    }

    /// Returns whether its numbers are identifiers rather than quantities.
    pub(super) fn is_identity(&self) -> bool {
        let words =
            ["id", "pid", "uid", "gid", "port", "line", "column", "col", "row", "index", "offset", "zip", "code"];
        let named = words.iter().any(|word| ends_with_word(&self.name, word));
        self.numbers.decimals == 0 && (named || (self.numbers.is_rising() && self.is_unique()))
    }

    /// Returns whether there are few enough different values to list all of them with their counts.
    pub(super) fn is_sorted_out(&self) -> bool {
        let distinct = self.values.distinct();
        let few = distinct <= 12 || (distinct <= 40 && self.filled >= distinct as u64 * 4);
        let repeats = self.filled >= distinct as u64 * 2 || distinct <= 3;
        let amounts = self.is_number() && distinct > if self.numbers.decimals > 0 { 6 } else { 12 };
        self.values.beyond == 0 && few && repeats && !amounts
    }
}

impl Numbers {
    fn take(&mut self, number: f64, text: &str, row: &Row) {
        self.count += 1;
        self.negative += u64::from(number < 0.0);
        let decimals = text.rsplit_once([',', '.']).map_or(0, |(_, after)| after.len());
        self.decimals = self.decimals.max(if text.contains(['e', 'E']) { 6 } else { decimals.min(6) });
        // Kahan summation: small numbers are not lost next to large ones.
        let part = number - self.carry;
        let sum = self.sum + part;
        self.carry = (sum - self.sum) - part;
        self.sum = sum;
        let away = number - self.mean;
        self.mean += away / self.count as f64;
        self.squares += away * (number - self.mean);
        self.rising = if number > self.last || self.count == 1 { self.rising + 1 } else { 0 };
        self.last = number;
        // Numbers that only rise are identifiers or times, so the record with the highest is not interesting.
        let kept = |rising: bool| (!rising).then(|| row.keep());
        let rising = self.rising > 16;
        place(&mut self.high, number, |than| number > than, || (text, kept(rising)));
        place(&mut self.low, number, |than| number < than, || (text, kept(false)));
    }

    pub(super) fn sum(&self) -> Option<String> {
        shown(self.sum, self.decimals)
    }

    pub(super) fn mean(&self) -> Option<String> {
        shown(self.mean, (self.decimals + 1).min(6))
    }

    /// Returns whether `-1` stands for "unknown" or "none", because no other number is negative.
    pub(super) fn has_sentinel(&self) -> bool {
        self.negative > 0 && self.low.first().is_some_and(|lowest| lowest.number == -1.0)
    }

    pub(super) fn is_rising(&self) -> bool {
        self.count > 1 && self.rising == self.count
    }

    /// Returns the distance of a number from the mean, in standard deviations.
    fn away(&self, number: f64) -> f64 {
        let deviation = (self.squares / self.count.max(1) as f64).sqrt();
        if deviation > 0.0 { ((number - self.mean) / deviation).abs() } else { 0.0 }
    }

    /// Returns whether a number is an outlier: many deviations from the mean, or the sole cause of the deviation.
    pub(super) fn is_far(&self, number: f64) -> bool {
        self.away(number) > (0.85 * (self.count as f64).sqrt()).min(8.0)
    }
}

fn place<'t>(
    extremes: &mut Vec<Extreme>,
    number: f64,
    beats: impl Fn(f64) -> bool,
    make: impl FnOnce() -> (&'t str, Option<Rc<KeptRecord>>),
) {
    let at = extremes.iter().position(|extreme| beats(extreme.number)).unwrap_or(extremes.len());
    let known = at.checked_sub(1).and_then(|before| extremes.get(before));
    if at >= MAX_EXTREMES || known.is_some_and(|known| known.number == number) {
        return;
    }
    let (text, holder) = make();
    let text = text.get(..text.floor_char_boundary(40)).unwrap_or_default().to_owned();
    extremes.insert(at, Extreme { number, text, holder });
    extremes.truncate(MAX_EXTREMES);
}

impl Values {
    fn take(&mut self, field: &Field, row: &Row, is_message: bool) {
        let (text, exact) = (row.text_of(field), field.hash);
        let mut key = exact;
        // Messages that differ only in their numbers are counted together.
        if is_message {
            let mut hasher = DefaultHasher::new();
            hash_without_numbers(text, &mut hasher);
            key = hasher.finish();
        }
        if let Some(value) = self.found.get_mut(&key) {
            value.count += 1;
            value.is_varied |= value.exact != exact;
            if value.count <= MAX_HOLDERS as u64
                && let Some(holders) = self.holders.get_mut(value.order)
            {
                holders.push(row.keep());
            }
            return;
        }
        let order = self.found.len();
        if order >= self.most {
            self.beyond += 1;
            return;
        }
        let start = self.text.len();
        if start < MAX_TEXT_BYTES {
            match text.len() == field.length && text.len() <= MAX_VALUE_BYTES {
                true => self.text.push_str(text),
                false => self.text.push_str(&clip_part(text, MAX_VALUE_BYTES, field.missing(text))),
            }
        }
        self.found.insert(key, Value { count: 1, order, start, end: self.text.len(), exact, is_varied: false });
        match order {
            order if order < MAX_VALUES_WITH_HOLDERS => self.holders.push(vec![row.keep()]),
            _ => self.holders.clear(),
        }
    }

    /// Returns the number of different values. It is a lower bound if some appeared after the limit was reached.
    pub(super) fn distinct(&self) -> usize {
        self.found.len()
    }

    /// Returns whether values that differ in their numbers are counted together.
    pub(super) fn is_varied(&self) -> bool {
        self.found.values().any(|value| value.is_varied)
    }

    /// Returns the values, the most frequent first; of equally frequent values, the earlier ones first.
    pub(super) fn sorted(&self) -> Vec<ValueCount<'_>> {
        let mut all: Vec<&Value> = self.found.values().collect();
        all.sort_unstable_by_key(|value| (std::cmp::Reverse(value.count), value.order));
        let counted = |value: &&Value| ValueCount {
            text: self.text.get(value.start..value.end).unwrap_or_default(),
            count: value.count,
            holders: self.holders.get(value.order).map(Vec::as_slice).unwrap_or_default(),
            is_varied: value.is_varied,
        };
        all.iter().map(counted).filter(|value| !value.text.is_empty()).collect()
    }
}

/// Formats a number with this many digits after the decimal point, if that many of its digits are exact.
fn shown(number: f64, decimals: usize) -> Option<String> {
    (number.abs() < 1e15).then(|| format!("{number:.decimals$}"))
}
