//! A failure with what was done before it passed again.

use super::Fact;
use super::data::{changed_file, read, text};
use super::turn::{most_frequent, named_files, ran};
use crate::event::{LONGEST_TEXT, line};
use crate::wording::counted;
use crate::{Event, EventKind};

/// The maximum number of changed files that are named.
const MAX_FILES: usize = 5;

/// Returns what a failure or a fix is about: the same for a command that fails and passes again.
pub fn subject(event: &Event) -> String {
    let told = read(event.data.as_deref()).and_then(|data| text(&data, "subject"));
    told.unwrap_or_else(|| event.text.clone())
}

/// Returns whether an event between a failure and the success may have been part of the repair.
pub fn may_repair(event: &Event) -> bool {
    changed_file(event).is_some() || matches!(event.kind, EventKind::Tool | EventKind::Git)
}

/// Writes a failure that passes again. `between` are the facts between its last attempt and the success.
pub fn fix(error: &Event, attempts: usize, between: &[Fact<'_>]) -> String {
    let changed = most_frequent(between.iter().filter_map(|fact| changed_file(fact.event)));
    let (files, mut ran) = (named_files(&changed, MAX_FILES), ran(between));
    // That the command itself ran is what passes.
    let subject = subject(error);
    ran.retain(|command| !command.contains(&subject));
    let files = (!files.is_empty()).then(|| format!("a change of {files}"));
    let ran = (!ran.is_empty()).then(|| ran.join("; "));
    let after = [files, ran].into_iter().flatten().collect::<Vec<_>>().join(", and ");
    let after = if after.is_empty() { "no change that was recorded".to_owned() } else { after };
    let times = if attempts > 1 { format!(" ({})", counted(attempts, "failure", "failures")) } else { String::new() };
    format!("Failed{times}: {}\nPasses again after {after}", line(&error.text, LONGEST_TEXT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Priority, Timestamp};

    fn event(kind: EventKind, text: &str, data: &str) -> Event {
        Event { kind, priority: Priority::P2, text: text.to_owned(), data: Some(data.to_owned()), whole: None }
    }

    #[test]
    fn a_failure_says_what_was_done_before_it_passed() {
        let error = event(EventKind::Error, "cargo test: 2 failed", "{}");
        let between = [
            event(EventKind::File, "edited", r#"{"path":"src/pool.rs","how":"edited"}"#),
            event(EventKind::Tool, "ran cargo fmt", "{}"),
            event(EventKind::Tool, "ran cat log", "{}"),
        ];
        let facts =
            between.iter().map(|event| Fact { number: 1, event, at: Timestamp(0), reference: None, entry: None });
        let facts: Vec<Fact<'_>> = facts.collect();
        let expected =
            "Failed (2 failures): cargo test: 2 failed\nPasses again after a change of src/pool.rs, and cargo fmt";
        assert_eq!(fix(&error, 2, &facts), expected);
        let expected = "Failed: cargo test: 2 failed\nPasses again after no change that was recorded";
        assert_eq!(fix(&error, 1, &[]), expected);
    }
}
