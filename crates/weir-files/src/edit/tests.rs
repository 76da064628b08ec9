//! Tests of changes, by their effect on a text.

use proptest::prelude::*;

use super::*;

fn change<'a>(old: &'a str, new: &'a str) -> Edit<'a> {
    Edit { old, new, all: false }
}

fn check(text: &str, wanted: Edit<'_>, expected: Result<&str, EditError>) {
    let made = apply(text.as_bytes(), wanted).map(|made| String::from_utf8(made.bytes).unwrap());
    assert_eq!(made, expected.map(str::to_owned));
}

#[test]
fn a_text_that_is_there_once_is_replaced() {
    check("one two three", change("two", "2"), Ok("one 2 three"));
    check("one two three", change("two ", ""), Ok("one three"));
    check("größe", change("ö", "oe"), Ok("groeße"));
}

#[test]
fn what_is_not_there_once_is_refused() {
    check("a\nb\na\n", change("a", "x"), Err(EditError::Many(vec![1, 3], 2)));
    check("aaa", change("aa", "x"), Err(EditError::Many(vec![1, 1], 2)));
    check("a", change("", "x"), Err(EditError::Empty));
    check("a", change("a", "a"), Err(EditError::Same));
    check("a", change("zebra", "x"), Err(EditError::Absent(None)));
    check("a\nb\na\n", Edit { all: true, ..change("a", "x") }, Ok("x\nb\nx\n"));
    check("aaa", Edit { all: true, ..change("aa", "x") }, Ok("xa"));
}

#[test]
fn lines_that_look_like_it_are_shown() {
    let text = "fn one() {\n    call(1);\n}\n\nfn two(a: u8) {\n    call(2);\n}\n";
    let shown = "5: fn two(a: u8) {\n6:     call(2);";
    check(text, change("fn two(a: u16) {\n    call(2);", "x"), Err(EditError::Absent(Some(shown.to_owned()))));
    let shown = "2:     call(1);";
    check(text, change("\tcall(1);", "x"), Err(EditError::Absent(Some(shown.to_owned()))));
}

#[test]
fn the_files_own_line_ends_are_kept() {
    check("a\r\nb\r\nc\r\n", change("a\nb", "x\ny\nz"), Ok("x\r\ny\r\nz\r\nc\r\n"));
    check("a\r\nb\r\n", change("b", "x\ny"), Ok("a\r\nx\r\ny\r\n"));
    check("a\nb\n", change("a\r\nb", "x\r\ny"), Ok("x\ny\n"));
    // Line ends are kept around a change, too.
    check("a\r\nb\nc\nd\n", change("a\r\nb", "x"), Ok("x\nc\nd\n"));
    check("a\nb\n", change("a\r\n", "a\n"), Err(EditError::Same));
}

#[test]
fn a_file_that_mixes_line_ends_is_changed_as_it_is_shown() {
    let mixed = "a\r\nb\r\nc\nd\ne\nf\n";
    check(mixed, change("a\nb", "x\ny"), Ok("x\r\ny\r\nc\nd\ne\nf\n"));
    check(mixed, change("b\nc\nd", "x"), Ok("a\r\nx\ne\nf\n"));
    check(mixed, change("\nb\n", "\n"), Ok("a\r\nc\nd\ne\nf\n"));
    check("a\r\nb\na\nb\n", change("a\nb", "x"), Err(EditError::Many(vec![1, 3], 2)));
    check("a\r\nb\na\nb\n", Edit { all: true, ..change("a\nb", "x\n") }, Ok("x\r\n\nx\n\n"));
    check("a\r\n\r\nb\r\n", Edit { all: true, ..change("\n", " ") }, Ok("a  b "));
}

#[test]
fn a_whole_text_keeps_the_form_of_the_one_before() {
    for (text, before, expected) in [
        ("a\nb\n", "x\r\ny\r\n", "a\r\nb\r\n"),
        ("a\n", "\u{feff}x\n", "\u{feff}a\n"),
        ("\u{feff}a\n", "\u{feff}x\r\n", "\u{feff}a\r\n"),
        ("", "\u{feff}x\n", ""),
        ("a\n", "", "a\n"),
    ] {
        assert_eq!(in_form_of(text, before.as_bytes()), expected, "{before:?}");
    }
}

#[test]
fn bytes_that_are_no_text_stay() {
    let made = apply(b"\xff one \xfe", change("one", "two")).unwrap();
    assert_eq!(made.bytes, b"\xff two \xfe");
}

proptest! {
    #[test]
    fn what_is_around_a_change_stays(before in "[a-c\n]{0,40}", after in "[a-c\n]{0,40}", new in "[d-f\n]{0,9}") {
        let text = format!("{before}old!{after}");
        let made = apply(text.as_bytes(), change("old!", &new)).unwrap();
        prop_assert_eq!(String::from_utf8(made.bytes.clone()).unwrap(), format!("{before}{new}{after}"));
        let [(was, is)] = &made.places[..] else { panic!() };
        prop_assert_eq!(&text[was.clone()], "old!");
        prop_assert_eq!(&made.bytes[is.clone()], new.as_bytes());
    }

    #[test]
    fn a_text_is_found_at_every_byte_at_which_it_begins(bytes in "[ab\r\n]{0,40}", old in "[ab\r\n]{1,5}") {
        let (bytes, old) = (bytes.as_bytes(), old.as_bytes());
        let splits = |at: usize| old.starts_with(b"\n") && at > 0 && bytes[at - 1..].starts_with(b"\r\n");
        let starts = (0..bytes.len()).filter(|&at| !splits(at));
        let expected: Vec<_> = starts.filter_map(|at| Some(at..at + length_at_start(&bytes[at..], old)?)).collect();
        prop_assert_eq!(find(bytes, old), expected);
    }
}
