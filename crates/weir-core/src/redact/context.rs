//! Finds secrets by their surroundings: in addresses, headers, commands and statements.
//!
//! Invariant: user, host, scheme and header name stay; only the credential is the finding.

use std::ops::Range;

use super::class::{ALNUM, ALPHA, BASE64_EQ, DIGIT, LOWER, TOKEN68, UPPER, URL64, URL64_DOT, WORD};
use super::rules::{BASIC_AUTH, BEARER_TOKEN, URL_PASSWORD, URL_TOKEN};
use super::value;
use super::window::Window;

/// Maximum length of a `user:password`, in bytes.
const MAX_USERINFO_BYTES: usize = 512;
/// Maximum distance from the name of a command to its argument, in bytes.
const MAX_DISTANCE_BYTES: usize = 256;
/// Minimum length of a token in place of a user, in bytes.
const MIN_URL_TOKEN_BYTES: usize = 20;

/// Returns the password in the address whose `://` is at `at`, or the token in place of a user.
pub(super) fn in_url(window: &Window, at: usize) -> Option<(&'static str, Range<usize>)> {
    if !window.before(at).is_some_and(|byte| ALNUM.has(byte)) {
        return None;
    }
    let start = at + "://".len();
    let ends = |byte: u8| byte <= b' ' || b"/?#\"'`<>\\".contains(&byte);
    let end = window.run_while(start, MAX_USERINFO_BYTES, |byte| !ends(byte));
    let authority = window.slice(start..end);
    // A password may contain an unescaped `@`, so the last one counts.
    let at_sign = authority.iter().rposition(|&byte| byte == b'@')?;
    let Some(colon) = authority[..at_sign].iter().position(|&byte| byte == b':') else {
        let is_token = at_sign >= MIN_URL_TOKEN_BYTES && value::is_random(&authority[..at_sign]);
        return is_token.then_some((URL_TOKEN, start..start + at_sign));
    };
    let (user, password) = (&authority[..colon], &authority[colon + 1..at_sign]);
    // Examples have made-up passwords; a random one is real, wherever it is.
    if is_reserved(&authority[at_sign + 1..]) && !value::is_random(password) {
        return None;
    }
    // Some services take the token as the user: `https://TOKEN:x-oauth-basic@github.com`.
    if user.len() >= MIN_URL_TOKEN_BYTES && value::is_random(user) {
        return Some((URL_TOKEN, start..start + at_sign));
    }
    let is_anonymous =
        [user, password].iter().any(|part| part.split(|&byte| byte == b':').any(|word| word.starts_with(b"anon")));
    let is_pattern = user.starts_with(b"[") || is_anonymous;
    let is_secret = password.len() >= 3 && password != user && !is_pattern && !value::is_placeholder(password);
    is_secret.then_some((URL_PASSWORD, start + colon + 1..start + at_sign))
}

/// Whether the host of an address is one that RFC 2606 reserves for documentation, or below one.
fn is_reserved(host: &[u8]) -> bool {
    const RESERVED: [&[u8]; 4] = [b"example", b"example.com", b"example.net", b"example.org"];
    let host = host.split(|&byte| byte == b':').next().unwrap_or_default();
    let ends = |name: &&[u8]| host.len() >= name.len() && host[host.len() - name.len()..].eq_ignore_ascii_case(name);
    let is_whole = |name: &[u8]| host.len() == name.len() || host[host.len() - name.len() - 1] == b'.';
    RESERVED.iter().any(|name| ends(name) && is_whole(name))
}

/// Returns the credential after the word `Authorization` that ends at `end`.
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
        // Some services take the key without a scheme. A name that something else follows is a scheme.
        let key = opaque(window, scheme, 20)?;
        let is_alone = window.skip_blanks(key.end) == key.end;
        return (is_alone && value::is_random(window.slice(key.clone()))).then_some((BEARER_TOKEN, key));
    }
    if is(b"basic") {
        return basic(window, credential).map(|range| (BASIC_AUTH, range));
    }
    const SCHEMES: [&[u8]; 8] = [b"bearer", b"token", b"bot", b"apikey", b"key", b"ssws", b"geniekey", b"negotiate"];
    let known = SCHEMES.into_iter().any(is);
    known.then(|| opaque(window, credential, 8)).flatten().map(|range| (BEARER_TOKEN, range))
}

/// Returns the token after the word `Bearer` that ends at `end`, wherever it occurs.
pub(super) fn bearer(window: &Window, end: usize) -> Option<Range<usize>> {
    let start = window.skip_blanks(end);
    let range = if start > end { opaque(window, start, 20)? } else { return None };
    value::is_random(window.slice(range.clone())).then_some(range)
}

