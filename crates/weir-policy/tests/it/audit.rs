//! The audit against real folders.

use std::fs;
use std::time::SystemTime;

use expect_test::{Expect, expect};
use weir_policy::audit::{self, Kind};
use weir_policy::masks::{Masks, Tree};
use weir_policy::rules::{Own, Rules};

use crate::masks::Home;

/// Files before, what happens in between, and what is found after.
fn check(files: &[&str], run: impl FnOnce(&Home), expected: Expect) {
    let home = Home::with(files);
    let rules = Rules::read(&[], &Own::default());
    let mut tree = Tree::new();
    Masks::expand(&mut tree, &rules, &home.places(), SystemTime::now());
    let before = audit::take(&mut tree, &[home.path("home/p")], SystemTime::now()).unwrap();
    run(&home);
    let planted = audit::compare(&before, &mut tree, SystemTime::now()).unwrap();
    let lines = planted.iter().map(|planted| {
        let path = planted.path.strip_prefix(home.path("home/p")).unwrap().display();
        let kind = if planted.kind == Kind::Quarantine { "quarantine" } else { "report" };
        format!("{kind} {} {path}: {}\n", if planted.changed { "changed" } else { "new" }, planted.what)
    });
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn an_unchanged_project_is_clean() {
    check(&[".git/config", "p/.git/config", "p/.mcp.json", "p/CLAUDE.md", "p/src/a.rs"], |_| {}, expect![""]);
}

#[test]
fn ordinary_work_is_clean() {
    check(
        &["p/.git/config", "p/.git/HEAD", "p/src/a.rs"],
        |home| {
            home.write("p/src/b.rs", "fn b() {}");
            home.write("p/package.json", "{}");
            home.write("p/node_modules/x/.vscode/settings.json", "{}");
            home.write("p/.git/index", "x");
            home.write("p/.git/objects/aa/bb", "x");
        },
        expect![""],
    );
}

#[test]
fn what_was_planted_is_found() {
    check(
        &["p/.git/config", "p/.git/HEAD", "p/src/a.rs", "p/.claude/settings.json"],
        |home| {
            home.write("p/.mcp.json", "{}");
            home.write("p/.claude/settings.local.json", "{}");
            home.write("p/.claude/settings.json", "{\"hooks\": {}}");
            home.write("p/src/.vscode/tasks.json", "{}");
            home.write("p/.envrc", "x");
            home.write("p/.husky/pre-commit", "x");
            home.write("p/AGENTS.md", "x");
            home.write("p/.bashrc", "x");
        },
        expect![[r#"
            quarantine new .bashrc: code that bash runs
            quarantine changed .claude/settings.json: settings and hooks of Claude Code
            quarantine new .claude/settings.local.json: settings and hooks of Claude Code
            quarantine new .envrc: code that direnv runs
            quarantine new .husky: hooks of git
            quarantine new .mcp.json: servers that a client starts
            quarantine new src/.vscode: tasks and settings of VS Code
            report new AGENTS.md: instructions to a client
        "#]],
    );
}

#[test]
fn repositories_are_found_in_all_their_shapes() {
    check(
        &["p/.git/config", "p/.git/HEAD", "p/src/a.rs"],
        |home| {
            home.write("p/.git/commondir", "../evil");
            home.write("p/.git/hooks/pre-commit", "x");
            home.write("p/.git/config", "[core]\n\tfsmonitor = evil\n");
            home.write("p/nested/.git/config", "x");
            home.write("p/linked/.git", "gitdir: ../evil");
            home.write("p/src/HEAD", "ref: refs/heads/main");
            home.write("p/src/objects/", "");
            home.write("p/src/refs/", "");
            home.write("p/src/config", "x");
            home.write("p/node_modules/y/.git/config", "x");
        },
        expect![[r#"
            quarantine new .git/commondir: another place for git's settings and hooks
            quarantine new .git/hooks: hooks of git
            quarantine new .git/hooks/pre-commit: hooks of git
            quarantine new linked/.git: a link to a git repository elsewhere
            quarantine new nested/.git: a git repository inside the project
            quarantine new src/HEAD: a bare git repository inside the project
            report changed .git/config: settings of git that run code
            report new node_modules/y/.git: a git repository inside the project
        "#]],
    );
}

#[test]
fn a_time_set_back_does_not_hide_a_change() {
    check(
        &["p/.mcp.json", "p/src/a.rs"],
        |home| {
            let path = home.path("home/p/.mcp.json");
            let before = fs::metadata(&path).unwrap().modified().unwrap();
            home.write("p/.mcp.json", "y");
            fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
        },
        expect![[r#"
            quarantine changed .mcp.json: servers that a client starts
        "#]],
    );
}
