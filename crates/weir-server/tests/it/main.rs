//! The program of a team's server, from its command line. What it serves is tested with the machines that use it, in the
//! tests of `weir`.

#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod cells;

use std::process::{Command, Output};

#[expect(clippy::disallowed_methods, reason = "the program itself is tested")]
fn server(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_weir-server")).args(arguments).current_dir(folder.path()).output().unwrap()
}

#[test]
fn what_it_cannot_do_with_its_options_is_refused() {
    for arguments in [
        &["serve"][..],
        &["serve", "--data", "team", "--compat", "engram"],
        &["serve", "--data", "team", "--texts", "texts"],
        &["serve", "--data", "team", "--copy-index", "5"],
        &["serve", "--data", "team", "--semantic"],
        &[],
        &["list"],
        &["revoke", "--data", "team"],
        &["list", "--data", "team", "--database", "postgresql://u@localhost/d"],
        &["migrate", "--data", "team"],
        &["migrate", "--data", "team", "--cancel", "--dry-run"],
        &["delete", "old"],
        &["cells"],
        &["cells", "--directory", "postgresql://u@localhost/d", "--add", "one"],
        &["move", "acme", "--directory", "postgresql://u@localhost/d"],
        &["move", "acme", "--to", "one", "--undo", "--directory", "postgresql://u@localhost/d"],
        &["init", "ana", "--data", "team", "--cell", "one"],
        &["list", "--data", "team", "--directory", "postgresql://u@localhost/d"],
    ] {
        let refused = server(arguments);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
    }
}

#[test]
fn a_token_is_all_that_a_script_reads() {
    let made = server(&["init", "ana", "--data", "team"]);
    let token = String::from_utf8(made.stdout).unwrap();
    assert!(made.status.success() && token.trim().starts_with("weir_") && token.lines().count() == 1, "{token}");
}
