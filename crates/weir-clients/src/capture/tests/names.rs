//! Tests of the names that are taken from the input of tools.

use serde_json::{Value, json};

use super::{call, hook, used_with};
use crate::capture::{before_compaction, events, names_in};
use crate::{Hook, Point, Tool};

/// Checks the names of the first event of a hook.
fn check(hook: &Hook, expected: &str) {
    let events = events(hook);
    let data: Value = serde_json::from_str(events[0].data.as_deref().unwrap_or("null")).unwrap();
    assert_eq!(data["names"].as_str().unwrap_or_default(), expected, "{events:?}");
}

fn edit(new: &str) -> Hook {
    let input = json!({ "file_path": "/home/dev/project/notes.md", "new_string": new });
    used_with("Edit", Tool::Edit { path: "/home/dev/project/notes.md".into() }, &input, "")
}

fn shell(command: &str) -> Hook {
    used_with("Bash", Tool::Shell { command: command.into() }, &json!({ "command": command }), "")
}

#[test]
fn words_of_prose_with_a_slash_between_them_are_not_names() {
    check(&edit("File/module, Intent/Outcome; insert/update/copy/delete, ReadAll/ListAll \\u2014 end"), "");
    check(
        &edit("see `docs/plans`, \"path/filepath\", cmd/tool/ and src/lib.rs"),
        "docs/plans path/filepath cmd/tool src/lib.rs",
    );
    check(&shell("git diff origin/main && git commit -m 'Fix stash/checkout of /etc/hosts'"), "origin/main /etc/hosts");
    let search = json!({ "pattern": "x", "path": "cmd/tool" });
    let search = call("Grep", Tool::Search { pattern: "x".into() }, &search);
    let Point::AfterTool(_, done) = shell("ls").point else { unreachable!() };
    check(&hook(Point::AfterTool(search, done)), "cmd/tool");
    let said = before_compaction(&edit(""), &["The before/after of `feat/login` is in a/b_test."]);
    assert!(said[0].data.as_deref().unwrap().contains(r#""names":"feat/login a/b_test""#), "{said:?}");
}

#[test]
fn lines_around_a_hit_are_no_files() {
    let found = "src/lib.rs:7:fn parse_it()\nsrc/lib.rs-8-}\nsrc/lib.rs-9-fn\nname-2.txt serde-1.0.2";
    assert_eq!(names_in(&edit(""), found), "src/lib.rs parse_it name-2.txt serde-1.0.2");
}

#[test]
fn the_folder_of_the_session_is_no_name() {
    check(&shell("ls /home/dev/project /home/dev/project/src/bin.rs"), "src/bin.rs");
}

#[test]
fn a_hidden_file_is_named_with_its_dot() {
    check(&shell("cat .planning/notes.md ./.github/ci.yml"), ".planning/notes.md .github/ci.yml");
}
