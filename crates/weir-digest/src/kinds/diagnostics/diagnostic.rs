//! What compilers and linters have in common: a place, a severity, a code and a message.
//!
//! Owns the gathering of diagnostics into a few parts: the count of each code, one diagnostic of each sort with the
//! rarest first (a flood hides those that occur once), the files with the most, and then more of the frequent ones.
//! Invariant: everything is counted, and no more is kept than could be shown.

use std::collections::BTreeMap;

use super::shown::{DiagnosticGroup, KeptDiagnostic, ShownDiagnostics};
use crate::kinds::shared::bounded_items::rows;
use crate::kinds::shared::counts::Tally;
use crate::text::{clip, number};
use crate::{Item, Line, Page, Part, Weight};

const MAX_GROUPS: usize = 400;
/// The maximum number of diagnostics of a sort that are kept after its first.
const MAX_OTHERS_PER_GROUP: usize = 12;
/// The maximum number of those over all sorts.
const MAX_OTHERS: usize = 300;
const MAX_NAMES: usize = 2_000;
pub(super) const MAX_LINE_BYTES: usize = 400;
/// The maximum number of bytes kept of the lines after it.
const MAX_EXPLANATION_BYTES: usize = 900;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Severity {
    /// It stops the build, or the tool says so.
    #[default]
    Error,
    /// It does not stop the build.
    Warning,
    /// It explains or informs.
    Note,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Diagnostic<'a> {
    /// The number of its first line, if showing it helps to read on.
    pub number: Option<u64>,
    pub severity: Severity,
    /// The file it is about; may be empty.
    pub file: &'a str,
    /// The file with line and column, as written by the tool.
    pub place: &'a str,
    /// The code or rule; may be empty.
    pub code: &'a str,
    /// The message. Messages that differ only in what they quote are of one sort.
    pub message: &'a str,
    /// The line that matters, with its place, as shown.
    pub text: &'a str,
    /// The lines that explain it; may be empty.
    pub more: &'a str,
}

#[derive(Default)]
pub(super) struct Diagnostics {
    pub counts: [u64; 3],
    codes: [Codes; 2],
    files: BTreeMap<String, [u64; 2]>,
    /// Whether there are more files than are counted one by one.
    more_files: bool,
    sorts: Vec<DiagnosticGroup>,
    by_key: BTreeMap<String, usize>,
    kept: usize,
    bytes: u64,
    key: String,
}

impl Diagnostics {
    /// Counts the bytes of a line that belongs to a tool: how much can be shown depends on how much there was. Returns
    /// `belongs`.
    pub(super) fn read(&mut self, line: &Line<'_>, belongs: bool) -> bool {
        if belongs {
            self.bytes = self.bytes.saturating_add(line.text.len() as u64 + 1);
        }
        belongs
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts == [0; 3]
    }

    /// Returns the number of errors and warnings, in words.
    pub(super) fn counted(&self) -> String {
        let [errors, warnings, _] = self.counts;
        let files = match self.files.len() as u64 {
            0 => String::new(),
            files if self.more_files => format!(" in more than {}", named(files, "file", "files")),
            files => format!(" in {}", named(files, "file", "files")),
        };
        match warnings {
            0 => format!("{}{files}", named(errors, "error", "errors")),
            _ => format!("{}, {}{files}", named(errors, "error", "errors"), named(warnings, "warning", "warnings")),
        }
    }

    /// Takes a diagnostic. Notes are only counted.
    pub(super) fn add(&mut self, found: &Diagnostic<'_>) {
        let severity = found.severity;
        if let Some(count) = self.counts.get_mut(severity as usize) {
            *count += 1;
        }
        if severity == Severity::Note {
            return;
        }
        self.add_file(found);
        self.key.clear();
        self.key.push(if severity == Severity::Error { 'e' } else { 'w' });
        self.key.push_str(clipped(found.code, 100));
        self.key.push('\0');
        template(found.message, &mut self.key);
        if let Some(codes) = self.codes.get_mut(severity as usize) {
            match found.code {
                "" => codes.without += 1,
                code => codes.counts.add(clipped(code, 100)),
            }
        }
        self.add_sort(found);
    }

