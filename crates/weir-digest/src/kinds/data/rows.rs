//! Many records with the same fields, however they are written: rows of a table, objects of an array, lines of JSON.
//!
//! Invariant: memory does not grow with the number of records.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::rc::Rc;

use super::column::Column;
use super::row::{KeptRecord, Row, ValueSyntax};
use super::value::{Role, hash_without_numbers};
use crate::text::starts;
use crate::trouble::Trouble;

const MAX_COLUMNS: usize = 200;
/// The number of main fields, and the maximum number of different values of a main field and of any other.
const MAIN_COLUMNS: usize = 16;
const MAX_MAIN_VALUES: usize = 10_000;
const MAX_VALUES: usize = 300;
const MAX_GROUPS: usize = 300;
pub(super) const MAX_FIRST_RECORDS: usize = 12;
const MAX_OUTERMOST_RECORDS: usize = 60;

/// Records with the same fields.
#[derive(Default)]
pub(super) struct Rows {
    /// The prefix of the names of its fields: `lines[].`
    pub path: String,
    pub count: u64,
    pub columns: Vec<Column>,
    places: HashMap<String, usize>,
    /// The number of values whose field is beyond the limit.
    pub beyond: u64,
    pub has_total: bool,
    pub first: Vec<Rc<KeptRecord>>,
    last: Row,
    /// The first of the outermost records, and the total number of outermost records.
    pub tops: Vec<Rc<KeptRecord>>,
    pub top_count: u64,
    pub top_depth: usize,
    pub errors: Groups,
    pub warnings: Groups,
}

/// Records that report trouble, grouped by message.
#[derive(Default)]
pub(super) struct Groups {
    pub count: u64,
    /// The number of records that came after the limit of groups was reached.
    pub beyond: u64,
    pub found: Vec<MessageGroup>,
    places: HashMap<u64, usize>,
}

/// Records with the same message.
pub(super) struct MessageGroup {
    pub count: u64,
    pub first: Rc<KeptRecord>,
    pub last_line: u64,
}

impl Rows {
    /// Creates a table without records at this path.
    pub(super) fn at(path: String) -> Self {
        Self { path, ..Self::default() }
    }

    /// Returns the column of this name, unless there are too many.
    pub(super) fn column(&mut self, name: &str) -> Option<usize> {
        if let Some(&place) = self.places.get(name) {
            return Some(place);
        }
        let place = self.columns.len();
        if place >= MAX_COLUMNS || name.len() > 300 {
            self.beyond += 1;
            return None;
        }
        let most = if place < MAIN_COLUMNS { MAX_MAIN_VALUES } else { MAX_VALUES };
        self.columns.push(Column::new(name, most));
        self.places.insert(name.to_owned(), place);
        Some(place)
    }

    /// Takes a record. The caller refills `row` with the next one.
    pub(super) fn add(&mut self, row: &mut Row) {
        row.index = self.count;
        self.count += 1;
        let trouble = self.trouble(row);
        row.troubled = trouble.is_some();
        for field in &row.fields {
            if let Some(column) = self.columns.get_mut(field.column) {
                column.take(field, row);
            }
            self.has_total |= is_total(row.text_of(field));
        }
        match trouble {
            Some((Trouble::Error, key)) => self.errors.take(row, key),
            Some((Trouble::Warning, key)) => self.warnings.take(row, key),
            None => {}
        }
        if self.first.len() < MAX_FIRST_RECORDS {
            self.first.push(row.keep());
        }
        self.keep_top(row);
        std::mem::swap(row, &mut self.last);
    }

    /// Keeps the record if it is outermost. Of records that may be nested in others like them, the outermost are the
    /// subject.
    fn keep_top(&mut self, row: &Row) {
        if row.depth == 0 {
            return;
        }
        if self.top_count == 0 || row.depth < self.top_depth {
            self.tops.clear();
            self.top_count = 0;
            self.top_depth = row.depth;
        }
        if row.depth == self.top_depth {
            self.top_count += 1;
            if self.tops.len() < MAX_OUTERMOST_RECORDS {
                self.tops.push(row.keep());
            }
        }
    }

