//! The request that began the work, and the last one.

use super::data::{is_of_subagent, read, text};
use super::sections::is_cut;
use super::{Fact, Wanted};
use crate::EventKind;
use crate::event::line;

/// Maximum share of the budget for the request that began the work, in hundredths.
const FIRST_SHARE_PERCENT: usize = 6;
/// Maximum share of the budget for the last request, in hundredths.
const LAST_SHARE_PERCENT: usize = 15;
/// Maximum share of the budget for the line with the plan file, in hundredths.
const PLAN_SHARE_PERCENT: usize = 6;
/// Minimum for each of the two requests however small the budget is, in tokens.
const MIN_REQUEST_TOKENS: usize = 40;

/// The words before a plan that the client hands over to a new conversation, and brings back by itself.
const PLAN: &str = "Implement the following plan:";
const MAX_PLAN_BYTES: usize = 160;

/// Words that say nothing without the request before them: "ok, go on".
const SAY_LITTLE: &[&str] = &[
    "ok", "okay", "yes", "y", "yep", "yeah", "sure", "go", "on", "ahead", "continue", "proceed", "please", "do", "it",
    "that", "this", "so", "next", "now", "then", "good", "great", "nice", "perfect", "fine", "thanks", "thank", "you",
    "keep", "going", "lgtm", "hi", "hello", "hey", "again", "retry", "resume",
];

/// Returns the requests of the user, newest first.
pub(super) fn newest_first<'f, 'a>(facts: &'f [Fact<'a>]) -> impl DoubleEndedIterator<Item = &'f Fact<'a>> {
    facts.iter().rev().filter(|fact| fact.event.kind == EventKind::Prompt && !fact.event.text.trim().is_empty())
}

/// Returns the position of the request before the last one; 0 if there is none.
pub(super) fn beginning_of_last_two(facts: &[Fact<'_>]) -> usize {
    let mut requests = facts.iter().enumerate().rev().filter(|(_, fact)| fact.event.kind == EventKind::Prompt);
    requests.nth(1).map_or(0, |(at, _)| at)
}

/// The requests at the beginning of a guide.
#[derive(Clone, Copy)]
pub(super) struct OpeningRequests<'f, 'a> {
    /// The request that began the work, unless it is one of the others.
    first: Option<&'f Fact<'a>>,
    /// The request before the last, if the last one says little by itself.
    before: Option<&'f Fact<'a>>,
    last: &'f Fact<'a>,
}

impl<'f, 'a> OpeningRequests<'f, 'a> {
    /// Picks the requests. Returns `None` if there are none.
    pub(super) fn pick(facts: &'f [Fact<'a>]) -> Option<Self> {
        let mut newest = newest_first(facts);
        let last = newest.next()?;
        let before = newest.find(|fact| !says_little(&fact.event.text)).filter(|_| says_little(&last.event.text));
        let first = newest_first(facts).rev().find(|fact| !says_little(&fact.event.text));
        let none = Self { first: None, before, last };
        Some(Self { first: first.filter(|first| !none.has(&first.event.text)), ..none })
    }

    pub(super) fn has(&self, text: &str) -> bool {
        [self.first, self.before, Some(self.last)].iter().flatten().any(|told| told.event.text == text)
    }
}

