//! Describes the files and the changes of a diff.

use super::{File, Hunk};
use crate::kinds::shared::counts::{Tally, extension, folder};
use crate::text::count;
use crate::{Item, Part, Weight};

impl File {
    pub(super) fn describe(&self) -> String {
        let from = self.from.as_ref().map(|from| format!("{from} => ")).unwrap_or_default();
        let states = if self.states.is_empty() { String::new() } else { format!(" ({})", self.states.join(", ")) };
        let counts = match (self.added, self.removed) {
            (0, 0) => String::new(),
            (added, 0) => format!(" +{added}"),
            (0, removed) => format!(" -{removed}"),
            (added, removed) => format!(" +{added} -{removed}"),
        };
        format!("{from}{}{counts}{states}", self.path)
    }
}

impl Hunk {
    /// Returns whether it is one of the changes that are shown with their count.
    fn is_told(&self, swaps: &Tally) -> bool {
        let [before, after] = self.changes.as_slice() else { return false };
        let (Some(before), Some(after)) = (before.get(1..), after.get(1..)) else { return false };
        swaps.get(&swap(before.trim(), after.trim())) > 2
    }

    fn describe(&self, path: &str) -> Item {
        let head = format!("{path} {}", self.head);
        let more = if self.left_out == 0 {
            String::new()
        } else {
            format!("\n({})", count(self.left_out as u64, "more changed line", "more changed lines"))
        };
        Item::at(self.line, format!("{head}\n{}{more}", self.changes.join("\n"))).or(head)
    }
}

/// Returns the files, with those that were not just modified grouped by their state, since readers ask for them first.
pub(super) fn listed(files: &[File], order: &[usize], all: u64) -> Vec<Part> {
    let with = |state: Option<&str>| -> Vec<Item> {
        let is = |file: &&File| file.states.first().copied() == state;
        order.iter().filter_map(|&place| files.get(place)).filter(is).map(|file| Item::plain(file.describe())).collect()
    };
    let mut parts = vec![];
    let mut others = all;
    for state in ["new", "deleted", "renamed", "copied", "mode changed", "binary"] {
        let items = with(Some(state));
        others = others.saturating_sub(items.len() as u64);
        if !items.is_empty() {
            parts.push(Part::new(format!("{state} files"), Weight::Fact, items));
        }
    }
    let items = with(None);
    if others > 0 {
        parts.insert(0, Part::new("modified files, most changed first", Weight::Fact, items).of(others));
    }
    parts
}

/// Returns a replacement on one line.
pub(super) fn swap(before: &str, after: &str) -> String {
    format!("-{before}  +{after}")
}

/// Returns changes of one line that were made in several places.
pub(super) fn repeated(swaps: &Tally) -> Option<Part> {
    let sorted = swaps.sorted();
    let often = sorted.iter().filter(|(_, count)| *count > 2);
    let items: Vec<Item> = often.clone().take(8).map(|(text, count)| Item::plain(format!("{text} ×{count}"))).collect();
    (!items.is_empty())
        .then(|| Part::new("the same change in several places", Weight::Fact, items).of(often.count() as u64))
}

/// Returns the changes: the first hunk of each file before its second, which shows as many files as possible.
pub(super) fn changes(
    files: &[File],
    mut hunks: Vec<Hunk>,
    all: (u64, Option<&Tally>),
    order: &[usize],
) -> Option<Part> {
    let (all, swaps) = all;
    let mut ranks = vec![0; files.len()];
    order.iter().enumerate().for_each(|(rank, &place)| ranks[place] = rank);
    hunks.retain(|hunk| !hunk.changes.is_empty());
    // Files at the top are few, short and about the whole project: versions, manifests, changelogs.
    hunks.sort_by_cached_key(|hunk| {
        let path = &files[hunk.file].path;
        (
            is_made(path) || swaps.is_some_and(|swaps| hunk.is_told(swaps)),
            hunk.place > 0 || path.contains('/'),
            hunk.place,
            ranks[hunk.file],
        )
    });
    let told = hunks.iter().map(|hunk| hunk.describe(&files[hunk.file].path)).collect();
    (all > 0).then(|| Part::new("changes", Weight::Shape, told).of(all))
}

pub(super) fn by_folder(files: &[File]) -> Part {
    let mut folders = Tally::<500>::default();
    let mut extensions = Tally::<100>::default();
    for file in files {
        folders.add(folder(&file.path, 2));
        extensions.add(extension(&file.path).unwrap_or("none"));
    }
    let items = vec![
        Item::plain(format!("files by folder: {}", folders.in_line(10))),
        Item::plain(format!("by extension: {}", extensions.in_line(10))),
    ];
    Part::uncounted("where the files are", Weight::Shape, items)
}

/// Returns whether a file is rarely read by people: lock files, generated and recorded text.
pub(super) fn is_made(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lock =
        name.ends_with(".lock") || name.ends_with(".sum") || name.contains("-lock.") || name.ends_with(".min.js");
    lock || [".svg", ".snap", ".map", ".pb.go", ".csv", ".golden"].iter().any(|end| name.ends_with(end))
        || ["dist/", "vendor/", "node_modules/", "/fixtures/", "/testdata/"].iter().any(|part| path.contains(part))
}
