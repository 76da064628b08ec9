//! Failed tests, described in the same way for every test runner.
//!
//! A hundred tests that fail at one place with one message have one cause, and so do the cases of one test: each is one
//! item, with the number of tests it represents. Invariant: every failure is counted, whether or not it is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::outcomes::{list, times};
use crate::text::{clip, count};
use crate::{Item, Page, Part, Weight};

/// The maximum number of causes. More could not be shown.
const MAX_CAUSES: usize = 300;
/// The maximum number of tests of a cause, of cases of a test, and of causes of a test.
const MAX_NAMES: usize = 40;
/// The maximum number of lines kept of a failure besides its message.
const MAX_DETAIL_LINES: usize = 16;
/// The maximum number of ways to fail that are shown for the cases of one test.
const MAX_MODES_SHOWN: usize = 5;
/// The maximum number of bytes shown of a line where room is short.
const MAX_BRIEF_BYTES: usize = 120;
/// The approximate number of bytes per token in the text of failures.
const BYTES_PER_TOKEN: usize = 3;
/// The share of the budget, in percent, for failures with their details.
const SHARE_PERCENT: usize = 55;

#[derive(Debug, Default)]
pub(super) struct Failure {
    pub line: u64,
    pub test: String,
    /// The case of the test, as written after its name: `[3-4]`, `/empty`. A case that ends with a space precedes the
    /// name: `hub west > `.
    pub case: String,
    /// The place that failed: `src/lib.rs:12:5`.
    pub place: String,
    /// The line that says what went wrong.
    pub message: String,
    /// Further lines, the most important first.
    pub details: Vec<String>,
}

#[derive(Default)]
pub(super) struct Failures {
    pub total: u64,
    causes: Vec<Cause>,
    tests: Vec<Test>,
    cause_places: BTreeMap<(String, String), usize>,
    test_places: BTreeMap<String, usize>,
    not_kept: u64,
}

struct Cause {
    line: u64,
    place: String,
    message: String,
    details: Vec<String>,
    total: u64,
    tests: Vec<Cases>,
    tests_not_kept: u64,
    shown: bool,
}

/// The cases of one test that have the same cause.
struct Cases {
    test: usize,
    total: u64,
    names: Vec<String>,
}

struct Test {
    name: String,
    causes: Vec<usize>,
}

/// The cases of one test whose messages differ only in numbers.
struct FailureMode {
    key: String,
    cause: usize,
    total: u64,
    names: Vec<String>,
    /// Whether the messages differ in their numbers.
    alike: bool,
}

impl Failures {
    pub(super) fn push(&mut self, failure: Failure) {
        self.total += 1;
        let Failure { line, test, case, place, message, mut details } = failure;
        let (place, message, test) = (clip(&place, 250), clip(message.trim(), 300), clip(&test, 250));
        let known = self.cause_places.get(&(place.clone(), message.clone())).copied();
        let Some(cause) = known.or_else(|| (self.causes.len() < MAX_CAUSES).then_some(self.causes.len())) else {
            self.not_kept += 1;
            return;
        };
        if cause == self.causes.len() {
            self.cause_places.insert((place.clone(), message.clone()), cause);
            details.truncate(MAX_DETAIL_LINES);
            let details = details.iter().map(|line| clip(line, 200)).collect();
            let (tests, tests_not_kept) = (Vec::new(), 0);
            self.causes.push(Cause { line, place, message, details, total: 0, tests, tests_not_kept, shown: false });
        }
        self.count(cause, test, &case);
    }

