//! `cargo test`: the panics with their messages, then the outcome of each binary, without compiler messages.

use super::cargo_counts::Counts;
use super::failed::{Failure, Failures};
use super::outcomes::{Repeats, Skips, TopN, times};
use super::panicked::{TestOutput, panicking};
use super::run::{Runner, Runs};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::text::{clip, number};
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Runs<CargoTest>>("cargo_test", opens);

/// The maximum number of binaries, targets and notes that are kept.
const MAX_ITEMS: usize = 200;

fn opens(line: &str, _: About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b' ') => running(line).is_some(),
        Some(b'r') => tests_to_run(line).is_some(),
        Some(b't') => outcome(line).is_some() || line.starts_with("test result: "),
        Some(b'e') => rerun(line).is_some() || targets_failed(line),
        Some(b'-') => shown_of(line).is_some(),
        _ => false,
    }
}

/// The runs of all test binaries.
#[derive(Default)]
struct CargoTest {
    state: CargoState,
    failures: Failures,
    counts: Counts,
    /// The outcomes of the tests that ran since the last result, and of binaries that ended without one.
    listed: Counts,
    unfinished: Counts,
    binary: String,
    binaries: Vec<Binary>,
    binaries_total: u64,
    tested: u64,
    targets: Repeats,
    ignored: Skips,
    slow: TopN,
    benchmarks: Repeats,
    /// Tests that ran for more than a minute.
    long: Repeats,
    notes: KeptItems<MAX_ITEMS>,
    /// The test whose printed lines are being read.
    test: Option<(u64, String, TestOutput)>,
    /// Whether tests are running, and whether their printed lines have been shown.
    running: bool,
    told: bool,
    /// Panics of tests that print while they run.
    inline: Vec<(String, Failure)>,
    printed_by_passed: u64,
    /// Failed tests by name, for runs that show nothing else about them.
    failed: Repeats,
}

#[derive(Default, PartialEq, Eq)]
enum CargoState {
    #[default]
    Tests,
    /// The output of the passed tests, and their names.
    Passed,
    /// The output of the failed tests.
    Printed,
    /// The names of the failed tests, repeated.
    Names,
    /// The targets that failed, and why a binary ended badly.
    Targets,
}

struct Binary {
    name: String,
    counts: Counts,
}

impl Runner for CargoTest {
    fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(name) = running(text) {
            self.end_test();
            self.state = CargoState::Tests;
            self.binary = clip(&without_hash(name), 200);
            return true;
        }
        match self.state {
            // With `--show-output`, the tests that passed come first.
            CargoState::Passed if text == "failures:" || text.starts_with("test result: ") => {
                self.state = CargoState::Tests;
                self.test(line)
            }
            CargoState::Passed => {
                self.printed_by_passed += u64::from(!text.is_empty());
                true
            }
            CargoState::Printed => self.printed(line),
            CargoState::Names => self.name(line),
            CargoState::Targets => self.target(line),
            CargoState::Tests => self.test(line),
        }
    }

    fn page(mut self, bytes: u64) -> Page {
        self.end_test();
        let what = self.what();
        let Self { failures, mut binaries, targets, ignored, slow, failed, .. } = self;
        let mut page = Page::new(what);
        page.push(failures.part("failures", bytes));
        if page.parts.is_empty() {
            page.push(failed.part("failures", Weight::Failure, times));
        }
        page.push(targets.part("targets that failed", Weight::Failure, |text, _| text.to_owned()));
        page.push(self.notes.part("notes", Weight::Failure));
        page.push(ignored.part("ignored", Weight::Fact));
        page.push(slow.part("slowest tests", Weight::Fact));
        page.push(self.long.part("tests that ran for over a minute", Weight::Fact, times));
        page.push(self.benchmarks.part("benchmarks", Weight::Fact, times));
        page.push(Part::new("lines of tests that passed", Weight::Shape, Vec::new()).of(self.printed_by_passed));
        binaries.sort_by_key(|binary| std::cmp::Reverse((binary.counts.failed, binary.counts.micros)));
        let named = |binary: &Binary| Item::plain(format!("{}: {}", binary.name, binary.counts));
        let items: Vec<Item> = binaries.iter().map(named).collect();
        page.push(Part::new("binaries with tests", Weight::Shape, items).of(self.tested));
        page
    }
}

impl CargoTest {
    /// Returns the counts of the results, and of the tests of binaries that crashed or whose output is cut off.
    fn what(&mut self) -> String {
        self.unfinished.add(&std::mem::take(&mut self.listed));
        let mut said = Vec::new();
        if self.binaries_total > 0 {
            said.push(format!("{} in {} binaries", self.counts, self.binaries_total));
        }
        let Counts { passed, failed, ignored, .. } = self.unfinished;
        if passed + failed + ignored > 0 {
            said.push(format!("{failed} failed, {passed} passed, {ignored} ignored without a final result"));
        }
        if said.is_empty() {
            said.push("no result".to_owned());
        }
        format!("cargo test: {}", said.join("; "))
    }

