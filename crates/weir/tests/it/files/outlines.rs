//! Outlines, as a tool and as a command.

use serde_json::{Value, json};

use super::texts::{fenced, source};
use crate::support::Home;

#[test]
fn several_files_are_outlined_in_one_call() {
    let home = Home::new();
    home.write("a.rs", source(8));
    home.write("b.rs", source(9));
    home.write("notes.xyz", (0..40).map(|n| format!("note {n}\n")).collect::<String>());
    let mut server = home.session("s1");
    let one = server.call("context_peek", &json!({ "path": "a.rs" }));
    assert!(one.starts_with("a.rs:\n<<<") && fenced(&one).contains("add_7(n: u64) -> u64"), "{one}");
    assert!(!one.contains("println"), "{one}");
    let all =
        server.call("context_peek", &json!({ "paths": ["a.rs", "b.rs", "notes.xyz", "none.rs"], "level": "minimal" }));
    assert!(all.contains("b.rs:\n<<<") && all.contains("error: no such file: none.rs"), "{all}");
    assert!(all.contains("notes.xyz: 40 lines, 310 B, no outline; beginning only") && all.contains("note 11"), "{all}");
    // Looking at an outline does not count as reading: the text is still given on request.
    assert_eq!(fenced(&server.read("a.rs")), source(8).trim_end_matches('\n'));
    let status = server.call("context_status", &json!({}));
    assert!(status.contains("outlined b.rs: ") && status.contains("peeked notes.xyz: "), "{status}");
}

#[test]
fn a_level_that_is_not_the_one_asked_for_is_said() {
    let home = Home::new();
    let documented =
        "/// Adds one, and says so to everyone who wants to know about it.\nfn add(n: u64) -> u64 {\n    n + 1\n}\n";
    home.write("a.rs", documented.repeat(3));
    let mut server = home.session("s1");
    let shown = server.call("context_peek", &json!({ "path": "a.rs", "level": "verbose" }));
    let head = shown.lines().next().unwrap();
    assert!(head.contains("shown as ") || head.contains("the file itself"), "{shown}");
    home.write("b.rs", source(8));
    let shown = server.call("context_peek", &json!({ "path": "b.rs", "level": "minimal" }));
    assert!(shown.starts_with("b.rs:\n"), "{shown}");
}

#[test]
fn a_file_whose_outline_is_not_shorter_is_shown_as_far_as_it_fits() {
    let home = Home::new();
    home.write("api.h", (0..3_000).map(|n| format!("void call_{n}(int a);\n")).collect::<String>());
    home.write("small.h", "void call(int a);\n");
    let mut server = home.session("s1");
    let shown = server.call("context_peek", &json!({ "path": "api.h" }));
    let (head, _) = shown.split_once("\n<<<").unwrap();
    let why = " of 3000 lines, since an outline would not be shorter, read more with context_read lines";
    assert!(head.starts_with("api.h: lines 1-") && head.ends_with(why), "{head}");
    assert!(weir_tokens::count(&shown) < 6_200, "{head}");
    assert!(fenced(&shown).ends_with("(int a);"), "{head}");
    let small = server.call("context_peek", &json!({ "path": "small.h" }));
    assert!(small.starts_with("small.h: whole file, since an outline would not be shorter\n<<<"), "{small}");
}

#[test]
fn the_command_shows_the_same() {
    let home = Home::new();
    home.write("a.rs", source(8));
    let output = home.weir(&["outline", "a.rs", "--level", "minimal"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("add_7") && !text.contains("println"), "{text}");
    let data: Value = serde_json::from_slice(&home.weir(&["outline", "a.rs", "--json"]).stdout).unwrap();
    let file = &data["files"][0];
    assert_eq!(
        (&file["path"], &file["language"], &file["level"]),
        (&json!("a.rs"), &json!("rust"), &json!("standard"))
    );
    assert!(file["outline_tokens"].as_u64() < file["tokens"].as_u64(), "{file}");
    assert_eq!(home.weir(&["outline", "none.rs"]).status.code(), Some(3));
}
