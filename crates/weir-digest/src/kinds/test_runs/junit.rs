//! Reports of test runs in JUnit XML, which most runners can write.

use std::io;

use super::failed::{Failure, Failures, make_room};
use super::js_block::JsBlock;
use super::outcomes::{Outcome, Outcomes, Repeats, Skips, TopN, times};
use super::panicked::TestOutput;
use super::pytest_block::{self, PytestBlock};
use super::xml::{Piece, Xml, attribute};
use crate::kinds::Kind;
use crate::sample::Sample;
use crate::text::{clip, count};
use crate::{Item, Page, Part, Source, Weight};

pub(crate) const KIND: Kind = Kind::whole("junit", is, read);

const MAX_LINES_BEFORE: usize = 20;
const MAX_FAILURE_LINES: usize = 400;

/// Returns whether the first element is one of the two that such reports begin with. A few lines may precede it, since
/// a runner often prints to the terminal too.
fn is(sample: &Sample<'_>) -> bool {
    let raw = sample.raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&sample.raw);
    let mut begins = raw.split_inclusive(|byte| *byte == b'\n').scan(0, |end, line| {
        let start = *end;
        *end += line.len();
        Some((start, line.trim_ascii_start()))
    });
    let head = [&b"<?xml"[..], b"<testsuite"];
    let start = begins.by_ref().take(MAX_LINES_BEFORE).find(|(_, line)| head.iter().any(|head| line.starts_with(head)));
    let Some(raw) = start.and_then(|(start, _)| raw.get(start..)) else { return false };
    let mut xml = Xml::of(Box::new(raw));
    matches!(xml.read(), Ok(Some(Piece::Start { name: "testsuites" | "testsuite", .. })))
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut xml = Xml::of(source.open()?);
    let mut report = JunitReport::default();
    loop {
        let line = xml.line;
        match xml.read()? {
            None => break,
            Some(Piece::Start { name, attributes, closed }) => {
                report.start(name, attributes, line);
                if closed {
                    report.end(name);
                }
            }
            Some(Piece::End(name)) => report.end(name),
            Some(Piece::Text(text)) => report.text(&text),
        }
    }
    report.cut = xml.cut || report.depth > 0;
    Ok((report.cases > 0 || report.suites > 0).then(|| report.page(source.bytes())))
}

#[derive(Default)]
struct JunitReport {
    suites: u64,
    cases: u64,
    /// The durations, in microseconds, of the outermost suites, of the suites inside them, and of all tests.
    micros: [u64; 3],
    depth: usize,
    /// Whether the report ends before its last suite does.
    cut: bool,
    case: Option<Case>,
    /// The element whose text is being read.
    element: String,
    outcomes: Outcomes,
    failures: Failures,
    errors: Failures,
    skips: Skips,
    flaky: Repeats,
    slow: TopN,
    /// When the first suite began.
    began: Option<String>,
    /// The number of tests that the first suite states, and all its counts.
    stated: (u64, String),
}

#[derive(Default)]
struct Case {
    line: u64,
    name: String,
    class: String,
    outcome: Option<Outcome>,
    message: String,
    sort: String,
    text: String,
}

impl JunitReport {
    fn start(&mut self, name: &str, attributes: &str, line: u64) {
        let value = |wanted: &str| attribute(attributes, wanted).unwrap_or_default();
        match name {
            "testsuites" | "testsuite" => {
                if name == "testsuite" {
                    self.suites += 1;
                    self.state(attributes);
                }
                if self.depth < 2 {
                    self.add_micros(self.depth, micros(&value("time")));
                }
                self.depth += 1;
            }
            "testcase" => {
                self.end_case();
                self.cases += 1;
                let taken = micros(&value("time"));
                self.add_micros(2, taken);
                if taken > 0 {
                    self.slow.add(taken, || format!("{} s {}", value("time"), value("name")));
                }
                let file = value("file");
                let class = if file.is_empty() { value("classname") } else { file };
                let (name, class) = (clip(&value("name"), 250), clip(&class, 250));
                // Tests of GoogleTest and CTest that are disabled say so in an attribute.
                let disabled = matches!(&*value("status"), "notrun" | "disabled");
                let outcome = disabled.then_some(Outcome::Skipped);
                self.case = Some(Case { line, name, class, outcome, ..Case::default() });
            }
            _ => self.start_in_case(name, attributes, line),
        }
        self.element = name.chars().take(40).collect();
    }