/// Returns the password in `curl -u user:password`, where the flag is `at..end`.
pub(super) fn curl_password(window: &Window, at: usize, end: usize) -> Option<Range<usize>> {
    if !window.slice(command_start(window, at)..end).windows(5).any(|part| part == b"curl ") {
        return None;
    }
    let start = window.run_while(end, 4, |byte| b" \"'\\".contains(&byte));
    let ends = |byte: u8| byte <= b' ' || b"\"'\\".contains(&byte);
    let user_end = window.run_while(start, MAX_DISTANCE_BYTES, |byte| byte != b':' && !ends(byte));
    let password = user_end + 1..window.run_while(user_end + 1, MAX_DISTANCE_BYTES, |byte| !ends(byte));
    let text = window.slice(password.clone());
    (window.byte(user_end) == Some(b':') && text.len() >= 3 && !value::is_placeholder(text)).then_some(password)
}

/// Returns the password after ` -p` of `mysql`, `sshpass` and `docker login`, where the flag ends at `end`.
pub(super) fn dash_p(window: &Window, end: usize) -> Option<Range<usize>> {
    let command = window.slice(command_start(window, end)..end);
    let has = |name: &[u8]| command.windows(name.len()).any(|part| part == name);
    let argument = window.skip_blanks(end);
    if has(b"sshpass ") || (has(b" login ") && argument > end) {
        return chosen(window, argument);
    }
    (has(b"mysql") || has(b"mariadb")).then(|| chosen(window, end)).flatten()
}

/// Returns where the command around `at` begins, on the same line or on one that continues here after a backslash.
fn command_start(window: &Window, at: usize) -> usize {
    let mut start = at;
    loop {
        start = window.run_while_back(start, MAX_DISTANCE_BYTES - (at - start), |byte| byte != b'\n');
        let is_near = at - start + 2 <= MAX_DISTANCE_BYTES;
        if !is_near || !window.follows(start, b"\\\n") {
            return start;
        }
        start -= 2;
    }
}

/// Returns the password after `IDENTIFIED BY` or `IDENTIFIED WITH plugin BY`, whose last part is `at..end`.
pub(super) fn identified_by(window: &Window, at: usize, end: usize) -> Option<Range<usize>> {
    let by = window.skip_blanks(window.run(end, WORD, 64));
    let end = if window.has_folded(by, b"by ") { by + 3 } else { end };
    let start = window.skip_blanks(end);
    let is_quoted = matches!(window.byte(start), Some(b'\'' | b'"'));
    (is_quoted && window.follows(at, b"iden")).then(|| chosen(window, start)).flatten()
}

/// Returns a password chosen by a person, with or without quotes.
fn chosen(window: &Window, at: usize) -> Option<Range<usize>> {
    const MAX_PASSWORD_BYTES: usize = 128;
    let quote = window.byte(at).filter(|byte| b"'\"".contains(byte));
    let start = at + usize::from(quote.is_some());
    let ends = |byte: u8| byte <= b' ' || b"'\"`\\;|&<>()".contains(&byte);
    let end = window
        .run_while(start, MAX_PASSWORD_BYTES, |byte| quote.map_or(!ends(byte), |quote| byte != quote && byte >= b' '));
    let text = window.slice(start..end);
    (value::is_password(text) || value::is_random(text)).then_some(start..end)
}

/// Returns the password in a line of a `.pgpass`, `host:5432:database:user:password`, whose port with its colons is
/// `at..end`.
pub(super) fn pgpass(window: &Window, at: usize, end: usize) -> Option<Range<usize>> {
    let is_end = |byte: u8| byte <= b' ' || is_quote_or_escape(byte);
    let host = window.run_while_back(at, MAX_DISTANCE_BYTES, |byte| byte != b':' && !is_end(byte));
    if host == at || !window.before(host).is_none_or(is_end) {
        return None;
    }
    let field = |from: usize| {
        let end = window.run_while(from, 64, |byte| byte > b' ' && byte != b':');
        (end > from && window.byte(end) == Some(b':')).then_some(end + 1)
    };
    let start = field(field(end)?)?;
    let password = start..window.run_while(start, 128, |byte| !is_end(byte));
    let text = window.slice(password.clone());
    (value::is_password(text) || value::is_random(text)).then_some(password)
}

fn is_quote_or_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'\\')
}

/// Returns the values after the word `Cookie` that ends at `end`, from the first to the last random one.
pub(super) fn cookie(window: &Window, end: usize) -> Option<Range<usize>> {
    const MAX_COOKIES: usize = 64;
    let mut at = window.run_while(end, 12, |byte| b"\"'`\\ \t:".contains(&byte));
    let is_flag = at > end && window.follows(end, b"--cookie");
    if !is_flag && !window.slice(end..at).contains(&b':') {
        return None;
    }
    let mut found: Option<Range<usize>> = None;
    for _ in 0..MAX_COOKIES {
        let name = window.run_while(at, 128, |byte| URL64_DOT.has(byte));
        if name == at || window.byte(name) != Some(b'=') {
            break;
        }
        let ends = |byte: u8| byte <= b' ' || b";\"'`\\,".contains(&byte);
        let value = name + 1..window.run_while(name + 1, 4096, |byte| !ends(byte));
        let text = window.slice(value.clone());
        if text.len() >= 16 && value::is_random(text) {
            found = Some(found.map_or(value.start, |found| found.start)..value.end);
        }
        if window.byte(value.end) != Some(b';') {
            break;
        }
        at = window.skip_blanks(value.end + 1);
    }
    found
}

