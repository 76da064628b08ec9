//! The head of a request: parsed strictly, and rewritten for the server.
//!
//! Invariant: a head that two parsers could understand differently is refused, so the server sees the request that was
//! checked.

use std::fmt::Write as _;

use super::pattern::{host_name, split_port};

pub(super) const MAX_HEAD_BYTES: usize = 64 << 10;

/// The parsed head of a client's request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) kind: RequestKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestKind {
    /// A tunnel for arbitrary bytes.
    Connect,
    /// A plain request, with the head to send to the server and the length of its body.
    Plain { head: String, length: Length },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Bytes(u64),
    Chunked,
}

/// Returns where the head ends, or `None` if it is incomplete.
pub(super) fn end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// Headers that are meant for the proxy and not for the server.
const HOP_BY_HOP: &[&str] = &[
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
    "upgrade",
];

/// Parses a head, including its final empty line. The error says what is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Head, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "the head is not text")?;
    let text = text.strip_suffix("\r\n\r\n").ok_or("the head has no end")?;
    let mut lines = text.split("\r\n");
    let [method, target, version] = words(lines.next().unwrap_or_default()).ok_or("the first line is not a request")?;
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err("the version is not HTTP/1.1");
    }
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err("the method is not a token");
    }
    let headers = lines.map(header).collect::<Result<Vec<_>, _>>()?;
    if method == "CONNECT" {
        let (host, port) = authority(target)?;
        let port = port.ok_or("CONNECT needs a port")?;
        check_host_header(&headers, &host, port, None)?;
        return Ok(Head { host, port, kind: RequestKind::Connect });
    }
    let scheme = target.get(..7).ok_or(ABSOLUTE)?;
    if !scheme.eq_ignore_ascii_case("http://") {
        return Err(ABSOLUTE);
    }
    let rest = &target[7..];
    let (name, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (host, port) = authority(name)?;
    let port = port.unwrap_or(80);
    check_host_header(&headers, &host, port, Some(80))?;
    let length = length(&headers)?;
    let head = rewritten(&[method, name, path], &headers);
    Ok(Head { host, port, kind: RequestKind::Plain { head, length } })
}

const ABSOLUTE: &str = "this is a proxy: use CONNECT, or a full URL that starts with http://";

fn words(line: &str) -> Option<[&str; 3]> {
    let words: Vec<_> = line.split(' ').collect();
    let plain = line.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    if plain { words.try_into().ok() } else { None }
}

/// A header's name in lower case, and its value.
type Header<'a> = (String, &'a str);

fn header(line: &str) -> Result<Header<'_>, &'static str> {
    let (name, value) = line.split_once(':').ok_or("a header has no colon")?;
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err("a header name is not a token");
    }
    if value.chars().any(|c| c.is_control() && c != '\t') {
        return Err("a header has control characters");
    }
    // A server that reads bytes as Latin-1 would see a control character in UTF-8 text: `ą` ends in 0x85, a line end.
    if !value.is_ascii() {
        return Err("a header is not ASCII");
    }
    Ok((name.to_ascii_lowercase(), value.trim_matches([' ', '\t'])))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Parses the host and the port of a target.
fn authority(text: &str) -> Result<(String, Option<u16>), &'static str> {
    let (host, port) = split_port(text).ok_or("the target names no host and port")?;
    Ok((host_name(host).ok_or("the target names no host")?, port))
}

fn values<'a>(headers: &'a [Header<'a>], name: &'a str) -> impl Iterator<Item = &'a str> {
    headers.iter().filter(move |(other, _)| other == name).map(|(_, value)| *value)
}

