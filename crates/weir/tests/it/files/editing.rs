//! Changes to files: what is written, and what is refused.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::texts::source;
use crate::support::Home;

#[test]
fn an_edit_answers_with_what_changed() {
    let home = Home::new();
    home.write("a.rs", source(3));
    std::fs::set_permissions(home.project().join("a.rs"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut server = home.session("s1");
    server.read("a.rs");
    let edit = json!({ "path": "a.rs", "old": "add_1(n: u64)", "new": "add_one(n: u64, start: u64)" });
    let answer = server.call("context_edit", &edit);
    let lines: Vec<&str> = answer.lines().collect();
    assert!(lines[0].starts_with("changed 1 occurrence in a.rs, now hash "), "{answer}");
    assert_eq!(lines[1], "@@ -17,3 +17,3 @@");
    assert!(lines.contains(&"-pub fn add_1(n: u64) -> u64 {"), "{answer}");
    assert!(lines.contains(&"+pub fn add_one(n: u64, start: u64) -> u64 {"), "{answer}");
    assert!(answer.contains("outline: - pub fn add_1(n: u64) -> u64; + pub fn add_one("), "{answer}");
    assert_eq!(home.read("a.rs"), source(3).replace("add_1(n: u64)", "add_one(n: u64, start: u64)"));
    let mode = std::fs::metadata(home.project().join("a.rs")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o755);
    // The model knows what it read and what it changed.
    assert!(server.read("a.rs").contains("is unchanged since"));
    let names: Vec<_> = std::fs::read_dir(home.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a.rs"], "nothing is left beside it");
}

#[test]
fn a_file_in_utf_16_keeps_its_encoding() {
    let home = Home::new();
    let wide: Vec<u8> = "\u{feff}one\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    home.write("a.txt", &wide);
    let mut server = home.session("s1");
    server.read("a.txt");
    let edit = server.refused("context_edit", &json!({ "path": "a.txt", "old": "one", "new": "two" }));
    assert!(edit.contains("cannot change a.txt: it is in UTF-16, and Weir writes UTF-8"), "{edit}");
    let write = server.refused("context_write", &json!({ "path": "a.txt", "text": "two\n" }));
    assert!(write.contains("set overwrite=true to write it in UTF-8"), "{write}");
    assert_eq!(std::fs::read(home.project().join("a.txt")).unwrap(), wide);
    server.call("context_write", &json!({ "path": "a.txt", "text": "two\n", "overwrite": true }));
    assert_eq!(home.read("a.txt"), "two\n");
}

#[test]
fn an_edit_that_is_not_exact_is_refused_with_what_helps() {
    let home = Home::new();
    home.write("a.rs", source(3));
    let mut server = home.session("s1");
    let mut refused =
        |old: &str, new: &str| server.refused("context_edit", &json!({ "path": "a.rs", "old": old, "new": new }));
    let many = refused("    drop(total);\n", "");
    assert!(many.contains("`old` occurs 9 times in a.rs: lines 7, 10, 13, ") && many.contains("all=true"), "{many}");
    let near = refused("pub fn add_1(n: u32) -> u64 {", "");
    assert!(near.contains("the most similar lines:\n18: pub fn add_1(n: u64) -> u64 {"), "{near}");
    let none = refused("completely different", "");
    assert!(none.contains("and no lines are similar"), "{none}");
    assert!(refused("", "x").contains("`old` is empty"));
    assert!(refused("n", "n").contains("are the same"));
    assert_eq!(home.read("a.rs"), source(3));
    let all = server.call(
        "context_edit",
        &json!({ "path": "a.rs", "old": "    drop(total);\n", "new": "    drop(total + 1);\n", "all": true }),
    );
    assert!(all.starts_with("changed 9 occurrences in a.rs"), "{all}");
    assert_eq!(home.read("a.rs"), source(3).replace("    drop(total);\n", "    drop(total + 1);\n"));
}

#[test]
fn a_file_that_changed_since_it_was_read_is_not_overwritten() {
    let home = Home::new();
    home.write("a.rs", source(2));
    let mut server = home.session("s1");
    server.read("a.rs");
    home.write("a.rs", format!("{}// someone else\n", source(2)));
    let edit = json!({ "path": "a.rs", "old": "add_0", "new": "sum_0" });
    let refused = server.refused("context_edit", &edit);
    assert!(refused.contains("a.rs has changed since you read it; nothing was written"), "{refused}");
    // Looking at the outline does not count as reading the change.
    server.call("context_peek", &json!({ "path": "a.rs" }));
    server.refused("context_edit", &edit);
    assert!(server.refused("context_write", &json!({ "path": "a.rs", "text": "x" })).contains("you have not read"));
    server.call("context_read", &json!({ "path": "a.rs", "lines": "1-5" }));
    server.call("context_edit", &edit);
    assert!(home.read("a.rs").ends_with("// someone else\n") && home.read("a.rs").contains("sum_0"));
    // A session that knows the text need not have read it here.
    let mut other = home.session("s2");
    other.call("context_edit", &json!({ "path": "a.rs", "old": "sum_0", "new": "add_0" }));
    server.refused("context_edit", &json!({ "path": "a.rs", "old": "add_1", "new": "sum_1" }));
}

#[test]
fn line_ends_and_bytes_of_the_file_are_kept() {
    let home = Home::new();
    home.write("dos.txt", "one\r\ntwo\r\nthree\r\n");
    home.write("latin.txt", b"gr\xf6\xdfe\nsize\n");
    let mut server = home.session("s1");
    server.call("context_edit", &json!({ "path": "dos.txt", "old": "one\ntwo", "new": "1\n2\n2.5" }));
    assert_eq!(home.read("dos.txt"), "1\r\n2\r\n2.5\r\nthree\r\n");
    server.call("context_edit", &json!({ "path": "latin.txt", "old": "size", "new": "größe" }));
    assert_eq!(std::fs::read(home.project().join("latin.txt")).unwrap(), b"gr\xf6\xdfe\ngr\xc3\xb6\xc3\x9fe\n");
    server.read("dos.txt");
    server.call("context_write", &json!({ "path": "dos.txt", "text": "a\nb\n" }));
    assert_eq!(home.read("dos.txt"), "a\r\nb\r\n");
    home.write("bom.cs", "\u{feff}class A {}\r\n");
    server.read("bom.cs");
    server.call("context_write", &json!({ "path": "bom.cs", "text": "class B {}\n" }));
    assert_eq!(home.read("bom.cs"), "\u{feff}class B {}\r\n");
}

#[test]
fn a_file_is_made_with_its_folders_and_replaced_only_when_known() {
    let home = Home::new();
    home.write("old.txt", "precious\n");
    let mut server = home.session("s1");
    let made = server.call("context_write", &json!({ "path": "src/deep/new.rs", "text": "fn a() {}\nfn b() {}\n" }));
    assert!(made.starts_with("src/deep/new.rs created: 2 lines, 20 B, hash "), "{made}");
    assert_eq!(home.read("src/deep/new.rs"), "fn a() {}\nfn b() {}\n");
    let again = server.call("context_write", &json!({ "path": "src/deep/new.rs", "text": "fn a() {}\nfn c() {}\n" }));
    assert!(again.starts_with("src/deep/new.rs replaced (+1 -1 lines): 2 lines"), "{again}");
    let refused = server.refused("context_write", &json!({ "path": "old.txt", "text": "gone" }));
    assert!(refused.contains("old.txt has content that you have not read") && refused.contains("overwrite=true"));
    assert_eq!(home.read("old.txt"), "precious\n");
    server.call("context_write", &json!({ "path": "old.txt", "text": "gone", "overwrite": true }));
    assert_eq!(home.read("old.txt"), "gone");
    server.read("old.txt");
    server.call("context_write", &json!({ "path": "old.txt", "text": "" }));
    assert_eq!(home.read("old.txt"), "");
}

#[test]
fn the_outline_says_when_a_file_no_longer_parses() {
    let home = Home::new();
    home.write("a.rs", source(3));
    let answer = home.session("s1").call(
        "context_edit",
        &json!({ "path": "a.rs", "old": "pub fn add_2(n: u64) -> u64 {", "new": "pub fn add_2(n: u64 -> {{" }),
    );
    assert!(answer.contains("the file no longer parses completely"), "{answer}");
}
