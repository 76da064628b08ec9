//! Jest: failures with what was expected and received, suites that do not run, console output, coverage.

use super::chatter::Chatter;
use super::failed::{Failure, Failures};
use super::js_block::{JsBlock, is_code};
use super::js_report::JsReport;
use super::outcomes::{Outcome, Repeats, micros};
use super::run::{Runner, Runs};
use crate::kinds::Kind;
use crate::text::{clip, number};
use crate::{About, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Runs<Jest>>("jest", opens);

fn opens(line: &str, _: About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b'P' | b'F' | b' ') => suite(line).is_some(),
        Some(b'T') => line.strip_prefix("Test Suites: ").is_some_and(|rest| number(rest.trim_start()).is_some()),
        _ => false,
    }
}

#[derive(Default)]
struct Jest {
    state: JestState,
    file: String,
    /// The current failure: the line that reports it, the test, and its lines.
    block: Option<(u64, String, JsBlock)>,
    failures: Failures,
    /// Files whose tests could not run.
    broken: Failures,
    report: JsReport,
    consoles: Repeats,
    console: String,
    chatter: Chatter,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum JestState {
    /// After the end of a run, or before the first.
    #[default]
    Outside,
    File,
    Failure,
    Console,
    /// In the list that repeats all failures.
    Again,
    Counts,
}

impl Runner for Jest {
    fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(file) = suite(text) {
            self.suite(file);
            return true;
        }
        if text == "Summary of all failing tests" {
            self.end_block();
            self.state = JestState::Again;
            return true;
        }
        if self.state == JestState::Outside && !opens(text, About::default()) {
            return false;
        }
        if let Some(counts) = counts(text) {
            self.end_block();
            self.state = JestState::Counts;
            self.report.count(counts);
            return true;
        }
        if self.state == JestState::Again {
            return true;
        }
        if let Some(title) = text.strip_prefix("  ● ") {
            self.title(title, line.number);
            return true;
        }
        if let Some(sort) = console(text) {
            self.end_block();
            self.state = JestState::Console;
            self.console = sort.to_owned();
            self.consoles.add(sort, 1, line.number);
            return true;
        }
        match self.state {
            JestState::Failure => self.take_failure_line(line),
            JestState::Console => self.printed(line),
            JestState::File => self.in_file(line),
            JestState::Counts => self.after(line),
            JestState::Outside | JestState::Again => false,
        }
    }

    fn page(mut self, bytes: u64) -> Page {
        self.end_block();
        let mut page = Page::new(format!("jest: {}", self.report.counted()));
        page.push(self.broken.part_of("suites that did not run", "files", bytes));
        page.push(self.failures.part("failures", bytes));
        self.report.put(&mut page);
        let consoles = |text: &str, count: u64| format!("{count} {text}");
        page.push(self.consoles.part("printed to the console, by sort", Weight::Shape, consoles));
        self.chatter.put(&mut page);
        page
    }
}

impl Jest {
    fn suite(&mut self, text: &str) {
        self.end_block();
        let (file, taken) = match text.rsplit_once(" (") {
            Some((file, taken)) if taken.ends_with("s)") => (file, taken.trim_end_matches(')')),
            _ => (text, ""),
        };
        if self.state == JestState::Again {
            return;
        }
        self.state = JestState::File;
        self.file = clip(file, 250);
        self.report.slow_files.took(taken, file);
    }

    fn title(&mut self, title: &str, line: u64) {
        self.end_block();
        if title == "Console" {
            self.state = JestState::Console;
        } else if let Some(note) = title.strip_prefix(' ') {
            // `  ●  Cannot log after tests are done.` is a remark about a test that may have passed.
            self.report.note(line, note);
            self.state = JestState::Console;
        } else {
            self.state = JestState::Failure;
            self.block = Some((line, clip(title, 300), JsBlock::default()));
        }
    }

    fn take_failure_line(&mut self, line: &Line<'_>) -> bool {
        // A failure is indented; a coverage table or a note is not.
        if !line.text.is_empty() && !line.text.starts_with(' ') {
            self.end_block();
            self.state = JestState::File;
            return self.in_file(line);
        }
        if let Some((_, _, block)) = &mut self.block {
            block.line(line.text);
        }
        true
    }

    /// Takes what a test printed, and where.
    fn printed(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let trimmed = text.trim();
        if !text.is_empty() && !text.starts_with("  ") {
            self.state = JestState::File;
            return self.in_file(line);
        }
        if !trimmed.is_empty() && !trimmed.starts_with("at ") && !is_code(trimmed) {
            self.chatter.line(&Line { text: trimmed, ..*line });
        }
        true
    }

