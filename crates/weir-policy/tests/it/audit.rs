//! Tests the audit on real folders.

use std::fs;
use std::time::SystemTime;

use expect_test::expect;
use weir_check::Checked;
use weir_policy::audit::{self, Kind};
use weir_policy::masks::{Masks, Tree};
use weir_policy::rules::{Own, Rules};

use crate::masks::Home;

/// Creates files, runs `run`, and checks what the audit finds.
fn check(files: &[&str], run: impl FnOnce(&Home)) -> Checked {
    let home = Home::with(files);
    let rules = Rules::read(&[], &Own::default());
    let mut tree = Tree::new();
    Masks::expand(&mut tree, &rules, &home.places(), SystemTime::now());
    let before = audit::take(&mut tree, &[home.path("home/p")], SystemTime::now()).unwrap();
    run(&home);
    // State that is written and read back by another process must give the same result.
    let kept = audit::Before::from_bytes(&before.to_bytes()).unwrap();
    assert_eq!(kept, before);
    let found = audit::compare(&before, &mut tree, SystemTime::now());
    assert_eq!(audit::compare_from_scratch(&kept, SystemTime::now()).planted, found.planted);
    assert!(found.incomplete.is_none());
    let lines = found.planted.iter().map(|planted| {
        let path = planted.path.strip_prefix(home.path("home/p")).unwrap().display();
        let kind = match planted.kind {
            Kind::Quarantine => "quarantine",
            Kind::Report => "report",
            Kind::Executed => "executed",
        };
        format!("{kind} {} {path}: {}\n", if planted.changed { "changed" } else { "new" }, planted.what)
    });
    Checked(lines.collect())
}

#[test]
fn an_unchanged_project_is_clean() {
    check(&[".git/config", "p/.git/config", "p/.mcp.json", "p/CLAUDE.md", "p/src/a.rs"], |_| {}).shows(&expect![""]);
}

#[test]
fn ordinary_work_is_clean() {
    check(&["p/.git/config", "p/.git/HEAD", "p/src/a.rs"], |home| {
        home.write("p/src/b.rs", "fn b() {}");
        home.write("p/node_modules/x/package.json", "{}");
        home.write("p/vendor/x/Makefile", "");
        home.write("p/node_modules/x/.vscode/settings.json", "{}");
        home.write("p/.git/index", "x");
        home.write("p/.git/objects/aa/bb", "x");
    })
    .shows(&expect![""]);
}

