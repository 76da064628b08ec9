//! Tests long texts that make a careless tokeniser quadratic.

use std::time::{Duration, Instant};

use weir_tokens::{count, fit};

use crate::reference;

const MEGABYTE: usize = 1_000_000;

/// Far more than an unoptimised build takes on a busy machine; a quadratic algorithm takes minutes or hours.
const MAX_DURATION: Duration = Duration::from_secs(20);

/// Returns texts of this length, each of which is one piece or makes the search for a piece look far ahead.
fn texts(length: usize) -> Vec<String> {
    #[rustfmt::skip]
    let units = [
        "a", "A", "ab", "0", " ", "\t", " \t", "\n", "\r\n", " \n", "=", "-=", "/", "\0", "'s", "  5", "\u{a0}", "\u{301}",
        "中", "中A", "👨\u{200d}",
    ];
    let mut texts: Vec<String> = units.iter().map(|unit| unit.repeat(length / unit.len())).collect();
    texts.push(base64(length));
    texts.push(" ".repeat(length) + "x");
    texts.push("中".to_owned() + &"A".repeat(length));
    texts.push("\u{301}".to_owned() + &"A".repeat(length));
    texts
}

/// Returns characters of base64 without a pattern, the same in every run.
fn base64(length: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = 1u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(ALPHABET[(state >> 58) as usize])
    };
    std::iter::repeat_with(next).take(length).collect()
}

fn opening(text: &str) -> String {
    text.chars().take(12).collect()
}

#[test]
fn a_megabyte_of_anything_is_counted_soon() {
    for unit in ["a", " ", " \t", "=", "中A", "\u{301}"] {
        check_speed(&unit.repeat(MEGABYTE / unit.len()));
    }
    check_speed(&base64(MEGABYTE));
    check_speed(&("中".to_owned() + &"A".repeat(MEGABYTE)));
}

fn check_speed(text: &str) {
    let start = Instant::now();
    assert!(count(text) > 0);
    assert!(start.elapsed() < MAX_DURATION, "{:?} took {:?}", opening(text), start.elapsed());
}

#[test]
fn a_cut_does_not_depend_on_what_is_behind_it() {
    for text in texts(MEGABYTE) {
        let near = &text[..text.floor_char_boundary(128 * 100)];
        assert_eq!(fit(&text, 100), fit(near, 100), "{:?}", opening(&text));
    }
}

/// The reference gives up on very long runs of spaces, so these are shorter.
#[test]
fn long_pieces_count_alike() {
    for text in [1_000, 5_000, 50_000].into_iter().flat_map(texts) {
        assert_eq!(count(&text), reference(&text), "{:?} of {}", opening(&text), text.len());
    }
}
