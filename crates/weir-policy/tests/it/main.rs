//! Tests the policy from the outside: scripts and rules to verdicts, folders to masks and findings.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod attacks;
#[cfg(unix)]
mod audit;
mod everyday;
mod fuzz;
mod gate;
mod help;
#[cfg(unix)]
mod masks;
mod oracle;
mod properties;
mod rules;
mod scripts;
mod spellings;
mod trust;
