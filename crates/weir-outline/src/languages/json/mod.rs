//! JSON, with comments and trailing commas, by our own reader, which continues after errors.
//!
//! Known misses: JSON5's unquoted keys are skipped.

use super::shape::{self, KeyValue, Value};
use super::{Content, Language, Reader};
use crate::model::Outline;

pub(super) static LANGUAGE: Language = Language::read_by(Reader {
    name: "json",
    version: 2,
    extensions: &["json", "jsonc", "json5", "geojson", "webmanifest", "avsc", "ipynb"],
    file_names: &[".babelrc", ".eslintrc", ".prettierrc", ".jshintrc", "composer.lock", "Pipfile.lock"],
    read,
})
.with_content(Content::Text);

/// Maximum nesting of values. Deeper ones, which only hostile files have, are skipped.
const MAX_DEPTH: usize = 64;

fn read(text: &str, into: &mut Outline) {
    into.purpose = shape::purpose(text, '/');
    let mut scan = JsonScan { text, at: 0, broken: 0 };
    let value = scan.value(0);
    scan.space();
    into.broken = scan.broken + usize::from(scan.peek().is_some());
    into.items = shape::items(&value, text);
}

struct JsonScan<'t> {
    text: &'t str,
    at: usize,
    broken: usize,
}

impl JsonScan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips space and comments. Any space counts, because [`Self::word`] does not read past it.
    fn space(&mut self) {
        loop {
            let rest = self.rest();
            let passed = match rest.as_bytes() {
                [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |end| end + 2),
                _ => rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len(),
            };
            if passed == 0 {
                return;
            }
            self.at += passed;
        }
    }

    fn value(&mut self, depth: usize) -> Value {
        self.space();
        match self.peek() {
            Some(b'{') if depth < MAX_DEPTH => self.map(depth),
            Some(b'[') if depth < MAX_DEPTH => self.list(depth),
            Some(b'{' | b'[') => self.pass(),
            Some(b'"' | b'\'') => {
                self.string();
                Value::scalar("string")
            }
            _ => self.word(),
        }
    }

    fn map(&mut self, depth: usize) -> Value {
        let mut entries = Vec::new();
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Value::Map(entries);
                }
                Some(b',') => self.at += 1,
                Some(b'"' | b'\'') => {
                    let start = self.at;
                    let key = self.string();
                    self.space();
                    if self.peek() != Some(b':') {
                        self.broken += 1;
                        continue;
                    }
                    self.at += 1;
                    let value = self.value(depth + 1);
                    entries.push(KeyValue { key, value, bytes: start..self.at });
                }
                // The end of an enclosing value, or of the file.
                Some(b']') | None => {
                    self.broken += 1;
                    return Value::Map(entries);
                }
                Some(_) => self.skip(),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Value {
        let mut values = Vec::new();
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Value::List(values);
                }
                Some(b',') => self.at += 1,
                Some(b'}') | None => {
                    self.broken += 1;
                    return Value::List(values);
                }
                Some(b':') => self.skip(),
                Some(_) => values.push(self.value(depth + 1)),
            }
        }
    }

    /// Skips a string and returns its text as written.
    fn string(&mut self) -> String {
        let quote = self.peek();
        let start = self.at + 1;
        self.at = start;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.at += 2,
                // A string ends with its line, even if the quote is missing.
                b'\n' => {
                    self.broken += 1;
                    break;
                }
                _ if Some(byte) == quote => break,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        self.at = if self.peek() == quote { self.at + 1 } else { end };
        self.text.get(start..end).unwrap_or_default().to_owned()
    }

    /// Reads a number, `true` or `null`, or nothing if the value is missing.
    fn word(&mut self) -> Value {
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || ",:]}[{\"/".contains(c)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let kind = match word {
            "true" | "false" => "bool",
            "null" => "null",
            _ if word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => "number",
            "NaN" | "Infinity" => "number",
            _ => "?",
        };
        self.broken += usize::from(kind == "?");
        self.at += end;
        if end == 0 && matches!(self.peek(), Some(b'/' | b':' | b'"')) {
            self.at += 1;
        }
        Value::scalar(kind)
    }

    fn skip(&mut self) {
        self.broken += 1;
        self.at += self.rest().chars().next().map_or(1, char::len_utf8);
    }

    /// Skips a value and its contents.
    fn pass(&mut self) -> Value {
        let mut depth = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        Value::scalar("…")
    }
}