/// Writes the lines with the requests, each within its share of the budget, and between them the one with the plan file
/// if neither they nor the summary name it. The last request comes last.
pub(super) fn write(facts: &[Fact<'_>], wanted: &Wanted<'_>) -> Vec<String> {
    let Some(OpeningRequests { first, before, last }) = OpeningRequests::pick(facts) else { return Vec::new() };
    let plan = plan_file(facts);
    let quoted = |fact: &Fact<'_>, most| quoted(fact, plan.as_deref(), most);
    let goal = first.map(|first| {
        let write = |most| format!("The work began with (user): {}", quoted(first, most));
        within(wanted, FIRST_SHARE_PERCENT, first.event.text.len(), write)
    });
    let age = age(wanted.now.0.saturating_sub(last.at.0));
    let all = last.event.text.len() + before.map_or(0, |before| before.event.text.len());
    let request = within(wanted, LAST_SHARE_PERCENT, all, |most| {
        let text = quoted(last, most);
        match before {
            Some(before) => {
                let before = quoted(before, most.saturating_sub(last.event.text.len()));
                format!("Last request (user{age}): {text}, after: {before}")
            }
            None => format!("Last request (user{age}): {text}"),
        }
    });
    let is_told = |path: &String| goal.iter().chain([&request]).any(|line| line.contains(path.as_str()));
    let is_known = |path: &String| is_told(path) || wanted.summary.contains(path.as_str());
    let plan = plan.as_ref().filter(|path| !is_known(path)).map(|path| format!("Plan file: {path}"));
    let plan = plan.filter(|line| (wanted.count)(line) <= wanted.budget * PLAN_SHARE_PERCENT / 100);
    goal.iter().cloned().chain(plan).chain([request]).filter(|line| !line.is_empty()).collect()
}

/// Quotes a request with at most `most` bytes of its words, and says where the rest is. Of a plan, only the title is
/// quoted, and its file is named.
fn quoted(fact: &Fact<'_>, plan_file: Option<&str>, most: usize) -> String {
    let text = &fact.event.text;
    let (words, rest) = match text.starts_with(PLAN) {
        true => {
            let end = text.find(" ## ").unwrap_or(text.len()).min(text.floor_char_boundary(MAX_PLAN_BYTES));
            (&text[..end], plan_file.map(|path| format!(" (the plan is in {path})")))
        }
        false => (text.as_str(), None),
    };
    let words = line(words, most);
    let reference = fact.reference.filter(|_| is_cut(&words) || text.starts_with(PLAN));
    let rest = rest.or_else(|| reference.map(|reference| format!(" (in full: {reference})"))).unwrap_or_default();
    format!("\"{words}\"{rest}")
}

/// Returns the plan file that was read or changed last, except by subagents, unless it was deleted.
fn plan_file(facts: &[Fact<'_>]) -> Option<String> {
    let plan = |fact: &Fact<'_>| {
        let data = read(fact.event.data.as_deref())?;
        let path = text(&data, "path")?;
        (path.contains("/plans/") && path.ends_with(".md")).then(|| (path, data["how"] == "deleted"))
    };
    let of_session = |fact: &&Fact<'_>| fact.event.kind == EventKind::File && !is_of_subagent(fact.event);
    let newest = facts.iter().rev().filter(of_session).find_map(plan);
    newest.filter(|(_, is_deleted)| !is_deleted).map(|(path, _)| path)
}

/// Returns a line with as many bytes of a text of this length as its share of the budget allows. Empty if too few bytes
/// would fit.
fn within(wanted: &Wanted<'_>, percent: usize, length: usize, written: impl Fn(usize) -> String) -> String {
    let share = (wanted.budget.saturating_mul(percent) / 100).max(wanted.budget.min(MIN_REQUEST_TOKENS));
    // Text that people write has at least one token in eight bytes; the bound allows twice that.
    let (mut fits, mut above) = (0, length.min(share.saturating_mul(16)) + 1);
    while fits + 1 < above {
        let middle = fits.midpoint(above);
        match (wanted.count)(&written(middle)) <= share {
            true => fits = middle,
            false => above = middle,
        }
    }
    if fits < length.min(12) { String::new() } else { written(fits) }
}

/// Returns whether a request says nothing by itself: "ok, go on", or a number.
pub fn says_little(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty());
    let says_nothing = |word: &str| {
        SAY_LITTLE.contains(&word.to_ascii_lowercase().as_str()) || !word.contains(|c: char| c.is_alphabetic())
    };
    text.len() < 60 && words.all(says_nothing)
}

/// Returns how long ago something was, in words; empty if it was just now.
fn age(millis: i64) -> String {
    let minutes = millis / 60_000;
    match minutes {
        ..2 => String::new(),
        2..120 => format!(", {minutes} minutes ago"),
        120..2_880 => format!(", {} hours ago", minutes / 60),
        _ => format!(", {} days ago", minutes / 1_440),
    }
}
