//! The guide: the text that restores a session after its client has compacted it.
//!
//! It is made only from the facts of the session, in a fixed order: the request that began the work, the last request,
//! what the user laid down, the state of the work, and the names at hand. Each section gets its most important line
//! before any gets a second one, and a cut is indicated. What the client's own summary already says is left out.
//!
//! Invariants: the guide never exceeds the budget, whatever the history, and always begins with its first line; the same
//! facts give the same text; foreign text is always within one of our lines, which says whose words they are; no sentence
//! is repeated; nothing in the guide asks anyone to do anything.

mod data;
mod errors;
mod fill;
mod last_session;
mod names;
mod questions;
mod reflection;
mod repeats;
mod requests;
mod sections;
mod tasks;

pub use last_session::last_session;
pub use reflection::{Form, Outcome, Outcomes, Span, outcomes, reflect, span};
pub use requests::says_little;

use crate::event::{LONGEST_TEXT, line};
use crate::{EntryKind, Event, Reference, Timestamp};

/// Something that happened in the session.
#[derive(Debug, Clone, Copy)]
pub struct Fact<'a> {
    /// The number of the event in the history.
    pub number: i64,
    pub event: &'a Event,
    pub at: Timestamp,
    /// The entry that the event refers to.
    pub reference: Option<Reference>,
    pub entry: Option<(EntryKind, &'a str)>,
}

/// The parameters of a guide.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub budget: usize,
    /// Counts the tokens of a text.
    pub count: fn(&str) -> usize,
    /// The time at which the guide is read.
    pub now: Timestamp,
    /// The first line.
    pub head: &'a str,
    /// The client's summary that the model was given in place of the conversation; empty if unknown.
    pub summary: &'a str,
}

/// Share of the budget reserved for names, in hundredths.
const NAMES_SHARE_PERCENT: usize = 60;
/// Maximum share of the budget for names that belong to no file, in hundredths.
const ELSEWHERE_SHARE_PERCENT: usize = 45;
/// Minimum budget for reserving that share. With a smaller budget, names get what the rest leaves.
const MIN_NAMES_BUDGET_TOKENS: usize = 150;

/// Writes the guide. `facts` are in order, oldest first. Empty if there is nothing to say, or no room for it.
pub fn write(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let head = line(wanted.head, LONGEST_TEXT);
    let names = names::gather(facts, wanted.summary);
    let elsewhere = wanted.budget.saturating_mul(ELSEWHERE_SHARE_PERCENT) / 100;
    let named = |budget| names::write(&names, budget, elsewhere, wanted.count);

    let facts = data::credible(facts);
    let room = wanted.budget.saturating_sub((wanted.count)(&head) + 1);
    let requests = requests::write(&facts, &Wanted { budget: room, ..*wanted });
    let mut sections = sections::gather(&facts);
    repeats::remove(&mut sections, &requests, wanted.summary);

    let opening: Vec<String> = std::iter::once(head.clone()).chain(requests).collect();
    let share = if wanted.budget < MIN_NAMES_BUDGET_TOKENS {
        0
    } else {
        let left = wanted.budget.saturating_sub((wanted.count)(&opening.join("\n")));
        left.min(wanted.budget.saturating_mul(NAMES_SHARE_PERCENT) / 100)
    };
    let reserved = (wanted.count)(&named(share));
    let told = fill::fill(opening, &sections, &Wanted { budget: wanted.budget - reserved, ..*wanted });
    if told.is_empty() {
        return told;
    }
    let left = wanted.budget.saturating_sub((wanted.count)(&told) + 1);
    let whole = format!("{told}\n{}", named(left)).trim().to_owned();
    // Tokens may span the end of a line.
    let written = if (wanted.count)(&whole) <= wanted.budget { whole } else { told };
    if written == head { String::new() } else { written }
}

#[cfg(test)]
mod tests;
