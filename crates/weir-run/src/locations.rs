//! Finds where the errors of an output are, as `path:line`, which editors and terminals can open.

use weir_context::text::{StoredTextSource, unreadable};
use weir_core::wording::one_line;
use weir_digest::{About, Item, Weight};
use weir_host::error::CommandError;

use super::FinishedRun;

const MAX_LISTED: usize = 5;
/// The longest message of an error, in characters.
const MAX_MESSAGE_CHARS: usize = 120;

/// Returns the first errors of a run whose place is known, each as `path:line: message`.
pub(super) fn of_errors(done: &FinishedRun) -> Result<Vec<String>, CommandError> {
    let source = StoredTextSource::new(&done.text)?;
    let page = weir_digest::read(&source, About { command: &done.title, lists: false }).map_err(unreadable)?;
    let failures = page.parts.iter().filter(|part| part.weight == Weight::Failure).flat_map(|part| &part.items);
    let mut errors: Vec<String> = Vec::new();
    for error in failures.filter_map(located) {
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    errors.truncate(MAX_LISTED);
    Ok(errors)
}

/// Returns a failure as `path:line: message`, if it names a place.
fn located(failure: &Item) -> Option<String> {
    let (line, place) = failure.text.lines().find_map(|line| Some((line, place_in(line)?)))?;
    // A compiler says what is wrong above the place, and others say it behind.
    let behind = line.split_once(place).map_or("", |(_, behind)| behind).trim_start_matches([':', ' ', ')', '`']);
    let message = if behind.trim().is_empty() { failure.text.lines().next().unwrap_or_default() } else { behind };
    Some(format!("{place}: {}", one_line(message.trim(), MAX_MESSAGE_CHARS)))
}

/// Returns the first word of a line that is a path with a line number, and a column if it has one.
fn place_in(line: &str) -> Option<&str> {
    let words = line.split([' ', '\t', '(', ')', '[', ']', '`', '\'', '"', ',']);
    words.map(|word| word.trim_end_matches([':', '.'])).find_map(|word| {
        let mut parts = word.split(':');
        let path = parts.next().filter(|path| path.contains(['/', '.']) && !path.starts_with("http"))?;
        let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let numbers = parts.take_while(|part| number(part)).take(2).map(|part| part.len() + 1).sum::<usize>();
        let has_name = path.rsplit('/').next().is_some_and(|name| name.contains(|c: char| c.is_alphabetic()));
        (numbers > 0 && has_name).then(|| &word[..path.len() + numbers])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(located(&Item::plain(text)).as_deref(), expected, "{text}");
    }

    #[test]
    fn an_error_is_named_by_its_place() {
        check(
            "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:12:5",
            Some("src/lib.rs:12:5: error[E0425]: cannot find value `x` in this scope"),
        );
        check("shop/dates.py:6: NameError: name 'calendar'", Some("shop/dates.py:6: NameError: name 'calendar'"));
        check("a.c:3:7: error: expected ';'", Some("a.c:3:7: error: expected ';'"));
        check(
            "at Object.<anonymous> (src/a.test.js:9:1)",
            Some("src/a.test.js:9:1: at Object.<anonymous> (src/a.test.js:9:1)"),
        );
        check("connecting to http://127.0.0.1:80 failed at 12:30:05", None);
        check("3 tests failed", None);
    }
}
