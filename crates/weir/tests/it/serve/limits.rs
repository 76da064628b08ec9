//! What a client cannot do to the server: send too much, take too long, stay for ever, or be cut off by its end.

use std::io::{Read as _, Write as _};

use serde_json::json;

use super::support::{Request, Response, Server};
use crate::support::{Home, wait_until};

#[test]
fn a_body_beyond_the_limit_is_refused_before_it_is_kept() {
    let home = Home::new();
    let server = Server::start_with(&home, &["--max-body", "1"]);
    let long = json!({ "text": "x".repeat((1 << 20) + 1) });
    let refused = server.post("ctx_annotate", &long);
    assert!(refused.problem(413)["detail"].as_str().unwrap().contains("the limit is 1.0 MiB"));
    // A body that does not announce its size is read up to the limit.
    let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", 2 << 20, "x".repeat(2 << 20));
    let request = Request::post("/v1/tools/ctx_annotate", chunk)
        .header("Content-Type", "application/json")
        .header("Transfer-Encoding", "chunked")
        .token(server.token());
    let mut stream = server.connect();
    // The server may close the connection before all of it is sent.
    let _ = stream.write_all(&request.bytes(&server.authority()));
    let mut answer = [0; 12];
    if stream.read_exact(&mut answer).is_ok() {
        assert_eq!(&answer, b"HTTP/1.1 413");
    }
    // A client that waits for the word to go on does not get it.
    let waits = Request::post("/v1/tools/ctx_annotate", "")
        .header("Content-Length", "99999999")
        .header("Expect", "100-continue")
        .token(server.token());
    server.send(&waits).problem(413);
    // A message of MCP has the same limit.
    server.mcp(&long).problem(413);
    assert_eq!(server.call("ctx_annotate", &json!({ "text": "short" }))["found"], true);
}

#[test]
fn a_server_with_few_files_answers_many_connections() {
    let home = Home::new();
    for n in 0..20 {
        home.note(&[&format!("note {n} on albatrosses")]);
    }
    let server = Server::start_with_files(&home, 256);
    std::thread::scope(|scope| {
        for _ in 0..64 {
            scope.spawn(|| {
                for _ in 0..4 {
                    let answer = server.call("ctx_search", &json!({ "queries": ["albatrosses"] }));
                    assert_eq!(answer["found"], true, "{answer}");
                }
            });
        }
    });
}

#[test]
fn a_body_that_is_not_json_is_named_as_such() {
    let home = Home::new();
    let server = Server::start(&home);
    let send = |body: &[u8], media_type: &str| {
        let request = Request::post("/v1/tools/ctx_search", body).header("Content-Type", media_type);
        server.send(&request.token(server.token()))
    };
    for body in ["{", "[]", "null", "\"queries\"", "{\"a\":\"\u{fffd}", &"[".repeat(100_000)] {
        send(body.as_bytes(), "application/json").problem(400);
    }
    send(b"{\"queries\":\"\xff\"}", "application/json").problem(400);
    send(b"{}", "text/plain").problem(415);
    send(b"{}", "application/x-www-form-urlencoded").problem(415);
    let bare = Request::post("/v1/tools/ctx_search", "{}").token(server.token());
    server.send(&bare).problem(415);
    // Without a body there are no arguments.
    let empty = Request::post("/v1/tools/ctx_history", "").header("Content-Length", "0").token(server.token());
    assert_eq!(server.send(&empty).status, 200);
}

#[test]
fn a_client_that_takes_too_long_loses_its_connection() {
    let home = Home::new();
    let server = Server::start_with(&home, &["--header-timeout", "1"]);
    let mut silent = server.connect();
    let mut slow_head = server.connect();
    slow_head.write_all(b"GET /health HTTP/1.1\r\nHost: ").unwrap();
    let mut slow_body = server.connect();
    let request = Request::post("/v1/tools/ctx_history", "{").header("Content-Length", "100").token(server.token());
    let request = request.header("Content-Type", "application/json");
    slow_body.write_all(&request.bytes(&server.authority())).unwrap();
    let mut rest = Vec::new();
    for stream in [&mut silent, &mut slow_head] {
        stream.read_to_end(&mut rest).unwrap();
    }
    assert_eq!(rest, b"", "{}", String::from_utf8_lossy(&rest));
    let problem = Response::read(&mut slow_body).problem(408);
    assert!(problem["hint"].as_str().unwrap().contains("without pauses"), "{problem}");
    assert_eq!(server.send(&Request::get("/health")).status, 200);
}