    fn count(&mut self, cause: usize, test: String, case: &str) {
        let found = &mut self.causes[cause];
        found.total += 1;
        let place = match self.test_places.get(&test) {
            Some(&place) => place,
            None if found.tests.len() >= MAX_NAMES => {
                found.tests_not_kept += 1;
                return;
            }
            None => {
                self.test_places.insert(test.clone(), self.tests.len());
                self.tests.push(Test { name: test, causes: Vec::new() });
                self.tests.len() - 1
            }
        };
        let causes = &mut self.tests[place].causes;
        if causes.len() < MAX_NAMES && !causes.contains(&cause) {
            causes.push(cause);
        }
        let known = found.tests.iter().rposition(|cases| cases.test == place);
        let cases = match known {
            Some(at) => &mut found.tests[at],
            None if found.tests.len() >= MAX_NAMES => {
                found.tests_not_kept += 1;
                return;
            }
            None => {
                found.tests.push(Cases { test: place, total: 0, names: Vec::new() });
                let last = found.tests.len() - 1;
                &mut found.tests[last]
            }
        };
        cases.total += 1;
        if cases.names.len() < MAX_NAMES && !case.is_empty() {
            cases.names.push(clip(case, 120));
        }
    }

    /// Returns the part that describes them, for an output of this many bytes. A few failures are shown with their
    /// details.
    pub(super) fn part(self, name: &str, bytes: u64) -> Part {
        self.part_of(name, "tests", bytes)
    }

    /// Like [`part`](Self::part), for what is not tests: `files`.
    pub(super) fn part_of(mut self, name: &str, unit: &str, bytes: u64) -> Part {
        let mut found = Vec::new();
        let mut messages = BTreeSet::new();
        for cause in 0..self.causes.len() {
            if !self.causes[cause].shown {
                let novel = messages.insert(without_numbers(&self.causes[cause].message));
                let told = self.summarize(cause);
                found.push(FailureSummary { novel: novel || told.total > 2, ..told });
            }
        }
        let room = room(bytes);
        let brief: usize = found.iter().map(|told| told.brief.len() + 8).sum();
        let crowded = brief > room;
        // Causes of the most failures come first. If there is not room for all, new messages come first, and then as
        // many causes as possible.
        found.sort_by_cached_key(|told| {
            let cost = if crowded { told.brief.len() as u64 + 8 } else { 1 };
            (crowded && !told.novel, std::cmp::Reverse(told.total.saturating_mul(1 << 20) / cost))
        });
        let mut spare = room.saturating_sub(brief);
        let mut waiting = found.len();
        let mut items = Vec::new();
        for told in found {
            let share = spare / waiting.max(1);
            let text = told.with_details(share);
            spare = spare.saturating_sub(text.len().saturating_sub(told.brief.len()));
            waiting -= 1;
            let item = if crowded || told.line == 0 { Item::plain(text) } else { Item::at(told.line, text) };
            // Of many ways to fail, the first; of a long message, the beginning.
            let longest = if crowded { MAX_BRIEF_BYTES } else { usize::MAX };
            let brief: Vec<String> = told.brief.lines().take(2).map(|line| clip(line, longest)).collect();
            items.push(item.or(brief.join("\n")));
        }
        let total = items.len() as u64 + self.not_kept;
        let name =
            if total == self.total { name.to_owned() } else { format!("{name} by cause ({} {unit})", self.total) };
        Part::new(name, Weight::Failure, items).of(total)
    }

    /// Describes a cause that several tests share, or a test with all its ways to fail.
    fn summarize(&mut self, cause: usize) -> FailureSummary {
        let own = |cause: &Cause| cause.tests.len() == 1 && cause.tests_not_kept == 0;
        let found = &self.causes[cause];
        let (line, total, details) = (found.line, found.total, found.details.clone());
        let Some(first) = found.tests.first().filter(|_| own(found)) else {
            let names = found.tests.iter().map(|cases| named(&self.tests[cases.test].name, cases));
            let list = list(names, found.tests.len() as u64 + found.tests_not_kept);
            let brief = format!("{} ×{} in {list}", place_and_message(&found.place, &found.message), found.total);
            self.causes[cause].shown = true;
            return FailureSummary { line, total, novel: true, brief, details };
        };
        let test = &self.tests[first.test];
        if test.name.is_empty() {
            let brief = times(&place_and_message(&found.place, &found.message), found.total);
            self.causes[cause].shown = true;
            return FailureSummary { line, total, novel: true, brief, details };
        }
        let mut ways: Vec<FailureMode> = Vec::new();
        for &cause in &test.causes {
            let found = &mut self.causes[cause];
            if !own(found) {
                continue;
            }
            found.shown = true;
            let key = format!("{}\n{}", numbers(&found.place), without_numbers(&found.message));
            let names = found.tests.first().map(|cases| cases.names.clone()).unwrap_or_default();
            match ways.iter_mut().find(|way| way.key == key) {
                Some(way) => {
                    way.total += found.total;
                    way.alike = true;
                    way.names.extend(names);
                }
                None => ways.push(FailureMode { key, cause, total: found.total, names, alike: false }),
            }
        }
        let total = ways.iter().map(|way| way.total).sum();
        FailureSummary { line, total, novel: true, brief: self.describe_test(&test.name, &ways), details }
    }

