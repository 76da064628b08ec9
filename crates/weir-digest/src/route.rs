//! Gives each line of an output to the kind it belongs to: a build with tests in it is digested as both.
//!
//! Invariant: every line is given to exactly one stretch, and each kind has at most one stretch.

use std::collections::VecDeque;
use std::io;

use crate::kinds::{Detector, KINDS, Stretch, stamp};
use crate::text::clip;
use crate::{About, Item, Line, Lines, Page, Part, Source, Weight};

mod prefix;

use prefix::Prefix;

/// Reads an output whose lines may be of several kinds.
pub(crate) fn read(source: &dyn Source, about: About<'_>) -> io::Result<Page> {
    let prefix = Prefix::of(source)?;
    let mut route = Route {
        about,
        stretches: KINDS.iter().map(|_| None).collect(),
        order: Vec::new(),
        now: FOLD,
        held: VecDeque::new(),
        spare: Vec::new(),
        ends: VecDeque::new(),
        prefix,
        speaker: String::new(),
        repeated: false,
    };
    Lines::each(source, |line| route.line(line))?;
    Ok(route.page())
}

/// The index of the fold, which takes the lines that no other kind takes.
const FOLD: usize = KINDS.len() - 1;
/// The number of lines shown from the end, and the maximum bytes of each. The very last line often says what was done,
/// so it gets more.
const MAX_LAST_LINES: usize = 3;
const MAX_END_BYTES: usize = 240;
const MAX_LAST_LINE_BYTES: usize = 1_200;
/// A page with at least this many parts covers several subjects.
const MANY_PARTS: usize = 6;
/// With at least this many failures, this many other lines are kept as samples, with this many bytes of each.
const MIN_FAILURES: usize = 6;
const MAX_SAMPLES: usize = 8;
const MAX_SAMPLE_BYTES: usize = 120;
/// How many unclaimed lines wait for the line after them.
const MAX_PENDING_LINES: usize = 40;

struct Route<'a> {
    about: About<'a>,
    stretches: Vec<Option<Box<dyn Stretch>>>,
    /// The kinds in the order of their first lines.
    order: Vec<usize>,
    now: usize,
    /// Lines for the fold, unless the next line opens a stretch that they belong to.
    held: VecDeque<OwnedLine>,
    /// Buffers of lines that are no longer held, for reuse.
    spare: Vec<String>,
    /// The last lines, while no other kind has taken them: they often contain the verdict.
    ends: VecDeque<OwnedLine>,
    prefix: Prefix,
    /// Who printed the lines of the current stretch.
    speaker: String,
    /// Whether a builder is repeating what a step printed, between two lines of dashes.
    repeated: bool,
}

struct OwnedLine {
    number: u64,
    text: String,
    left_out: u64,
}

impl OwnedLine {
    fn line(&self) -> Line<'_> {
        Line { number: self.number, text: &self.text, left_out: self.left_out }
    }
}

