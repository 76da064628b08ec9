//! Vitest: failures with their differences and places, files that do not load, outcomes by file, slow tests.

use super::chatter::Chatter;
use super::failed::{Failure, Failures};
use super::js_block::{JsBlock, split};
use super::js_report::JsReport;
use super::outcomes::{Outcome, micros};
use super::run::{Runner, Runs};
use crate::kinds::Kind;
use crate::text::{clip, number};
use crate::{About, Line, Page};

pub(crate) const KIND: Kind = Kind::lines::<Runs<Vitest>>("vitest", opens);

const MAX_LINES: usize = 60;
/// The character that rules off the sections of the report.
const RULE: char = '⎯';

fn opens(line: &str, _: About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b' ') => {
            line.strip_prefix(" RUN  v")
                .or_else(|| line.strip_prefix(" DEV  v"))
                .is_some_and(|rest| number(rest).is_some())
                || (line.starts_with(" FAIL  ") && line.contains(" > "))
                || counts(line).is_some_and(|(name, _)| name == "files")
                || file(line).is_some()
        }
        Some(0xe2) => section(line).is_some(),
        _ => false,
    }
}

#[derive(Default)]
struct Vitest {
    state: VitestState,
    file: String,
    /// The tests that the current failure is about, with their lines, and how many more there are.
    titles: Vec<(u64, String)>,
    more_titles: u64,
    block: JsBlock,
    block_line: u64,
    failures: Failures,
    /// Files whose tests could not run.
    broken: Failures,
    /// Failed tests of the list, for runs that report nothing else about them.
    listed: Failures,
    report: JsReport,
    chatter: Chatter,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum VitestState {
    #[default]
    Tests,
    Failures,
    /// In the output of a test.
    Printed,
    End,
}

impl Runner for Vitest {
    fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if section(text).is_some() {
            self.end_block();
            self.state = VitestState::Failures;
            return true;
        }
        if text.starts_with(RULE) {
            self.end_block();
            return true;
        }
        if let Some((name, counted)) = counts(text) {
            self.end_block();
            self.state = VitestState::End;
            self.report.count(format!("{name} {counted}"));
            return true;
        }
        if text.starts_with("stdout | ") || text.starts_with("stderr | ") {
            self.end_block();
            self.state = VitestState::Printed;
            return true;
        }
        match self.state {
            VitestState::Failures => self.take_failure_line(line),
            VitestState::Printed => self.printed(line),
            VitestState::Tests => self.test(line),
            VitestState::End => self.after(line),
        }
    }

    fn page(mut self, bytes: u64) -> Page {
        self.end_block();
        let mut page = Page::new(format!("vitest: {}", self.report.counted()));
        let failures = if self.failures.total > 0 { self.failures } else { self.listed };
        page.push(self.broken.part_of("files that did not run, and errors outside of tests", "errors", bytes));
        page.push(failures.part("failures", bytes));
        self.report.put(&mut page);
        self.chatter.put(&mut page);
        page
    }
}

impl Vitest {
    fn take_failure_line(&mut self, line: &Line<'_>) -> bool {
        if let Some(title) = line.text.strip_prefix(" FAIL  ") {
            // Several tests may fail with one error, which follows them.
            if !self.block.is_empty() {
                self.end_block();
            }
            if self.titles.len() < MAX_LINES {
                self.titles.push((line.number, clip(title, 300)));
            } else {
                self.more_titles += 1;
            }
        } else if !self.is_note(line.text.trim_start(), line) {
            if self.block.is_empty() && self.titles.is_empty() {
                self.block_line = line.number;
            }
            self.block.line(line.text);
        }
        true
    }