    pub(super) fn last(&self) -> Option<Rc<KeptRecord>> {
        (self.count > 0).then(|| self.last.keep())
    }

    /// Returns whether a record reports trouble, with a key by which records with the same message are grouped.
    fn trouble(&self, row: &Row) -> Option<(Trouble, u64)> {
        let (mut level, mut other) = (None, None);
        for field in &row.fields {
            let Some(column) = self.columns.get(field.column) else { continue };
            let text = row.text_of(field);
            match column.role {
                Role::Level if level.is_none() => level = of_level(text, field.sort),
                Role::Error if says_error(text) => other = Some(Trouble::Error),
                Role::Outcome if is_bad_end(text) => other = Some(Trouble::Error),
                _ => {}
            }
        }
        let trouble = match (level, other) {
            (Some(Some(trouble)), _) => trouble,
            (Some(None), Some(_)) => Trouble::Warning,
            (None, Some(trouble)) => trouble,
            _ => return None,
        };
        Some((trouble, self.key(row)))
    }

    /// Hashes the message of a record, without its numbers.
    fn key(&self, row: &Row) -> u64 {
        let mut hasher = DefaultHasher::new();
        let role = |column: usize| self.columns.get(column).map_or(Role::Other, |column| column.role);
        let has_message = row.fields.iter().any(|field| matches!(role(field.column), Role::Message | Role::Error));
        for field in &row.fields {
            let counts = match role(field.column) {
                Role::Level | Role::Message | Role::Error | Role::Outcome => true,
                Role::Name => !has_message,
                Role::Id | Role::Other => false,
            };
            if counts {
                let first = row.text_of(field).lines().next().unwrap_or_default();
                hash_without_numbers(first, &mut hasher);
            }
        }
        hasher.finish()
    }
}

impl Groups {
    /// Returns the number of groups; it is an upper bound.
    pub(super) fn groups(&self) -> u64 {
        self.found.len() as u64 + self.beyond
    }

    fn take(&mut self, row: &Row, key: u64) {
        self.count += 1;
        let place = self.places.get(&key).and_then(|&place| self.found.get_mut(place));
        if let Some(group) = place {
            group.count += 1;
            group.last_line = row.line;
        } else if self.found.len() < MAX_GROUPS {
            self.places.insert(key, self.found.len());
            self.found.push(MessageGroup { count: 1, first: row.keep(), last_line: row.line });
        } else {
            self.beyond += 1;
        }
    }
}

/// Returns what a level means: unknown, no trouble, or some.
#[expect(clippy::option_option, reason = "a level that is no trouble is not the same as no level")]
fn of_level(text: &str, sort: ValueSyntax) -> Option<Option<Trouble>> {
    if sort == ValueSyntax::Number {
        // pino and bunyan number levels in tens.
        return match text {
            "10" | "20" | "30" => Some(None),
            "40" => Some(Some(Trouble::Warning)),
            "50" | "60" => Some(Some(Trouble::Error)),
            _ => None,
        };
    }
    let lower = text.get(..text.len().min(16))?.to_ascii_lowercase();
    Some(match lower.as_str() {
        "error" | "err" | "fatal" | "critical" | "crit" | "alert" | "emerg" | "emergency" | "panic" | "severe"
        | "dpanic" | "failure" | "high" => Some(Trouble::Error),
        "warn" | "warning" => Some(Trouble::Warning),
        _ => None,
    })
}

fn is_total(text: &str) -> bool {
    (5..=7).contains(&text.len()) && matches!(text.trim_matches('_').to_ascii_lowercase().as_str(), "total" | "totals")
}

/// Returns whether the value of an error field reports an error.
fn says_error(text: &str) -> bool {
    !matches!(text, "" | "null" | "false" | "0" | "none" | "None" | "ok" | "[]" | "no" | "-" | "true")
        && !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn is_bad_end(text: &str) -> bool {
    let Some(lower) = text.get(..text.len().min(24)).map(str::to_ascii_lowercase) else { return false };
    #[rustfmt::skip]
    let bad = ["fail", "error", "crash", "fatal", "panic", "timeout", "timed out", "timed_out", "critical", "broken"];
    starts(&lower, &bad)
}
