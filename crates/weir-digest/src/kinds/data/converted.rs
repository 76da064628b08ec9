//! Reads other notations for records by converting them to JSON.
//!
//! Invariants: each line becomes one line of JSON, which preserves line numbers; memory does not grow with the input.

use std::io::{self, BufRead, Read};

use super::json;
use crate::sample::Sample;
use crate::{Lines, Page, Source};

/// Converts the lines of an output to JSON, one at a time.
pub(super) trait LineConverter {
    fn line(&mut self, text: &str, json: &mut String);
    /// Appends the closing of what is still open.
    fn end(&mut self, json: &mut String);
}

/// Reads an output through its conversion. `name` replaces JSON in what the page calls it.
pub(super) fn read(
    source: &dyn Source,
    sample: &Sample<'_>,
    name: &str,
    convert: fn() -> Box<dyn LineConverter>,
) -> io::Result<Option<Page>> {
    let converted = ConvertedSource { source, convert };
    let sample = Sample::of(&converted, sample.about)?;
    let page = json::read(&converted, &sample)?;
    Ok(page.map(|page| Page { what: page.what.replacen("JSON", name, 1), ..page }))
}

struct ConvertedSource<'a> {
    source: &'a dyn Source,
    convert: fn() -> Box<dyn LineConverter>,
}

impl Source for ConvertedSource<'_> {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        let lines = Some(Lines::of(self.source)?);
        let stream = Stream { lines, convert: (self.convert)(), json: String::new(), used: 0 };
        Ok(Box::new(io::BufReader::new(stream)))
    }

    fn bytes(&self) -> u64 {
        self.source.bytes()
    }
}

struct Stream<'a> {
    lines: Option<Lines<'a>>,
    convert: Box<dyn LineConverter>,
    json: String,
    used: usize,
}

impl Read for Stream<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.used == self.json.len() {
            self.json.clear();
            self.used = 0;
            let Some(lines) = &mut self.lines else { return Ok(0) };
            match lines.read()? {
                Some(line) => self.convert.line(line.text, &mut self.json),
                None => {
                    self.convert.end(&mut self.json);
                    self.lines = None;
                }
            }
            self.json.push('\n');
        }
        let rest = &self.json.as_bytes()[self.used..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.used += length;
        Ok(length)
    }
}

/// Appends a value: numbers and the words of JSON unchanged, and anything else as a string.
pub(super) fn put_value(value: &str, json: &mut String) {
    let number = value.parse::<f64>().is_ok_and(f64::is_finite)
        && value.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
        && !value.trim_start_matches('-').starts_with("00")
        && value.bytes().all(|byte| byte.is_ascii_digit() || b".-+eE".contains(&byte));
    if number || matches!(value, "true" | "false" | "null" | "{}" | "[]") {
        json.push_str(value);
    } else {
        put_text(value, json);
    }
}

pub(super) fn put_text(text: &str, json: &mut String) {
    json.push('"');
    put_inside(text, json);
    json.push('"');
}

pub(super) fn put_inside(text: &str, json: &mut String) {
    for letter in text.chars() {
        match letter {
            '"' | '\\' => json.extend(['\\', letter]),
            letter if letter < ' ' => json.push(' '),
            letter => json.push(letter),
        }
    }
}