    /// Records what the first suite states about itself: when it began, and its own counts, which may include more than
    /// its tests.
    fn state(&mut self, attributes: &str) {
        if self.suites > 1 {
            return;
        }
        let began = attribute(attributes, "timestamp").filter(|time| !time.is_empty());
        self.began = began.map(|time| clip(&time, 40));
        let words = ["tests", "failures", "errors", "skipped"];
        let count = |word: &&str| attribute(attributes, word).and_then(|count| count.parse::<u64>().ok());
        let counts = words.iter().filter_map(|word| Some(format!("{} {word}", count(word)?)));
        self.stated = (count(&"tests").unwrap_or(0), counts.collect::<Vec<_>>().join(", "));
    }

    /// Returns when the first suite began, and the counts of a single suite if they differ from its tests.
    fn run(&self) -> Vec<Item> {
        let began = self.began.iter().map(|time| Item::plain(format!("began {time}")));
        let (tests, counts) = &self.stated;
        let differs = self.suites == 1 && *tests > 0 && *tests != self.cases;
        began.chain(differs.then(|| Item::plain(format!("the suite counts {counts}")))).collect()
    }

    fn add_micros(&mut self, level: usize, micros: u64) {
        if let Some(sum) = self.micros.get_mut(level) {
            *sum = sum.saturating_add(micros);
        }
    }

    fn start_in_case(&mut self, name: &str, attributes: &str, line: u64) {
        let value = |wanted: &str| attribute(attributes, wanted).unwrap_or_default();
        let Some(case) = &mut self.case else { return };
        let outcome = match name {
            "failure" => Outcome::Failed,
            "error" => Outcome::Error,
            "skipped" => Outcome::Skipped,
            "flakyFailure" | "flakyError" | "rerunFailure" | "rerunError" => {
                self.flaky.add(&case.name, 1, line);
                return;
            }
            _ => return,
        };
        if matches!(case.outcome, None | Some(Outcome::Skipped)) {
            case.outcome = Some(outcome);
            case.message = clip(&value("message"), 4000);
            case.sort = clip(&value("type"), 200);
        }
    }

    fn text(&mut self, text: &str) {
        let Some(case) = &mut self.case else { return };
        let wanted = matches!(self.element.as_str(), "failure" | "error" | "skipped");
        if wanted && case.text.is_empty() {
            text.clone_into(&mut case.text);
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "testcase" => self.end_case(),
            "testsuite" | "testsuites" => {
                self.end_case();
                self.depth = self.depth.saturating_sub(1);
            }
            _ => {}
        }
        self.element.clear();
    }

    fn end_case(&mut self) {
        let Some(case) = self.case.take() else { return };
        let outcome = case.outcome.unwrap_or(Outcome::Passed);
        self.outcomes.add(&case.class, outcome, 1);
        match outcome {
            Outcome::Failed => self.failures.push(case.failure()),
            Outcome::Error => self.errors.push(case.failure()),
            Outcome::Skipped => {
                let reason = first_line(&case.message).or(first_line(&case.text)).unwrap_or_default();
                self.skips.add(&case.name, reason, case.line);
            }
            _ => {}
        }
    }

    fn page(mut self, bytes: u64) -> Page {
        // A test in which the report breaks off has no outcome, unless it was stated before.
        let unknown = self.cut && self.case.as_ref().is_some_and(|case| case.outcome.is_none());
        if unknown {
            self.case = None;
            self.cases -= 1;
        }
        self.end_case();
        let cut = match (self.cut, unknown) {
            (false, _) => "",
            (true, false) => "; the report is cut off",
            (true, true) => "; the report is cut off, in a test whose outcome is not known",
        };
        let run = self.run();
        let taken = self.micros.into_iter().find(|micros| *micros > 0).unwrap_or_default();
        let mut page = Page::new(format!(
            "JUnit report: {} in {}, {} in {}.{:03} s{cut}",
            count(self.cases, "test", "tests"),
            count(self.suites, "suite", "suites"),
            self.outcomes.counted(),
            taken / 1_000_000,
            taken / 1_000 % 1_000,
        ));
        page.push(self.failures.part("failures", bytes));
        page.push(self.errors.part("errors", bytes));
        page.push(Part::uncounted("run", Weight::Fact, run));
        page.push(self.slow.part("slowest tests", Weight::Fact));
        page.push(self.flaky.part("tests that were run again", Weight::Fact, times));
        page.push(self.skips.part("skipped", Weight::Fact));
        page.push(self.outcomes.part("files or classes"));
        make_room(&mut page, bytes);
        page
    }
}