    fn in_file(&mut self, line: &Line<'_>) -> bool {
        let trimmed = line.text.trim_start();
        if trimmed.is_empty() {
            return true;
        }
        if let Some((outcome, name, taken)) = listed(trimmed) {
            self.report.outcomes.add(&self.file, outcome, 1);
            self.report.slow.took(taken, name);
            if outcome == Outcome::Skipped {
                self.report.skips.add(&format!("{name} ({})", self.file), "", line.number);
            }
            return true;
        }
        if is_note(trimmed) {
            self.report.note(line.number, trimmed);
            return true;
        }
        if line.text.contains('|') {
            return self.report.coverage.row(line.number, line.text)
                || line.text.starts_with("File ")
                || line.text.starts_with('-');
        }
        // Groups of tests, in the tree of `--verbose`.
        line.text.starts_with("  ")
    }

    fn after(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if is_note(text) {
            return self.in_file(line);
        }
        text.starts_with("Ran all test suites") || text.starts_with("Snapshots: ") || text.is_empty()
    }

    fn end_block(&mut self) {
        if let Some((line, test, block)) = self.block.take() {
            if block.is_empty() {
                return;
            }
            if test == "Test suite failed to run" {
                self.broken.push(Failure { test: self.file.clone(), ..block.failure(line, "") });
            } else {
                self.failures.push(block.failure(line, &test));
            }
        }
    }
}

/// Parses the file and the duration of `FAIL test/cards.test.js (5.12 s)`.
fn suite(line: &str) -> Option<&str> {
    // In colour, the word has a space on both sides.
    let (word, rest) = line.strip_prefix(' ').unwrap_or(line).split_once(' ')?;
    if !matches!(word, "PASS" | "FAIL") {
        return None;
    }
    let rest = rest.trim();
    let path = rest.split(" (").next().unwrap_or(rest);
    // The name of a project may precede the path.
    let path = path.rsplit(' ').next().unwrap_or(path);
    let ends = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte"];
    (ends.iter().any(|end| path.ends_with(end)) && !rest.contains(" > ")).then_some(rest)
}

/// Returns a line of the counts at the end, in our words: `Tests:       18 failed, 91 passed, 111 total`.
fn counts(line: &str) -> Option<String> {
    let (name, rest) = line.split_once(':')?;
    let name = match name {
        "Test Suites" => "suites",
        "Tests" => "tests",
        "Snapshots" => "snapshots",
        "Time" => {
            let taken: String =
                rest.trim().chars().take_while(|letter| letter.is_ascii_digit() || *letter == '.').take(20).collect();
            let unit = if rest.contains(" ms") { "ms" } else { "s" };
            return (!taken.is_empty()).then(|| format!("{taken} {unit}"));
        }
        _ => return None,
    };
    let words = [
        "failed", "passed", "total", "skipped", "pending", "todo", "obsolete", "written", "updated", "removed", "file",
    ];
    let pieces = rest.split(',').filter_map(|piece| {
        let (count, word) = number(piece.trim())?;
        let word = words.into_iter().find(|known| word.trim_start().starts_with(known))?;
        (count > 0 || word != "total").then(|| format!("{count} {word}"))
    });
    let pieces = pieces.collect::<Vec<_>>().join(", ");
    (!pieces.is_empty()).then(|| format!("{name} {pieces}"))
}

/// Parses `    ✓ adds two numbers (3 ms)`.
fn listed(text: &str) -> Option<(Outcome, &str, &str)> {
    let mut letters = text.chars();
    let outcome = match letters.next()? {
        '✓' | '√' => Outcome::Passed,
        '✕' | '×' => Outcome::Failed,
        '○' | '✎' => Outcome::Skipped,
        _ => return None,
    };
    let name = letters.as_str().strip_prefix(' ')?;
    let name = name.strip_prefix("skipped ").or_else(|| name.strip_prefix("todo ")).unwrap_or(name);
    match name.rsplit_once(" (") {
        Some((name, taken)) if taken.ends_with("s)") && micros(taken).is_some() => {
            Some((outcome, name, taken.trim_end_matches(')')))
        }
        _ => Some((outcome, name, "")),
    }
}

/// Parses `  console.warn`: the method that printed.
fn console(text: &str) -> Option<&str> {
    let name = text.trim_start();
    let known = ["log", "warn", "error", "info", "debug", "trace", "dir", "table", "assert", "group", "count", "time"];
    let word = name.strip_prefix("console.")?.split(' ').next()?;
    (text.starts_with("  ") && known.contains(&word))
        .then(|| name.split(" at ").next().unwrap_or(name).trim_end())
        .filter(|name| name.len() < 20)
}

