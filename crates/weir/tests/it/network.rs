//! Which commands use the network without any setting: five, which SECURITY.md names, and no others.
//!
//! Each command runs in a network namespace without any interface, in an empty home, while the kernel reports every
//! address that it connects to, sends to or binds. A machine that cannot do that fails the test.
#![expect(clippy::disallowed_methods, reason = "the test compiles and starts programs")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Home, WEIR, said, text};

/// The commands, each with arguments that make it do its work as far as an empty home allows.
const COMMANDS: &[&[&str]] = &[
    &[],
    &["run", "echo hello"],
    &["batch", "echo hello", "ls"],
    &["note", "The port is 7071"],
    &["index", "README.md"],
    &["fetch", "https://example.com/"],
    &["search", "port"],
    &["get"],
    &["history"],
    &["reflect"],
    &["context"],
    &["import"],
    &["forget", "--project"],
    &["map"],
    &["outline", "src/lib.rs"],
    &["stats"],
    &["doctor"],
    &["setup", "claude", "--yes"],
    &["teardown", "claude", "--yes"],
    &["off"],
    &["on"],
    &["backup", "../backup.weir"],
    &["restore", "../backup.weir", "--force"],
    &["export"],
    &["adopt"],
    &["runs"],
    &["call", "no-server", "no-tool"],
    &["undo"],
    &["demo"],
    &["handover"],
    &["notes"],
    &["policy", "check", "ls"],
    &["servers"],
    &["invite", "ben"],
    &["replay"],
    &["window"],
    &["prefix"],
    &["statusline"],
    &["schema", "mcp"],
    &["serve", "--bind", "127.0.0.1:0"],
    &["sync", "--server", "https://team.example.com", "--token-file", "../token", "--project", "p"],
    &["proxy", "--upstream", "https://api.example.com", "--bind", "127.0.0.1:0"],
    &["ui"],
    &["mcp"],
    &["config", "show"],
    &["bug"],
    &["upgrade"],
    &["uninstall", "--yes"],
    &["completions", "bash"],
    &["man"],
    &["help"],
];

/// The commands that use the network without any setting. They must be seen to do so, which shows that others would be.
const USERS: [&str; 5] = ["fetch", "proxy", "serve", "sync", "ui"];

/// What a client starts, with the event of the hook.
const HOOKS: &[&str] = &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "SessionEnd"];

/// Compiles the program that watches others.
fn watcher(home: &Home) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/network/watch.c");
    let program = home.at("watch");
    let compiled = Command::new("cc").args(["-O1", "-o"]).arg(&program).arg(source).output().unwrap();
    assert!(compiled.status.success(), "{}", said(&compiled));
    program
}

/// Runs a command without a network. Returns the addresses that it used, a line each.
fn used(home: &Home, watcher: &Path, arguments: &[&str]) -> Vec<String> {
    let report = home.at("report");
    let alone = ["--user", "--map-root-user", "--net", "--"];
    let watched = [watcher.to_str().unwrap(), report.to_str().unwrap(), WEIR];
    let output = home.command("unshare", &[&alone[..], &watched, arguments].concat()).output().unwrap();
    let noted = fs::read_to_string(&report).unwrap_or_default();
    let _ = fs::remove_file(&report);
    let mut lines: Vec<String> = noted.lines().map(str::to_owned).collect();
    let end = lines.pop().unwrap_or_else(|| panic!("{arguments:?} cannot be watched here: {}", said(&output)));
    // With wrong arguments or a crash, a command has not done what it does. A server was asked to end.
    let code: Option<i32> = end.strip_prefix("exit ").and_then(|code| code.parse().ok());
    let is_done = !lines.is_empty() || code.is_some_and(|code| !matches!(code, 2 | 101 | 120 | 121));
    assert!(is_done, "{arguments:?}: {end}: {}", said(&output));
    lines
}

/// Returns the commands that SECURITY.md says use the network: those in the first column of its table.
fn named() -> BTreeSet<String> {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../SECURITY.md")).unwrap();
    let (_, section) = page.split_once("\n### What uses the network\n").unwrap();
    let rows = section.lines().skip_while(|line| !line.starts_with("| `")).take_while(|line| line.starts_with("| `"));
    let first = rows.filter_map(|row| row.split('|').nth(1));
    first.flat_map(|cell| cell.split('`').skip(1).step_by(2)).filter_map(command_of).collect()
}

fn command_of(words: &str) -> Option<String> {
    words.strip_prefix("weir ")?.split(' ').next().map(str::to_owned)
}

#[test]
fn no_command_uses_the_network_but_those_that_are_named() {
    let home = Home::outside_tmp();
    let watcher = watcher(&home);
    home.write("README.md", "# Port\n\nThe port is 7071.\n");
    home.write("src/lib.rs", "pub fn port() -> u16 {\n    7071\n}\n");
    let token = home.at("token");
    fs::write(&token, format!("weir_{:016}_{:064}", 0, 0)).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    home.git(&["init", "--quiet"]);
    home.git(&["add", "."]);
    home.git(&["commit", "--quiet", "--message", "one"]);
    let help = text(&home.piped(&["--help"]).stdout);
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let listed: BTreeSet<&str> =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next()).collect();
    let tried: BTreeSet<&str> = COMMANDS.iter().filter_map(|words| words.first().copied()).collect();
    assert_eq!(listed, tried, "a command is missing in the table of this test");

    let named = named();
    let unnamed: Vec<&str> = USERS.into_iter().filter(|name| !named.contains(*name)).collect();
    assert!(unnamed.is_empty(), "SECURITY.md does not name {unnamed:?}");
    let (mut users, mut others) = (BTreeSet::new(), Vec::new());
    let hooks = HOOKS.iter().map(|event| vec!["hook", "claude", event]);
    for words in COMMANDS.iter().map(|words| words.to_vec()).chain(hooks) {
        let lines = used(&home, &watcher, &words);
        match words.first() {
            _ if lines.is_empty() => {}
            Some(name) if USERS.contains(name) => drop(users.insert(*name)),
            _ => others.push(format!("weir {}: {}", words.join(" "), lines.join(", "))),
        }
    }
    assert!(others.is_empty(), "these use the network without a setting:\n{}", others.join("\n"));
    let unseen: Vec<&str> = USERS.into_iter().filter(|name| !users.contains(name)).collect();
    assert!(unseen.is_empty(), "the network use of these was not noticed: {unseen:?}");
}
