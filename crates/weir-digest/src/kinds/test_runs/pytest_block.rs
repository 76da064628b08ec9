//! One failure as reported by pytest, in any traceback style.

use super::failed::Failure;
use super::pytest_lines::is_captured;
use crate::text::{clip, number};

const MAX_LINES: usize = 10;

#[derive(Default)]
pub(super) struct PytestBlock {
    line: u64,
    test: String,
    case: String,
    /// The first place, which is in the test; the last place in the project; the last place of all.
    first: String,
    own: String,
    last: String,
    /// The line of code that failed.
    code: String,
    message: String,
    /// The lines after the message: differences, values.
    after: Vec<String>,
    /// The messages of the exceptions that led to the last one.
    causes: Vec<String>,
    captured: Vec<String>,
    in_captured: bool,
    /// Whether this is a traceback as printed by Python itself.
    native: bool,
    /// Whether the lines are what a documentation example was expected to print, or did print.
    example: bool,
    /// The last lines, for failures in an unknown format.
    tail: Vec<String>,
}

impl PytestBlock {
    /// Creates the failure of the test that a title names.
    pub(super) fn of(line: u64, title: &str) -> Self {
        let title = title.trim();
        let title = title.strip_prefix("ERROR at ").or_else(|| title.strip_prefix("ERROR ")).unwrap_or(title);
        let (test, case) = split(title);
        Self { line, test, case, ..Self::default() }
    }

    /// Parses a failure from a line of the short list, without its first word.
    pub(super) fn listed(line: u64, text: &str) -> Failure {
        let (name, message) = match text.find(" - ") {
            Some(at) => (text.get(..at).unwrap_or(text), text.get(at + 3..).unwrap_or_default()),
            None => (text, ""),
        };
        let (test, case) = split(name);
        Failure { line, test, case, message: message.to_owned(), ..Failure::default() }
    }

    pub(super) fn line(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("E ").or((text == "E").then_some("")) {
            self.error(rest);
            return;
        }
        if is_captured(text) {
            self.in_captured = true;
            return;
        }
        let trimmed = text.trim();
        if trimmed.is_empty() {
            self.example = false;
            return;
        }
        if self.in_captured {
            if self.captured.len() < 4 {
                self.captured.push(clip(trimmed, 200));
            }
            return;
        }
        if self.example(text, trimmed) {
            return;
        }
        if let Some(code) = text.strip_prefix("> ") {
            self.code = clip(code.trim(), 200);
        } else if trimmed == "Traceback (most recent call last):" {
            self.native = true;
        } else if let Some(place) = place(text) {
            self.place(&place);
        } else if is_chained(trimmed) {
            self.chain();
        } else if self.native && !text.starts_with(' ') {
            self.message = clip(trimmed, 400);
        } else if self.native && !self.message.is_empty() && self.after.len() < MAX_LINES {
            self.after.push(clip(trimmed, 200));
        }
        if self.message.is_empty() {
            if self.tail.len() == 6 {
                self.tail.remove(0);
            }
            self.tail.push(clip(trimmed, 200));
        }
    }

    /// Takes a line of a documentation example, which states what was expected and what it got, each below a separate
    /// line.
    fn example(&mut self, text: &str, trimmed: &str) -> bool {
        if matches!(text, "Expected:" | "Got:" | "Expected nothing") || text.starts_with("UNEXPECTED EXCEPTION: ") {
            self.example = text.ends_with(':');
        } else if !self.example || !text.starts_with(' ') {
            self.example = false;
            return false;
        }
        if self.message.len() < 300 {
            let space = if self.message.is_empty() { "" } else { " " };
            self.message.push_str(space);
            self.message.push_str(&clip(trimmed, 200));
        }
        true
    }

    fn error(&mut self, text: &str) {
        let text = text.trim();
        // The message is shown; what it consists of follows.
        if text.is_empty() || text.starts_with("Use -v to get ") {
            return;
        }
        if self.message.is_empty() {
            self.message = clip(text, 400);
        } else if self.after.len() < MAX_LINES {
            self.after.push(clip(text, 200));
        }
    }

