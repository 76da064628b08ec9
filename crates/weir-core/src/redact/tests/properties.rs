//! Tests properties of any text: the invariants of the module, and linear work.

use std::borrow::Cow;

use proptest::prelude::*;

use super::super::class::{ALNUM, AZURE, BASE64, DIGIT, HEX};
use super::super::redact;
use super::super::rules::TOKENS;
use super::super::window::READS;
use super::{fake, token_of};

/// Each is repeated to make a text that would cause a careless matcher to read everything again and again.
#[rustfmt::skip]
const WORST: &[&str] = &[
    "a", "A7", "token=", "token=\"", "token:'token:\"", "tokentoken", "password:", "eyJ", "-eyJ", "eyJ.", "eyJa.eyJ",
    "<private>", "</private>", "<private></private>", "x<private>", "glpat-", "xoxb-7", "a://b:c@", "://:@",
    "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n7aK2mQ9xB4tR0fW6c", "Bearer ", "[redacted:x]",
    "Authorization: Bearer 7", "[redacted:", "[redacted:x]token=", "\\", "\"", "secret_", ":AA", ".atlasv1.", "sk-",
    "key-7", "/ops_eyJ", "curl -u ", "ghs_", "\0", "a\x08", "a\x08\x08", "\x1b[m", "a\x1b]0;", "\x1b[2Ktoken=", "eyJ\0",
    "%5F", "a\\u005", "gh\u{200b}p_", "curl \\\n -u ", "\\\n -u", "(\"token\",", "ENV TOKEN ", "name=\"token\" value=",
    "eyJ7aK2mQ9xB4tR0fW6cZ1hL8dN3gV5eJyPsUuCkTvFwHzGrXqSpAnYbMjDiEo7\n", "eyJ.7aK2mQ9xB4tR0fW6cZ1hL8dN3gV5eJyPsUuCkTvFwHzGrXqSpAnYb\n",
    "\tTRUE", "a\tTRUE\t/\n",
    "\"k\":\"7aK2mQ9xB4tR0fW6cZ1hL8\",", "\"d\":\"7aK2mQ9xB4tR0fW6cZ1hL8dN3gV5eJyPsUuCkTvFwHzGrXqSpAn\",",
];

#[test]
fn the_work_is_linear() {
    for piece in WORST {
        let (once, twice) = (reads_of(piece, 1 << 14), reads_of(piece, 1 << 15));
        assert!(twice <= once * 2 + once / 8 + 4096, "{once} then {twice} reads for {piece}");
        assert!(twice <= 300 << 15, "{twice} reads for {piece}");
    }
}

fn reads_of(piece: &str, length: usize) -> usize {
    let text = piece.repeat(length / piece.len());
    let before = READS.get();
    redact(text.as_bytes());
    READS.get() - before
}

#[test]
fn a_megabyte_is_no_matter() {
    for (piece, findings) in [("a", 0), ("token=", 0), ("eyJ", 0), ("<private>", 1)] {
        let text = piece.repeat((1 << 20) / piece.len());
        assert_eq!(redact(text.as_bytes()).found.len(), findings, "for {piece}");
    }
}

/// Pieces of texts with secrets, halves of secrets and marks next to each other.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "password", "token", "client_secret", "apiKey", "AUTH", "aws", "=", ": ", ":", " ", "\n", "\\n", "\"", "'", "\\\"",
    "\\", "-", "_", ".", "/", "@", "://user:", "https", "<private>", "</private>", "<Private", ">", "[redacted:jwt]",
    "[redacted:", "]", "-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----", "Proc-Type: 4", "Bearer ", "\x1b[m\x1b[K",
    "\x1b[01;31m", "\x08", "\x08\x08\x08\x08", "\0", "\r", "\u{200b}", "\u{ad}", "\x1b[2K", "\x1b[1G", "\x1b]0;t\x07", "\x1b]0;",
    "%5F", "\\u005f", "%5", "\\u00", "Authorization: ", "curl -u ", "Basic ", "hunter2", "--token ", "<", "é", "&", "%3D", "\x1b[1m", "x", "page ", "{", "(",
    "\", \"", "[\"", " value=\"", "name=\"", "ENV ", " -u", "\\\n", "--cookie ", "IDENTIFIED WITH x BY '", " login ", " -p ", "machine h ",
    "a.host\tTRUE\t/\tFALSE\t0\tsid\t", "\t", "\"d\":\"", "\"k\": \"", "\"kty\":\"EC\"", "}", "eyJ7aK2mQ9xB4tR0fW6cZ1.eyJhL8dN3gV5eJyPsUuCk\n",
];

pub(super) fn piece() -> impl Strategy<Value = Vec<u8>> {
    let literal = (0..TOKENS.len()).prop_map(|i| TOKENS[i].literal.as_bytes().to_vec());
    let token = (0..TOKENS.len()).prop_map(|i| token_of(&TOKENS[i]).into_bytes());
    let body = (prop::sample::select(vec![ALNUM, HEX, BASE64, DIGIT, AZURE]), 1..70_usize);
    prop_oneof![
        2 => literal,
        2 => token,
        3 => body.prop_map(|(class, length)| fake(class, length).into_bytes()),
        6 => prop::sample::select(PIECES).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ]
}

#[track_caller]
fn check_invariants(text: &[u8]) {
    let redacted = redact(text);
    let (mut original, mut rest) = (0, &redacted.text[..]);
    for finding in &redacted.found {
        assert!(original <= finding.start && finding.start < finding.end && finding.end <= text.len());
        let mark = format!("[redacted:{}]", finding.rule);
        let kept = &text[original..finding.start];
        rest = rest.strip_prefix(kept).and_then(|rest| rest.strip_prefix(mark.as_bytes())).unwrap();
        original = finding.end;
    }
    assert_eq!(rest, &text[original..]);
    assert_eq!(redacted.found.is_empty(), matches!(redacted.text, Cow::Borrowed(_)));
    assert_eq!(redact(&redacted.text).found, []);
}

proptest! {
    #[test]
    fn any_bytes_keep_the_invariants(text in prop::collection::vec(any::<u8>(), 0..2000)) {
        check_invariants(&text);
    }

    #[test]
    fn any_mixture_keeps_the_invariants(pieces in prop::collection::vec(piece(), 0..24)) {
        check_invariants(&pieces.concat());
    }
}
