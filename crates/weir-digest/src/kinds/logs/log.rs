//! Logs, and every line that belongs to no other kind: trouble first, then what is rare, then what the lines are like.

use std::collections::{BTreeMap, BTreeSet};

use weir_core::wording::counted;

use crate::kinds::shared::stamp;
use crate::kinds::{How, Kind, Stretch};
use crate::template::{COMMON, Given, Template, Templates};
use crate::text::clip;
use crate::trouble::{self, Level, Trouble};
use crate::{Item, Line, Page, Part, Weight};

mod rare;
mod slow;
mod sources;
mod steps;
pub(crate) mod times;

use rare::rare_items;
use slow::Slow;
use sources::Sources;
use times::Times;

pub(crate) const KIND: Kind =
    Kind { name: "log", how: How::Lines { opens: |_, _| false, begin: || Box::new(Log::default()) } };

/// How many facts of each sort are kept. More could not be shown.
const KEPT: usize = 60;
/// How much of a line is shown.
const LONGEST: usize = 400;
/// An output of so few lines is shown by its lines.
const FEW: u64 = 40;
/// How many lines that explain an error are kept with it, and how much of each.
const NOTES: usize = 4;
const NOTE_LENGTH: usize = 240;

/// The lines that belong to no other kind.
#[derive(Default)]
pub(crate) struct Log {
    lines: u64,
    blank: u64,
    levels: [u64; Level::COUNT],
    errors: u64,
    warnings: u64,
    templates: Templates,
    times: Times,
    slow: Slow,
    sources: Sources,
    steps: Vec<Item>,
    step_count: u64,
    first: Vec<(u64, String)>,
    /// What explains an error, by the number of the error's line.
    notes: BTreeMap<u64, Vec<String>>,
    /// The number of the trouble line that the lines after it may explain, if they are to be kept, and how many may.
    explained: Option<(Option<u64>, usize)>,
    /// Lines that go on where the one before them ended.
    continued: u64,
}

/// The sorts of lines that never share a template.
const ERROR: u8 = 0;
const WARNING: u8 = 1;
const OTHER: u8 = COMMON;

impl Log {
    /// How many lines it has been given.
    pub(crate) fn lines(&self) -> u64 {
        self.lines
    }

    /// Puts what these lines tell on the page of another kind, among whose lines they stood.
    pub(crate) fn put(self, page: &mut Page) {
        if self.lines > 0 {
            page.join(Box::new(self).page());
        }
    }

    /// The page of another kind that knew so many lines, with what these tell. Nothing if these are too many for that.
    pub(crate) fn beside(self, known: u64, page: impl FnOnce() -> Page) -> Option<Page> {
        if self.lines * 5 > known {
            return None;
        }
        let mut page = page();
        self.put(&mut page);
        Some(page)
    }

    fn keep_first(&mut self, line: &Line<'_>) {
        if (self.first.len() as u64) < FEW {
            self.first.push((line.number, line.clip(LONGEST)));
        }
    }

    /// Whether a line only explains the one before it, and is kept as such.
    fn explains(&mut self, line: &Line<'_>, stamped: bool, rest: &str) -> bool {
        let Some((trouble, left)) = &mut self.explained else { return false };
        let indented = line.text.starts_with([' ', '\t']) && !stamped;
        let labelled = is_label(rest) || (!stamped && rest.starts_with("Caused by"));
        if !(labelled || indented && (self.times.count > 0 || trouble.is_some())) {
            return false;
        }
        if let Some(number) = trouble
            && *left > 0
        {
            *left -= 1;
            let text = if labelled && stamped { from_label(rest) } else { line.text.trim_end() };
            self.notes.entry(*number).or_default().push(clip(text, NOTE_LENGTH));
        }
        self.continued += 1;
        true
    }

    fn count_trouble(&mut self, line: &Line<'_>) -> u8 {
        let level = trouble::level(line.text);
        if let Some(level) = level
            && let Some(count) = self.levels.get_mut(level.place())
        {
            *count += 1;
        }
        match trouble::of(line.text) {
            _ if steps::is_failed_check(line.text) => {
                self.errors += 1;
                ERROR
            }
            Some(Trouble::Error) => {
                self.errors += 1;
                ERROR
            }
            Some(Trouble::Warning) => {
                self.warnings += 1;
                WARNING
            }
            None => OTHER,
        }
    }
}

/// PostgreSQL writes what explains an error as lines of their own.
fn is_label(rest: &str) -> bool {
    label_at(rest).is_some()
}

fn label_at(rest: &str) -> Option<usize> {
    let head = &rest[..rest.floor_char_boundary(100)];
    let colon = head.find(":  ")?;
    let start = head[..colon].rfind(' ').map_or(0, |at| at + 1);
    ["DETAIL", "HINT", "CONTEXT", "STATEMENT", "QUERY", "LOCATION"].contains(&&head[start..colon]).then_some(start)
}

fn from_label(rest: &str) -> &str {
    label_at(rest).and_then(|at| rest.get(at..)).unwrap_or(rest).trim_end()
}

