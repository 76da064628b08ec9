//! `weir serve` over real sockets: every route, who may call it, and what a client cannot do to it.

mod callers;
mod calls;
mod compat;
mod context;
mod examples;
mod limits;
mod mcp;
pub(crate) mod support;
mod tls;

use serde_json::{Value, json};

use crate::support::{Home, said};
use support::{Request, Server, print_token};

#[test]
fn health_needs_no_token_and_readiness_opens_the_stores() {
    let home = Home::new();
    let server = Server::start(&home);
    for (path, status) in [("/health", "ok"), ("/ready", "ready")] {
        let response = server.send(&Request::get(path));
        assert_eq!((response.status, response.json()), (200, json!({ "status": status })), "{path}");
    }
    assert!(home.data().join("user/log.db").exists());
    std::fs::remove_dir_all(home.data().join("user")).unwrap();
    std::fs::write(home.data().join("user"), "in the way").unwrap();
    let problem = server.send(&Request::get("/ready")).problem(503);
    assert!(problem["hint"].is_string(), "{problem}");
    assert_eq!(server.send(&Request::get("/health")).status, 200);
}

#[test]
fn each_answer_has_the_id_of_its_request() {
    let home = Home::new();
    let server = Server::start(&home);
    let given = server.send(&Request::get("/health").header("X-Request-Id", "build-7.a"));
    assert_eq!(given.header("x-request-id"), Some("build-7.a"));
    let made: Vec<String> = ["{\"x\"}", "", "/no/such/path"]
        .map(|id| server.send(&Request::get("/none").header("X-Request-Id", id)))
        .iter()
        .map(|response| response.header("x-request-id").unwrap().to_owned())
        .collect();
    assert!(made.iter().all(|id| id.len() >= 8 && id.chars().all(|c| c.is_ascii_alphanumeric())), "{made:?}");
    assert!(made[0] != made[1] && made[1] != made[2], "{made:?}");
}

#[test]
fn what_is_not_a_route_is_named_and_what_a_route_takes_too() {
    let home = Home::new();
    let server = Server::start(&home);
    let problem = server.get("/v1").problem(404);
    assert!(problem["hint"].as_str().unwrap().contains("/openapi.json"), "{problem}");
    for (path, allowed) in [("/health", "GET,HEAD"), ("/v1/tools/ctx_search", "POST"), ("/mcp", "POST")] {
        let response = server.send(&Request::get(path).method("DELETE").token(server.token()));
        response.problem(405);
        assert_eq!(response.header("allow"), Some(allowed), "{path}");
    }
    let head = server.send(&Request::get("/health").method("HEAD"));
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn the_document_describes_what_the_server_does() {
    let home = Home::new();
    let paths = check_document(&Server::start(&home));
    assert!(paths.len() >= 20 && !paths.contains(&"/sessions".to_owned()), "{paths:?}");
}

#[test]
fn the_document_describes_the_routes_for_another_program() {
    let home = Home::new();
    let paths = check_document(&Server::start_with(&home, &["--compat", "engram"]));
    for path in ["/context", "/sessions", "/prompts", "/observations/passive", "/v1/tools/mem_save"] {
        assert!(paths.iter().any(|found| found == path), "{path} is not among {paths:?}");
    }
}

/// Checks every route in the document of a server. Returns their paths.
fn check_document(server: &Server) -> Vec<String> {
    let document = server.send(&Request::get("/openapi.json")).json();
    assert_eq!((&document["openapi"], &document["info"]["title"]), (&json!("3.1.0"), &json!("Weir")));
    let paths = document["paths"].as_object().unwrap();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            check_route(server, path, method, operation);
        }
    }
    paths.keys().cloned().collect()
}