impl Route<'_> {
    fn line(&mut self, whole: &Line<'_>) {
        if self.prefix == Prefix::Layer && whole.text == "------" {
            self.repeated = !self.repeated;
        }
        if self.repeated {
            return self.hold(whole);
        }
        let line = &Line { text: self.prefix.strip(whole.text), ..*whole };
        let speaker = self.prefix.speaker(whole.text);
        let goes_on = self.now != FOLD && self.speaker == speaker;
        if goes_on && self.stretches[self.now].as_mut().is_some_and(|stretch| stretch.take(line)) {
            self.release_all_but(0);
            self.ends.clear();
            return;
        }
        for (place, kind) in KINDS.iter().enumerate() {
            let Detector::Lines { opens, .. } = kind.detector else { continue };
            if opens(line.text, self.about) && self.open(place, line, speaker) {
                self.now = place;
                speaker.clone_into(&mut self.speaker);
                self.ends.clear();
                return;
            }
        }
        // A stretch that refused a line may have more lines later, so it is still asked first, unless a script
        // announces its next step.
        if announces(line.text) {
            self.now = FOLD;
        }
        self.hold(whole);
    }

    /// Gives a line to the kind that it opens, with the preceding lines of the same speaker that belong to it. Returns
    /// whether the kind took it.
    fn open(&mut self, place: usize, line: &Line<'_>, speaker: &str) -> bool {
        let held = std::mem::take(&mut self.held);
        let same = held.iter().rev().take_while(|held| self.prefix.speaker(&held.text) == speaker).count();
        let before = held.iter().skip(held.len() - same);
        let before: Vec<Line<'_>> =
            before.map(|held| Line { text: self.prefix.strip(&held.text), ..held.line() }).collect();
        let stretch = stretch(&mut self.stretches, &mut self.order, place);
        let belong = stretch.leads(&before).min(before.len());
        let taken = stretch.take(line);
        self.held = held;
        if taken {
            let kept = self.held.len() - belong;
            self.held.truncate(kept);
            self.release_all_but(0);
        }
        taken
    }

    fn hold(&mut self, line: &Line<'_>) {
        let mut text = self.spare.pop().unwrap_or_default();
        text.clear();
        text.push_str(line.text);
        self.held.push_back(OwnedLine { number: line.number, text, left_out: line.left_out });
        self.release_all_but(MAX_PENDING_LINES);
    }

    /// Gives the fold all but the last `kept` of the held lines.
    fn release_all_but(&mut self, kept: usize) {
        while self.held.len() > kept {
            let Some(held) = self.held.pop_front() else { return };
            stretch(&mut self.stretches, &mut self.order, FOLD).take(&held.line());
            if held.text.trim().is_empty() {
                self.spare.push(held.text);
                continue;
            }
            self.ends.push_back(held);
            if self.ends.len() > MAX_LAST_LINES {
                self.spare.extend(self.ends.pop_front().map(|end| end.text));
            }
        }
    }

    fn page(mut self) -> Page {
        self.release_all_but(0);
        let mut page = Page::default();
        for place in std::mem::take(&mut self.order) {
            if let Some(stretch) = self.stretches[place].take() {
                page.join(Page { kinds: vec![KINDS[place].name], ..stretch.page() });
            }
        }
        if page.kinds == [KINDS[FOLD].name] {
            let name = if page.what.starts_with("levels: ") { "log" } else { "plain lines" };
            page.what = [name, &page.what].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
        }
        make_room(&mut page);
        if let Some(part) = last_lines(&self.ends, &mut page) {
            // Among failures, a script's own verdict comes first.
            let place =
                if part.weight == Weight::Failure && page.parts.len() >= MANY_PARTS { 0 } else { page.parts.len() };
            page.parts.insert(place, part);
        }
        page
    }
}

fn announces(text: &str) -> bool {
    let runs =
        text.strip_prefix("$ ").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase() || c == '.'));
    runs || ["##[group]", "::group::", "==> ", "== ", "### "].iter().any(|start| text.starts_with(start))
}

/// Reduces the unclaimed lines to a few samples where other kinds report failures.
fn make_room(page: &mut Page) {
    let failures = page.parts.iter().filter(|part| part.weight == Weight::Failure).map(|part| part.items.len());
    if failures.sum::<usize>() < MIN_FAILURES {
        return;
    }
    for part in page.parts.iter_mut().filter(|part| part.weight == Weight::Sample && part.name == "other lines") {
        part.items.truncate(MAX_SAMPLES);
        for item in &mut part.items {
            item.text = clip(&item.text, MAX_SAMPLE_BYTES);
        }
    }
}