    fn end_block(&mut self) {
        let mut titles = std::mem::take(&mut self.titles).into_iter();
        let block = std::mem::take(&mut self.block);
        if block.is_empty() && titles.len() == 0 {
            return;
        }
        let (line, title) = titles.next().unwrap_or((self.block_line, String::new()));
        let failure = block.failure(line, "");
        let others: Vec<Failure> = titles
            .map(|(line, title)| {
                let (place, message) = (failure.place.clone(), failure.message.clone());
                let (case, test) = split(&named(&title, &place));
                Failure { line, test, case, place, message, details: Vec::new() }
            })
            .collect();
        let (case, test) = split(&named(&title, &failure.place));
        let (place, message) = (failure.place.clone(), failure.message.clone());
        // A title without a test is a file.
        let failures = if title.contains(" > ") { &mut self.failures } else { &mut self.broken };
        failures.push(Failure { case, test, ..failure });
        others.into_iter().for_each(|failure| failures.push(failure));
        for _ in 0..std::mem::take(&mut self.more_titles) {
            failures.push(Failure { line, place: place.clone(), message: message.clone(), ..Failure::default() });
        }
    }

    fn printed(&mut self, line: &Line<'_>) -> bool {
        if line.text.is_empty() {
            self.state = VitestState::Tests;
        } else {
            self.chatter.line(line);
        }
        true
    }

    fn test(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some((name, taken)) = file(text) {
            self.file = clip(name, 250);
            self.report.slow_files.took(taken, name);
            self.file_counts(text);
            return true;
        }
        if let Some((outcome, name, taken)) = listed(text) {
            if let Some(value) = micros(taken) {
                self.report.slow.add(value, || format!("{taken} {name} ({})", self.file));
            }
            match outcome {
                Outcome::Skipped => self.report.skips.add(&format!("{name} ({})", self.file), "", line.number),
                Outcome::Failed => {
                    let (test, place) = (name.to_owned(), self.file.clone());
                    self.listed.push(Failure { line: line.number, test, place, ..Default::default() });
                }
                _ => {}
            }
            return true;
        }
        let trimmed = text.trim_start();
        trimmed.is_empty()
            || trimmed.starts_with("→ ")
            || text.starts_with(" RUN  v")
            || text.starts_with(" DEV  v")
            || self.is_note(trimmed, line)
    }

    /// Parses `(43 tests | 6 failed | 1 skipped) 24ms` after the name of a file.
    fn file_counts(&mut self, text: &str) {
        let Some((_, counts)) = text.rsplit_once('(') else { return };
        let (mut all, mut others) = (0u64, 0u64);
        for piece in counts.split(['|', ')']).map(str::trim) {
            let Some((count, word)) = number(piece) else { continue };
            let outcome = match word.trim_start() {
                "test" | "tests" => {
                    all = count;
                    continue;
                }
                "failed" => Outcome::Failed,
                "skipped" | "todo" => Outcome::Skipped,
                _ => continue,
            };
            others = others.saturating_add(count);
            self.report.outcomes.add(&self.file, outcome, count);
        }
        self.report.outcomes.add(&self.file, Outcome::Passed, all.saturating_sub(others));
    }

    fn is_note(&mut self, trimmed: &str, line: &Line<'_>) -> bool {
        let starts = [
            "Vitest caught ", "This error originated in ", "The latest test that might've caused", "close timed out",
            "ERROR: Coverage for ",
        ];
        let silent = ["This might cause false positive", "Coverage enabled with "];
        if silent.iter().any(|start| trimmed.starts_with(start)) {
            return true;
        }
        let is = starts.iter().any(|start| trimmed.starts_with(start));
        if is {
            self.report.note(line.number, trimmed);
        }
        is
    }

    fn after(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text.starts_with(" RUN  v") || file(text).is_some() {
            self.state = VitestState::Tests;
            return self.test(line);
        }
        if text.starts_with(" FAIL  ") {
            self.state = VitestState::Failures;
            return self.take_failure_line(line);
        }
        let covered =
            text.contains('|') && (self.report.coverage.row(line.number, text) || text.starts_with(['F', '-', ' ']));
        let trimmed = text.trim_start();
        covered
            || trimmed.is_empty()
            || trimmed.starts_with("Start at ")
            || trimmed.starts_with("% Coverage report")
            || self.is_note(trimmed, line)
    }
}

