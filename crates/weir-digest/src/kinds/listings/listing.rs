//! Describes the entries of folders: how many of each sort, the largest, the newest, and the odd ones.

use std::cmp::Reverse;

use weir_core::wording::{counted, size};

use super::folders::Folders;
use super::ls::Entry;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::shared::counts::{LargestN, Tally, extension};
use crate::kinds::shared::dates::Stamp;
use crate::text::{clip, shorten};
use crate::{Item, Page, Part, Weight};

/// The maximum number of entries kept of one sort.
const MAX_ITEMS: usize = 60;
const MAX_NAME_BYTES: usize = 300;
/// The maximum number of links kept, and of links on one line.
const MAX_LINKS: usize = 2_000;
const LINKS_PER_LINE: usize = 4;
/// The maximum number of different permissions counted in one folder.
const MAX_MODES: usize = 16;

#[derive(Default)]
pub(super) struct Listing {
    folder: String,
    folders: u64,
    files: u64,
    directories: u64,
    links: u64,
    others: u64,
    names: u64,
    bytes: u64,
    /// Whether sizes are printed in round numbers: `1.5K`.
    rounded: bool,
    owners: Tally<3_000>,
    modes: Tally<3_000>,
    extensions: Tally<3_000>,
    names_met: Tally<3_000>,
    by_folder: Folders,
    biggest: LargestN<u64, 12>,
    newest: LargestN<Stamp, 6>,
    oldest: LargestN<Reverse<Stamp>, 3>,
    newest_directories: LargestN<Stamp, 4>,
    odd: KeptItems<MAX_ITEMS>,
    alone: KeptItems<MAX_ITEMS>,
    empty: KeptItems<MAX_ITEMS>,
    link_items: Vec<String>,
    directory_items: KeptItems<MAX_ITEMS>,
    shown: KeptItems<MAX_ITEMS>,
    /// The permissions of the files in this folder, each with its count and the first file that has it.
    here: Vec<(String, u64, String)>,
}

impl Listing {
    pub(super) fn begin(&mut self, folder: &str) {
        self.end();
        self.folders += 1;
        self.folder = clip(folder, MAX_NAME_BYTES);
        self.by_folder.begin(&self.folder);
    }

    /// Takes a line of a short listing, which is just a name.
    pub(super) fn name(&mut self, name: &str) {
        self.names += 1;
        self.extensions.add(extension(name).unwrap_or("none"));
        self.names_met.add(name);
        self.by_folder.add(0);
        self.shown.add(|| Item::plain(path(&self.folder, name)));
    }

