//! A turn as one text that search can find: what the user asked for, which files were changed and read, the names that
//! the model wrote, what it said in the end, what ran, and what still failed.
//!
//! The lines that a reader needs come first, because a hit shows the beginning. A turn in which nothing was done and
//! nothing was said has no text.

use std::collections::{HashMap, HashSet};

use super::data::{changed_file, is_of_subagent, read, text};
use super::{Fact, errors, requests};
use crate::event::line;
use crate::{Event, EventKind, Priority, names, prose};

/// The maximum length of the request at the beginning, in bytes, and of the rest of it at the end.
const MAX_REQUEST_BYTES: usize = 140;
const MAX_REST_BYTES: usize = 700;
const MAX_CHANGED: usize = 6;
const MAX_READ: usize = 5;
/// The number of names in the first lines, and the maximum total length of the others, in bytes.
const MAX_NAMES: usize = 12;
const MAX_OTHER_NAMES_BYTES: usize = 6_000;
const NAMES_LINE_BYTES: usize = 400;
const MAX_SENTENCE_BYTES: usize = 200;
const MAX_COMMANDS: usize = 6;
const MAX_COMMAND_BYTES: usize = 80;
const MAX_FAILURES: usize = 2;
/// Weight of a name in a call that read or searched, as a share of that in a change.
const READ_WEIGHT: f64 = 0.5;
/// Weight of a name in the model's last message.
const SAID_WEIGHT: f64 = 2.0;

/// Programs that only look, or that say nothing about the work.
const LOOKING: &[&str] = &[
    "ls", "cat", "head", "tail", "find", "fd", "grep", "egrep", "rg", "sed", "awk", "wc", "cd", "pwd", "echo", "which",
    "sleep", "date", "tree", "jq", "sort", "true", "stat", "file", "test", "export", "for", "if", "while",
];

/// Commands of git that only look.
const GIT_LOOKING: &[&str] =
    &["status", "diff", "log", "show", "grep", "ls-tree", "ls-files", "rev-parse", "branch", "remote", "blame"];

/// Returns whether a turn has ended: the model has said something, and has done nothing after that.
pub fn has_ended(facts: &[Fact<'_>]) -> bool {
    let own = || facts.iter().rev().filter(|fact| !is_of_subagent(fact.event));
    let is_step = |kind| !matches!(kind, EventKind::Decision | EventKind::Rejected | EventKind::Plan | EventKind::Data);
    own().find(|fact| is_step(fact.event.kind)).is_some_and(|fact| fact.event.kind == EventKind::Said)
}

/// Writes a turn. `facts` begin with its request, `before` is the last request that says something by itself, and
/// `message` the model's last message in full, as far as it is known. Empty if there is nothing to find.
pub fn turn(facts: &[Fact<'_>], before: &str, message: &str) -> String {
    let Some((request, rest)) = facts.split_first().filter(|(first, _)| first.event.kind == EventKind::Prompt) else {
        return String::new();
    };
    let request = request.event.text.trim();
    let files = Files::of(rest);
    let mut lines = vec![asked(request, before)];
    push(&mut lines, "Changed: ", &named_files(&files.changed, MAX_CHANGED));
    push(&mut lines, "Read: ", &named_files(&files.read, MAX_READ));
    let (first, others) = named(rest, message, &files);
    push(&mut lines, "Names: ", &first.join(" "));
    push(&mut lines, "Said (model): ", &said(rest, message));
    push(&mut lines, "Ran: ", &ran(rest).join("; "));
    push(&mut lines, "Failed: ", &failed(rest).join("; "));
    if lines.len() == 1 {
        return String::new();
    }
    if request.len() > MAX_REQUEST_BYTES {
        let from = request.floor_char_boundary(MAX_REQUEST_BYTES / 2);
        push(&mut lines, "Asked also: ", &line(&request[from..], MAX_REST_BYTES));
    }
    let others = in_lines(&others);
    if !others.is_empty() {
        lines.push(String::new());
        push(&mut lines, "Other names: ", &others);
    }
    lines.join("\n")
}

fn push(lines: &mut Vec<String>, label: &str, text: &str) {
    if !text.is_empty() {
        lines.push(format!("{label}{text}"));
    }
}

/// Quotes the request, with the one before it if it says nothing by itself.
fn asked(request: &str, before: &str) -> String {
    let quoted = line(request, MAX_REQUEST_BYTES);
    match requests::says_little(request) && !before.is_empty() {
        true => format!("Asked (user): \"{quoted}\" after \"{}\"", line(before, MAX_REQUEST_BYTES)),
        false => format!("Asked (user): \"{quoted}\""),
    }
}

/// The project's files of a turn, the most frequent first.
struct Files {
    changed: Vec<String>,
    read: Vec<String>,
}

impl Files {
    fn of(facts: &[Fact<'_>]) -> Self {
        let changed = most_frequent(facts.iter().filter_map(|fact| changed_file(fact.event)));
        let is_new = |path: &String| !changed.contains(path);
        let read = most_frequent(facts.iter().filter_map(|fact| read_file(fact.event)).filter(is_new));
        Self { changed, read }
    }
}

/// Names the first of some files, each folder once.
pub(super) fn named_files(paths: &[String], most: usize) -> String {
    let mut folders: Vec<(&str, Vec<&str>)> = Vec::new();
    for path in paths.iter().take(most) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        match folders.iter_mut().find(|(known, _)| *known == folder) {
            Some((_, names)) => names.push(name),
            None => folders.push((folder, vec![name])),
        }
    }
    let folder = |(folder, names): (&str, Vec<&str>)| match (folder, names.as_slice()) {
        ("", names) => names.join(", "),
        (folder, [name]) => format!("{folder}/{name}"),
        (folder, names) => format!("{folder}/{{{}}}", names.join(", ")),
    };
    let named: Vec<String> = folders.into_iter().map(folder).collect();
    let more = paths.len().saturating_sub(most);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", named.join(", "))
}

fn read_file(event: &Event) -> Option<String> {
    let data = read(event.data.as_deref()).filter(|data| data["how"] == "read")?;
    text(&data, "path").filter(|path| !path.starts_with(['/', '~']) && !path.starts_with("../"))
}

pub(super) fn most_frequent(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    for text in texts {
        let next = counts.len();
        counts.entry(text).or_insert((0, next)).0 += 1;
    }
    let mut ranked: Vec<(String, (usize, usize))> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, (times, first))| (std::cmp::Reverse(*times), *first));
    ranked.into_iter().map(|(text, _)| text).collect()
}

