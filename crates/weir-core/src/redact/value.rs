//! Decides whether a value is a secret, or a placeholder, a word, a path or code.
//!
//! There are two measures. The first is the Shannon entropy in bits per byte, over the bytes of the value itself: 0 for
//! `aaaa`, 4 for sixteen different bytes. Names have as much of it as short random strings, so it only excludes
//! repetition. The second, which excludes names, is the share of letter pairs that are common in words: about 0.8 in
//! words, 0.2 in random letters.
//!
//! The bounds were set by measurement on 900 MB of sources and on random strings: of those with twenty letters and
//! digits, one in a hundred passes for a name; of the names and types in the sources, hardly any passes for a secret.

use super::class::{ALPHA, ANY_HEX, BASE64_EQ, DIGIT, LOWER, UPPER, URL64_DOT};

/// Returns whether the text of a token could be real. Its shape already matches.
pub(super) fn may_be_token(text: &[u8]) -> bool {
    // Password hashes begin like a variable.
    let text = text.strip_prefix(b"$").unwrap_or(text);
    let is_name = is_wordy(text) && !DIGIT.has_any(text);
    entropy(text) >= 2.8 && !is_name && !is_placeholder(text)
}

/// Returns whether a value looks like a key or token made by a machine.
pub(super) fn is_random(value: &[u8]) -> bool {
    if value.len() < 12 || entropy(value) < 3.0 || is_placeholder(value) || is_path(value) || is_expression(value) {
        return false;
    }
    // An alphabet, or a made-up value. This does not apply to tokens of a known shape.
    if value.windows(10).any(|part| part == b"0123456789") {
        return false;
    }
    if is_uuid(value) {
        return true;
    }
    if ANY_HEX.has_all(value) {
        return value.len() >= 24 && DIGIT.has_any(value) && ALPHA.has_any(value);
    }
    let is_varied = DIGIT.has_any(value) && ALPHA.has_any(value);
    // One in thirty random strings of this length has no digit.
    let is_cased = value.len() >= 20 && BASE64_EQ.has_all(value) && LOWER.has_any(value) && UPPER.has_any(value);
    (is_varied || is_cased) && !is_wordy(value)
}

/// Returns whether a quoted value looks like the output of a generator that uses all characters:
/// `django-insecure-#2k&…`.
pub(super) fn is_scrambled(value: &[u8]) -> bool {
    let is_made = value.starts_with(b"django-insecure-") || (!is_wordy(value) && !is_placeholder(value));
    value.len() >= 40 && entropy(value) >= 4.2 && DIGIT.has_any(value) && ALPHA.has_any(value) && is_made
}

/// Returns whether a value is what a person might choose as a password.
pub(super) fn is_password(value: &[u8]) -> bool {
    value.len() >= 6 && entropy(value) >= 2.0 && !is_placeholder(value) && !is_path(value) && is_varied(value)
}

/// Returns whether a value of only letters may be a password. The name has to support that, as `DB_PASSWORD` does.
pub(super) fn is_plain_password(value: &[u8]) -> bool {
    let names_itself = value.windows(8).any(|part| part.eq_ignore_ascii_case(b"password"));
    value.len() >= 8 && ALPHA.has_all(value) && entropy(value) >= 2.0 && !names_itself && !is_placeholder(value)
}

/// Returns whether the value is the name of a variable or of a member: `config.password2`, `p12_password`.
pub(super) fn is_member(value: &[u8]) -> bool {
    value.iter().any(|byte| b"._".contains(byte)) && URL64_DOT.has_all(value) && is_wordy(value)
}

/// Returns whether the value has the form of a UUID, which is an identifier more often than a secret.
pub(super) fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, &byte)| match i {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => ANY_HEX.has(byte),
        })
}

pub(super) fn is_aws_secret(value: &[u8]) -> bool {
    value.len() == 40 && BASE64_EQ.has_all(value) && entropy(value) >= 4.0 && !is_placeholder(value)
}

pub(super) fn is_placeholder(value: &[u8]) -> bool {
    const OPENINGS: &[u8] = b"${<[*(";
    let lower = value.to_ascii_lowercase();
    let has = |part: &&str| lower.windows(part.len()).any(|window| window == part.as_bytes());
    value.first().is_some_and(|byte| OPENINGS.contains(byte))
        || (value.starts_with(b"%") && value.ends_with(b"%"))
        || PLACEHOLDER_PARTS.iter().any(has)
        || is_stock_word(&lower)
}