    fn test(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some((name, outcome)) = outcome(text) {
            self.end_printed();
            self.outcome(name, outcome, line.number);
        } else if text == "successes:" {
            self.end_printed();
            self.state = CargoState::Passed;
        } else if text == "failures:" || shown_of(text).is_some() {
            self.end_printed();
            self.state = CargoState::Printed;
            return self.printed(line);
        } else if let Some(counts) = text.strip_prefix("test result: ") {
            self.result(counts);
        } else if rerun(text).is_some() || targets_failed(text) {
            self.state = CargoState::Targets;
            return self.target(line);
        } else if let Some(name) = panicking(text).filter(|_| self.running) {
            // Output is not captured, so tests print while they run.
            self.end_printed();
            let mut printed = TestOutput::default();
            printed.line(text);
            self.test = Some((line.number, clip(name, 250), printed));
        } else if matches!(text, "ok" | "FAILED") {
            self.end_printed();
            self.listed.passed += u64::from(text == "ok");
            self.listed.failed += u64::from(text == "FAILED");
        } else if let Some((_, _, printed)) = &mut self.test {
            if text.starts_with("test ") {
                self.end_printed();
            } else {
                printed.line(text);
            }
        } else {
            let begins = tests_to_run(text).is_some();
            if begins {
                self.running = true;
                self.unfinished.add(&std::mem::take(&mut self.listed));
            }
            return begins
                || is_quiet(text)
                || text.is_empty()
                || (text.starts_with("test ") && text.contains(" ... "));
        }
        true
    }

    fn outcome(&mut self, name: &str, outcome: &str, line: u64) {
        let (word, rest) = outcome.split_once([' ', ',']).unwrap_or((outcome, ""));
        match word {
            "ok" => self.listed.passed += 1,
            "ignored" => {
                self.listed.ignored += 1;
                self.ignored.add(name, rest.trim(), line);
            }
            "FAILED" => {
                self.listed.failed += 1;
                self.failed.add(name, 1, line);
            }
            "bench:" => self.benchmarks.add(&format!("{name}: {}", rest.trim()), 1, line),
            "slow" => self.long.add(name, 1, line),
            _ => {}
        }
        if let Some(taken) = rest.trim().strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) {
            self.slow.took(taken, name);
        }
    }

    fn printed(&mut self, line: &Line<'_>) -> bool {
        if let Some(name) = shown_of(line.text) {
            self.end_test();
            self.told = true;
            self.test = Some((line.number, clip(name, 250), TestOutput::default()));
        } else if line.text == "failures:" {
            self.end_test();
            // The word occurs twice: before the output of the tests, and before their names.
            self.state = if std::mem::replace(&mut self.told, true) { CargoState::Names } else { CargoState::Printed };
        } else if let Some(counts) = line.text.strip_prefix("test result: ") {
            self.end_test();
            self.result(counts);
        } else if rerun(line.text).is_some() {
            self.end_test();
            self.state = CargoState::Targets;
            return self.target(line);
        } else if let Some((_, _, printed)) = &mut self.test {
            printed.line(line.text);
        }
        true
    }

    fn name(&mut self, line: &Line<'_>) -> bool {
        match line.text.strip_prefix("test result: ") {
            Some(counts) => self.result(counts),
            None if line.text.is_empty() => {}
            None if line.text.starts_with("    ") => self.failed_again(line.text.trim()),
            None => {
                self.state = CargoState::Tests;
                return self.test(line);
            }
        }
        true
    }

    /// Reads `ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s`.
    fn result(&mut self, text: &str) {
        self.state = CargoState::Tests;
        (self.running, self.told) = (false, false);
        self.inline.clear();
        self.listed = Counts::default();
        let counts = Counts::parse(text);
        self.counts.add(&counts);
        self.binaries_total += 1;
        let has_tests = counts.passed + counts.failed + counts.ignored + counts.measured > 0;
        self.tested += u64::from(has_tests);
        if has_tests && self.binaries.len() < MAX_ITEMS {
            // With `-q`, binaries have no names.
            let name = match self.binary.as_str() {
                "" => format!("binary {}", self.binaries_total),
                name => name.to_owned(),
            };
            self.binary.clear();
            self.binaries.push(Binary { name, counts });
        }
    }

    fn target(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(target) = rerun(text) {
            self.targets.add(target.trim_matches(['`', '\'']), 1, line.number);
        } else if let Some(target) = text.strip_prefix("    `").and_then(|rest| rest.strip_suffix('`')) {
            // The list at the end names all of them again.
            self.targets.add(target, 0, line.number);
        } else if text.starts_with("  ") && text.contains("process didn't exit successfully") {
            self.notes.add(|| Item::at(line.number, clip(text.trim(), 300)));
        } else if !(text.is_empty() || text == "Caused by:" || targets_failed(text)) {
            self.state = CargoState::Tests;
            return self.test(line);
        }
        true
    }

    /// Keeps what a test printed while output was not captured. Whether the test failed is known only at the end.
    fn end_printed(&mut self) {
        if let Some((line, name, printed)) = self.test.take()
            && self.inline.len() < MAX_ITEMS
        {
            self.inline.push((name.clone(), printed.failure(line, &name)));
        }
    }

    /// Records that a test is among those that failed.
    fn failed_again(&mut self, name: &str) {
        if let Some(at) = self.inline.iter().position(|(panicked, _)| panicked == name) {
            let (_, failure) = self.inline.swap_remove(at);
            self.failures.push(failure);
        }
    }

    fn end_test(&mut self) {
        if let Some((line, name, printed)) = self.test.take() {
            self.failures.push(printed.failure(line, &name));
        }
    }
}

