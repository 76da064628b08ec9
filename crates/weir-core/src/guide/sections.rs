//! The items of each section of a guide, the most important first. Nothing here depends on the budget.

use std::borrow::Cow;
use std::collections::HashSet;

use super::data::{is_commit, is_of_subagent, read, text};
use super::errors::{self, Failure};
use super::{Fact, questions, requests, tasks};
use crate::event::{LONGEST_TEXT, line};
use crate::{EntryKind, Event, EventKind, Priority, Reference};

#[derive(Debug)]
pub(super) struct GuideSection<'a> {
    /// The line above the items.
    pub(super) heading: String,
    /// The singular and plural of what the items are called when they are left out.
    pub(super) called: (&'static str, &'static str),
    /// Its place among the sections when the same sentence is in several of them: the first one keeps it.
    pub(super) rank: u8,
    /// The items, the most important first.
    pub(super) items: Vec<SectionItem<'a>>,
}

/// One line of a section.
#[derive(Debug)]
pub(super) struct SectionItem<'a> {
    /// Whose words they are.
    pub(super) speaker: Speaker,
    /// What we say before the words.
    pub(super) label: Cow<'static, str>,
    pub(super) text: Cow<'a, str>,
    /// Our addition.
    pub(super) note: String,
    pub(super) priority: Priority,
    /// The position in the facts, for sorting.
    pub(super) at: usize,
    /// Maximum length of the words, in bytes.
    pub(super) longest: usize,
    /// The entry that has all of the words, if they are cut.
    pub(super) rest: Option<Reference>,
}

/// Whose words an item contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user's, in quotation marks.
    User,
    Model,
    /// A name or a number that speaks for itself.
    Plain,
}

impl SectionItem<'_> {
    /// Returns the item as one line, with at most `most` bytes of its words.
    pub(super) fn line(&self, most: usize) -> String {
        let (label, text, note) = (&self.label, line(&self.text, most), &self.note);
        let rest = self.rest.filter(|_| is_cut(&text)).map(|rest| format!(" {rest}")).unwrap_or_default();
        match self.speaker {
            Speaker::User => format!("- user: {label}\"{text}\"{rest}{note}"),
            Speaker::Model => format!("- model: {label}{text}{rest}{note}"),
            Speaker::Plain => format!("- {label}{text}{rest}{note}"),
        }
    }
}

/// Returns whether a quotation ends before the text does, or leaves out what was pasted.
pub(super) fn is_cut(quoted: &str) -> bool {
    quoted.ends_with('…') || quoted.ends_with(" more bytes)") || quoted.contains("[pasted: ")
}

/// Returns all sections in order, including empty ones. The first three state what must not be lost.
pub(super) fn gather<'a>(facts: &[Fact<'a>]) -> Vec<GuideSection<'a>> {
    let section = |rank, heading: &str, called, items| section(heading, called, rank, items);
    vec![
        section(2, "Instructions and decisions:", ("statement", "statements"), decided(facts)),
        standing(facts),
        section(0, "Notes kept:", ("note", "notes"), entries(facts, Some(EntryKind::Note))),
        section(4, "Also said by the user:", ("request", "requests"), requested(facts)),
        section(3, "Plans and open questions:", ("plan or question", "plans and questions"), plans(facts)),
        section(5, "Git:", ("commit", "commits"), git(facts)),
        section(5, "Results of subagents:", ("result", "results"), subagents(facts)),
        section(5, "Environment and pasted data:", ("line", "lines"), surroundings(facts)),
        section(5, "Outputs held back:", ("output", "outputs"), entries(facts, None)),
    ]
}

/// What the user laid down and what was decided, including goals, blockers and what was given up.
const DECIDED: &[EventKind] = &[
    EventKind::Decision,
    EventKind::Correction,
    EventKind::Rejected,
    EventKind::Goal,
    EventKind::Intent,
    EventKind::Blocker,
];

const MAX_ITEM_BYTES: usize = 240;
const MAX_TASKS: usize = 4;
const MAX_FAILURES: usize = 3;

/// Creates a section with its items sorted by importance, then newest first.
fn section<'a>(
    heading: &str,
    called: (&'static str, &'static str),
    rank: u8,
    mut items: Vec<SectionItem<'a>>,
) -> GuideSection<'a> {
    items.retain(|item| !item.text.trim().is_empty());
    items.sort_by_key(|item| (item.priority, std::cmp::Reverse(item.at)));
    GuideSection { heading: heading.to_owned(), called, rank, items }
}

