//! What one Go test printed: its messages with their places, or its panic.

use std::collections::VecDeque;

use super::failed::Failure;
use crate::text::clip;

/// The maximum number of messages kept of a test, and of lines of each.
const MAX_MESSAGES: usize = 8;
const MAX_MESSAGE_LINES: usize = 6;
/// The maximum length of a message of several lines that is shown as one line.
const MAX_INLINE_BYTES: usize = 160;

/// Parts of the paths of Go's own files.
#[rustfmt::skip]
const OF_GO: &[&str] = &[
    "/src/runtime/", "/src/testing/", "/src/time/", "/src/sync/", "/src/internal/", "/usr/lib/go", "/usr/local/go/",
    "/go/src/", "/golang.org/toolchain", "_testmain.go",
];

/// The lines that one test printed.
#[derive(Default)]
pub(super) struct GoTestOutput {
    messages: VecDeque<Message>,
    messages_not_kept: u64,
    panic: String,
    panic_place: String,
    /// Tests that were running at a timeout, and similar lines below a panic.
    panic_notes: Vec<String>,
    in_trace: bool,
    /// The line of the first message or panic.
    at: u64,
}

#[derive(Default)]
struct Message {
    place: String,
    lines: Vec<String>,
}

impl GoTestOutput {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.panic.is_empty()
    }

    pub(super) fn panicked(&self) -> bool {
        !self.panic.is_empty()
    }

    pub(super) fn line(&mut self, text: &str, number: u64) {
        if self.at == 0 {
            self.at = number;
        }
        if let Some(panic) = text.strip_prefix("panic: ").or_else(|| text.strip_prefix("fatal error: ")) {
            if self.panic.is_empty() {
                let said = if text.starts_with("panic: ") { panic } else { text };
                self.panic = clip(said.strip_suffix(" [recovered]").unwrap_or(said), 400);
            }
            self.in_trace = true;
            return;
        }
        if self.in_trace {
            self.frame(text);
            return;
        }
        let trimmed = text.trim();
        if trimmed.is_empty() {
            return;
        }
        match placed(trimmed) {
            Some((place, said)) => {
                if self.messages.len() == MAX_MESSAGES {
                    self.messages.pop_front();
                    self.messages_not_kept += 1;
                }
                let lines = if said.is_empty() { Vec::new() } else { vec![clip(said, 400)] };
                self.messages.push_back(Message { place: place.to_owned(), lines });
            }
            None => match self.messages.back_mut() {
                Some(message) if message.lines.len() < MAX_MESSAGE_LINES => message.lines.push(clip(trimmed, 200)),
                Some(_) => {}
                None => self.messages.push_back(Message { place: String::new(), lines: vec![clip(trimmed, 300)] }),
            },
        }
    }

    /// Takes a frame. The first frame that belongs neither to Go nor to its test runner is where it panicked.
    fn frame(&mut self, text: &str) {
        let Some(path) = text.strip_prefix('\t') else { return };
        let path = path.split(" +0x").next().unwrap_or(path);
        if !path.contains(".go:") {
            if self.panic_notes.len() < 3 && !path.starts_with("panic: ") {
                self.panic_notes.push(clip(path, 200));
            }
        } else if self.panic_place.is_empty() && !OF_GO.iter().any(|part| path.contains(part)) {
            self.panic_place = clip(path, 250);
        }
    }

    /// Returns the last message, for a test that was skipped.
    pub(super) fn last(&self) -> String {
        let message = self.messages.back();
        message.map(message_text).unwrap_or_default()
    }

    pub(super) fn failure(self, line: u64, test: &str) -> Failure {
        let (test, case) = test.split_at(test.find('/').unwrap_or(test.len()));
        let mut failure = Failure {
            line: if line == 0 { self.at } else { line },
            test: test.to_owned(),
            case: case.to_owned(),
            ..Failure::default()
        };
        let mut messages = self.messages;
        if !self.panic.is_empty() {
            failure.message = format!("panic: {}", self.panic);
            failure.place = self.panic_place;
            failure.details = self.panic_notes;
        } else if let Some(last) = messages.pop_back() {
            // A test logs before it fails.
            failure.place = last.place;
            let mut lines = last.lines.into_iter();
            failure.message = lines.next().unwrap_or_default();
            let rest: Vec<String> = lines.collect();
            let length: usize = rest.iter().map(String::len).sum();
            match testify(&failure.message, &rest) {
                Some(message) => failure.message = message,
                None if failure.message.len() + length <= MAX_INLINE_BYTES => {
                    failure.message = format!("{} {}", failure.message, rest.join(" ")).trim().to_owned();
                }
                None => failure.details.extend(rest),
            }
        }
        failure.details.extend(messages.iter().rev().map(message_text));
        if self.messages_not_kept > 0 {
            failure.details.push(format!("… {} messages before", self.messages_not_kept));
        }
        failure
    }
}

fn message_text(message: &Message) -> String {
    let text = message.lines.first().map(String::as_str).unwrap_or_default();
    if message.place.is_empty() { text.to_owned() } else { format!("{}: {text}", message.place) }
}

/// Returns the fields of a testify assertion on one line: the difference, and its message.
fn testify(first: &str, rest: &[String]) -> Option<String> {
    if !first.starts_with("Error Trace:") {
        return None;
    }
    let mut text = String::new();
    let mut wanted = false;
    for line in rest {
        let field = ["Error:", "Messages:"].iter().find_map(|name| line.strip_prefix(name));
        let stops = line.starts_with("Test:") || line.starts_with("Diff:");
        wanted = !stops && (field.is_some() || wanted);
        if wanted {
            let piece = field.unwrap_or(line).trim();
            text.push_str(if text.is_empty() { "" } else { " " });
            text.push_str(piece);
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Parses `hub_test.go:38: Lost = 0, want 3` into the place and the message.
pub(super) fn placed(text: &str) -> Option<(&str, &str)> {
    let at = memchr::memmem::find(text.as_bytes(), b".go:")?;
    let digits = text.get(at + 4..)?;
    let mut end = digits.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(digits.len());
    // The compiler prints a column too.
    if let Some(column) = digits.get(end..).and_then(|rest| rest.strip_prefix(':')) {
        let length = column.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(column.len());
        if length > 0 && column.get(length..).is_some_and(|rest| rest.starts_with(':')) {
            end += 1 + length;
        }
    }
    let (place, rest) = (text.get(..at + 4 + end)?, digits.get(end..)?);
    let is = end > 0 && !place.contains(' ') && (rest.is_empty() || rest.starts_with(':'));
    is.then_some((place, rest.trim_start_matches(':').trim()))
}
