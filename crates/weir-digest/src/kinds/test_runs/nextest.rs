//! `cargo nextest run`: the failures and what they printed, then outcomes by binary and the slowest tests.

use std::collections::{BTreeMap, BTreeSet};

use super::failed::{Failure, Failures};
use super::outcomes::{Outcome, Outcomes, Repeats, TopN};
use super::panicked::TestOutput;
use super::run::{Runner, Runs};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::text::{clip, number};
use crate::{About, Item, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Runs<Nextest>>("nextest", opens);

/// The maximum number of names and notes that are kept.
const MAX_ITEMS: usize = 1000;
/// How tests end, besides signals, and what is printed while they run.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "PASS", "FAIL", "SLOW", "LEAK", "LEAK-FAIL", "TIMEOUT", "TMT", "TERMINATING", "ABORT", "FLAKY", "RETRY", "START",
    "DELAY", "XFAIL", "EXECFAIL",
];
/// The line before and after the list of tests.
const RULE: &str = "────────────";

fn opens(line: &str, _: About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b' ') => begins(line) || line.starts_with("     Summary [") || status(line).is_some(),
        Some(0xe2) => line == RULE,
        _ => false,
    }
}

#[derive(Default)]
struct Nextest {
    state: NextestState,
    failures: Failures,
    /// Failures that may not be final: of tests that are retried, or whose output is printed at the end.
    waiting: BTreeMap<String, Failure>,
    failed: BTreeSet<String>,
    counted: bool,
    flaky: Repeats,
    outcomes: Outcomes,
    slow: TopN,
    /// The test whose printed lines are being read.
    test: Option<ReportedTest>,
    counts: Vec<String>,
    notes: KeptItems<MAX_ITEMS>,
}

#[derive(Default, PartialEq, Eq)]
enum NextestState {
    #[default]
    Tests,
    Printed,
}

/// A line that states how a test ended.
#[derive(Clone, Copy)]
struct StatusLine<'a> {
    word: &'a str,
    tried: bool,
    taken: &'a str,
    /// The binary and the test.
    name: &'a str,
}

struct ReportedTest {
    line: u64,
    word: String,
    tried: bool,
    name: String,
    printed: TestOutput,
}

impl Runner for Nextest {
    fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(status) = status(text) {
            self.status(status, line.number);
            return true;
        }
        if text.starts_with(RULE) && text.trim_end_matches('─').is_empty() {
            self.end_test();
            self.state = NextestState::Tests;
            return true;
        }
        if let Some(rest) = text.strip_prefix("     Summary [") {
            self.end_test();
            if self.counts.len() < MAX_ITEMS {
                self.counts.push(counted(rest));
            }
            self.state = NextestState::Tests;
            self.counted = true;
            return true;
        }
        if begins(text) && self.counted {
            self.end_run();
        }
        if self.test.is_some() {
            let block = ["  stdout ─", "  stderr ─", "  output ─", "--- STDOUT: ", "--- STDERR: "];
            if block.iter().any(|start| text.starts_with(start)) {
                self.state = NextestState::Printed;
                return true;
            }
        }
        if self.state == NextestState::Printed {
            if let Some(test) = &mut self.test {
                test.printed.line(text.strip_prefix("    ").unwrap_or(text));
            }
            return true;
        }
        self.other(line)
    }

    fn page(mut self, bytes: u64) -> Page {
        self.end_run();
        let counts = if self.counts.is_empty() { self.outcomes.counted() } else { self.counts.join("; ") };
        let mut page = Page::new(format!("nextest: {counts}"));
        page.push(self.failures.part("failures", bytes));
        page.push(self.notes.part("notes", Weight::Fact));
        page.push(self.flaky.part("flaky tests", Weight::Fact, |text, _| text.to_owned()));
        page.push(self.slow.part("slowest tests", Weight::Fact));
        page.push(self.outcomes.part("binaries"));
        page
    }
}

impl Nextest {
    /// Reports the failures that are final now. Another run may follow, of tests with the same names.
    fn end_run(&mut self) {
        self.end_test();
        let mut waiting: Vec<Failure> = std::mem::take(&mut self.waiting).into_values().collect();
        waiting.sort_by_key(|failure| failure.line);
        waiting.into_iter().for_each(|failure| self.failures.push(failure));
        self.failed.clear();
        self.counted = false;
    }

