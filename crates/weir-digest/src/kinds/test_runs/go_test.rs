//! `go test`, plain and with `-v`: failures with their messages, panics, packages that do not build, slow tests.
//!
//! `go_test_json` reads the events of `go test -json` and reports them to this module.

use std::collections::BTreeMap;

use super::chatter::Chatter;
use super::failed::{Failure, Failures};
use super::go_output::{GoTestOutput, placed};
use super::outcomes::{Outcome, Outcomes, Repeats, Skips, TopN, micros};
use super::run::{Runner, Runs};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::text::clip;
use crate::{About, Item, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Runs<GoTest>>("go_test", opens);

/// The maximum number of unfinished tests whose output is kept.
const MAX_RUNNING_TESTS: usize = 500;
const MAX_LINES: usize = 60;

fn opens(line: &str, _: About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b'=') => line.starts_with("=== RUN   "),
        Some(b'-') => ended(line).is_some(),
        Some(b'o' | b'F' | b'?') => package_line(line).is_some(),
        Some(b'#') => built(line).is_some(),
        Some(b'g') => line.starts_with("goos: "),
        Some(b'B') => is_benchmark(line),
        _ => false,
    }
}

#[derive(Default)]
pub(super) struct GoTest {
    /// Whether lines belong to the tests of a package until it ends.
    inside: bool,
    building: bool,
    in_trace: bool,
    over: bool,
    /// The running test, or the one that ended last.
    test: String,
    outputs: BTreeMap<(String, String), GoTestOutput>,
    /// The failed tests of packages that have not ended, with the lines that reported them.
    failed: BTreeMap<String, Vec<(u64, String)>>,
    waiting: usize,
    failures: Failures,
    build_errors: Failures,
    tests: Outcomes,
    packages: Outcomes,
    package_notes: Repeats,
    passed: TopN,
    skips: Skips,
    slow: TopN,
    chatter: Chatter,
    benchmarks: KeptItems<MAX_LINES>,
}

pub(super) struct FinishedTest<'a> {
    /// Its package, if events name it.
    pub package: &'a str,
    pub test: &'a str,
    pub outcome: Outcome,
    pub taken: &'a str,
    pub line: u64,
}

impl Runner for GoTest {
    fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some(rest) = text.strip_prefix("=== ") {
            // RUN, PAUSE, CONT and NAME.
            let Some((_, name)) = rest.split_once(' ') else { return self.inside };
            self.inside = true;
            self.test = clip(name.trim(), 250);
            return true;
        }
        if let Some((outcome, name, taken)) = ended(text) {
            self.inside = true;
            self.building = false;
            self.test = clip(name, 250);
            self.end_test(&FinishedTest { package: "", test: name, outcome, taken, line: line.number });
            return true;
        }
        if let Some((word, package, rest)) = package_line(text) {
            self.package(word, package, rest, line);
            return true;
        }
        if built(text).is_some() {
            self.building = true;
            self.inside = false;
            return true;
        }
        if self.building {
            return self.build_line(text, line.number);
        }
        if is_benchmark(text) {
            self.benchmarks.add(|| Item::plain(text.split_whitespace().collect::<Vec<_>>().join(" ")));
            return true;
        }
        // This word alone after the last package ends a failed run.
        self.over |= text == "FAIL" && !self.inside;
        if matches!(text, "PASS" | "FAIL") || text.starts_with("coverage: ") || text.starts_with("exit status ") {
            return true;
        }
        if self.inside || text.starts_with("panic: ") && !self.over {
            self.inside = true;
            self.printed(line);
            return true;
        }
        text.is_empty() || ["goos: ", "goarch: ", "pkg: ", "cpu: "].iter().any(|start| text.starts_with(start))
    }

    fn page(mut self, bytes: u64) -> Page {
        let open: Vec<String> = self.failed.keys().cloned().collect();
        for package in open {
            self.end_package(&package, &package);
        }
        self.end_package("", "");
        let mut what = Vec::new();
        let tests = self.tests.counted();
        what.extend((!tests.is_empty()).then(|| format!("tests and subtests {tests}")));
        let packages = self.packages.counted();
        what.extend((!packages.is_empty()).then(|| format!("packages {packages}")));
        // Without tests, it may as well be what `go build` or `go vet` prints.
        let only_built = what.is_empty() && self.failures.total + self.benchmarks.total == 0;
        let (tool, errors) = match only_built && self.build_errors.total > 0 {
            true => ("go", "messages of the compiler or vet"),
            false => ("go test", "build errors"),
        };
        what.extend((self.build_errors.total > 0).then(|| format!("{} {errors}", self.build_errors.total)));
        let mut page = Page::new(format!("{tool}: {}", what.join("; ")));
        page.push(self.failures.part("failures", bytes));
        page.push(self.build_errors.part_of(errors, "errors", bytes));
        page.push(self.package_notes.part("packages that failed", Weight::Fact, |text, _| text.to_owned()));
        page.push(self.slow.part("slowest tests", Weight::Fact));
        page.push(self.passed.whole_part("packages that passed", Weight::Shape));
        page.push(self.skips.part("skipped", Weight::Fact));
        page.push(self.benchmarks.part("benchmarks", Weight::Fact));
        page.push(self.tests.part("tests by package"));
        self.chatter.put(&mut page);
        page
    }
}

