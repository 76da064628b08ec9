//! What each section of a guide has to say, the most important first. Nothing here knows the budget.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::data::{read, text};
use super::errors::{self, Failure};
use super::{Fact, questions, tasks};
use crate::event::line;
use crate::{EventKind, Priority};

/// A section.
#[derive(Debug)]
pub(super) struct Section<'a> {
    /// The line above its items.
    pub(super) heading: String,
    /// What one and what many of its items are called when they are left out.
    pub(super) called: (&'static str, &'static str),
    /// The most important first.
    pub(super) items: Vec<Item<'a>>,
}

/// One line of a section.
#[derive(Debug)]
pub(super) struct Item<'a> {
    /// Whose words they are.
    pub(super) whose: Whose,
    /// The words.
    pub(super) text: Cow<'a, str>,
    /// What we have to add.
    pub(super) note: String,
    pub(super) priority: Priority,
    /// Where in the facts, for the order.
    pub(super) at: usize,
}

/// Whose words an item has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The user's, in quotation marks.
    User,
    /// The model's.
    Model,
    /// A tool's.
    Tool,
    /// A name or a number that speaks for itself.
    Plain,
}

impl Item<'_> {
    /// The item as one line, with at most so many bytes of its words.
    pub(super) fn line(&self, most: usize) -> String {
        let (text, note) = (line(&self.text, most), &self.note);
        match self.whose {
            Whose::User => format!("- user: \"{text}\"{note}"),
            Whose::Model => format!("- model: {text}{note}"),
            Whose::Tool => format!("- tool: {text}{note}"),
            Whose::Plain => format!("- {text}{note}"),
        }
    }
}

/// Every section in its place, those with nothing to say too.
pub(super) fn gather<'a>(facts: &[Fact<'a>]) -> Vec<Section<'a>> {
    let errors = errors::gather(facts);
    let (mut changed, at_hand) = (files(facts), at_hand(facts));
    let only_changed = at_hand.iter().all(|path| changed.iter().any(|item| item.text == path.as_str()));
    if let Some(active) =
        changed.iter_mut().find(|item| only_changed && Some(item.text.as_ref()) == at_hand.first().map(String::as_str))
    {
        active.note.push_str(" (active)");
    }
    vec![
        tasks_section(facts),
        section("Decisions and corrections:", ("decision", "decisions"), said(facts, DECIDED)),
        section("Files changed:", ("file", "files"), changed),
        section("Files at hand:", ("file", "files"), if only_changed { Vec::new() } else { in_one_line(&at_hand) }),
        section("Unresolved errors:", ("error", "errors"), failures(errors.unresolved)),
        section("Errors that were fixed:", ("fix", "fixes"), failures(errors.fixed)),
        section("Git:", ("command", "commands"), git(facts)),
        section("Rules files loaded:", ("file", "files"), rules(facts)),
        section("Plans and goals:", ("plan or goal", "plans and goals"), plans(facts)),
        section("Open questions and blockers:", ("question", "questions"), blockers(facts)),
        section("Results of subagents:", ("result", "results"), subagents(facts)),
        section("Outputs held back:", ("output", "outputs"), references(facts)),
    ]
}

/// How many files are named beside the one that was worked on last.
const NEIGHBOURS: usize = 3;

const DECIDED: &[EventKind] = &[EventKind::Decision, EventKind::Correction, EventKind::Rejected];

/// A section with its items in order: by importance, then the newest first.
fn section<'a>(heading: &str, called: (&'static str, &'static str), mut items: Vec<Item<'a>>) -> Section<'a> {
    items.retain(|item| !item.text.trim().is_empty());
    items.sort_by_key(|item| (item.priority, std::cmp::Reverse(item.at)));
    Section { heading: heading.to_owned(), called, items }
}

