//! One server in its own name, for a client that finds tools by itself.

use serde_json::{Value, json};

use super::{home_with, probe};
use crate::support::{Home, Server};

fn passed(home: &Home) -> (Server, Value) {
    let mut server = Server::start(home.weir_command(&["mcp", "--server", "probe"]));
    let greeting = server.greet("claude-code", "2025-11-25", &json!({}));
    (server, greeting)
}

#[test]
fn a_server_passes_under_its_own_name_and_only_its_floods_are_reduced() {
    let home = home_with(&json!({ "probe": probe(&["structured,blocks,errors"]) }));
    let (mut server, greeting) = passed(&home);
    assert_eq!(greeting["serverInfo"]["name"], "probe");
    assert_eq!(greeting["instructions"], "A server for tests.");
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    let rows = tools.as_array().unwrap().iter().find(|tool| tool["name"] == "rows").unwrap();
    assert_eq!(rows["outputSchema"], Value::Null, "what is reduced matches no schema");
    assert_eq!(tools[0]["annotations"]["readOnlyHint"], true);
    assert_eq!(server.answered("echo", &json!({ "text": "hi" })), "hi");
    assert!(server.answered("rows", &json!({})).contains("[ctx:"));
    assert_eq!(server.refused("fail", &json!({})), "it did not work");
    // What may be destroyed is the client's to ask about.
    server.answered("delete_note", &json!({ "name": "n" }));
    assert!(server.end().success());
}

#[test]
fn the_second_start_waits_for_nobody() {
    let home = home_with(&json!({ "probe": probe(&["slow-start", "--seconds", "0.3", "--log", "log"]) }));
    let (mut server, _) = passed(&home);
    server.ask("tools/list", json!({}));
    assert!(server.end().success());
    std::fs::remove_file(home.project().join("log")).unwrap();
    let (mut server, greeting) = passed(&home);
    assert_eq!(greeting["serverInfo"]["name"], "probe");
    assert!(server.ask("tools/list", json!({}))["result"]["tools"].as_array().unwrap().len() > 3);
    assert!(!home.project().join("log").exists(), "the server was started although nobody called it");
}

#[test]
fn a_script_of_a_client_gets_the_whole_result() {
    let home = home_with(&json!({ "probe": probe(&["structured"]) }));
    let mut server = Server::start(home.weir_command(&["mcp", "--server", "probe"]));
    server.greet("codex-mcp-client", "2025-11-25", &json!({}));
    let call = json!({ "name": "rows", "arguments": {}, "_meta": { "callId": "exec-1" } });
    let result = server.ask("tools/call", call)["result"].clone();
    assert_eq!(result["structuredContent"]["rows"].as_array().unwrap().len(), 200);
}

#[test]
fn what_a_client_says_of_its_own_connection_stays_there() {
    let home = home_with(&json!({ "probe": probe(&["normal", "--log", "log"]) }));
    let (mut server, _) = passed(&home);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "later", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
        "later/kept": "yes",
    });
    server.ask("tools/call", json!({ "name": "echo", "arguments": { "text": "a" }, "_meta": meta }));
    let log = home.read("log");
    assert!(log.contains("later/kept") && !log.contains("\"name\": \"later\""), "{log}");
}

#[test]
fn a_server_that_is_not_there_says_so() {
    let home = home_with(&json!({ "other": probe(&["normal"]) }));
    let output = home.weir(&["mcp", "--server", "probe"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(said, "error: no MCP server `probe` is behind Weir\nhint: `weir servers` lists those that are\n");
}