    pub(super) fn entry(&mut self, entry: &Entry<'_>, line: &str) {
        if matches!(entry.name, "." | "..") {
            return;
        }
        let folder = std::mem::take(&mut self.folder);
        if !entry.owner.contains("  ") {
            self.owners.add(entry.owner);
        } else {
            self.owners.add(&entry.owner.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        let bytes = entry.bytes.filter(|_| entry.mode.starts_with('-')).unwrap_or(0);
        let at = || match folder.is_empty() {
            true => clip(line, MAX_NAME_BYTES),
            false => format!("{} (in {folder})", clip(line, MAX_NAME_BYTES)),
        };
        match entry.mode.as_bytes().first() {
            Some(b'd') => {
                self.directories += 1;
                self.directory_items.add(|| Item::plain(path(&folder, entry.name)));
            }
            Some(b'l') => {
                self.links += 1;
                if self.link_items.len() < MAX_LINKS {
                    self.link_items.push(path(&folder, entry.name));
                }
            }
            Some(b'-') => self.file(entry, &folder, bytes, &at),
            _ => {
                self.others += 1;
                self.odd.add(|| Item::plain(at()));
            }
        }
        if is_odd(entry) {
            self.odd.add(|| Item::plain(at()));
        }
        self.by_folder.add(bytes);
        if let Some(when) = entry.when {
            let text = || format!("{} {}", entry.date, path(&folder, entry.name));
            match entry.mode.starts_with('d') {
                true => self.newest_directories.offer(when, text),
                false => {
                    self.newest.offer(when, text);
                    self.oldest.offer(Reverse(when), text);
                }
            }
        }
        self.folder = folder;
    }

    fn file(&mut self, entry: &Entry<'_>, folder: &str, bytes: u64, at: &dyn Fn() -> String) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.rounded |= !entry.sized.bytes().all(|byte| byte.is_ascii_digit());
        self.modes.add(entry.mode);
        self.extensions.add(extension(entry.name).unwrap_or("none"));
        self.names_met.add(entry.name);
        self.biggest.offer(bytes, || format!("{} {} {}", entry.sized, entry.date, path(folder, entry.name)));
        if entry.bytes == Some(0) {
            self.empty.add(|| Item::plain(path(folder, entry.name)));
        }
        self.shown.add(|| Item::plain(at()));
        if let Some((_, count, _)) = self.here.iter_mut().find(|(mode, ..)| mode == entry.mode) {
            *count += 1;
        } else if self.here.len() < MAX_MODES {
            self.here.push((entry.mode.to_owned(), 1, at()));
        }
    }

    /// Ends a folder. A file whose permissions no other there has may have them by mistake.
    fn end(&mut self) {
        let here = std::mem::take(&mut self.here);
        let most = here.iter().map(|(_, count, _)| *count).max().unwrap_or(0);
        // Next to an executable, a file that is not executable stands out even if there are only two.
        let runs = |mode: &str| mode.as_bytes().get(3) == Some(&b'x');
        let mixed = here.iter().any(|(mode, ..)| runs(mode)) && here.iter().any(|(mode, ..)| !runs(mode));
        for (_, count, line) in here {
            if count == 1 && (most >= 3 || mixed) && !self.odd.items.iter().any(|item| item.text == line) {
                self.alone.add(|| Item::plain(line));
            }
        }
    }

    pub(super) fn page(mut self) -> Page {
        self.end();
        let mut texts = Vec::new();
        if self.names > 0 {
            texts.push(counted(self.names as usize, "entry", "entries"));
        } else {
            texts.push(counted(self.files as usize, "file", "files"));
            texts.push(counted(self.directories as usize, "directory", "directories"));
            texts.extend((self.links > 0).then(|| counted(self.links as usize, "link", "links")));
            let about = if self.rounded { "about " } else { "" };
            texts.push(format!("{about}{} in all", size(self.bytes)));
        }
        texts.extend((self.others > 0).then(|| format!("{} of other sorts", self.others)));
        if self.folders > 0 {
            texts.push(format!("{} listed", counted(self.folders as usize, "folder", "folders")));
        }
        let mut page = Page::new(format!("ls: {}", texts.join(", ")));
        page.push(self.counts());
        page.push(self.odd.part("odd permissions and sorts", Weight::Fact));
        page.push(Part::new("biggest files", Weight::Fact, self.biggest.into_items()).of(self.files));
        page.push(self.alone.part("files whose permissions no other in their folder has", Weight::Fact));
        page.push(self.empty.part("empty files", Weight::Fact));
        let others = self.files + self.links + self.others;
        page.push(Part::new("newest", Weight::Fact, self.newest.into_items()).of(others));
        page.push(links(self.links, self.link_items));
        page.push(Part::new("oldest", Weight::Shape, self.oldest.into_items()).of(others));
        page.push(self.by_folder.part(self.names == 0 && !self.rounded));
        if self.folders < 2 {
            let newest = self.newest_directories.into_items();
            page.push(Part::new("newest directories", Weight::Shape, newest).of(self.directories));
            page.push(self.directory_items.part("directories", Weight::Shape));
        }
        page.push(self.shown.part("entries as listed", Weight::Sample));
        page
    }

    fn counts(&self) -> Part {
        let mut items = vec![Item::plain(format!("files by extension: {}", self.extensions.in_line(14)))];
        items.extend(self.modes.line("by permissions", 1, 8));
        items.extend(self.owners.line("by owner", 1, 6));
        if self.folders > 1 && self.names_met.sorted().first().is_some_and(|(_, count)| *count > 2) {
            items.push(Item::plain(format!("most frequent names: {}", self.names_met.in_line(6))));
        }
        Part::uncounted("counts", Weight::Fact, items)
    }
}

/// Returns links, several on a line; those with short names in few folders come first.
fn links(all: u64, mut links: Vec<String>) -> Part {
    links.sort_by_cached_key(|link| {
        let name = link.split(" -> ").next().unwrap_or(link);
        (name.bytes().filter(|byte| b"/-._[".contains(byte)).count(), name.len())
    });
    let items = links.chunks(LINKS_PER_LINE).take(MAX_ITEMS).map(|row| Item::plain(row.join(", "))).collect();
    Part::uncounted(counted(all as usize, "link", "links"), Weight::Fact, items)
}

/// Returns whether everybody may write an entry, or it runs as its owner, or it is a dangling link.
fn is_odd(entry: &Entry<'_>) -> bool {
    let letter = |place: usize| entry.mode.as_bytes().get(place).copied().unwrap_or(b'-');
    if letter(0) == b'l' {
        return letter(1) == b'?';
    }
    let sticky = matches!(letter(9), b't' | b'T');
    let open = letter(8) == b'w' && !sticky;
    let closed = letter(0) == b'-' && letter(1) == b'-';
    open || closed || [3, 6].iter().any(|&place| matches!(letter(place), b's' | b'S')) || letter(1) == b'?'
}

fn path(folder: &str, name: &str) -> String {
    let slash = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
    shorten(&format!("{folder}{slash}{name}"), MAX_NAME_BYTES)
}
