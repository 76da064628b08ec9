//! Checks the statements of a digest against the output itself, without the code that made the digest.
//!
//! A statement is a line number with a text, a count with what it counts, a name in its role, a range, a sum, or how
//! much is missing. A statement that the output contradicts is wrong; one that the oracle cannot check is counted as
//! unchecked. Each wrong statement is named after the class that it belongs to.

use std::cell::OnceCell;

use serde_json::Value;
use weir_digest::{Lines, Page};

#[path = "oracle/counts.rs"]
mod counts;
#[path = "oracle/cuts.rs"]
mod cuts;
#[path = "oracle/form.rs"]
mod form;
#[path = "oracle/lines.rs"]
mod lines;
#[path = "oracle/names.rs"]
mod names;
#[path = "oracle/sums.rs"]
mod sums;

pub(crate) const CLASSES: [&str; 6] = ["count", "cut", "form", "name", "repeat", "sum"];

/// The result of checking the statements of one digest.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Statements that the output confirms.
    pub right: usize,
    /// Numbers that the oracle cannot check.
    pub unchecked: usize,
    /// Statements that the output contradicts, each with its class and the reason.
    pub wrong: Vec<String>,
}

/// Checks every statement of a page, and of the digest that is made of it.
pub(crate) fn examine(raw: &[u8], page: &Page) -> Verdict {
    let output = Output::of(raw);
    let mut verdict = Verdict::default();
    for part in &page.parts {
        verdict.rule("count", part.total == 0 || part.total >= part.items.len() as u64, || {
            format!("{}: {} are kept of {}", part.name, part.items.len(), part.total)
        });
        for item in &part.items {
            lines::examine(&output, part, item, &mut verdict);
            cuts::examine(&output, item, &mut verdict);
        }
        names::examine(&output, part, &mut verdict);
        sums::examine(&output, part, &mut verdict);
    }
    counts::examine(&output, page, &mut verdict);
    form::examine(&output, page, &mut verdict);
    verdict
}

impl Verdict {
    fn rule(&mut self, class: &str, right: bool, why: impl FnOnce() -> String) {
        assert!(CLASSES.contains(&class), "{class}");
        match right {
            true => self.right += 1,
            false => self.wrong.push(format!("{class}: {}", why())),
        }
    }
}

/// The lines of an output, as a terminal shows them.
struct Output {
    /// The lines with single spaces.
    lines: Vec<String>,
    exact: Vec<String>,
    numbers: Vec<u64>,
    raw: String,
    json: OnceCell<Vec<Value>>,
}

impl Output {
    fn of(raw: &[u8]) -> Self {
        let (mut lines, mut exact, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Lines::of(&raw).unwrap();
        let mut printed = raw.split(|&byte| byte == b'\n');
        while let Some(line) = all.read().unwrap() {
            let printed = printed.next().unwrap_or_default();
            lines.push(spaced(line.text));
            exact.push(match line.left_out {
                0 => line.text.to_owned(),
                _ => String::from_utf8_lossy(printed).into_owned(),
            });
            numbers.push(line.number);
        }
        Self { lines, exact, numbers, raw: String::from_utf8_lossy(raw).into_owned(), json: OnceCell::new() }
    }

    fn line(&self, number: u64) -> Option<&str> {
        let place = self.numbers.binary_search(&number).ok()?;
        self.lines.get(place).map(String::as_str)
    }

    /// Returns the lines between two numbers, with single spaces.
    fn between(&self, first: u64, last: u64) -> impl Iterator<Item = &str> {
        let place = |number: u64| self.numbers.partition_point(|&other| other < number);
        self.lines[place(first)..place(last.saturating_add(1))].iter().map(String::as_str)
    }

    fn count(&self, is: impl Fn(&str) -> bool) -> u64 {
        self.lines.iter().filter(|line| is(line)).count() as u64
    }

    /// Returns the JSON documents of the output: one, or one on each line, or none.
    fn json(&self) -> &[Value] {
        self.json.get_or_init(|| {
            let whole =
                serde_json::Deserializer::from_str(&self.raw).into_iter::<Value>().collect::<Result<Vec<_>, _>>();
            let documents = whole.unwrap_or_default();
            if documents.iter().any(|document| document.is_object() || document.is_array()) {
                return documents;
            }
            self.raw
                .lines()
                .filter_map(|line| serde_json::from_str(line.trim()).ok())
                .filter(Value::is_object)
                .collect()
        })
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text without the words that say how much was cut from it.
fn uncut(text: &str) -> &str {
    match text.rsplit_once("… (") {
        Some((before, cut)) if cut.ends_with(" more bytes)") || cut.ends_with(" more byte)") => before,
        _ => text.strip_suffix('…').unwrap_or(text),
    }
}

/// Parses the number at the beginning of a text, and returns it with the rest.
fn number(text: &str) -> Option<(u64, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}
