//! The policy from the outside: scripts and rules in, verdicts out; folders in, masks and findings out.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod attacks;
mod audit;
mod everyday;
mod fuzz;
mod help;
mod masks;
mod oracle;
mod properties;
mod rules;
mod scripts;
mod spellings;
mod trust;