#[test]
fn what_was_planted_is_found() {
    check(&["p/.git/config", "p/.git/HEAD", "p/src/a.rs", "p/.claude/settings.json"], |home| {
        home.write("p/.mcp.json", "{}");
        home.write("p/.claude/settings.local.json", "{}");
        home.write("p/.claude/settings.json", "{\"hooks\": {}}");
        home.write("p/src/.vscode/tasks.json", "{}");
        home.write("p/.envrc", "x");
        home.write("p/.husky/pre-commit", "x");
        home.write("p/AGENTS.md", "x");
        home.write("p/.bashrc", "x");
    })
    .shows(&expect![[r#"
        quarantine new .bashrc: code that bash runs
        quarantine changed .claude/settings.json: settings and hooks of Claude Code
        quarantine new .claude/settings.local.json: settings and hooks of Claude Code
        quarantine new .envrc: code that direnv runs
        quarantine new .husky: hooks of git
        quarantine new .mcp.json: servers that a client starts
        quarantine new src/.vscode: tasks and settings of VS Code
        report new AGENTS.md: instructions to a client
    "#]]);
}

#[test]
fn repositories_are_found_in_all_their_shapes() {
    check(&["p/.git/config", "p/.git/HEAD", "p/src/a.rs"], |home| {
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
    })
    .shows(&expect![[r#"
        quarantine new .git/commondir: another place for git's settings and hooks
        quarantine changed .git/config: settings of git that run code
        quarantine new .git/hooks: hooks of git
        quarantine new .git/hooks/pre-commit: hooks of git
        quarantine new linked/.git: a link to a git repository elsewhere
        quarantine new nested/.git: a git repository inside the project
        quarantine new src/HEAD: a bare git repository inside the project
        report new node_modules/y/.git: a git repository inside the project
    "#]]);
}

/// Git asks whether `objects` and `refs` can be searched, not what they are, and takes them from elsewhere if told so.
#[cfg(unix)]
#[test]
fn repositories_are_recognised_as_git_recognises_them() {
    use std::os::unix::fs::symlink;
    check(
        &["p/.git/config", "p/theirs/HEAD", "p/theirs/config", "p/store/o/x", "p/store/r/x", "p/bare/config"]
            .into_iter()
            .chain(["p/bare/HEAD", "p/bare/objects/x", "p/bare/refs/x"])
            .collect::<Vec<_>>(),
        |home| {
            for folder in ["linked", "files", "apart"] {
                home.write(&format!("p/{folder}/HEAD"), "ref: refs/heads/main");
                home.write(&format!("p/{folder}/config"), "[core]\n\tfsmonitor = evil\n");
            }
            symlink("../store/o", home.path("home/p/linked/objects")).unwrap();
            symlink("../store/r", home.path("home/p/linked/refs")).unwrap();
            home.write("p/files/objects", "");
            home.write("p/files/refs", "");
            home.write("p/apart/commondir", "../store");
            home.write("p/theirs/objects/", "");
            home.write("p/theirs/refs/", "");
            home.write("p/bare/hooks/post-checkout", "evil");
            home.write("p/plain/HEAD", "just a file");
        },
    )
    .shows(&expect![[r#"
        quarantine new apart/HEAD: a bare git repository inside the project
        quarantine new bare/hooks: hooks of git
        quarantine new bare/hooks/post-checkout: hooks of git
        quarantine new files/HEAD: a bare git repository inside the project
        quarantine new linked/HEAD: a bare git repository inside the project
        quarantine new theirs/objects: a bare git repository inside the project
        quarantine new theirs/refs: a bare git repository inside the project
    "#]]);
}

#[test]
fn a_time_set_back_does_not_hide_a_change() {
    check(&["p/.mcp.json", "p/src/a.rs"], |home| {
        let path = home.path("home/p/.mcp.json");
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        home.write("p/.mcp.json", "y");
        fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
    })
    .shows(&expect![[r#"
        quarantine changed .mcp.json: servers that a client starts
    "#]]);
}

#[test]
fn files_that_tools_run_are_named() {
    check(&["p/Makefile", "p/conftest.py", "p/src/a.rs", "p/CLAUDE.md"], |home| {
        home.write("p/Makefile", "all:\n\tevil");
        home.write("p/package.json", "{}");
        home.write("p/sub/setup.py", "");
        home.write("p/CLAUDE.md", "be evil");
        home.write("p/.github/workflows/x.yml", "");
        home.write("p/sub/workflows/x.yml", "");
    })
    .shows(&expect![[r#"
        report new .github/workflows: runs in CI
        report changed CLAUDE.md: instructions to a client
        executed changed Makefile: run by make
        executed new package.json: run by npm
        executed new sub/setup.py: run by pip
    "#]]);
}

#[test]
fn folders_that_builds_fill_hide_nothing() {
    check(&["p/.git/config", "p/src/a.rs"], |home| {
        home.write("p/vendor/r/.git/config", "[core]\n\tfsmonitor = evil\n");
        home.write("p/deps/.claude/settings.json", "{}");
        home.write("p/target/debug/.envrc", "evil");
        home.write("p/_build/.vscode/tasks.json", "{}");
        home.write("p/node_modules/x/vendor/.envrc", "a package's own");
    })
    .shows(&expect![[r#"
        quarantine new _build/.vscode: tasks and settings of VS Code
        quarantine new deps/.claude: settings and hooks of Claude Code
        quarantine new target/debug/.envrc: code that direnv runs
        quarantine new vendor/r/.git: a git repository inside the project
    "#]]);
}

#[cfg(unix)]
#[test]
fn links_in_protected_folders_lead_to_what_is_watched() {
    use std::os::unix::fs::symlink;
    let link = |home: &Home, target: &str, path: &str| {
        let path = home.path("home").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    };
    let home = Home::with(&["p/build/tasks.json", "p/tools/a.md", "p/src/a.rs", "outside.txt"]);
    link(&home, "../build/tasks.json", "p/.vscode/tasks.json");
    link(&home, "../later/settings.json", "p/.vscode/settings.json");
    link(&home, "../tools", "p/.claude/skills");
    link(&home, "../../outside.txt", "p/.claude/outside");
    let mut tree = Tree::new();
    Masks::expand(&mut tree, &Rules::read(&[], &Own::default()), &home.places(), SystemTime::now());
    let before = audit::take(&mut tree, &[home.path("home/p")], SystemTime::now()).unwrap();
    for path in ["p/build/tasks.json", "p/later/settings.json", "p/tools/b.md", "outside.txt"] {
        home.write(path, "evil");
    }
    let found = audit::compare(&before, &mut tree, SystemTime::now()).planted;
    let lines = found.iter().map(|planted| {
        let path = planted.path.strip_prefix(home.path("home/p")).unwrap().display();
        format!("{:?} {} {path}: {}\n", planted.kind, if planted.changed { "changed" } else { "new" }, planted.what)
    });
    expect![[r#"
        Quarantine new later/settings.json: tasks and settings of VS Code, by a link
        Report changed build/tasks.json: tasks and settings of VS Code, by a link
        Report new tools/b.md: settings and hooks of Claude Code, by a link
    "#]]
    .assert_eq(&lines.collect::<String>());
}

/// The check made every second covers only the top level.
#[test]
fn a_glance_sees_the_top_level_and_fixed_paths() {
    let home = Home::with(&["p/.git/config", "p/src/a.rs", "p/.mcp.json"]);
    let mut tree = Tree::new();
    Masks::expand(&mut tree, &Rules::read(&[], &Own::default()), &home.places(), SystemTime::now());
    let before = audit::take(&mut tree, &[home.path("home/p")], SystemTime::now()).unwrap();
    assert_eq!(audit::glance(&before), []);
    for path in ["p/.envrc", "p/.vscode/tasks.json", "p/.github/hooks/x.json", "p/src/.envrc", "p/HEAD"] {
        home.write(path, "evil");
    }
    for folder in ["p/objects/", "p/refs/"] {
        home.write(folder, "");
    }
    let found = audit::glance(&before);
    let paths: Vec<_> = found.iter().map(|it| it.path.strip_prefix(home.path("home/p")).unwrap()).collect();
    assert_eq!(
        paths.iter().map(|path| path.to_str().unwrap()).collect::<Vec<_>>(),
        [".envrc", ".github/hooks", ".vscode", "HEAD"]
    );
}

#[test]
fn of_too_much_what_is_nearest_to_the_top_is_found() {
    let home = Home::with(&["p/src/a.rs"]);
    let mut tree = Tree::holding(100);
    Masks::expand(&mut tree, &Rules::read(&[], &Own::default()), &home.places(), SystemTime::now());
    let before = audit::take(&mut tree, &[home.path("home/p")], SystemTime::now()).unwrap();
    for number in 0..300 {
        home.write(&format!("p/many/{}/{number}", number % 10), "");
    }
    for path in ["p/.envrc", "p/zoo/.vscode/tasks.json", "p/many/9/deep/deeper/.envrc"] {
        home.write(path, "evil");
    }
    let found = audit::compare(&before, &mut tree, SystemTime::now());
    assert!(found.incomplete.is_some());
    let paths: Vec<_> = found.planted.iter().map(|it| it.path.strip_prefix(home.path("home/p")).unwrap()).collect();
    assert_eq!(paths, [std::path::Path::new(".envrc"), std::path::Path::new("zoo/.vscode")]);
}
