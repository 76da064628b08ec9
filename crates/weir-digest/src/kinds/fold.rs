//! Folds lines that no other kind claims: they stay in the order of the output, and similar lines are shown once, at
//! the position of the first.
//!
//! Invariants: every line is counted in exactly one group; an error line is never taken for the continuation of
//! another, unless it is listed as its cause; memory does not grow with the output.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use weir_core::wording::counted;

use crate::kinds::shared::{bounded_items::BoundedItems, stamp};
use crate::kinds::{Kind, Stretch};
use crate::template::{COMMON, InputLine, Template, Templates};
use crate::text::{clip, number};
use crate::trouble::{self, Level, Trouble};
use crate::{Item, Line, Lines, Page, Part, Source, Weight};

mod groups;
mod rank;
mod slow;
mod steps;
pub(crate) mod times;
mod totals;

use slow::SlowOperations;
use times::Times;
use totals::Totals;

pub(crate) const KIND: Kind = Kind::lines::<Fold>("lines", |_, _| false);

/// The maximum number of facts kept of each sort. More could not be shown.
const MAX_ITEMS: usize = 60;
const MAX_LINE_BYTES: usize = 400;
/// The maximum number of lines of an output that is shown by its lines.
const MAX_LINES_SHOWN_WHOLE: u64 = 40;
/// The maximum number of lines kept that explain an error, and of bytes of each.
const MAX_BODY_LINES: usize = 8;
const MAX_BODY_LINE_BYTES: usize = 240;
/// The maximum number of errors in a group that are shown separately.
const MAX_SEPARATE_ERRORS: u64 = 4;
/// How many lines directly before an error are shown before others.
const LINES_BEFORE_ERROR: u64 = 2;

/// The lines that belong to no other kind.
#[derive(Default)]
pub(crate) struct Fold {
    pub lines: u64,
    blank: u64,
    levels: [u64; Level::COUNT],
    errors: u64,
    warnings: u64,
    templates: Templates,
    times: Times,
    slow: SlowOperations,
    steps: BoundedItems,
    totals: Totals,
    /// The first lines that are neither errors nor warnings.
    first: Vec<(u64, String)>,
    bodies: Bodies,
}

/// The lines that explain the first error of each group.
#[derive(Default)]
struct Bodies {
    /// The explanations, by the line number of their error.
    of: BTreeMap<u64, Vec<String>>,
    /// The numbers of lines in an explanation, each with that of its error.
    lines: BTreeMap<u64, u64>,
    /// The numbers of the lines directly before an error.
    near: BTreeSet<u64>,
    /// The error that the following lines explain.
    open: Option<OpenError>,
    /// Whether the lines are a record between `---` and `...`, whose fields mean nothing by themselves.
    is_record: bool,
}

/// An error that is being explained.
#[derive(Clone, Copy)]
struct OpenError {
    error: u64,
    indent: usize,
    /// The number of the line that continues it.
    next: u64,
    is_kept: bool,
    /// Whether a blank line preceded: then only a list of causes continues it.
    is_paused: bool,
    /// Whether its causes are being listed, one on each line.
    lists_causes: bool,
}

/// Sorts of lines, which never share a template.
const ERROR: u8 = 0;
const WARNING: u8 = 1;
const STEP: u8 = 2;
const TOTAL: u8 = 3;
const OTHER: u8 = COMMON;

