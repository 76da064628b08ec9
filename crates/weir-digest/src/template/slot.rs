//! The values at one position of a template.

use std::borrow::Cow;
use std::collections::BTreeMap;

const MAX_VALUES: usize = 64;
const MAX_VALUE_BYTES: usize = 60;
const MAX_LINE_BYTES: usize = 160;
const MAX_VALUES_SHOWN: usize = 5;

/// The values at one position of a template.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slot {
    pub count: u64,
    values: BTreeMap<String, u64>,
    /// Whether there were values other than those kept.
    more: bool,
    /// The count of the values that are numbers, their minimum, maximum and sum.
    numbers: Option<Numbers>,
}

#[derive(Debug, Clone)]
struct Numbers {
    count: u64,
    sum: f64,
    least: (f64, String),
    greatest: (f64, String, u64),
    greatest_line: String,
    unit: String,
}

/// A value as it is kept and shown: a long one says that it was cut.
fn shortened(value: &str) -> Cow<'_, str> {
    match value.len() > MAX_VALUE_BYTES {
        true => format!("{}…", &value[..value.floor_char_boundary(MAX_VALUE_BYTES)]).into(),
        false => value.into(),
    }
}

impl Slot {
    /// Counts a value. Returns whether it is new and is kept.
    pub(super) fn add(&mut self, value: &str, line: (u64, &str), room: bool) -> bool {
        self.count += 1;
        self.add_number(value, line);
        let value = shortened(value);
        if let Some(count) = self.values.get_mut(&*value) {
            *count += 1;
            return false;
        }
        if !room || self.more || self.values.len() >= MAX_VALUES {
            self.more = true;
            return false;
        }
        self.values.insert(value.into_owned(), 1);
        true
    }

    /// Counts a value that occurred `count` times.
    pub(super) fn add_many(&mut self, value: &str, count: u64, line: (u64, &str)) {
        self.add(value, line, true);
        if let Some(known) = self.values.get_mut(&*shortened(value)) {
            *known += count.saturating_sub(1);
        }
        self.count += count.saturating_sub(1);
    }

    pub(super) fn join(&mut self, other: &Self) {
        self.count += other.count;
        // A value that either slot did not count from its first occurrence has no exact count.
        for (value, count) in &other.values {
            if let Some(known) = self.values.get_mut(value) {
                *known += count;
            } else if self.more || self.values.len() >= MAX_VALUES {
                self.more = true;
            } else {
                self.values.insert(value.clone(), *count);
            }
        }
        if other.more {
            self.more = true;
            self.values.retain(|value, _| other.values.contains_key(value));
        }
        match (&mut self.numbers, &other.numbers) {
            (Some(ours), Some(theirs)) => ours.join(theirs),
            (ours @ None, Some(theirs)) => *ours = Some(theirs.clone()),
            _ => {}
        }
    }

    /// Returns whether there is more than one value.
    pub(crate) fn differs(&self) -> bool {
        self.more || self.values.len() > 1
    }

    /// Returns the greatest value and the number of its line, if all values are numbers, there are at least five, and
    /// it is more than five times the mean.
    pub(crate) fn outlier(&self) -> Option<(&str, u64)> {
        let numbers = self.numbers.as_ref().filter(|numbers| numbers.count == self.count && numbers.count >= 5)?;
        let mean = numbers.sum / numbers.count as f64;
        (numbers.greatest.0 > mean * 5.0).then_some((numbers.greatest.1.as_str(), numbers.greatest.2))
    }

    /// Returns the number and the text of the line with the greatest value, if all values are numbers and they differ.
    pub(crate) fn greatest(&self) -> Option<(u64, &str)> {
        let numbers = self.numbers.as_ref().filter(|numbers| numbers.count == self.count && self.differs())?;
        Some((numbers.greatest.2, numbers.greatest_line.as_str()))
    }

    /// Returns the values with their counts, the most frequent first.
    pub(crate) fn most_frequent(&self) -> Vec<(&str, u64)> {
        let mut values: Vec<(&str, u64)> = self.values.iter().map(|(value, &count)| (value.as_str(), count)).collect();
        values.sort_by_key(|&(value, count)| (u64::MAX - count, value));
        values
    }

