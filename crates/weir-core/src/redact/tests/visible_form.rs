//! Tests that a visible secret is removed, whatever is between its bytes.

use proptest::prelude::*;

use super::super::class::{ALNUM, BASE64};
use super::super::{Redactor, redact};
use super::properties::piece;
use super::{check, fake};
use crate::terminal;

/// Returns a token whose body is none of those in random texts.
fn token() -> String {
    format!("gh{}_{}", "p", fake(ALNUM, 36).chars().rev().collect::<String>())
}

/// Returns the token with `between` at `at`.
fn interrupted(at: usize, between: &str) -> String {
    let (before, after) = (&token()[..at], &token()[at..]);
    format!("{before}{between}{after}")
}

/// Sequences that take no space between two characters of a text.
const UNSEEN: &[&str] = &[
    "\x1b[m\x1b[K", "\x1b[01;31m", "\x1b]8;;https://host\x1b\\", "\x1b(B", "\0", "\x07", "x\x08", "é\x08",
    "xyz\x08\x08\x08", "x\x08 \x08", "\u{9b}", "\u{200b}", "\u{ad}", "\u{feff}", "\u{2060}",
];

#[test]
fn a_token_is_found_whatever_interrupts_it_unseen() {
    for between in UNSEEN {
        for at in [1, 3, 4, 5, 20, 39] {
            let token = interrupted(at, between);
            check(&format!("the token {token}\nis here"), "the token [redacted:github-pat]\nis here");
        }
        let every: String = token().chars().flat_map(|c| [c.to_string(), (*between).to_owned()]).collect();
        let shown = redact(every.as_bytes()).text.into_owned();
        assert!(shown.starts_with(b"[redacted:github-pat]"), "{between:?} after every character");
    }
}

#[test]
fn what_matched_is_found_as_grep_colours_it() {
    let coloured = format!("token \x1b[01;31m\x1b[Kgh{}_\x1b[m\x1b[K{}\n", "p", fake(ALNUM, 36));
    check(&coloured, "token \x1b[01;31m\x1b[K[redacted:github-pat]\n");
    let overstruck: String = token().chars().map(|c| format!("{c}\x08{c}")).collect();
    // The last character is written twice, and the first copy stays as what the backspace deletes.
    let shown = redact(overstruck.as_bytes()).text.into_owned();
    assert_eq!(terminal::clean(&shown), b"[redacted:github-pat]".as_slice());
}

#[test]
fn values_and_keys_are_found_in_colour() {
    let secret = fake(ALNUM, 24);
    check(
        &format!("\x1b[34mapi_key\x1b[0m: \x1b[32m{secret}\x1b[0m\n"),
        "\x1b[34mapi_key\x1b[0m: \x1b[32m[redacted:generic-secret]\x1b[0m\n",
    );
    check(
        "\x1b[34mpassword\x1b[0m=\x1b[32m\"hunter2\"\x1b[0m\n",
        "\x1b[34mpassword\x1b[0m=\x1b[32m\"[redacted:password]\"\x1b[0m\n",
    );
    let line = |number: usize| format!("\x1b[38;5;238m{number:4} \x1b[0m\x1b[38;5;186m{}\x1b[0m\n", fake(BASE64, 64));
    let text = format!(
        "\x1b[1m-----BEGIN PRIVATE KEY-----\x1b[0m\n{}{}\x1b[1m-----END PRIVATE KEY-----\x1b[0m\n",
        line(2),
        line(3)
    );
    assert!(!contains(&redact(text.as_bytes()).text, fake(BASE64, 64).as_bytes()));
}

#[test]
fn a_token_written_with_numbers_is_found() {
    let body = fake(ALNUM, 36);
    for underscore in ["%5F", "%5f", "\\u005f", "\\u005F"] {
        check(&format!("a=gh{}{underscore}{body}&b", "p"), "a=[redacted:github-pat]&b");
    }
    check("100%5 and %5Fast and \\u005xyz and C:\\user", "100%5 and %5Fast and \\u005xyz and C:\\user");
}

/// PHP writes every slash in JSON like this.
#[test]
fn a_secret_with_escaped_slashes_is_found() {
    check(
        r#"{"url":"mysql:\/\/me:geheim7x@localhost\/app","home":"\/root"}"#,
        r#"{"url":"mysql:\/\/me:[redacted:url-password]@localhost\/app","home":"\/root"}"#,
    );
    let half = fake(ALNUM, 19);
    check(
        &format!(r#"{{"aws_secret_access_key":"{half}\/+{half}"}}"#),
        r#"{"aws_secret_access_key":"[redacted:aws-secret-key]"}"#,
    );
    check(r"a\/b and s/\/usr/\/opt/ and \\/", r"a\/b and s/\/usr/\/opt/ and \\/");
}

#[test]
fn a_token_that_was_erased_is_found() {
    let token = token();
    let mark = "[redacted:github-pat]";
    for after in ["\rdone\n", "\x1b[2K\rdone\n", "\x1b[1Gdone\n"] {
        check(&format!("get {token}{after}"), &format!("get {mark}{after}"));
    }
    let erased = "\x08".repeat(40);
    check(&format!("get {token}{erased}done\n"), &format!("get {mark}{erased}done\n"));
    for before in ["progress 10%\r", "progress\x1b[2K", "progress\x1b[1G"] {
        check(&format!("{before}{token}\n"), &format!("{before}{mark}\n"));
    }
}

#[test]
fn a_token_after_a_written_colour_is_found() {
    let token = token();
    for colour in ["\\u001b[32m", "\\x1b[1;32m", "\\033[0m", "\\e[m"] {
        check(&format!("{{\"out\":\"{colour}{token}\"}}"), &format!("{{\"out\":\"{colour}[redacted:github-pat]\"}}"));
    }
}

#[test]
fn a_secret_after_much_plain_text_is_found() {
    let token = interrupted(10, "\x1b[m");
    for length in [0, 100, 4_000, 9_000, 300_000] {
        for filler in ["plain words of a log\n", "x"] {
            let text = filler.repeat(length / filler.len());
            check(&format!("{text} {token}\n{text}"), &format!("{text} [redacted:github-pat]\n{text}"));
        }
    }
}

#[test]
fn memory_is_bounded_however_much_is_unseen() {
    for piece in ["\0", "a\0\0\0\0\0\0\0\0\0\0\0\0", "eyJ\0", "<private>\0"] {
        let mut redactor = Redactor::new();
        let text = piece.repeat((64 << 10) / piece.len());
        let most = (0..18).map(|_| {
            redactor.push_to(text.as_bytes(), &mut |_| ());
            redactor.held()
        });
        let most = most.max().unwrap_or_default();
        assert!(most < 12 << 20, "{most} bytes are held for {piece:?}");
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

proptest! {
    /// The visible form of a redacted text has no secret left in it.
    #[test]
    fn nothing_is_left_to_find_in_what_is_shown(
        pieces in prop::collection::vec(piece(), 0..12),
        at in 1..39_usize,
        between in prop::sample::select(UNSEEN),
    ) {
        let text = [pieces.concat(), b"\n".to_vec(), interrupted(at, between).into_bytes(), b"\n".to_vec()].concat();
        let redacted = redact(&text).text;
        let shown = terminal::clean(&redacted).into_owned();
        prop_assert!(!contains(&shown, token().as_bytes()));
    }
}
