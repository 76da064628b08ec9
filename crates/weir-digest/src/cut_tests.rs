//! Checks that the kind of an output does not depend on where the sample of its beginning ends.

use crate::sample::Sample;
use crate::{About, read_whole};

/// Returns what the output is called when a sample of `bytes` bytes is examined, or `None` if no kind claims it whole.
fn what(raw: &str, bytes: usize) -> Option<String> {
    let source = raw.as_bytes();
    let sample = Sample::of_size(&source, About::default(), bytes).unwrap();
    read_whole(&source, &sample).unwrap().map(|(_, page)| page.what)
}

/// Checks that the whole output is called `expected`, and that every sample ending within 260 bytes after `least`
/// agrees.
fn check(raw: &str, least: usize, expected: &str) {
    let whole = what(raw, raw.len());
    assert!(whole.as_ref().is_some_and(|whole| whole.starts_with(expected)), "{whole:?}");
    for bytes in least..raw.len().min(least + 260) {
        let end = raw.floor_char_boundary(bytes);
        let ending = &raw[raw.floor_char_boundary(end.saturating_sub(40))..end];
        assert_eq!(what(raw, bytes), whole, "a sample of {bytes} bytes that ends in {ending:?}");
    }
}

/// Returns records of an issue tracker as JSON, separated by `between`.
fn records(count: usize, between: &str) -> String {
    let one = |number: usize| {
        let (state, score) = (["open", "closed"][number % 2], number * 37 % 1_000);
        format!(
            "{{\"id\": {number}, \"title\": \"Größe {number} \\\"x\\\" \\u00e4\", \"state\": \"{state}\", \"score\": -{score}.5e1, \
             \"locked\": {}, \"labels\": [\"a\", \"b\"], \"owner\": null}}",
            number.is_multiple_of(3)
        )
    };
    (0..count).map(one).collect::<Vec<_>>().join(between)
}

#[test]
fn json_is_json_wherever_the_sample_ends() {
    check(&format!("[{}]", records(24, ",")), 2_000, "JSON: ");
    check(&format!("[\n  {}\n]\n", records(24, ",\n  ")), 2_000, "JSON: ");
    check(&format!("[{}]\n", records(24, ",").replace(", ", ",\n    ").replace('}', "\n  }")), 2_000, "JSON: ");
    check(&format!("{{\"items\": [{}]}}", records(24, ",")), 2_000, "JSON: ");
}

#[test]
fn arrays_of_records_of_all_lengths_are_json() {
    for length in 0..150 {
        let record = |number: usize| {
            format!("{{\"id\":{number},\"name\":\"{}\",\"ok\":{}}}", "n".repeat(length % 50), number.is_multiple_of(2))
        };
        let between = [",", ",\n ", ",\n  "][length / 50];
        let raw = format!("[{}]", (0..700).map(record).collect::<Vec<_>>().join(between));
        let said = what(&raw, 32 << 10);
        assert!(said.as_ref().is_some_and(|said| said.starts_with("JSON: ")), "{length}: {said:?}");
    }
}

#[test]
fn lines_of_json_are_records_wherever_the_sample_ends() {
    check(&records(24, "\n"), 2_000, "JSON lines: ");
    // Records so long that the sample holds only two of them.
    let long = |number: usize| format!("{{\"id\": {number}, \"of\": [{}]}}", records(8, ","));
    let raw = (0..12).map(long).collect::<Vec<_>>().join("\n");
    check(&raw, 2_000, "JSON lines: ");
}

#[test]
fn tables_are_tables_wherever_the_sample_ends() {
    let row = |number: usize| format!("{number},\"Größe, {number}\",2026-01-{:02},{}.5\n", number % 28 + 1, number * 7);
    let raw = format!("id,name,date,total\n{}", (0..80).map(row).collect::<String>());
    check(&raw, 1_200, "table of ");
    let row = |number: usize| format!("{number},\"two\nlines \"\"{number}\"\"\",{}\n", number * 7);
    let raw = format!("id,text,total\n{}", (0..80).map(row).collect::<String>());
    check(&raw, 1_200, "table of ");
}

#[test]
fn reports_in_xml_are_reports_wherever_the_sample_ends() {
    let case = |number: usize| {
        format!(
            "  <testcase name=\"test_{number}\" classname=\"a.B\" time=\"0.{number}\"><failure message=\"1 &lt; 2\">\
             <![CDATA[a > b]]></failure></testcase>\n"
        )
    };
    let cases: String = (0..20).map(case).collect();
    let raw =
        format!("<?xml version=\"1.0\"?>\n<!-- a run -->\n<testsuite name=\"a\" tests=\"20\">\n{cases}</testsuite>\n");
    check(&raw, 80, "JUnit report: ");
}

#[test]
fn trees_in_yaml_are_trees_wherever_the_sample_ends() {
    let row = |number: usize| {
        format!(
            "  - row \"Größe {number}\" [ref=e{number}]:\n    - cell \"{number}\"\n    - button \"Buy: now\" [ref=b{number}]\n    - link \"more\":\n      - /url: /a?b={number}\n"
        )
    };
    let raw = format!("- main [ref=e1]:\n{}", (0..30).map(row).collect::<String>());
    check(&raw, 1_000, "accessibility tree: ");
}

#[test]
fn names_between_zero_bytes_are_text_wherever_the_sample_ends() {
    let raw: String = (0..400).map(|number| format!("./übung/größe-{number}.txt\0")).collect();
    for bytes in 2_000..2_100 {
        let said = what(&raw, bytes).unwrap_or_default();
        assert!(!said.starts_with("binary"), "{bytes}: {said}");
    }
}
