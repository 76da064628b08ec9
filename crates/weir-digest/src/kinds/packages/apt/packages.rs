//! Packages with their versions: those that people know by name come first, and those of one version are grouped.

use std::collections::HashMap;

use crate::text::clip;
use crate::{Item, Part, Weight};

const MAX_PACKAGES: usize = 3_000;
/// The maximum number of lines that could ever be shown.
const MAX_LINES_SHOWN: usize = 200;
/// The maximum number of names before one version, and of names without a version on one line.
const MAX_NAMES_PER_LINE: usize = 12;

/// Packages of one sort, and their number.
#[derive(Default)]
pub(super) struct Packages {
    names: Vec<(String, String)>,
    pub total: u64,
}

impl Packages {
    /// Keeps a package. The version may be empty.
    pub(super) fn add(&mut self, name: &str, version: &str) {
        self.total += 1;
        if self.names.len() < MAX_PACKAGES {
            self.names.push((clip(name, 100), clip(version, 150)));
        }
    }

    /// Keeps packages of a list: one followed by its version, or several without.
    pub(super) fn add_listed(&mut self, text: &str) {
        match text.split_once(" (") {
            Some((name, version)) => self.add(name, version.trim_end_matches(')')),
            None => text.split_whitespace().for_each(|name| self.add(name, "")),
        }
    }

    /// Adds the versions stated elsewhere to packages that have none.
    pub(super) fn with_versions(mut self, known: &HashMap<String, String>) -> Self {
        for (name, version) in self.names.iter_mut().filter(|(_, version)| version.is_empty()) {
            if let Some(said) = known.get(bare(name)) {
                said.clone_into(version);
            }
        }
        self
    }

    /// Splits into the packages that `brought` names, and the others.
    pub(super) fn split(self, brought: &Self) -> (Self, Self) {
        let mut theirs: Vec<&str> = brought.names.iter().map(|(name, _)| bare(name)).collect();
        theirs.sort_unstable();
        let beyond = self.total - self.names.len() as u64;
        let (inside, outside): (Vec<_>, Vec<_>) =
            self.names.into_iter().partition(|(name, _)| theirs.binary_search(&bare(name)).is_ok());
        let [inner, outer] = [inside, outside].map(|names| Self { total: names.len() as u64, names });
        (Self { total: inner.total + beyond, ..inner }, outer)
    }

    /// Returns a part with the count in its name: `82 removed`.
    pub(super) fn part(self, name: &str, weight: Weight) -> Part {
        Part::uncounted(format!("{} {name}", self.total), weight, lines(self.names))
    }
}

/// Returns the packages as lines: those of one version share a line, at the position of the first of them.
fn lines(mut names: Vec<(String, String)>) -> Vec<Item> {
    names.sort_by_cached_key(|(name, _)| dullness(name));
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, version) in &names {
        // Libraries do not precede programs merely because a program has the same version.
        let place = *places.entry(version.as_str()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, together)) if together.len() < MAX_NAMES_PER_LINE => together.push(name),
            _ => {
                places.insert(version, groups.len());
                groups.push((version, vec![name]));
            }
        }
    }
    let told = groups.iter().take(MAX_LINES_SHOWN).map(|(version, names)| {
        let names = names.join(", ");
        Item::plain(if version.is_empty() { names } else { format!("{names} ({version})") })
    });
    told.collect()
}

/// Ranks a package by how little its name says: programs have short names, and are not made for other packages.
fn dullness(name: &str) -> usize {
    let name = bare(name);
    let made_for_others = ["lib", "fonts-", "gir1.", "python3-", "perl-modules", "node-", "xserver-", "golang-"];
    let beside = ["-common", "-data", "-dev", "-doc", "-locales", "-dbg", "-dbgsym", "-headers", "-base", "-core"];
    let dull = made_for_others.iter().any(|start| name.starts_with(start));
    let data = beside.iter().any(|end| name.ends_with(end));
    let dashes = name.bytes().filter(|&byte| byte == b'-').count().min(3);
    dashes + 2 * usize::from(data) + 6 * usize::from(dull)
}

/// Returns the name of a package as in a list: without its architecture and the star of a purge.
pub(super) fn bare(name: &str) -> &str {
    name.split([' ', ':']).next().unwrap_or(name).trim_end_matches('*')
}