    fn other(&mut self, line: &Line<'_>) -> bool {
        let trimmed = line.text.trim_start();
        let note = trimmed.starts_with("Cancel")
            || (trimmed.starts_with("warning: ") && trimmed.contains(" tests were not run"));
        if note {
            self.notes.add(|| Item::at(line.number, clip(trimmed, 300)));
        }
        let known = ["Nextest run ", "Starting ", "error: test run failed"];
        note || trimmed.is_empty() || known.iter().any(|start| trimmed.starts_with(start))
    }

    fn status(&mut self, status: StatusLine<'_>, line: u64) {
        self.end_test();
        let StatusLine { word, tried, taken, name } = status;
        self.state = NextestState::Tests;
        let outcome = match word {
            "PASS" => Outcome::Passed,
            "SLOW" | "START" | "TERMINATING" | "RETRY" | "DELAY" => return,
            "LEAK" | "FLAKY" => Outcome::Other,
            _ => Outcome::Failed,
        };
        if outcome == Outcome::Failed {
            self.test = Some(ReportedTest::of(status, line));
        } else if tried || word == "FLAKY" {
            self.waiting.remove(name);
        }
        if self.counted {
            // The list at the end repeats what has been reported.
            if word == "FLAKY" {
                self.flaky.add(name, 1, line);
            }
            return;
        }
        if tried && outcome == Outcome::Failed {
            return;
        }
        self.outcomes.add(name.split(' ').next().unwrap_or_default(), outcome, 1);
        self.slow.took(taken, name);
    }

    fn end_test(&mut self) {
        let Some(test) = self.test.take() else { return };
        let room = self.failed.len() < MAX_ITEMS;
        if self.failed.contains(&test.name) || (!room && self.counted) {
            return;
        }
        if test.tried && !self.counted || test.printed.is_empty() {
            if self.waiting.len() < MAX_ITEMS && !(self.counted && self.waiting.contains_key(&test.name)) {
                self.waiting.insert(test.name.clone(), test.failure());
            }
            return;
        }
        self.waiting.remove(&test.name);
        if room {
            self.failed.insert(test.name.clone());
        }
        self.failures.push(test.failure());
    }
}

impl ReportedTest {
    fn of(status: StatusLine<'_>, line: u64) -> Self {
        let StatusLine { word, tried, name, .. } = status;
        Self { line, word: word.to_owned(), tried, name: clip(name, 250), printed: TestOutput::default() }
    }

    fn failure(self) -> Failure {
        let mut failure = self.printed.failure(self.line, &self.name);
        if self.word != "FAIL" {
            failure.message = format!("{} {}", self.word, failure.message);
        }
        failure
    }
}

fn begins(line: &str) -> bool {
    line.starts_with(" Nextest run ")
        || line.strip_prefix("    Starting ").is_some_and(|rest| rest.contains(" across ") && rest.contains(" test"))
}

/// Parses `        PASS [   0.005s] (  3/391) geo::distance distance_is_symmetric_002`.
fn status(line: &str) -> Option<StatusLine<'_>> {
    let (before, rest) = line.strip_prefix(' ')?.split_once('[')?;
    let (taken, name) = rest.split_once("] ")?;
    let taken = taken.trim();
    taken
        .strip_suffix('s')?
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b' ' | b'>'))
        .then_some(())?;
    let mut name = name.trim_start();
    // The progress of the run, since 0.9.100.
    if let Some((done, after)) = name.strip_prefix('(').and_then(|rest| rest.split_once(") "))
        && (done.contains('/') || done.contains('─'))
    {
        name = after.trim_start();
    }
    let before = before.trim();
    let words = before.strip_prefix("TRY ").and_then(number);
    let word = words.map_or(before, |(_, rest)| rest.trim_start());
    let word = if word.starts_with("FLAKY ") || word.starts_with("FLKY") { "FLAKY" } else { word };
    let known = WORDS.contains(&word) || word.starts_with("SIG") && word.bytes().all(|byte| byte.is_ascii_uppercase());
    if !known {
        return None;
    }
    Some(StatusLine { word, tried: words.is_some(), taken, name })
}

