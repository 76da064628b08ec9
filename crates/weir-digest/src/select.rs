//! Selects values from a structured output: by a path in JSON, by columns in separated values.
//!
//! Invariants: the output is read once, with bounded memory; a request for something that is missing is answered with
//! what is available; nothing in a value or a name can break out of its line.

mod csv;
mod json;
mod path;

use std::io;

use weir_core::wording::one_line;

use crate::Source;

/// Which of the values found are wanted, counted from 1, and the maximum number of bytes.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub first: u64,
    pub last: u64,
    /// The maximum number of bytes.
    pub room: usize,
}

/// The values found, one line each.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Selected {
    /// What they are: `values`, `rows`.
    pub unit: &'static str,
    /// A line that describes them, such as the names of the columns.
    pub head: Option<String>,
    pub lines: Vec<String>,
    pub total: u64,
}

/// The reason why nothing was selected.
#[derive(Debug, thiserror::Error)]
pub enum NotSelected {
    /// The output is neither JSON nor separated values.
    #[error("this output is neither JSON nor separated values")]
    NoStructure,
    #[error("the JSON cannot be read: {0}")]
    Damaged(String),
    /// The request is not a path or a list of columns.
    #[error("`{0}` is neither a path nor a list of columns")]
    NoPath(String),
    /// The output does not have what was asked for.
    #[error("no `{wanted}` here; available: {there}")]
    NotThere {
        /// The name that was not found.
        wanted: String,
        /// The names that are available.
        there: String,
    },
    /// The output could not be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// Selects the values at `what` that `keep` accepts: `items[3].name`, `/items/3/name`, `items[].name`, several fields
/// as `items[].{name,total}` or `items[].name,items[].total`, in JSON or in one JSON value per line; `name,total` in
/// separated values.
pub fn select(
    source: &dyn Source,
    what: &str,
    wanted: Wanted,
    keep: &dyn Fn(&str) -> bool,
) -> Result<Selected, NotSelected> {
    let out = Collector { wanted, keep, room: wanted.room, selected: Selected::default() };
    match first_byte(source)? {
        Some(b'{' | b'[') => {
            let joined = path::joined(what);
            json::select(source, &path::parse(joined.as_deref().unwrap_or(what))?, out)
        }
        Some(_) => csv::select(source, what, out),
        None => Err(NotSelected::NoStructure),
    }
}

/// Returns the first byte that is not white space.
fn first_byte(source: &dyn Source) -> io::Result<Option<u8>> {
    let mut input = source.open()?;
    loop {
        let piece = input.fill_buf()?;
        let length = piece.len();
        match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
            Some(&byte) => return Ok(Some(byte)),
            None if length == 0 => return Ok(None),
            None => input.consume(length),
        }
    }
}

/// Collects the wanted values and counts the others.
struct Collector<'a> {
    wanted: Wanted,
    keep: &'a dyn Fn(&str) -> bool,
    room: usize,
    selected: Selected,
}

impl Collector<'_> {
    fn push(&mut self, line: String) {
        let line = in_one_line(line);
        if !(self.keep)(&line) {
            return;
        }
        self.selected.total += 1;
        let number = self.selected.total;
        if number < self.wanted.first || number > self.wanted.last {
            return;
        }
        match self.room.checked_sub(line.len() + 1) {
            Some(left) => {
                self.room = left;
                self.selected.lines.push(line);
            }
            // A value after one that did not fit must not be shown as if it were the next.
            None => self.room = 0,
        }
    }
}

/// Escapes the control characters of a line, which keeps it one line and leaves nothing for a terminal to act on. Tabs
/// stay, since they separate values.
fn in_one_line(line: String) -> String {
    let acts = |c: char| c.is_control() && c != '\t';
    if !line.contains(acts) {
        return line;
    }
    let mut written = String::with_capacity(line.len() + 8);
    for c in line.chars() {
        match c {
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            c if acts(c) => written.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => written.push(c),
        }
    }
    written
}

