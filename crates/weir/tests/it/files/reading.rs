//! What reading returns, and when it does not repeat itself.

use serde_json::json;

use super::texts::{fenced, source};
use crate::support::Home;

#[test]
fn a_file_is_read_once_and_then_known() {
    let home = Home::new();
    home.write("src/a.rs", source(3));
    let mut server = home.session("s1");
    let first = server.read("src/a.rs");
    assert!(first.starts_with("src/a.rs: ") && first.contains(" lines, hash "), "{first}");
    assert_eq!(fenced(&first), source(3).trim_end_matches('\n'));
    let again = server.read("src/a.rs");
    assert!(again.starts_with("src/a.rs is unchanged since 20"), "{again}");
    assert!(again.ends_with("to see it again: again=true"), "{again}");
    let forced = server.call("context_read", &json!({ "path": "src/a.rs", "again": true }));
    assert_eq!(fenced(&forced), fenced(&first));
    home.write("src/a.rs", source(4));
    assert_eq!(fenced(&server.read("src/a.rs")), source(4).trim_end_matches('\n'));
    // Another session has not read it.
    assert_eq!(fenced(&home.session("s2").read("src/a.rs")), source(4).trim_end_matches('\n'));
}

#[test]
fn what_a_session_knows_survives_a_restart_and_not_a_compaction() {
    let home = Home::new();
    home.write("a.rs", source(3));
    home.session("s1").read("a.rs");
    assert!(home.session("s1").read("a.rs").contains("is unchanged since"));
    home.hook("other", "PreCompact", &json!({ "trigger": "auto" }));
    // The compaction of a session that has read files concerns only that session; any other may concern all sessions.
    assert_eq!(fenced(&home.session("s1").read("a.rs")), source(3).trim_end_matches('\n'));
    home.session("other").read("a.rs");
    home.hook("other", "PreCompact", &json!({ "trigger": "auto" }));
    assert!(home.session("s1").read("a.rs").contains("is unchanged since"));
    assert_eq!(fenced(&home.session("other").read("a.rs")), source(3).trim_end_matches('\n'));
    let status = home.session("s1").call("context_status", &json!({}));
    assert!(status.contains("active a.rs: "), "{status}");
}

#[test]
fn the_file_before_is_held_as_its_outline() {
    let home = Home::new();
    home.write("a.rs", source(8));
    home.write("b.rs", source(2));
    let mut server = home.session("s1");
    server.read("a.rs");
    let second = server.read("b.rs");
    assert!(second.ends_with("\na.rs is now kept as an outline: see context_peek"), "{second}");
    let status = server.call("context_status", &json!({}));
    let lines: Vec<&str> = status.lines().collect();
    // Both texts are in the conversation, so nothing was saved.
    assert!(lines[0].starts_with("reads: ") && lines[0].ends_with(" without Weir, 0 % saved"), "{status}");
    assert!(lines[1].starts_with("active b.rs: ") && lines[2].starts_with("outlined a.rs: "), "{status}");
    let forgotten = server.call("context_status", &json!({ "forget": "a.rs" }));
    assert_eq!(forgotten, "1 file forgotten; nothing on disk changed");
    assert!(!server.call("context_status", &json!({})).contains("a.rs:"), "only b.rs is left");
    server.call("context_forget", &json!({}));
    assert_eq!(server.call("context_status", &json!({})), "no files were read in this session");
    assert_eq!(fenced(&server.read("b.rs")), source(2).trim_end_matches('\n'));
}

#[test]
fn a_large_file_is_shown_by_its_outline_and_in_parts() {
    let home = Home::new();
    home.write("big.rs", source(200));
    home.write("big.log", (0..20_000).map(|n| format!("line {n} of a log\n")).collect::<String>());
    let mut server = home.session("s1");
    let outline = server.read("big.rs");
    assert!(outline.contains("so this is an outline; lines=10-40 reads a part"), "{outline}");
    assert!(fenced(&outline).contains("add_199"), "{outline}");
    let part = server.call("context_read", &json!({ "path": "big.rs", "lines": "4-5" }));
    assert_eq!(fenced(&part), "pub fn add_0(n: u64) -> u64 {\n    let total: u64 = (0..n).map(|i| i * i).sum();");
    assert!(part.contains("; lines 4-5\n"), "{part}");
    let begin = server.read("big.log");
    assert!(begin.contains("; lines 1-") && begin.contains(", continue with lines="), "{}", &begin[..300]);
    assert!(server.call("context_read", &json!({ "path": "big.log", "lines": "-2" })).contains("line 19999 of a log"));
    assert!(server.call("context_read", &json!({ "path": "big.log", "lines": "90000-" })).contains("no such lines"));
}