#[test]
fn a_head_that_is_too_long_or_broken_is_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let long = Request::get("/health").header("X-Long", &"x".repeat(80 << 10));
    let mut stream = server.connect();
    let _ = stream.write_all(&long.bytes(&server.authority()));
    let mut answer = [0; 12];
    if stream.read_exact(&mut answer).is_ok() {
        assert_eq!(&answer, b"HTTP/1.1 431");
    }
    for bytes in ["GARBAGE\r\n\r\n", "GET /health HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n"] {
        let mut stream = server.connect();
        stream.write_all(bytes.as_bytes()).unwrap();
        assert_eq!(Response::read(&mut stream).status, 400, "{bytes}");
    }
}

#[test]
fn more_connections_than_allowed_wait_for_their_turn() {
    let home = Home::new();
    let server = Server::start_with(&home, &["--max-connections", "1", "--header-timeout", "1"]);
    // This connection says nothing, until the server has had enough of it.
    let silent = server.connect();
    assert_eq!(server.send(&Request::get("/health")).status, 200);
    drop(silent);
}

#[test]
fn a_call_that_takes_too_long_is_cancelled() {
    let home = Home::outside_tmp();
    let server = Server::start_with(&home, &["--request-timeout", "1"]);
    let problem = server.post("ctx_execute", &json!({ "code": "sleep 600", "timeout": 600 })).problem(504);
    assert!(problem["hint"].as_str().unwrap().contains("background"), "{problem}");
    check_no_call_is_left(&server);
}

#[test]
fn a_client_that_disconnects_cancels_its_call() {
    let home = Home::outside_tmp();
    let server = Server::start(&home);
    let request = Request::tool("ctx_execute", &json!({ "code": "touch begun; sleep 600", "timeout": 600 }));
    let mut stream = server.connect();
    stream.write_all(&request.token(server.token()).bytes(&server.authority())).unwrap();
    home.wait_for("begun");
    assert!(server.get("/metrics").text().contains("weir_writing_calls_in_progress 1"));
    drop(stream);
    check_no_call_is_left(&server);
}

/// Waits until the server has no call in progress but those that read.
fn check_no_call_is_left(server: &Server) {
    let is_idle = || server.get("/metrics").text().contains("weir_writing_calls_in_progress 0");
    assert!(wait_until(crate::support::TIMEOUT, is_idle), "{}", server.get("/metrics").text());
}

#[test]
fn a_request_that_has_begun_is_answered_before_the_server_ends() {
    let home = Home::new();
    let mut server = Server::start(&home);
    let body = json!({ "text": "just in time" }).to_string();
    let request = Request::post("/v1/tools/ctx_annotate", body.as_bytes()).token(server.token());
    let bytes = request.header("Content-Type", "application/json").bytes(&server.authority());
    let (first, last) = bytes.split_at(bytes.len() - 5);
    let mut stream = server.connect();
    stream.write_all(first).unwrap();
    let mut idle = server.connect();
    // An answer proves that the requests before it are being read.
    assert_eq!(server.send(&Request::get("/health")).status, 200);
    wait_for_requests(&server, 2);
    server.terminate();
    // The idle connection is closed, and nobody else gets in.
    idle.read_to_end(&mut Vec::new()).unwrap();
    assert!(wait_until(crate::support::TIMEOUT, || std::net::TcpStream::connect(server.authority()).is_err()));
    stream.write_all(last).unwrap();
    assert_eq!(Response::read(&mut stream).status, 200);
    assert!(server.wait_for_end().success());
    assert!(home.ok(&["search", "just", "in", "time"]).contains("just in time"));
}

/// Waits until this many requests are in progress, the one that asks included.
fn wait_for_requests(server: &Server, count: usize) {
    let line = format!("weir_http_requests_in_flight {count}");
    assert!(wait_until(crate::support::TIMEOUT, || server.get("/metrics").text().lines().any(|found| found == line)));
}
