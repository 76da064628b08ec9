//! What must be out of reach: other folders, secrets, and what rules deny.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::texts::source;
use crate::support::{Home, Server};

fn read(path: &str) -> Value {
    json!({ "path": path })
}

fn write(path: &str) -> Value {
    json!({ "path": path, "text": "planted\n", "overwrite": true })
}

/// Checks that a file can be neither read nor written.
fn check_out_of_reach(server: &mut Server, path: &str) {
    for (tool, arguments) in
        [("context_read", read(path)), ("context_peek", read(path)), ("context_write", write(path))]
    {
        server.refused(tool, &arguments);
    }
    server.refused("context_edit", &json!({ "path": path, "old": "a", "new": "b" }));
}

#[test]
fn paths_stay_in_the_project_whatever_they_go_through() {
    let home = Home::new();
    home.write("../outside/a.rs", source(2));
    home.write("inside/b.rs", source(2));
    let outside = home.path().join("outside");
    symlink(&outside, home.project().join("link")).unwrap();
    symlink(outside.join("a.rs"), home.project().join("a.rs")).unwrap();
    symlink(outside.join("new.rs"), home.project().join("dangling.rs")).unwrap();
    symlink("inside/b.rs", home.project().join("alias.rs")).unwrap();
    let mut server = home.session("s1");
    let absolute = outside.join("a.rs");
    for path in ["../outside/a.rs", "link/a.rs", "a.rs", "inside/../../outside/a.rs", absolute.to_str().unwrap()] {
        check_out_of_reach(&mut server, path);
    }
    for path in ["link/new.rs", "dangling.rs", "../new.rs", "link/deep/new.rs"] {
        server.refused("context_write", &write(path));
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1, "nothing was made outside");
    let refused = server.refused("context_read", &read("link/a.rs"));
    assert!(refused.contains("outside the project"), "{refused}");
    // A link within the project is followed, and stays one.
    server.call("context_edit", &json!({ "path": "alias.rs", "old": "add_0", "new": "sum_0" }));
    assert!(home.read("inside/b.rs").contains("sum_0"));
    assert!(home.project().join("alias.rs").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn the_users_rules_open_and_close() {
    let home = Home::new();
    home.write("../outside/a.rs", source(2));
    home.write("secret/a.rs", source(2));
    home.write("vendor/a.rs", source(2));
    home.write("asked/a.rs", source(2));
    let outside = home.path().join("outside").display().to_string();
    home.rules(&json!({
        "deny": ["Read(./secret/**)", "Edit(vendor/**)"],
        "ask": ["Edit(asked/**)"],
        "allow": [format!("Read(/{outside}/**)")],
    }));
    let mut server = home.session("s1");
    check_out_of_reach(&mut server, "secret/a.rs");
    let refused = server.refused("context_read", &read("secret/a.rs"));
    assert!(refused.contains("the rule Read(./secret/**) in ") && refused.contains("denies it"), "{refused}");
    server.read("vendor/a.rs");
    server.refused("context_edit", &json!({ "path": "vendor/a.rs", "old": "add_0", "new": "x" }));
    server.refused("context_write", &write("vendor/new.rs"));
    // There is no way to ask the user.
    let asked = server.refused("context_edit", &json!({ "path": "asked/a.rs", "old": "add_0", "new": "x" }));
    assert!(asked.contains("asks about it") && asked.contains("the user could not be asked"), "{asked}");
    server.read("../outside/a.rs");
    server.refused("context_edit", &json!({ "path": "../outside/a.rs", "old": "add_0", "new": "x" }));
}

#[test]
fn secrets_and_what_runs_later_are_not_touched() {
    let home = Home::new();
    home.write(".env", "TOKEN=1\n");
    home.write(".git/config", "[core]\n");
    home.write(".vscode/tasks.json", "{}\n");
    let mut server = home.session("s1");
    check_out_of_reach(&mut server, ".env");
    let data = home.path().join(".local/share/weir");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("x.txt"), "ours").unwrap();
    check_out_of_reach(&mut server, data.join("x.txt").to_str().unwrap());
    for path in [".git/config", ".git/hooks/pre-commit", ".vscode/tasks.json", ".mcp.json", ".claude/settings.json"] {
        server.refused("context_write", &write(path));
    }
    for path in [".github/workflows/x.yml", "CLAUDE.md", "sub/AGENTS.md", "vendor/x/.envrc", ".cargo/config.toml"] {
        let said = server.refused("context_write", &write(path));
        assert!(said.contains("other programs act on it"), "{path}: {said}");
    }
    // Changing what a build or a test runs is normal work for a coding agent.
    for path in ["package.json", "Makefile", "sub/conftest.py"] {
        server.call("context_write", &write(path));
    }
    server.read(".vscode/tasks.json");
    assert!(!home.project().join(".git/hooks").exists() && !home.project().join(".mcp.json").exists());
}

#[test]
fn a_pipe_or_a_folder_is_no_file() {
    let home = Home::new();
    std::fs::create_dir(home.project().join("folder")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.project().join("pipe")).status().unwrap();
    assert!(made.success());
    let mut server = home.session("s1");
    check_out_of_reach(&mut server, "pipe");
    server.refused("context_read", &read("folder"));
    server.refused("context_write", &write("folder"));
    server.refused("context_edit", &json!({ "path": "folder", "old": "a", "new": "b" }));
    server.refused("context_write", &write("folder/../pipe/x"));
}

#[test]
fn a_folder_is_shown_by_its_map_and_only_in_the_project() {
    let home = Home::new();
    home.write("src/a.rs", source(2));
    home.write("../outside/b.rs", source(2));
    let mut server = home.session("s1");
    let map = server.call("context_peek", &read("src"));
    assert!(map.contains("src/a.rs"), "{map}");
    server.refused("context_peek", &read("../outside"));
    server.refused("context_peek", &read("/"));
}
