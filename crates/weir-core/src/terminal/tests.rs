//! Tests what is shown, what is not, and properties of any bytes.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(String::from_utf8_lossy(&clean(text.as_bytes())), expected, "for {text:?}");
    assert_eq!(String::from_utf8_lossy(&by_bytes(text.as_bytes())), expected, "byte by byte, for {text:?}");
}

fn by_bytes(text: &[u8]) -> Vec<u8> {
    in_pieces(text, &[1])
}

fn in_pieces(text: &[u8], lengths: &[usize]) -> Vec<u8> {
    let (mut out, mut cleaner, mut rest) = (Vec::new(), Cleaner::new(), text);
    for length in lengths.iter().cycle() {
        let (now, later) = rest.split_at((*length).min(rest.len()));
        cleaner.push(now, &mut out);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    cleaner.finish(&mut out);
    out
}

#[test]
fn plain_text_is_borrowed() {
    for text in ["", "a\tb\n", "no line end", "größe „x“ 検索 😀\nmore", &"long ".repeat(100_000)] {
        assert!(matches!(clean(text.as_bytes()), Cow::Borrowed(_)), "{}", &text[..text.len().min(20)]);
        check(text, text);
    }
}

#[test]
fn colours_and_other_sequences_go() {
    check("\x1b[1;32mok\x1b[0m\n", "ok\n");
    check("a\x1b[38;5;196mb\x1b[48;2;1;2;3mc\x1b[m", "abc");
    check("\x1b(Ba\x1b)0b\x1b=c\x1b7d\x1bMe", "abcde"); // typos: allow
    check("\x1b]0;a title\x07text", "text");
    check("\x1b]0;a “title”\x1b\\text", "text");
    check("\x1b]8;;https://host\x1b\\link\x1b]8;;\x1b\\ after", "link after");
    check("\x1bP1$r0m\x1b\\a\x1b_x\x1b\\b\x1b^y\x1b\\c\x1bXz\x1b\\d", "abcd");
    check("\x1b[?25l\x1b[2J\x1b[H\x1b[6nx", "x");
    check("a\x07\x00\x0b\x0c\x7f\x0e\x0fb\u{85}\u{9b}c", "abc");
}

#[test]
fn eight_bit_control_characters_act_only_where_they_are_no_characters() {
    let text = b"a\x9b31mb\x9d0;t\x07c \xc3\x9b \xe2\x80\x9c x";
    assert_eq!(clean(text).as_ref(), "abc Û “ x".as_bytes());
    // Bytes that are not UTF-8 stay.
    assert_eq!(clean(b"\xff\xfe\x1b[mz \xe2\x80 \xf0\x9f\x98 y").as_ref(), b"\xff\xfez \xe2\x80 \xf0\x9f\x98 y");
}

#[test]
fn nothing_hides_behind_an_unfinished_sequence() {
    check("\x1b]0;this is visible\nand this\n", "0;this is visible\nand this\n");
    check("\x1b]0;visible at the end", "0;visible at the end");
    check("\x1bPvisible\nx", "visible\nx");
    check("\x1b]0;seen\x1b[31m too\x1b]1;and\n", "0;seen too1;and\n");
    check("\x1b]0;seen\x18 after", "0;seen after");
    check("\x1b[12;3\n4m\n", "12;3\n4m\n");
    check("\x1b\nx\x1b", "\nx");
    let long = "y".repeat(MAX_STRING_BYTES + 1);
    check(&format!("\x1b]52;c;{long}\x07z"), &format!("52;c;{long}z"));
    let digits = "7".repeat(MAX_SEQUENCE_BYTES + 1);
    check(&format!("\x1b[{digits}mz"), &format!("{digits}mz"));
}

#[test]
fn a_carriage_return_overwrites_the_line() {
    check("10%\r20%\r100%\ndone\n", "100%\ndone\n");
    check("a\r\nb\r\n", "a\nb\n");
    check("loading…\rdone", "done");
    check("loading\r", "loading");
    check("loading\r\r\r\n", "loading\n");
    check("loading\r\x1b[K\n", "\n");
    check("loading\r\x1b[2Kdone\n", "done\n");
    check("loading\x1b[2K\x1b[1Gdone\n", "done\n");
    check("half\x1b[K\n", "half\n");
    check("a\rb\x1b]0;t\x07c\n", "bc\n");
}

#[test]
fn a_backspace_takes_a_character_away() {
    check("abc\x08\x08X\n", "aX\n");
    check("ü\x08u“\x08\x08\x08\x08ok\n\x08x", "ok\nx");
    check("line\n\x08\x08next", "line\nnext");
    assert_eq!(clean(b"a\xff\xfe\x08b").as_ref(), b"a\xffb");
}

#[test]
fn a_line_without_end_is_shown_in_pieces() {
    let long = "x".repeat(MAX_LINE_BYTES * 3 + 5);
    check(&format!("{long}\ry\n"), &format!("{}y\n", &long[..MAX_LINE_BYTES * 3]));
    let mut cleaner = Cleaner::new();
    let mut out = Vec::new();
    for _ in 0..1_000 {
        cleaner.push(b"spinning | \rspinning / \r", &mut out);
    }
    assert!(out.is_empty() && cleaner.line.segment.capacity() + cleaner.line.shown.capacity() < 200);
    for _ in 0..10 {
        cleaner.push(&b"\x1b]0;".repeat(50_000), &mut out);
        cleaner.push(&b"\x9b".repeat(50_000), &mut out);
        cleaner.push(long.as_bytes(), &mut out);
    }
    let held = cleaner.line.segment.capacity() + cleaner.line.shown.capacity() + cleaner.parser.held();
    assert!(held < 4 * MAX_LINE_BYTES, "{held}");
}

#[test]
fn a_nul_near_the_beginning_makes_it_binary() {
    assert!(is_binary(b"\x7fELF\x02\x01\x01\x00") && !is_binary("größe\n".as_bytes()) && !is_binary(b""));
    let late = [vec![b'a'; BINARY_HEAD_BYTES], vec![0]].concat();
    assert!(!is_binary(&late) && is_binary(&late[1..]));
}

#[test]
fn utf_16_is_known_by_its_mark() {
    let encode = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        let marked = encode("\u{feff}größe 🐘\n", bytes);
        assert!(is_utf16(&marked));
        assert_eq!(from_utf16(&marked).as_deref(), Some("größe 🐘\n"));
        assert_eq!(from_utf16(&marked[2..]), None);
    }
    // Half a pair of surrogates, and half a unit.
    assert_eq!(from_utf16(b"\xff\xfea\0\x00\xd8b").as_deref(), Some("a\u{fffd}\u{fffd}"));
    assert!(!is_utf16(b"\xff") && !is_utf16(b""));
}