/// Returns a name for the binary of `     Running unittests src/lib.rs (target/debug/deps/money-675f5a29b42a1535)`.
fn running(line: &str) -> Option<&str> {
    if let Some(name) = line.strip_prefix("   Doc-tests ") {
        return Some(line.get(line.len() - name.len() - "Doc-tests ".len()..).unwrap_or(name));
    }
    let rest = line.strip_prefix("     Running ")?;
    // Cargo before 1.52 printed only the path of the binary.
    if rest.starts_with('`') {
        return None;
    }
    match rest.rsplit_once(" (") {
        Some((_, path)) if path.ends_with(')') => Some(rest),
        _ => rest.contains("/deps/").then_some(rest),
    }
}

/// Returns the name of the binary of `unittests src/lib.rs (target/debug/deps/money-675f5a29b42a1535)`: `money
/// src/lib.rs`.
fn without_hash(running: &str) -> String {
    let (source, path) = running.split_once(" (").unwrap_or(("", running));
    let path = path.trim_end_matches(')');
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = file.rsplit_once('-').map_or(file, |(name, _)| name);
    let source = source.strip_prefix("unittests ").unwrap_or(source);
    if source.contains(name) || source.is_empty() && !running.contains("/deps/") {
        return if source.is_empty() { running.to_owned() } else { source.to_owned() };
    }
    format!("{name} {source}").trim_end().to_owned()
}

/// Parses `running 12 tests`.
fn tests_to_run(line: &str) -> Option<u64> {
    let (count, rest) = number(line.strip_prefix("running ")?)?;
    matches!(rest, " test" | " tests").then_some(count)
}

/// Parses `test tests::parse ... ok` into the name and the outcome.
fn outcome(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("test ")?;
    if let Some((name, _)) = rest.split_once(" has been running for over ") {
        return Some((name, "slow"));
    }
    let (name, outcome) = rest.rsplit_once(" ... ")?;
    let known = ["ok", "FAILED", "ignored", "bench:"];
    known
        .iter()
        .any(|word| outcome.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
        .then_some((name, outcome))
}

/// Parses `---- tests::parse stdout ----`.
fn shown_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    name.strip_suffix(" stdout").or_else(|| name.strip_suffix(" stderr"))
}

/// Parses ``error: test failed, to rerun pass `-p money --lib` `` into the arguments to rerun it.
fn rerun(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("error: ")?;
    rest.strip_prefix("test failed, to rerun pass ").or_else(|| rest.strip_prefix("doctest failed, to rerun pass "))
}

/// Recognises `error: 2 targets failed:`.
fn targets_failed(line: &str) -> bool {
    line.strip_prefix("error: ")
        .and_then(number)
        .is_some_and(|(_, rest)| matches!(rest, " target failed:" | " targets failed:"))
}

/// Recognises the dots of `cargo test -q`.
fn is_quiet(line: &str) -> bool {
    let dots = line.split(' ').next().unwrap_or_default();
    !dots.is_empty() && dots.bytes().all(|byte| matches!(byte, b'.' | b'F' | b'i')) || line.ends_with(" --- FAILED")
}

#[cfg(test)]
mod tests {
    #[test]
    fn tests_that_passed_are_not_failures() {
        let printed: String = (0..9).map(|n| format!("---- a::t{n} stdout ----\nan error within limits\n\n")).collect();
        let raw = format!(
            "running 9 tests\ntest a::t0 ... ok\n\nsuccesses:\n\n{printed}\nsuccesses:\n    a::t0\n\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s\n"
        );
        let told = crate::check::digest(&raw, 400);
        assert!(!told.contains("failures") && told.contains("lines of tests that passed: 20, none shown"), "{told}");
    }

