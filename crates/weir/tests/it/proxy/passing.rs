//! What the proxy passes on unchanged.

use std::io::{BufReader, Read as _, Write as _};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use super::harness::{Api, Proxy};
use super::{ANTHROPIC, Conversation, build, parsed, replacement};
use crate::support::{Home, TIMEOUT};

#[test]
fn what_is_not_held_back_passes_byte_for_byte() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    let mut small = Conversation::new(&ANTHROPIC);
    let small = small.ran("toolu_1", "make", "all is well\n").body();
    let odd = concat!(
        "{ \"z\":1e400 ,\t\"messages\" : [{\"content\":\"\\u00e9\\/é\",\"role\":\"user\",\"role\":\"user\"}],",
        "\r\n\"a\":{}}\n"
    );
    let deep = "[".repeat(200_000);
    let bodies: [&[u8]; 9] = [
        small.as_bytes(),
        odd.as_bytes(),
        b"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"content\":7}]}]}",
        b"{\"messages\": [",
        b"not JSON at all",
        b"\xff\xfe\x00",
        b"[]",
        b"",
        deep.as_bytes(),
    ];
    for body in bodies {
        for path in ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1/files?x=%2F..%2F"] {
            assert_eq!(proxy.post(path, body).status, 200);
            let asked = api.last();
            assert!(asked.body == body, "{path}: {}", String::from_utf8_lossy(&asked.body));
            assert_eq!(asked.line, format!("POST {path} HTTP/1.1"));
        }
    }
}

#[test]
fn headers_pass_except_those_of_the_connection() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    let headers = [
        ("authorization", "Bearer made-up"),
        ("x-api-key", "made-up-too"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "one,two"),
        ("accept-encoding", "gzip, br, zstd"),
        ("user-agent", "client/1.0 (odd; \"quoted\")"),
        ("x-unknown", ""),
        ("te", "trailers"),
    ];
    proxy.send("GET /v1/models?limit=3", &headers, b"");
    let asked = api.last();
    for (name, value) in &headers[..7] {
        assert_eq!(asked.header(name), Some(*value));
    }
    assert_eq!((asked.header("te"), asked.header("connection")), (None, None));
    assert_eq!(asked.header("host"), Some(api.address().to_string().as_str()));
    assert_eq!(asked.line, "GET /v1/models?limit=3 HTTP/1.1");
}

/// Claude Code's auto mode: the API judges each call of a tool before it runs.
#[test]
fn the_safety_check_of_auto_mode_passes_byte_for_byte() {
    const BETA: &str = "claude-code-20250219,dangerous-tool-use-2026-09-03";
    const FIELD: &str = concat!(
        "{ \"safeguards\":[{\"type\":\"dangerous_tool_use\" , \"rules\":{\"allow\":[\"\\u0042ash(ls:*)\"],",
        "\"deny\":[]},\"n\":1.0}],",
    );
    const ANSWER: &[u8] = concat!(
        "{\"type\":\"message\", \"content\":[{\"type\":\"safeguard_result\",\"verdict\":\"allow\",\"tool_use_id\":\"t\\u0031\"},",
        "{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{\"command\":\"ls\"}}],\"safeguards\":{\"x\":1e3}}\n",
    )
    .as_bytes();
    let home = Home::new();
    let api = Api::answering(|_, stream| {
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", ANSWER.len());
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(ANSWER).unwrap();
    });
    let proxy = Proxy::start(&home, &api.url());
    let mut conversation = Conversation::new(&ANTHROPIC);
    let long = build("harbour");
    let with_field = |conversation: &Conversation| conversation.body().replacen('{', FIELD, 1);
    let send = |body: &str| {
        let answered = proxy.send("POST /v1/messages?beta=true", &[("anthropic-beta", BETA)], body.as_bytes());
        assert_eq!((answered.status, answered.body.as_slice()), (200, ANSWER));
        assert_eq!(api.last().header("anthropic-beta"), Some(BETA));
        String::from_utf8(api.last().body).unwrap()
    };
    let small = with_field(conversation.ran("toolu_1", "ls", "a few words\n"));
    assert_eq!(send(&small), small);
    // Where a result is held back, nothing but that result differs.
    let large = with_field(conversation.ran("toolu_2", "make", &long));
    assert!(replacement(&large, &send(&large), &long).contains("held as [ctx:"));
}

#[test]
fn an_offer_of_another_protocol_is_not_taken_up() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    // As Java's HTTP client sends the first request of every connection.
    let offer = [("connection", "Upgrade, HTTP2-Settings"), ("upgrade", "h2c"), ("http2-settings", "AAMAAABk")];
    let answered = proxy.send("POST /v1/messages", &offer, b"{\"messages\":[]}");
    assert_eq!((answered.status, api.count()), (200, 1), "{answered:?}");
    for (name, _) in offer {
        assert_eq!(api.last().header(name), None);
    }
}