    /// Describes a test with its ways to fail: on one line if there is one way, otherwise one line each.
    fn describe_test(&self, test: &str, ways: &[FailureMode]) -> String {
        let [first, others @ ..] = ways else { return test.to_owned() };
        let alone = |way: &FailureMode| with_name(&way.named(test), &self.describe_mode(way, None));
        if others.is_empty() {
            return alone(first);
        }
        if ways.len() <= 3 && ways.iter().all(|way| way.total == 1) {
            return ways.iter().map(alone).collect::<Vec<_>>().join("\n");
        }
        let total: u64 = ways.iter().map(|way| way.total).sum();
        let mut text = format!("{test} ×{total}");
        let mut before = None;
        for way in ways.iter().take(MAX_MODES_SHOWN) {
            let name = match way.names.as_slice() {
                // A case that follows the name of its test is named with it.
                [case] if way.total == 1 && !case.ends_with(' ') => full(test, case),
                _ => way.named("").trim().to_owned(),
            };
            text.push_str(&format!("\n {name} {}", self.describe_mode(way, before)));
            before = Some(numbers(&self.causes[way.cause].place));
        }
        if ways.len() > MAX_MODES_SHOWN {
            let left = (ways.len() - MAX_MODES_SHOWN) as u64;
            text.push_str(&format!("\n … {}", count(left, "more message", "more messages")));
        }
        text
    }

    /// Returns the place and the message of a way. The place is omitted if its line and column are those in `before`.
    fn describe_mode(&self, way: &FailureMode, before: Option<&str>) -> String {
        let Cause { place, message, .. } = &self.causes[way.cause];
        let place = if before.is_some_and(|before| before == numbers(place)) { "" } else { place };
        let differ = if way.alike { " (values differ)" } else { "" };
        format!("{}{differ}", place_and_message(place, message))
    }
}

impl FailureMode {
    /// Returns the test with its cases: a single case in full, or the number of cases and the first of them.
    fn named(&self, test: &str) -> String {
        match self.names.as_slice() {
            [case] if self.total == 1 => full(test, case),
            [] if self.total == 1 => test.to_owned(),
            [] => format!("{test} ×{}", self.total),
            names => {
                let names = names.iter().map(|name| name.trim_end_matches([' ', '>', '›']).to_owned());
                format!("{test} ×{} {}:", self.total, list(names, self.total))
            }
        }
    }
}

/// Returns the number of bytes for failures in the digest of an output of this many bytes.
fn room(bytes: u64) -> usize {
    crate::budget(bytes) * SHARE_PERCENT / 100 * BYTES_PER_TOKEN
}

/// Reduces other parts to their first items, and removes samples, if the failures alone exceed the room of the digest.
pub(super) fn make_room(page: &mut Page, bytes: u64) {
    let failures = page.parts.iter().filter(|part| part.weight == Weight::Failure).flat_map(|part| &part.items);
    if failures.map(|item| item.text.len() + 8).sum::<usize>() <= room(bytes) {
        return;
    }
    page.parts.retain(|part| part.weight != Weight::Sample);
    for part in &mut page.parts {
        match part.weight {
            Weight::Fact => part.items.truncate(4),
            Weight::Shape => part.items.truncate(1),
            _ => {}
        }
    }
}

struct FailureSummary {
    line: u64,
    /// The number of tests it represents.
    total: u64,
    /// Whether no earlier message is like this one, or it represents many tests.
    novel: bool,
    brief: String,
    details: Vec<String>,
}