/// Returns the state of the work: the current task, what fails, and what the model said last.
fn standing<'a>(facts: &[Fact<'a>]) -> GuideSection<'a> {
    let tasks = tasks::gather(facts);
    let done = tasks.iter().filter(|task| !task.is_open()).count();
    let counted = format!(" ({done} of {} tasks done)", tasks.len());
    let mut open: Vec<_> = tasks.into_iter().filter(tasks::Task::is_open).collect();
    open.sort_by_key(|task| !task.is_now());
    let more = open.len().saturating_sub(MAX_TASKS);
    open.truncate(MAX_TASKS);
    let task = |(nth, task): (usize, tasks::Task)| {
        let label = if task.is_now() { "current task: " } else { "open task: " };
        let note = if nth == 0 { counted.clone() } else { String::new() };
        SectionItem { label: label.into(), note, ..plain(task.text, Priority::P1, 0) }
    };
    let mut items: Vec<SectionItem<'a>> = open.into_iter().enumerate().map(task).collect();
    if let Some(last) = items.last_mut().filter(|_| more > 0) {
        last.note.push_str(&format!(" (+{more} more open)"));
    }
    items.extend(errors::standing(facts).into_iter().take(MAX_FAILURES).map(fails));
    if let Some((at, fact)) = last_words(facts) {
        items.insert(items.len().min(MAX_TASKS), item(at, fact, Speaker::Model));
    }
    items.retain(|item| !item.text.trim().is_empty());
    GuideSection { heading: "Where the work stood:".to_owned(), called: ("line", "lines"), rank: 1, items }
}

/// Returns what the model said last, unless the user has answered it since. What a subagent says, it says to the model.
fn last_words<'f, 'a>(facts: &'f [Fact<'a>]) -> Option<(usize, &'f Fact<'a>)> {
    let is_word = |event: &Event| matches!(event.kind, EventKind::Said | EventKind::Prompt) && !is_of_subagent(event);
    let last = facts.iter().enumerate().rev().find(|(_, fact)| is_word(fact.event));
    last.filter(|(_, fact)| fact.event.kind == EventKind::Said)
}

fn fails<'a>(failure: Failure<'a>) -> SectionItem<'a> {
    let Failure { event, times, at, was_edited_since, .. } = failure;
    let times = if times > 1 { format!(" ({times} times)") } else { String::new() };
    let note = format!("{times}{}", if was_edited_since { " (files changed since)" } else { "" });
    SectionItem { label: "last run failed (tool): ".into(), note, ..plain(event.text.clone(), event.priority, at) }
}

/// Returns what was decided, each sentence once.
pub(super) fn decided<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let whole = |(at, fact): (usize, &Fact<'a>)| SectionItem { longest: LONGEST_TEXT, ..item(at, fact, speaker(fact)) };
    of_kinds(facts, DECIDED).map(whole).collect()
}

/// Returns the requests of the user, each once. Requests that say nothing by themselves, and those that are decisions
/// as a whole, are left out.
fn requested<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let told = requests::OpeningRequests::pick(facts);
    let decided: HashSet<&str> = of_kinds(facts, DECIDED).map(|(_, fact)| fact.event.text.as_str()).collect();
    let is_told = |text: &str| decided.contains(text) || told.is_some_and(|told| told.has(text));
    of_kinds(facts, &[EventKind::Prompt])
        .filter(|(_, fact)| !requests::says_little(&fact.event.text) && !is_told(&fact.event.text))
        .map(|(at, fact)| SectionItem { priority: Priority::P3, ..item(at, fact, Speaker::User) })
        .collect()
}

/// Returns changes of the environment, and what the user pasted.
fn surroundings<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    of_kinds(facts, &[EventKind::Environment, EventKind::Data])
        .map(|(at, fact)| item(at, fact, Speaker::Plain))
        .collect()
}

/// Returns the facts of these kinds, newest first, each text once.
pub(super) fn of_kinds<'f, 'a>(
    facts: &'f [Fact<'a>],
    kinds: &[EventKind],
) -> impl Iterator<Item = (usize, &'f Fact<'a>)> {
    let mut seen = HashSet::new();
    facts
        .iter()
        .enumerate()
        .rev()
        .filter(move |(_, fact)| kinds.contains(&fact.event.kind) && seen.insert(fact.event.text.as_str()))
}

pub(super) fn item<'a>(at: usize, fact: &Fact<'a>, speaker: Speaker) -> SectionItem<'a> {
    let event = fact.event;
    SectionItem {
        speaker,
        label: "".into(),
        text: event.text.as_str().into(),
        note: String::new(),
        priority: event.priority,
        at,
        longest: MAX_ITEM_BYTES,
        rest: fact.reference,
    }
}