#[test]
fn errors_and_their_headers_pass() {
    let (home, compressed) = (Home::new(), b"\x1f\x8b\x08 not really gzip \x00\xff");
    let api = Api::answering(move |_, stream| {
        let head = "HTTP/1.1 529 Overloaded\r\nretry-after: 3\r\nrequest-id: req_1\r\ncontent-encoding: gzip\r\n\
                    set-cookie: a=1\r\nkeep-alive: timeout=5\r\ncontent-length: ";
        stream.write_all(format!("{head}{}\r\n\r\n", compressed.len()).as_bytes()).unwrap();
        stream.write_all(compressed).unwrap();
    });
    let proxy = Proxy::start(&home, &api.url());
    let answered = proxy.post("/v1/messages", b"{\"messages\":[]}");
    assert_eq!((answered.status, answered.body.as_slice()), (529, compressed.as_slice()));
    for (name, value) in
        [("retry-after", "3"), ("request-id", "req_1"), ("content-encoding", "gzip"), ("set-cookie", "a=1")]
    {
        assert_eq!(answered.header(name), Some(value));
    }
    assert_eq!(answered.header("keep-alive"), None);
}

#[test]
fn a_stream_arrives_while_the_api_still_writes() {
    let (home, (go, wait)) = (Home::new(), channel::<()>());
    let wait = Mutex::new(wait);
    let api = Api::answering(move |_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        stream.write_all(format!("{head}b\r\ndata: one\n\n\r\n").as_bytes()).unwrap();
        stream.flush().unwrap();
        // Nothing more is written until the client has the first event.
        wait.lock().unwrap().recv_timeout(TIMEOUT).unwrap();
        stream.write_all(b"b\r\ndata: two\n\n\r\n0\r\n\r\n").unwrap();
    });
    let proxy = Proxy::start(&home, &api.url());
    let mut stream = proxy.connect();
    let request = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-length: 15\r\n\r\n{{\"messages\":[]}}",
        proxy.host()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("data: one\n\n") {
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        seen.extend(byte);
    }
    go.send(()).unwrap();
    reader.read_to_end(&mut seen).unwrap();
    let seen = String::from_utf8(seen).unwrap();
    assert!(seen.contains("content-type: text/event-stream") && seen.contains("data: two\n\n"), "{seen}");
}

#[test]
fn bodies_that_are_compressed_or_huge_pass_unread() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    let compressed = b"\x28\xb5\x2f\xfd not really zstd \x00";
    let headers = [("content-type", "application/json"), ("content-encoding", "zstd")];
    assert_eq!(proxy.send("POST /v1/responses", &headers, compressed).status, 200);
    let asked = api.last();
    assert_eq!((asked.body.as_slice(), asked.header("content-encoding")), (compressed.as_slice(), Some("zstd")));

    let mut huge = Conversation::new(&ANTHROPIC);
    huge.ran("toolu_1", "make", &"a line of a build that never ends\n".repeat(1_100_000));
    let huge = huge.body();
    assert!(huge.len() > 33 << 20);
    assert_eq!(proxy.post("/v1/messages", huge.as_bytes()).status, 200);
    assert!(api.last().body == huge.as_bytes(), "{} bytes of {}", api.last().body.len(), huge.len());

    // The same without an announced length.
    let mut stream = proxy.connect();
    let head = "POST /v1/messages HTTP/1.1\r\nconnection: close\r\ntransfer-encoding: chunked\r\n";
    stream.write_all(format!("{head}host: {}\r\n\r\n", proxy.host()).as_bytes()).unwrap();
    for chunk in huge.as_bytes().chunks(1 << 20) {
        stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).unwrap();
        stream.write_all(&[chunk, b"\r\n"].concat()).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    assert!(api.last().body == huge.as_bytes(), "{} bytes of {}", api.last().body.len(), huge.len());
    assert_eq!(parsed(&proxy.send("GET /weir/stats", &[], b""))["unread"], 3);
}

#[test]
fn a_body_in_chunks_is_read_like_any_other() {
    let (home, api) = (Home::new(), Api::start());
    let proxy = Proxy::start(&home, &api.url());
    let (mut conversation, output) = (Conversation::new(&ANTHROPIC), build("weir"));
    let body = conversation.ran("toolu_1", "make", &output).body();
    let mut stream = proxy.connect();
    let head = "POST /v1/messages HTTP/1.1\r\nconnection: close\r\ntransfer-encoding: chunked\r\n";
    stream.write_all(format!("{head}host: {}\r\n\r\n", proxy.host()).as_bytes()).unwrap();
    for chunk in body.as_bytes().chunks(1_000) {
        stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes()).unwrap();
        stream.write_all(&[chunk, b"\r\n"].concat()).unwrap();
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    let asked = api.last();
    replacement(&body, &String::from_utf8(asked.body.clone()).unwrap(), &output);
    assert_eq!(asked.header("content-length"), Some(asked.body.len().to_string().as_str()));
}