/// Checks one operation of the document: who may call it, and that its answer is one of those described.
fn check_route(server: &Server, path: &str, method: &str, operation: &Value) {
    let request = match method {
        "get" => Request::get(path),
        "post" => Request::post(path, "{}").header("Content-Type", "application/json"),
        other => panic!("{other} {path}"),
    };
    let anonymous = server.send(&request);
    let security = operation["security"].as_array().unwrap();
    let needs_token = !security.is_empty() && !security.contains(&json!({}));
    assert_eq!(anonymous.status == 401, needs_token, "{path}: {}", anonymous.text());
    let response = server.send(&request.token(server.token()));
    let described = &operation["responses"][response.status.to_string()];
    assert!(described.is_object() && response.status < 500, "{path}: {} {}", response.status, response.text());
    let media_type = response.header("content-type").unwrap();
    if response.status == 200 {
        assert!(described["content"][media_type].is_object(), "{path}: {media_type}");
    } else {
        response.problem(response.status);
    }
}

#[test]
fn requests_and_calls_are_counted() {
    let home = Home::new();
    let server = Server::start(&home);
    server.call("ctx_annotate", &json!({ "text": "counted" }));
    server.post("ctx_get", &json!({ "ref": "k7f2m9q4xz" })).problem(404);
    server.send(&Request::get("/metrics")).problem(401);
    let page = server.get("/metrics");
    assert_eq!(page.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for line in [
        "weir_http_requests_total{method=\"POST\",route=\"/v1/tools/{name}\",status=\"200\"} 1",
        "weir_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"401\"} 1",
        "weir_tool_calls_total{tool=\"ctx_annotate\",outcome=\"ok\"} 1",
        "weir_tool_calls_total{tool=\"ctx_get\",outcome=\"not_found\"} 1",
        "weir_http_requests_in_flight 1",
    ] {
        assert!(page.text().lines().any(|found| found == line), "{line}\n{}", page.text());
    }
}

#[test]
fn a_line_is_logged_for_each_request_without_its_secrets() {
    let home = Home::new();
    let server = Server::start_with(&home, &["--log", "json"]);
    assert!(server.next_line().contains("tokens are in "));
    let request = Request::tool("ctx_annotate", &json!({ "text": "a quiet word" })).token(server.token());
    server.send(&request.header("X-Request-Id", "r1"));
    let line = server.next_line();
    let logged: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(
        (&logged["request_id"], &logged["method"], &logged["path"], &logged["route"], &logged["status"]),
        (&json!("r1"), &json!("POST"), &json!("/v1/tools/ctx_annotate"), &json!("/v1/tools/{name}"), &json!(200))
    );
    assert!(logged["duration_ms"].is_number() && logged["time"].is_string(), "{line}");
    assert!(!line.contains(server.token()) && !line.contains("quiet"), "{line}");
    server.send(&Request::get("/none?secret=1"));
    assert!(!server.next_line().contains("secret"));
}

#[test]
fn a_token_is_printed_with_its_scope_and_expiry() {
    let home = Home::new();
    let lasting = print_token(&home, "read");
    assert!(lasting.starts_with("weir_read_"), "{lasting}");
    assert_eq!(print_token(&home, "read"), lasting);
    assert!(home.ok(&["serve", "--print-token"]).starts_with("weir_run_"));
    let short = home.json(&["serve", "--print-token", "--scope", "write", "--valid-for", "8h"]);
    assert_eq!(short["scope"], "write");
    assert!(short["expires"].is_string() && short["token"].as_str().unwrap().starts_with("weir_write_"), "{short}");
    let refused = home.weir(&["serve", "--print-token", "--valid-for", "never"]);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
}

#[test]
fn an_address_that_others_can_reach_needs_tls_or_a_word_of_the_user() {
    let home = Home::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = home.weir(&["serve", "--bind", address]);
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        let words = said(&refused);
        assert!(words.contains("--tls-cert") && words.contains("--insecure"), "{words}");
    }
    let server = Server::start_with(&home, &["--bind", "0.0.0.0:0", "--insecure", "--allow-host", "dev.example"]);
    assert!(server.next_line().contains("tokens are in ") && server.next_line().contains("not protected by TLS"));
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    for (host, status) in [("127.0.0.1", 200), ("dev.example", 200), ("other.example", 421)] {
        let request = Request::get("/health").header("Host", &format!("{host}:{port}"));
        assert_eq!(server.send(&request).status, status, "{host}");
    }
}