impl GoTest {
    /// Takes a line between those of the runner. What a test reports is indented; what it prints is not.
    fn printed(&mut self, line: &Line<'_>) {
        let text = line.text;
        self.in_trace |= text.starts_with("panic: ") || text.starts_with("fatal error: ");
        if self.in_trace || text.starts_with([' ', '\t']) || self.test.starts_with("Example") {
            let test = std::mem::take(&mut self.test);
            self.output("", &test, text, line.number);
            self.test = test;
        } else if !text.is_empty() {
            self.chatter.line(line);
        }
    }

    pub(super) fn output(&mut self, package: &str, test: &str, text: &str, line: u64) {
        let key = (package.to_owned(), test.to_owned());
        let room = self.outputs.len() < MAX_RUNNING_TESTS && !text.trim().is_empty();
        if let Some(output) = self.outputs.get_mut(&key) {
            output.line(text, line);
        } else if room {
            self.outputs.entry(key).or_default().line(text, line);
        }
    }

    pub(super) fn end_test(&mut self, ended: &FinishedTest<'_>) {
        let FinishedTest { package, test, outcome, taken, line } = *ended;
        self.tests.add(package, outcome, 1);
        if let Some(value) = micros(taken).filter(|value| *value > 0) {
            self.slow.add(value, || format!("{taken} {test}"));
        }
        let key = (package.to_owned(), test.to_owned());
        match outcome {
            Outcome::Failed => {
                if self.waiting < MAX_RUNNING_TESTS {
                    self.waiting += 1;
                    self.failed.entry(key.0).or_default().push((line, key.1));
                } else {
                    self.failures.push(Failure { line, test: key.1, ..Failure::default() });
                }
            }
            Outcome::Skipped => {
                let reason = self.outputs.remove(&key).map(|output| output.last()).unwrap_or_default();
                self.skips.add(test, &reason, line);
            }
            _ => {
                self.outputs.remove(&key);
            }
        }
    }

    /// Reads `FAIL example.org/relay/hub 0.033s`, with tabs.
    fn package(&mut self, word: &str, package: &str, rest: &str, line: &Line<'_>) {
        let outcome = match word {
            "ok" => Outcome::Passed,
            "FAIL" => Outcome::Failed,
            _ => Outcome::Skipped,
        };
        self.end_package("", package);
        self.package_ended(package, outcome, rest, line.number);
        self.inside = false;
        self.building = false;
        self.in_trace = false;
        self.test.clear();
    }

    /// Records the end of a package. `rest` is its duration or the reason.
    pub(super) fn package_ended(&mut self, package: &str, outcome: Outcome, rest: &str, line: u64) {
        self.packages.add("", outcome, 1);
        let text = format!("{package} {}", rest.trim().replace('\t', " "));
        match outcome {
            Outcome::Failed => self.package_notes.add(text.trim_end(), 1, line),
            Outcome::Passed => {
                self.passed.add(micros(rest).unwrap_or_default(), || text);
            }
            _ => {}
        }
    }

    /// Reports the failures of a package once all of its tests have ended, when their output is complete. Plain output
    /// names the package only now.
    pub(super) fn end_package(&mut self, package: &str, name: &str) {
        let failed = self.failed.remove(package).unwrap_or_default();
        self.waiting = self.waiting.saturating_sub(failed.len());
        let short = name.rsplit('/').next().filter(|name| !name.is_empty());
        for (place, (line, test)) in failed.iter().enumerate() {
            let output = self.outputs.remove(&(package.to_owned(), test.clone())).unwrap_or_default();
            // A test fails if one of its subtests does. They are reported before or after it.
            let is_part = |name: &str| name.strip_prefix(test.as_str()).is_some_and(|rest| rest.starts_with('/'));
            let near =
                failed.get(place + 1).into_iter().chain(place.checked_sub(1).and_then(|before| failed.get(before)));
            if output.is_empty() && near.into_iter().any(|(_, name)| is_part(name)) {
                continue;
            }
            let named = short.map_or_else(|| test.clone(), |short| format!("{short}.{test}"));
            self.failures.push(output.failure(*line, &named));
        }
        self.end_of_rest(package);
    }

