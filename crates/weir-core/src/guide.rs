//! The guide: what restores a session after its client has compacted it.
//!
//! Made of the session's facts alone, in a fixed order: the request that began the work, the last one, what the user
//! laid down, where the work stood, and the names at hand. Each section gets its most important line before any gets a
//! second one, and a cut is said. What the client's own summary says already is left out.
//!
//! Invariants: never above the budget, whatever the history; the same facts give the same text; every text of others
//! stands within one line of ours that says whose words it is; nothing here asks anybody to do anything.

mod data;
mod errors;
mod fill;
mod names;
mod questions;
mod reflection;
mod requests;
mod sections;
mod tasks;

pub use reflection::{Form, Span, reflect, span};
pub use requests::says_little;
use sections::Whose;

use crate::event::{LONGEST_TEXT, line};
use crate::{EntryKind, Event, Reference, Timestamp};

/// Something that happened in the session.
#[derive(Debug, Clone, Copy)]
pub struct Fact<'a> {
    /// The number by which history knows it.
    pub number: i64,
    /// What.
    pub event: &'a Event,
    /// When.
    pub at: Timestamp,
    /// The entry it speaks of.
    pub reference: Option<Reference>,
    /// What that entry is, and its title.
    pub entry: Option<(EntryKind, &'a str)>,
}

/// What is wanted of a guide.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// How many tokens it may have.
    pub budget: usize,
    /// Counts the tokens of a text.
    pub count: fn(&str) -> usize,
    /// The time at which it is read.
    pub now: Timestamp,
    /// The line above all others; none when empty.
    pub head: &'a str,
    /// What the model has been given in place of the conversation; empty when that is not known.
    pub summary: &'a str,
}

/// The share of the budget that is kept for names, in hundredths.
const NAMES_SHARE: usize = 60;
/// With a smaller budget, names get what the rest leaves.
const NAMES_FROM: usize = 150;

/// Writes the guide. `facts` are in their order, oldest first. Empty when there is nothing to say.
pub fn write(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let requests = requests::write(facts, wanted);
    let mut sections = sections::gather(facts);
    // What the requests and the summary say is not said twice.
    for section in &mut sections {
        section.items.retain(|item| {
            let is_said = |said: &str| item.whose == Whose::User && said.contains(item.text.as_ref());
            !is_said(wanted.summary) && !requests.iter().any(|request| is_said(request))
        });
    }
    let names = names::gather(facts, wanted.summary);
    let named = |budget| names::write(&names, budget, wanted.count);

    let share = if wanted.budget < NAMES_FROM { 0 } else { wanted.budget.saturating_mul(NAMES_SHARE) / 100 };
    let reserved = (wanted.count)(&named(share));
    if requests.is_empty() && names.is_empty() && sections.iter().all(|section| section.items.is_empty()) {
        return String::new();
    }
    let mut opening = vec![line(wanted.head, LONGEST_TEXT)];
    opening.extend(requests);
    let told = fill::fill(opening, &sections, &Wanted { budget: wanted.budget - reserved, ..*wanted });
    let left = wanted.budget.saturating_sub((wanted.count)(&told) + 1);
    let whole = format!("{told}\n{}", named(left)).trim().to_owned();
    // Tokens may reach over the end of a line.
    if (wanted.count)(&whole) <= wanted.budget { whole } else { told }
}

/// Whether work is known to be unfinished: tasks that are open, or errors without a fix.
pub fn is_unfinished(facts: &[Fact<'_>]) -> bool {
    tasks::gather(facts).iter().any(tasks::Task::is_open) || !errors::unresolved(facts).is_empty()
}

#[cfg(test)]
mod tests;
