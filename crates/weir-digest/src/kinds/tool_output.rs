//! Outputs dominated by a compiler, a linter or an installer, or that begin like a test run. Their lines are given to
//! their kinds one by one; this kind only prevents kinds with looser criteria (searches, tables, prose, source) from
//! taking them whole.

use crate::About;
use crate::kinds::diagnostics::{eslint, gcc, mypy, ruff, rustc, tsc};
use crate::kinds::packages::{apt, cargo_build, npm};
use crate::kinds::test_runs::{cargo_test, go_test, jest, nextest, pytest, vitest};
use crate::kinds::{Detector, Kind};
use crate::sample::Sample;

pub(crate) const KIND: Kind =
    Kind::whole("tool_output", is, |source, sample| crate::route::read(source, sample.about).map(Some));

/// The minimum percentage of lines that must be recognised with certainty: one in twenty, since code and notes may
/// follow each.
const MIN_PERCENT: usize = 5;
const MIN_LINES: usize = 3;

/// Functions that recognise a line with certainty.
const KNOWN: &[fn(&str, About<'_>) -> bool] = &[
    rustc::is_finding,
    tsc::opens,
    eslint::is_finding,
    gcc::opens,
    ruff::opens,
    mypy::is_finding,
    cargo_build::opens,
    npm::opens,
    apt::opens,
];

/// Test runs declare themselves at the beginning, and then show much code.
const RUNS: &[Kind] = &[nextest::KIND, cargo_test::KIND, pytest::KIND, jest::KIND, vitest::KIND, go_test::KIND];
const BEGINNING_LINES: usize = 8;

fn is(sample: &Sample<'_>) -> bool {
    let begins = |line: &str| {
        RUNS.iter().any(|kind| matches!(kind.detector, Detector::Lines { opens, .. } if opens(line, sample.about)))
    };
    if sample.full_lines().take(BEGINNING_LINES).any(begins) {
        return true;
    }
    let (mut all, mut known) = (0, 0);
    for line in sample.full_lines() {
        all += 1;
        known += usize::from(KNOWN.iter().any(|is_known| is_known(line, sample.about)));
    }
    known >= MIN_LINES && known * 100 >= all * MIN_PERCENT
}

#[cfg(test)]
mod tests {
    use crate::check::digest;

    #[test]
    fn findings_are_no_hits_of_a_search() {
        let mut raw = String::new();
        for number in 1..=20 {
            raw += &format!("/srv/a.ts:{number}:3: Unexpected var, use let or const instead. [Error/no-var]\n");
        }
        assert!(digest(&raw, 400).contains("eslint: 20 errors"));
    }

    #[test]
    fn long_messages_are_no_prose() {
        let mut raw = String::new();
        for number in 1..=20 {
            raw += &format!(
                "stock/zones.py:{number}: error: Incompatible return value type (got a string or nothing at all, expected an integer)  [return-value]\n"
            );
        }
        assert!(digest(&raw, 400).contains("mypy: 20 errors"));
    }
}
