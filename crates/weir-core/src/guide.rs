//! The guide: the text that restores a session after its client has compacted it.
//!
//! It is made only from the facts of the session, in a fixed order: the request that began the work, the last request,
//! what the user laid down, the state of the work, and the names at hand. Each section gets its most important line
//! before any gets a second one, and a cut is indicated. What the client's own summary already says is left out.
//!
//! Invariants: the guide never exceeds the budget, whatever the history; the same facts give the same text; foreign
//! text is always within one of our lines, which says whose words they are; nothing in the guide asks anyone to do
//! anything.

mod data;
mod errors;
mod fill;
mod names;
mod questions;
mod reflection;
mod requests;
mod sections;
mod tasks;

pub use reflection::{Form, Outcome, Outcomes, Span, outcomes, reflect, span};
pub use requests::says_little;
use sections::Speaker;

use crate::event::{LONGEST_TEXT, line};
use crate::{EntryKind, Event, Reference, Timestamp};

/// Something that happened in the session.
#[derive(Debug, Clone, Copy)]
pub struct Fact<'a> {
    /// The number of the event in the history.
    pub number: i64,
    /// The event.
    pub event: &'a Event,
    /// When it happened.
    pub at: Timestamp,
    /// The entry that the event refers to.
    pub reference: Option<Reference>,
    /// The kind and title of that entry.
    pub entry: Option<(EntryKind, &'a str)>,
}

/// The parameters of a guide.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Maximum number of tokens.
    pub budget: usize,
    /// Counts the tokens of a text.
    pub count: fn(&str) -> usize,
    /// The time at which the guide is read.
    pub now: Timestamp,
    /// The first line; left out if empty.
    pub head: &'a str,
    /// The client's summary that the model was given in place of the conversation; empty if unknown.
    pub summary: &'a str,
}

/// Share of the budget reserved for names, in hundredths.
const NAMES_SHARE_PERCENT: usize = 60;
/// Minimum budget for reserving that share. With a smaller budget, names get what the rest leaves.
const MIN_NAMES_BUDGET_TOKENS: usize = 150;

/// Writes the guide. `facts` are in order, oldest first. Empty if there is nothing to say.
pub fn write(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let requests = requests::write(facts, wanted);
    let mut sections = sections::gather(facts);
    // Do not repeat what the requests and the summary say.
    for section in &mut sections {
        section.items.retain(|item| {
            let is_said = |said: &str| item.speaker == Speaker::User && said.contains(item.text.as_ref());
            !is_said(wanted.summary) && !requests.iter().any(|request| is_said(request))
        });
    }
    let names = names::gather(facts, wanted.summary);
    let named = |budget| names::write(&names, budget, wanted.count);

    let share = if wanted.budget < MIN_NAMES_BUDGET_TOKENS {
        0
    } else {
        wanted.budget.saturating_mul(NAMES_SHARE_PERCENT) / 100
    };
    let reserved = (wanted.count)(&named(share));
    if requests.is_empty() && names.is_empty() && sections.iter().all(|section| section.items.is_empty()) {
        return String::new();
    }
    let mut opening = vec![line(wanted.head, LONGEST_TEXT)];
    opening.extend(requests);
    let told = fill::fill(opening, &sections, &Wanted { budget: wanted.budget - reserved, ..*wanted });
    let left = wanted.budget.saturating_sub((wanted.count)(&told) + 1);
    let whole = format!("{told}\n{}", named(left)).trim().to_owned();
    // Tokens may span the end of a line.
    if (wanted.count)(&whole) <= wanted.budget { whole } else { told }
}

/// Whether work is known to be unfinished: open tasks, or errors without a fix that block the work.
pub fn is_unfinished(facts: &[Fact<'_>]) -> bool {
    tasks::gather(facts).iter().any(tasks::Task::is_open)
        || errors::unresolved(facts).iter().any(errors::Failure::is_blocking)
}

#[cfg(test)]
mod tests;
