//! Reads the counts per file that `--stat` prints.

use crate::kinds::shared::counts::{Tally, folder};
use crate::text::{count, number, shorten};
use crate::{Item, Page, Part, Weight};

const MAX_FILES: usize = 3_000;

#[derive(Default)]
pub(super) struct Stat {
    files: Vec<(u64, String)>,
    rows: u64,
    totals: Option<Totals>,
}

/// The line after the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) files: u64,
    pub(super) added: u64,
    pub(super) removed: u64,
}

/// Parses a row: the path, and the number of changed lines.
pub(super) fn row(text: &str) -> Option<(&str, u64)> {
    let (path, counts) = text.strip_prefix(' ')?.rsplit_once('|')?;
    let path = path.trim();
    let counts = counts.strip_prefix(' ')?.trim();
    // Compilers number the lines of an excerpt in the same way.
    if path.is_empty() || path.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if counts.starts_with("Bin") || counts == "Unmerged" {
        return Some((path, 0));
    }
    let (changes, signs) = number(counts)?;
    let signs = signs.strip_prefix(' ').unwrap_or(signs);
    signs.bytes().all(|byte| matches!(byte, b'+' | b'-')).then_some((path, changes))
}

/// Parses ` 3 files changed, 10 insertions(+), 2 deletions(-)`.
pub(super) fn totals(text: &str) -> Option<Totals> {
    let mut totals = Totals::default();
    let (files, rest) = number(text.trim_start())?;
    let rest = rest.strip_prefix(" file")?;
    let rest = rest.strip_prefix('s').unwrap_or(rest).strip_prefix(" changed")?;
    totals.files = files;
    for count in rest.split(", ").skip(1) {
        let (count, word) = number(count.trim())?;
        match word.trim_start() {
            word if word.starts_with("insertion") => totals.added = count,
            word if word.starts_with("deletion") => totals.removed = count,
            _ => {}
        }
    }
    Some(totals)
}

/// Returns the path in a line that names a touched file, in any of git's formats.
pub(super) fn touched(text: &str) -> Option<&str> {
    if text.starts_with(' ') {
        return row(text).map(|(path, _)| path);
    }
    if let Some(raw) = text.strip_prefix(':') {
        return raw.split('\t').next_back();
    }
    if let Some((state, path)) = text.split_once('\t') {
        let path = path.rsplit('\t').next().unwrap_or(path);
        let fits = state.len() <= 8 && state.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        return fits.then_some(path);
    }
    let fits = text.len() < 300 && !text.contains(char::is_whitespace) && !text.ends_with([':', ',', ';']);
    fits.then_some(text)
}

/// Returns whether this is certainly a row or a total.
pub(super) fn is_stat(text: &str) -> bool {
    let signed = |text: &str| text.ends_with(['+', '-']) || text.contains(" | Bin ");
    text.starts_with(' ') && (signed(text) && row(text).is_some() || totals(text).is_some())
}

impl Stat {
    /// Takes a row, or the line after the last.
    pub(super) fn take(&mut self, text: &str) -> bool {
        if let Some((path, changes)) = row(text) {
            self.rows += 1;
            if self.files.len() < MAX_FILES {
                let text = match text.rsplit_once("| ") {
                    Some((_, bin)) if bin.trim_start().starts_with("Bin") => format!("{path} {}", bin.trim()),
                    _ => format!("{path} {changes}{}", signs(text)),
                };
                self.files.push((changes, shorten(&text, 300)));
            }
            return true;
        }
        let Some(found) = totals(text) else {
            return false;
        };
        let sum = self.totals.get_or_insert_default();
        sum.files += found.files;
        sum.added += found.added;
        sum.removed += found.removed;
        true
    }

    pub(super) fn what(&self) -> String {
        match self.totals {
            Some(Totals { files, added, removed }) => {
                format!("{} changed, +{added} -{removed} lines", count(files, "file", "files"))
            }
            None => count(self.rows, "file", "files"),
        }
    }

    /// Returns its facts, after the last line.
    pub(super) fn parts(mut self) -> Page {
        let mut page = Page::default();
        let mut folders = Tally::<500>::default();
        for (changes, path) in &self.files {
            let path = path.rsplit_once(' ').map_or(path.as_str(), |(path, _)| path);
            folders.add_times(folder(path, 2), *changes);
        }
        self.files.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let items = self.files.into_iter().map(|(_, text)| Item::plain(text)).collect();
        page.push(Part::new("files with changed lines, most first", Weight::Fact, items).of(self.rows));
        if folders.names() > 1 {
            let line = Item::plain(folders.in_line(12));
            page.push(Part::new("changed lines by folder", Weight::Shape, vec![line]).of(folders.names() as u64));
        }
        page
    }
}

/// Returns whether a row has only additions or only removals, which is all that its signs state exactly.
fn signs(row: &str) -> &'static str {
    let signs = row.rsplit('|').next().unwrap_or_default();
    match (signs.contains('+'), signs.contains('-')) {
        (true, false) => " added",
        (false, true) => " removed",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_totals_are_read() {
        assert_eq!(row(" src/a.rs   |  12 +++--"), Some(("src/a.rs", 12)));
        assert_eq!(row(" {a => b}/c.png | Bin 0 -> 123 bytes"), Some(("{a => b}/c.png", 0)));
        assert_eq!(row(" id | name"), None);
        let found = totals(" 3 files changed, 10 insertions(+), 1 deletion(-)");
        assert_eq!(found, Some(Totals { files: 3, added: 10, removed: 1 }));
        assert!(!is_stat(" 12 | 30"));
    }
}