impl Case {
    /// Returns the failure, whichever runner reported it.
    fn failure(self) -> Failure {
        let Self { line, name, class, message, sort, text, .. } = self;
        let told = parse_failure(&text, &class);
        let mut details: Vec<String> =
            message.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let stated = first_line(&message).unwrap_or_default();
        let stated = match stated {
            "" => told.message.clone(),
            // The message of a documentation example is the whole example.
            _ if told.message.starts_with("Expected:") => told.message.clone(),
            "collection failure" => format!("{stated}: {}", told.message),
            _ => stated.to_owned(),
        };
        // The type of an error is often only in its own attribute.
        let kind = sort.rsplit('.').next().unwrap_or_default();
        let message = if kind.is_empty() || stated.contains(kind) || kind == "AssertionError" {
            stated
        } else {
            format!("{kind}: {stated}")
        };
        if details.is_empty() {
            details = told.details;
        }
        let (test, case) = pytest_block::split(&name);
        let (case, test) = if case.is_empty() { super::js_block::split(&test) } else { (case, test) };
        // A test is named with its class, unless its place says where it is.
        let test =
            if told.place.is_empty() && !class.is_empty() && test != class { format!("{class} {test}") } else { test };
        Failure { line, test, case, place: told.place, message, details }
    }
}

/// Parses the text of a failure, which is in the format of the runner.
fn parse_failure(text: &str, class: &str) -> Failure {
    let lines = || text.lines().take(MAX_FAILURE_LINES);
    if lines().any(|line| line.starts_with("E  ") || line.ends_with(": DocTestFailure")) {
        let mut block = PytestBlock::of(0, "");
        lines().for_each(|line| block.line(line));
        return block.failure();
    }
    if lines().any(|line| line.contains(" panicked at ")) {
        let mut printed = TestOutput::default();
        lines().for_each(|line| printed.line(line));
        return printed.failure(0, "");
    }
    if let Some(failure) = java(text, class) {
        return failure;
    }
    let mut block = JsBlock::default();
    lines().for_each(|line| block.line(line));
    block.failure(0, "")
}

/// Parses a Java stack trace, for the frame in the class of the test, or else the first.
fn java(text: &str, class: &str) -> Option<Failure> {
    let mut frames = text.lines().take(MAX_FAILURE_LINES).filter_map(|line| {
        let frame = line.trim().strip_prefix("at ")?;
        let (method, place) = frame.strip_suffix(')')?.split_once('(')?;
        let (file, number) = place.rsplit_once(':')?;
        let is =
            file.ends_with(".java") || file.ends_with(".kt") || file.ends_with(".scala") || file.ends_with(".groovy");
        (is && number.bytes().all(|byte| byte.is_ascii_digit())).then_some((method, place))
    });
    let first = frames.clone().next()?;
    let own = frames.find(|(method, _)| !class.is_empty() && method.contains(class)).unwrap_or(first);
    let message = first_line(text).unwrap_or_default().to_owned();
    let causes = text.lines().filter(|line| line.starts_with("Caused by: ")).take(3).map(str::to_owned);
    let mut details: Vec<String> = causes.collect();
    details.extend((own != first).then(|| format!("at {}({})", first.0, first.1)));
    Some(Failure { place: own.1.to_owned(), message, details, ..Failure::default() })
}

fn first_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| !line.is_empty())
}

