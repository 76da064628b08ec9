//! Hostile files, and files cut off anywhere: no panic, no endless work, never longer than the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use weir_outline::{Item, LANGUAGES, Language, Level, outline, show};

/// A debug build on a busy machine needs a second per megabyte; endless work takes longer than this.
const MAX_SECONDS: u64 = 20;

fn named(name: &str) -> &'static Language {
    LANGUAGES.iter().find(|language| language.name() == name).unwrap()
}

fn sample(language: &Language) -> String {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/languages").join(language.name());
    let mut samples = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sample = samples.find(|path| path.file_stem().is_some_and(|name| name == "sample")).unwrap();
    fs::read_to_string(sample).unwrap()
}

fn check(language: &'static Language, text: &str, what: &str) {
    let start = Instant::now();
    if let Ok(outline) = outline(language, text) {
        for level in [Level::Minimal, Level::Standard, Level::Verbose] {
            let shown = show(&outline, text, level);
            assert!(weir_tokens::count(&shown.text) <= weir_tokens::count(text), "{} {what}: longer", language.name());
        }
        for item in &outline.items {
            assert!(item.bytes.end <= text.len() && item.lines.0 <= item.lines.1, "{} {what}", language.name());
        }
    }
    let took = start.elapsed().as_secs();
    assert!(took < MAX_SECONDS, "{} {what}: {took} s", language.name());
}

#[test]
fn a_file_cut_off_anywhere_is_outlined() {
    for language in LANGUAGES {
        let sample = sample(language);
        for at in (0..sample.len()).step_by(41) {
            check(language, &sample[..sample.floor_char_boundary(at)], "cut at its end");
            check(language, &sample[sample.ceil_char_boundary(at)..], "cut at its beginning");
        }
    }
}

#[test]
fn a_file_with_lines_in_any_order_is_outlined() {
    for language in LANGUAGES {
        let sample = sample(language);
        let mut lines: Vec<&str> = sample.lines().collect();
        for round in 0..8 {
            lines.rotate_left(7);
            let half = lines.len() / 2;
            lines[..half].reverse();
            check(language, &lines.join("\n"), &format!("in order {round}"));
        }
    }
}

#[test]
fn brackets_without_end_are_outlined() {
    for language in LANGUAGES {
        for open in
            ["(", "[", "{", "<", "\"", "`", "/*", "a.b(", "fn a() {", "class A {", "if a {", "use a::{", "- ", "#"]
        {
            check(language, &open.repeat(1_500), open);
        }
    }
}

#[test]
fn what_is_nested_very_deeply_is_outlined() {
    let pairs = [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("pub use a::{", "}"),
        ("mod a { ", "}"),
        ("class A { ", "}"),
        ("namespace a { ", "}"),
        ("{\"a\": ", "}"),
        ("<div>", "</div>"),
        ("f(", ")"),
        ("interface A { a: ", "}"),
        ("a: [", "]"),
    ];
    for language in LANGUAGES {
        for (open, close) in pairs {
            let nested = format!("{}{}", open.repeat(1_500), close.repeat(1_500));
            check(language, &nested, open);
            check(language, &format!("export const x = {nested}"), open);
        }
    }
}

#[test]
fn stairs_are_outlined_or_refused() {
    for language in LANGUAGES {
        for line in ["if a:", "a:", "- a", "? a", "def a", "object A", "do", "{", "\"${a", "<<-A"] {
            for steps in [120, 140, 400] {
                let stairs: String = (0..steps).map(|n| format!("{}{line}\n", " ".repeat(n))).collect();
                check(language, &stairs, line);
            }
            check(language, &format!("{line} ").repeat(2_000), line);
        }
    }
}

#[test]
fn odd_texts_are_outlined() {
    let odd = ["", "\n", "\u{feff}", "\0\0\0", "é", "\r\n\r\n", "#!", "'", "<<<<<<< a\n=======\n>>>>>>> b\n"];
    let odd = odd.into_iter().chain(["[1,\u{a0}2]", "[\u{b}\u{c}\u{85}", "{\"a\":\u{2003}[\u{a0}]}"]);
    for language in LANGUAGES {
        odd.clone().for_each(|text| check(language, text, &format!("{text:?}")));
        check(language, &"x".repeat(300_000), "one long word");
        check(language, &"x = 1; ".repeat(30_000), "one long line");
    }
}

#[test]
fn many_different_links_are_outlined() {
    let links: String = (0..60_000).map(|n| format!("[a](page{n})\n\n")).collect();
    check(named("markdown"), &links, "many links");
}

#[test]
fn an_outline_without_items_gives_way_to_the_file() {
    let text = "describe 'a queue' do\n  it 'is empty' do\n    expect(queue).to be_empty\n  end\nend\n".repeat(20);
    let outline = outline(named("ruby"), &text).unwrap();
    assert!(outline.items.is_empty());
    assert_eq!(show(&outline, &text, Level::Standard).text, text);
}

#[test]
fn a_byte_order_mark_changes_nothing() {
    let render = |language: &'static Language, text: &str| outline(language, text).unwrap().render(Level::Verbose);
    for language in ["rust", "python", "sql", "json", "markdown"].map(named) {
        let sample = sample(language);
        assert_eq!(render(language, &sample), render(language, &format!("\u{feff}{sample}")));
    }
    let header = "\u{feff}#pragma once\nstatic inline int f(void) { return 1; }\nint g(void);\n";
    let items = outline(named("c"), header).unwrap().items;
    assert!(items.len() == 2 && items.iter().all(Item::is_offered), "{items:?}");
}