    #[test]
    fn tests_of_a_binary_that_crashed_are_counted() {
        let tests: String = (0..9).map(|n| format!("test a::t{n} ... ok\n")).collect();
        let raw = format!(
            "running 12 tests\n{tests}test a::skip ... ignored\ntest a::eq ... FAILED\n\n\
             thread 'a::deep' has overflowed its stack\nfatal runtime error: stack overflow, aborting\n\
             error: test failed, to rerun pass `--lib`\n\nCaused by:\n  \
             process didn't exit successfully: `/x/deps/a-1` (signal: 6, SIGABRT: process abort signal)\n"
        );
        let told = crate::check::digest(&raw, 600);
        assert!(told.contains("cargo test: 1 failed, 9 passed, 1 ignored without a final result; "), "{told}");
        assert!(!told.contains("0 binaries"), "{told}");
        let told = crate::check::digest("error: test failed, to rerun pass `--lib`\n", 600);
        assert!(told.contains("cargo test: no result; "), "{told}");
    }

    use expect_test::expect;

    use crate::check::check;

    const RUN: &str = r#"     Running unittests src/lib.rs (target/debug/deps/thing-3413a480fe4235bf)

running 6 tests
test tests::ok ... ok
test tests::ign ... ignored, slow one
test tests::eq ... FAILED
test tests::should ... FAILED
test tests::error ... FAILED

failures:

---- tests::eq stdout ----
got here

thread 'tests::eq' (32092) panicked at src/lib.rs:16:29:
assertion `left == right` failed: sums differ
  left: 3
 right: 4
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace

---- tests::should stdout ----
note: test did not panic as expected at src/lib.rs:12:45
---- tests::error stdout ----
Error: "bad thing"


failures:
    tests::eq
    tests::should
    tests::error

test result: FAILED. 1 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.13s

error: test failed, to rerun pass `--lib`
     Running tests/it.rs (target/debug/deps/it-9937aff5890a3e19)

running 2 tests
error: test failed, to rerun pass `--test it`

Caused by:
  process didn't exit successfully: `/x/deps/it-9937aff5890a3e19` (signal: 6, SIGABRT: process abort signal)
   Doc-tests thing

running 1 test
test src/lib.rs - add (line 4) ... FAILED

failures:

---- src/lib.rs - add (line 4) stdout ----
error[E0425]: cannot find function `nope` in crate `thing`
 --> src/lib.rs:6:20
  |
6 | let x: u8 = thing::nope();
  |                    ^^^^ not found in `thing`

error: aborting due to 1 previous error

failures:
    src/lib.rs - add (line 4)

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.30s

error: doctest failed, to rerun pass `--doc`
error: 3 targets failed:
    `--lib`
    `--test it`
    `--doc`
"#;

    #[test]
    fn panics_of_all_sorts_are_told() {
        check(RUN, 600).shows(&expect![[r#"
            cargo test: 4 failed, 1 passed, 1 ignored in 0.43 s in 2 binaries
            == failures: 4
            12: tests::eq src/lib.rs:16:29: sums differ: left: 3, right: 4
              got here
            21: tests::should note: test did not panic as expected at src/lib.rs:12:45
            23: tests::error Error: "bad thing"
            49: src/lib.rs - add (line 4) src/lib.rs:6:20: error[E0425]: cannot find function `nope` in crate `thing`
              6 | let x: u8 = thing::nope();
              |                    ^^^^ not found in `thing`
              error: aborting due to 1 previous error
            == targets that failed: 3
            --lib
            --test it
            --doc
            == notes: 1
            41: process didn't exit successfully: `/x/deps/it-9937aff5890a3e19` (signal: 6, SIGABRT: process abort signal)
            == ignored: 1
            tests::ign: slow one
            == binaries with tests: 2
            thing src/lib.rs: 3 failed, 1 passed, 1 ignored in 0.13 s
            Doc-tests thing: 1 failed, 0 passed in 0.30 s"#]]);
    }

    #[test]
    fn tests_that_print_as_they_run_are_read() {
        let raw = r#"
running 2 tests
test tests::fails ... got here

thread 'tests::fails' panicked at src/lib.rs:3:5:
no
FAILED
test tests::panics_as_it_should - should panic ... 
thread 'tests::panics_as_it_should' panicked at src/lib.rs:9:5:
yes
ok

failures:

failures:
    tests::fails

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"#;
        check(raw, 600).shows(&expect![[r#"
            cargo test: 1 failed, 1 passed in 0.00 s in 1 binaries
            == failures: 1
            5: tests::fails src/lib.rs:3:5: no
            == binaries with tests: 1
            binary 1: 1 failed, 1 passed in 0.00 s"#]]);
    }
}