/// Returns the last lines, removed from the parts that also have them. The last line of a log is one of many, so it is
/// shown only if it is rare or there is room.
fn last_lines(ends: &VecDeque<OwnedLine>, page: &mut Page) -> Option<Part> {
    let last = ends.back()?;
    let stamped = stamp::of(&last.text).is_some();
    let most = if stamped { 1 } else { MAX_LAST_LINES };
    let mut weight = if stamped { Weight::Sample } else { Weight::Failure };
    let mut items = Vec::new();
    for end in ends.iter().skip(ends.len().saturating_sub(most)) {
        let is_last = end.number == last.number;
        let is_here = |item: &Item| item.line == Some(end.number) || (!is_last && item.until == Some(end.number));
        let place = page.parts.iter().position(|part| part.items.iter().any(is_here));
        if let Some((place, part)) = place.and_then(|place| Some((place, page.parts.get_mut(place)?))) {
            // An item that represents many lines stays where it is, and so do all lines but the very last.
            let stands_for_many = part.items.iter().any(|item| is_here(item) && item.text.len() > end.text.len());
            if !is_last || stands_for_many {
                continue;
            }
            part.items.retain(|item| !is_here(item));
            part.total = part.total.saturating_sub(1);
            weight = Weight::Failure;
            // A part whose only fact is shown here is now empty.
            if part.total == 0 && part.items.is_empty() {
                page.parts.remove(place);
            }
        }
        let most = if is_last { MAX_LAST_LINE_BYTES } else { MAX_END_BYTES };
        items.push(Item::at(end.number, end.line().clip(most)));
    }
    (!items.is_empty()).then(|| Part::new("last lines", weight, items).folded())
}

fn stretch<'a>(
    stretches: &'a mut [Option<Box<dyn Stretch>>],
    order: &mut Vec<usize>,
    place: usize,
) -> &'a mut dyn Stretch {
    let slot = &mut stretches[place];
    if slot.is_none() {
        order.push(place);
    }
    slot.get_or_insert_with(|| match KINDS[place].detector {
        Detector::Lines { begin, .. } => begin(),
        Detector::Whole { .. } => unreachable!("only kinds of lines are given lines"),
    })
    .as_mut()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_prefix_of_every_line_hides_no_kind() {
        let lines = ["up", "Traceback (most recent call last):", "  File \"/app/a.py\", line 3, in run", "    go()"];
        let more = ["ValueError: no", "up", "up again", "down"];
        let raw: String = lines.iter().chain(&more).map(|line| format!("web-1  | {line}\n")).collect();
        check(&raw, 400).shows(&expect![[r#"
            python: 1 traceback
            == python tracebacks, by kind: 1
            2: ValueError: no
              after 1: up
              File "/app/a.py", line 3, in run
            == lines in order: other lines 3, last lines 1
            1: web-1  | up
            6: web-1  | up
            7: web-1  | up again
            8: web-1  | down"#]]);
        let raw: String =
            lines.iter().chain(&more).map(|line| format!("2026-11-15T09:58:35.1234567Z {line}\n")).collect();
        assert!(digest(&raw, 400).contains("ValueError: no"));
    }

    #[test]
    fn lines_of_several_services_are_not_mixed() {
        let raw = "\
web-1  | up
db-1   | ready to accept connections
web-1  | Traceback (most recent call last):
db-1   | checkpoint starting
web-1  |   File \"/app/a.py\", line 3, in run
web-1  |     go()
db-1   | checkpoint complete
web-1  | ValueError: no
db-1   | checkpoint starting
";
        check(raw, 400).shows(&expect![[r#"
            python: 1 traceback
            == python tracebacks, by kind: 1
            3: ValueError: no
              File "/app/a.py", line 3, in run
            == lines in order: other lines 4, last lines 1
            1: web-1  | up
            2: db-1   | ready to accept connections
            4: db-1   | checkpoint starting
            7: db-1   | checkpoint complete
            9: db-1   | checkpoint starting"#]]);
    }

    #[test]
    fn the_last_lines_are_shown() {
        let raw: String = (0..100).map(|number| format!("step {number}\n")).collect();
        assert!(digest(&format!("{raw}all is lost\n"), 400).contains("101: all is lost"));
    }
}
