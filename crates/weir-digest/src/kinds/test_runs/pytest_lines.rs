//! Recognises the lines that pytest prints.

use super::outcomes::Outcome;
use crate::text::number;

/// Returns the title of `==== FAILURES ====`.
pub(super) fn heading(line: &str, sign: char) -> Option<&str> {
    let title = line.trim_end().strip_prefix(sign)?.strip_suffix(sign)?;
    let title = title.trim_start_matches(sign).trim_end_matches(sign).strip_prefix(' ')?.strip_suffix(' ')?;
    title.contains(|letter: char| letter != sign && letter != ' ').then_some(title)
}

/// Recognises `---------- coverage: platform linux, python 3.12.1 ----------`.
pub(super) fn is_coverage(line: &str) -> bool {
    let title = heading(line, '-').or_else(|| heading(line, '_'));
    title.is_some_and(|title| title.starts_with("coverage: platform "))
}

/// Recognises lines about the set-up, before the first test or while tests run.
pub(super) fn is_of_the_start(line: &str) -> bool {
    #[rustfmt::skip]
    let starts = [
        "rootdir: ", "plugins: ", "cachedir: ", "asyncio: ", "hypothesis profile", "benchmark: ", "timeout",
        "created: ", "scheduling tests via", "bringing up nodes",
    ];
    starts.iter().any(|start| line.starts_with(start))
        || heading(line, '-').is_some_and(|title| title.starts_with("live log "))
}

/// Recognises what a test logs while it runs: `WARNING  app.queue:queue.py:31 try 1 failed`.
pub(super) fn is_live(line: &str) -> bool {
    let levels = ["DEBUG ", "INFO ", "WARNING ", "ERROR ", "CRITICAL "];
    let rest = levels.iter().find_map(|level| line.strip_prefix(level));
    let place = rest.and_then(|rest| rest.trim_start().split(' ').next()).unwrap_or_default();
    place.rsplit_once(".py:").is_some_and(|(_, line)| number(line).is_some_and(|(_, rest)| rest.is_empty()))
}

/// Recognises `----- Captured stdout call -----`.
pub(super) fn is_captured(line: &str) -> bool {
    heading(line, '-').is_some_and(|title| title.starts_with("Captured "))
}

/// The words that pytest counts, as in its last line.
#[rustfmt::skip]
const COUNTED: [&str; 12] = [
    "failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "warnings", "warning", "errors", "error",
    "rerun", "subtests passed",
];

/// Recognises `3 failed, 2 passed in 0.12s`.
pub(super) fn is_end(line: &str) -> bool {
    let Some((counts, taken)) = line.rsplit_once(" in ") else { return false };
    if !taken.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    counts == "no tests ran"
        || counts.split(", ").all(|piece| {
            number(piece).is_some_and(|(_, word)| COUNTED.contains(&word.trim_start()) || word.starts_with(" subtests"))
        })
}

/// Returns such a line in our words.
pub(super) fn counted(line: &str) -> String {
    let Some((counts, taken)) = line.rsplit_once(" in ") else { return String::new() };
    let counts = counts.split(", ").filter_map(|piece| {
        let (count, word) = number(piece)?;
        let word = COUNTED.into_iter().find(|known| *known == word.trim_start())?;
        Some(format!("{count} {word}"))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let counts = if counts.is_empty() { "no tests ran".to_owned() } else { counts };
    let taken: String = taken.chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').take(20).collect();
    format!("{counts} in {taken} s")
}

/// Recognises `..F.s [ 33%]`.
pub(super) fn is_dots(line: &str) -> bool {
    let Some((dots, rest)) = line.split_once(' ') else { return false };
    // The percentage is aligned to the right edge of a terminal.
    line.len() >= 40 && is_percent(rest) && all_dots(dots)
}

fn all_dots(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| matches!(byte, b'.' | b'F' | b'E' | b's' | b'x' | b'X' | b'R' | b',' | b'u' | b'-'))
}

/// Recognises `[ 33%]`, or the number of finished tests out of all.
fn is_percent(text: &str) -> bool {
    let is_count = |text: &str| !text.trim().is_empty() && text.trim().bytes().all(|byte| byte.is_ascii_digit());
    text.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|rest| {
        match rest.strip_suffix('%') {
            Some(percent) => is_count(percent),
            None => rest.split_once('/').is_some_and(|(done, all)| is_count(done) && is_count(all)),
        }
    })
}

/// Parses `tests/test_a.py ..F.  [ 33%]` into the file, the dots, and whether the line states the progress.
pub(super) fn of_file(line: &str) -> Option<(&str, &str, bool)> {
    let (file, rest) = line.split_once(".py ")?;
    let file = line.get(..file.len() + ".py".len())?;
    let (dots, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let fits = !file.contains(' ') && all_dots(dots) && (rest.is_empty() || is_percent(rest));
    fits.then_some((file, dots, !rest.is_empty()))
}

/// Parses `tests/test_a.py::test_b PASSED [ 3%]` into the test, its outcome, and the reason if there is one.
pub(super) fn listed(line: &str) -> Option<(&str, Outcome, &str)> {
    let words = [
        ("PASSED", Outcome::Passed),
        ("FAILED", Outcome::Failed),
        ("ERROR", Outcome::Error),
        ("SKIPPED", Outcome::Skipped),
        ("XFAIL", Outcome::Other),
        ("XPASS", Outcome::Other),
        ("RERUN", Outcome::Other),
    ];
    let line = line.trim_end();
    // Workers print their name first, and the outcome before the test.
    if let Some((_, rest)) = line.strip_prefix("[gw").and_then(|rest| rest.split_once("] ")) {
        let rest = rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(rest, |(_, rest)| rest);
        let (word, name) = rest.split_once(' ')?;
        let (_, outcome) = words.into_iter().find(|(known, _)| *known == word)?;
        return name.contains("::").then_some((name, outcome, ""));
    }
    let line = match line.rsplit_once('[') {
        Some((rest, percent)) if percent.ends_with("%]") => rest.trim_end(),
        _ => line,
    };
    if let Some(&(_, outcome)) = words.iter().find(|(word, _)| *word == line) {
        return Some(("", outcome, ""));
    }
    let (file, _) = line.split_once("::")?;
    let is_file = [".py", ".txt", ".md", ".rst", ".pyx", ".ipynb"].iter().any(|end| file.ends_with(end));
    if file.contains(' ') || !is_file {
        return None;
    }
    words.into_iter().find_map(|(word, outcome)| {
        let at = memchr::memmem::rfind(line.as_bytes(), word.as_bytes())?;
        let (name, rest) = (line.get(..at)?, line.get(at + word.len()..)?);
        let reason = rest.trim().strip_prefix('(').map(|rest| rest.trim_end_matches(')'));
        let fits = name.ends_with(' ') && (rest.is_empty() || reason.is_some());
        fits.then_some((name.trim_end(), outcome, reason.unwrap_or_default()))
    })
}

/// Recognises `8 workers [1340 items]`.
pub(super) fn is_workers(line: &str) -> bool {
    number(line).is_some_and(|(_, rest)| rest.starts_with(" workers ["))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_logs_is_known() {
        assert!(is_live("WARNING  app.queue:queue.py:31 try 1 failed"));
        assert!(!is_live("ERROR tests/test_a.py::test_b - no") && !is_live("INFO started"));
    }
}