/// Substrings of placeholders.
#[rustfmt::skip]
const PLACEHOLDER_PARTS: &[&str] = &[
    "example", "placeholder", "changeme", "change_me", "change-me", "change-this", "your_", "your-", "yourp", "yours",
    "yourt", "yourk", "xxxx", "****", "....", "redacted", "dummy", "insert", "replace", "_here", "-here", "${", "{{", "$(",
    "%(", "%s", "<", "process.env", "environ", "getenv", "anonymous",
];

/// Words that people write in place of a secret.
#[rustfmt::skip]
const STOCK_WORDS: &[&str] = &[
    "password", "passwd", "passphrase", "pass", "secret", "token", "apikey", "key", "value", "admin", "root",
    "user", "username", "guest", "test", "testing", "foobar", "foo", "bar", "none", "null", "nil", "true", "false",
    "undefined", "default", "empty", "string", "required", "optional", "postgres", "mysql", "mypassword", "mysecret",
    "mytoken", "hidden", "unknown", "invalid", "disabled", "enabled", "prompt", "stdin",
];

/// Returns whether the value is a stock word, possibly with a number after it.
fn is_stock_word(lower: &[u8]) -> bool {
    let stem = lower.iter().rposition(|&byte| !DIGIT.has(byte)).map_or(&lower[..0], |last| &lower[..=last]);
    lower.len() - stem.len() <= 4 && STOCK_WORDS.iter().any(|word| word.as_bytes() == stem)
}

fn is_path(value: &[u8]) -> bool {
    if is_numbered_file(value) {
        return true;
    }
    let is_base64 = value.contains(&b'+') || value.ends_with(b"=");
    let is_rooted = !is_base64 && [b"/".as_slice(), b"./", b"../", b"~/"].iter().any(|root| value.starts_with(root));
    is_rooted || value.windows(3).any(|part| part == b"://") || (value.contains(&b'/') && is_wordy(value))
}

/// Returns whether the value is a number and the ending of a file: `tokens=28795904000.json` is the end of a name.
fn is_numbered_file(value: &[u8]) -> bool {
    let Some(dot) = value.iter().rposition(|&byte| byte == b'.') else { return false };
    let (number, ending) = (&value[..dot], &value[dot + 1..]);
    let is_ending = (1..=5).contains(&ending.len()) && ending.iter().all(u8::is_ascii_lowercase);
    is_ending && !number.is_empty() && number.iter().all(u8::is_ascii_digit)
}

/// Returns whether the value contains characters that code uses and tokens do not.
fn is_expression(value: &[u8]) -> bool {
    value.iter().any(|byte| b"()[]{}*;,\\".contains(byte)) || value.windows(2).any(|part| part == b"::")
}

/// Returns whether the value consists of letters with a digit or a sign among them: `hunter2`, `pass#word`, but not a
/// name or a sentence.
fn is_varied(value: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_punctuation() && !b"._-/:,()\\".contains(byte);
    ALPHA.has_any(value) && (DIGIT.has_any(value) || value.iter().any(is_sign))
}

/// Returns the entropy in bits per byte.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let total = value.len() as f64;
    let bits = |count: u32| {
        let share = f64::from(count) / total;
        -share * share.log2()
    };
    counts.iter().filter(|&&count| count > 0).map(|&count| bits(count)).sum()
}

/// Returns whether the value is made of words: it has many letter pairs, and most are common in words.
///
/// A lower-case letter before an upper-case one is a boundary between two words, so it does not count as a pair.
pub(super) fn is_wordy(value: &[u8]) -> bool {
    let pairs = value.windows(2).filter(|pair| ALPHA.has_all(pair) && !(LOWER.has(pair[0]) && UPPER.has(pair[1])));
    let (mut all, mut common) = (0, 0);
    for pair in pairs {
        all += 1;
        common += usize::from(is_common(pair[0], pair[1]));
    }
    all * 3 >= value.len() && common * 5 >= all * 3
}

fn is_common(first: u8, second: u8) -> bool {
    let follow = COMMON_AFTER[usize::from(first.to_ascii_lowercase() - b'a')];
    follow.as_bytes().contains(&second.to_ascii_lowercase())
}

/// For each letter, the letters that often follow it: the 150 most frequent pairs in the words of source texts and
/// their documentation.
#[rustfmt::skip]
const COMMON_AFTER: [&str; 26] = [
    "bcdgilmnprst", "aeil", "aehiklort", "aei", "acdefglmnprstvx", "efio", "eir", "aeio", "acdefglmnoprstvz",
    "", "e", "aeiloy", "aeiop", "acdegiost", "cdlmnoprstuw", "aeiloprt", "", "adeimorst",
    "acehiopstu", "aehiorstuy", "lnprst", "aei", "", "", "", "e",
];
