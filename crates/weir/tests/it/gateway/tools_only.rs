//! Clients with tools and without hooks, such as VS Code and Claude Desktop: what holds a flood back there is the
//! gateway.

use serde_json::{Value, json};

use super::{PROBE, names, probe, reads};
use crate::support::{Home, Server, write};

/// What the probe's `rows` returns.
const ROWS: usize = 200;

/// Starts what a client's settings have as Weir's entry, as the client does.
fn started(home: &Home, entry: &Value, client: &str) -> Server {
    let words: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
    let mut server = Server::start(home.command(entry["command"].as_str().unwrap(), &words));
    server.greet(client, "2025-06-18", &json!({}));
    server
}

/// Lets a model find a tool, call it, and fetch what its digest leaves out.
fn check(server: &mut Server) {
    let found = server.call("ctx_tools", &json!({ "query": "return rows" }));
    assert!(found.contains("probe/rows (reads)") && found.contains("call one like this: ctx_call_read"), "{found}");
    let shown = server.answered("ctx_call_read", &reads("probe", "rows", &json!({})));
    let reference = shown.split("[ctx:").nth(1).unwrap().split(']').next().unwrap();
    let rows: Vec<Value> = (0..ROWS).map(|number| json!({ "id": number, "title": format!("Row {number}") })).collect();
    let whole = json!({ "rows": rows }).to_string();
    assert!(shown.len() < whole.len() / 2, "{} bytes of {}: {shown}", shown.len(), whole.len());
    // One row, and then all of them, in as many calls as it takes.
    let one = server.call("ctx_get", &json!({ "ref": reference, "select": "rows[150].title" }));
    assert!(one.contains("Row 150"), "{one}");
    let mut fetched = String::new();
    for from in (0..ROWS).step_by(50) {
        let part =
            json!({ "ref": reference, "select": "rows[].title", "lines": format!("{}-{}", from + 1, from + 50) });
        fetched.push_str(&server.call("ctx_get", &part));
    }
    assert!((0..ROWS).all(|number| fetched.contains(&format!("Row {number}"))), "{fetched}");
}

#[test]
fn vs_code_gets_a_digest_through_its_own_entry() {
    let home = Home::new();
    let mut entry = probe(&["structured"]);
    entry["type"] = json!("stdio");
    let settings = home.at(".config/Code/User/mcp.json");
    write(&settings, json!({ "servers": { "probe": entry } }).to_string());
    home.ok(&["setup", "vscode", "--yes", "--gateway"]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(settings).unwrap()).unwrap();
    let servers = written["servers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["weir"], "{written}");
    let mut server = started(&home, &servers["weir"], "Visual Studio Code");
    assert!(names(&mut server).contains(&"ctx_get".to_owned()));
    check(&mut server);
    // A server is for the client that had it.
    let error = home.server().refused("ctx_tools", &json!({ "query": "return rows" }));
    assert_eq!(error, "error: no MCP server is behind Weir here\nhint: all are for other clients than `tester`");
}

#[test]
fn claude_desktop_gets_a_digest_of_a_server_that_was_added() {
    let home = Home::new();
    home.piped(&["servers", "add", "probe", "--", "python3", PROBE, "structured"]);
    let project = home.project().display().to_string();
    let entry = json!({ "command": crate::support::WEIR, "args": ["-C", project, "mcp"] });
    check(&mut started(&home, &entry, "claude-ai"));
}
