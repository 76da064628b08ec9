//! Checks that what is called an error, an exception or a release has that role in the output.

use weir_digest::{Item, Part};

use super::{Output, Verdict, spaced, uncut};

pub(super) fn examine(output: &Output, part: &Part, verdict: &mut Verdict) {
    let name = part.name.as_str();
    for item in &part.items {
        let head = item.text.lines().next().unwrap_or_default();
        if part.folded && name == "errors" {
            verdict.rule("name", may_report(head), || format!("`{head}` is called an error"));
        } else if name == "errors, grouped by message" {
            examine_record(output, item, verdict);
        } else if name.contains(", by kind") && TRACES.iter().any(|trace| name.contains(trace)) {
            let says = head.split(" (×").next().unwrap_or(head);
            if says == "(no message)" {
                continue;
            }
            verdict.rule("name", names_exception(says) && is_there(output, says), || {
                format!("{name}: `{says}` is called an exception")
            });
        } else if name.starts_with("releases and tags") {
            verdict.rule("name", is_release(head), || format!("`{head}` is called a release"));
        }
    }
}

const TRACES: [&str; 3] = ["exceptions", "stack traces", "tracebacks"];

/// How a word begins that reports trouble, in small letters.
#[rustfmt::skip]
const STEMS: &[&str] = &[
    "abort", "alert", "broken", "can't", "cannot", "corrupt", "could", "crash", "crit", "deadlock", "denied", "down",
    "dumped", "emerg", "err", "exception", "exit", "fail", "fatal", "forbid", "fault", "gave", "invalid", "kill", "left",
    "lost", "memory", "no", "not", "oom", "panic", "refus", "reject", "reset", "severe", "sig", "timed", "timeout",
    "traceback", "unable", "unauthor", "uncaught", "unhandled", "unreach", "unresolv",
];

/// Returns whether a line can report trouble, by its form: it has a word for it that is not part of a longer name, not
/// the only word in small letters, not a line of source text and not a cell of a table.
fn may_report(line: &str) -> bool {
    let text = line.trim();
    let numbered = text.trim_start_matches(|c: char| c.is_ascii_digit());
    if numbered.len() < text.len() && (numbered.starts_with('\t') || numbered.trim_start().starts_with('|')) {
        return false;
    }
    if ["✔", "✓", "ok ", "PASS "].iter().any(|sign| text.starts_with(sign)) {
        return false;
    }
    let is_bare = !text.contains(' ') && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let in_cells = text.matches(" | ").count() >= 2;
    let words = || text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '\'')));
    let reports = |word: &str| {
        let lower = word.to_ascii_lowercase();
        let camel = ["Error", "Exception", "Failure"].iter().any(|end| word.ends_with(end));
        camel || STEMS.iter().any(|stem| lower.starts_with(stem) && !lower.contains('_'))
    };
    let signs = ["✖", "✗", "✘", "×", "❌", "***", "##[error]", "::error", "\"level\":", "\"severity\":"];
    let by_letter = text.starts_with(['E', 'F']) && text[1..].starts_with(|c: char| c.is_ascii_digit() || c == '/');
    let by_sign = signs.iter().any(|sign| text.contains(sign)) || by_letter || text.starts_with("[E]");
    !is_bare && !in_cells && (by_sign || words().any(reports))
}

/// Returns whether a text is how an exception is printed: a type, or words that report trouble; never a frame, a rule
/// or a line of a difference.
fn names_exception(says: &str) -> bool {
    let text = says.trim();
    let says =
        text.strip_prefix("Exception in thread").map_or(text, |rest| rest.split_once("\" ").map_or(rest, |it| it.1));
    let is_line = ["at ", "File ", "+", "-", "|", "#", "...", "…"].iter().any(|start| text.starts_with(start));
    let name = says.split([':', ' ', '(']).next().unwrap_or_default();
    let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '$' | '[' | ']'));
    let is_type =
        is_name && name.contains(char::is_uppercase) && name.starts_with(|c: char| c.is_alphabetic() || c == '[');
    !is_line && (is_type || may_report(text))
}

