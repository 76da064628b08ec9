//! Chooses what is shown of a source file.

use std::collections::{BTreeMap, HashSet};

use super::language::DefinitionKind;
use super::{Definition, File, MAX_ITEMS};
use crate::kinds::documents::passages::counted;
use crate::kinds::shared::bounded_items::joined;
use crate::text::{clip, count, shorten};
use crate::{Item, Page, Part, Weight};

/// The minimum number of definitions with the same name that are grouped.
const MIN_GROUP: usize = 3;
/// The minimum number of functions of equal length, with the same first word in their names, that are grouped.
const MIN_FAMILY: usize = 4;
const ROW_BYTES: usize = 140;
const MAX_LONGEST_FUNCTIONS: usize = 4;

impl File {
    pub(super) fn page(mut self) -> Page {
        let [types, functions, constants] = self.counts;
        let mut page = Page::new(format!(
            "{} source: {}, {}, {}, {}, {}",
            self.language.name(),
            counted(types, "type"),
            counted(functions, "function"),
            counted(constants, "constant"),
            counted(self.import_total, "import"),
            counted(self.comments, "comment line")
        ));
        page.push(Part::new("its own description", Weight::Fact, std::mem::take(&mut self.document)));
        page.push(std::mem::take(&mut self.marks).part("to do, or deprecated", Weight::Failure));
        let of = |sort: DefinitionKind| self.definitions.iter().filter(move |definition| definition.sort == sort);
        let in_rows = rows(of(DefinitionKind::Type).map(|one| format!("{} {}", one.line, short(&one.text))));
        page.push(Part::uncounted(counted(types, "type") + " with their lines", Weight::Failure, in_rows));
        let items: Vec<Item> = of(DefinitionKind::Constant).take(MAX_ITEMS).map(constant).collect();
        page.push(Part::new("constants", Weight::Fact, items).of(constants));
        for one in of(DefinitionKind::Constant) {
            self.errors.found.cover(&one.text);
        }
        // The members of many types would take the room of what the file does.
        let weight = if types > 16 { Weight::Shape } else { Weight::Fact };
        page.push(Part::uncounted("members of types", weight, members(&self.definitions)));
        page.push(std::mem::take(&mut self.errors.found).part("errors raised or returned", Weight::Fact));
        page.push(Part::uncounted("longest functions", Weight::Failure, longest(&self.definitions)));
        self.functions(&mut page);
        if !self.imports.is_empty() {
            let rows = rows(self.imports.iter().cloned());
            page.push(Part::uncounted(counted(self.import_total, "import"), Weight::Shape, rows));
        }
        page
    }

    /// Adds functions by their signatures; those that share a name, or belong to a family, as groups.
    fn functions(&self, page: &mut Page) {
        let all = || self.definitions.iter().filter(|one| one.sort == DefinitionKind::Function);
        let names = grouped(all(), MIN_GROUP, |one| (one.name.as_str(), 0));
        let families = grouped(all().filter(|one| !names.contains_key(&(one.name.as_str(), 0))), MIN_FAMILY, |one| {
            (first_word(&one.name), one.length())
        });
        let is_single = |one: &&Definition| {
            !names.contains_key(&(one.name.as_str(), 0))
                && !families.contains_key(&(first_word(&one.name), one.length()))
        };
        let mut single: Vec<&Definition> = all().filter(is_single).collect();
        // Much happens in long functions, and the outermost ones are the interface of the file.
        let size = |one: &Definition| match one.length() {
            24.. => 0,
            8.. => 1,
            _ => 2,
        };
        single.sort_by_key(|one| (size(one), one.indent > 0, one.line));
        let items = single.iter().take(MAX_ITEMS).map(|one| {
            let brief = format!("{}(…)", one.name);
            Item::at(one.line, bare(&one.text).to_owned()).or(brief)
        });
        page.push(Part::new("functions", Weight::Fact, items.collect()).of(single.len() as u64));
        let rest = rows(single.iter().skip(MAX_ITEMS).map(|one| format!("{} {}", one.line, one.name)));
        page.push(Part::uncounted("more functions with their lines", Weight::Shape, rest));
        let listed = rows(families.values().map(|group| family(group)));
        let name = "functions of the same sort, with their first and last lines";
        page.push(Part::uncounted(name, Weight::Shape, listed));
        let mut alike: Vec<_> = names.values().collect();
        alike.sort_by_key(|group| group.first().map_or(0, |one| one.line));
        let names = counted(alike.len() as u64, "name");
        let name = format!("{names} that several functions have, with their first and last lines");
        let rows = rows(alike.iter().map(|group| {
            let name = group.first().map_or("", |one| one.name.as_str());
            format!("{name} ×{} ({})", group.len(), ends(group))
        }));
        page.push(Part::uncounted(name, Weight::Shape, rows));
    }
}