impl Stretch for Log {
    fn take(&mut self, line: &Line<'_>) -> bool {
        self.lines += 1;
        if line.text.trim().is_empty() {
            self.blank += 1;
            return true;
        }
        let stamp = stamp::of(line.text);
        if let Some(stamp) = &stamp {
            self.times.add(stamp, line.text, line.number);
        }
        self.keep_first(line);
        let rest = stamp.map_or(line.text, |stamp| stamp.rest(line.text));
        if self.explains(line, stamp.is_some(), rest) {
            return true;
        }
        self.slow.add(line.number, line.text);
        let sort = self.count_trouble(line);
        if stamp.is_some() {
            let trouble = [(ERROR, Trouble::Error), (WARNING, Trouble::Warning)].into_iter().find(|of| of.0 == sort);
            self.sources.add(rest, trouble.map(|of| of.1));
        }
        if sort == OTHER && steps::is_step(rest.trim_start()) {
            self.step_count += 1;
            if self.steps.len() < KEPT {
                self.steps.push(Item::at(line.number, line.clip(200)));
            }
        }
        let skip = stamp.map_or((0, 0), |stamp| (stamp.start, stamp.end));
        let found = self.templates.add(&Given { number: line.number, text: line.text, skip, sort });
        let is_new = sort != OTHER && found.is_some_and(|found| found.1) && self.notes.len() < KEPT;
        self.explained = (sort != OTHER || stamp.is_some()).then_some((is_new.then_some(line.number), NOTES));
        true
    }

    fn page(self: Box<Self>) -> Page {
        let mut page = Page::new(self.what());
        let Self { templates, times, slow, sources, steps, step_count, first, notes, .. } = *self;
        let full = self.lines - self.blank;
        let (all, others) = templates.finish();
        let mut shown = BTreeSet::new();
        let groups = |sort: u8, shown: &mut BTreeSet<u64>| {
            let of_sort: Vec<&Template> = all.iter().filter(|template| template.sort == sort).collect();
            trouble_items(of_sort, &notes, shown)
        };
        let errors = groups(ERROR, &mut shown);
        let warnings = groups(WARNING, &mut shown);
        page.push(Part::new("error lines by kind", Weight::Failure, errors.0).of(errors.1));
        page.push(Part::new("warning lines by kind", Weight::Fact, warnings.0).of(warnings.1));
        page.push(Part::new("time", Weight::Fact, times.item().into_iter().collect()));
        if let Some((count, item)) = sources.item() {
            page.push(Part::uncounted(format!("lines by who wrote them, {count} in all"), Weight::Fact, vec![item]));
        }
        if step_count >= 2 {
            shown.extend(steps.iter().filter_map(|item| item.line));
            page.push(Part::new("steps", Weight::Fact, steps).of(step_count));
        }
        let rest: Vec<&Template> = all.iter().filter(|template| template.sort == OTHER).collect();
        if full <= FEW {
            // Lines of trouble are shown above, one for many.
            let items =
                first.into_iter().filter(|(number, text)| !shown.contains(number) && trouble::of(text).is_none());
            let items: Vec<Item> = items.map(|(number, text)| Item::at(number, text)).collect();
            page.push(Part::new("other lines", Weight::Sample, items));
            return page;
        }
        let slow = slow.items(|number| shown.contains(&number));
        if !slow.1.is_empty() {
            shown.extend(slow.1.iter().filter_map(|item| item.line));
            page.push(Part::new("lines with times, the longest", Weight::Fact, slow.1).of(slow.0));
        }
        let rare_most = (full / 1_000).clamp(1, 3);
        let (rare, often): (Vec<&Template>, Vec<&Template>) =
            rest.into_iter().partition(|template| template.count <= rare_most);
        let rare = rare_items(rare, &mut shown);
        page.push(Part::new("rare lines", Weight::Fact, rare.0).of(rare.1));
        let often = often_items(often);
        page.push(Part::new("kinds of lines that come again", Weight::Shape, often.0).of(often.1));
        if others > 0 {
            let text = format!("{others} lines more, too different from each other to be counted by kind");
            page.push(Part::new("other lines", Weight::Shape, vec![Item::plain(text)]).of(others));
        }
        page
    }
}

impl Log {
    fn what(&self) -> String {
        let levels: Vec<String> = self
            .levels
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(place, count)| format!("{} {count}", Level::name(place)))
            .collect();
        let stated: u64 = self.levels.iter().sum();
        let mut parts = Vec::new();
        if stated * 4 >= self.lines {
            parts.push(format!("levels: {}", levels.join(", ")));
        }
        if self.errors > 0 {
            parts.push(counted(self.errors as usize, "error line", "error lines"));
        }
        if self.warnings > 0 {
            parts.push(counted(self.warnings as usize, "warning line", "warning lines"));
        }
        parts.join("; ")
    }
}

