//! Renders an outline at a [`Level`].
//!
//! Invariant: the text shown either has clearly fewer tokens than the file, or is the file.

mod lines;
mod names;

use crate::model::{Item, ItemKind, ItemOrigin, Outline, Visibility};

/// Maximum share of the file's tokens. A level above it gives way to the next smaller one.
const MAX_TOKEN_SHARE: f64 = 0.7;
/// Below this share of the file's non-whitespace bytes, an outline certainly has fewer tokens than that.
const QUICK_ACCEPT_SHARE: f64 = 0.1;

/// How much of a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Names, and the signatures of top-level functions.
    Minimal,
    /// The interface: signatures, fields, derives and implementations, with line numbers.
    Standard,
    /// Private items too, with the first sentence of their documentation.
    Verbose,
}

/// An outline as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub text: String,
    /// The level it is shown at, or `None` if it is the file itself.
    pub level: Option<Level>,
}

/// Shows an outline at a level or at a smaller one, or the text itself if an outline would not be shorter or would have
/// no items.
pub fn show(outline: &Outline, text: &str, level: Level) -> Shown {
    let has_items = !outline.items.is_empty();
    let levels = [Level::Verbose, Level::Standard, Level::Minimal].into_iter();
    for level in levels.filter(|other| has_items && *other <= level) {
        let shown = outline.render(level);
        if is_smaller(&shown, text) {
            return Shown { text: shown, level: Some(level) };
        }
    }
    Shown { text: text.to_owned(), level: None }
}

fn is_smaller(shown: &str, text: &str) -> bool {
    // White space costs hardly any tokens.
    let dense = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).count();
    if (shown.len() as f64) < dense as f64 * QUICK_ACCEPT_SHARE {
        return true;
    }
    let [shown, whole] = [shown, text].map(|text| weir_tokens::count(text) as f64);
    shown <= whole * MAX_TOKEN_SHARE
}

impl Outline {
    pub fn render(&self, level: Level) -> String {
        let mut text = self.head();
        let selection = self.selection(level);
        match level {
            Level::Minimal => names::write(&self.items, selection, &mut text),
            Level::Standard | Level::Verbose => lines::write(&self.items, (level, selection), &mut text),
        }
        let omitted = OmittedCounts::of(&self.items, selection);
        omitted.write(&mut text);
        text
    }

    fn selection(&self, level: Level) -> Selection {
        // A program's main file, a script or a file of tests offers nothing to others, so show what it has.
        let has_interface = self.items.iter().any(has_interface);
        let least = if has_interface && level != Level::Verbose { Visibility::Crate } else { Visibility::Private };
        let is_of_tests =
            self.items.iter().any(has_tests) || self.items.iter().all(|item| item.place == ItemOrigin::Test);
        Selection { least, with_tests: is_of_tests && !has_interface }
    }

    fn head(&self) -> String {
        let lines = if self.lines == 1 { "line" } else { "lines" };
        let mut head = format!("{}, {} {lines}", self.language, self.lines);
        if self.broken > 0 {
            head.push_str(", does not parse as a whole: what could be read follows");
        }
        if let Some(purpose) = &self.purpose {
            head.push_str(": ");
            head.push_str(purpose);
        }
        head.push('\n');
        head
    }
}

/// Returns whether an item offers something. A module or an implementation does by what is inside it.
fn has_interface(item: &Item) -> bool {
    let is_around = item.kind == ItemKind::Implementation || item.kind == ItemKind::Module && !item.children.is_empty();
    item.is_offered() && !is_around || item.children.iter().any(has_interface)
}

/// Returns whether an item is a test, or a module of the program with tests. A module of tests is not, since it stands
/// beside what it tests.
fn has_tests(item: &Item) -> bool {
    match item.kind {
        ItemKind::Function => item.place == ItemOrigin::Test,
        ItemKind::Module => item.place != ItemOrigin::Test && item.children.iter().any(has_tests),
        _ => false,
    }
}

#[derive(Clone, Copy)]
struct Selection {
    least: Visibility,
    with_tests: bool,
}

impl Selection {
    fn has(self, item: &Item) -> bool {
        item.visibility >= self.least && self.has_origin(item)
    }

    fn has_origin(self, item: &Item) -> bool {
        self.with_tests || item.place != ItemOrigin::Test
    }
}

/// Numbers of items left out.
#[derive(Default)]
struct OmittedCounts {
    private: usize,
    tests: usize,
}

impl OmittedCounts {
    fn of(items: &[Item], selection: Selection) -> Self {
        let mut omitted = Self::default();
        omitted.count(items, selection);
        omitted
    }

    fn count(&mut self, items: &[Item], selection: Selection) {
        for item in items {
            if !selection.has_origin(item) {
                self.tests += total(item);
            } else if !selection.has(item) {
                self.private += total(item);
            } else {
                self.count(&item.children, selection);
            }
        }
    }

    fn write(&self, text: &mut String) {
        let parts = [(self.private, "private"), (self.tests, "test")];
        let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let parts = parts.collect::<Vec<_>>();
        if !parts.is_empty() {
            text.push_str(&format!("+ {} items\n", parts.join(", ")));
        }
    }
}

fn total(item: &Item) -> usize {
    1 + item.children.iter().map(total).sum::<usize>()
}
