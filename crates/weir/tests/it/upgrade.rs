//! Stores of earlier versions. Each release leaves a backup in `fixtures/stores`, and every later version must read it.
//!
//! Until a version is released, `UPDATE_EXPECT=1` writes its backup again.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Home, files_below, text};

const STORES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/stores");
const CHANGES: &str = include_str!("../../../../CHANGELOG.md");

/// Fills the store of a project with something of everything.
fn furnish(home: &Home) {
    let long = format!("Make the pool smaller, {}and keep vermilion_limit", "because it waits, ".repeat(200));
    home.hook("s", "UserPromptSubmit", &json!({ "prompt": long }));
    let output: String = (0..3_000).map(|line| format!("line {line} of amaranth_build\n")).collect();
    let call = json!({
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": "make" },
        "tool_response": { "stdout": output, "stderr": "", "interrupted": false, "isImage": false },
    });
    home.hook("s", "PostToolUse", &call);
    home.note(&["The pool has 8 connections", "--topic", "pool", "--kind", "decision"]);
    home.note(&["The pool has 16 connections", "--topic", "pool", "--kind", "decision"]);
    home.session("s").call("ctx_annotate", &json!({ "text": "Tests need port 7071" }));
}

fn backup_of(version: &str) -> PathBuf {
    Path::new(STORES).join(format!("{version}.weir"))
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what every golden asks, here for a file that is not a text")]
fn a_store_of_every_release_is_read_whole() {
    let version = env!("CARGO_PKG_VERSION");
    let ours = backup_of(version);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        assert!(CHANGES.contains(&format!("## {version}, not released yet")), "{version} is released: keep its store");
        let home = Home::new();
        furnish(&home);
        home.ok(&["backup", "--force", ours.to_str().unwrap()]);
    }
    let backups = files_below(Path::new(STORES));
    assert!(backups.contains(&ours), "no store of {version}: run this test with UPDATE_EXPECT=1");
    for backup in backups {
        let home = Home::new();
        home.ok(&["restore", backup.to_str().unwrap()]);
        for (query, expected) in
            [("16 connections", "(rev 2)"), ("port 7071", "by model"), ("vermilion_limit", "by user")]
        {
            let found = home.ok(&["search", query]);
            assert!(found.contains(expected), "{}: no {expected:?} in:\n{found}", backup.display());
        }
        let found = home.ok(&["search", "amaranth_build"]);
        let reference = found.split_once("[ctx:").unwrap().1.split_once(']').unwrap().0.to_owned();
        let whole = text(&home.piped(&["get", &reference, "--raw"]).stdout);
        assert!(whole.ends_with("line 2999 of amaranth_build\n") && whole.lines().count() == 3_000, "{whole:.200}");
        home.ok(&["note", "A note of the version that reads it"]);
        home.ok(&["doctor", "--deep"]);
    }
}
