//! What a failed Rust test printed: the place and the message of its panic, and the lines before it.

use super::failed::Failure;
use crate::text::clip;

/// The maximum number of lines kept from before the panic, and from after its message.
const MAX_LINES_BEFORE: usize = 3;
const MAX_LINES_AFTER: usize = 12;
/// The maximum length of the values of an assertion that are put on the line of the message.
const MAX_INLINE_BYTES: usize = 140;

/// The lines that one test printed.
#[derive(Default)]
pub(super) struct TestOutput {
    place: String,
    message: String,
    after: Vec<String>,
    before: Vec<String>,
    /// A line that states how the test ended, in case nothing panicked.
    end: String,
    /// The first compiler error, for documentation examples.
    error: String,
    state: PanicState,
}

#[derive(Default, PartialEq, Eq)]
enum PanicState {
    #[default]
    Before,
    Message,
    After,
    Backtrace,
}

impl TestOutput {
    pub(super) fn line(&mut self, text: &str) {
        if let Some((place, message)) = panic(text) {
            // The first panic is the cause; a panic while unwinding is not.
            if self.place.is_empty() {
                self.place = place.to_owned();
                self.message = clip(message, 400);
                self.state = if message.is_empty() { PanicState::Message } else { PanicState::After };
            } else {
                self.state = PanicState::Backtrace;
            }
            return;
        }
        let trimmed = text.trim();
        match self.state {
            PanicState::Before | PanicState::Backtrace if trimmed.starts_with("Error: ") && self.place.is_empty() => {
                self.message = clip(trimmed, 400);
                self.state = PanicState::After;
            }
            PanicState::Before => self.line_before(trimmed),
            PanicState::Backtrace if is_expectation(trimmed) && self.after.len() < MAX_LINES_AFTER => {
                self.after.push(clip(trimmed, 300));
            }
            PanicState::Message => {
                self.message = clip(trimmed, 400);
                self.state = PanicState::After;
            }
            PanicState::After if is_note(trimmed) => self.state = PanicState::Backtrace,
            PanicState::After if !trimmed.is_empty() && self.after.len() < MAX_LINES_AFTER => {
                self.after.push(clip(trimmed, 300));
            }
            PanicState::After | PanicState::Backtrace => {}
        }
    }

    fn line_before(&mut self, trimmed: &str) {
        if trimmed.is_empty() || is_frame_of_the_runner(trimmed) {
            return;
        }
        if self.error.is_empty() && (trimmed.starts_with("error[") || trimmed.starts_with("error: ")) {
            self.error = clip(trimmed, 400);
            return;
        }
        if let Some(place) = trimmed.strip_prefix("--> ")
            && !self.error.is_empty()
            && self.place.is_empty()
        {
            self.place = clip(place, 250);
            return;
        }
        let ends =
            ["test did not panic as expected", "(test aborted", "(test timed out", "(test leaked", "(test failed"];
        if ends.iter().any(|end| trimmed.contains(end)) {
            self.end = clip(trimmed, 300);
        } else {
            if self.before.len() == MAX_LINES_BEFORE {
                self.before.remove(0);
            }
            self.before.push(clip(trimmed, 200));
        }
    }

    /// Returns whether nothing was printed that describes a failure.
    pub(super) fn is_empty(&self) -> bool {
        self.place.is_empty() && self.message.is_empty() && self.end.is_empty() && self.before.is_empty()
    }

    pub(super) fn failure(self, line: u64, test: &str) -> Failure {
        let Self { place, mut message, mut after, mut before, end, error, .. } = self;
        // The runner names the test again.
        before.retain(|line| !test.ends_with(line.as_str()));
        for said in [end, error] {
            if message.is_empty() {
                message = said;
            }
        }
        if message.is_empty() {
            message = before.pop().unwrap_or_default();
        }
        // The values say more than the statement that they differ.
        let values = after.iter().take_while(|line| line.starts_with("left: ") || line.starts_with("right: ")).count();
        if values == 2 && after.iter().take(2).all(|line| line.len() <= MAX_INLINE_BYTES) {
            let rest = message.strip_prefix("assertion `left == right` failed").unwrap_or(&message);
            let rest = rest.trim_start_matches(": ");
            let values: Vec<String> = after.drain(..2).collect();
            message = if rest.is_empty() { values.join(", ") } else { format!("{rest}: {}", values.join(", ")) };
        }
        after.extend(before);
        let (test, case) = match test.find("::case_") {
            Some(at) => test.split_at(at),
            None => (test, ""),
        };
        Failure { line, test: test.to_owned(), case: case.to_owned(), place, message, details: after }
    }
}

/// Returns the test that panics, by the name of its thread.
pub(super) fn panicking(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix("thread '")?.split_once('\'')?;
    (rest.contains(" panicked at ") && name != "main" && name != "<unnamed>").then_some(name)
}

/// Parses the place of a panic, and its message if it is on the same line, as it was before Rust 1.73.
fn panic(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let rest = text.strip_prefix("thread '")?;
    let (_, rest) = rest.split_once(" panicked at ")?;
    if let Some(old) = rest.strip_prefix('\'') {
        let (message, place) = old.rsplit_once("', ")?;
        return Some((place, message));
    }
    Some((rest.strip_suffix(':').unwrap_or(rest), ""))
}

/// Recognises the lines about a panic that should have had another message.
fn is_expectation(trimmed: &str) -> bool {
    let starts = ["note: panic did not contain expected string", "panic message: ", "expected substring: "];
    starts.iter().any(|start| trimmed.starts_with(start))
}

/// Recognises the lines that follow a message.
fn is_note(trimmed: &str) -> bool {
    trimmed == "stack backtrace:" || trimmed.starts_with("note: run with `RUST_BACKTRACE=")
}

/// Recognises what the test harness prints around the single test that nextest runs with it.
fn is_frame_of_the_runner(trimmed: &str) -> bool {
    trimmed == "failures:"
        || trimmed == "running 1 test"
        || trimmed == "stderr:"
        || trimmed.starts_with("test result: ")
        || (trimmed.starts_with("---- ") && trimmed.ends_with(" ----"))
        || (trimmed.starts_with("test ") && trimmed.ends_with(" ... FAILED"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_output(lines: &str) -> (String, String, Vec<String>) {
        let mut printed = TestOutput::default();
        lines.lines().for_each(|line| printed.line(line));
        let failure = printed.failure(1, "t");
        (failure.place, failure.message, failure.details)
    }

    #[test]
    fn panics_of_all_times_are_read() {
        let new = "asking\n\nthread 't' (12) panicked at src/a.rs:3:5:\nassertion `left == right` failed: sum\n  left: 1\n \
                   right: 2\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        let wanted = ("src/a.rs:3:5".to_owned(), "sum: left: 1, right: 2".to_owned(), vec!["asking".to_owned()]);
        assert_eq!(parse_output(new), wanted);
        let old = "thread 't' panicked at 'no', src/a.rs:3:5\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(parse_output(old), ("src/a.rs:3:5".to_owned(), "no".to_owned(), Vec::new()));
        assert_eq!(parse_output("Error: NotFound\n").1, "Error: NotFound");
        assert_eq!(parse_output("note: test did not panic as expected\n").1, "note: test did not panic as expected");
    }
}
