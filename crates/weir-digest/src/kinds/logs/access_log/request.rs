//! One request, as web servers and frameworks log it on one line.

use crate::kinds::shared::stamp::{self, Stamp};
use crate::text::number;

#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'a> {
    pub client: &'a str,
    /// The time, as text and in seconds.
    pub time: Option<(&'a str, f64)>,
    pub method: &'a str,
    /// The path without the query.
    pub path: &'a str,
    pub status: u16,
    pub bytes: Option<u64>,
    /// The duration in milliseconds.
    pub took: Option<f64>,
    /// The user agent.
    pub by: &'a str,
}

const METHODS: [&str; 12] =
    ["GET", "POST", "PUT", "DELETE", "HEAD", "PATCH", "OPTIONS", "CONNECT", "TRACE", "PROPFIND", "PRI", "REPORT"];

pub(super) fn of(line: &str) -> Option<Request<'_>> {
    quoted(line).or_else(|| barred(line)).or_else(|| short(line))
}

/// Parses `ip - - [time] "GET /path HTTP/1.1" 200 123 "referrer" "program" …`, and all other formats with a quoted
/// request.
fn quoted(line: &str) -> Option<Request<'_>> {
    let mut from = 0;
    // The request is not always the first quoted text.
    let (start, method, rest) = loop {
        let quote = from + memchr::memchr(b'"', line.get(from..)?.as_bytes())?;
        let inside = line.get(quote + 1..)?;
        let word = inside.split(' ').next()?;
        if METHODS.contains(&word) {
            break (quote, word, inside.get(word.len() + 1..)?);
        }
        from = quote + 1;
        if from > 400 {
            return None;
        }
    };
    let end = memchr::memchr(b'"', rest.as_bytes())?;
    let target = rest[..end].rsplit_once(' ').map_or(&rest[..end], |(target, _)| target);
    let after = rest.get(end + 1..)?;
    let head = line.get(..start)?;
    let (status, after) = status_first(after).or_else(|| Some((status_last(head)?, after)))?;
    let time = time_of(head);
    let path = without_query(target);
    let bytes = after.split_ascii_whitespace().next().and_then(whole_number);
    Some(Request { client: client_of(head), time, method, path, status, bytes, took: took_of(after), by: by_of(after) })
}

/// Parses `[GIN] 2026/11/15 - 09:58:35 | 200 |  1.234ms |  127.0.0.1 | GET  "/path"`.
fn barred(line: &str) -> Option<Request<'_>> {
    let mut parts = line.split('|').map(str::trim);
    let head = parts.next()?;
    let status = parts.next()?.parse().ok().filter(|status| (100..600).contains(status))?;
    let took = parts.next()?;
    let client = parts.next()?;
    let (method, path) = parts.next()?.split_once(' ')?;
    if !METHODS.contains(&method) {
        return None;
    }
    let path = without_query(path.trim().trim_matches('"'));
    Some(Request { client, time: time_of(head), method, path, status, bytes: None, took: with_unit(took), by: "" })
}

/// Parses `GET /path 200 12.3 ms - 123`, possibly after a time.
fn short(line: &str) -> Option<Request<'_>> {
    let stamp = stamp::of(line);
    let rest = stamp.map_or(line, |stamp| stamp.rest(line)).trim_start();
    let mut words = rest.split_ascii_whitespace();
    let method = words.next().filter(|word| METHODS.contains(word))?;
    let target = words.next().filter(|word| word.starts_with('/'))?;
    let mut next = words.next()?;
    if next.starts_with("HTTP/") {
        next = words.next()?;
    }
    let status = next.parse().ok().filter(|status| (100..600).contains(status))?;
    let (took, unit) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let took = with_unit(took).or_else(|| Some(took.parse::<f64>().ok()? * unit_of(unit)?));
    let path = without_query(target);
    let time = stamp.map(|stamp| (stamp.text(line), stamp.seconds));
    Some(Request { client: "", time, method, path, status, bytes: None, took, by: "" })
}

fn without_query(target: &str) -> &str {
    target.split_once('?').map_or(target, |(path, _)| path)
}

/// Returns the status directly after the request, and the rest.
fn status_first(after: &str) -> Option<(u16, &str)> {
    let after = after.trim_start();
    let (status, rest) = number(after)?;
    let status = u16::try_from(status).ok().filter(|status| (100..600).contains(status))?;
    (rest.is_empty() || rest.starts_with([' ', ',', '"'])).then_some((status, rest))
}

/// Returns the status before the request, where balancers write it: the last number that can be one.
fn status_last(head: &str) -> Option<u16> {
    let mut words = head.rsplit(' ').filter(|word| word.len() == 3);
    words.find_map(|word| word.parse().ok().filter(|status| (100..600).contains(status)))
}

fn time_of(head: &str) -> Option<(&str, f64)> {
    let stamp: Stamp = match memchr::memchr(b'[', head.as_bytes()) {
        Some(bracket) => {
            let inside = head.get(bracket..)?;
            match stamp::at_start(inside) {
                Some(stamp) => return Some((stamp.text(inside), stamp.seconds)),
                None => stamp::of(head)?,
            }
        }
        None => stamp::of(head)?,
    };
    Some((stamp.text(head), stamp.seconds))
}

