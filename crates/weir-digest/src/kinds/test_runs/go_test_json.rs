//! The events of `go test -json`, one JSON object per line.

use std::io;

use serde::Deserialize;

use super::go_test::{FinishedTest, GoTest};
use super::outcomes::Outcome;
use super::run::Runs;
use crate::kinds::{Kind, Stretch};
use crate::sample::Sample;
use crate::{Lines, Page, Source};

pub(crate) const KIND: Kind = Kind::whole("go_test_json", is, read);

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Event<'a> {
    action: &'a str,
    #[serde(default, borrow)]
    package: std::borrow::Cow<'a, str>,
    #[serde(default, borrow)]
    test: std::borrow::Cow<'a, str>,
    #[serde(default)]
    elapsed: f64,
    #[serde(default, borrow)]
    output: std::borrow::Cow<'a, str>,
}

/// Returns whether these are such events. Build errors may precede them as plain lines.
fn is(sample: &Sample<'_>) -> bool {
    sample.mostly(60, is_event) && sample.full_lines().any(|line| line.contains("\"Package\":\""))
}

fn is_event(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"Action\":\"")
}

fn read(source: &dyn Source, _: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut go = Box::new(Runs::<GoTest>::default());
    let (mut all, mut strange) = (0u64, 0u64);
    Lines::each(source, |line| {
        all += 1;
        match serde_json::from_str::<Event<'_>>(line.text) {
            Ok(event) => {
                go.read(line.text.len());
                take(&mut go.runner, &event, line.number);
            }
            Err(_) => strange += u64::from(!go.take(line)),
        }
    })?;
    Ok((strange.saturating_mul(5) <= all).then(|| go.page()))
}

fn take(go: &mut GoTest, event: &Event<'_>, line: u64) {
    let Event { action, package, test, elapsed, output } = event;
    let outcome = match *action {
        "pass" => Outcome::Passed,
        "fail" => Outcome::Failed,
        "skip" => Outcome::Skipped,
        "output" => {
            let text = output.trim_end_matches('\n');
            let of_runner = text.starts_with("=== ") || text.trim_start().starts_with("--- ") || test.is_empty();
            if !of_runner || text.starts_with("panic: ") || text.starts_with('\t') {
                go.output(package, test, text, line);
            }
            return;
        }
        "build-output" => {
            go.build_line(output.trim_end_matches('\n'), line);
            return;
        }
        _ => return,
    };
    if test.is_empty() {
        go.end_package(package, package);
        go.package_ended(package, outcome, &format!("{elapsed}s"), line);
    } else {
        go.end_test(&FinishedTest { package, test, outcome, taken: &format!("{elapsed}s"), line });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::check;

    #[test]
    fn events_of_packages_that_run_together_are_kept_apart() {
        let raw = r##"{"Time":"2026-11-15T10:12:54Z","Action":"run","Package":"m/a","Test":"TestX"}
{"Time":"2026-11-15T10:12:54Z","Action":"run","Package":"m/b","Test":"TestX"}
{"Time":"2026-11-15T10:12:54Z","Action":"output","Package":"m/a","Test":"TestX","Output":"    a_test.go:3: got 1,\n"}
{"Time":"2026-11-15T10:12:54Z","Action":"output","Package":"m/b","Test":"TestX","Output":"    b_test.go:9: fine\n"}
{"Time":"2026-11-15T10:12:54Z","Action":"output","Package":"m/a","Test":"TestX","Output":"        want 2\n"}
{"Time":"2026-11-15T10:12:54Z","Action":"output","Package":"m/a","Test":"TestX","Output":"--- FAIL: TestX (0.00s)\n"}
{"Time":"2026-11-15T10:12:54Z","Action":"fail","Package":"m/a","Test":"TestX","Elapsed":0.01}
{"Time":"2026-11-15T10:12:54Z","Action":"pass","Package":"m/b","Test":"TestX","Elapsed":1.5}
{"ImportPath":"m/c","Action":"build-output","Output":"# m/c\n"}
{"ImportPath":"m/c","Action":"build-output","Output":"c/c.go:3:1: syntax error: x\n"}
{"Time":"2026-11-15T10:12:54Z","Action":"fail","Package":"m/a","Elapsed":0.02}
{"Time":"2026-11-15T10:12:54Z","Action":"pass","Package":"m/b","Elapsed":1.6}
"##;
        check(raw, 600).shows(&expect![[r#"
            go test: tests and subtests 1 failed, 1 passed; packages 1 failed, 1 passed; 1 build errors
            == failures: 1
            7: a.TestX a_test.go:3: got 1, want 2
            == build errors: 1
            10: c/c.go:3:1: syntax error: x
            == packages that failed: 1
            m/a 0.02s
            == slowest tests: 2, 1 shown
            1.5s TestX
            == packages that passed: 1
            m/b 1.6s
            == tests by package: 2
            m/a: 1 failed
            m/b: 1 passed"#]]);
    }
}