    fn add_file(&mut self, found: &Diagnostic<'_>) {
        if found.file.is_empty() {
            return;
        }
        let place = usize::from(found.severity == Severity::Warning);
        if let Some(counts) = self.files.get_mut(found.file) {
            counts[place] += 1;
        } else if self.files.len() < MAX_NAMES {
            let mut counts = [0; 2];
            counts[place] = 1;
            self.files.insert(clip(found.file, MAX_LINE_BYTES), counts);
        } else {
            self.more_files = true;
        }
    }

    fn add_sort(&mut self, found: &Diagnostic<'_>) {
        let one = |place: Option<String>, order: usize| KeptDiagnostic {
            order,
            number: found.number,
            text: clip(found.text, MAX_LINE_BYTES),
            place,
            times: 1,
        };
        let Some(sort) = self.by_key.get(self.key.as_str()).and_then(|&place| self.sorts.get_mut(place)) else {
            if self.sorts.len() < MAX_GROUPS {
                self.by_key.insert(self.key.clone(), self.sorts.len());
                self.sorts.push(DiagnosticGroup {
                    severity: found.severity,
                    code: clipped(found.code, 100).to_owned(),
                    message: clip(found.message, MAX_LINE_BYTES),
                    count: 1,
                    first: one(None, self.kept),
                    more: clip(found.more, MAX_EXPLANATION_BYTES),
                    others: Vec::new(),
                });
                self.kept += 1;
            }
            return;
        };
        sort.count += 1;
        let same = std::iter::once(&mut sort.first).chain(&mut sort.others).find(|other| other.text == found.text);
        if let Some(same) = same {
            same.times += 1;
        } else if sort.others.len() < MAX_OTHERS_PER_GROUP && self.kept < MAX_GROUPS + MAX_OTHERS {
            let place =
                (sort.message == found.message && !found.place.is_empty()).then(|| clip(found.place, MAX_LINE_BYTES));
            sort.others.push(one(place, self.kept));
            self.kept += 1;
        }
    }

    /// Adds the parts that describe the diagnostics of a tool.
    pub(super) fn write(mut self, page: &mut Page, tool: &str) {
        let of_tool = |what: &str| format!("{tool} {what}").trim_start().to_owned();
        let budget = crate::budget(self.bytes);
        let sorts = std::mem::take(&mut self.sorts);
        let (errors, warnings): (Vec<DiagnosticGroup>, Vec<DiagnosticGroup>) =
            sorts.into_iter().partition(|sort| sort.severity == Severity::Error);
        let [error_codes, warning_codes] = std::mem::take(&mut self.codes);
        // The approximate number of bytes for each. If there is only one of them, it gets nearly all.
        let both = self.counts[0] > 0 && self.counts[1] > 0;
        let (error_room, warning_room) = if both { (budget * 2, budget) } else { (budget * 3, budget * 3) };
        let mut errors = ShownDiagnostics::of(errors, of_tool("errors"), self.counts[0], error_room);
        let mut warnings = ShownDiagnostics::of(warnings, of_tool("warnings"), self.counts[1], warning_room);
        if !errors.all {
            page.push(error_codes.part(&of_tool("error code"), Weight::Failure));
        }
        page.push(errors.part(Weight::Failure));
        if !warnings.all {
            page.push(warning_codes.part(&of_tool("warning code"), Weight::Fact));
        }
        page.push(warnings.part(Weight::Fact));
        if !(errors.all && warnings.all) {
            page.push(self.files_part(budget));
        }
        page.push(errors.others(Weight::Shape));
        page.push(warnings.others(Weight::Sample));
    }

    fn files_part(&self, budget: usize) -> Part {
        let mut files: Vec<(&String, &[u64; 2])> = self.files.iter().collect();
        files.sort_by_key(|(_, counts)| std::cmp::Reverse((counts[0] + counts[1], counts[0])));
        let both = self.counts[0] > 0 && self.counts[1] > 0;
        let one = if self.counts[0] > 0 { ("error", "errors") } else { ("warning", "warnings") };
        let items = files.into_iter().take(budget / 100).map(|(file, [errors, warnings])| match both {
            true => Item::plain(format!("{file}: {errors} + {warnings}")),
            false => Item::plain(format!("{file}: {}", errors + warnings)),
        });
        let name = match both {
            true => "files with the most, errors + warnings".to_owned(),
            false => format!("files with the most {}", one.1),
        };
        Part::new(name, Weight::Fact, items.collect()).of(self.files.len() as u64)
    }
}

#[derive(Default)]
struct Codes {
    counts: Tally<MAX_NAMES>,
    without: u64,
}