/// Returns the most important names of a turn, and then all others: the files that are not in the first lines, and what
/// the model wrote in its calls and in its last message.
fn named(facts: &[Fact<'_>], message: &str, files: &Files) -> (Vec<String>, Vec<String>) {
    let mut scores: HashMap<String, (f64, usize)> = HashMap::new();
    let mut add = |name: &str, weight: f64| {
        let next = scores.len();
        scores.entry(name.to_owned()).or_insert((0.0, next)).0 += weight;
    };
    for fact in facts {
        let Some(names) = read(fact.event.data.as_deref()).and_then(|data| text(&data, "names")) else { continue };
        let weight = if changed_file(fact.event).is_some() { 1.0 } else { READ_WEIGHT };
        names.split_whitespace().for_each(|name| add(name, weight));
    }
    names::each(message, |name, absolute| {
        if !absolute && !names::may_be_prose(name) {
            add(name, SAID_WEIGHT);
        }
    });
    let mut ranked: Vec<(String, (f64, usize))> = scores.into_iter().collect();
    ranked.sort_by(|(_, (score, first)), (_, (other, second))| other.total_cmp(score).then(first.cmp(second)));
    let mut shown: HashSet<&str> = HashSet::new();
    for path in files.changed.iter().take(MAX_CHANGED).chain(files.read.iter().take(MAX_READ)) {
        shown.extend([path.as_str(), path.rsplit('/').next().unwrap_or(path)]);
    }
    let hidden = files.changed.iter().skip(MAX_CHANGED).chain(files.read.iter().skip(MAX_READ)).cloned();
    let (mut first, mut others) = (Vec::new(), hidden.collect::<Vec<String>>());
    let known: HashSet<String> = others.iter().cloned().collect();
    for (name, _) in ranked {
        if shown.contains(name.as_str()) || known.contains(&name) {
            continue;
        }
        let is_first = first.len() < MAX_NAMES && !name.contains('/') && name.len() <= 50;
        if is_first { first.push(name) } else { others.push(name) }
    }
    (first, others)
}

/// Returns names in lines, as many as there is room for.
fn in_lines(names: &[String]) -> String {
    let (mut written, mut line) = (String::new(), 0);
    for name in names {
        if written.len() + name.len() > MAX_OTHER_NAMES_BYTES {
            break;
        }
        if line + name.len() > NAMES_LINE_BYTES {
            written.push('\n');
            line = 0;
        } else if !written.is_empty() {
            written.push(' ');
        }
        written.push_str(name);
        line += name.len() + 1;
    }
    written
}

/// Returns the first and the last sentence that the model said in the end.
fn said(facts: &[Fact<'_>], message: &str) -> String {
    let of_session = |fact: &&Fact<'_>| fact.event.kind == EventKind::Said && !is_of_subagent(fact.event);
    let Some(last) = facts.iter().rev().find(of_session) else { return String::new() };
    let message = if message.is_empty() { &last.event.text } else { message };
    let first = prose::first_sentence(message).map(|first| line(first, MAX_SENTENCE_BYTES)).unwrap_or_default();
    let end = prose::sentences(&last.event.text).filter(|sentence| sentence.contains(char::is_alphabetic)).last();
    let end = end.map(|end| line(end, MAX_SENTENCE_BYTES)).filter(|end| *end != first);
    [Some(first), end].into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" … ")
}

/// Returns the commands that ran, the most frequent first, without those that only look.
pub(super) fn ran(facts: &[Fact<'_>]) -> Vec<String> {
    let command = |event: &Event| match event.kind {
        EventKind::Tool => event.text.strip_prefix("ran ").map(str::to_owned),
        EventKind::Git => Some(event.text.clone()),
        EventKind::Fix => read(event.data.as_deref()).and_then(|data| text(&data, "subject")),
        _ => None,
    };
    let looks = |command: &String| {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        LOOKING.contains(&program) || program == "git" && words.next().is_some_and(|verb| GIT_LOOKING.contains(&verb))
    };
    let of_session = facts.iter().filter(|fact| !is_of_subagent(fact.event));
    let commands = of_session.filter_map(|fact| command(fact.event)).filter(|command| !looks(command));
    let mut commands = most_frequent(commands.map(|command| line(&command, MAX_COMMAND_BYTES)));
    commands.truncate(MAX_COMMANDS);
    commands
}

/// Returns what failed in the turn and was neither repaired nor run again.
fn failed(facts: &[Fact<'_>]) -> Vec<String> {
    let facts = super::data::credible(facts);
    let open = errors::unresolved(&facts).into_iter();
    let open = open.filter(|failure| failure.event.priority < Priority::P3 && !failure.was_run_again);
    open.take(MAX_FAILURES).map(|failure| line(&failure.event.text, MAX_SENTENCE_BYTES)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::Timestamp;

    fn event(kind: EventKind, text: &str, data: &str) -> Event {
        let data = Some(data.to_owned()).filter(|data| !data.is_empty());
        Event { kind, priority: Priority::P2, text: text.to_owned(), data, whole: None }
    }

    fn facts(events: &[Event]) -> Vec<Fact<'_>> {
        let fact = |event| Fact { number: 1, event, at: Timestamp(0), reference: None, entry: None };
        events.iter().map(fact).collect()
    }

    fn check(events: &[Event], before: &str, message: &str, expected: Expect) {
        expected.assert_eq(&turn(&facts(events), before, message));
    }

    #[test]
    fn a_turn_says_what_was_asked_what_was_touched_and_how_it_ended() {
        use EventKind::{Error, File, Git, Prompt, Said, Tool};
        let file = |how: &str, path: &str, names: &str| {
            event(File, how, &format!(r#"{{"path":"{path}","how":"{how}","names":"{names}"}}"#))
        };
        let events = [
            event(Prompt, "the pool leaks connections, find out why", ""),
            file("read", "src/pool.rs", "Pool max_size"),
            file("read", "src/lib.rs", ""),
            file("edited", "src/pool.rs", "Pool release_all"),
            file("edited", "src/db/conn.rs", "release_all"),
            file("edited", "src/db/wire.rs", ""),
            file("wrote", "/tmp/out.txt", ""),
            event(Tool, "ran cargo test pool", ""),
            event(Tool, "ran ls src", ""),
            event(Git, "git commit 1a2b3c4: close connections", ""),
            event(Error, "cargo clippy: unused variable `x`", r#"{"subject":"cargo clippy"}"#),
            event(Said, "Clippy still complains. Shall I go on?", ""),
        ];
        check(
            &events,
            "",
            "The leak was in `release_all`. More.\n\nClippy still complains. Shall I go on?",
            expect![[r#"
            Asked (user): "the pool leaks connections, find out why"
            Changed: src/pool.rs, src/db/{conn.rs, wire.rs}
            Read: src/lib.rs
            Names: release_all Pool max_size
            Said (model): The leak was in `release_all`. … Shall I go on?
            Ran: cargo test pool; git commit 1a2b3c4: close connections
            Failed: cargo clippy: unused variable `x`"#]],
        );
    }

    #[test]
    fn a_request_that_says_little_comes_with_the_one_before() {
        let said = event(EventKind::Said, "Removed the old lexer.", "");
        check(
            &[event(EventKind::Prompt, "yes, do it", ""), said],
            "remove the old lexer?",
            "",
            expect![[r#"
            Asked (user): "yes, do it" after "remove the old lexer?"
            Said (model): Removed the old lexer."#]],
        );
    }

    #[test]
    fn a_turn_in_which_nothing_was_done_has_no_text() {
        check(&[event(EventKind::Prompt, "port the lexer", "")], "", "", expect![""]);
        check(&[], "", "", expect![""]);
    }

    #[test]
    fn a_turn_has_ended_once_the_model_has_said_something_and_did_nothing_after_it() {
        use EventKind::{Plan, Prompt, Said, Tool};
        let subagents = r#"{"agent":"Explore"}"#;
        let ended = |kinds: &[(EventKind, &str)]| {
            let events: Vec<Event> = kinds.iter().map(|(kind, data)| event(*kind, "text", data)).collect();
            has_ended(&facts(&events))
        };
        assert!(ended(&[(Prompt, ""), (Tool, ""), (Said, "")]));
        assert!(ended(&[(Prompt, ""), (Said, ""), (Plan, ""), (Tool, subagents)]));
        assert!(!ended(&[(Prompt, ""), (Said, ""), (Tool, "")]));
        assert!(!ended(&[(Prompt, ""), (Said, subagents)]));
    }
}
