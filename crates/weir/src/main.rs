//! The program. Invariant: what must be quick branches off here, before anything is set up that it does not need.

mod answer;
mod choice;
mod config;
mod context;
mod env;
mod error;
mod faces;
mod git;
mod operations;
mod project;
mod when;

use std::process::ExitCode;

fn main() -> ExitCode {
    faces::cli::run()
}