/// Returns the random value in a line of a Netscape file of cookies, whose second field with its tabs is `at..end`.
pub(super) fn cookie_jar(window: &Window, at: usize, end: usize) -> Option<Range<usize>> {
    const MAX_FIELD_BYTES: usize = 1024;
    const MAX_VALUE_BYTES: usize = 4096;
    let is_in_field = |byte: u8| !matches!(byte, b'\t' | b'\n' | b'\r');
    let domain = window.run_while_back(at, MAX_FIELD_BYTES, is_in_field);
    if domain == at || !matches!(window.before(domain), None | Some(b'\n')) {
        return None;
    }
    let field = |from: usize| {
        let end = window.run_while(from, MAX_FIELD_BYTES, is_in_field);
        (end > from && window.byte(end) == Some(b'\t')).then_some(from..end)
    };
    let path = field(end)?;
    let is_secure = field(path.end + 1)?;
    let expires = field(is_secure.end + 1)?;
    let name = field(expires.end + 1)?;
    let value = name.end + 1..window.run_while(name.end + 1, MAX_VALUE_BYTES, is_in_field);
    let is_jar = window.byte(path.start) == Some(b'/')
        && matches!(window.slice(is_secure), b"TRUE" | b"FALSE")
        && DIGIT.has_all(window.slice(expires))
        && matches!(window.byte(value.end), None | Some(b'\n' | b'\r'));
    let text = window.slice(value.clone());
    (is_jar && text.len() >= 16 && value::is_random(text)).then_some(value)
}

/// Returns the value of a private member of a JWK, whose name in quotes is `at..end`. The same object has a `kty`.
pub(super) fn jwk_member(window: &Window, at: usize, end: usize) -> Option<Range<usize>> {
    const MAX_VALUE_BYTES: usize = 2048;
    // A symmetric key is short, and so is its object. Longer distances to `kty` are for long values only, which keeps
    // the work linear.
    let (min_bytes, max_distance) = if window.byte(at + 1) == Some(b'k') { (22, 512) } else { (43, 3072) };
    let colon = window.skip_blanks(end);
    let quote = window.skip_blanks(colon + 1);
    if window.byte(colon) != Some(b':') || window.byte(quote) != Some(b'"') {
        return None;
    }
    let value = quote + 1..window.run(quote + 1, URL64, MAX_VALUE_BYTES);
    let is_key = value.len() >= min_bytes && window.byte(value.end) == Some(b'"');
    if !is_key || !value::is_random(window.slice(value.clone())) {
        return None;
    }
    let is_inside = |byte: u8| !matches!(byte, b'{' | b'}');
    let has_kty = |part: Range<usize>| window.slice(part).windows(5).any(|name| name == b"\"kty\"");
    let is_jwk = has_kty(window.run_while_back(at, max_distance, is_inside)..at)
        || has_kty(value.end..window.run_while(value.end, max_distance, is_inside));
    is_jwk.then_some(value)
}

/// Returns the words after `mnemonic` or `phrase`, which ends at `end`: twelve to twenty-four words of three to eight
/// letters each, and nothing else up to the end of the line or the quotes.
pub(super) fn mnemonic(window: &Window, end: usize) -> Option<Range<usize>> {
    let start = window.run_while(end, 12, |byte| b"\"'`\\ \t:=".contains(&byte));
    let (mut words, mut at) = (0, start);
    loop {
        let word = window.run(at, LOWER, 9) - at;
        if !(3..=8).contains(&word) || words > 24 {
            return None;
        }
        words += 1;
        at += word;
        if window.byte(at) != Some(b' ') || window.byte(at + 1).is_none_or(|byte| !LOWER.has(byte)) {
            break;
        }
        at += 1;
    }
    let is_ended = matches!(window.byte(at), None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'));
    (start > end && is_ended && matches!(words, 12 | 15 | 18 | 21 | 24)).then_some(start..at)
}

fn basic(window: &Window, start: usize) -> Option<Range<usize>> {
    let end = window.run(start, BASE64_EQ, 1024);
    let text = window.slice(start..end);
    // Base64 of `user:password` has letters of both cases; words rarely do.
    let is_encoded = text.len() >= 8 && LOWER.has_any(text) && UPPER.has_any(&text[1..]);
    (is_encoded && !value::is_placeholder(text)).then_some(start..end)
}

fn opaque(window: &Window, start: usize, shortest: usize) -> Option<Range<usize>> {
    let mut end = window.run(start, TOKEN68, 8192);
    while end > start && window.before(end) == Some(b'.') {
        end -= 1;
    }
    let text = window.slice(start..end);
    let is_varied = DIGIT.has_any(text) || value::is_random(text);
    let is_secret = text.len() >= shortest && is_varied && !value::is_placeholder(text);
    (is_secret && value::entropy(text) >= 2.5).then_some(start..end)
}