/// Returns `   3.370s] 391 tests run: 382 passed (1 slow), 9 failed, 1 skipped` in our words.
fn counted(text: &str) -> String {
    let Some((taken, counts)) = text.split_once(']') else { return String::new() };
    let Some((run, counts)) = counts.split_once(" run: ") else { return String::new() };
    let mut said = Vec::new();
    for piece in counts.split([',', '(', ')']).map(str::trim) {
        let Some((count, word)) = number(piece) else { continue };
        let known =
            ["passed", "failed", "skipped", "slow", "flaky", "leaky", "timed out", "exec failed", "failed due to"];
        if let Some(word) = known.into_iter().find(|known| word.trim_start().starts_with(known)) {
            said.push(format!("{count} {word}"));
        }
    }
    let run: String = run.chars().filter(|letter| letter.is_ascii_digit() || *letter == '/').take(20).collect();
    let taken: String = taken.chars().filter(|letter| letter.is_ascii_digit() || *letter == '.').take(20).collect();
    let tests = if run == "1" { "test" } else { "tests" };
    format!("{run} {tests} run: {} in {taken} s", said.join(", "))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::check;

    #[test]
    fn old_and_new_runs_are_read() {
        let raw = r#"    Starting 4 tests across 2 binaries (2 tests skipped)
        PASS [   0.005s] thing tests::ok
        FAIL [   0.006s] thing tests::eq

--- STDOUT:              thing tests::eq ---

running 1 test
test tests::eq ... FAILED

failures:

failures:
    tests::eq

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s

--- STDERR:              thing tests::eq ---
thread 'tests::eq' panicked at 'no entry', src/lib.rs:16:29
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

  TRY 1 FAIL [   0.169s] (─────) thing tests::shaky
  stderr ───
    thread 'tests::shaky' (5) panicked at src/lib.rs:20:1:
    once
  TRY 2 PASS [   0.170s] (3/4) thing tests::shaky
     SIGABRT [   0.005s] (4/4) thing::it aborts
  stdout ───

    running 1 test

    (test aborted with signal 6: SIGABRT)

────────────
     Summary [   1.035s] 4 tests run: 2 passed (1 flaky), 2 failed, 2 skipped
   FLAKY 2/2 [   0.170s] (3/4) thing tests::shaky
        FAIL [   0.006s] (2/4) thing tests::eq
     SIGABRT [   0.005s] (4/4) thing::it aborts
error: test run failed
"#;
        check(raw, 600).shows(&expect![[r#"
            nextest: 4 tests run: 2 passed, 1 flaky, 2 failed, 2 skipped in 1.035 s
            == failures: 2
            3: thing tests::eq src/lib.rs:16:29: no entry
            26: thing::it aborts SIGABRT (test aborted with signal 6: SIGABRT)
            == flaky tests: 1
            thing tests::shaky
            == slowest tests: 4, 1 shown
            0.170s thing tests::shaky
            == binaries: 2
            thing: 1 failed, 2 passed
            thing::it: 1 failed"#]]);
    }

    #[test]
    fn each_of_several_runs_has_its_counts_and_failures() {
        let run = |failed: u32| {
            let (word, result) = if failed > 0 { ("FAIL", "0 passed, 1 failed") } else { ("PASS", "1 passed") };
            format!(
                "    Starting 1 test across 1 binary\n        {word} [   0.005s] thing tests::eq\n────────────\n     \
                 Summary [   0.035s] 1 test run: {result}, 0 skipped\n"
            )
        };
        check(&format!("{}{}{}", run(1), run(1), run(0)), 600).shows(&expect![[r#"
            nextest: 1 test run: 0 passed, 1 failed, 0 skipped in 0.035 s; 1 test run: 0 passed, 1 failed, 0 skipped in 0.035 s; 1 test run: 1 passed, 0 skipped in 0.035 s
            == failures by cause (2 tests): 1
            2: thing tests::eq ×2
            == slowest tests: 3
            0.005s thing tests::eq
            0.005s thing tests::eq
            0.005s thing tests::eq
            == binaries: 1
            thing: 2 failed, 1 passed"#]]);
    }
}
