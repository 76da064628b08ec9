//! Compares TypeScript with its own compiler, in the folder WEIR_ORACLE_TYPESCRIPT.

use std::path::PathBuf;

use super::programs::{agreement, command, corpus, folder, tool};
use super::{Agreement, files_below, spread};

const PACKAGE: &str = "WEIR_ORACLE_TYPESCRIPT";

fn compared(files: &[PathBuf]) -> Agreement {
    agreement(command("node").arg(tool("typescript.mjs")).env(PACKAGE, folder(PACKAGE)), files)
}

/// Returns the declaration files that come with the compiler.
pub(crate) fn library() -> Vec<PathBuf> {
    let library = folder(PACKAGE).join("node_modules/typescript/lib");
    let files = files_below(&library, &[".d.ts"]);
    assert!(files.len() > 60, "{}: too few TypeScript files", library.display());
    files
}

pub(crate) fn packages() -> Vec<PathBuf> {
    files_below(&corpus("typescript"), &[".ts", ".tsx", ".mts", ".cts"])
}

#[test]
fn a_few_typescript_files_agree_with_tsc() {
    compared(&spread(library(), 60)).check("typescript", 0.999);
}

#[test]
#[ignore = "compares the files below WEIR_ORACLE_CORPUS/typescript: minutes"]
fn nightly_typescript_agrees_with_tsc() {
    let files = packages();
    assert!(files.len() >= 2_000, "too few TypeScript files: {}", files.len());
    compared(&spread(files, 3_000)).check("typescript", 0.999);
}
