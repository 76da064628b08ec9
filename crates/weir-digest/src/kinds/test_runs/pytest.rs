//! pytest, with all its traceback styles: failures by cause, errors in set-up, warnings, skips and slow tests.

use std::collections::VecDeque;

use super::chatter::Chatter;
use super::coverage::Coverage;
use super::failed::{Failure, Failures};
use super::outcomes::{Outcome, Outcomes, Repeats, times};
use super::pytest_block::PytestBlock;
use super::pytest_lines::{
    counted, heading, is_captured, is_coverage, is_dots, is_end, is_live, is_of_the_start, is_workers, listed, of_file,
};
use super::run::{Runner, Runs};
use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::text::{clip, number};
use crate::{About, Item, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Runs<Pytest>>("pytest", opens);

const MAX_LINES: usize = 60;

fn opens(line: &str, _: About<'_>) -> bool {
    match line.as_bytes().first() {
        Some(b'=') => heading(line, '=').is_some_and(|title| section(title).is_some()),
        Some(b'.' | b'F' | b'E' | b's' | b'x' | b'X') if is_dots(line) => true,
        Some(b'I') => line.starts_with("INTERNALERROR> "),
        Some(b'0'..=b'9') => is_end(line),
        Some(_) => {
            line.contains("::") && listed(line).is_some() || of_file(line).is_some_and(|(_, _, percent)| percent)
        }
        None => false,
    }
}

#[derive(Default)]
struct Pytest {
    section: PytestSection,
    failures: Failures,
    errors: Failures,
    /// The current failure, and whether it is an error.
    block: Option<(PytestBlock, bool)>,
    outcomes: Outcomes,
    file: String,
    counts: Vec<String>,
    /// How many tests the current warning is about.
    warned: u64,
    warnings: Repeats,
    skips: Repeats,
    skips_in_list: Repeats,
    expected: KeptItems<MAX_LINES>,
    slow: KeptItems<MAX_LINES>,
    run: KeptItems<MAX_LINES>,
    stops: KeptItems<MAX_LINES>,
    /// Places and messages of failures that are reported on one line each.
    bare: VecDeque<(String, String)>,
    /// Failures and errors that only the short list names.
    listed_failures: Failures,
    listed_errors: Failures,
    coverage: Coverage,
    chatter: Chatter,
    /// Whether the lines are captured output of a test.
    captured: bool,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum PytestSection {
    /// After the end of a run, or before the first.
    #[default]
    Outside,
    Tests,
    Failures,
    Errors,
    Warnings,
    Slow,
    List,
    Coverage,
    Passes,
}

impl Runner for Pytest {
    fn line(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if self.section == PytestSection::Outside {
            if !opens(text, About::default()) {
                return false;
            }
            self.section = PytestSection::Tests;
        }
        if let Some(title) = heading(text, '=') {
            if let Some(section) = section(title) {
                self.end_block();
                self.section = section;
                return true;
            }
            if is_end(title) {
                self.end(title);
                return true;
            }
        }
        if is_coverage(text) {
            self.end_block();
            self.section = PytestSection::Coverage;
            return true;
        }
        if is_end(text) && !matches!(self.section, PytestSection::Failures | PytestSection::Errors)
            || self.is_quiet_end(text)
        {
            self.end(text);
            return true;
        }
        match self.section {
            PytestSection::Failures | PytestSection::Errors => self.take_failure_line(line),
            PytestSection::Warnings => self.warning(text, line.number),
            PytestSection::Slow => keep(
                &mut self.slow,
                line,
                text.contains("s call ") || text.contains("s setup ") || text.contains("s teardown "),
            ),
            PytestSection::List => self.short(line),
            PytestSection::Coverage => return self.covered(line),
            PytestSection::Passes => self.passed(line),
            PytestSection::Tests | PytestSection::Outside => return self.test(line),
        }
        true
    }

    fn page(mut self, bytes: u64) -> Page {
        self.end_block();
        for (place, message) in std::mem::take(&mut self.bare) {
            self.listed_failures.push(Failure { place, message, ..Failure::default() });
        }
        let mut page = Page::new(format!("pytest: {}", self.counted()));
        let failures = if self.failures.total > 0 { self.failures } else { self.listed_failures };
        let errors = if self.errors.total > 0 { self.errors } else { self.listed_errors };
        page.push(failures.part("failures", bytes));
        page.push(errors.part("errors", bytes));
        page.push(self.stops.part("why the run stopped", Weight::Failure));
        page.push(self.slow.part("slowest tests", Weight::Fact));
        let warning =
            |text: &str, count| format!("{count} {}: {text}", if count == 1 { "warning" } else { "warnings" });
        page.push(self.warnings.part("different warnings", Weight::Fact, warning));
        self.coverage.put(&mut page);
        let skips = if self.skips.total > 0 { self.skips } else { self.skips_in_list };
        page.push(skips.part("skipped", Weight::Shape, times));
        page.push(self.expected.part("failures that were expected", Weight::Shape));
        page.push(self.outcomes.part("files"));
        page.push(self.run.part("run", Weight::Shape));
        self.chatter.put(&mut page);
        page
    }
}

impl Pytest {
    fn counted(&self) -> String {
        match (self.counts.is_empty(), self.outcomes.counted()) {
            (false, _) => self.counts.join("; "),
            (true, counted) if counted.is_empty() => "no result".to_owned(),
            (true, counted) => format!("{counted} until the output ends"),
        }
    }

    /// Returns whether this is the last line of `-q`, which may directly follow the failures.
    fn is_quiet_end(&self, text: &str) -> bool {
        text.as_bytes().first().is_some_and(u8::is_ascii_digit)
            && text.ends_with('s')
            && is_end(text)
            && text.contains(" passed")
    }

    fn end(&mut self, text: &str) {
        self.end_block();
        if self.counts.len() < MAX_LINES {
            self.counts.push(counted(text));
        }
        self.section = PytestSection::Outside;
        self.file.clear();
    }

    fn end_block(&mut self) {
        self.captured = false;
        if let Some((block, is_error)) = self.block.take() {
            let failures = if is_error { &mut self.errors } else { &mut self.failures };
            failures.push(block.failure());
        }
    }

    fn test(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some((name, outcome, reason)) = listed(text) {
            // A test that printed something has its outcome on a separate line.
            let file = if name.is_empty() { &self.file } else { name.split("::").next().unwrap_or_default() };
            self.outcomes.add(file, outcome, 1);
            if outcome == Outcome::Skipped && !reason.is_empty() {
                self.skips_in_list.add(reason, 1, line.number);
            }
            return true;
        }
        if let Some((file, dots, _)) = of_file(text) {
            self.file = clip(file, 250);
            self.dots(dots);
            return true;
        }
        if is_dots(text) {
            let dots = text.split(' ').next().unwrap_or_default().to_owned();
            self.dots(&dots);
            return true;
        }
        self.other(line)
    }

    /// Takes a line that is not about the outcome of a test.
    fn other(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        let crash = ["Current thread 0x", "Thread 0x", "  File \"", "+++++ Timeout", "INTERNALERROR> ", "!!!!"];
        if text.contains("Fatal Python error: ") || crash.iter().any(|start| text.starts_with(start)) {
            keep(&mut self.stops, line, true);
            return true;
        }
        let says = ["platform ", "collected ", "collecting ", "configfile: ", "Using --random", "gw0 "];
        if says.iter().any(|start| text.starts_with(start)) || is_workers(text) {
            keep(&mut self.run, line, true);
            return true;
        }
        if is_live(text) {
            self.chatter.line(line);
            return true;
        }
        text.is_empty() || is_of_the_start(text) || self.begins(text)
    }

    /// Recognises the name of a test that prints something before it ends.
    fn begins(&mut self, text: &str) -> bool {
        let Some((file, _)) = text.split_once(".py::") else { return false };
        let begins = !text.trim_end().contains(' ');
        if begins {
            self.file = clip(&format!("{file}.py"), 250);
        }
        begins
    }

    fn dots(&mut self, dots: &str) {
        for dot in dots.bytes() {
            let outcome = match dot {
                b'.' => Outcome::Passed,
                b'F' => Outcome::Failed,
                b'E' => Outcome::Error,
                b's' => Outcome::Skipped,
                _ => Outcome::Other,
            };
            self.outcomes.add(&self.file, outcome, 1);
        }
    }

    fn passed(&mut self, line: &Line<'_>) {
        if heading(line.text, '_').is_some() {
            self.captured = false;
        } else {
            self.captured(line);
        }
    }

    fn captured(&mut self, line: &Line<'_>) {
        if is_captured(line.text) {
            self.captured = true;
        } else if self.captured {
            self.chatter.line(line);
        }
    }

    fn take_failure_line(&mut self, line: &Line<'_>) {
        if let Some(title) = heading(line.text, '_') {
            self.end_block();
            let is_error = self.section == PytestSection::Errors;
            self.block = Some((PytestBlock::of(line.number, title), is_error));
        } else if let Some((block, _)) = &mut self.block {
            block.line(line.text);
            self.captured(line);
        } else if let Some((place, message)) = line.text.split_once(": ").filter(|(place, _)| place.contains(".py:")) {
            // With `--tb=line`, a failure is one line; its test is only in the list at the end, in the same order.
            if self.section == PytestSection::Failures && self.bare.len() < 1000 {
                self.bare.push_back((clip(place, 250), clip(message, 300)));
            }
        }
    }

    /// Takes a line of a warning: first the tests that caused it, one line each or as a number, then the place and the
    /// message.
    fn warning(&mut self, text: &str, line: u64) {
        if let Some(said) = text.strip_prefix("  ") {
            if self.warned > 0 && !said.starts_with(' ') {
                self.warnings.add(said, self.warned, line);
                self.warned = 0;
            }
        } else if text.starts_with("-- Docs: ") || text.is_empty() {
            self.warned = 0;
        } else {
            let count = text.strip_suffix(" warnings").and_then(|rest| rest.rsplit_once(": "));
            let count = count.and_then(|(_, count)| count.parse().ok()).unwrap_or(1);
            self.warned = self.warned.saturating_add(count);
        }
    }

    /// Takes a line of the list of all tests that did not pass.
    fn short(&mut self, line: &Line<'_>) {
        let text = line.text;
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            _ if word == "FAILED" || word.starts_with("SUBFAIL") => {
                let mut failure = PytestBlock::listed(line.number, rest);
                if let Some((place, message)) = self.bare.pop_front() {
                    (failure.place, failure.message) = (place, message);
                }
                self.listed_failures.push(failure);
            }
            "ERROR" => self.listed_errors.push(PytestBlock::listed(line.number, rest)),
            "SKIPPED" => {
                let (count, reason) = match rest.strip_prefix('[').and_then(number) {
                    Some((count, reason)) => (count, reason.trim_start_matches([']', ' '])),
                    None => (1, rest),
                };
                self.skips.add(reason, count, line.number);
            }
            "XFAIL" | "XPASS" | "RERUN" => keep(&mut self.expected, line, true),
            "PASSED" => {}
            _ if text.starts_with("!!!!") => keep(&mut self.stops, line, true),
            // Messages and reasons may have several lines, and nothing else precedes the end of the run.
            _ => {}
        }
    }

    fn covered(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text.contains("Required test coverage") || text.contains("Coverage failure") {
            let reached = text.starts_with("Required test coverage") && text.contains(" reached");
            keep(if reached { &mut self.run } else { &mut self.stops }, line, true);
            return true;
        }
        self.coverage.row(line.number, text)
            || self.test(line)
            || ["---", "Name ", "Coverage "].iter().any(|start| text.starts_with(start))
    }
}

fn keep(items: &mut KeptItems<MAX_LINES>, line: &Line<'_>, is: bool) {
    if is {
        items.add(|| Item::at(line.number, line.clip(300)));
    }
}

fn section(title: &str) -> Option<PytestSection> {
    let section = match title {
        "test session starts" => PytestSection::Tests,
        "FAILURES" => PytestSection::Failures,
        "ERRORS" => PytestSection::Errors,
        "PASSES" | "XFAILURES" | "XPASSES" | "SKIPS" | "RERUNS" => PytestSection::Passes,
        "short test summary info" => PytestSection::List,
        "tests coverage" => PytestSection::Coverage,
        _ if title.starts_with("warnings summary") => PytestSection::Warnings,
        _ if title.starts_with("slowest ") && title.ends_with("durations") => PytestSection::Slow,
        _ if title.starts_with("test session starts") => PytestSection::Tests,
        _ => return None,
    };
    Some(section)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::check;

    const RUN: &str = r#"============================= test session starts ==============================
platform darwin -- Python 3.12.1, pytest-7.4.4, pluggy-1.3.0
Using --randomly-seed=3820551273
rootdir: /Users/me/proj
configfile: pyproject.toml
plugins: anyio-4.2.0, cov-4.1.0, xdist-3.5.0
created: 4/4 workers
4 workers [208 items]

........................................................................ [ 34%]
..F.....................................................................  [ 69%]
....E...........................................................s        [100%]
==================================== ERRORS ====================================
________________________ ERROR collecting tests/test_api.py ____________________
ImportError while importing test module '/Users/me/proj/tests/test_api.py'.
Hint: make sure your test modules/packages have valid Python names.
Traceback:
/usr/lib/python3.12/importlib/__init__.py:90: in import_module
    return _bootstrap._gcd_import(name[level:], package, level)
tests/test_api.py:3: in <module>
    from app.api import client
E   ModuleNotFoundError: No module named 'app.api'
=================================== FAILURES ===================================
______________________ TestUser.test_rename[old-new] ______________________
[gw2] darwin -- Python 3.12.1 /usr/bin/python3
tests/test_user.py:41: in test_rename
    user.rename(new)
app/user.py:19: in rename
    raise ValueError(f"bad name {name!r}")
E   ValueError: bad name 'new'

During handling of the above exception, another exception occurred:
tests/test_user.py:43: in test_rename
    assert user.name == new
E   AssertionError: assert 'old' == 'new'
E     
E     - new
E     + old
----------------------------- Captured stdout call -----------------------------
renaming
=============================== warnings summary ===============================
../../lib/python3.12/site-packages/pkg/x.py:12
  /lib/python3.12/site-packages/pkg/x.py:12: DeprecationWarning: pkg_resources is deprecated as an API
    import pkg_resources

tests/test_user.py::test_a
tests/test_user.py::test_b
  /Users/me/proj/app/user.py:7: UserWarning: old
    warn("old")

-- Docs: https://docs.pytest.org/en/stable/how-to/capture-warnings.html

---------- coverage: platform darwin, python 3.12.1-final-0 ----------
Name              Stmts   Miss  Cover   Missing
-----------------------------------------------
app/__init__.py       0      0   100%
app/user.py          40     12    70%   19-25, 40
app/db.py           100     90    10%   1-90
-----------------------------------------------
TOTAL               140    102    27%

FAIL Required test coverage of 80% not reached. Total coverage: 27.14%
============================= slowest 3 durations ==============================
1.20s setup    tests/test_db.py::test_pool
0.80s call     tests/test_db.py::test_big
0.30s teardown tests/test_db.py::test_pool
=========================== short test summary info ============================
FAILED tests/test_user.py::TestUser::test_rename[old-new] - AssertionError: a...
ERROR tests/test_api.py
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
==== 1 failed, 205 passed, 1 skipped, 3 warnings, 1 error in 62.11s (0:01:02) ====
"#;

    #[test]
    fn all_failures_that_were_expected_are_counted() {
        let listed: String = (0..70).map(|n| format!("XFAIL tests/test_a.py::test_{n} - later\n")).collect();
        let raw = format!(
            "===== test session starts =====\ncollected 70 items\n\n\
             ===== short test summary info =====\n{listed}===== 70 xfailed in 0.12s =====\n"
        );
        let told = crate::check::digest(&raw, 600);
        assert!(told.contains("== failures that were expected: 70, "), "{told}");
    }

    #[test]
    fn failures_warnings_and_coverage_are_told() {
        check(RUN, 600).shows(&expect![[r#"
            pytest: 1 failed, 205 passed, 1 skipped, 3 warnings, 1 error in 62.11 s
            == failures: 1
            24: TestUser.test_rename[old-new] tests/test_user.py:43: assert 'old' == 'new' (from ValueError: bad name 'new')
              - new
              + old
              called at tests/test_user.py:41
              renaming
            == errors: 1
            14: collecting tests/test_api.py tests/test_api.py:3: ModuleNotFoundError: No module named 'app.api'
            == why the run stopped: 2
            62: FAIL Required test coverage of 80% not reached. Total coverage: 27.14%
            70: !!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
            == slowest tests: 3
            64: 1.20s setup    tests/test_db.py::test_pool
            65: 0.80s call     tests/test_db.py::test_big
            66: 0.30s teardown tests/test_db.py::test_pool
            == different warnings: 2
            2 warnings: /Users/me/proj/app/user.py:7: UserWarning: old
            1 warning: /lib/python3.12/site-packages/pkg/x.py:12: DeprecationWarning: pkg_resources is deprecated as an API
            == coverage: 1
            60: TOTAL               140    102    27%
            == files not wholly covered, the least first: 2
            app/db.py 100 90 10% 1-90
            app/user.py 40 12 70% 19-25, 40
            == run: 4
            2: platform darwin -- Python 3.12.1, pytest-7.4.4, pluggy-1.3.0
            3: Using --randomly-seed=3820551273
            5: configfile: pyproject.toml
            8: 4 workers [208 items]
            == lines in order: printed by tests, other lines 1
            40: renaming"#]]);
    }

    #[test]
    fn a_failure_in_one_line_gets_the_name_of_its_test() {
        let raw = r#"F.F                                                                      [100%]
=================================== FAILURES ===================================
/home/u/tests/test_a.py:5: AssertionError: assert 1 == 2
/home/u/tests/test_b.py:9: ZeroDivisionError: division by zero
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 1 == 2
FAILED tests/test_b.py::test_two - ZeroDivisionError: division by zero
2 failed, 1 passed in 0.03s
"#;
        check(raw, 600).shows(&expect![[r#"
            pytest: 2 failed, 1 passed in 0.03 s
            == failures: 2
            6: tests/test_a.py::test_one /home/u/tests/test_a.py:5: assert 1 == 2
            7: tests/test_b.py::test_two /home/u/tests/test_b.py:9: ZeroDivisionError: division by zero"#]]);
    }

    #[test]
    fn tracebacks_of_python_itself_are_read() {
        let raw = r#"============================= test session starts ==============================
collected 3 items

tests/test_a.py F.                                                       [ 66%]
tests/test_b.py F                                                        [100%]

=================================== FAILURES ===================================
___________________________________ test_one ___________________________________
Traceback (most recent call last):
  File "/home/u/tests/test_a.py", line 5, in test_one
    assert one() == 2
AssertionError: assert 1 == 2
 +  where 1 = one()
___________________________________ test_two ___________________________________
Traceback (most recent call last):
  File "/home/u/tests/test_b.py", line 9, in test_two
    1 / 0
ZeroDivisionError: division by zero
=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 1 == 2
FAILED tests/test_b.py::test_two - ZeroDivisionError: division by zero
========================= 2 failed, 1 passed in 0.03s ==========================
"#;
        check(raw, 600).shows(&expect![[r#"
            pytest: 2 failed, 1 passed in 0.03 s
            == failures: 2
            8: test_one /home/u/tests/test_a.py:5: assert 1 == 2
              +  where 1 = one()
            14: test_two /home/u/tests/test_b.py:9: ZeroDivisionError: division by zero
            == files: 2
            tests/test_a.py: 1 failed, 1 passed
            tests/test_b.py: 1 failed
            == run: 1
            2: collected 3 items"#]]);
    }

    #[test]
    fn a_crash_is_told() {
        let raw = r#"============================= test session starts ==============================
collected 2 items

tests/test_a.py::test_one 
-------------------------------- live log call ---------------------------------
PASSED                                                                   [ 50%]
tests/test_b.py::test_two Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "/home/u/app.py", line 3 in crash
  File "/home/u/tests/test_b.py", line 9 in test_two
"#;
        check(raw, 600).shows(&expect![[r#"
            pytest: 1 passed until the output ends
            == why the run stopped: 4
            7: tests/test_b.py::test_two Fatal Python error: Segmentation fault
            9: Current thread 0x00007f (most recent call first):
            10:   File "/home/u/app.py", line 3 in crash
            11:   File "/home/u/tests/test_b.py", line 9 in test_two
            == files: 1
            tests/test_a.py: 1 passed
            == run: 1
            2: collected 2 items"#]]);
    }

    #[test]
    fn tests_with_one_cause_are_told_once() {
        let raw = r#"=========================== short test summary info ============================
FAILED tests/test_a.py::test_one - assert 1 == 2
FAILED tests/test_a.py::test_one2 - assert 1 == 2
FAILED tests/test_b.py::test_two[a-b] - ZeroDivisionError: division by zero
SKIPPED [12] tests/test_c.py:4: needs docker
3 failed, 100 passed, 12 skipped in 0.03s
"#;
        check(raw, 600).shows(&expect![[r#"
            pytest: 3 failed, 100 passed, 12 skipped in 0.03 s
            == failures by cause (3 tests): 2
            2: assert 1 == 2 ×2 in tests/test_a.py::test_one, tests/test_a.py::test_one2
            4: tests/test_b.py::test_two[a-b] ZeroDivisionError: division by zero
            == skipped: 1
            tests/test_c.py:4: needs docker ×12"#]]);
    }
}
