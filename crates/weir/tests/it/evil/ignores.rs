//! Hostile ignore files: links, pipes, and excessive numbers of patterns.

use super::{Case, archive, check, clone, link, pipe, put};

const CASES: &[Case] = &[
    clone(".gitignore is a link to zeros", |top| link(top, ".gitignore", "/dev/zero")),
    clone(".ignore is a link to zeros", |top| link(top, ".ignore", "/dev/zero")),
    clone("a nested one is a link to zeros", |top| link(top, "src/.gitignore", "/dev/zero")),
    clone(".gitignore is a link to the server's input", |top| link(top, ".gitignore", "/dev/stdin")),
    clone(".gitignore is a link to a file outside", |top| link(top, ".gitignore", "../outside/canary.txt")),
    clone(".ignore is a folder", |top| put(top, ".ignore/x", "")),
    clone("four megabytes of one pattern", |top| put(top, ".gitignore", "x".repeat(4 << 20))),
    clone("as many patterns as fit", |top| put(top, ".gitignore", "a*b?c\n".repeat(80_000))),
    clone("braces and classes", |top| {
        let lines: String = (0..400).map(|number| format!("[a-z]{{{number},**/[!x]}}/**/*[0-9]?\n")).collect();
        put(top, ".gitignore", format!("{lines}[\n{{\n**[\n{}", "**/".repeat(2_000)));
    }),
    clone("patterns at every level", |top| {
        let lines: String = (0..600).map(|number| format!("*.{number}x\n")).collect();
        for depth in 1..=40 {
            put(top, format!("{}.gitignore", "d/".repeat(depth)), &lines);
            put(top, format!("{}a.rs", "d/".repeat(depth)), "pub fn a() {}\n");
        }
    }),
    archive(".gitignore is a pipe", |top| pipe(top, ".gitignore")),
    archive(".git/info/exclude is a link to zeros", |top| {
        put(top, ".git/HEAD", "ref: refs/heads/main\n");
        link(top, ".git/info/exclude", "/dev/zero");
    }),
    archive(".git/info/exclude is a pipe", |top| {
        put(top, ".git/HEAD", "ref: refs/heads/main\n");
        pipe(top, ".git/info/exclude");
    }),
];

#[test]
fn ignore_files_that_lead_away_are_left_out() {
    check(&CASES[..6]);
}

#[test]
fn ignore_files_without_measure_are_bounded() {
    check(&CASES[6..]);
}