    /// Reports a panic outside any finished test, such as in another goroutine.
    fn end_of_rest(&mut self, package: &str) {
        let rest = std::mem::take(&mut self.outputs);
        for ((of, test), output) in rest {
            if of != package {
                self.outputs.insert((of, test), output);
            } else if output.panicked() {
                self.failures.push(output.failure(0, &test));
            }
        }
    }

    /// Reads `admin/admin_test.go:10:2: undefined: Handler`.
    pub(super) fn build_line(&mut self, text: &str, line: u64) -> bool {
        let text = text.strip_prefix("vet: ").unwrap_or(text);
        let Some((place, message)) = placed(text) else {
            let goes_on = text.starts_with('\t') || text.starts_with("too many errors");
            self.building = goes_on;
            return goes_on || text.is_empty();
        };
        let (place, message) = (place.to_owned(), message.to_owned());
        self.build_errors.push(Failure { line, place, message, ..Failure::default() });
        true
    }
}

/// Recognises `BenchmarkAdd-2    1000000000          0.8967 ns/op`.
fn is_benchmark(line: &str) -> bool {
    line.starts_with("Benchmark") && line.contains(" ns/op")
}

/// Parses `    --- FAIL: TestA/b (0.00s)` into the outcome, the test and its duration.
fn ended(line: &str) -> Option<(Outcome, &str, &str)> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let outcome = match word {
        "PASS" => Outcome::Passed,
        "FAIL" => Outcome::Failed,
        "SKIP" => Outcome::Skipped,
        "BENCH" => Outcome::Other,
        _ => return None,
    };
    match rest.rsplit_once(" (") {
        Some((name, taken)) if taken.ends_with("s)") => Some((outcome, name, taken.trim_end_matches(')'))),
        _ => None,
    }
}

/// Parses `ok example.org/relay/hub 0.033s`, with tabs, into the word, the package and the rest.
fn package_line(line: &str) -> Option<(&str, &str, &str)> {
    let (word, rest) = line.split_once('\t')?;
    if !matches!(word, "ok  " | "FAIL" | "?   ") {
        return None;
    }
    let word = word.trim_end();
    let (package, rest) = rest.split_once(['\t', ' ']).unwrap_or((rest, ""));
    (!package.is_empty()).then_some((word, package, rest))
}

