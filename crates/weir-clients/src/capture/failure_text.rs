//! Finds the line of an output that best explains a failure.

use std::borrow::Cow;

use weir_core::event::line;
use weir_core::terminal;

/// The length of the beginning and of the end of an output that are examined, in bytes.
const EXAMINED_BYTES_PER_END: usize = 16 << 10;
/// The maximum length of the line.
const MAX_LINE_BYTES: usize = 260;
/// The minimum weight of a line that reports a failure by itself.
const MIN_FAILURE_WEIGHT: u8 = 70;

/// Returns the most telling line, the last line if none is telling, or `None` for an empty output.
pub(super) fn failure_line(output: &str) -> Option<String> {
    let mut best: Option<(u8, String)> = None;
    let mut last = "";
    let mut in_traceback = false;
    let shown = shown(output);
    let mut lines = shown.lines().peekable();
    while let Some(text) = lines.next() {
        let trimmed = text.trim();
        if trimmed.is_empty() {
            continue;
        }
        last = trimmed;
        let mut weight = weight(text);
        let mut said = trimmed.to_owned();
        if trimmed.starts_with("Traceback (most recent call last)") {
            in_traceback = true;
        } else if in_traceback && !text.starts_with(' ') {
            in_traceback = false;
            weight = 110;
        }
        if trimmed.contains("' panicked at ") || trimmed.contains(") panicked at ") {
            // The message is on the next line.
            let next = lines.peek().map(|next| next.trim()).unwrap_or_default();
            said = format!("{trimmed} {next}");
        }
        // The last traceback is where the program ended; otherwise the first line is the cause.
        let is_better = best.as_ref().is_none_or(|(other, _)| weight > *other || (weight == 110 && *other == 110));
        if weight > 0 && is_better {
            best = Some((weight, said));
        }
    }
    let said = best.map_or_else(|| last.to_owned(), |(_, said)| said);
    Some(line(&said, MAX_LINE_BYTES)).filter(|said| !said.is_empty())
}

/// Returns whether an output reports a failure, for commands whose exit code is lost.
pub(super) fn reports_failure(output: &str) -> bool {
    shown(output).lines().any(|line| weight(line) >= MIN_FAILURE_WEIGHT)
}

/// Returns the beginning and the end of an output, without colours.
fn shown(output: &str) -> Cow<'_, str> {
    let part: Cow<'_, str> = if output.len() <= 2 * EXAMINED_BYTES_PER_END {
        output.into()
    } else {
        let head = &output[..output.floor_char_boundary(EXAMINED_BYTES_PER_END)];
        format!("{head}\n{}", &output[output.ceil_char_boundary(output.len() - EXAMINED_BYTES_PER_END)..]).into()
    };
    match terminal::clean(part.as_bytes()) {
        Cow::Borrowed(_) => part,
        Cow::Owned(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
    }
}

/// Returns how well a line explains a failure; 0 if it counts failures and there are none.
fn weight(text: &str) -> u8 {
    let start = text.trim_start();
    // Long lines are data.
    let weight = if start.len() > 2_000 { 0 } else { weight_of_words(start) };
    if weight > 0 && says_none(start) { 0 } else { weight }
}

fn weight_of_words(start: &str) -> u8 {
    let begins = |marks: &[&str]| marks.iter().any(|mark| start.starts_with(mark));
    let has = |marks: &[&str]| marks.iter().any(|mark| start.contains(mark));
    if begins(&["error[", "error:", "Error:", "ERROR:", "fatal:", "E   ", "panic:", "npm error ", "npm ERR! code"])
        || has(&["' panicked at ", ") panicked at "])
        || is_exception(start)
    {
        return 100;
    }
    if has(&[": error:", ": fatal error:", " error TS", ": error[", ": Error:"]) {
        return 90;
    }
    if has(&["FAILED", "AssertionError", "assertion failed", "assertion `"])
        || begins(&["FAIL", "--- FAIL", "not ok ", "✗", "✖", "×"])
    {
        return 80;
    }
    let plain = [
        "command not found",
        "No such file or directory",
        "Permission denied",
        "undefined reference",
        "Segmentation fault",
        "cannot find",
        "Cannot find",
        "not found",
        "timed out",
        "refused",
        "denied",
        "Killed",
        "String to replace not found",
        "does not exist",
    ];
    if has(&plain) {
        return 60;
    }
    let lower = start.to_ascii_lowercase();
    if ["error", "failed", "failure", "exception"].iter().any(|word| lower.contains(word)) { 40 } else { 0 }
}

/// Returns whether a line names an exception: `ValueError: bad`, `java.io.IOException: …`.
fn is_exception(line: &str) -> bool {
    let name = line.split([':', ' ']).next().unwrap_or_default();
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._$".contains(&byte));
    let ends = name.ends_with("Error") || name.ends_with("Exception");
    is_name && ends && name.len() > 5 && (line.len() == name.len() || line[name.len()..].starts_with(':'))
}

/// Returns whether a line counts failures and all counts are 0.
fn says_none(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    let counts = ["error", "fail", "exception"].iter().map(|word| counted(&lower, word));
    let mut found = false;
    for count in counts.flatten() {
        if count > 0 {
            return false;
        }
        found = true;
    }
    found
}

/// Returns the number before or after a word: `3 failed`, `errors: 0`, `no errors`.
fn counted(line: &str, word: &str) -> Option<u64> {
    let mut most = None;
    for (at, _) in line.match_indices(word) {
        let before = line[..at].split_whitespace().next_back().unwrap_or_default();
        let rest = line[at..].trim_start_matches(|c: char| c.is_alphabetic());
        let after = rest.strip_prefix([':', '=']).map(|rest| rest.split_whitespace().next().unwrap_or_default());
        let number = match (before, after) {
            ("no" | "without", _) => Some(0),
            (before, after) => number(before).or_else(|| number(after?)),
        };
        most = most.max(number);
    }
    most
}

fn number(word: &str) -> Option<u64> {
    word.trim_matches(|c: char| !c.is_alphanumeric()).parse().ok()
}