impl Fold {
    /// Gives every line of an output to `take`, and folds those that it does not claim.
    pub(crate) fn rest_of(source: &dyn Source, mut take: impl FnMut(&Line<'_>) -> bool) -> io::Result<Self> {
        let mut rest = Self::default();
        Lines::each(source, |line| {
            if !take(line) {
                rest.take(line);
            }
        })?;
        Ok(rest)
    }

    /// Adds what these lines contain to the page of another kind, among whose lines they were found.
    pub(crate) fn put(self, page: &mut Page) {
        if self.lines > 0 {
            page.join(Box::new(self).page());
        }
    }

    /// Returns the page of another kind that claimed `known` lines, with these lines added. `None` if there are too
    /// many of these.
    pub(crate) fn beside(self, known: u64, page: impl FnOnce() -> Page) -> Option<Page> {
        if self.lines * 5 > known {
            return None;
        }
        let mut page = page();
        self.put(&mut page);
        Some(page)
    }

    /// Determines the sort of a line, and counts it.
    fn sort(&mut self, line: &Line<'_>, level: Option<Level>, rest: &str) -> u8 {
        if self.totals.take(line, rest.trim_start()) {
            return TOTAL;
        }
        match trouble::judge(line.text, level, rest).filter(|_| !self.bodies.is_record) {
            Some(Trouble::Error) => {
                self.errors += 1;
                ERROR
            }
            Some(Trouble::Warning) => {
                self.warnings += 1;
                WARNING
            }
            None if steps::is_step(rest.trim_start()) => {
                self.steps.line(line);
                STEP
            }
            None => OTHER,
        }
    }

    fn what(&self) -> String {
        let stated: u64 = self.levels.iter().sum();
        let mut parts = Vec::new();
        if stated * 4 >= self.lines {
            let levels = self.levels.iter().enumerate().filter(|(_, count)| **count > 0);
            let levels: Vec<String> = levels.map(|(place, count)| format!("{} {count}", Level::name(place))).collect();
            parts.push(format!("levels: {}", levels.join(", ")));
        }
        parts.extend(self.totals.what());
        parts.extend((self.errors > 0).then(|| counted(self.errors as usize, "error line", "error lines")));
        parts.extend((self.warnings > 0).then(|| counted(self.warnings as usize, "warning line", "warning lines")));
        parts.join("; ")
    }
}

impl Bodies {
    /// Returns whether a line explains the error before it. If so, it is kept with that error.
    fn take(&mut self, line: &Line<'_>, stamped: bool, rest: &str) -> bool {
        let Some(open) = self.open.filter(|open| open.next == line.number) else {
            self.close();
            return false;
        };
        let OpenError { error, indent, is_kept, .. } = open;
        let trimmed = line.text.trim();
        let lists_causes = open.lists_causes || trimmed == "Caused by:";
        if open.is_paused && !lists_causes {
            self.close();
            return false;
        }
        self.open = Some(OpenError { next: open.next + 1, is_paused: false, lists_causes, ..open });
        if matches!(trimmed, "---" | "..." | "|-") || trimmed.starts_with("duration_ms:") {
            self.is_record |= trimmed == "---";
            if trimmed == "..." {
                self.close();
            }
            return false;
        }
        let labelled = label_at(rest).is_some() || (!stamped && rest.starts_with("Caused by"));
        let deeper = !stamped && indent_of(line.text) > indent;
        let body = self.of.get(&error).map_or(0, Vec::len);
        if !(labelled || deeper) || !lists_causes && (!is_kept || body >= MAX_BODY_LINES) {
            self.close();
            return false;
        }
        if !is_kept || body >= MAX_BODY_LINES {
            return true;
        }
        let body = self.of.entry(error).or_default();
        let text = if stamped { from_label(rest) } else { line.text.trim_end() };
        body.push(clip(text, MAX_BODY_LINE_BYTES));
        self.lines.insert(line.number, error);
        true
    }

    /// Expects the lines that explain an error, and keeps them if there is room.
    fn begin(&mut self, line: &Line<'_>, is_one_of_few: bool) {
        self.close();
        let is_kept = is_one_of_few && self.of.len() < MAX_ITEMS;
        self.open = Some(OpenError {
            error: line.number,
            indent: indent_of(line.text),
            next: line.number + 1,
            is_kept,
            is_paused: false,
            lists_causes: false,
        });
        if is_kept {
            self.near.extend(line.number.saturating_sub(LINES_BEFORE_ERROR)..line.number);
        }
    }

    fn pause(&mut self, number: u64) {
        match self.open.as_mut().filter(|open| open.next == number && !open.lists_causes && !self.is_record) {
            Some(open) => (open.next, open.is_paused) = (number + 1, true),
            None => self.close(),
        }
    }

    /// Returns whether a line is one of the causes that are listed for an error, whatever it says.
    fn is_cause(&self, line: &Line<'_>) -> bool {
        let open = self.open.filter(|open| open.next == line.number && open.lists_causes);
        open.is_some_and(|open| indent_of(line.text) > open.indent)
    }

