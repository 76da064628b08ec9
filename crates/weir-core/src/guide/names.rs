//! Names at hand: those that the model itself wrote last and most, by file.
//!
//! A summary says what was done but leaves out what things are called, which is what the model needs next. The score of
//! a name is the sum over the tool calls that used it, each with less weight the longer ago it was.

use std::collections::{HashMap, HashSet};

use super::Fact;
use super::data::{read, text};
use crate::EventKind;
use crate::event::line;

/// Number of tool calls after which a name has half its weight.
const HALF_LIFE_CALLS: f64 = 10.0;
const MAX_NAMES: usize = 400;
/// The length that a path counts as, whatever its actual length.
const PATH_LENGTH: f64 = 12.0;
const MAX_PATH_BYTES: usize = 300;
/// The line above the names.
const HEADING: &str = "Names at hand, by file (what the model wrote last and most):\n";
/// The label of names that belong to no file.
const ELSEWHERE: &str = "elsewhere";
/// Maximum number of names without a file that are taken from one tool call, so that no single text fills the list.
const MAX_NAMES_OF_CALL: usize = 20;

/// The names of a session, the most important first.
pub(super) struct Names {
    ranked: Vec<Name>,
    changed: HashMap<String, FileChange>,
}

/// A name, and the file it was last written for.
struct Name {
    text: String,
    file: Option<String>,
    score: f64,
    /// Whether the name is itself the path of a file.
    is_file: bool,
}

#[derive(Default)]
struct FileChange {
    times: usize,
    deleted: bool,
    /// Whether the summary names the file.
    known: bool,
}

/// Returns the names at hand within a budget, with their heading; empty if there are none. Names that belong to no file
/// get at most `most_elsewhere` tokens.
pub(super) fn write(names: &Names, budget: usize, most_elsewhere: usize, count: fn(&str) -> usize) -> String {
    let mut chosen: Vec<&Name> = Vec::new();
    let mut places: HashSet<&str> = HashSet::new();
    let mut spent = count(HEADING) + count(&names.not_named(&places));
    let mut left_elsewhere = most_elsewhere;
    for name in names.ranked.iter().take(MAX_NAMES) {
        let place = place_of(name);
        let opens = if places.contains(place) { 0 } else { count(&format!("- {}: \n", names.noted(place))) };
        let cost = opens + if name.is_file { 0 } else { count(&format!(", {}", name.text)) };
        let room_elsewhere = if place == ELSEWHERE { left_elsewhere.checked_sub(cost) } else { Some(left_elsewhere) };
        if spent + cost <= budget
            && let Some(room) = room_elsewhere
        {
            left_elsewhere = room;
            spent += cost;
            places.insert(place);
            chosen.push(name);
        }
    }
    // Tokens may span the end of a name, so the sum is only an estimate: count the whole text.
    while !chosen.is_empty() {
        let written = names.render(&chosen);
        if count(&written) <= budget {
            return written;
        }
        chosen.pop();
    }
    String::new()
}

/// Returns the label of the line that a name belongs to.
fn place_of(name: &Name) -> &str {
    match &name.file {
        _ if name.is_file => &name.text,
        Some(file) => file,
        None => ELSEWHERE,
    }
}

impl Names {
    fn render(&self, chosen: &[&Name]) -> String {
        let mut places: Vec<(&str, Vec<&str>)> = Vec::new();
        for name in chosen {
            let place = place_of(name);
            let at = places.iter().position(|(known, _)| *known == place).unwrap_or_else(|| {
                places.push((place, Vec::new()));
                places.len() - 1
            });
            if !name.is_file {
                places[at].1.push(&name.text);
            }
        }
        // Names that belong to no file come last.
        places.sort_by_key(|(place, _)| *place == ELSEWHERE);
        let written = |(place, names): &(&str, Vec<&str>)| match names.is_empty() {
            true => format!("- {}\n", self.noted(place)),
            false => format!("- {}: {}\n", self.noted(place), names.join(", ")),
        };
        let lines: String = places.iter().map(written).collect();
        let shown = places.iter().map(|(place, _)| *place).collect();
        format!("{HEADING}{lines}{}", self.not_named(&shown))
    }

