//! Test runs: what failed and why, what was skipped, what took long.

pub(super) mod cargo_test;
mod chatter;
mod coverage;
mod failed;
mod go_output;
pub(super) mod go_test;
pub(super) mod go_test_json;
pub(super) mod jest;
mod js_block;
mod js_report;
pub(super) mod junit;
pub(super) mod nextest;
mod outcomes;
mod panicked;
pub(super) mod pytest;
mod pytest_block;
mod pytest_lines;
mod run;
pub(super) mod vitest;
mod xml;