/// Parses `# example.org/relay/admin [example.org/relay/admin.test]`: a package whose errors follow.
fn built(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("# ")?;
    let (package, test) = rest.split_once(" [").unwrap_or((rest, ""));
    let host = package.split('/').next().unwrap_or_default();
    let is_path = !package.contains(' ') && package.contains('/') && host.contains('.') && !host.starts_with('.');
    (test.ends_with(".test]") && !package.contains(' ') || test.is_empty() && is_path).then_some(package)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::check;

    const RUN: &str = r#"--- FAIL: TestTable (0.00s)
    --- FAIL: TestTable/case_24 (0.00s)
        a_test.go:3: Add(24) = 25,
            want 26
    --- FAIL: TestTable/case_17 (0.00s)
        a_test.go:3: Add(17) = 18,
            want 19
    --- FAIL: TestTable/case_10 (0.00s)
        a_test.go:3: Add(10) = 11,
            want 12
    --- FAIL: TestTable/case_3 (0.00s)
        a_test.go:3: Add(3) = 4,
            want 5
hello from stdout
--- FAIL: TestMulti (0.00s)
    a_test.go:5: first
    a_test.go:5: second 2
    a_test.go:5: third
--- FAIL: ExampleAdd (0.00s)
got:
3
want:
4
FAIL
FAIL	example.com/m/a	0.130s
panic: assignment to entry in nil map

goroutine 8 [running]:
example.com/m/b.TestGoroutinePanic.func1()
	/srv/m/b/b_test.go:4 +0x2e
created by example.com/m/b.TestGoroutinePanic
	/srv/m/b/b_test.go:4 +0x36
FAIL	example.com/m/b	0.009s
panic: test timed out after 2s

goroutine 5 [running]:
testing.(*M).startAlarm.func1()
	/usr/lib/go-1.19/src/testing/testing.go:2036 +0x8e
created by time.goFunc
	/usr/lib/go-1.19/src/time/sleep.go:176 +0x32

goroutine 1 [chan receive]:
testing.(*T).Run(0xc0000964e0, {0x52499f?, 0x4b7c25?}, 0x52f2e0)
	/usr/lib/go-1.19/src/testing/testing.go:1494 +0x37a
testing.runTests.func1(0xc0000964e0?)
	/usr/lib/go-1.19/src/testing/testing.go:1846 +0x6e
testing.tRunner(0xc0000964e0, 0xc000086cd8)
	/usr/lib/go-1.19/src/testing/testing.go:1446 +0x10b
testing.runTests(0xc0000ae0a0?, {0x5fdd50, 0x1, 0x1}, {0x7febbe8f25b8?, 0x40?, 0x606b60?})
	/usr/lib/go-1.19/src/testing/testing.go:1844 +0x456
testing.(*M).Run(0xc0000ae0a0)
	/usr/lib/go-1.19/src/testing/testing.go:1726 +0x5d9
main.main()
	_testmain.go:47 +0x1aa

goroutine 18 [sleep]:
time.Sleep(0x12a05f200)
	/usr/lib/go-1.19/src/runtime/time.go:195 +0x135
example.com/m/c.TestHang(0x0?)
	/srv/m/c/c_test.go:3 +0x25
testing.tRunner(0xc000096680, 0x52f2e0)
	/usr/lib/go-1.19/src/testing/testing.go:1446 +0x10b
created by testing.(*T).Run
	/usr/lib/go-1.19/src/testing/testing.go:1493 +0x35f
FAIL	example.com/m/c	2.011s
FAIL
"#;

    #[test]
    fn failures_panics_and_timeouts_are_told() {
        check(RUN, 600).shows(&expect![[r#"
            go test: tests and subtests 7 failed; packages 3 failed
            == failures by cause (8 tests): 5
            2: a.TestTable ×4 /case_24, /case_17, /case_10, /case_3: a_test.go:3: Add(24) = 25, want 26 (values differ)
            15: a.TestMulti a_test.go:5: third
              a_test.go:5: second 2
              a_test.go:5: first
            19: a.ExampleAdd got: 3 want: 4
            26: /srv/m/b/b_test.go:4: panic: assignment to entry in nil map
            34: /srv/m/c/c_test.go:3: panic: test timed out after 2s
            == packages that failed: 3
            example.com/m/a 0.130s
            example.com/m/b 0.009s
            example.com/m/c 2.011s
            == lines in order: printed by tests, other lines 1
            14: hello from stdout"#]]);
    }

    #[test]
    fn a_run_without_tests_is_not_called_one() {
        let raw = "# example.org/relay/admin\n./a.go:6:2: undefined: x\n./a.go:9:2: undefined: x\n./b.go:9:2: missing return\n";
        let told = crate::check::digest(raw, 400);
        assert!(told.contains("go: 3 messages of the compiler or vet; "), "{told}");
    }

    #[test]
    fn errors_of_the_build_are_told() {
        let raw = r#"# example.org/relay/admin [example.org/relay/admin.test]
admin/admin_test.go:6:2: want declared but not used
admin/admin_test.go:10:2: undefined: Handler
FAIL	example.org/relay/admin [build failed]
ok  	example.org/relay/hub	0.033s	coverage: 81.2% of statements
?   	example.org/relay/api	[no test files]
FAIL
"#;
        check(raw, 600).shows(&expect![[r#"
            go test: packages 1 failed, 1 passed, 1 skipped; 2 build errors
            == build errors: 2
            2: admin/admin_test.go:6:2: want declared but not used
            3: admin/admin_test.go:10:2: undefined: Handler
            == packages that failed: 1
            example.org/relay/admin [build failed]
            == packages that passed: 1
            example.org/relay/hub 0.033s coverage: 81.2% of statements"#]]);
    }

    #[test]
    fn assertions_of_testify_are_one_line() {
        let raw = r#"--- FAIL: TestUser (0.00s)
    user_test.go:14: 
        	Error Trace:	/srv/app/user_test.go:14
        	Error:      	Not equal: 
        	            	expected: 1
        	            	actual  : 2
        	Test:       	TestUser
        	Messages:   	count of users
FAIL
FAIL	example.org/app	0.004s
"#;
        check(raw, 600).shows(&expect![[r#"
            go test: tests and subtests 1 failed; packages 1 failed
            == failures: 1
            1: app.TestUser user_test.go:14: Not equal: expected: 1 actual  : 2 count of users
            == packages that failed: 1
            example.org/app 0.004s"#]]);
    }
}