/// The open tasks in the order of the list, what is being done first; the others are counted.
fn tasks_section<'a>(facts: &[Fact<'a>]) -> Section<'a> {
    let tasks = tasks::gather(facts);
    let done = tasks.iter().filter(|task| !task.is_open()).count();
    let heading = format!("Tasks (the model's list, {done} of {} done):", tasks.len());
    let mut open: Vec<_> = tasks.into_iter().filter(tasks::Task::is_open).collect();
    open.sort_by_key(|task| !task.is_now());
    let item = |task: tasks::Task| {
        let state = if task.is_now() { "being done" } else { "open" };
        let text = format!("{state}: {}", task.text);
        Item { whose: Whose::Plain, text: text.into(), note: String::new(), priority: Priority::P1, at: 0 }
    };
    Section { heading, called: ("task", "tasks"), items: open.into_iter().map(item).collect() }
}

/// What the user said, each sentence once.
fn said<'a>(facts: &[Fact<'a>], kinds: &[EventKind]) -> Vec<Item<'a>> {
    of_kinds(facts, kinds).map(|(at, fact)| item(at, fact, whose(fact))).collect()
}

/// The facts of these kinds, newest first, each text once.
fn of_kinds<'f, 'a>(facts: &'f [Fact<'a>], kinds: &[EventKind]) -> impl Iterator<Item = (usize, &'f Fact<'a>)> {
    let mut seen = HashSet::new();
    facts
        .iter()
        .enumerate()
        .rev()
        .filter(move |(_, fact)| kinds.contains(&fact.event.kind) && seen.insert(fact.event.text.as_str()))
}

fn item<'a>(at: usize, fact: &Fact<'a>, whose: Whose) -> Item<'a> {
    let event = fact.event;
    Item { whose, text: event.text.as_str().into(), note: String::new(), priority: event.priority, at }
}

/// What a tool was refused is in our words; the rest of what is decided is in the user's.
fn whose(fact: &Fact<'_>) -> Whose {
    let refused = read(fact.event.data.as_deref()).is_some_and(|data| data.get("refused").is_some());
    if refused { Whose::Plain } else { Whose::User }
}

/// The files that were changed, each once, with how often.
fn files<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<(Item<'a>, usize)> = Vec::new();
    for (at, fact) in facts.iter().enumerate().rev().filter(|(_, fact)| fact.event.kind == EventKind::File) {
        let Some(data) = read(fact.event.data.as_deref()) else { continue };
        let (Some(path), Some("edited" | "wrote" | "deleted")) = (text(&data, "path"), data["how"].as_str()) else {
            continue;
        };
        if let Some(&place) = places.get(&path) {
            found[place].1 += 1;
            continue;
        }
        places.insert(path.to_owned(), found.len());
        let item = Item {
            whose: Whose::Plain,
            text: path.to_owned().into(),
            note: String::new(),
            priority: fact.event.priority,
            at,
        };
        found.push((item, 1));
    }
    let noted = |(mut item, times): (Item<'a>, usize)| {
        item.note = times_noted(times);
        item
    };
    found.into_iter().map(noted).collect()
}

/// The file that was worked on last, and those before it.
fn at_hand(facts: &[Fact<'_>]) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut gone = HashSet::new();
    for fact in facts.iter().rev().filter(|fact| fact.event.kind == EventKind::File) {
        // What a subagent worked on is its own.
        let data = read(fact.event.data.as_deref()).filter(|data| data.get("agent").is_none());
        let Some((path, data)) = data.and_then(|data| Some((text(&data, "path")?, data))) else { continue };
        match data["how"].as_str() {
            Some("deleted") => drop(gone.insert(path)),
            Some("read" | "edited" | "wrote") if !gone.contains(&path) && !paths.contains(&path) => paths.push(path),
            _ => {}
        }
        if paths.len() > NEIGHBOURS {
            break;
        }
    }
    paths
}

/// The same as one line.
fn in_one_line<'a>(paths: &[String]) -> Vec<Item<'a>> {
    let Some((active, before)) = paths.split_first() else { return Vec::new() };
    let before = if before.is_empty() { String::new() } else { format!("; before it {}", before.join(", ")) };
    let text = format!("{active} (active){before}").into();
    vec![Item { whose: Whose::Plain, text, note: String::new(), priority: Priority::P2, at: 0 }]
}

fn times_noted(times: usize) -> String {
    if times > 1 { format!(" ({times} times)") } else { String::new() }
}

fn failures<'a>(failures: Vec<Failure<'a>>) -> Vec<Item<'a>> {
    let item = |failure: Failure<'a>| {
        let Failure { event, times, at } = failure;
        // The heading says that it was fixed.
        let text = event.text.strip_prefix("fixed: ").unwrap_or(&event.text).into();
        let note = times_noted(times);
        Item { whose: Whose::Tool, text, note, priority: event.priority, at }
    };
    failures.into_iter().map(item).collect()
}