/// Joins names for a message, limited in number and length.
fn some_names<'n>(names: impl Iterator<Item = &'n str>, total: usize) -> String {
    const MAX_NAMES: usize = 30;
    const MAX_NAME_BYTES: usize = 80;
    let shown: Vec<String> = names.take(MAX_NAMES).map(|name| one_line(name, MAX_NAME_BYTES)).collect();
    let more = total.saturating_sub(shown.len());
    let names = shown.join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn selected(text: &str, what: &str) -> String {
        let bytes = text.as_bytes();
        let wanted = Wanted { first: 1, last: 5, room: 400 };
        match select(&bytes, what, wanted, &|_| true) {
            Ok(found) => {
                let head = found.head.map(|head| format!("{head}\n")).unwrap_or_default();
                format!("{} {}\n{head}{}", found.total, found.unit, found.lines.join("\n"))
            }
            Err(error) => format!("error: {error}"),
        }
    }

    const ORDERS: &str =
        r#"{"page": 1, "items": [{"id": 7, "lines": [{"sku": "a/b"}]}, {"id": 8, "lines": []}], "a/b": {"": true}}"#;

    #[test]
    fn a_path_leads_to_a_value_or_to_what_is_in_it() {
        expect!["1 values\n1"].assert_eq(&selected(ORDERS, "page"));
        expect![[r#"
            2 values
            id: 8
            lines: []"#]]
        .assert_eq(&selected(ORDERS, "/items/1"));
        expect!["1 values\n\"a/b\""].assert_eq(&selected(ORDERS, "$.items[0].lines[0].sku"));
        expect!["1 values\ntrue"].assert_eq(&selected(ORDERS, "/a~1b/"));
        expect!["2 values\n7\n8"].assert_eq(&selected(ORDERS, "items[].id"));
        expect![[r#"
            3 values
            page: 1
            items: [{"id":7,"lines":[{"sku":"a/b"}]},{"id":8,"lines":[]}]
            a/b: {"":true}"#]]
        .assert_eq(&selected(ORDERS, "."));
    }

    #[test]
    fn several_fields_are_one_object() {
        let issues = r#"[{"number": 7, "title": "a", "body": "x"}, {"title": "b", "number": 8}, {"number": 9}]"#;
        let both = expect![[r#"
            3 values
            {"number":7,"title":"a"}
            {"number":8,"title":"b"}
            {"number":9}"#]];
        both.assert_eq(&selected(issues, "[].{number,title}"));
        both.assert_eq(&selected(issues, "[].number, [].title"));
        expect!["error: no `id, state` here; available: number, title, body"]
            .assert_eq(&selected(issues, "[].{id,state}"));
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        expect!["error: no `name` here; available: id, lines"].assert_eq(&selected(ORDERS, "items[0].name"));
        expect!["error: no `9` here; available: 0 to 1"].assert_eq(&selected(ORDERS, "items[9]"));
        expect!["error: no `x` here; available: a number and nothing in it"].assert_eq(&selected(ORDERS, "page.x"));
        expect!["error: the JSON cannot be read: EOF while parsing a list at line 1 column 11"]
            .assert_eq(&selected("{\"a\": [1, 2", "a"));
        expect!["error: no `sum` here; available: id, total"].assert_eq(&selected("id,total\n1,2\n3,4\n", "id,sum"));
        expect!["error: this output is neither JSON nor separated values"]
            .assert_eq(&selected("just a sentence\nand another\n", "id"));
    }

    #[test]
    fn one_value_per_line_is_taken_line_by_line() {
        expect![[r#"
            2 values
            1
            {"b":3}"#]]
        .assert_eq(&selected("{\"a\": 1}\n{\"b\": 2}\n{\"a\": {\"b\": 3}}\n", "a"));
    }

    #[test]
    fn columns_are_taken_by_name_or_number() {
        let text = "id;name;note\n1;ann;\"a;b\"\n2;\"bob\nby\";x\n";
        expect![[r#"
            2 rows
            name;note
            ann;"a;b"
            "bob\nby";x"#]]
        .assert_eq(&selected(text, "NAME, 3"));
    }

    #[test]
    fn columns_are_found_in_a_text_that_is_not_utf8() {
        let bytes: &[u8] = b"id;gr\xf6\xdfe\n1;3\n";
        let found = select(&bytes, "id", Wanted { first: 1, last: 5, room: 400 }, &|_| true).unwrap();
        assert_eq!(found.lines, ["1"]);
    }

    #[test]
    fn nothing_leaves_its_line() {
        let keys = r#"{"a\n<<<b": "c\nd", "\u001b[2Je": 1, "f\"g": 2, "\u009bh": "\u009bi\u007f"}"#;
        expect![[r#"
            4 values
            "a\n<<<b": "c\nd"
            "\u001b[2Je": 1
            "f\"g": 2
            "\u009bh": "\u009bi\u007f""#]]
        .assert_eq(&selected(keys, ""));
        expect![[r#"error: no `x` here; available: a <<<b,  [2Je, f"g,  h"#]].assert_eq(&selected(keys, "x"));
        expect![[r#"
            3 rows
            id,"a\n<<<b"
            1,"c\r\nd"
            2,"\u001b[2Je"
            3,"\u009bf""#]]
        .assert_eq(&selected("id,\"a\n<<<b\"\n1,\"c\r\nd\"\n2,\u{1b}[2Je\n3,\u{9b}f\n", ""));
        expect!["error: no `c` here; available: id, a <<<b"].assert_eq(&selected("id,\"a\n<<<b\"\n1,2\n", "c"));
        expect![[r#"
            1 rows
            id	"a\n	b"
            1	"c	d""#]]
        .assert_eq(&selected("id\t\"a\n\tb\"\n1\t\"c\td\"\n", ""));
        let long = "x".repeat(100);
        assert_eq!(some_names([long.as_str()].into_iter(), 1), format!("{}…", &long[..80]));
    }

    #[test]
    fn no_more_is_shown_than_is_wanted_and_all_is_counted() {
        let text = format!("[{}]", (0..1000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
        expect!["1000 values\n0\n1\n2\n3\n4"].assert_eq(&selected(&text, "[]"));
        expect!["2 values\n"].assert_eq(&selected(&format!("[\"{}\", 1]", "x".repeat(500)), ""));
    }
}
