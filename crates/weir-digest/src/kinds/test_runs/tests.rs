//! Lines of other outputs that no kind of test run may claim.

use super::{cargo_test, go_test, jest, nextest, pytest, vitest};
use crate::About;
use crate::kinds::{Detector, Kind};

#[rustfmt::skip]
const OTHER_LINES: &[(Kind, &[&str])] = &[
    (nextest::KIND, &[
        " INFO [   0.005s", " [12s] done", "   Starting up tests", " Error [ 1.0s] x", " 12 [1.0s] x",
        " INFO [  1.0s] x",
    ]),
    (go_test::KIND, &["# Heading", "# a/b", "--- a/x.go", "--- FAIL: no time", "ok\tgo on", "=== RUNNING", "FAIL"]),
    (jest::KIND, &["FAIL\texample.org/a\t0.1s", "PASS", "FAIL: make.js was not found by me", "Test Suites: many"]),
    (pytest::KIND, &[
        "tests::parse --- FAILED", "== FAILURES", "===== build finished =====", "3 failed to open in 2 places",
        "FAILED: missing file", "src/main.py uses ... in many places [50%]", "std::fmt PASSED", "s [ok]",
    ]),
    (vitest::KIND, &[
        " FAIL  packages/core/src/b.test.tsx (5.123 s)", " ✓ done (3 files)", " RUN  the tests", " Tests  are slow",
    ]),
    (cargo_test::KIND, &[
        "running 3 tests in band", "test the waters ... later", "     Running `target/debug/thing`",
        "---- note ----", "error: 2 targets left",
    ]),
];

#[test]
fn other_outputs_are_not_claimed() {
    for (kind, lines) in OTHER_LINES {
        let Detector::Lines { opens, .. } = kind.detector else { panic!("{} does not take lines", kind.name) };
        for line in *lines {
            assert!(!opens(line, About::default()), "{}: {line}", kind.name);
        }
    }
}
