//! Finds secrets that are known by what stands around them: in addresses, in authorization headers and after `curl -u`.
//!
//! Invariant: user, host, scheme and header name stay; only the credential is the finding.

use std::ops::Range;

use super::class::{ALNUM, ALPHA, BASE64_EQ, DIGIT, LOWER, TOKEN68, UPPER};
use super::rules::{BASIC_AUTH, BEARER_TOKEN};
use super::value;
use super::window::Window;

/// The longest `user:password` that is looked for.
const LONGEST_USERINFO: usize = 512;

/// The password in the address whose `://` stands at `at`.
pub(super) fn url_password(window: &Window, at: usize) -> Option<Range<usize>> {
    if !window.before(at).is_some_and(|byte| ALNUM.has(byte)) {
        return None;
    }
    let start = at + "://".len();
    let ends = |byte: u8| byte <= b' ' || b"/?#\"'`<>\\".contains(&byte);
    let end = window.run_while(start, LONGEST_USERINFO, |byte| !ends(byte));
    let authority = window.slice(start..end);
    // A password may hold an `@` that nobody escaped, so the last one counts.
    let at_sign = authority.iter().rposition(|&byte| byte == b'@')?;
    let colon = authority[..at_sign].iter().position(|&byte| byte == b':')?;
    let (user, password) = (&authority[..colon], &authority[colon + 1..at_sign]);
    let is_secret = password.len() >= 3 && password != user && !value::is_placeholder(password);
    // RFC 2606 reserves these names for documentation.
    let is_documentation = authority[at_sign..].windows(8).any(|part| part.eq_ignore_ascii_case(b"example."));
    (is_secret && !is_documentation).then_some(start + colon + 1..start + at_sign)
}

/// The credential after the word `Authorization` that ends at `end`.
pub(super) fn authorization(window: &Window, end: usize) -> Option<(&'static str, Range<usize>)> {
    let punctuation = |byte: u8| b"\"'`\\ \t:=,>]".contains(&byte);
    let scheme = window.run_while(end, 12, punctuation);
    if scheme == end {
        return None;
    }
    let scheme_end = window.run(scheme, ALPHA, 16);
    let credential = window.skip_blanks(scheme_end);
    let is = |name: &[u8]| window.slice(scheme..scheme_end).eq_ignore_ascii_case(name);
    if credential == scheme_end {
        return None;
    }
    if is(b"basic") {
        return basic(window, credential).map(|range| (BASIC_AUTH, range));
    }
    let known = is(b"bearer") || is(b"token") || is(b"bot") || is(b"apikey") || is(b"key");
    known.then(|| opaque(window, credential, 8)).flatten().map(|range| (BEARER_TOKEN, range))
}

/// The token after the word `Bearer` that ends at `end`, wherever that stands.
pub(super) fn bearer(window: &Window, end: usize) -> Option<Range<usize>> {
    let start = window.skip_blanks(end);
    let range = if start > end { opaque(window, start, 20)? } else { return None };
    value::is_random(window.slice(range.clone())).then_some(range)
}

/// The password in `curl -u user:password`, where the flag is `at..end`.
pub(super) fn curl_password(window: &Window, at: usize, end: usize) -> Option<Range<usize>> {
    const FARTHEST: usize = 256;
    let line = window.run_while_back(at, FARTHEST, |byte| byte != b'\n');
    if !window.slice(line..at).windows(5).any(|part| part == b"curl ") {
        return None;
    }
    let start = window.run_while(end, 4, |byte| b" \"'\\".contains(&byte));
    let ends = |byte: u8| byte <= b' ' || b"\"'\\".contains(&byte);
    let user_end = window.run_while(start, FARTHEST, |byte| byte != b':' && !ends(byte));
    let password = user_end + 1..window.run_while(user_end + 1, FARTHEST, |byte| !ends(byte));
    let text = window.slice(password.clone());
    (window.byte(user_end) == Some(b':') && text.len() >= 3 && !value::is_placeholder(text)).then_some(password)
}

fn basic(window: &Window, start: usize) -> Option<Range<usize>> {
    let end = window.run(start, BASE64_EQ, 1024);
    let text = window.slice(start..end);
    // Base64 of `user:password` has letters of both cases, words rarely do.
    let is_encoded = text.len() >= 8 && LOWER.has_any(text) && UPPER.has_any(&text[1..]);
    (is_encoded && !value::is_placeholder(text)).then_some(start..end)
}

fn opaque(window: &Window, start: usize, shortest: usize) -> Option<Range<usize>> {
    let mut end = window.run(start, TOKEN68, 8192);
    while end > start && window.before(end) == Some(b'.') {
        end -= 1;
    }
    let text = window.slice(start..end);
    let is_secret = text.len() >= shortest && DIGIT.has_any(text) && !value::is_placeholder(text);
    (is_secret && value::entropy(text) >= 2.5).then_some(start..end)
}
