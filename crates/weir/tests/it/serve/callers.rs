//! Who may call: tokens and their scopes, hosts and origins.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::support::{Request, Server, print_token};
use crate::support::Home;

fn token_file(home: &Home) -> PathBuf {
    home.data().join("http-tokens.json")
}

/// Sends a call that reads, with this header instead of the usual one.
fn with_authorization(server: &Server, value: &str) -> super::support::Response {
    server.send(&Request::tool("ctx_history", &json!({})).header("Authorization", value))
}

#[test]
fn a_missing_or_wrong_token_is_refused_with_what_to_do() {
    let home = Home::new();
    let server = Server::start(&home);
    let missing = server.send(&Request::tool("ctx_history", &json!({})));
    assert_eq!(missing.header("www-authenticate"), Some("Bearer realm=\"weir\", scope=\"read\""));
    let problem = missing.problem(401);
    assert!(problem["hint"].as_str().unwrap().contains("weir serve --print-token --scope read"), "{problem}");
    let runs = server.send(&Request::tool("ctx_execute", &json!({ "code": "true" }))).problem(401);
    assert!(runs["hint"].as_str().unwrap().contains("weir serve --print-token --scope run"), "{runs}");
    let token = server.token().to_owned();
    for wrong in ["Bearer weir_run_0", "Bearer", &format!("Basic {token}"), &token, &format!("Bearer {token}0")] {
        let refused = with_authorization(&server, wrong);
        refused.problem(401);
        assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer realm=\"weir\""), "{wrong}");
    }
    assert_eq!(with_authorization(&server, &format!("bearer {token}")).status, 200);
    // A token is taken from the header only.
    server.send(&Request::tool(&format!("ctx_history?token={token}"), &json!({}))).problem(401);
}

#[test]
fn a_token_that_has_expired_or_was_revoked_is_refused_at_once() {
    let home = Home::new();
    let server = Server::start(&home);
    let short = home.ok(&["serve", "--print-token", "--scope", "run", "--valid-for", "1h"]).trim().to_owned();
    assert_eq!(with_authorization(&server, &format!("Bearer {short}")).status, 200);
    // The hour is over.
    let mut tokens: Value = serde_json::from_slice(&std::fs::read(token_file(&home)).unwrap()).unwrap();
    for token in tokens.as_array_mut().unwrap() {
        if token["secret"] == short.as_str() {
            token["expires"] = json!(1);
        }
    }
    std::fs::write(token_file(&home), tokens.to_string()).unwrap();
    let expired = with_authorization(&server, &format!("Bearer {short}"));
    assert!(expired.problem(401)["detail"].as_str().unwrap().contains("expired"));
    assert!(expired.header("www-authenticate").unwrap().contains("error=\"invalid_token\""));
    assert_eq!(server.get("/metrics").status, 200);
    home.ok(&["serve", "--revoke-tokens"]);
    server.get("/metrics").problem(401);
    assert_eq!(server.send(&Request::get("/metrics").token(&print_token(&home, "read"))).status, 200);
}

#[test]
fn a_scope_allows_what_it_names_and_nothing_beyond() {
    let home = Home::new();
    let server = Server::start(&home);
    let calls = [
        ("read", "ctx_search", json!({ "queries": ["pool"] })),
        ("write", "ctx_annotate", json!({ "text": "written" })),
        ("write", "ctx_forget", json!({ "refs": ["k7f2m9q4xz"] })),
        ("run", "ctx_execute", json!({ "code": "" })),
        ("run", "context_write", json!({ "path": "made.txt", "text": "x" })),
    ];
    let order = ["read", "write", "run"];
    let rank = |scope: &str| order.iter().position(|known| *known == scope);
    for has in order {
        let token = print_token(&home, has);
        for (needs, tool, arguments) in &calls {
            let request = Request::tool(tool, arguments).token(&token).header("Weir-Session", "s1");
            let response = server.send(&request);
            if rank(has) >= rank(needs) {
                assert!(!matches!(response.status, 401 | 403), "{has} {tool}: {}", response.text());
                continue;
            }
            let problem = response.problem(403);
            assert!(problem["hint"].as_str().unwrap().contains(&format!("--scope {needs}")), "{problem}");
            let challenge = response.header("www-authenticate").unwrap();
            assert!(challenge.contains(&format!("error=\"insufficient_scope\", scope=\"{needs}\"")), "{challenge}");
        }
        assert_eq!(home.project().join("made.txt").exists(), has == "run", "{has}");
    }
}

#[test]
fn nobody_else_can_read_the_tokens() {
    let home = Home::new();
    let server = Server::start(&home);
    let mode = token_file(&home).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    // A file that others could have read is not trusted, and a link leads nowhere.
    std::fs::set_permissions(token_file(&home), std::fs::Permissions::from_mode(0o640)).unwrap();
    server.get("/metrics").problem(500);
    assert_eq!(server.send(&Request::get("/health")).status, 200);
    std::fs::rename(token_file(&home), home.at("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.at("elsewhere"), token_file(&home)).unwrap();
    server.get("/metrics").problem(500);
    let refused = home.weir(&["serve", "--print-token"]);
    assert_eq!(refused.status.code(), Some(5));
}

#[test]
fn a_page_of_another_origin_and_a_rebound_name_are_refused() {
    let home = Home::new();
    let server = Server::start(&home);
    let authority = server.authority();
    let port = authority.rsplit(':').next().unwrap();
    let call = || Request::tool("ctx_annotate", &json!({ "text": "from a page" })).token(server.token());
    for origin in ["https://evil.example", "null", "http://localhost", "http://127.0.0.1:1"] {
        let refused = server.send(&call().header("Origin", origin));
        refused.problem(403);
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
    assert_eq!(server.send(&call().header("Origin", &format!("http://{authority}"))).status, 200);
    for host in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", &format!("{authority}.evil.example")] {
        server.send(&call().header("Host", host)).problem(421);
    }
    for host in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(server.send(&call().header("Host", &host)).status, 200, "{host}");
    }
    // A browser asks first, and is not told that it may.
    let asked = Request::get("/v1/tools/ctx_annotate").method("OPTIONS").header("Origin", "https://evil.example");
    assert_eq!(server.send(&asked).header("access-control-allow-origin"), None);
}

#[test]
fn a_name_leads_to_a_tool_or_nowhere() {
    let home = Home::new();
    home.write("secret.txt", "a secret of the project");
    let server = Server::start(&home);
    for name in
        ["../../openapi.json", "..%2f..%2fopenapi.json", "%2e%2e/health", "ctx_nope", "%ff", "ctx_search/", "%00"]
    {
        let response = server.send(&Request::tool(name, &json!({})).token(server.token()));
        response.problem(404);
    }
    for path in ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/v1/tools/..;/health"] {
        server.get(path).problem(404);
    }
    for path in ["../elsewhere.txt", "/etc/passwd", "secret/../../x"] {
        let refused = server.post("context_write", &json!({ "path": path, "text": "x" }));
        assert!(matches!(refused.status, 403 | 404 | 422), "{path}: {}", refused.text());
    }
    assert!(!home.at("elsewhere.txt").exists());
}
