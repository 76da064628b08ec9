//! The reflection on a session or a piece of work: what was asked for, done and decided, what failed and what is open.
//! It is meant for a person, for a pull request, or for the session that takes over.
//!
//! The same facts give the same text. A line about an event ends with its number in the history.

use std::collections::HashMap;

use super::errors::{self, Failure};
use super::fill::fill;
use super::sections::{self, GuideSection, SectionItem, Speaker};
use super::{Fact, Wanted, data, questions, requests, tasks};
use crate::event::line;
use crate::{EventKind, Origin, Priority, Reference};

/// Maximum pause that still counts as work, in milliseconds.
const MAX_PAUSE_MILLIS: i64 = 30 * 60 * 1000;
const MAX_FILES: usize = 12;

/// The format of a reflection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Plain text, with a line above each section.
    Text,
    Markdown,
}

/// A duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The time without pauses, in milliseconds.
    pub millis: i64,
    /// Number of pauses of more than half an hour that were left out.
    pub pauses: usize,
}

/// Returns how long these facts took, without pauses.
pub fn span(facts: &[Fact<'_>]) -> Span {
    let steps = facts.windows(2).map(|pair| pair[1].at.0.saturating_sub(pair[0].at.0).max(0));
    steps.fold(Span { millis: 0, pauses: 0 }, |span, step| match step {
        0..=MAX_PAUSE_MILLIS => Span { millis: span.millis + step, ..span },
        _ => Span { pauses: span.pauses + 1, ..span },
    })
}

/// Writes the reflection. `facts` are in order, oldest first.
pub fn reflect(facts: &[Fact<'_>], wanted: &Wanted<'_>, form: Form) -> String {
    let facts = &data::credible(facts);
    let section = |name: &str, called, items| GuideSection {
        heading: match form {
            Form::Text => format!("{name}:"),
            Form::Markdown => format!("## {name}"),
        },
        called,
        rank: 0,
        items,
    };
    let mut sections = vec![
        section("Asked for", ("request", "requests"), asked(facts)),
        section("Done", ("line", "lines"), done(facts)),
        section("Decided", ("statement", "statements"), sections::decided(facts)),
        section("Failed", ("failure", "failures"), failed(facts)),
        section("Open", ("line", "lines"), open(facts)),
    ];
    for item in sections.iter_mut().flat_map(|section| &mut section.items) {
        if let Some(fact) = facts.get(item.at) {
            item.note.push_str(&format!(" (#{})", fact.number));
        }
    }
    let written = fill(vec![wanted.head.to_owned()], &sections, wanted);
    match form {
        Form::Text => written,
        // Some renderers need a blank line before a heading, which costs a token.
        Form::Markdown => {
            let spaced = written.replace("\n## ", "\n\n## ");
            if (wanted.count)(&spaced) <= wanted.budget { spaced } else { written }
        }
    }
}

/// What came of a session or a piece of work, by sort.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// What was committed, which tasks were done and which files were changed.
    pub done: Vec<Outcome>,
    /// What was laid down and decided, newest first.
    pub decided: Vec<Outcome>,
    /// What failed, and whether it was repaired.
    pub failed: Vec<Outcome>,
    /// What is left to do.
    pub open: Vec<Outcome>,
}

/// One thing that came of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The thing in one line.
    pub text: String,
    /// Whose words these are.
    pub origin: Origin,
    /// The entry that says more.
    pub reference: Option<Reference>,
}

/// Returns what came of these facts, as [`reflect`] tells it, one by one. `facts` are in order, oldest first.
pub fn outcomes(facts: &[Fact<'_>]) -> Outcomes {
    let facts = &data::credible(facts);
    let outcome = |item: SectionItem<'_>| Outcome {
        text: format!("{}{}{}", item.label, line(&item.text, item.longest), item.note),
        origin: match item.speaker {
            Speaker::User => Origin::User,
            Speaker::Model => Origin::Model,
            Speaker::Plain => Origin::Tool,
        },
        reference: facts.get(item.at).and_then(|fact| fact.reference),
    };
    let all = |items: Vec<SectionItem<'_>>| items.into_iter().map(outcome).collect();
    Outcomes {
        done: all(done(facts)),
        decided: all(sections::decided(facts)),
        failed: all(failed(facts)),
        open: all(open(facts)),
    }
}

fn asked<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let is_request = |fact: &Fact<'_>| fact.event.kind == EventKind::Prompt && !requests::says_little(&fact.event.text);
    let asked = facts.iter().enumerate().filter(|(_, fact)| is_request(fact));
    asked.map(|(at, fact)| sections::item(at, fact, Speaker::User)).collect()
}

/// Returns what was committed, which tasks were done and which files were changed.
fn done<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let commits = sections::of_kinds(facts, &[EventKind::Git]).filter(|(_, fact)| data::is_commit(fact.event));
    let mut items: Vec<SectionItem<'a>> = commits.map(|(at, fact)| sections::item(at, fact, Speaker::Plain)).collect();
    let tasks = tasks::gather(facts).into_iter().filter(|task| !task.is_open());
    items.extend(
        tasks.map(|task| sections::plain(format!("task {}: {}", task.state, task.text), Priority::P1, usize::MAX)),
    );
    items.extend(changed(facts));
    items
}

/// Returns the changed files of the project, those with the most changes first.
fn changed<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let mut files: HashMap<String, (usize, usize)> = HashMap::new();
    for (at, fact) in facts.iter().enumerate().filter(|(_, fact)| fact.event.kind == EventKind::File) {
        if let Some(path) = data::changed_file(fact.event) {
            let file = files.entry(path).or_insert((0, at));
            *file = (file.0 + 1, at);
        }
    }
    let mut files: Vec<(String, (usize, usize))> = files.into_iter().collect();
    files.sort_by(|(path, (times, _)), (other, (of_other, _))| of_other.cmp(times).then_with(|| path.cmp(other)));
    let more = files.len().saturating_sub(MAX_FILES);
    files.truncate(MAX_FILES);
    let file = |(path, (times, at))| {
        let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
        sections::plain(format!("changed {path}{times}"), Priority::P2, at)
    };
    let mut items: Vec<SectionItem<'a>> = files.into_iter().map(file).collect();
    if let Some(last) = items.last_mut().filter(|_| more > 0) {
        last.note = format!(" and {more} more files");
    }
    items
}

/// Returns what failed, with whether it was repaired.
fn failed<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let open = errors::unresolved(facts).into_iter().map(|Failure { event, times, at, was_run_again, .. }| {
        let times = if times > 1 { format!(", {times} times") } else { String::new() };
        let state = if was_run_again { "run again since" } else { "not fixed" };
        let note = format!(" (tool{times}; {state})");
        SectionItem { note, ..sections::plain(event.text.clone(), event.priority, at) }
    });
    let fixed = sections::of_kinds(facts, &[EventKind::Fix]);
    let mut items: Vec<SectionItem<'a>> =
        open.chain(fixed.map(|(at, fact)| sections::item(at, fact, Speaker::Plain))).collect();
    // A file that could not be read or found matters less than other failures.
    items.sort_by_key(|item| item.priority);
    items
}

/// Returns what is left to do: open tasks and unanswered questions. What the model said last is a report of what it
/// did, unless it asks something.
fn open<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let tasks = tasks::gather(facts).into_iter().filter(tasks::Task::is_open);
    let mut items: Vec<SectionItem<'a>> =
        tasks.map(|task| sections::plain(format!("task: {}", task.text), Priority::P1, usize::MAX)).collect();
    items.extend(questions::open(facts).into_iter().map(sections::asked));
    items
}
