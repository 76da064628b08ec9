//! Finds the line of an output that best explains a failure.

use std::borrow::Cow;

use weir_core::event::line;
use weir_core::terminal;

/// The length of the beginning and of the end of an output that are examined, in bytes.
const EXAMINED_BYTES_PER_END: usize = 16 << 10;
const MAX_LINE_BYTES: usize = 260;
/// The minimum weight of a line that reports a failure by itself.
const MIN_FAILURE_WEIGHT: u8 = 76;
/// The weight of a cause that two lines explain together, and of the end of a traceback.
const CAUSE: u8 = 105;
const TRACEBACK: u8 = 110;

/// The maximum number of lines of a test that are examined.
const MAX_TEST_LINES: usize = 200;
/// Words of a test that complains, as opposed to one that only reports.
const COMPLAINTS: &[&str] =
    &["want", "expect", "should", "fail", "error", "got ", "must", "mismatch", "missing", "nil", "not ", "cannot"];

/// What task runners and compilers say last, when everything has been said.
const LAST_WORDS: &[&str] = &[
    "ERROR task failed",
    "error: could not compile",
    "error: test failed, to rerun",
    "error: aborting due to",
    "error: Recipe ",
    "error: script ",
    "Error: Process completed with exit code",
    "npm error Lifecycle script",
    "npm error code ELIFECYCLE",
    "npm ERR! code ELIFECYCLE",
    "make: ***",
    "make[1]: ***",
    "exit status ",
    "error Command failed with exit code",
    "ELIFECYCLE",
];

/// Returns the most telling line, the last line if none is telling, or `None` for an empty output.
pub(super) fn failure_line(output: &str) -> Option<String> {
    let shown = shown(output);
    let lines: Vec<&str> = shown.lines().map(without_runner).filter(|line| !line.trim().is_empty()).collect();
    let mut best: Option<(u8, String)> = None;
    let mut in_traceback = false;
    for (at, text) in lines.iter().enumerate() {
        let trimmed = text.trim();
        let mut weight = weight(text);
        let mut said = explained(&lines, at).inspect(|_| weight = CAUSE).unwrap_or_else(|| trimmed.to_owned());
        if trimmed.starts_with("Traceback (most recent call last)") {
            in_traceback = true;
        } else if in_traceback && !text.starts_with(' ') {
            in_traceback = false;
            weight = TRACEBACK;
            said = trimmed.to_owned();
        }
        // The last traceback is where the program ended; otherwise the first line is the cause.
        let is_better = |(other, _): &(u8, String)| weight > *other || (weight == TRACEBACK && *other == TRACEBACK);
        if weight > 0 && best.as_ref().is_none_or(is_better) {
            best = Some((weight, said));
        }
    }
    let last = || lines.last().map(|last| last.trim().to_owned());
    let said = best.map(|(_, said)| said).or_else(last)?;
    Some(line(&said, MAX_LINE_BYTES)).filter(|said| !said.is_empty())
}

/// Returns a line together with another one that explains it: the message of a panic, the place of an assertion, or
/// what a failed test said.
fn explained(lines: &[&str], at: usize) -> Option<String> {
    let (line, next) = (lines[at].trim(), lines.get(at + 1).map_or("", |next| next.trim()));
    if line.contains("' panicked at ") || line.contains(") panicked at ") {
        return Some(format!("{line} {next}"));
    }
    // pytest: `E   NameError: …`, and below it `path:6: NameError`.
    if let Some(error) = line.strip_prefix("E   ").map(str::trim) {
        let name = error.split([':', ' ']).next().unwrap_or_default();
        let near = lines[at + 1..].iter().take(4).map(|line| line.trim());
        let place = near.filter_map(|line| line.strip_suffix(name)?.strip_suffix(": ")).find(|place| is_place(place));
        return Some(place.map_or_else(|| error.to_owned(), |place| format!("{place}: {error}")));
    }
    // pytest's summary: `FAILED path::test - NameError: …`.
    if let Some((test, why)) = line.strip_prefix("FAILED ").and_then(|line| line.split_once(" - ")) {
        return Some(format!("{test}: {why}"));
    }
    // testify: what was expected and what was found follow.
    if line.ends_with("Not equal:") {
        let more: Vec<&str> = lines[at + 1..].iter().take(2).map(|line| line.trim()).collect();
        return Some(format!("{line} {}", more.join(", ")));
    }
    // go: what a test said is below its failure, or above it if every test is shown.
    let name = line.strip_prefix("--- FAIL: ")?.split(' ').next()?;
    let is_begin = |line: &&&str| line.starts_with("=== RUN") && line.trim_end().ends_with(name);
    let begin = lines[..at].iter().rposition(|line| is_begin(&line)).unwrap_or(at);
    let below = lines[at + 1..].iter().take_while(|line| line.starts_with(' '));
    let said = below.chain(&lines[begin..at]).take(MAX_TEST_LINES).map(|line| line.trim());
    let said: Vec<&str> = said.filter(|line| is_located(line) && !has_log_level(line)).collect();
    let complains = |line: &&&str| COMPLAINTS.iter().any(|word| line.to_ascii_lowercase().contains(word));
    let cause = said.iter().find(complains).or(said.last())?;
    Some(format!("{name}: {cause}"))
}

/// Returns a line without the name that a task runner puts before it: `[lint:go] a.go:1:2: …`.
fn without_runner(line: &str) -> &str {
    let named = line.strip_prefix('[').and_then(|line| line.split_once("] "));
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_-".contains(&byte));
    named.filter(|(name, rest)| is_name(name) && is_located(rest.trim())).map_or(line, |(_, rest)| rest)
}

/// Returns whether a line is about a place in a file: `src/a.rs:12:5: …`, `a_test.go:7: …`.
fn is_located(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(place, said)| is_place(place) && said.contains(char::is_alphabetic))
}

/// Returns whether a text is a path with a line, and perhaps a column.
fn is_place(text: &str) -> bool {
    let mut parts = text.split(':');
    let path = parts.next().unwrap_or_default();
    let mut numbers = parts.clone().count();
    numbers =
        if parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())) { numbers } else { 0 };
    matches!(numbers, 1 | 2) && path.contains('.') && !path.contains(' ')
}

fn has_log_level(line: &str) -> bool {
    [" INFO ", " DEBUG ", " WARN ", " TRACE "].iter().any(|level| line.contains(level))
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
    // The progress of a test run, and last words.
    if start.trim_end().ends_with("%]") || has(LAST_WORDS) {
        return 10;
    }
    if begins(&["error[", "error:", "Error:", "ERROR:", "fatal:", "E   ", "panic:", "npm error ", "npm ERR! code"])
        || has(&["' panicked at ", ") panicked at "])
        || is_exception(start)
    {
        return 100;
    }
    if has(&[": error:", ": fatal error:", " error TS", ": error[", ": Error:"]) {
        return 90;
    }
    // Which package failed is known once its tests are.
    if start.trim_end() == "FAIL" || start.starts_with("FAIL\t") {
        return 30;
    }
    if is_located(start) {
        return if start.split(": ").next().is_some_and(|place| place.matches(':').count() > 1) { 88 } else { 75 };
    }
    if has(&["FAILED", "AssertionError", "assertion failed", "assertion `"])
        || begins(&["FAIL", "--- FAIL", "not ok ", "✗", "✖", "×"])
    {
        return 80;
    }
    let plain = [
        "command not found", "No such file or directory", "Permission denied", "undefined reference",
        "Segmentation fault", "cannot find", "Cannot find", "not found", "timed out", "refused", "denied", "Killed",
        "String to replace not found", "does not exist",
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