impl Codes {
    /// Returns the counts, the highest first, several in a row, with codes that occur once listed together. Empty if
    /// all occur once.
    fn part(&self, name: &str, weight: Weight) -> Part {
        let (mut counts, all, beyond) = (self.counts.sorted(), self.counts.names(), self.counts.beyond);
        if self.without > self.counts.all - beyond {
            return Part::new(name, weight, Vec::new());
        }
        counts.retain(|(_, count)| *count > 1);
        let mut names: Vec<String> = counts.iter().take(100).map(|(name, count)| format!("{name} {count}")).collect();
        let once = all - counts.len();
        let once_words = if once == 1 { "other once" } else { "others once" };
        for (count, what) in [(once as u64, once_words), (beyond, "more of others"), (self.without, "without code")] {
            if count > 0 && !names.is_empty() {
                names.push(format!("{count} {what}"));
            }
        }
        let left_out = counts.len().saturating_sub(100) as u64;
        let plural = if all == 1 { "" } else { "s" };
        rows(&format!("{all} {name}{plural}"), weight, &names, left_out)
    }
}

/// Returns a number with its noun, in our words.
pub(crate) fn named(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Returns the beginning of a text without marking the cut: for keys and short names only.
pub(super) fn clipped(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Writes a message without its quotations and its numbers.
fn template(message: &str, to: &mut String) {
    let mut closes = None;
    let mut before = ' ';
    for character in clipped(message, 300).chars() {
        match closes {
            Some(end) if character == end => closes = None,
            Some(_) => {}
            None => {
                // An apostrophe inside a word is not a quote.
                closes = match character {
                    '`' => Some('`'),
                    '"' => Some('"'),
                    '\'' if !before.is_alphanumeric() => Some('\''),
                    '‘' => Some('’'),
                    '“' => Some('”'),
                    _ => None,
                };
                if closes.is_none() && !character.is_ascii_digit() {
                    to.push(character);
                }
            }
        }
        before = character;
    }
}

/// The place of a diagnostic, as most tools write it: `path:12:5: rest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SourcePosition<'a> {
    pub path: &'a str,
    /// The path with line and column.
    pub whole: &'a str,
    /// The text after it, without the colon and the space.
    pub rest: &'a str,
}

pub(super) fn place(text: &str) -> Option<SourcePosition<'_>> {
    let head = clipped(text, 400).as_bytes();
    if !head.first().is_some_and(u8::is_ascii_graphic) {
        return None;
    }
    let colon =
        memchr::memchr_iter(b':', head).find(|&at| at > 0 && head.get(at + 1).is_some_and(u8::is_ascii_digit))?;
    let path = text.get(..colon)?;
    if path.contains(": ") || path.contains('\t') || !path.contains(['.', '/', '\\']) {
        return None;
    }
    let mut at = colon;
    // Line, column, and the end of the range that some tools add.
    for _ in 0..4 {
        let Some((_, after)) = text.get(at..)?.strip_prefix(':').and_then(number) else { break };
        at = text.len() - after.len();
    }
    let rest = text.get(at..)?.strip_prefix(':')?;
    Some(SourcePosition { path, whole: text.get(..at)?, rest: rest.strip_prefix(' ').unwrap_or(rest) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_at_the_beginning_only() {
        let at = |text| place(text).map(|place| (place.path, place.whole, place.rest));
        assert_eq!(at("src/a.c:12:5: error: x"), Some(("src/a.c", "src/a.c:12:5", "error: x")));
        assert_eq!(at("C:\\x\\a.c:7: warning: y"), Some(("C:\\x\\a.c", "C:\\x\\a.c:7", "warning: y")));
        assert_eq!(at("a.py:1:2:3:4: E1 z"), Some(("a.py", "a.py:1:2:3:4", "E1 z")));
        assert_eq!(
            (at("note: see a.c:1: x"), at("12:30:01: x"), at("  a.c:1: x"), at("a.c:1 x")),
            (None, None, None, None)
        );
    }

    #[test]
    fn what_is_quoted_makes_no_new_sort() {
        let of = |message| {
            let mut to = String::new();
            template(message, &mut to);
            to
        };
        assert_eq!(of("unused variable: `x`"), of("unused variable: `y2`"));
        assert_eq!(of("Type 'a' isn't 'b' on line 4"), of("Type 'c' isn't 'd' on line 44"));
        assert_ne!(of("can't do it"), of("can't do that"));
    }
}