    fn close(&mut self) {
        self.open = None;
        self.is_record = false;
    }
}

/// Returns the indentation of a line, after the process number that valgrind prints before it.
fn indent_of(text: &str) -> usize {
    let process = text.strip_prefix("==").and_then(number).and_then(|(_, rest)| rest.strip_prefix("=="));
    let text = process.unwrap_or(text);
    text.len() - text.trim_start().len()
}

/// Finds the label of a line in which PostgreSQL explains an error.
fn label_at(rest: &str) -> Option<usize> {
    let head = &rest[..rest.floor_char_boundary(100)];
    let colon = head.find(":  ")?;
    let start = head[..colon].rfind(' ').map_or(0, |at| at + 1);
    ["DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOCATION"].contains(&&head[start..colon]).then_some(start)
}

fn from_label(rest: &str) -> &str {
    label_at(rest).and_then(|at| rest.get(at..)).unwrap_or(rest).trim_end()
}

impl Stretch for Fold {
    fn take(&mut self, line: &Line<'_>) -> bool {
        self.lines += 1;
        if line.text.trim().is_empty() {
            self.blank += 1;
            self.bodies.pause(line.number);
            return true;
        }
        let stamp = stamp::of(line.text);
        if let Some(stamp) = &stamp {
            self.times.add(stamp.text(line.text), stamp.seconds, line.number);
        }
        let rest = stamp.map_or(line.text, |stamp| stamp.rest(line.text));
        let level = trouble::level(line.text);
        let sort = if self.bodies.is_cause(line) { OTHER } else { self.sort(line, level, rest) };
        if sort > WARNING && (self.first.len() as u64) < MAX_LINES_SHOWN_WHOLE {
            self.first.push((line.number, line.clip(MAX_LINE_BYTES)));
        }
        let explains = sort == OTHER && self.bodies.take(line, stamp.is_some(), rest);
        if !explains {
            if let Some(count) = level.and_then(|level| self.levels.get_mut(level.place())) {
                *count += 1;
            }
            if sort == OTHER {
                self.slow.add(line.number, line.text);
            }
        }
        let skip = stamp.map_or((0, 0), |stamp| (stamp.start, stamp.end));
        let found = self.templates.add(&InputLine { number: line.number, text: line.text, skip, sort });
        if sort != OTHER {
            let few = found.is_some_and(|(place, _)| self.templates.count(place) <= MAX_SEPARATE_ERRORS);
            if sort <= WARNING { self.bodies.begin(line, few) } else { self.bodies.close() }
        }
        true
    }

    fn page(self: Box<Self>) -> Page {
        let mut page = Page::new(self.what());
        let Self { lines, templates, times, slow, steps, totals, first, bodies, .. } = *self;
        let full = lines - self.blank;
        let (all, others) = templates.finish();
        let of_sort = |sort: u8| all.iter().filter(move |template| template.sort == sort).collect::<Vec<&Template>>();
        let errors = groups::of_trouble(of_sort(ERROR), &bodies);
        let warnings = groups::of_trouble(of_sort(WARNING), &bodies);
        page.push(Part::new("errors", Weight::Failure, errors.0).of(errors.1).folded());
        page.push(Part::new("warnings", Weight::Fact, warnings.0).of(warnings.1).folded());
        page.push(Part::new("time", Weight::Fact, times.item(lines).into_iter().collect()));
        if full <= MAX_LINES_SHOWN_WHOLE {
            // Errors and warnings are shown above, grouped.
            let rest = first.into_iter().filter(|(number, _)| !bodies.lines.contains_key(number));
            let items: Vec<Item> = rest.map(|(number, text)| Item::at(number, text)).collect();
            page.push(Part::new("other lines", Weight::Sample, items).folded());
            return page;
        }
        let mut rest = of_sort(OTHER);
        if steps.total as usize <= MAX_ITEMS {
            page.push(steps.part("steps", Weight::Fact).folded());
        } else {
            rest.extend(of_sort(STEP));
        }
        page.push(totals.part().folded());
        let slow = slow.items();
        let slowest: BTreeSet<u64> = slow.iter().filter_map(|item| item.line).collect();
        page.push(Part::new("slowest lines", Weight::Fact, slow).folded());
        // Lines that accompany each error of a group were already shown with the first.
        let trouble: BTreeMap<u64, u64> =
            all.iter().filter(|one| one.sort <= WARNING).map(|one| (one.first.0, one.count)).collect();
        rest.retain(|one| {
            let errors = bodies.lines.get(&one.first.0).and_then(|error| trouble.get(error)).copied();
            errors.is_none_or(|errors| one.count > errors) && !(one.count == 1 && slowest.contains(&one.first.0))
        });
        let rare_most = (full / 1_000).clamp(1, 3);
        // A group whose lines share no informative words is shown line by line.
        let (rare, often): (Vec<&Template>, Vec<&Template>) =
            rest.into_iter().partition(|one| one.count <= rare_most || one.is_kept() && !one.is_telling());
        let (often_total, samples) = (often.len() as u64, groups::samples(&often));
        let rare = rank::rare_items(rare, &bodies.near);
        page.push(Part::new("rare lines", Weight::Fact, rare.0).of(rare.1).folded());
        page.push(Part::new("repeated lines", Weight::Shape, groups::of_many(often)).of(often_total).folded());
        page.push(Part::uncounted("examples of them", Weight::Sample, samples).folded());
        page.push(Part::new("lines of too many kinds to count", Weight::Shape, Vec::new()).of(others).folded());
        page
    }
}

#[cfg(test)]
mod tests;