type Key<'a> = (&'a str, u64);

/// Groups definitions by a key that at least `least` of them share.
fn grouped<'a>(
    all: impl Iterator<Item = &'a Definition>,
    least: usize,
    key: impl Fn(&'a Definition) -> Key<'a>,
) -> BTreeMap<Key<'a>, Vec<&'a Definition>> {
    let mut groups: BTreeMap<Key<'a>, Vec<&'a Definition>> = BTreeMap::new();
    for one in all {
        groups.entry(key(one)).or_default().push(one);
    }
    groups.retain(|_, group| group.len() >= least);
    groups
}

/// Describes a family: `New… ×12 (61…420): Parcel, Driver`.
fn family(group: &[&Definition]) -> String {
    let word = group.first().map_or("", |one| first_word(&one.name));
    let names: Vec<&str> = group.iter().map(|one| one.name.strip_prefix(word).unwrap_or(&one.name)).collect();
    format!("{word}… ×{} ({}): {}", group.len(), ends(group), shorten(&names.join(", "), ROW_BYTES))
}

fn ends(group: &[&Definition]) -> String {
    match group {
        [first, .., last] => format!("{}…{}", first.line, last.line),
        _ => String::new(),
    }
}

/// Returns the first word of a name in camel case or with underscores.
fn first_word(name: &str) -> &str {
    let start = name.bytes().take_while(|byte| !byte.is_ascii_lowercase()).count();
    let end = name.bytes().skip(start).take_while(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()).count();
    name.get(..start + end).unwrap_or(name)
}

fn constant(one: &Definition) -> Item {
    let members = if one.members.is_empty() { String::new() } else { format!(" {}", one.members) };
    Item::at(one.line, shorten(&format!("{}{members}", one.text), 240)).or(clip(&one.text, 160))
}

/// Returns types with their members, without those whose members equal another's.
fn members(definitions: &[Definition]) -> Vec<Item> {
    let mut seen: HashSet<&str> = HashSet::new();
    let mut kept: Vec<&Definition> = definitions
        .iter()
        .filter(|one| one.sort == DefinitionKind::Type && !one.members.is_empty() && seen.insert(one.members.as_str()))
        .collect();
    // What a value can be is asked before what it contains.
    kept.sort_by_key(|one| {
        (!one.text.contains("enum ") && !one.text.ends_with('='), !one.text.contains("interface"), one.line)
    });
    kept.iter().take(MAX_ITEMS).map(|one| Item::at(one.line, format!("{}: {}", one.name, one.members))).collect()
}

fn longest(definitions: &[Definition]) -> Vec<Item> {
    let mut all: Vec<&Definition> =
        definitions.iter().filter(|one| one.sort == DefinitionKind::Function && one.length() > 10).collect();
    all.sort_by_key(|one| (u64::MAX - one.length(), one.line));
    let words = all
        .iter()
        .take(MAX_LONGEST_FUNCTIONS)
        .map(|one| format!("{} {} ({}–{})", one.name, count(one.length(), "line", "lines"), one.line, one.end));
    let text = words.collect::<Vec<_>>().join("; ");
    if text.is_empty() { Vec::new() } else { vec![Item::plain(text)] }
}

/// Returns a signature without the opening of its body.
fn bare(text: &str) -> &str {
    text.trim_end().trim_end_matches(['{', ':']).trim_end()
}

/// Returns a type without the words that most types begin with.
fn short(text: &str) -> &str {
    let mut rest = bare(text);
    while let Some(after) = ["export ", "pub ", "public ", "static ", "final ", "class ", "type "]
        .iter()
        .find_map(|word| rest.strip_prefix(word))
    {
        rest = after;
    }
    rest.get(..rest.floor_char_boundary(100)).unwrap_or(rest)
}

fn rows(texts: impl Iterator<Item = String>) -> Vec<Item> {
    let mut rows = joined(texts, "; ", ROW_BYTES);
    rows.truncate(MAX_ITEMS);
    rows
}
