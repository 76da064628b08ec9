//! Errors and their fixes: an error is open until a fix of the same subject.

use std::collections::{HashMap, HashSet};

use super::Fact;
use super::data::{read, text};
use crate::{Event, EventKind};

/// The errors of a session, newest first.
#[derive(Debug, Default)]
pub(super) struct Errors<'a> {
    pub(super) unresolved: Vec<Failure<'a>>,
    pub(super) fixed: Vec<Failure<'a>>,
}

/// An error, or its fix.
#[derive(Debug)]
pub(super) struct Failure<'a> {
    pub(super) event: &'a Event,
    /// How often it happened.
    pub(super) times: usize,
    /// Where in the facts.
    pub(super) at: usize,
}

/// The errors without a later fix, newest first: what looks for a fix asks for these.
pub fn unresolved<'a>(facts: &[Fact<'a>]) -> Vec<&'a Event> {
    let mut fixed = HashSet::new();
    let mut open = Vec::new();
    for fact in facts.iter().rev() {
        match fact.event.kind {
            EventKind::Fix => drop(fixed.insert(subject(fact.event))),
            EventKind::Error if !fixed.contains(&subject(fact.event)) => open.push(fact.event),
            _ => {}
        }
    }
    open
}

/// What failed and what was repaired, each subject once.
pub(super) fn gather<'a>(facts: &[Fact<'a>]) -> Errors<'a> {
    let mut fixed = HashSet::new();
    let mut open: HashMap<String, usize> = HashMap::new();
    let mut errors = Errors::default();
    for (at, fact) in facts.iter().enumerate().rev() {
        let event = fact.event;
        let failure = Failure { event, times: 1, at };
        match event.kind {
            EventKind::Fix if fixed.insert(subject(event)) => errors.fixed.push(failure),
            EventKind::Error => {
                let subject = subject(event);
                if fixed.contains(&subject) {
                    continue;
                }
                match open.get(&subject) {
                    Some(&seen) => errors.unresolved[seen].times += 1,
                    None => {
                        open.insert(subject, errors.unresolved.len());
                        errors.unresolved.push(failure);
                    }
                }
            }
            _ => {}
        }
    }
    errors
}

/// What it was about; the text itself when that is not told.
fn subject(event: &Event) -> String {
    let told = read(event.data.as_deref()).and_then(|data| text(&data, "subject"));
    told.unwrap_or_else(|| event.text.clone())
}
