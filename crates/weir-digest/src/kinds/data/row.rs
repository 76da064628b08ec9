//! One record of many: its fields while it is read, and as it is kept when there is something about it.

use std::cell::OnceCell;
use std::rc::Rc;

use crate::text::clip;

/// How much of a field is kept while its record is read.
const LONGEST: usize = 600;
/// How many fields of a record are looked at.
const MOST_FIELDS: usize = 1_000;
/// How much of a field, and of all its fields, is kept of a record that is shown.
const KEPT_FIELD: usize = 200;
const KEPT: usize = 1_200;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A string.
    Text,
    /// A number.
    Number,
    /// `true`, `false` or `null`.
    Word,
    /// A text that may be any of these.
    Cell,
}

/// A value of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    /// Which column it is of.
    pub column: usize,
    pub sort: Sort,
    /// How long it is in whole.
    pub length: usize,
    start: usize,
    end: usize,
}

/// A record that is being read.
#[derive(Default)]
pub(super) struct Row {
    /// Its line.
    pub line: u64,
    /// How many came before it.
    pub index: u64,
    /// How many records it is inside of, from 1 on. 0 where no record is inside of another.
    pub depth: usize,
    /// The record as it stands in the output, where it is a line of it.
    pub raw: String,
    text: String,
    pub fields: Vec<Field>,
    /// Whether it tells of trouble, and so is shown with others that do.
    pub troubled: bool,
    kept: OnceCell<Rc<Kept>>,
}

/// A record as it is kept.
pub(super) struct Kept {
    pub line: u64,
    pub index: u64,
    pub raw: String,
    pub troubled: bool,
    fields: Vec<(usize, String)>,
    left_out: usize,
}

impl Row {
    /// Makes ready for the next record.
    pub(super) fn begin(&mut self, line: u64) {
        self.line = line;
        self.raw.clear();
        self.text.clear();
        self.fields.clear();
        self.kept = OnceCell::new();
    }

    /// Takes a value, of which `length` bytes were in the output.
    pub(super) fn push(&mut self, column: usize, sort: Sort, value: (&str, usize)) {
        if self.fields.len() >= MOST_FIELDS {
            return;
        }
        let (text, length) = value;
        let start = self.text.len();
        self.text.push_str(text.get(..text.floor_char_boundary(LONGEST)).unwrap_or_default());
        self.fields.push(Field { column, sort, length, start, end: self.text.len() });
    }

    /// The text of a value, or its beginning.
    pub(super) fn text_of(&self, field: &Field) -> &str {
        self.text.get(field.start..field.end).unwrap_or_default()
    }

    /// The record, to be kept.
    pub(super) fn keep(&self) -> Rc<Kept> {
        let make = || {
            let mut fields = Vec::with_capacity(self.fields.len().min(40));
            let (mut bytes, mut left_out) = (0, 0);
            for field in &self.fields {
                let text = self.text_of(field);
                if bytes > KEPT {
                    left_out += 1;
                    continue;
                }
                bytes += text.len().min(KEPT_FIELD) + 8;
                let cut = if field.length > text.len() && text.len() <= KEPT_FIELD { "…" } else { "" };
                fields.push((field.column, clip(text, KEPT_FIELD) + cut));
            }
            let raw = clip(&self.raw, LONGEST);
            Rc::new(Kept { line: self.line, index: self.index, raw, troubled: self.troubled, fields, left_out })
        };
        Rc::clone(self.kept.get_or_init(make))
    }
}

impl Kept {
    /// The value of a column.
    pub(super) fn get(&self, column: usize) -> Option<&str> {
        self.fields.iter().find(|field| field.0 == column).map(|field| field.1.as_str())
    }

    /// These of its fields with their names, each in at most `most` bytes, and how many more there are.
    pub(super) fn only<'a>(&self, name: impl Fn(usize) -> &'a str, columns: &[usize], most: usize) -> String {
        let shown: Vec<_> = self.fields.iter().filter(|field| columns.contains(&field.0)).collect();
        let more = self.fields.len() - shown.len() + self.left_out;
        let mut text = String::new();
        let mut last = None;
        for (column, value) in shown {
            named(&mut text, &mut last, (*column, name(*column)), &clip(value, most));
        }
        if more > 0 {
            text.push_str(&format!(" ({more} more fields)"));
        }
        text
    }

    /// Its fields with their names: `id=7 name="a b"`, those of `first` first, in about `most` bytes. Fields that say
    /// nothing are not shown.
    pub(super) fn with_names<'a>(&self, name: impl Fn(usize) -> &'a str, first: &[usize], most: usize) -> String {
        let mut text = String::new();
        let (mut last, mut left_out) = (None, self.left_out);
        let chosen = self.fields.iter().filter(|field| first.contains(&field.0));
        let others = self.fields.iter().filter(|field| !first.contains(&field.0));
        for (column, value) in chosen.chain(others) {
            let name = name(*column);
            if matches!(value.as_str(), "" | "null" | "None") || (value == "0" && name.ends_with(['}', ']'])) {
                continue;
            }
            if text.len() >= most {
                left_out += 1;
                continue;
            }
            named(&mut text, &mut last, (*column, name), value);
        }
        if left_out > 0 {
            text.push_str(&format!(" ({left_out} more fields)"));
        }
        text
    }
}

/// Adds `name=value` to a text, or `,value` after a value of the same field.
fn named(text: &mut String, last: &mut Option<usize>, column: (usize, &str), value: &str) {
    if *last == Some(column.0) {
        text.push(',');
    } else {
        text.push_str(if last.is_some() { " " } else { "" });
        text.push_str(column.1);
        text.push('=');
    }
    *last = Some(column.0);
    if value.contains([' ', '\n', '=']) {
        text.push_str(&format!("\"{}\"", value.replace('\n', "\\n")));
    } else {
        text.push_str(value);
    }
}
