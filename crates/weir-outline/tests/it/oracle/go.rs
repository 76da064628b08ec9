//! Compares Go with `go/ast`.

use std::path::PathBuf;

use super::programs::{agreement, command, corpus, printed, tool};
use super::{Agreement, files_below, spread};

fn compared(files: &[PathBuf]) -> Agreement {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("go-oracle");
    agreement(command("go").arg("run").arg(tool("go.go")).env("GOCACHE", cache).env("GO111MODULE", "off"), files)
}

/// Returns the Go files below a folder, without the test data of Go itself.
fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files = files_below(folder, &[".go"]);
    files.retain(|file| !file.to_string_lossy().contains("/testdata/"));
    files
}

pub(crate) fn library() -> Vec<PathBuf> {
    let root = PathBuf::from(printed(command("go").args(["env", "GOROOT"]))).join("src");
    // The folder may be a link, which is not followed.
    let root = std::fs::canonicalize(root.join("net")).unwrap();
    let files = files(&root);
    assert!(files.len() > 200, "{}: too few Go files", root.display());
    files
}

pub(crate) fn packages() -> Vec<PathBuf> {
    files(&corpus("go"))
}

#[test]
fn a_few_go_files_agree_with_go_ast() {
    compared(&spread(library(), 60)).check("go", 0.999);
}

#[test]
#[ignore = "compares the files below WEIR_ORACLE_CORPUS/go: minutes"]
fn nightly_go_agrees_with_go_ast() {
    let files = packages();
    assert!(files.len() >= 2_000, "too few Go files: {}", files.len());
    compared(&spread(files, 6_000)).check("go", 0.999);
}