#[rustfmt::skip]
const PIECES: &[&[u8]] = &[
    b"\x1b", b"[", b"]", b"0;", b"31m", b"K", b"2K", b"1G", b"\r", b"\n", b"\r\n", b"\x08", b"\x07", b"\x1b\\", b"\\", b"P", b"_",
    b"(", b"B", b"\x18", b"\x9b", b"\x9c", b"\x9d", b"\x9f", b"\x85", b"\xc2", b"\xc2\x9b", b"\xe2\x80\x9c", b"\xe2", b"\x80",
    b"\xf0\x9f\x98\x80", b"\xf0\x9f", b"\xa0", b"\xff", b"text", b" ", b"\t", b"\0", b"\x7f", "ü".as_bytes(), b"\x1b[1;32m", b"\x1b]8;;x",
];

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        200 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        25 => any::<u8>().prop_map(|byte| vec![byte]),
        3 => (MAX_STRING_BYTES - 3..MAX_STRING_BYTES + 3).prop_map(|length| vec![b'z'; length]),
        1 => (MAX_LINE_BYTES - 3..MAX_LINE_BYTES + 3).prop_map(|length| vec![b'z'; length]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_in_pieces_is_cleaned_as_a_whole(text in any_text(), lengths in prop::collection::vec(1..200_usize, 1..6)) {
        let whole = clean(&text).into_owned();
        prop_assert_eq!(in_pieces(&text, &lengths), whole.clone());
        prop_assert_eq!(by_bytes(&text), whole);
    }

    #[test]
    fn line_ends_stay_and_control_characters_go(text in any_text()) {
        let cleaned = clean(&text);
        let lines = |text: &[u8]| text.iter().filter(|&&byte| byte == b'\n').count();
        prop_assert_eq!(lines(&cleaned), lines(&text));
        prop_assert!(cleaned.iter().all(|&byte| byte >= 0x20 || byte == b'\n' || byte == b'\t'), "{:?}", cleaned);
        prop_assert!(!cleaned.contains(&0x7f));
        prop_assert!(String::from_utf8_lossy(&cleaned).chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
        prop_assert!(cleaned.len() <= text.len());
    }

    #[test]
    fn cleaning_twice_is_cleaning_once(text in any_text()) {
        let cleaned = clean(&text).into_owned();
        prop_assert_eq!(clean(&cleaned).into_owned(), cleaned);
    }

    #[test]
    fn visible_text_is_untouched(text in "[\t\n -~äß“検😀\u{a0}]{0,400}") {
        prop_assert!(matches!(clean(text.as_bytes()), Cow::Borrowed(_)));
    }

    #[test]
    fn visible_text_is_left_when_colours_go(words in prop::collection::vec("[a-zß検 ]{1,9}", 0..30)) {
        let coloured: String = words.iter().map(|word| format!("\x1b[3{}m{word}\x1b[0m\x1b]0;t\x07", word.len() % 8)).collect();
        prop_assert_eq!(clean(coloured.as_bytes()).into_owned(), words.concat().into_bytes());
    }
}