#[test]
fn what_does_not_fit_is_said() {
    let home = Home::new();
    home.write("huge.rs", source(900));
    home.write("line.txt", "x = 1; ".repeat(20_000));
    let mut server = home.session("s1");
    let outline = server.read("huge.rs");
    let left = outline.lines().next().unwrap().strip_suffix(" more outline lines not shown");
    let left: usize =
        left.and_then(|head| head.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{outline}"));
    // One line is about the file, and one about each function.
    assert_eq!(fenced(&outline).lines().count() + left, 901);
    let last = fenced(&outline).lines().last().unwrap();
    assert!(last.starts_with("pub fn add_") && last.ends_with("(n: u64) -> u64"), "{last}");
    let line = server.read("line.txt");
    let head = "; only the beginning of line 1, which is too long; process the file with ctx_execute\n<<<";
    assert!(line.contains(head), "{}", &line[..300]);
}

#[test]
fn only_what_was_spared_counts_as_saved() {
    let home = Home::new();
    home.write("a.rs", source(8));
    home.write("b.rs", source(9));
    home.write("big.rs", source(200));
    let mut server = home.session("s1");
    server.call("context_peek", &json!({ "paths": ["b.rs"] }));
    let status = server.call("context_status", &json!({}));
    let peeked = status.lines().next().unwrap();
    assert!(peeked.starts_with("shown as outlines: ") && !status.contains("saved"), "{status}");
    let first = server.read("a.rs");
    let again = server.read("a.rs");
    let outline = server.read("big.rs");
    let status = server.call("context_status", &json!({}));
    let lines: Vec<&str> = status.lines().collect();
    assert!(lines[0].contains(" by 1 read not repeated, ") && lines[0].ends_with(" by 1 outline"), "{status}");
    assert_eq!(lines[1], peeked, "looking at an outline is counted apart");
    // The parts add up to the total.
    let numbers: Vec<usize> = lines[0].split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [given, without, percent, repeated, 1, outlined, 1] = numbers[..] else { panic!("{status}") };
    let expected: usize = [&first, &again, &outline].iter().map(|text| weir_tokens::count(text)).sum();
    assert!(given.abs_diff(expected) <= 40, "{given} for {expected}: {status}");
    assert_eq!(given + repeated + outlined, without, "{status}");
    assert_eq!((without - given) * 100 / without, percent, "{status}");
    // Another session has saved nothing.
    assert_eq!(home.session("s2").call("context_status", &json!({})), "no files were read in this session");
}

#[test]
fn what_is_no_plain_text_is_said() {
    let home = Home::new();
    home.write("a.bin", b"\x7fELF\x00\x00");
    home.write("latin.txt", b"gr\xf6\xdfe\n");
    home.write("dos.txt", "one\r\ntwo\r\n");
    home.write("bare.txt", "no end");
    let mut server = home.session("s1");
    let binary = server.refused("context_read", &json!({ "path": "a.bin" }));
    assert!(binary.contains("a.bin is binary, 6 B") && binary.contains("process it with ctx_execute"), "{binary}");
    assert!(server.read("latin.txt").contains("not UTF-8"));
    home.write("wide.txt", "\u{feff}größe\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let wide = server.read("wide.txt");
    assert!(wide.contains("; UTF-16, which cannot be edited") && fenced(&wide) == "größe", "{wide}");
    let dos = server.read("dos.txt");
    assert!(dos.contains("CRLF") && fenced(&dos) == "one\ntwo", "{dos}");
    assert!(server.read("bare.txt").contains("no newline at the end"));
    assert!(server.refused("context_read", &json!({ "path": "none.txt" })).contains("no such file: none.txt"));
    assert!(server.refused("context_read", &json!({ "path": "." })).contains("is a folder"));
}

#[test]
fn what_was_read_and_changed_is_in_the_history() {
    let home = Home::new();
    home.write("a.rs", source(2));
    let mut server = home.session("s1");
    server.read("a.rs");
    server.call("context_edit", &json!({ "path": "a.rs", "old": "add_0", "new": "sum_0" }));
    server.call("context_write", &json!({ "path": "new/b.rs", "text": "fn b() {}\n" }));
    let history = String::from_utf8(home.weir(&["history"]).stdout).unwrap();
    for told in ["file read a.rs", "file edited a.rs", "file wrote new/b.rs"] {
        assert!(history.contains(told), "{history}");
    }
}
