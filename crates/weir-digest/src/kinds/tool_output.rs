//! Outputs that a compiler, a linter or an installer fills, or that begin as a test run does. Their lines are given to
//! their kinds one by one; this kind only keeps those that judge by looser signs (searches, tables, prose, source) from
//! taking them whole.

use crate::About;
use crate::kinds::diagnostics::eslint;
use crate::kinds::diagnostics::gcc;
use crate::kinds::diagnostics::mypy;
use crate::kinds::diagnostics::ruff;
use crate::kinds::diagnostics::rustc;
use crate::kinds::diagnostics::tsc;
use crate::kinds::packages::apt;
use crate::kinds::packages::cargo_build;
use crate::kinds::packages::npm;
use crate::kinds::test_runs::cargo_test;
use crate::kinds::test_runs::go_test;
use crate::kinds::test_runs::jest;
use crate::kinds::test_runs::nextest;
use crate::kinds::test_runs::pytest;
use crate::kinds::test_runs::vitest;
use crate::kinds::{How, Kind};
use crate::sample::Sample;

pub(crate) const KIND: Kind = Kind {
    name: "tool_output",
    how: How::Whole { is, read: |source, sample| crate::route::read(source, sample.about).map(Some) },
};

/// How many lines in a hundred must be known for certain: one of twenty, since each may be followed by code and notes.
const PERCENT: usize = 5;
/// How many must be known at least.
const FEWEST: usize = 3;

/// What knows a line for certain.
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

/// Test runs say at their beginning what they are, and then show much code.
const RUNS: &[Kind] = &[nextest::KIND, cargo_test::KIND, pytest::KIND, jest::KIND, vitest::KIND, go_test::KIND];
/// How many lines the beginning has.
const BEGINNING: usize = 8;

fn is(sample: &Sample<'_>) -> bool {
    let begins =
        |line: &str| RUNS.iter().any(|kind| matches!(kind.how, How::Lines { opens, .. } if opens(line, sample.about)));
    if sample.full_lines().take(BEGINNING).any(begins) {
        return true;
    }
    let (mut all, mut known) = (0, 0);
    for line in sample.full_lines() {
        all += 1;
        known += usize::from(KNOWN.iter().any(|is_known| is_known(line, sample.about)));
    }
    known >= FEWEST && known * 100 >= all * PERCENT
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