/// Checks that the `Host` header names the target: the server uses the header, but the proxy checked the target.
/// Without a port, the header means the default port or, for `CONNECT`, any port.
fn check_host_header(headers: &[Header<'_>], host: &str, port: u16, usual: Option<u16>) -> Result<(), &'static str> {
    let mut hosts = values(headers, "host");
    let Some(named) = hosts.next() else { return Ok(()) };
    if hosts.next().is_some() {
        return Err("there are two Host headers");
    }
    let (named, named_port) = authority(named).map_err(|_| "the Host header names no host")?;
    if named != host || named_port.or(usual).is_some_and(|named| named != port) {
        return Err("the Host header and the target name different hosts");
    }
    Ok(())
}

fn length(headers: &[Header<'_>]) -> Result<Length, &'static str> {
    let lengths: Vec<_> = values(headers, "content-length").collect();
    let encodings: Vec<_> = values(headers, "transfer-encoding").collect();
    match (lengths.as_slice(), encodings.as_slice()) {
        ([], []) => Ok(Length::Bytes(0)),
        ([], [one]) if one.eq_ignore_ascii_case("chunked") => Ok(Length::Chunked),
        ([], _) => Err("the Transfer-Encoding is not chunked"),
        ([one], []) if !one.is_empty() && one.bytes().all(|byte| byte.is_ascii_digit()) => {
            one.parse().map(Length::Bytes).map_err(|_| "the Content-Length is too large")
        }
        (_, []) => Err("the Content-Length is not one number"),
        (_, _) => Err("there is both a Content-Length and a Transfer-Encoding"),
    }
}

/// Returns the head for the server: in origin form, with one `Host`, without hop-by-hop headers, for one request only.
fn rewritten(&[method, authority, path]: &[&str; 3], headers: &[Header<'_>]) -> String {
    let named: Vec<String> = values(headers, "connection")
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        // These are for the server even if the client lists them as connection headers.
        .filter(|name| !matches!(name.as_str(), "content-length" | "transfer-encoding"))
        .collect();
    let slash = if path.starts_with('/') { "" } else { "/" };
    let mut head = format!("{method} {slash}{path} HTTP/1.1\r\nhost: {authority}\r\n");
    for (name, value) in headers {
        if name != "host" && !HOP_BY_HOP.contains(&name.as_str()) && !named.contains(name) {
            // Writing to a string does not fail.
            let _ = write!(head, "{name}: {value}\r\n");
        }
    }
    head + "connection: close\r\n\r\n"
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::*;

    fn check(head: &str) -> Checked {
        let shown = match parse(head.as_bytes()) {
            Ok(Head { host, port, kind: RequestKind::Connect }) => format!("connect to {host} port {port}"),
            Ok(Head { host, port, kind: RequestKind::Plain { head, length } }) => {
                format!("to {host} port {port}, {length:?}:\n{}", head.replace('\r', ""))
            }
            Err(wrong) => wrong.to_owned(),
        };
        Checked(shown)
    }

    #[test]
    fn connect_names_a_host_and_a_port() {
        check("CONNECT Example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
            .shows(&expect!["connect to example.org port 443"]);
        check("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n").shows(&expect!["connect to 2001:db8::1 port 443"]);
        check("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n")
            .shows(&expect!["connect to example.org port 443"]);
        check("CONNECT example.org HTTP/1.1\r\n\r\n").shows(&expect!["CONNECT needs a port"]);
        check("CONNECT a@example.org:443 HTTP/1.1\r\n\r\n").shows(&expect!["the target names no host"]);
        check("CONNECT example.org:443 HTTP/1.1\r\nHost: other.org:443\r\n\r\n")
            .shows(&expect!["the Host header and the target name different hosts"]);
        check("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:80\r\n\r\n")
            .shows(&expect!["the Host header and the target name different hosts"]);
    }

    #[test]
    fn a_plain_request_is_written_again() {
        check(
            "GET http://Example.org:8080/a?b=c HTTP/1.1\r\nHost: example.org:8080\r\nAccept: */*\r\nProxy-Authorization: x\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive, X-Mine\r\nX-Mine: 1\r\nUpgrade: h2c\r\n\r\n",
        )
        .shows(&expect![[r#"
            to example.org port 8080, Bytes(0):
            GET /a?b=c HTTP/1.1
            host: Example.org:8080
            accept: */*
            connection: close

        "#]]);
        check("POST http://example.org HTTP/1.0\r\nContent-Length: 5\r\nConnection: content-length\r\n\r\n").shows(
            &expect![[r#"
            to example.org port 80, Bytes(5):
            POST / HTTP/1.1
            host: example.org
            content-length: 5
            connection: close

        "#]],
        );
        check("POST http://example.org?q HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n").shows(&expect![[r#"
            to example.org port 80, Chunked:
            POST /?q HTTP/1.1
            host: example.org
            transfer-encoding: Chunked
            connection: close

        "#]]);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        check("GET http://a.org/ HTTP/1.1\r\nHost: b.org\r\n\r\n")
            .shows(&expect!["the Host header and the target name different hosts"]);
        check("GET http://a.org:81/ HTTP/1.1\r\nHost: a.org\r\n\r\n")
            .shows(&expect!["the Host header and the target name different hosts"]);
        check("GET http://a.org/ HTTP/1.1\r\nHost: a.org\r\nHost: a.org\r\n\r\n")
            .shows(&expect!["there are two Host headers"]);
        check("GET http://a.org/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n")
            .shows(&expect!["there is both a Content-Length and a Transfer-Encoding"]);
        check("GET http://a.org/ HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n")
            .shows(&expect!["the Content-Length is not one number"]);
        check("GET http://a.org/ HTTP/1.1\r\nContent-Length: +5\r\n\r\n")
            .shows(&expect!["the Content-Length is not one number"]);
        check("GET http://a.org/ HTTP/1.1\r\nContent-Length: 5, 5\r\n\r\n")
            .shows(&expect!["the Content-Length is not one number"]);
        check("GET http://a.org/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")
            .shows(&expect!["the Transfer-Encoding is not chunked"]);
        check("GET http://a.org/ HTTP/1.1\r\nTransfer-Encoding : chunked\r\n\r\n")
            .shows(&expect!["a header name is not a token"]);
        check("GET http://a.org/ HTTP/1.1\r\nA: b\r\n c\r\n\r\n").shows(&expect!["a header has no colon"]);
        check("GET http://a.org/ HTTP/1.1\r\nA: b\nHost: b.org\r\n\r\n")
            .shows(&expect!["a header has control characters"]);
        check("GET http://b.org@a.org/ HTTP/1.1\r\n\r\n").shows(&expect!["the target names no host"]);
        check("GET http://a.org\\@b.org/ HTTP/1.1\r\n\r\n").shows(&expect!["the target names no host"]);
        check("GET http://a.org#@b.org/ HTTP/1.1\r\n\r\n").shows(&expect!["the target names no host"]);
        check("GET  http://a.org/ HTTP/1.1\r\n\r\n").shows(&expect!["the first line is not a request"]);
        check("GET /etc/passwd HTTP/1.1\r\n\r\n")
            .shows(&expect!["this is a proxy: use CONNECT, or a full URL that starts with http://"]);
        check("GET https://a.org/ HTTP/1.1\r\n\r\n")
            .shows(&expect!["this is a proxy: use CONNECT, or a full URL that starts with http://"]);
        check("GET http://a.org/ HTTP/2.0\r\n\r\n").shows(&expect!["the version is not HTTP/1.1"]);
        check("GET http://a.org/ HTTP/1.1\r\nA: b\u{105}c\r\n\r\n").shows(&expect!["a header is not ASCII"]);
        check("GET http:/ö HTTP/1.1\r\n\r\n").shows(&expect!["the first line is not a request"]);
    }
}