/// Returns the first word that is an address, or else the first word.
fn client_of(head: &str) -> &str {
    let bare = |word: &str| {
        let dots = word.bytes().filter(|&byte| byte == b'.').count();
        let colons = word.bytes().filter(|&byte| byte == b':').count();
        let address = word.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b'.' | b':'));
        address && (dots == 3 || colons >= 2)
    };
    let mut words = head.split([' ', ',']).filter(|word| !word.is_empty());
    match words.clone().find(|word| bare(word)) {
        // The port after the address differs each time.
        Some(word) if word.contains('.') => word.split(':').next().unwrap_or(word),
        Some(word) => word,
        None => {
            let first = words.next().unwrap_or_default();
            // `INFO:werkzeug:127.0.0.1 - - […]`.
            let last = first.rsplit(':').next().unwrap_or(first);
            match first.starts_with('[') {
                true => "",
                false if bare(last) => last,
                false => first,
            }
        }
    }
}

/// Returns the user agent: the second quoted text, or else the first.
fn by_of(after: &str) -> &str {
    let mut parts = after.split('"');
    let (_, first, _, second) = (parts.next(), parts.next(), parts.next(), parts.next());
    second.or(first).unwrap_or_default()
}

/// Returns the duration at the end, in milliseconds: `0.123` in seconds, `rt=0.123`, `request_time=0.1`, `12ms`.
fn took_of(after: &str) -> Option<f64> {
    let tail = after.rsplit('"').next().unwrap_or(after);
    for word in tail.split_ascii_whitespace() {
        let named = ["rt=", "request_time=", "duration=", "time=", "took=", "urt="];
        if let Some(value) = named.iter().find_map(|name| word.strip_prefix(name)) {
            let value = value.trim_matches('"');
            // A whole number may as well count milliseconds.
            let seconds = || value.contains('.').then(|| value.parse::<f64>().ok()).flatten();
            return with_unit(value).or_else(|| seconds().map(|seconds| seconds * 1_000.0));
        }
        if let Some(took) = with_unit(word) {
            return Some(took);
        }
        // Only a fraction is certainly a duration: whole numbers may be sizes.
        if word.contains('.') && word.len() < 12 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
            return word.parse::<f64>().ok().map(|seconds| seconds * 1_000.0);
        }
    }
    None
}

/// Parses a number with a unit of time, and returns milliseconds.
fn with_unit(word: &str) -> Option<f64> {
    let end = word.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (digits, unit) = word.split_at(end);
    Some(digits.parse::<f64>().ok()? * unit_of(unit)?)
}

fn unit_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1.0e-6,
        "µs" | "μs" | "us" => 1.0e-3,
        "ms" | "ms," => 1.0,
        "s" => 1_000.0,
        _ => return None,
    })
}

fn whole_number(word: &str) -> Option<u64> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_without_a_unit_is_not_a_duration() {
        for (after, took) in [(" 400 rt=0.25", Some(250.0)), (" 400 duration=35", None), (" 400 took=35ms", Some(35.0))]
        {
            assert_eq!(took_of(after), took, "{after}");
        }
    }

    #[test]
    fn requests_are_read_in_many_forms() {
        let lines = [
            "192.0.2.58 - - [15/Nov/2026:09:58:35 +0000] \"GET / HTTP/1.1\" 200 400 \"-\" \"shop-app/3.2 (android)\"",
            "192.0.2.58 - - [15/Nov/2026:09:58:35 +0000] \"GET /a?b=1 HTTP/1.1\" 500 400 \"-\" \"curl/8\" 0.123",
            "127.0.0.1 - - [15/Nov/2026 09:58:35] \"GET /x HTTP/1.1\" 404 -",
            "INFO:     127.0.0.1:54321 - \"GET /x HTTP/1.1\" 200 OK",
            "[15/Nov/2026 09:58:35] \"POST /x HTTP/1.1\" 302 0",
            "[GIN] 2026/11/15 - 09:58:35 | 200 |     1.234ms |       127.0.0.1 | GET      \"/x\"",
            "GET /x 304 12.5 ms - -",
            "example.org:443 192.0.2.1 - bob [15/Nov/2026:09:58:35 +0000] \"PUT /y HTTP/2.0\" 201 5 \"-\" \"x\"",
        ];
        let shown: Vec<String> = lines
            .iter()
            .map(|line| {
                let Request { client, method, path, status, bytes, took, by, time, .. } = of(line).unwrap();
                format!(
                    "{client} {time:?} {method} {path} {status} {bytes:?} {took:?} {by}",
                    time = time.map(|time| time.0)
                )
            })
            .collect();
        expect_test::expect![[r#"
            192.0.2.58 Some("15/Nov/2026:09:58:35 +0000") GET / 200 Some(400) None shop-app/3.2 (android)
            192.0.2.58 Some("15/Nov/2026:09:58:35 +0000") GET /a 500 Some(400) Some(123.0) curl/8
            127.0.0.1 Some("15/Nov/2026 09:58:35") GET /x 404 None None 
            127.0.0.1 None GET /x 200 None None 
             Some("15/Nov/2026 09:58:35") POST /x 302 Some(0) None 
            127.0.0.1 Some("2026/11/15 - 09:58:35") GET /x 200 None Some(1.234) 
             None GET /x 304 None Some(12.5) 
            192.0.2.1 Some("15/Nov/2026:09:58:35 +0000") PUT /y 201 Some(5) None x"#]]
        .assert_eq(&shown.join("\n"));
        for line in ["GET /x", "curl \"GET\"", "a | 200 | b", "he said \"GET out\" 200"] {
            assert!(of(line).is_none_or(|request| !request.path.starts_with('/')), "{line}");
        }
    }
}