    /// Writes the values in short: the only value, a few values with their counts, or a range.
    pub(super) fn show(&self, text: &mut String) {
        let mut values = self.values.iter();
        match (values.next(), values.next(), self.more) {
            (Some((value, _)), None, false) => return text.push_str(value),
            (None, _, _) if self.numbers.is_none() => return text.push('*'),
            _ => {}
        }
        text.push('{');
        let kept: u64 = self.values.values().sum();
        let few = !self.more && self.values.len() <= MAX_VALUES_SHOWN + 1;
        let all_numbers = self.numbers.as_ref().filter(|numbers| numbers.count == self.count);
        // Values that rarely repeat are names of single objects; their counts are not informative.
        let telling = kept >= 3 * self.values.len() as u64 && kept * 2 >= self.count;
        if let Some(numbers) = all_numbers.filter(|_| !few || !telling) {
            text.push_str(&format!("{}..{}", numbers.least.1, numbers.greatest.1));
            if let Some((_, line)) = self.outlier() {
                text.push_str(&format!(" at line {line}"));
            }
        } else if few || telling {
            let values = self.most_frequent();
            let shown = if few { values.len() } else { MAX_VALUES_SHOWN };
            let list: Vec<String> = values
                .iter()
                .take(shown)
                .map(|(value, count)| if *count == 1 { (*value).to_owned() } else { format!("{value} ×{count}") })
                .collect();
            text.push_str(&list.join(", "));
            if values.len() > shown || self.more {
                let plus = if self.more { "+" } else { "" };
                text.push_str(&format!(", {}{plus} more", values.len() - shown));
            }
        } else {
            text.push('…');
        }
        text.push('}');
    }

    fn add_number(&mut self, value: &str, line: (u64, &str)) {
        let Some((number, unit)) = number(value) else { return };
        match &mut self.numbers {
            Some(numbers) if numbers.unit == unit => numbers.add(number, value, line),
            Some(_) => {}
            none => {
                *none = Some(Numbers {
                    count: 1,
                    sum: number,
                    least: (number, value.to_owned()),
                    greatest: (number, value.to_owned(), line.0),
                    greatest_line: start(line.1),
                    unit: unit.to_owned(),
                });
            }
        }
    }
}

impl Numbers {
    fn add(&mut self, number: f64, text: &str, line: (u64, &str)) {
        self.count += 1;
        self.sum += number;
        if number < self.least.0 {
            self.least = (number, text.to_owned());
        }
        if number > self.greatest.0 {
            self.greatest = (number, text.to_owned(), line.0);
            self.greatest_line = start(line.1);
        }
    }

    fn join(&mut self, other: &Self) {
        if self.unit != other.unit {
            return;
        }
        self.count += other.count;
        self.sum += other.sum;
        if other.least.0 < self.least.0 {
            self.least = other.least.clone();
        }
        if other.greatest.0 > self.greatest.0 {
            self.greatest = other.greatest.clone();
            self.greatest_line = other.greatest_line.clone();
        }
    }
}

fn start(line: &str) -> String {
    line[..line.floor_char_boundary(MAX_LINE_BYTES)].to_owned()
}

/// Parses a number with an optional short unit: `12.5ms`. Times are converted to milliseconds.
fn number(value: &str) -> Option<(f64, &str)> {
    if value.len() > 24 {
        return None;
    }
    let end = value.bytes().position(|byte| !(byte.is_ascii_digit() || byte == b'.')).unwrap_or(value.len());
    let (digits, unit) = value.split_at_checked(end)?;
    let known = unit.is_empty() || (unit.len() <= 3 && unit.bytes().all(|byte| byte.is_ascii_alphabetic()));
    if !known || !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let number: f64 = digits.parse().ok()?;
    Some(match unit {
        "ns" => (number / 1.0e6, "ms"),
        "us" => (number / 1.0e3, "ms"),
        "s" => (number * 1.0e3, "ms"),
        unit => (number, unit),
    })
}
