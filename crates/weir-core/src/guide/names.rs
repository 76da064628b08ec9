//! Names at hand: those that the model itself wrote last and most, by file.
//!
//! A summary says what was done but leaves out what things are called, which is what the model needs next. The score of
//! a name is the sum over the tool calls that used it, each with less weight the longer ago it was. What was read,
//! searched or run is needed again long afterwards; what was written into a file, much less.

use std::collections::{HashMap, HashSet};

use super::Fact;
use super::data::{read, text};
use crate::EventKind;
use crate::event::line;

/// Number of tool calls after which the name of something that was read, searched or run has half its weight.
const HALF_LIFE_CALLS: f64 = 15.0;
/// The same for a name that was written into a file. What was changed is mostly done.
const CHANGED_HALF_LIFE_CALLS: f64 = 4.0;
/// The weight of a name that was written into a file, if one that was read, searched or run has 1.
const CHANGED_WEIGHT: f64 = 0.5;
const MAX_NAMES: usize = 600;
/// The length by which a name is judged is at least this, in bytes.
const MIN_LENGTH: usize = 8;
const MAX_PATH_BYTES: usize = 300;
/// The key in the data of a fact under which the names of a text are that the model wrote outside of tools or was
/// shown.
pub const SEEN: &str = "seen";
/// The line above the names.
const HEADING: &str = "Names at hand, by file (what the model wrote or was shown, last and most):\n";
/// The label of names that belong to no file, and of files that only have a name.
const ELSEWHERE: &str = "elsewhere";
/// The weight of a name that the model was only shown.
const SEEN_WEIGHT: f64 = 0.05;
/// Number of texts after which such a name has half its weight.
const SEEN_HALF_LIFE_TEXTS: f64 = 6.0;

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

impl Name {
    fn new(text: &str) -> Self {
        Self { text: text.to_owned(), file: None, score: 0.0, is_file: false }
    }
}

#[derive(Default)]
struct FileChange {
    times: usize,
    deleted: bool,
    /// Whether the summary names the file.
    known: bool,
}

/// Returns the names at hand within a budget, with their heading, except those that `told` has; empty if there are
/// none.
pub(super) fn write(names: &Names, told: &str, budget: usize, count: fn(&str) -> usize) -> String {
    let told = known_names(told);
    let is_new = |name: &&Name| !told.contains(name.text.trim_matches('/')) || names.changed.contains_key(&name.text);
    let new: Vec<&Name> = names.ranked.iter().filter(is_new).take(MAX_NAMES).collect();
    // The most names that fit. Tokens may span the end of a name, so only the whole text tells.
    let (mut fit, mut written, mut above) = (0, String::new(), new.len() + 1);
    while fit + 1 < above {
        let most = fit.midpoint(above);
        let tried = names.render(&new[..most]);
        match count(&tried) <= budget {
            true => (fit, written) = (most, tried),
            false => above = most,
        }
    }
    written
}

fn known_names(text: &str) -> HashSet<String> {
    let mut known = HashSet::new();
    crate::names::each(text, |name, _| {
        known.insert(name.to_owned());
    });
    known
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
    /// Writes a line for each file that was changed or has names, and one for all other names. Names have no blanks in
    /// them, so blanks separate them.
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
        let (mut lines, mut elsewhere) = (String::new(), Vec::new());
        for (place, names) in &places {
            // A blank would end the name in a line with others.
            let has_line = self.changed.contains_key(*place) || place.contains(' ');
            match (*place == ELSEWHERE, names.is_empty(), has_line) {
                (true, ..) => elsewhere.extend_from_slice(names),
                (_, true, false) => elsewhere.push(*place),
                (_, true, true) => lines.push_str(&format!("- {}\n", self.noted(place))),
                (_, false, _) => lines.push_str(&format!("- {}: {}\n", self.noted(place), names.join(" "))),
            }
        }
        if !elsewhere.is_empty() {
            lines.push_str(&format!("- {ELSEWHERE}: {}\n", elsewhere.join(" ")));
        }
        let shown = places.iter().map(|(place, _)| *place).collect();
        format!("{HEADING}{lines}{}", self.not_named(&shown))
    }

    /// Returns a file with a note on its changes.
    fn noted(&self, place: &str) -> String {
        match self.changed.get(place) {
            Some(FileChange { deleted: true, .. }) => format!("{place} (deleted)"),
            Some(FileChange { times: 1, .. }) => format!("{place} (changed)"),
            Some(FileChange { times, .. }) => format!("{place} ({times} changes)"),
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
    let (mut age, mut seen_age) = (0.0, 0.0);
    // The client loads rules itself.
    for fact in facts.iter().rev().filter(|fact| fact.event.kind != EventKind::Rule) {
        // Ignore what a subagent wrote.
        let data = read(fact.event.data.as_deref()).filter(|data| data.get("agent").is_none());
        let Some(data) = data else { continue };
        if let Some(seen) = text(&data, SEEN) {
            seen_age += 1.0;
            let weight = SEEN_WEIGHT / (1.0 + seen_age / SEEN_HALF_LIFE_TEXTS);
            for name in seen.split_whitespace().filter(|name| is_plain(name)) {
                names.entry(name.to_owned()).or_insert_with(|| Name::new(name)).score += weight;
            }
            continue;
        }
        let path = text(&data, "path").map(|path| line(&path, MAX_PATH_BYTES)).filter(|path| !path.is_empty());
        let written = text(&data, "names").unwrap_or_default();
        if path.is_none() && written.is_empty() {
            continue;
        }
        age += 1.0;
        let how = data["how"].as_str().unwrap_or_default();
        let is_change = matches!(how, "edited" | "wrote" | "deleted");
        let weight = match is_change {
            true => CHANGED_WEIGHT / (1.0 + age / CHANGED_HALF_LIFE_CALLS),
            false => 1.0 / (1.0 + age / HALF_LIFE_CALLS),
        };
        let mut add = |name: &str, is_file: bool| {
            let file = path.clone().filter(|_| !is_file);
            let name = names.entry(name.to_owned()).or_insert_with(|| Name::new(name));
            name.score += weight;
            name.is_file |= is_file;
            // Facts come newest first, so the first file is kept.
            name.file = name.file.take().or(file);
        };
        let own = path.as_deref().unwrap_or_default();
        let written = written.split_whitespace().filter(|name| *name != own && is_plain(name));
        written.for_each(|name| add(name, false));
        let Some(path) = &path else { continue };
        add(path, true);
        if is_change {
            let is_newest = !changed.contains_key(path);
            let change = changed.entry(path.clone()).or_default();
            change.times += 1;
            change.deleted |= is_newest && how == "deleted";
        }
    }
    let known = known_names(summary);
    let is_new = |name: &Name| !known.contains(name.text.trim_matches('/'));
    let mut ranked: Vec<Name> = names.into_values().filter(is_new).collect();
    // Of two equally important names, the shorter one leaves more room for others.
    let worth = |name: &Name| name.score / name.text.len().max(MIN_LENGTH) as f64;
    ranked.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.text.cmp(&b.text)));
    changed.iter_mut().for_each(|(path, change)| change.known = known.contains(path.trim_matches('/')));
    Names { ranked, changed }
}

/// Returns whether a word has only the characters of names. Redaction may have inserted others.
fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:+-".contains(&byte))
}
