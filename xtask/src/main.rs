//! The project's own chores, run as `cargo run -p xtask -- CHORE`.
//!
//! A chore is here if a shell line is not enough: it reads many files, or it has tests.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for people: findings go to stdout, talk to stderr"
)]

use std::io::Read as _;
use std::process::ExitCode;

use book::BookError;

mod book;
mod tidy;

const USAGE: &str = "\
usage: cargo run -p xtask -- CHORE

chores:
  book    prepare the pages of docs for mdBook, which calls this: `mdbook build docs`
  tidy    check what neither rustc nor clippy knows about this repository";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => tidy(),
        ["book"] => book(),
        // mdBook asks whether the pages are for this renderer, too.
        ["book", "supports", _] => ExitCode::SUCCESS,
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        [] => misused("no chore given"),
        [chore, ..] => misused(&format!("no such chore: {chore}")),
    }
}

fn tidy() -> ExitCode {
    let tree = match tidy::Tree::read() {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let findings = tidy::check(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        eprintln!("tidy: {} files, nothing to fix", tree.len());
        ExitCode::SUCCESS
    } else {
        eprintln!("tidy: {} files, {} to fix", tree.len(), findings.len());
        ExitCode::FAILURE
    }
}

fn book() -> ExitCode {
    let mut input = String::new();
    let read = std::io::stdin().read_to_string(&mut input).map_err(BookError::Input);
    match read.and_then(|_| book::prepare(&input)) {
        Ok(prepared) => {
            println!("{prepared}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn misused(problem: &str) -> ExitCode {
    eprintln!("error: {problem}\n{USAGE}");
    ExitCode::from(2)
}
