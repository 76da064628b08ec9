//! Traces of a team server, as a collector on loopback receives them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};

use super::{Home, said};
use crate::serve::support::{Request, Server};
use crate::support::TIMEOUT;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// What a collector was sent: the head of a request in lower case, and its body.
struct Export {
    head: String,
    body: Value,
}

struct Collector {
    url: String,
    exports: Receiver<Export>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, exports) = channel();
        // The threads end with the test.
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let sender = sender.clone();
                std::thread::spawn(move || collect(&stream, &sender));
            }
        });
        Self { url, exports }
    }

    /// Waits for this many spans, and returns them with everything that was sent.
    fn spans(&self, count: usize) -> (Vec<Value>, Vec<Export>) {
        let (mut spans, mut exports) = (Vec::new(), Vec::new());
        while spans.len() < count {
            let export = self.exports.recv_timeout(TIMEOUT).unwrap();
            spans.extend(export.body["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone());
            exports.push(export);
        }
        (spans, exports)
    }
}

/// Takes requests on a connection until it ends.
fn collect(stream: &TcpStream, sender: &Sender<Export>) {
    let (mut reader, mut writer) = (BufReader::new(stream), stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or_default() == 0 {
                return;
            }
        }
        let head = head.to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        writer.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}").unwrap();
        if sender.send(Export { head, body: serde_json::from_slice(&body).unwrap() }).is_err() {
            return;
        }
    }
}

fn team() -> (Home, String) {
    let home = Home::new();
    let token = home.team(&["init", "ana", "--tenant", "umbrella", "--data", "team"]).trim().to_owned();
    (home, token)
}

fn serve(home: &Home, variables: &[(&str, &str)]) -> Server {
    Server::start_team_in(home, &["--data", "team"], variables)
}

fn attribute(span: &Value, key: &str) -> Value {
    let attributes = span["attributes"].as_array().unwrap();
    attributes.iter().find(|one| one["key"] == key).map(|one| one["value"].clone()).unwrap_or_default()
}

#[test]
fn each_request_is_a_span_without_anything_that_it_said() {
    let (collector, (home, token)) = (Collector::start(), team());
    let server = serve(
        &home,
        &[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "api-key=made-up"),
            ("OTEL_SERVICE_NAME", "notes"),
            ("OTEL_BSP_SCHEDULE_DELAY", "1"),
        ],
    );
    let note = json!({ "project": "zanzibar", "text": "labyrinthine" }).to_string();
    let traced = |flags: &str| format!("00-{TRACE}-{PARENT}-{flags}");
    let post = Request::post("/v1/notes", note).token(&token);
    // One that its caller does not record, and one that it does.
    assert_eq!(server.send(&post.clone().header("traceparent", &traced("00"))).status, 201);
    assert_eq!(server.send(&post.header("traceparent", &traced("01"))).status, 201);
    let entry = Request::get("/v1/entries/quixotic?project=zanzibar").token(&token);
    assert_eq!(server.send(&entry).status, 422);
    assert_eq!(server.send(&Request::get("/nowhere/quixotic").header("traceparent", "garbage")).status, 404);

    let (spans, exports) = collector.spans(3);
    let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["POST /v1/notes", "GET /v1/entries/{id}", "GET"]);
    assert_eq!((&spans[0]["traceId"], &spans[0]["parentSpanId"]), (&json!(TRACE), &json!(PARENT)));
    for (span, status) in spans.iter().zip(["201", "422", "404"]) {
        assert_eq!(attribute(span, "http.response.status_code"), json!({ "intValue": status }));
        let times = ["startTimeUnixNano", "endTimeUnixNano"].map(|name| span[name].as_str().unwrap().to_owned());
        assert!(times[0] <= times[1] && times[0].len() == 19, "{span}");
        assert_eq!((span["traceId"].as_str().unwrap().len(), span["spanId"].as_str().unwrap().len()), (32, 16));
    }
    assert_eq!((&spans[1]["parentSpanId"], &spans[2]["parentSpanId"]), (&json!(null), &json!(null)));
    assert_eq!(attribute(&spans[1], "http.route"), json!({ "stringValue": "/v1/entries/{id}" }));
    for Export { head, body } in exports {
        assert!(head.starts_with("post /v1/traces http/1.1\r\n"), "{head}");
        assert!(head.contains("content-type: application/json") && head.contains("api-key: made-up"), "{head}");
        let resource = &body["resourceSpans"][0]["resource"];
        assert_eq!(attribute(resource, "service.name"), json!({ "stringValue": "notes" }));
        let sent = body.to_string();
        for word in ["zanzibar", "labyrinthine", "quixotic", "umbrella", "ana", "made-up", &token, "nowhere"] {
            assert!(!sent.contains(word), "{word}: {sent}");
        }
    }
}

#[test]
fn the_last_spans_are_sent_when_the_server_ends() {
    let (collector, (home, token)) = (Collector::start(), team());
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "3600000")];
    let mut server = serve(&home, &variables);
    assert_eq!(server.send(&Request::get("/v1/me").token(&token)).status, 200);
    server.terminate();
    let ended = server.wait_for_end();
    assert!(ended.success(), "{ended}");
    let (spans, _) = collector.spans(1);
    assert_eq!(spans[0]["name"], "GET /v1/me");
}

#[test]
fn a_server_goes_on_without_its_collector_and_says_so() {
    let (home, token) = team();
    // Nobody listens there any more.
    let url = format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    let server = serve(&home, &[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_BSP_SCHEDULE_DELAY", "1")]);
    assert_eq!(server.send(&Request::get("/v1/me").token(&token)).status, 200);
    let mut line = server.next_line();
    while !line.contains("cannot send traces") {
        line = server.next_line();
    }
    assert!(line.contains(&url), "{line}");
    assert_eq!(server.send(&Request::get("/v1/me").token(&token)).status, 200);
}

#[test]
fn a_protocol_that_is_not_supported_is_refused_before_anything_is_served() {
    let (home, _) = team();
    let mut command = home.server_command(&["serve", "--data", "team", "--bind", "127.0.0.1:0"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317").env("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let refused = command.output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert!(said(&refused).contains("only OTLP over HTTP is supported"), "{}", said(&refused));
}
