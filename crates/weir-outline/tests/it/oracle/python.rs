//! Compares Python with `ast`.

use std::path::PathBuf;

use super::programs::{agreement, command, corpus, printed, tool};
use super::{Agreement, files_below, spread};

fn compared(files: &[PathBuf]) -> Agreement {
    agreement(command("python3").arg(tool("python.py")), files)
}

/// Returns the standard library without its tests, some of which are invalid on purpose.
pub(crate) fn library() -> Vec<PathBuf> {
    let library = printed(command("python3").args(["-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"]));
    let mut files = files_below(library.as_ref(), &[".py"]);
    files.retain(|file| !["/test/", "/tests/", "-packages/"].iter().any(|part| file.to_string_lossy().contains(part)));
    assert!(files.len() > 300, "{library}: too few Python files");
    files
}

#[test]
fn a_few_python_files_agree_with_ast() {
    compared(&spread(library(), 60)).check("python", 0.999);
}

pub(crate) fn packages() -> Vec<PathBuf> {
    files_below(&corpus("python"), &[".py"])
}

#[test]
#[ignore = "compares the files below WEIR_ORACLE_CORPUS/python: minutes"]
fn nightly_python_agrees_with_ast() {
    let files = packages();
    assert!(files.len() >= 700, "too few Python files: {}", files.len());
    compared(&spread(files, 3_000)).check("python", 0.999);
}