    fn place(&mut self, place: &str) {
        let place = clip(place, 250);
        let foreign = ["site-packages", "lib/python", "dist-packages", "<frozen", "lib\\"];
        if !foreign.iter().any(|part| place.contains(part)) {
            if self.first.is_empty() {
                self.first.clone_from(&place);
            }
            self.own.clone_from(&place);
        }
        self.last = place;
    }

    /// Begins another exception, which this one led to.
    fn chain(&mut self) {
        let message = std::mem::take(&mut self.message);
        if !message.is_empty() && self.causes.len() < 3 {
            self.causes.push(message);
        }
        self.after.clear();
    }

    pub(super) fn failure(self) -> Failure {
        let Self { line, test, case, first, own, last, code, mut message, after, causes, captured, mut tail, .. } =
            self;
        let mut details = Vec::new();
        if message.is_empty() {
            message = tail.pop().unwrap_or_default();
            details.extend(tail);
        }
        let after = told_better(&mut message, after);
        details.extend(after);
        match causes.split_first() {
            // The original cause is half of the answer.
            Some((cause, others)) if message.len() + cause.len() < 200 => {
                message = format!("{message} (from {})", clip(cause, 90));
                details.extend(others.iter().cloned());
            }
            _ => details.extend(causes),
        }
        let place = if own.is_empty() { last.clone() } else { own };
        if !code.is_empty() && !message.contains(code.trim_start_matches("assert ")) {
            details.push(format!("> {code}"));
        }
        details.extend((first != place && !first.is_empty()).then(|| format!("called at {first}")));
        details.extend((last != place).then(|| format!("raised at {last}")));
        details.extend(captured);
        Failure { line, test, case, place, message, details }
    }
}

/// Replaces a message in which pytest shortened both sides of an assertion by the difference. Returns the remaining
/// lines.
fn told_better(message: &mut String, mut after: Vec<String>) -> Vec<String> {
    if message.ends_with("did not match.") {
        for line in after.drain(..after.len().min(2)) {
            message.push(' ');
            message.push_str(&line);
        }
        return after;
    }
    if !message.contains("...") || !message.contains("assert ") || message.len() < 40 {
        return after;
    }
    let differs = |line: &String| line.contains(" != ") || line.contains(" contains ") || line.contains(" more item");
    let found: Vec<usize> = (0..after.len()).filter(|&place| after.get(place).is_some_and(differs)).take(2).collect();
    if !found.is_empty() {
        let lines: Vec<String> = found.iter().rev().map(|&place| after.remove(place)).collect();
        let said = lines.into_iter().rev().collect::<Vec<_>>().join("; ");
        after.insert(0, std::mem::replace(message, clip(&said, 300)));
    }
    after
}

/// Splits a name into the test and its case: `test_due` and `[net14]`.
pub(super) fn split(name: &str) -> (String, String) {
    match name.find('[') {
        Some(at) if at > 0 && name.ends_with(']') => {
            let (test, case) = name.split_at(at);
            (test.to_owned(), case.to_owned())
        }
        _ => (name.to_owned(), String::new()),
    }
}

/// Parses the place of `orders/pricing.py:41: KeyError`, `orders/pricing.py:41: in total` or `  File "a.py", line 41,
/// in total`.
fn place(text: &str) -> Option<String> {
    if let Some(rest) = text.trim_start().strip_prefix("File \"") {
        let (path, rest) = rest.split_once("\", line ")?;
        let (line, _) = number(rest)?;
        return Some(format!("{path}:{line}"));
    }
    if text.starts_with([' ', '>']) {
        return None;
    }
    let (before, after) = match text.split_once(": ") {
        Some(found) => found,
        None => (text.strip_suffix(':')?, ""),
    };
    let (path, line) = before.rsplit_once(':')?;
    let is = !line.is_empty()
        && line.bytes().all(|byte| byte.is_ascii_digit())
        && !path.is_empty()
        && !path.contains(' ')
        && (after.is_empty() || after.starts_with("in ") || !after.contains(' '));
    is.then(|| before.to_owned())
}

fn is_chained(text: &str) -> bool {
    text.starts_with("During handling of the above exception")
        || text.starts_with("The above exception was the direct cause")
}