impl FailureSummary {
    fn with_details(&self, room: usize) -> String {
        let mut text = self.brief.clone();
        for (place, line) in self.details.iter().enumerate() {
            if text.len() + line.len() > self.brief.len() + room {
                let left = self.details.len() - place;
                // A number of lines alone is not informative.
                if place > 0 {
                    text.push_str(&format!("\n  … {}", count(left as u64, "more line", "more lines")));
                }
                break;
            }
            text.push_str("\n  ");
            text.push_str(line);
        }
        text
    }
}

/// Returns a test with its message. The place of a file that fails as a whole already names it.
fn with_name(test: &str, said: &str) -> String {
    if test.is_empty() || said.starts_with(test) {
        said.to_owned()
    } else {
        format!("{test} {said}").trim_end().to_owned()
    }
}

fn place_and_message(place: &str, message: &str) -> String {
    // The rest of the message shows that it is an assertion.
    let message = match message.strip_prefix("AssertionError: ") {
        Some(rest) if rest.starts_with("assert ") || rest.starts_with("expected ") => rest,
        _ => message,
    };
    match (place, message) {
        ("", message) => message.to_owned(),
        (place, "") => place.to_owned(),
        (place, message) => format!("{place}: {message}"),
    }
}

fn named(test: &str, cases: &Cases) -> String {
    match cases.names.as_slice() {
        [] if cases.total > 1 => format!("{test} ×{}", cases.total),
        [name] if cases.total == 1 => full(test, name),
        [name, ..] => format!("{} and {} cases more", full(test, name), cases.total.saturating_sub(1)),
        [] => test.to_owned(),
    }
}

fn full(test: &str, case: &str) -> String {
    if case.ends_with(' ') { format!("{case}{test}") } else { format!("{test}{case}") }
}

fn numbers(place: &str) -> &str {
    let path = place.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == ':');
    place.get(path.len()..).unwrap_or_default()
}

/// Normalises a message: equal for messages that differ only in their numbers.
fn without_numbers(message: &str) -> String {
    let mut text = String::with_capacity(message.len());
    for letter in message.chars() {
        match letter {
            '0'..='9' if text.ends_with('0') => {}
            '0'..='9' => text.push('0'),
            letter => text.push(letter),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(test: &str, case: &str, message: &str) -> Failure {
        let (place, details) = ("a.py:3".to_owned(), vec!["more".to_owned()]);
        Failure { line: 7, test: test.to_owned(), case: case.to_owned(), place, message: message.to_owned(), details }
    }

    fn summaries(failures: &[(&str, &str, &str)]) -> Vec<String> {
        let mut all = Failures::default();
        for (test, case, message) in failures {
            all.push(failure(test, case, message));
        }
        let part = all.part("failures", 0);
        part.items.into_iter().map(|item| item.text).collect()
    }

    #[test]
    fn cases_of_one_test_are_one_item() {
        assert_eq!(
            summaries(&[("t", "[1]", "1 is not 2"), ("t", "[2]", "2 is not 3")]),
            ["t ×2 [1], [2]: a.py:3: 1 is not 2 (values differ)\n  more"]
        );
        assert_eq!(
            summaries(&[("t", "[1]", "no"), ("t", "[2]", "never"), ("t", "[3]", "no")]),
            ["t ×3\n ×2 [1], [3]: a.py:3: no\n t[2] never\n  more"]
        );
    }

    #[test]
    fn tests_with_one_cause_are_one_item() {
        assert_eq!(
            summaries(&[("t", "", "refused"), ("u", "[1]", "refused"), ("u", "[2]", "refused"), ("v", "", "x")]),
            ["a.py:3: refused ×3 in t, u[1] and 1 cases more\n  more", "v a.py:3: x\n  more",]
        );
    }

    #[test]
    fn what_is_not_kept_is_counted() {
        let mut all = Failures::default();
        for number in 0..1000 {
            all.push(failure(&format!("t{number}"), "", &format!("m{number}")));
        }
        let part = all.part("failures", 0);
        assert_eq!((part.total, part.items.len()), (1000, MAX_CAUSES));
    }
}
