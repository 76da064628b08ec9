//! Tests that counts equal those of the reference, for all kinds of text.

use proptest::prelude::*;
use weir_tokens::count;

use crate::{TEXTS, reference, strings};

#[track_caller]
fn check(text: &str) {
    assert_eq!(count(text), reference(text), "{text:?}");
}

#[test]
fn nothing_is_no_token() {
    assert_eq!(count(""), 0);
}

#[test]
fn texts_count_alike() {
    for text in TEXTS {
        check(text);
        check(&text.replace('\n', "\r\n"));
        check(&text.to_uppercase());
        check(&text.escape_unicode().to_string());
    }
}

#[test]
fn lines_and_halves_of_lines_count_alike() {
    for line in TEXTS.iter().flat_map(|text| text.lines()) {
        check(line);
        let (left, right) = line.split_at(line.floor_char_boundary(line.len() / 2));
        check(left);
        check(right);
    }
}

#[test]
fn special_tokens_are_text() {
    check("<|endoftext|>");
    assert!(count("<|endoftext|>") > 1);
}

#[test]
fn contractions_count_alike_in_every_case() {
    for tail in
        ["s", "S", "ſ", "t", "T", "re", "Re", "RE", "ve", "vE", "m", "M", "ll", "lL", "d", "D", "l", "r", "\u{212a}"]
    {
        for head in ["it", "IT", "I", "中", "\u{301}", "é", "1", " ", "", "x "] {
            for end in ["", "x", " x", "'s", "\n"] {
                check(&format!("{head}'{tail}{end}"));
            }
        }
    }
}

/// If this fails after an update, the two crates have different versions of Unicode.
#[test]
fn every_assigned_character_counts_alike() {
    let assigned = ('\0'..='\u{323af}').chain('\u{e0000}'..='\u{e01ef}');
    // Contexts in which a letter, a mark, a number, a space and a symbol split the ASCII around them differently.
    let texts: Vec<_> = assigned.map(|character| format!("a{character}'s1{character}23 {character}\n!\n")).collect();
    for chunk in texts.chunks(256) {
        if count(&chunk.concat()) != reference(&chunk.concat()) {
            chunk.iter().for_each(|text| check(text));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nasty_strings_count_alike(text in strings::nasty()) {
        check(&text);
    }

    #[test]
    fn arbitrary_strings_count_alike(text in strings::arbitrary()) {
        check(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn repeated_strings_count_alike(text in strings::repeated()) {
        check(&text);
    }

    #[test]
    fn endless_words_count_alike(text in strings::endless()) {
        check(&text);
    }
}