/// Groups of lines that tell of trouble: the first of each as it is, how many there are, and in what they differ.
/// Beside them, how many lines there are in all.
fn trouble_items(
    mut groups: Vec<&Template>,
    notes: &BTreeMap<u64, Vec<String>>,
    shown: &mut BTreeSet<u64>,
) -> (Vec<Item>, u64) {
    let total = groups.len() as u64;
    // What a script marked as an error itself and the few most frequent first; then as they came.
    let marked = |group: &Template| steps::is_marked(&group.first.1);
    groups.sort_by_key(|group| (!marked(group), u64::MAX - group.count, group.first.0));
    let first = groups.iter().take_while(|group| marked(group)).count().min(8) + 3;
    if let Some(rest) = groups.get_mut(first..) {
        rest.sort_by_key(|group| group.first.0);
    }
    let items = groups.into_iter().take(KEPT).map(|group| {
        let (number, first) = &group.first;
        shown.insert(*number);
        let mut text = clip(first, LONGEST);
        if group.count > 1 {
            text.push_str(&format!(" (×{}, last at line {})", group.times(), group.last.0));
        }
        let brief = clip(&text, 240);
        for note in notes.get(number).into_iter().flatten() {
            text.push_str("\n  ");
            text.push_str(note.trim());
        }
        let values = values(group);
        if !values.is_empty() {
            text.push_str(&format!("\n  values: {values}"));
        }
        let changes = group.slots().any(|(before, _)| !is_process(before));
        if changes
            && group.count > 1
            && group.count <= 20
            && let Some(last) = group.last_text()
        {
            shown.insert(group.last.0);
            text.push_str(&format!("\n  {}: {}", group.last.0, clip(last, 240)));
        }
        Item::at(*number, text).or(brief)
    });
    (items.collect(), total)
}

/// In what the lines of a group differ, if values come again.
fn values(group: &Template) -> String {
    let mut parts = Vec::new();
    for (before, slot) in group.slots() {
        let values = slot.most_frequent();
        let telling = values.first().is_some_and(|(_, count)| *count >= 2 && *count * 20 >= group.count);
        if !telling || is_process(before) || parts.len() >= 4 {
            continue;
        }
        let list: Vec<String> = values.iter().take(4).map(|(value, count)| format!("{value} ×{count}")).collect();
        let more = if values.len() > 4 { format!(", {} more", values.len() - 4) } else { String::new() };
        parts.push(format!("{} {}{more}", clip(before, 30), list.join(", ")));
    }
    parts.join("; ")
}

/// What stands in brackets is a process or a thread, which tells nothing.
fn is_process(before: &str) -> bool {
    before.starts_with('[') || before.ends_with(['[', '(', '#'])
}

/// Lines that come again and again, the most frequent first. Beside them, how many kinds there are.
fn often_items(mut often: Vec<&Template>) -> (Vec<Item>, u64) {
    let total = often.len() as u64;
    often.sort_by_key(|template| (u64::MAX - template.count, template.first.0));
    let items =
        often.into_iter().take(KEPT).map(|template| Item::plain(format!("×{} {}", template.count, template.show(300))));
    (items.collect(), total)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::check;

    #[test]
    fn a_log_is_told_by_its_trouble_and_its_templates() {
        let mut raw = String::new();
        for number in 0..60 {
            raw.push_str(&format!(
                "2026-09-02 00:00:{number:02},000 INFO app job {number} done in {} ms\n",
                number * 3
            ));
            if number % 20 == 7 {
                raw.push_str(&format!("2026-09-02 00:00:{number:02},500 ERROR app job {number} lost: disk full\n"));
                raw.push_str("    while writing /var/spool/x\n");
            }
        }
        raw.push_str("2026-09-02 00:02:00,000 WARNING app stopping\n");
        check(
            &raw,
            400,
            &expect![[r#"
                exit 0; levels: ERROR 3, WARNING 1, INFO 60; 3 error lines; 1 warning line; 67 lines, 3.5 KiB held as [ctx:0000000000]
                <<<0000000000
                == error lines by kind: 1
                9: 2026-09-02 00:00:07,500 ERROR app job 7 lost: disk full (×3, last at line 53)
                  while writing /var/spool/x
                  53: 2026-09-02 00:00:47,500 ERROR app job 47 lost: disk full
                == time: 1
                2026-09-02 00:00:00,000 to 2026-09-02 00:02:00,000 (120 s); longest gap 61 s before line 67
                == kinds of lines that come again: 1
                ×60 INFO app job {0..59} done in {0..177} ms
                == last lines: 1
                67: 2026-09-02 00:02:00,000 WARNING app stopping
                0000000000>>>
                more: ctx_get"#]],
        );
    }

    #[test]
    fn few_lines_are_shown_as_they_are() {
        check(
            "== build\n$ make all\nok\n== test\n$ make test\nsh: 3: foo: not found\n",
            400,
            &expect![[r#"
                exit 0; 1 error line; 6 lines, 65 B held as [ctx:0000000000]
                <<<0000000000
                == steps: 4
                1: == build
                2: $ make all
                4: == test
                5: $ make test
                == other lines: 1
                3: ok
                == last lines: 1
                6: sh: 3: foo: not found
                0000000000>>>
                more: ctx_get"#]],
        );
    }
}