    /// Returns a file with a note on its changes.
    fn noted(&self, place: &str) -> String {
        match self.changed.get(place) {
            Some(FileChange { deleted: true, .. }) => format!("{place} (deleted)"),
            Some(FileChange { times: 1, .. }) => format!("{place} (changed)"),
            Some(FileChange { times, .. }) => format!("{place} (changed {times} times)"),
            None => place.to_owned(),
        }
    }

    /// Returns the line that says how many changed files have no line.
    fn not_named(&self, shown: &HashSet<&str>) -> String {
        let is_hidden = |(path, change): &(&String, &FileChange)| !change.known && !shown.contains(path.as_str());
        match self.changed.iter().filter(is_hidden).count() {
            0 => String::new(),
            1 => "- +1 more changed file\n".to_owned(),
            more => format!("- +{more} more changed files\n"),
        }
    }
}

/// Gathers the names of a session, except those that the summary has.
pub(super) fn gather(facts: &[Fact<'_>], summary: &str) -> Names {
    let mut names: HashMap<String, Name> = HashMap::new();
    let mut changed: HashMap<String, FileChange> = HashMap::new();
    let mut age = 0.0;
    // The client loads rules itself.
    for fact in facts.iter().rev().filter(|fact| fact.event.kind != EventKind::Rule) {
        // Ignore what a subagent wrote.
        let data = read(fact.event.data.as_deref()).filter(|data| data.get("agent").is_none());
        let Some(data) = data else { continue };
        let path = text(&data, "path").map(|path| line(&path, MAX_PATH_BYTES)).filter(|path| !path.is_empty());
        let written = text(&data, "names").unwrap_or_default();
        if path.is_none() && written.is_empty() {
            continue;
        }
        age += 1.0;
        let weight = 1.0 / (1.0 + age / HALF_LIFE_CALLS);
        let mut add = |name: &str, is_file: bool| {
            let file = path.clone().filter(|_| !is_file);
            let name = names.entry(name.to_owned()).or_insert_with(|| Name {
                text: name.to_owned(),
                file: None,
                score: 0.0,
                is_file: false,
            });
            name.score += weight;
            name.is_file |= is_file;
            // Facts come newest first, so the first file is kept.
            name.file = name.file.take().or(file);
        };
        let own = path.as_deref().unwrap_or_default();
        let most = if path.is_some() { MAX_NAMES } else { MAX_NAMES_OF_CALL };
        let written = written.split_whitespace().filter(|name| *name != own && is_plain(name));
        written.take(most).for_each(|name| add(name, false));
        let Some(path) = &path else { continue };
        add(path, true);
        if let Some(how @ ("edited" | "wrote" | "deleted")) = data["how"].as_str() {
            let is_newest = !changed.contains_key(path);
            let change = changed.entry(path.clone()).or_default();
            change.times += 1;
            change.deleted |= is_newest && how == "deleted";
        }
    }
    let mut known = HashSet::new();
    crate::names::each(summary, |name, _| {
        known.insert(name.to_owned());
    });
    let is_new = |name: &Name| !known.contains(name.text.trim_matches('/'));
    let mut ranked: Vec<Name> = names.into_values().filter(is_new).collect();
    // Of two equally important names, the shorter one leaves more room for others. The path of a file is worth its
    // room.
    let length = |name: &Name| if name.text.contains('/') { PATH_LENGTH } else { name.text.len() as f64 };
    let worth = |name: &Name| name.score / length(name).sqrt();
    ranked.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.text.cmp(&b.text)));
    changed.iter_mut().for_each(|(path, change)| change.known = known.contains(path.trim_matches('/')));
    Names { ranked, changed }
}

/// Returns whether a word has only the characters of names. Redaction may have inserted others.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:+-".contains(&byte))
}
