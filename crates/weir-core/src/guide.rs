//! The guide: the text that restores a session after its client has compacted it.
//!
//! It is made only from the facts of the session, in a fixed order: the request that began the work, the last request,
//! what the user laid down, the state of the work, and the names at hand. Each section gets its most important line
//! before any gets a second one, and a cut is indicated. What the client's own summary already says is left out.
//!
//! Invariants: the guide never exceeds the budget, whatever the history, and always begins with its first line; the
//! same facts give the same text; foreign text is always within one of our lines, which says whose words they are; no
//! sentence is repeated; nothing in the guide asks anyone to do anything.

mod commands;
mod data;
mod errors;
mod fill;
mod fixes;
mod last_session;
mod names;
mod questions;
mod reflection;
mod repeats;
mod requests;
mod sections;
mod tasks;
mod turn;

pub use fixes::{fix, may_repair, subject};
pub use last_session::last_session;
pub use names::SEEN;
pub use reflection::{Form, Outcome, Outcomes, Span, outcomes, reflect, span};
pub use requests::says_little;
pub use turn::{has_ended, turn};

use sections::GuideSection;

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

/// Maximum share of the budget that is reserved for names, in hundredths.
const NAMES_SHARE_PERCENT: usize = 85;
/// Maximum share for names of what the requests and the commands leave, in hundredths. The sections get the rest.
const NAMES_SHARE_OF_REST_PERCENT: usize = 90;
/// How many sections, from the first, keep room from names: what was decided, where the work stood, and notes.
const STATING_SECTIONS: usize = 3;
/// Maximum share of the budget that these keep, in hundredths.
const STATEMENTS_SHARE_PERCENT: usize = 25;
/// Maximum share of the budget for commands, in hundredths.
const COMMANDS_SHARE_PERCENT: usize = 14;
/// Minimum budget for reserving these shares. With a smaller budget, names get what the rest leaves.
const MIN_RESERVING_BUDGET_TOKENS: usize = 150;

/// Writes the guide. `facts` are in order, oldest first. Empty if there is nothing to say, or no room for it.
pub fn write(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let head = line(wanted.head, LONGEST_TEXT);
    let percent = |share| wanted.budget.saturating_mul(share) / 100;
    let names = names::gather(facts, wanted.summary);
    let named = |told: &str, budget| names::write(&names, told, budget, wanted.count);

    let facts = data::credible(facts);
    let room = wanted.budget.saturating_sub((wanted.count)(&head) + 1);
    let requests = requests::write(&facts, &Wanted { budget: room, ..*wanted });
    let mut sections = sections::gather(&facts);
    repeats::remove(&mut sections, &requests, wanted.summary);

    let opening: Vec<String> = std::iter::once(head.clone()).chain(requests).collect();
    let (commands, share) = if wanted.budget < MIN_RESERVING_BUDGET_TOKENS {
        (String::new(), 0)
    } else {
        let commands = commands::write(&facts, percent(COMMANDS_SHARE_PERCENT), wanted.count);
        let left = wanted.budget.saturating_sub((wanted.count)(&opening.join("\n")) + (wanted.count)(&commands));
        let most = percent(NAMES_SHARE_PERCENT).min(left.saturating_mul(NAMES_SHARE_OF_REST_PERCENT) / 100);
        (commands, most.min(left.saturating_sub(stated(&head, &sections, wanted))))
    };
    let reserved = (wanted.count)(&commands) + (wanted.count)(&named(&commands, share));
    let told = fill::fill(opening, &sections, &Wanted { budget: wanted.budget.saturating_sub(reserved), ..*wanted });
    if told.is_empty() {
        return told;
    }
    let with_commands = format!("{told}\n{commands}").trim().to_owned();
    let left = wanted.budget.saturating_sub((wanted.count)(&with_commands) + 1);
    let whole = format!("{with_commands}\n{}", named(&with_commands, left)).trim().to_owned();
    // Tokens may span the end of a line.
    let fits = |text: &String| (wanted.count)(text) <= wanted.budget;
    let written = [whole, with_commands].into_iter().find(fits).unwrap_or(told);
    if written == head { String::new() } else { written }
}

/// Returns how many tokens the stating sections keep from names.
fn stated(head: &str, sections: &[GuideSection<'_>], wanted: &Wanted<'_>) -> usize {
    let above = (wanted.count)(head);
    let share = wanted.budget.saturating_mul(STATEMENTS_SHARE_PERCENT) / 100;
    let stating = sections.get(..STATING_SECTIONS).unwrap_or(sections);
    let told = fill::fill(vec![head.to_owned()], stating, &Wanted { budget: above + share, ..*wanted });
    (wanted.count)(&told).saturating_sub(above)
}

#[cfg(test)]
mod tests;