/// Returns the test, without its file if the place has it: `hub west > reports its load`.
fn named(title: &str, place: &str) -> String {
    let title = title.rsplit_once(" [ ").map_or(title, |(title, _)| title);
    match title.split_once(" > ") {
        Some((file, test)) if place.starts_with(file.trim_start_matches('|')) => test.to_owned(),
        _ => title.to_owned(),
    }
}

/// Parses `⎯⎯⎯⎯⎯⎯ Failed Tests 24 ⎯⎯⎯⎯⎯⎯⎯`.
fn section(line: &str) -> Option<&str> {
    let title = line.strip_prefix(RULE)?.trim_matches(RULE).trim();
    (title.starts_with("Failed ") || title.starts_with("Unhandled ")).then_some(title)
}

/// Returns a line of the counts at the end, in our words: `      Tests  24 failed | 181 passed (207)`.
fn counts(line: &str) -> Option<(&'static str, String)> {
    let trimmed = line.strip_prefix(' ')?.trim_start();
    let names = [
        ("Test Files  ", "files"),
        ("Tests  ", "tests"),
        ("Snapshots  ", "snapshots"),
        ("Errors  ", "errors"),
        ("Type Errors  ", "type errors"),
        ("Duration  ", "in"),
    ];
    let (name, rest) = names.into_iter().find_map(|(start, name)| Some((name, trimmed.strip_prefix(start)?)))?;
    if name == "in" {
        // Only numbers of the output may appear outside the marks.
        let taken = micros(rest.split(' ').next().unwrap_or_default())?;
        return Some((name, format!("{}.{:02} s", taken / 1_000_000, taken / 10_000 % 100)));
    }
    let words = ["failed", "passed", "skipped", "todo", "obsolete", "written", "updated", "error"];
    let pieces = rest.split(['|', '(']).filter_map(|piece| {
        let (count, word) = number(piece.trim())?;
        let word = word.trim_start();
        if word == ")" {
            return Some(format!("{count} in all"));
        }
        let word = words.into_iter().find(|known| word.starts_with(known))?;
        Some(format!("{count} {word}"))
    });
    let pieces = pieces.collect::<Vec<_>>().join(", ");
    (!pieces.is_empty()).then_some((name, pieces))
}

/// Parses ` ❯ test/route.test.ts (51 tests | 5 failed) 31ms` into the file and its duration.
fn file(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(' ')?;
    let rest = ['✓', '❯', '×', '↓'].iter().find_map(|sign| rest.strip_prefix(*sign))?.strip_prefix(' ')?;
    let (name, counts) = rest.split_once('(')?;
    let (_, word) = number(counts)?;
    if !(word.starts_with(" test") || word.starts_with(')')) {
        return None;
    }
    let (_, taken) = counts.split_once(')')?;
    Some((name.trim(), taken.trim()))
}

