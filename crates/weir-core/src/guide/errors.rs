//! Failures, and whether they still stand. A failure is over after a fix of the same subject, and once the tool
//! succeeds. If the same command was run again, its last report is out of date, whatever came of the new run.

use std::collections::{HashMap, HashSet};

use super::Fact;
use super::data::{changed_file, is_commit, read, text};
use super::{fixes::subject, requests};
use crate::{Event, EventKind, Priority};

/// Something that failed and was not repaired.
#[derive(Debug)]
pub(super) struct Failure<'a> {
    pub(super) event: &'a Event,
    /// How often it happened, with the same cause.
    pub(super) times: usize,
    /// Its position in the facts.
    pub(super) at: usize,
    /// Whether the same command was run again since, perhaps with other options, and did not report a failure.
    pub(super) was_run_again: bool,
    /// Whether a file was changed since.
    pub(super) was_edited_since: bool,
}

impl Failure<'_> {
    /// Returns whether the failure blocks the work. A file that could not be read or found does not.
    fn is_blocking(&self) -> bool {
        self.event.priority < Priority::P3
    }
}

/// Returns the failures at which the work stands, newest first: those during the last two requests that nothing has
/// come after, neither another run of the command nor something that was finished.
pub(super) fn standing<'a>(facts: &[Fact<'a>]) -> Vec<Failure<'a>> {
    let from = last_finished(facts).max(requests::beginning_of_last_two(facts));
    let mut failures = unresolved(facts);
    failures.retain(|failure| failure.is_blocking() && !failure.was_run_again && failure.at >= from);
    failures
}

/// Returns the errors without a later fix, newest first, one for each subject.
pub(super) fn unresolved<'a>(facts: &[Fact<'a>]) -> Vec<Failure<'a>> {
    let mut later = LaterEvents::default();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut open: Vec<Failure<'a>> = Vec::new();
    for (at, fact) in facts.iter().enumerate().rev() {
        let event = fact.event;
        if event.kind != EventKind::Error {
            later.add(event);
            continue;
        }
        let subject = subject(event);
        if later.has_repaired(event, &subject) {
            continue;
        }
        match seen.get(&subject) {
            Some(&known) => open[known].times += usize::from(open[known].event.text == event.text),
            None => {
                let was_run_again = later.has_run(&subject);
                seen.insert(subject, open.len());
                open.push(Failure { event, times: 1, at, was_run_again, was_edited_since: later.has_edited });
            }
        }
    }
    open
}

/// What happened after a failure.
#[derive(Default)]
struct LaterEvents<'a> {
    fixed: HashSet<String>,
    done: HashSet<&'a str>,
    /// The commands that ran, by their words without options.
    ran: HashSet<Vec<String>>,
    /// Whether a file was changed.
    has_edited: bool,
}

impl<'a> LaterEvents<'a> {
    fn add(&mut self, event: &'a Event) {
        match event.kind {
            EventKind::Fix => {
                self.fixed.insert(subject(event));
            }
            EventKind::File | EventKind::Tool => {
                self.has_edited |= changed_file(event).is_some();
                self.done.insert(&event.text);
                let ran = event.text.strip_prefix("ran ").unwrap_or_default();
                self.ran.extend(ran.split(" && ").map(plain_words).filter(|words| !words.is_empty()));
            }
            EventKind::Git => {
                self.ran.insert(event.text.split([' ', ':']).take(2).map(str::to_owned).collect());
            }
            _ => {}
        }
    }

    /// Returns whether a failure was repaired: there is a fix, or a tool other than a shell was used again, or the file
    /// was changed after all.
    fn has_repaired(&self, error: &Event, subject: &str) -> bool {
        let file = read(error.data.as_deref()).and_then(|data| text(&data, "file"));
        let changed = file.into_iter().flat_map(|file| [format!("edited {file}"), format!("wrote {file}")]);
        let mut signs = [subject.to_owned(), format!("tool {subject}")].into_iter().chain(changed);
        self.fixed.contains(subject) || signs.any(|sign| self.done.contains(sign.as_str()))
    }

    /// Returns whether the last command of a subject was run again, with other options or for more than before:
    /// `cargo test` after `cargo test login`, but not `make` after `make lint`.
    fn has_run(&self, subject: &str) -> bool {
        let failed = plain_words(subject.rsplit(" && ").next().unwrap_or(subject));
        let is_wider = |ran: &Vec<String>| ran.len() > 1 && ran.iter().all(|word| failed.contains(word));
        self.ran.contains(&failed) || self.ran.iter().any(is_wider)
    }
}

/// Returns the words of a command that are not options.
fn plain_words(command: &str) -> Vec<String> {
    command.split_whitespace().filter(|word| !word.starts_with('-')).map(str::to_owned).collect()
}

/// Returns the position of the last event that finished something: a commit, or a task that was done.
fn last_finished(facts: &[Fact<'_>]) -> usize {
    let is_done = |task: &serde_json::Value| task["state"] == "done";
    let finishes = |event: &Event| match event.kind {
        EventKind::Git => is_commit(event),
        EventKind::Task => read(event.data.as_deref()).is_some_and(|data| is_done(&data["task"])),
        _ => false,
    };
    facts.iter().rposition(|fact| finishes(fact.event)).unwrap_or(0)
}
