//! `tree`: folders and files drawn with lines, with or without sizes, permissions and dates.

use std::collections::{BTreeSet, HashMap};
use std::io;

use super::ls::bytes_of;
use crate::kinds::Kind;
use crate::kinds::fold::Fold;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::shared::counts::{LargestN, Tally, extension};
use crate::kinds::shared::dates;
use crate::sample::Sample;
use crate::text::{clip, count, shorten};
use crate::{Item, Line, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("tree", is, read);

const MAX_NAME_BYTES: usize = 200;
const MAX_TOP_ENTRIES: usize = 300;
/// The maximum number of folders kept with the names of their first entries, of those names, of names on a line, and
/// the depth to which folders are known by name.
const MAX_FOLDERS: usize = 500;
const MAX_NAMES: usize = 8;
const NAMES_PER_LINE: usize = 10;
const MAX_DEPTH: usize = 64;
const MAX_PACKAGES: usize = 3_000;

fn is(sample: &Sample<'_>) -> bool {
    let drawn = sample.full_lines().filter(|line| entry(line).is_some()).count();
    // A package with its version is `npm ls`, which is not about files.
    let packages = sample.full_lines().filter(|line| entry(line).is_some_and(|(_, name)| is_package(name))).count();
    drawn >= 3
        && packages * 2 < drawn
        && sample
            .mostly(90, |line| entry(line).is_some() || total(line).is_some() || is_root(line) || is_progress(line))
}

/// Recognises what `cargo` prints before a tree: `    Updating git repository`, `  Downloaded serde v1.0.200`.
fn is_progress(line: &str) -> bool {
    line.starts_with(' ') && crate::kinds::packages::cargo_build::opens(line, crate::About::default())
}

fn is_root(line: &str) -> bool {
    let path = line.rsplit("]  ").next().unwrap_or(line);
    !path.contains(' ') || package(line).is_some() || line.starts_with('[') || path.starts_with(['.', '/'])
}

fn is_package(name: &str) -> bool {
    name.rsplit_once('@').is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
        || name.starts_with("UNMET ")
}

/// Returns the depth of an entry, and its text after the lines.
fn entry(line: &str) -> Option<(usize, &str)> {
    let mut depth = 1;
    let mut rest = line;
    // Trees may be drawn with no-break spaces.
    loop {
        let next = ["│   ", "│\u{a0}\u{a0} ", "|   ", "    ", "\u{a0}\u{a0}\u{a0} ", "│  "]
            .iter()
            .find_map(|bar| rest.strip_prefix(bar));
        match next {
            Some(next) if depth < 1_000 => {
                depth += 1;
                rest = next;
            }
            _ => break,
        }
    }
    let marks = ["├── ", "└── ", "├──\u{a0}", "└──\u{a0}", "|-- ", "`-- ", "├─ ", "└─ ", "+-- ", "\\-- "];
    marks.iter().find_map(|mark| rest.strip_prefix(mark)).map(|name| (depth, name.trim_start_matches('\u{a0}')))
}

/// Recognises ` 12 bytes used in 3 directories, 4 files`.
fn total(line: &str) -> Option<&str> {
    let text = line.trim();
    let ends = text.ends_with(" files")
        || text.ends_with(" file")
        || text.ends_with(" directories")
        || text.ends_with(" directory");
    (ends && text.starts_with(|c: char| c.is_ascii_digit())).then_some(text)
}

/// Returns the name and the version of `name v1.2.3 (*)`.
fn package(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(" v")?;
    let version = rest.split(' ').next()?;
    (!name.contains(' ') && version.starts_with(|c: char| c.is_ascii_digit())).then_some((name, version))
}

/// Returns the size in the brackets before a name, as printed, and the name. A date may follow the size.
fn sized(text: &str) -> (Option<&str>, &str) {
    let Some((inside, name)) = text.strip_prefix('[').and_then(|rest| rest.split_once("]  ")) else {
        return (None, text);
    };
    let is_before = |word: &&str| dates::month_of(word).is_none() && dates::iso(word).is_none();
    let size = inside.split_whitespace().take_while(is_before).filter(|word| bytes_of(word).is_some()).last();
    (size, name)
}

#[derive(Default)]
struct Tree {
    entries: u64,
    folders: u64,
    /// The names of the folders that may contain the next entry.
    path: Vec<String>,
    /// The previous entry, which is a folder if the next is deeper.
    last: Option<PreviousEntry>,
    extensions: Tally<3_000>,
    /// The versions of packages, if this is a tree of packages: `cargo tree`.
    packages: HashMap<String, BTreeSet<String>>,
    /// Whether there are more packages than are kept.
    more_packages: bool,
    top_counts: Tally<3_000>,
    biggest: LargestN<u64, 10>,
    sized: bool,
    empty: KeptItems<40>,
    links: KeptItems<40>,
    per_folder: Tally<3_000>,
    deepest: (usize, String),
    totals: Vec<Item>,
    root: Option<Item>,
    /// Packages at the top, each with those directly below it, and how many there are.
    roots: Vec<FolderContents>,
    all_roots: u64,
    /// How many entries are below each of them.
    below_roots: Tally<3_000>,
    now: String,
    /// Folders by their depth, with the number of their entries and the first of them.
    inside: Vec<FolderContents>,
    folder_places: HashMap<String, usize>,
}

struct FolderContents {
    depth: usize,
    path: String,
    all: u64,
    names: Vec<String>,
}

struct PreviousEntry {
    depth: usize,
    size: Option<String>,
    name: String,
    line: u64,
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut tree = Tree::default();
    let mut progress = 0;
    let log = Fold::rest_of(source, |line| {
        if let Some((depth, text)) = entry(line.text) {
            tree.add(line.number, depth, text);
        } else if is_progress(line.text) {
            progress += 1;
        } else if package(line.text).is_some() {
            tree.begin_package(line);
        } else if let Some(total) = total(line.text) {
            tree.totals.push(Item::plain(clip(total, MAX_NAME_BYTES)));
            tree.totals.truncate(20);
        } else if line.number == 1 && tree.root.is_none() {
            tree.root = Some(Item::at(1, line.clip(MAX_NAME_BYTES)));
        } else {
            return line.text.trim().is_empty() || line.text.ends_with("-dependencies]");
        }
        true
    })?;
    tree.count_previous(0);
    let folded =
        if progress > 0 { format!(", {} of progress folded", count(progress, "line", "lines")) } else { String::new() };
    let page = log.beside(tree.entries, || tree.page());
    Ok(page.map(|page| Page { what: page.what + &folded, ..page }))
}

impl Tree {
    /// Begins a package that others are below: the root of `cargo tree`, or one of many with `-d`.
    fn begin_package(&mut self, line: &Line<'_>) {
        self.count_previous(0);
        self.path.clear();
        if let Some((name, version)) = package(line.text) {
            self.add_package(name, version);
        }
        self.root.get_or_insert_with(|| Item::at(line.number, line.clip(MAX_NAME_BYTES)));
        self.now = line.clip(MAX_NAME_BYTES);
        self.all_roots += 1;
        if self.roots.len() < MAX_TOP_ENTRIES {
            let path = line.clip(MAX_NAME_BYTES);
            self.roots.push(FolderContents { depth: 0, path, all: 0, names: Vec::new() });
        }
    }

    fn add_package(&mut self, name: &str, version: &str) {
        if self.packages.len() < MAX_PACKAGES || self.packages.contains_key(name) {
            let versions = self.packages.entry(name.to_owned()).or_default();
            if versions.len() < 10 {
                versions.insert(version.to_owned());
            }
        } else {
            self.more_packages = true;
        }
    }

    fn add(&mut self, line: u64, depth: usize, text: &str) {
        self.count_previous(depth);
        self.entries += 1;
        if self.all_roots > 0 {
            self.below_roots.add(&self.now);
        }
        let (size, name) = sized(text);
        self.sized |= size.is_some();
        self.last =
            Some(PreviousEntry { depth, size: size.map(str::to_owned), name: clip(name, MAX_NAME_BYTES), line });
    }

    /// Keeps an entry with its folder. The size of a folder itself is not worth showing.
    fn keep(&mut self, folder: &str, last: &PreviousEntry, is_folder: bool) {
        let place = match self.folder_places.get(folder) {
            Some(&place) => place,
            None if self.inside.len() < MAX_FOLDERS => {
                let (depth, path) = (last.depth, folder.to_owned());
                self.inside.push(FolderContents { depth, path, all: 0, names: Vec::new() });
                self.folder_places.insert(folder.to_owned(), self.inside.len() - 1);
                self.inside.len() - 1
            }
            None => return,
        };
        let Some(inside) = self.inside.get_mut(place) else { return };
        inside.all += 1;
        let most = if last.depth == 1 { MAX_TOP_ENTRIES } else { MAX_NAMES };
        if inside.names.len() < most {
            let slash = if is_folder && !last.name.ends_with('/') { "/" } else { "" };
            let size = last.size.as_deref().filter(|size| !matches!(*size, "4.0K" | "4096"));
            let size = size.filter(|_| last.depth == 1).map(|size| format!(" [{size}]")).unwrap_or_default();
            inside.names.push(format!("{}{slash}{size}", last.name));
        }
    }

    /// Counts the previous entry, now that it is known whether it is a folder.
    fn count_previous(&mut self, depth: usize) {
        let Some(last) = self.last.take() else { return };
        self.path.truncate(last.depth - 1);
        let folder = self.path.join("/");
        let is_folder = depth > last.depth || last.name.ends_with('/');
        if let Some((name, version)) = package(&last.name) {
            self.add_package(name, version);
        }
        if last.depth == 1
            && self.all_roots == self.roots.len() as u64
            && let Some(root) = self.roots.last_mut()
        {
            root.all += 1;
            if root.names.len() < MAX_NAMES {
                root.names.push(last.name.clone());
            }
        }
        let path = if folder.is_empty() { last.name.clone() } else { format!("{folder}/{}", last.name) };
        if let Some(top) = self.path.first() {
            self.top_counts.add(top);
        }
        self.per_folder.add(if folder.is_empty() { "." } else { &folder });
        self.keep(&folder, &last, is_folder);
        if last.depth > self.deepest.0 {
            self.deepest = (last.depth, shorten(&path, MAX_NAME_BYTES));
        }
        if is_folder {
            self.folders += 1;
            if self.path.len() < MAX_DEPTH {
                self.path.push(last.name.trim_end_matches('/').to_owned());
            }
            return;
        }
        self.extensions.add(extension(last.name.split(" -> ").next().unwrap_or(&last.name)).unwrap_or("none"));
        if last.name.contains(" -> ") {
            self.links.add(|| Item::at(last.line, shorten(&path, MAX_NAME_BYTES)));
        }
        if let Some((size, bytes)) = last.size.as_deref().and_then(|size| Some((size, bytes_of(size)?))) {
            self.biggest.offer(bytes, || format!("{size} {}", shorten(&path, MAX_NAME_BYTES)));
            if bytes == 0 {
                self.empty.add(|| Item::at(last.line, shorten(&path, MAX_NAME_BYTES)));
            }
        }
    }

    fn page(self) -> Page {
        let files = self.entries - self.folders;
        let has_roots = self.all_roots > 1;
        let roots = if has_roots { format!(" below {} at the top", self.all_roots) } else { String::new() };
        let entries = count(self.entries, "entry", "entries");
        let mut page = Page::new(format!("tree: {entries}{roots}, {} with children and {files} without", self.folders));
        let mut totals = self.totals;
        totals.extend(self.root.filter(|_| !has_roots));
        page.push(Part::new("totals and root", Weight::Fact, totals));
        let mut counts = Vec::new();
        if self.packages.is_empty() {
            counts.push(Item::plain(format!("by extension: {}", self.extensions.in_line(15))));
        } else {
            let more = if self.more_packages { "more than " } else { "" };
            counts.push(Item::plain(format!("{more}{} different packages", self.packages.len())));
            page.push(several(&self.packages));
        }
        if has_roots {
            let told = self.roots.iter().map(FolderContents::describe).collect();
            page.push(Part::new("at the top, with what is directly below", Weight::Fact, told).of(self.all_roots));
        }
        let below = if has_roots { &self.below_roots } else { &self.top_counts };
        counts.push(Item::plain(format!("entries below the top: {}", below.in_line(20))));
        let levels = count(self.deepest.0 as u64, "level", "levels");
        counts.push(Item::plain(format!("deepest, {levels}: {}", self.deepest.1)));
        page.push(Part::uncounted("counts", Weight::Fact, counts));
        let mut inside = self.inside;
        inside.sort_by_key(|folder| folder.depth);
        let top = if inside.is_empty() { None } else { Some(inside.remove(0)) };
        page.parts.extend(top.filter(|_| !has_roots).map(|top| top.as_top()));
        if self.sized {
            page.push(Part::new("biggest files", Weight::Fact, self.biggest.into_items()));
            page.push(self.empty.part("empty files", Weight::Fact));
        }
        page.push(self.links.part("links", Weight::Fact));
        if self.packages.is_empty() {
            let fullest = Item::plain(self.per_folder.in_line(12));
            page.push(Part::uncounted("fullest folders", Weight::Fact, vec![fullest]));
            let (folders, told) = (self.folders, inside.iter().map(FolderContents::describe).collect());
            page.push(Part::new("what is in the folders", Weight::Shape, told).of(folders));
        }
        page
    }
}

impl FolderContents {
    /// Returns the entries at the top, several on a line.
    fn as_top(&self) -> Part {
        let items = self.names.chunks(NAMES_PER_LINE).map(|row| Item::plain(row.join(", "))).collect();
        Part::uncounted(format!("top level, {}", count(self.all, "entry", "entries")), Weight::Fact, items)
    }

    fn describe(&self) -> Item {
        let path = shorten(&self.path, MAX_NAME_BYTES);
        if self.all == 0 {
            return Item::plain(path);
        }
        let left = self.all - self.names.len() as u64;
        let more = if left > 0 { format!(", {left} more") } else { String::new() };
        Item::plain(format!("{path} ({}): {}{more}", self.all, self.names.join(", ")))
    }
}

/// Returns the packages that occur in more than one version.
fn several(packages: &HashMap<String, BTreeSet<String>>) -> Part {
    let mut several: Vec<(&String, &BTreeSet<String>)> =
        packages.iter().filter(|(_, versions)| versions.len() > 1).collect();
    several.sort();
    let told = several.iter().map(|(name, versions)| {
        Item::plain(format!("{name}: {}", versions.iter().map(String::as_str).collect::<Vec<_>>().join(", ")))
    });
    Part::new("packages in several versions", Weight::Fact, told.collect())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn more_packages_than_are_kept_are_not_a_number() {
        let below: String = (0..3_001).map(|number| format!("├── p{number} v1.0.0\n")).collect();
        let told = digest(&format!("shop v0.1.0 (/srv/shop)\n{below}"), 600);
        assert!(told.contains("more than 3000 different packages"), "{told}");
    }

    #[test]
    fn sizes_and_folders() {
        let tree = "[     9000]  .
├── [       41]  README.md
├── [     4096]  src
│\u{a0}\u{a0} ├── [      120]  lib.rs
│\u{a0}\u{a0} └── [        0]  empty.rs
└── [       11]  now -> src

       13268 bytes used in 1 directory, 4 files
";
        check(tree, 500).shows(&expect![[r#"
            tree: 5 entries, 1 with children and 4 without
            == totals and root: 2
            13268 bytes used in 1 directory, 4 files
            1: [     9000]  .
            == counts
            by extension: rs 2, md 1, none 1
            entries below the top: src 2
            deepest, 2 levels: src/lib.rs
            == top level, 3 entries
            README.md [41], src/, now -> src [11]
            == biggest files: 4
            120 src/lib.rs
            41 README.md
            11 now -> src
            0 src/empty.rs
            == empty files: 1
            5: src/empty.rs
            == links: 1
            6: now -> src
            == fullest folders
            . 3, src 2
            == what is in the folders: 1
            src (2): lib.rs, empty.rs"#]]);
    }

    #[test]
    fn a_tree_of_packages_is_told_by_packages() {
        let progress: String = (0..30).map(|n| format!("  Downloaded crate{n} v1.{n}.0\n")).collect();
        let tree: String = (0..9).map(|n| format!("├── dep{n} v1.{n}.0\n│   └── sub v0.{}.0\n", n % 2)).collect();
        let told = digest(&format!("{progress}shop v0.1.0 (/srv/shop)\n{tree}"), 400);
        assert!(told.contains("30 lines of progress folded") && told.contains("dep3 v1.3.0"), "{told}");
        assert!(told.contains("sub: 0.0, 0.1") || told.contains("sub: 0.0.0, 0.1.0"), "{told}");
        let twice: String = (0..9)
            .map(|n| {
                format!(
                    "base{} v0.{}.0\n├── needs{n} v1.0.0\n└── wants{n} v2.0.0\n    └── shop v0.1.0\n\n",
                    n / 2,
                    n % 2
                )
            })
            .collect();
        let told = digest(&twice, 400);
        assert!(told.contains("base0 v0.0.0 (2): needs0 v1.0.0, wants0 v2.0.0"), "{told}");
        assert!(told.contains("base0: 0.0.0, 0.1.0") && !told.contains("fullest folders"), "{told}");
        assert!(told.contains("tree: 27 entries below 9 at the top") && !told.contains("top level"), "{told}");
    }

    #[test]
    fn packages_in_several_versions_are_told() {
        let tree =
            "app v0.1.0\n├── bit-set v0.8.0\n│   └── bit-vec v0.8.0\n└── other v1.0.0\n    └── bit-set v0.5.0 (*)\n";
        assert!(digest(tree, 400).contains("bit-set: 0.5.0, 0.8.0"));
        let npm = "app@1.0.0 /srv/app\n├── a@1.2.3\n├── b@2.0.0\n└── c@3.0.0\n";
        assert!(!digest(npm, 400).contains("; tree: "));
    }
}