/// Parses `     ✓ visits stop 1 exactly once 4ms`.
fn listed(line: &str) -> Option<(Outcome, &str, &str)> {
    let trimmed = line.strip_prefix("  ")?.trim_start();
    let mut letters = trimmed.chars();
    let outcome = match letters.next()? {
        '✓' => Outcome::Passed,
        '×' | '✗' => Outcome::Failed,
        '↓' | '□' => Outcome::Skipped,
        '❯' => Outcome::Other,
        _ => return None,
    };
    let name = letters.as_str().strip_prefix(' ')?;
    match name.rsplit_once(' ') {
        Some((name, taken)) if micros(taken).is_some() => Some((outcome, name.trim_end(), taken)),
        _ => Some((outcome, name, "")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn all_tests_that_fail_with_one_error_are_counted() {
        let titles: String = (0..100).map(|number| format!(" FAIL  a.test.ts > case {number}\n")).collect();
        let raw = format!(
            " RUN  v1.6.0 /p\n\n⎯⎯⎯⎯ Failed Tests 100 ⎯⎯⎯⎯\n\n{titles}Error: boom\n ❯ a.test.ts:3:9\n\n\
             ⎯⎯⎯⎯[1/100]⎯\n\n Test Files  1 failed (1)\n      Tests  100 failed (100)\n"
        );
        let told = digest(&raw, 600);
        assert!(told.contains("== failures by cause (100 tests): 1\n"), "{told}");
        assert!(told.contains("a.test.ts:3:9: Error: boom ×100 in case 0, case 1, "), "{told}");
    }

    const RUN: &str = r#"
 RUN  v1.6.0 /home/u/proj
      Coverage enabled with v8

 ✓ src/a.test.ts  (3 tests) 4ms
 ❯ src/b.test.ts  (4 tests | 2 failed) 8ms
   ❯ src/b.test.ts > math > adds
     → expected 3 to be 4 // Object.is equality
   × src/b.test.ts > math > subtracts
     → boom
stderr | src/c.test.ts > logs
Warning: deprecated thing

 ✓ src/c.test.ts  (1 test) 320ms
   ✓ logs 312ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/b.test.ts > math > adds
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ src/b.test.ts:6:20
      4|   it('adds', () => {
      5|     const x = add(1, 2)
      6|     expect(x).toBe(4)
       |               ^
      7|   })

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/2]⎯

 FAIL  src/b.test.ts > math > subtracts
Error: boom
 ❯ sub src/math.ts:9:9
 ❯ src/b.test.ts:11:12

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯

⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯

Vitest caught 1 unhandled error during the test run.
This might cause false positive tests. Resolve unhandled errors to make sure your tests are not affected.

⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯⎯
Error: connect ECONNREFUSED 127.0.0.1:5432
 ❯ TCPConnectWrap.afterConnect [as oncomplete] node:net:1555:16

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯

 Test Files  1 failed | 2 passed (3)
      Tests  2 failed | 6 passed (8)
     Errors  1 error
   Start at  10:00:00
   Duration  1.20s (transform 100ms, setup 0ms, collect 200ms, tests 330ms, environment 0ms, prepare 200ms)

 % Coverage report from v8
----------|---------|----------|---------|---------|-------------------
File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s 
----------|---------|----------|---------|---------|-------------------
All files |   66.66 |       50 |      75 |   66.66 |                   
 f.ts     |      50 |       50 |      50 |      50 | 4-9               
----------|---------|----------|---------|---------|-------------------
ERROR: Coverage for lines (66.66%) does not meet global threshold (80%)
"#;

    #[test]
    fn failures_errors_and_coverage_are_told() {
        check(RUN, 600).shows(&expect![[r#"
            vitest: files 1 failed, 2 passed, 3 in all; tests 2 failed, 6 passed, 8 in all; errors 1 error; in 1.20 s
            == files that did not run, and errors outside of tests: 1
            50: node:net:1555:16: Error: connect ECONNREFUSED 127.0.0.1:5432
            == failures: 2
            19: math > adds src/b.test.ts:6:20: expected 3 to be 4
            37: src/b.test.ts > math > subtracts src/math.ts:9:9: Error: boom
              called at src/b.test.ts:11:12
            == notes: 2
            46: Vitest caught 1 unhandled error during the test run.
            68: ERROR: Coverage for lines (66.66%) does not meet global threshold (80%)
            == slowest tests: 1
            312ms logs (src/c.test.ts)
            == coverage of statements, branches, functions and lines: 1
            65: All files |   66.66 |       50 |      75 |   66.66 |
            == files not wholly covered, the least first: 1
            f.ts 50 50 50 50 4-9
            == files: 3
            src/b.test.ts: 2 failed, 2 passed
            src/a.test.ts: 3 passed
            src/c.test.ts: 1 passed
            == lines in order: printed by tests, warnings 1
            12: Warning: deprecated thing"#]]);
    }
}
