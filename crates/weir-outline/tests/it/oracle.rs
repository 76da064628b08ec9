//! Compares outlines with the language's own parser.
//!
//! An oracle returns the public items of a file, each with its path (the names from the outside in) and its signature.
//! Our items are compared by path; signatures are compared without space and without a comma before a closing bracket.

pub(crate) mod go;
mod programs;
pub(crate) mod python;
pub(crate) mod rust;
pub(crate) mod typescript;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use weir_outline::{Item, ItemKind, ItemOrigin, Outline, language_of, outline};

#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
pub(crate) struct Public {
    /// The names from the outside in, separated by full stops.
    pub path: String,
    /// Its tokens without body and comments.
    pub signature: String,
}

/// How well an outline agrees with its oracle.
#[derive(Debug, Default)]
pub(crate) struct Agreement {
    pub files: usize,
    /// Files that the oracle could not read, or that have no outline.
    pub left_out: usize,
    pub items: usize,
    /// Items that we found.
    pub ours: usize,
    pub both: usize,
    /// Of these, items with the same signature.
    pub equal: usize,
    pub differences: Vec<String>,
}

impl Agreement {
    pub(crate) fn recall(&self) -> f64 {
        self.both as f64 / self.items.max(1) as f64
    }

    pub(crate) fn precision(&self) -> f64 {
        self.both as f64 / self.ours.max(1) as f64
    }

    pub(crate) fn signatures(&self) -> f64 {
        self.equal as f64 / self.both.max(1) as f64
    }

    pub(crate) fn add(&mut self, path: &Path, oracle: &[Public]) {
        let text = std::fs::read_to_string(path).unwrap();
        let language = language_of(path, &text).unwrap_or_else(|| panic!("{}: no language", path.display()));
        let Ok(outline) = outline(language, &text) else {
            self.left_out += 1;
            return;
        };
        self.compare(path, &public(&outline), oracle);
    }

    fn compare(&mut self, path: &Path, ours: &[Public], oracle: &[Public]) {
        self.files += 1;
        self.items += oracle.len();
        self.ours += ours.len();
        let mut by_path: HashMap<&str, Vec<&Public>> = HashMap::new();
        ours.iter().for_each(|item| by_path.entry(&item.path).or_default().push(item));
        for item in oracle {
            let found = by_path.get_mut(item.path.as_str()).filter(|found| !found.is_empty());
            let Some(found) = found else {
                self.differ(path, format!("missed {} `{}`", item.path, item.signature));
                continue;
            };
            self.both += 1;
            // Overloads share a path, so match the one with the same signature.
            let same = found.iter().position(|other| bare(&other.signature) == bare(&item.signature));
            let other = found.remove(same.unwrap_or(0));
            self.equal += usize::from(same.is_some());
            if same.is_none() {
                self.differ(path, format!("{}: `{}` is `{}`", item.path, other.signature, item.signature));
            }
        }
        for item in by_path.into_values().flatten() {
            self.differ(path, format!("invented {} `{}`", item.path, item.signature));
        }
    }

    fn differ(&mut self, path: &Path, what: String) {
        if self.differences.len() < 400 {
            self.differences.push(format!("{}: {what}", path.display()));
        }
    }

    /// Prints the result, and with `WEIR_ORACLE_DIFFERENCES` the differences. Fails below a minimum share.
    pub(crate) fn check(&self, language: &str, least: f64) {
        println!("{}\n{:<11} {self}", Self::HEAD, language);
        if std::env::var_os("WEIR_ORACLE_DIFFERENCES").is_some() {
            self.differences.iter().for_each(|difference| println!("{difference}"));
        }
        let first = self.differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
        assert!(self.files > 0 && self.items > 0, "nothing was compared");
        for share in [self.recall(), self.precision(), self.signatures()] {
            assert!(share >= least, "{language} {self}\nbelow {least}; the first differences:\n{first}");
        }
    }

    const HEAD: &str = "language     files   items  recall  precision  signature equal";
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (recall, precision, signatures) = (self.recall(), self.precision(), self.signatures());
        write!(f, "{:>6} {:>7} {recall:.5}    {precision:.5}          {signatures:.5}", self.files, self.items)?;
        match self.left_out {
            0 => Ok(()),
            left => write!(f, "  ({left} files left out)"),
        }
    }
}

/// Returns the public items of an outline, with one entry per name.
pub(crate) fn public(outline: &Outline) -> Vec<Public> {
    let mut found = Vec::new();
    outline.items.iter().for_each(|item| flatten(item, "", &mut found));
    found
}

fn flatten(item: &Item, above: &str, found: &mut Vec<Public>) {
    if !item.is_offered() || item.place != ItemOrigin::Program {
        return;
    }
    // The members of a trait implementation are known from the trait.
    if item.kind == ItemKind::Implementation && item.names.len() > 1 {
        return;
    }
    let under = |name: &str| if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
    if item.kind != ItemKind::Implementation {
        found.extend(item.names.iter().map(|name| Public { path: under(name), signature: item.signature.clone() }));
    }
    let inside = under(&item.names.first().map(|name| name.split_whitespace().collect::<String>()).unwrap_or_default());
    item.children.iter().for_each(|child| flatten(child, &inside, found));
}

/// Returns a signature without space, and without a comma before a closing bracket.
fn bare(signature: &str) -> String {
    let mut bare: String = signature.chars().filter(|c| !c.is_whitespace()).collect();
    for close in [")", "]", "}", ">"] {
        bare = bare.replace(&format!(",{close}"), close);
    }
    bare.trim_end_matches([';', ',']).to_owned()
}

/// Returns the files below a folder with one of these extensions, sorted, so every run takes the same ones.
pub(crate) fn files_below(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                folders.push(path);
            } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns at most `count` of the files, spread evenly.
pub(crate) fn spread(files: Vec<PathBuf>, count: usize) -> Vec<PathBuf> {
    let step = (files.len() / count.max(1)).max(1);
    files.into_iter().step_by(step).take(count).collect()
}
