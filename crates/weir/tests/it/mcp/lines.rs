//! Lines that cannot be served, and more of them than can be served at once: each is answered, and memory stays small.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::ready;
use crate::support::Server;

/// The maximum peak memory of the server, in megabytes. A debug build has about 40 MB of pages of its own.
const MAX_MEMORY_MB: f64 = 120.0;
/// The maximum growth by a flood, in megabytes. Each queued message would add hundreds of bytes, each request
/// thousands.
const MAX_GROWTH_MB: f64 = 16.0;

impl Server {
    /// Returns the code and the ID of the error with which a line is answered.
    fn error_of(&mut self, line: &[u8]) -> (i64, Value) {
        self.send_line(line);
        let answer = self.receive();
        (answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}")), answer["id"].clone())
    }
}

#[test]
fn a_line_that_is_no_message_is_answered_with_an_error() {
    let (_home, mut server) = ready();
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}}"#, "[".repeat(100_000));
    let lines: [&[u8]; 5] = [
        b"this is not JSON",
        b"\xff\xfe\x00",
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}"#,
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}",
        deep.as_bytes(),
    ];
    for line in lines {
        assert_eq!(server.error_of(line), (-32700, Value::Null), "{}", String::from_utf8_lossy(&line[..16]));
    }
    assert_eq!(server.error_of(b"[1, 2]"), (-32600, Value::Null));
    assert_eq!(server.error_of(br#"{"jsonrpc":"2.0","id":"seven","method":7}"#), (-32600, json!("seven")));
    let call = json!({ "name": "ctx_history", "arguments": {}, "_meta": { "threadId": "s".repeat(201) } });
    let call = json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": call }).to_string();
    assert_eq!(server.error_of(call.as_bytes()), (-32602, json!(8)));
    server.send_line(b"");
    server.send_line(br#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#);
    assert!(server.call("ctx_history", &json!({})).contains("nothing here yet"));
    assert!(server.end().success());
}

#[test]
fn the_last_line_needs_no_end() {
    let (_home, mut server) = ready();
    let ping = br#"{"jsonrpc":"2.0","id":7003,"method":"ping"}"#;
    std::io::Write::write_all(server.input.as_mut().unwrap(), ping).unwrap();
    server.input = None;
    let answer = server.receive();
    assert!(answer["id"] == 7003 && answer["result"].is_object(), "{answer}");
    assert!(server.end().success());
}

#[test]
fn a_line_that_is_too_long_is_answered_by_its_id() {
    let (_home, mut server) = ready();
    let text = "x".repeat(20 << 20);
    let call = json!({ "name": "context_write", "arguments": { "path": "a.txt", "text": text } });
    let first = format!(r#"{{"jsonrpc":"2.0","id":7001,"method":"tools/call","params":{call}}}"#);
    assert_eq!(server.error_of(first.as_bytes()), (-32600, json!(7001)));
    let last = format!(r#"{{"method":"tools/call","params":{call},"jsonrpc":"2.0","id":7002}}"#);
    assert_eq!(server.error_of(last.as_bytes()), (-32600, json!(7002)));
    assert_eq!(server.error_of(&vec![b'x'; 100 << 20]), (-32600, Value::Null));
    assert!(server.call("ctx_history", &json!({})).contains("nothing here yet"));
    assert!(server.peak_megabytes() < MAX_MEMORY_MB, "{:.1} MB", server.peak_megabytes());
}

#[test]
fn a_flood_is_served_at_the_pace_it_can_be_served() {
    let (_home, mut server) = ready();
    let progress = json!({ "progressToken": "none", "progress": 1 });
    let notification = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": progress }).to_string();
    let lines = format!("{notification}\n").repeat(1_000);
    let before = server.peak_megabytes();
    for _ in 0..50 {
        server.send_line(lines.trim_end().as_bytes());
    }
    let pings = 5_000;
    // Written from another thread, since the server stops reading while too many requests are open.
    let mut input = server.input.take().unwrap();
    let writing = std::thread::spawn(move || {
        let mut lines = String::new();
        for id in 0..pings {
            let _ = writeln!(lines, r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, 10_000 + id);
        }
        std::io::Write::write_all(&mut input, lines.as_bytes()).unwrap();
        input
    });
    for _ in 0..pings {
        assert!(server.receive()["result"].is_object());
    }
    server.input = Some(writing.join().unwrap());
    assert!(server.call("ctx_history", &json!({})).contains("nothing here yet"));
    let grown = server.peak_megabytes() - before;
    assert!(grown < MAX_GROWTH_MB, "grown by {grown:.1} MB");
}
