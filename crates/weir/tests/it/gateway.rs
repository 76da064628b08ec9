//! Other MCP servers behind the program: found, called, and kept from doing harm.
#![cfg(target_os = "linux")]

mod attempts;
mod code;
mod hostile;
mod passed;
mod signed_in;
mod tools_only;

use serde_json::{Value, json};

use crate::support::{Home, Server, write};

/// The server for tests, which behaves as its modes say.
pub(crate) const PROBE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../weir-gateway/tests/servers/probe.py");

/// Returns the entry of a probe in some modes.
pub(crate) fn probe(arguments: &[&str]) -> Value {
    let all: Vec<&str> = [PROBE].iter().chain(arguments).copied().collect();
    json!({ "command": "python3", "args": all, "env": { "PROBE_TOKEN": "s3cret-of-the-probe" } })
}

/// Returns a home with these servers behind the program.
pub(crate) fn home_with(servers: &Value) -> Home {
    let home = Home::new();
    set(&home, servers);
    home
}

pub(crate) fn set(home: &Home, servers: &Value) {
    write(&home.at(".config/weir/servers.json"), json!({ "servers": servers }).to_string());
}

/// Calls a tool of a server as a model does that only reads.
pub(crate) fn reads(server: &str, tool: &str, arguments: &Value) -> Value {
    json!({ "server": server, "tool": tool, "arguments": arguments })
}

impl Server {
    /// Returns the text of an answer of a server behind the program. Those need not say that they are no errors.
    fn answered(&mut self, tool: &str, arguments: &Value) -> String {
        self.attempt(tool, arguments).unwrap_or_else(|error| panic!("{tool} {arguments:.200}: {error:.500}"))
    }
}

fn names(server: &mut Server) -> Vec<String> {
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tools_are_found_called_and_then_offered_directly() {
    let home = home_with(&json!({ "probe": probe(&["normal"]), "other": probe(&["normal"]) }));
    let mut server = home.server();
    let offered = names(&mut server);
    assert!(
        offered.ends_with(&["ctx_tools", "ctx_call_read", "ctx_call_write", "ctx_call_destructive"].map(str::to_owned))
    );
    let found = server.call("ctx_tools", &json!({ "query": "sum of two numbers", "server": "probe" }));
    assert!(found.contains("probe/add (writes)\n  Adds two numbers.\n  a: number\n  b: number"), "{found}");
    assert_eq!(server.answered("ctx_call_read", &reads("probe", "echo", &json!({ "text": "hi" }))), "hi");
    let refused = server.refused("ctx_call_read", &reads("probe", "add", &json!({ "a": 1, "b": 2 })));
    assert!(refused.ends_with("probe/add may write\nhint: call it with ctx_call_write"), "{refused}");
    assert_eq!(server.answered("ctx_call_write", &reads("probe", "add", &json!({ "a": 1, "b": 2 }))), "3");
    let unknown = server.refused("ctx_call_read", &reads("probe", "ecko", &json!({})));
    assert!(unknown.contains("probe has no tool `ecko`") && unknown.contains("echo"), "{unknown}");
    let unknown = server.refused("ctx_call_read", &reads("prob", "echo", &json!({})));
    assert!(unknown.contains("no MCP server `prob` is behind Weir here\nhint: there are: other, probe"), "{unknown}");
    assert!(server.end().success());
    let mut server = home.server();
    assert!(names(&mut server).contains(&"probe__echo".to_owned()));
    assert_eq!(server.answered("probe__echo", &json!({ "text": "again" })), "again");
}

#[test]
fn a_flood_is_stored_whole_and_shown_as_a_digest() {
    let home = home_with(&json!({ "probe": probe(&["flood-blocks", "--megabytes", "5"]) }));
    let mut server = home.server();
    let shown = server.answered("ctx_call_write", &reads("probe", "flood", &json!({})));
    assert!(shown.contains("[ctx:") && shown.len() < 20_000, "{} bytes", shown.len());
    let reference = shown.split("[ctx:").nth(1).unwrap().split(']').next().unwrap();
    let whole = home.ok(&["get", reference, "--json"]);
    assert!(whole.contains("yyyyyyyy"), "{whole:.300}");
}

#[test]
fn text_and_structure_are_reduced_together_and_other_blocks_stay() {
    let home = home_with(&json!({ "probe": probe(&["structured,blocks"]) }));
    let mut server = home.server();
    let call = |tool: &str| json!({ "name": "ctx_call_write", "arguments": reads("probe", tool, &json!({})) });
    let rows = server.ask("tools/call", call("rows"))["result"].clone();
    assert!(rows["content"][0]["text"].as_str().unwrap().contains("[ctx:"), "{rows}");
    assert_eq!(rows["structuredContent"], Value::Null);
    let only = server.ask("tools/call", call("rows_only"))["result"].clone();
    assert_eq!(only["structuredContent"]["rows"][0]["title"], "Row 1");
    let blocks = server.ask("tools/call", call("blocks"))["result"].clone();
    let kinds: Vec<&str> =
        blocks["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource", "resource", "text"]);
    assert_eq!(blocks["_meta"]["probe/kept"], true);
}

#[test]
fn what_a_server_asks_reaches_the_client_and_says_who_asks() {
    let home = home_with(&json!({ "probe": probe(&["elicitation,roots"]) }));
    let mut server = home.server_with(&json!({ "elicitation": {}, "roots": {} }));
    server.begin("ctx_call_write", reads("probe", "ask", &json!({})));
    let asked = server.receive();
    assert_eq!(asked["method"], "elicitation/create");
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("The MCP server probe asks: "), "{message}");
    server.reply(&asked["id"], json!({ "action": "accept", "content": {} }));
    assert!(server.receive()["result"]["content"][0]["text"].as_str().unwrap().contains("accept"));
    server.begin("ctx_call_write", reads("probe", "roots", &json!({})));
    let asked = server.receive();
    assert_eq!(asked["method"], "roots/list");
    server.reply(&asked["id"], json!({ "roots": [{ "uri": "file:///tmp/a" }] }));
    assert!(server.receive()["result"]["content"][0]["text"].as_str().unwrap().contains("file:///tmp/a"));
    // A client that cannot be asked is not asked.
    let mut server = home.server();
    assert!(!server.said("ctx_call_write", &reads("probe", "roots", &json!({}))).contains("file:///"));
}

#[test]
fn progress_reaches_the_client_under_its_own_name() {
    let home = home_with(&json!({ "probe": probe(&["progress", "--seconds", "0.2", "--steps", "3"]) }));
    let mut server = home.server();
    let arguments = reads("probe", "progress", &json!({}));
    let call = json!({ "name": "ctx_call_write", "arguments": arguments, "_meta": { "progressToken": "mine" } });
    server.send_line(
        json!({ "jsonrpc": "2.0", "id": 90, "method": "tools/call", "params": call }).to_string().as_bytes(),
    );
    let mut told = 0;
    let answer = loop {
        let message = server.receive();
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], "mine");
            told += 1;
        } else {
            break message;
        }
    };
    // The answer may overtake the last of them.
    assert!(told >= 2 && answer["id"] == 90, "{told} {answer}");
}

#[test]
fn a_client_that_is_off_keeps_its_servers() {
    let home = home_with(&json!({ "probe": probe(&["flood-blocks", "--megabytes", "1"]) }));
    home.ok(&["off"]);
    let mut server = home.server();
    assert_eq!(names(&mut server).first().map(String::as_str), Some("ctx_tools"));
    let shown = server.answered("ctx_call_write", &reads("probe", "flood", &json!({})));
    assert!(!shown.contains("[ctx:"));
}