fn is_there(output: &Output, text: &str) -> bool {
    let whole = spaced(uncut(text));
    // The fields of an error are added to its message.
    let start = whole.split(" [").next().unwrap_or_default();
    let start = &start[..start.floor_char_boundary(60)];
    output.lines.iter().any(|line| line.contains(start))
}

/// Words for which a row or a record is called an error.
const BAD: [&str; 7] = ["fail", "failed", "failure", "error", "fatal", "critical", "crashed"];

/// Names of fields that say how bad a record is, what went wrong, or how it ended.
#[rustfmt::skip]
const FIELDS: [&str; 28] = [
    "action", "conclusion", "err", "error", "error_message", "errormessage", "errors", "exc_info", "exception",
    "failure", "failures", "health", "level", "levelname", "log_level", "loglevel", "lvl", "outcome", "phase",
    "priority", "result", "severity", "stack", "stack_trace", "stacktrace", "state", "status", "traceback",
];

/// Checks that a record is not called an error only because some field is set to a word for one.
fn examine_record(output: &Output, item: &Item, verdict: &mut Verdict) {
    let line = item.text.lines().next().unwrap_or_default();
    let row = item.line.and_then(|number| output.line(number)).filter(|_| line.contains([',', '|']));
    let cells = row.and_then(|row| columns(output, row));
    let names: Vec<String> = match cells {
        Some(cells) => {
            let bad = cells.iter().filter(|(_, cell)| BAD.contains(&cell.to_ascii_lowercase().as_str()));
            bad.map(|(name, _)| name.clone()).collect()
        }
        None => {
            let pairs = line.split(' ').filter_map(|word| word.split_once('='));
            let bad = pairs.filter(|(_, value)| BAD.contains(&value.to_ascii_lowercase().as_str()));
            bad.map(|(name, _)| name.to_owned()).collect()
        }
    };
    if names.is_empty() {
        verdict.unchecked += 1;
        return;
    }
    let is_field = |name: &String| {
        let last = name.rsplit(['.', '_', ' ']).next().unwrap_or(name).to_ascii_lowercase();
        FIELDS.contains(&last.as_str()) || FIELDS.contains(&name.to_ascii_lowercase().as_str())
    };
    verdict.rule("name", names.iter().any(is_field), || format!("`{line}` is called an error because of {names:?}"));
}

/// Returns the cells of a row with the names of their columns, if the first lines have a header for it.
fn columns(output: &Output, row: &str) -> Option<Vec<(String, String)>> {
    let mark = if row.contains(" | ") { '|' } else { ',' };
    let split = |line: &str| line.split(mark).map(|cell| cell.trim().to_owned()).collect::<Vec<String>>();
    let header = output.lines.iter().take(6).find(|line| line.contains(mark)).map(|line| split(line))?;
    let cells = split(row);
    (cells.len() >= header.len() && header.len() > 1).then(|| header.into_iter().zip(cells).collect())
}

/// Returns whether a commit is called after a version, or has one among its names.
fn is_release(commit: &str) -> bool {
    let words: Vec<&str> = commit.split([' ', ':', '\'', '(', ')']).filter(|word| !word.is_empty()).skip(1).collect();
    let is_version = |word: &&&str| {
        let digits = word.trim_start_matches('v');
        digits.starts_with(|c: char| c.is_ascii_digit()) && digits.contains('.')
    };
    let named = commit.split_once(' ').is_some_and(|(_, rest)| rest.starts_with('('));
    let place = words.iter().position(|word| is_version(&word));
    let releases =
        ["release", "releases", "released", "version", "bump", "to", "merge", "tag", "prepare", "chore", "build"];
    let before =
        |place: usize| words[..place].iter().all(|word| releases.contains(&word.to_ascii_lowercase().as_str()));
    named || place.is_some_and(before)
}