/// What git did, with the branch it was last told of first.
fn git<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let mut items: Vec<_> = of_kinds(facts, &[EventKind::Git]).map(|(at, fact)| item(at, fact, Whose::Plain)).collect();
    let branch = facts.iter().rev().filter(|fact| fact.event.kind == EventKind::Git).find_map(|fact| {
        // What is done in another folder is done to another work tree.
        let data = read(fact.event.data.as_deref()).filter(|data| data.get("folder").is_none())?;
        text(&data, "branch")
    });
    if let Some(branch) = branch {
        let text = format!("on branch {branch}").into();
        items.push(Item { whose: Whose::Plain, text, note: String::new(), priority: Priority::P1, at: facts.len() });
    }
    items
}

/// The rules files, each once.
fn rules<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let named = |(at, fact): (usize, &Fact<'a>)| {
        let path = read(fact.event.data.as_deref()).and_then(|data| text(&data, "path"));
        let mut item = item(at, fact, Whose::Plain);
        item.text = path.map_or(item.text, Cow::Owned);
        item
    };
    let mut seen = HashSet::new();
    of_kinds(facts, &[EventKind::Rule]).map(named).filter(|item| seen.insert(item.text.clone())).collect()
}

/// What the user is after, and what the model proposed.
fn plans<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let mut items = said(facts, &[EventKind::Goal, EventKind::Intent]);
    let is_plan = |fact: &Fact<'_>| read(fact.event.data.as_deref()).is_none_or(|data| data.get("question").is_none());
    let plans = of_kinds(facts, &[EventKind::Plan]).filter(|(_, fact)| is_plan(fact));
    items.extend(plans.map(|(at, fact)| item(at, fact, Whose::Model)));
    items
}

fn blockers<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let mut items = said(facts, &[EventKind::Blocker]);
    let asked = |(at, question): (usize, String)| {
        let text = format!("asked: {question}").into();
        Item { whose: Whose::Model, text, note: String::new(), priority: Priority::P1, at }
    };
    items.extend(questions::open(facts).into_iter().map(asked));
    items
}

/// What subagents came back with. A client may tell it twice, when the subagent ends and when its tool returns.
fn subagents<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let mut seen = HashSet::new();
    let result = |fact: &Fact<'_>| read(fact.event.data.as_deref()).and_then(|data| text(&data, "result"));
    let mut is_new = |fact: &Fact<'_>| result(fact).is_some_and(|result| seen.insert(result));
    of_kinds(facts, &[EventKind::Subagent])
        .filter(|(_, fact)| is_new(fact))
        .map(|(at, fact)| item(at, fact, Whose::Plain))
        .collect()
}

/// What was kept and is not gone since, newest first.
fn references<'a>(facts: &[Fact<'a>]) -> Vec<Item<'a>> {
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for (at, fact) in facts.iter().enumerate().rev() {
        let Some(reference) = fact.reference.filter(|reference| seen.insert(*reference)) else { continue };
        if fact.event.kind == EventKind::Gone {
            continue;
        }
        let title = fact.title.unwrap_or(&fact.event.text);
        let text = format!("{reference} {}", line(title, crate::event::LONGEST_TEXT)).into();
        items.push(Item { whose: Whose::Plain, text, note: String::new(), priority: fact.event.priority, at });
    }
    items
}