/// Parses seconds as a decimal number, possibly with commas between thousands.
fn micros(seconds: &str) -> u64 {
    let number = seconds.replace(',', "");
    number.parse::<f64>().map_or(0, |seconds| (seconds.max(0.0) * 1e6) as u64)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn disabled_tests_have_not_passed() {
        let raw = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" disabled="1" errors="0" time="0.01" name="AllTests">
  <testsuite name="Math" tests="3" failures="1" disabled="1" skipped="0" errors="0" time="0.01">
    <testcase name="Adds" status="run" result="completed" time="0.001" classname="Math" />
    <testcase name="DISABLED_Subtracts" status="notrun" result="suppressed" time="0" classname="Math" />
    <testcase name="Divides" status="run" result="completed" time="0.002" classname="Math">
      <failure message="math.cc:4&#x0A;Expected equality" type=""><![CDATA[math.cc:4
Expected equality]]></failure>
    </testcase>
  </testsuite>
</testsuites>
"#;
        let told = digest(raw, 600);
        assert!(
            told.contains("JUnit report: 3 tests in 1 suite, 1 failed, 1 passed, 1 skipped in 0.010 s; "),
            "{told}"
        );
        assert!(told.contains("== skipped: 1\nDISABLED_Subtracts\n"), "{told}");
    }

    #[test]
    fn reports_of_several_runners_are_read() {
        let raw = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="4">
  <testsuite name="com.example.OrderTest" tests="3" failures="1" errors="1" skipped="1" time="1,204.5">
    <properties><property name="java.version" value="21"/></properties>
    <testcase name="total" classname="com.example.OrderTest" time="0.012">
      <failure message="expected: &lt;3&gt; but was: &lt;4&gt;" type="org.opentest4j.AssertionFailedError"><![CDATA[org.opentest4j.AssertionFailedError: expected: <3> but was: <4>
	at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
	at com.example.OrderTest.total(OrderTest.java:31)
]]></failure>
    </testcase>
    <testcase name="ships" classname="com.example.OrderTest" time="3.5"><error type="java.lang.NullPointerException">java.lang.NullPointerException
	at com.example.Order.ship(Order.java:12)
	at com.example.OrderTest.ships(OrderTest.java:40)
</error></testcase>
    <testcase name="later" classname="com.example.OrderTest" time="0"><skipped message="needs a printer"/></testcase>
  </testsuite>
  <testsuite name="thing" tests="1"><testcase name="tests::eq" classname="thing" time="0.1"><failure type="test failure">thread 'tests::eq' panicked at src/lib.rs:3:5:
no
</failure></testcase></testsuite>
</testsuites>
"#;
        check(raw, 600).shows(&expect![[r#"
            JUnit report: 4 tests in 2 suites, 2 failed, 1 errors, 1 skipped in 1204.500 s
            == failures: 2
            4: total OrderTest.java:31: AssertionFailedError: expected: <3> but was: <4>
              at org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
            17: tests::eq src/lib.rs:3:5: test failure: no
            == errors: 1
            10: ships OrderTest.java:40: java.lang.NullPointerException
              at com.example.Order.ship(Order.java:12)
            == slowest tests: 3, 1 shown
            3.5 s ships
            == skipped: 1
            later: needs a printer
            == files or classes: 2
            com.example.OrderTest: 1 failed, 1 errors, 1 skipped
            thing: 1 failed"#]]);
    }

    #[test]
    fn a_test_that_the_report_breaks_off_in_has_not_passed() {
        let case = |name: &str| format!("<testcase name=\"{name}\" classname=\"a.B\" time=\"0.1\">");
        let raw = format!("<testsuite name=\"a\" tests=\"9\">\n{}</testcase>\n{}\n  <failu", case("one"), case("two"));
        let text = digest(&raw, 600);
        assert!(text.contains("1 test in 1 suite, 1 passed"), "{text}");
        assert!(text.contains("cut off, in a test whose outcome is not known"), "{text}");
        let raw = raw.replace("<failu", "<failure message=\"no\">broken");
        let text = digest(&raw, 600);
        assert!(text.contains("2 tests in 1 suite, 1 failed, 1 passed"), "{text}");
        assert!(text.contains("the report is cut off;"), "{text}");
    }

    #[test]
    fn other_documents_are_not_claimed() {
        for raw in ["<html><testsuite/></html>", "<project><testsuites/></project>", "testsuite", "<", ""] {
            let text = digest(raw, 600);
            assert!(!text.contains("JUnit"), "{text}");
        }
    }
}
