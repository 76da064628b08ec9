//! Errors that were not repaired. An error is open until a fix of the same subject, or until the tool succeeds.

use std::collections::{HashMap, HashSet};

use super::Fact;
use super::data::{read, text};
use crate::{Event, EventKind, Priority};

/// Something that failed and was not repaired.
#[derive(Debug)]
pub(super) struct Failure<'a> {
    pub(super) event: &'a Event,
    /// How often it happened.
    pub(super) times: usize,
    /// Its position in the facts.
    pub(super) at: usize,
}

impl Failure<'_> {
    /// Returns whether the failure blocks the work. A file that could not be read or found does not.
    pub(super) fn is_blocking(&self) -> bool {
        self.event.priority < Priority::P3
    }
}

/// Returns the errors without a later fix, newest first, one for each subject.
pub(super) fn unresolved<'a>(facts: &[Fact<'a>]) -> Vec<Failure<'a>> {
    let mut fixed = HashSet::new();
    // What was done since, in the words of its events.
    let mut done: HashSet<&str> = HashSet::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut open: Vec<Failure<'a>> = Vec::new();
    for (at, fact) in facts.iter().enumerate().rev() {
        let event = fact.event;
        match event.kind {
            EventKind::Fix => {
                fixed.insert(subject(event));
            }
            EventKind::File | EventKind::Tool => {
                done.insert(&event.text);
            }
            EventKind::Error => {
                let subject = subject(event);
                if fixed.contains(&subject) || later_success(event, &subject).any(|words| done.contains(words.as_str()))
                {
                    continue;
                }
                match seen.get(&subject) {
                    Some(&known) => open[known].times += 1,
                    None => {
                        seen.insert(subject, open.len());
                        open.push(Failure { event, times: 1, at });
                    }
                }
            }
            _ => {}
        }
    }
    open
}

/// Returns the words of events that show that a tool other than a shell has succeeded later: it was used again, or the
/// file was changed after all.
fn later_success(error: &Event, subject: &str) -> impl Iterator<Item = String> {
    let file = read(error.data.as_deref()).and_then(|data| text(&data, "file"));
    let changed = file.into_iter().flat_map(|file| [format!("edited {file}"), format!("wrote {file}")]);
    [subject.to_owned(), format!("tool {subject}")].into_iter().chain(changed)
}

/// Returns the subject of an event, or its text if the data names none.
fn subject(event: &Event) -> String {
    let told = read(event.data.as_deref()).and_then(|data| text(&data, "subject"));
    told.unwrap_or_else(|| event.text.clone())
}