/// Returns whether Jest says something about the run as a whole.
fn is_note(text: &str) -> bool {
    #[rustfmt::skip]
    let starts = [
        "Jest: ", "Jest did not exit", "A worker process has failed", "Force exiting Jest", " › ", "› ",
        "Snapshot Summary", "Test run was interrupted",
    ];
    starts.iter().any(|start| text.starts_with(start))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_remark_about_late_output_is_not_a_failure() {
        let raw = "PASS  test/a.test.js\n  ●  Cannot log after tests are done. Did you forget to wait for something async?\n    \
                   Attempted to log \"late\".\n\n      at console.log (node_modules/@jest/console/build/Console.js:156:10)\n\n\
                   Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n";
        let told = digest(raw, 600);
        assert!(told.contains("== notes: 1\n2: Cannot log after tests are done."), "{told}");
        assert!(told.contains("jest: suites 1 passed, 1 total; tests 1 passed, 1 total; "), "{told}");
        assert!(!told.contains("failures"), "{told}");
    }

    const RUN: &str = r#" PASS  packages/core/src/a.test.ts
 FAIL  packages/core/src/b.test.tsx (5.123 s)
  Widget
    ✓ renders (25 ms)
    ✕ matches snapshot (12 ms)
    nested
      ✕ throws (3 ms)
      ○ skipped later
      ✎ todo write me

  ● Widget › matches snapshot

    expect(received).toMatchSnapshot()

    Snapshot name: `Widget matches snapshot 1`

    - Snapshot  - 1
    + Received  + 1

    @@ -1,5 +1,5 @@
      <div
    -   className="a"
    +   className="b"
      >

      10 | test('x', () => {
    > 11 |   expect(tree).toMatchSnapshot();
         |                ^

      at Object.toMatchSnapshot (packages/core/src/b.test.tsx:11:16)

  ● Widget › nested › throws

    TypeError: Cannot read properties of null (reading 'foo')

      3 | export function f(x) {
    > 4 |   return x.foo;
        |            ^

      at f (packages/core/src/f.ts:4:12)
      at Object.<anonymous> (packages/core/src/b.test.tsx:20:5)
      at Promise.then.completed (node_modules/jest-circus/build/utils.js:298:28)

  console.error
    Warning: Each child in a list should have a unique "key" prop.

      at printWarning (node_modules/react/cjs/react.development.js:199:30)

 › 1 snapshot failed.
----------|---------|----------|---------|---------|-------------------
File      | % Stmts | % Branch | % Funcs | % Lines | Uncovered Line #s 
----------|---------|----------|---------|---------|-------------------
All files |   66.66 |       50 |      75 |   66.66 |                   
 f.ts     |      50 |       50 |      50 |      50 | 4-9               
 g.ts     |     100 |      100 |     100 |     100 |                   
----------|---------|----------|---------|---------|-------------------
Jest: "global" coverage threshold for statements (80%) not met: 66.66%
Snapshot Summary
 › 1 snapshot failed from 1 test suite. Inspect your code changes or run `yarn test -u` to update them.

Test Suites: 1 failed, 1 passed, 2 total
Tests:       2 failed, 1 skipped, 1 todo, 5 passed, 9 total
Snapshots:   1 failed, 1 total
Time:        6.1 s, estimated 7 s
Ran all test suites.
A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests leaking due to improper teardown.
"#;

    #[test]
    fn failures_and_coverage_are_told() {
        check(RUN, 600).shows(&expect![[r#"
            jest: suites 1 failed, 1 passed, 2 total; tests 2 failed, 1 skipped, 1 todo, 5 passed, 9 total; snapshots 1 failed, 1 total; 6.1 s
            == failures: 2
            11: Widget › matches snapshot packages/core/src/b.test.tsx:11:16: Snapshot name: `Widget matches snapshot 1`: - className="a" + className="b"
              expect(received).toMatchSnapshot()
            32: Widget › nested › throws packages/core/src/f.ts:4:12: TypeError: Cannot read properties of null (reading 'foo')
              called at packages/core/src/b.test.tsx:20:5
            == notes: 5
            49: › 1 snapshot failed.
            57: Jest: "global" coverage threshold for statements (80%) not met: 66.66%
            58: Snapshot Summary
            59: › 1 snapshot failed from 1 test suite. Inspect your code changes or run `yarn test -u` to update them.
            66: A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests leaking due to improper teardown.
            == slowest tests: 3
            25 ms renders
            12 ms matches snapshot
            3 ms throws
            == coverage of statements, branches, functions and lines: 1
            53: All files |   66.66 |       50 |      75 |   66.66 |
            == files not wholly covered, the least first: 1
            f.ts 50 50 50 50 4-9
            == skipped and to do: 2
            later (packages/core/src/b.test.tsx)
            write me (packages/core/src/b.test.tsx)
            == files: 1
            packages/core/src/b.test.tsx: 2 failed, 1 passed, 2 skipped
            == printed to the console, by sort: 1
            1 console.error
            == lines in order: printed by tests, warnings 1
            45: Warning: Each child in a list should have a unique "key" prop."#]]);
    }
}
