//! One record of many: its fields while it is read, and the form in which a notable record is kept.

use std::cell::OnceCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use crate::text::{clip, clip_part, count};

/// The maximum number of bytes kept of a field while its record is read.
const MAX_FIELD_BYTES: usize = 600;
const MAX_FIELDS: usize = 1_000;
/// The maximum number of bytes of a field, and of all fields, that are kept of a record that is shown.
const MAX_KEPT_FIELD_BYTES: usize = 200;
const MAX_KEPT_BYTES: usize = 1_200;

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueSyntax {
    Text,
    Number,
    /// `true`, `false` or `null`.
    Word,
    /// A text that may be any of these.
    Cell,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ReadValue<'a> {
    pub sort: ValueSyntax,
    pub text: &'a str,
    pub length: usize,
    /// The hash of what follows the text.
    pub rest: u64,
}

impl<'a> ReadValue<'a> {
    /// Returns a value of which nothing is missing.
    pub(super) fn whole(sort: ValueSyntax, text: &'a str) -> Self {
        Self { sort, text, length: text.len(), rest: 0 }
    }
}

/// A value of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub column: usize,
    pub sort: ValueSyntax,
    pub length: usize,
    pub hash: u64,
    start: usize,
    end: usize,
}

/// A record that is being read.
#[derive(Default)]
pub(super) struct Row {
    pub line: u64,
    /// How many records came before it.
    pub index: u64,
    /// The nesting depth among records, from 1. It is 0 where records are not nested.
    pub depth: usize,
    /// The record verbatim, if it is one line of the output.
    pub raw: String,
    text: String,
    pub fields: Vec<Field>,
    /// Whether it reports trouble, in which case it is shown with others that do.
    pub troubled: bool,
    kept: OnceCell<Rc<KeptRecord>>,
}

pub(super) struct KeptRecord {
    pub line: u64,
    pub index: u64,
    pub raw: String,
    pub troubled: bool,
    fields: Vec<(usize, String)>,
    left_out: usize,
}

impl Row {
    pub(super) fn begin(&mut self, line: u64) {
        self.line = line;
        self.raw.clear();
        self.text.clear();
        self.fields.clear();
        self.kept = OnceCell::new();
    }

    /// Takes the line of the output that is the record.
    pub(super) fn set_raw(&mut self, line: &str) {
        match line.len() {
            0..=MAX_FIELD_BYTES => self.raw.push_str(line),
            _ => self.raw = clip(line, MAX_FIELD_BYTES),
        }
    }

    pub(super) fn push(&mut self, column: usize, value: ReadValue<'_>) {
        if self.fields.len() >= MAX_FIELDS {
            return;
        }
        let ReadValue { sort, text, length, rest } = value;
        let mut hasher = DefaultHasher::new();
        (text, rest).hash(&mut hasher);
        let start = self.text.len();
        self.text.push_str(text.get(..text.floor_char_boundary(MAX_FIELD_BYTES)).unwrap_or_default());
        self.fields.push(Field { column, sort, length, hash: hasher.finish(), start, end: self.text.len() });
    }

    pub(super) fn text_of(&self, field: &Field) -> &str {
        self.text.get(field.start..field.end).unwrap_or_default()
    }

    pub(super) fn keep(&self) -> Rc<KeptRecord> {
        let make = || {
            let mut fields = Vec::with_capacity(self.fields.len().min(40));
            let (mut bytes, mut left_out) = (0, 0);
            for field in &self.fields {
                let text = self.text_of(field);
                if bytes > MAX_KEPT_BYTES {
                    left_out += 1;
                    continue;
                }
                bytes += text.len().min(MAX_KEPT_FIELD_BYTES) + 8;
                fields.push((field.column, clip_part(text, MAX_KEPT_FIELD_BYTES, field.missing(text))));
            }
            let raw = self.raw.clone();
            Rc::new(KeptRecord { line: self.line, index: self.index, raw, troubled: self.troubled, fields, left_out })
        };
        Rc::clone(self.kept.get_or_init(make))
    }
}

impl Field {
    /// Returns how many bytes of the value are not in its text.
    pub(super) fn missing(&self, text: &str) -> u64 {
        self.length.saturating_sub(text.len()) as u64
    }
}

impl KeptRecord {
    pub(super) fn get(&self, column: usize) -> Option<&str> {
        self.fields.iter().find(|field| field.0 == column).map(|field| field.1.as_str())
    }

    /// Renders the fields of these columns with their names, each in at most `most` bytes, and how many more there are.
    pub(super) fn only<'a>(&self, name: impl Fn(usize) -> &'a str, columns: &[usize], most: usize) -> String {
        let shown: Vec<_> = self.fields.iter().filter(|field| columns.contains(&field.0)).collect();
        let more = self.fields.len() - shown.len() + self.left_out;
        let mut text = String::new();
        let mut last = None;
        for (column, value) in shown {
            named(&mut text, &mut last, (*column, name(*column)), &clip(value, most));
        }
        if more > 0 {
            text.push_str(&format!(" ({})", count(more as u64, "more field", "more fields")));
        }
        text
    }

    /// Renders its fields with their names: `id=7 name="a b"`, those of `first` first, in about `most` bytes. Fields
    /// without information are omitted.
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
            text.push_str(&format!(" ({})", count(left_out as u64, "more field", "more fields")));
        }
        text
    }
}

/// Appends `name=value` to a text, or `,value` after a value of the same field.
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
