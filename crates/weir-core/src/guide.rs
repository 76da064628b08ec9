//! The guide: what restores a session after its client has compacted it.
//!
//! Made of the session's facts alone. Sections stand in a fixed order, the user's last request first; each gets its
//! most important line before any gets a second one, and a cut is said.
//!
//! Invariants: never above the budget, whatever the history; the same facts give the same text; every text of others
//! stands within one line of ours that says whose words it is; nothing here asks anybody to do anything.

mod data;
mod errors;
mod fill;
mod questions;
mod sections;
mod tasks;

use sections::Whose;

use crate::event::{LONGEST_TEXT, line};
use crate::{Event, EventKind, Reference, Timestamp};

pub use errors::unresolved;

/// Something that happened in the session.
#[derive(Debug, Clone, Copy)]
pub struct Fact<'a> {
    /// What.
    pub event: &'a Event,
    /// When.
    pub at: Timestamp,
    /// The entry it speaks of.
    pub reference: Option<Reference>,
    /// The title of that entry.
    pub title: Option<&'a str>,
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
}

/// The share of the budget that the last request may take, in hundredths.
const REQUEST_SHARE: usize = 40;
/// What it gets however small the budget is, in tokens.
const REQUEST_LEAST: usize = 40;
/// A request shorter than this says little without the one before it: "continue", "yes, do that".
const SHORT_REQUEST: usize = 30;

/// Writes the guide. `facts` are in their order, oldest first. Empty when there is nothing to say.
pub fn write(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let request = request(facts, wanted);
    let mut sections = sections::gather(facts);
    // What the request says is not said twice.
    for section in &mut sections {
        section.items.retain(|item| item.whose != Whose::User || !request.contains(item.text.as_ref()));
    }
    if request.is_empty() && sections.iter().all(|section| section.items.is_empty()) {
        return String::new();
    }
    let opening = [line(wanted.head, LONGEST_TEXT), request];
    fill::fill(opening, &sections, wanted)
}

/// Unfinished work as one line, for a session that begins: open tasks and errors without a fix, with the last request.
/// None when nothing is known to be unfinished.
pub fn open_work(facts: &[Fact<'_>]) -> Option<String> {
    let tasks = tasks::gather(facts);
    let open: Vec<_> = tasks.iter().filter(|task| task.is_open()).collect();
    let errors = errors::gather(facts).unresolved;
    if open.is_empty() && errors.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    if let Some(first) = open.first() {
        let more = if open.len() > 1 { format!(" (+{} more)", open.len() - 1) } else { String::new() };
        parts.push(format!("open task: {}{more}", line(&first.text, 90)));
    }
    if let Some(error) = errors.first() {
        let more = if errors.len() > 1 { format!(" (+{} more)", errors.len() - 1) } else { String::new() };
        parts.push(format!("unresolved error (tool): {}{more}", line(&error.event.text, 100)));
    }
    if let Some(last) = prompts(facts).next() {
        parts.push(format!("last request (user): \"{}\"", line(&last.event.text, 110)));
    }
    Some(format!("Unfinished when the last session stopped: {}", parts.join("; ")))
}

/// The line with the last request, within its share of the budget.
fn request(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> String {
    let mut prompts = prompts(facts);
    let Some(last) = prompts.next() else { return String::new() };
    let age = age(wanted.now.0.saturating_sub(last.at.0));
    let before = prompts.next().filter(|_| last.event.text.len() < SHORT_REQUEST);
    let written = |most: usize| {
        let text = line(&last.event.text, most);
        match before {
            Some(before) => {
                let before = line(&before.event.text, most.saturating_sub(text.len()));
                format!("Last request (user{age}): \"{text}\", after: \"{before}\"")
            }
            None => format!("Last request (user{age}): \"{text}\""),
        }
    };
    let share = (wanted.budget.saturating_mul(REQUEST_SHARE) / 100).max(wanted.budget.min(REQUEST_LEAST));
    let all = last.event.text.len() + before.map_or(0, |before| before.event.text.len());
    // No text has fewer tokens than an eighth of its bytes in words that people write.
    let (mut fits, mut above) = (0, all.min(share.saturating_mul(16)) + 1);
    while fits + 1 < above {
        let middle = fits.midpoint(above);
        match (wanted.count)(&written(middle)) <= share {
            true => fits = middle,
            false => above = middle,
        }
    }
    // A few bytes of a request say nothing.
    if fits < all.min(12) { String::new() } else { written(fits) }
}

/// What the user asked for, newest first.
fn prompts<'f, 'a>(facts: &'f [Fact<'a>]) -> impl Iterator<Item = &'f Fact<'a>> {
    facts.iter().rev().filter(|fact| fact.event.kind == EventKind::Prompt && !fact.event.text.trim().is_empty())
}

/// How long ago something was, in words; nothing when it was just now.
fn age(millis: i64) -> String {
    let minutes = millis / 60_000;
    match minutes {
        ..2 => String::new(),
        2..120 => format!(", {minutes} minutes ago"),
        120..2_880 => format!(", {} hours ago", minutes / 60),
        _ => format!(", {} days ago", minutes / 1_440),
    }
}

#[cfg(test)]
mod tests;