/// Returns an item in our own words.
pub(super) fn plain<'a>(text: String, priority: Priority, at: usize) -> SectionItem<'a> {
    SectionItem {
        speaker: Speaker::Plain,
        label: "".into(),
        text: text.into(),
        note: String::new(),
        priority,
        at,
        longest: MAX_ITEM_BYTES,
        rest: None,
    }
}

/// Returns an unanswered question of the model.
pub(super) fn asked<'a>((at, question): (usize, String)) -> SectionItem<'a> {
    SectionItem { speaker: Speaker::Model, label: "asked: ".into(), ..plain(question, Priority::P1, at) }
}

/// Returns whose words a decision contains. A refused tool call is in our words, and the model decides too.
fn speaker(fact: &Fact<'_>) -> Speaker {
    let data = read(fact.event.data.as_deref()).unwrap_or_default();
    match () {
        () if data.get("refused").is_some() => Speaker::Plain,
        () if fact.event.is_by_model() => Speaker::Model,
        () => Speaker::User,
    }
}

/// Returns what was committed, with the current branch first, as far as git commands name it.
fn git<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let commits = of_kinds(facts, &[EventKind::Git]).filter(|(_, fact)| is_commit(fact.event));
    let mut items: Vec<_> = commits.map(|(at, fact)| item(at, fact, Speaker::Plain)).collect();
    let branch = facts.iter().rev().filter(|fact| fact.event.kind == EventKind::Git).find_map(|fact| {
        // A command in another folder concerns another work tree.
        let data = read(fact.event.data.as_deref()).filter(|data| data.get("folder").is_none())?;
        text(&data, "branch")
    });
    if let Some(branch) = branch {
        items.push(plain(format!("on branch {branch}"), Priority::P1, facts.len()));
    }
    items
}

/// Returns what the model proposed, and its questions that are not answered.
fn plans<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let is_plan = |fact: &Fact<'_>| read(fact.event.data.as_deref()).is_none_or(|data| data.get("question").is_none());
    let plans = of_kinds(facts, &[EventKind::Plan]).filter(|(_, fact)| is_plan(fact));
    let mut items: Vec<_> = plans.map(|(at, fact)| item(at, fact, Speaker::Model)).collect();
    items.extend(questions::open(facts).into_iter().map(asked));
    items
}

/// Returns the results of subagents. A client may report a result twice, when the subagent ends and when its tool
/// returns.
fn subagents<'a>(facts: &[Fact<'a>]) -> Vec<SectionItem<'a>> {
    let mut seen = HashSet::new();
    let result = |fact: &Fact<'_>| read(fact.event.data.as_deref()).and_then(|data| text(&data, "result"));
    let mut is_new = |fact: &Fact<'_>| result(fact).is_some_and(|result| seen.insert(result));
    of_kinds(facts, &[EventKind::Subagent])
        .filter(|(_, fact)| is_new(fact))
        .map(|(at, fact)| item(at, fact, Speaker::Plain))
        .collect()
}

/// Returns entries that were kept and are not gone, newest first: those of one kind, or those that no other section
/// has. An entry whose title says nothing is left out.
fn entries<'a>(facts: &[Fact<'a>], kind: Option<EntryKind>) -> Vec<SectionItem<'a>> {
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for (at, fact) in facts.iter().enumerate().rev() {
        let is_entry = matches!(fact.event.kind, EventKind::Kept | EventKind::Gone);
        let reference = fact.reference.filter(|reference| is_entry && seen.insert(*reference));
        let Some(reference) = reference else { continue };
        let is_note = fact.entry.is_some_and(|(kind, _)| kind == EntryKind::Note);
        // The client's own summary is read along with the guide, and a file can be read again.
        let is_at_hand = fact.entry.is_some_and(|(kind, _)| matches!(kind, EntryKind::Said | EntryKind::File));
        let title = fact.entry.map_or(fact.event.text.as_str(), |(_, title)| title);
        let says_nothing = !is_note && is_tool_name(title);
        if fact.event.kind != EventKind::Kept || is_note != kind.is_some() || is_at_hand || says_nothing {
            continue;
        }
        let label = format!("{reference} ").into();
        items.push(SectionItem { label, ..plain(line(title, LONGEST_TEXT), fact.event.priority, at) });
    }
    items
}

/// Returns whether a title is merely the name of a client's tool: `Grep`, `search_file_content`. A command of one word,
/// such as `make`, is in lower case.
fn is_tool_name(title: &str) -> bool {
    let is_word = title.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_word && (title.contains('_') || title.starts_with(|c: char| c.is_ascii_uppercase()))
}
