//! MCP over Streamable HTTP, request by request.

use serde_json::{Value, json};

use super::support::{Request, Server, print_token};
use crate::support::{Home, text_of};

fn request(id: i64, method: &str, parameters: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters })
}

fn initialize(version: &str) -> Value {
    let client = json!({ "name": "tester", "version": "1.0.0" });
    request(1, "initialize", &json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client }))
}

#[test]
fn a_client_initialises_lists_and_calls() {
    let home = Home::new();
    let server = Server::start(&home);
    for version in ["2025-11-25", "2025-06-18", "2025-03-26"] {
        let hello = server.mcp(&initialize(version));
        assert_eq!((hello.status, hello.header("content-type")), (200, Some("application/json")), "{}", hello.text());
        let result = &hello.json()["result"];
        assert_eq!((&result["protocolVersion"], &result["serverInfo"]["name"]), (&json!(version), &json!("weir")));
        assert_eq!(hello.header("mcp-session-id"), None);
    }
    let ready = server.mcp(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    assert_eq!((ready.status, ready.body.len()), (202, 0));
    let listed = server.mcp(&request(2, "tools/list", &json!({}))).json();
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["ctx_execute", "ctx_annotate", "ctx_search", "ctx_get"]);
    let call = |tool: &str, arguments: Value| {
        server.mcp(&request(3, "tools/call", &json!({ "name": tool, "arguments": arguments }))).json()
    };
    let kept = call("ctx_annotate", json!({ "text": "herons stand still" }));
    assert!(text_of(&kept).contains("kept [ctx:"), "{kept}");
    let found = call("ctx_search", json!({ "query": "heron" }));
    assert!(found["id"] == 3 && text_of(&found).contains("herons stand still"), "{found}");
    let failed = call("ctx_get", json!({ "ref": "k7f2m9q4xz" }));
    assert_eq!(failed["result"]["isError"], true, "{failed}");
    let unknown = call("ctx_nope", json!({}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("available: ctx_execute"), "{unknown}");
    assert_eq!(server.mcp(&request(4, "ping", &json!({}))).json()["result"], json!({}));
}

#[test]
fn a_client_that_never_initialises_is_served() {
    let home = Home::new();
    let server = Server::start(&home);
    let version = "2026-07-28";
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "tester", "version": "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let send = |method: &str, name: Option<&str>, mut parameters: Value| {
        parameters["_meta"] = meta.clone();
        let message = Request::mcp(&request(1, method, &parameters)).token(server.token());
        let message = message.header("MCP-Protocol-Version", version).header("Mcp-Method", method);
        server.send(&name.map_or(message.clone(), |name| message.header("Mcp-Name", name))).json()
    };
    let found = send("server/discover", None, json!({}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!(version)), "{found}");
    let called = send("tools/call", Some("ctx_history"), json!({ "name": "ctx_history", "arguments": {} }));
    assert!(text_of(&called).contains("nothing here yet"), "{called}");
}

#[test]
fn a_token_lists_and_calls_what_its_scope_allows() {
    let home = Home::new();
    let server = Server::start(&home);
    let reader = print_token(&home, "read");
    let send = |message: &Value| server.send(&Request::mcp(message).token(&reader)).json();
    let listed = send(&request(1, "tools/list", &json!({})));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(!tools.is_empty() && tools.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true), "{listed}");
    let call = json!({ "name": "ctx_execute", "arguments": { "code": "touch made" } });
    let refused = send(&request(2, "tools/call", &call));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(text_of(&refused).contains("weir serve --print-token --scope run"), "{refused}");
    assert!(!home.project().join("made").exists());
    server.send(&Request::mcp(&initialize("2025-11-25"))).problem(401);
}

#[test]
fn the_session_is_in_a_header_or_in_the_metadata() {
    let home = Home::new();
    let server = Server::start(&home);
    let note = json!({ "text": "for one session: ibex", "scope": "session" });
    let in_meta = json!({ "name": "ctx_annotate", "arguments": note, "_meta": { "sessionId": "s1" } });
    let kept = server.mcp(&request(1, "tools/call", &in_meta)).json();
    assert!(text_of(&kept).contains("kept [ctx:"), "{kept}");
    let search = request(2, "tools/call", &json!({ "name": "ctx_search", "arguments": { "queries": ["ibex"] } }));
    for (session, expected) in [("s1", true), ("s2", false)] {
        let message = Request::mcp(&search).token(server.token()).header("Weir-Session", session);
        let found = server.send(&message.header("Weir-Client", "mcp")).json();
        assert_eq!(text_of(&found).contains("for one session"), expected, "{session}: {found}");
    }
    assert!(!text_of(&server.mcp(&search).json()).contains("for one session"));
    // Even a call that only reads stores the name of its session.
    for session in ["s".repeat(201), "s\u{1b}[2J".to_owned()] {
        let call =
            json!({ "name": "ctx_search", "arguments": { "queries": ["ibex"] }, "_meta": { "sessionId": session } });
        let refused = server.mcp(&request(3, "tools/call", &call)).json();
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[test]
fn what_is_not_a_message_is_answered_with_an_error() {
    let home = Home::new();
    let server = Server::start(&home);
    let send = |body: &str| {
        let request = Request::post("/mcp", body).header("Accept", "application/json, text/event-stream");
        server.send(&request.header("Content-Type", "application/json").token(server.token()))
    };
    for (body, code) in
        [("garbage", -32700), ("[]", -32600), ("{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", -32600)]
    {
        let response = send(body);
        assert_eq!((response.status, &response.json()["error"]["code"]), (400, &json!(code)), "{body}");
    }
    assert_eq!(send("{\"jsonrpc\":\"2.0\",\"method\":\"no/such\"}").status, 202);
    let bare = Request::post("/mcp", initialize("2025-11-25").to_string()).token(server.token());
    let problem = server.send(&bare.header("Content-Type", "application/json")).problem(406);
    assert!(problem["detail"].as_str().unwrap().contains("text/event-stream"), "{problem}");
    // There is no stream to listen to, and no session to end.
    for method in ["GET", "DELETE"] {
        let refused = server.send(&Request::get("/mcp").method(method).token(server.token()));
        refused.problem(405);
        assert_eq!(refused.header("allow"), Some("POST"));
    }
}
