//! What every request repeats, from recorded sessions, settings and files.

use serde_json::{Value, json};

use crate::support::{Home, text, write};

/// Returns a session that begins with some tokens, has some requests, and calls a tool of a server in the second.
fn session(name: &str, begins: u64, requests: u64, version: &str) -> String {
    let row = |number: u64| {
        let new = if number == 0 { begins } else { 500 };
        let usage = json!({
            "cache_creation_input_tokens": new, "cache_read_input_tokens": begins + number * 500 - new, "output_tokens": 50,
        });
        let call =
            json!({ "type": "tool_use", "id": format!("{name}{number}"), "name": "mcp__probe__used", "input": {} });
        let content = if number == 1 { json!([call]) } else { json!([{ "type": "text", "text": "on" }]) };
        let model = "claude-opus-5-5";
        let message = json!({ "id": format!("{name}-{number}"), "model": model, "content": content, "usage": usage });
        let timestamp = format!("2026-11-{:02}T10:{number:02}:00Z", 1 + name.len());
        let row = json!({ "type": "assistant", "sessionId": name, "version": version, "timestamp": timestamp, "message": message });
        let result = json!({ "type": "tool_result", "tool_use_id": format!("{name}{number}"), "content": "done" });
        let user = json!({
            "type": "user", "sessionId": name, "timestamp": timestamp, "message": { "role": "user", "content": [result] },
        });
        if number == 1 { format!("{row}\n{user}\n") } else { format!("{row}\n") }
    };
    (0..requests).map(row).collect()
}

/// Writes six sessions of a version of Claude Code, and a server with two tools that leaves a mark when it is started.
fn recorded(version: &str) -> Home {
    let home = Home::new();
    for number in 1..=6 {
        let name = "s".repeat(number);
        write(&home.at(&format!(".claude/projects/p/{name}.jsonl")), session(&name, 30_000, 12, version));
    }
    let tool = |name: &str| json!({ "name": name, "description": "reads a tide ".repeat(300), "inputSchema": {} });
    let answer = json!({ "id": 1, "result": { "tools": [tool("used"), tool("idle")] } });
    let script = format!(
        "echo x >> '{}'; read a; echo '{{\"id\":0,\"result\":{{}}}}'; read b; read c; echo '{answer}'; read d",
        home.at("started").display()
    );
    let server = json!({ "command": "/bin/sh", "args": ["-c", script] });
    write(&home.at(".claude.json"), json!({ "mcpServers": { "probe": server } }).to_string());
    write(&home.project().join("CLAUDE.md"), "@docs/rules.md\n");
    write(&home.project().join("docs/rules.md"), "Tides are in metres. ".repeat(800));
    home
}

fn prefix(home: &Home, arguments: &[&str]) -> String {
    text(&home.weir(&[&["prefix"], arguments].concat()).stdout)
}

fn data(home: &Home, arguments: &[&str]) -> Value {
    let data: Value = serde_json::from_str(&prefix(home, &[arguments, &["--json"]].concat())).unwrap();
    data["clients"].as_array().unwrap().iter().find(|client| client["client"] == "claude").unwrap().clone()
}

fn part<'d>(data: &'d Value, name: &str) -> &'d Value {
    data["parts"].as_array().unwrap().iter().find(|part| part["name"] == name).unwrap_or(&Value::Null)
}

#[test]
fn the_first_request_is_told_by_its_parts_and_its_price() {
    let home = recorded("2.1.240");
    let address = json!({ "env": { "ANTHROPIC_BASE_URL": "http://127.0.0.1:4000" } });
    write(&home.at(".claude/settings.json"), address.to_string());
    let said = prefix(&home, &[]);
    for text in [
        "Claude Code 2.1.240: the first request has 30,000 tokens without your message (median of 6 sessions)",
        "It was repeated in 72 requests within 7 days",
        "It sends the descriptions of all tools in every request, because of ANTHROPIC_BASE_URL in ~/.claude/settings.json.",
        "MCP server probe",
        "2 tools, 1 called",
        "probe: 1 of 2, described in ",
        "update Claude Code to 2.1.304 or newer",
        "shorten CLAUDE.md",
        "the rest",
    ] {
        assert!(said.contains(text), "no {text} in:\n{said}");
    }
    assert!(!said.contains("ctx_") && said.lines().all(|line| line.chars().count() <= 200), "{said}");
    let data = data(&home, &[]);
    let (server, file) = (part(&data, "probe"), part(&data, "CLAUDE.md"));
    let tokens = |part: &Value| part["tokens"].as_i64().unwrap();
    assert_eq!(server["not_called"][0]["name"], "idle");
    assert!(tokens(file) > 4_000 && file["note"] == "with 1 imported file", "{file}");
    assert_eq!(data["rest"], 30_000 - tokens(server) - tokens(file));
    assert!(server["dollars_a_month"].as_f64().unwrap() > 0.0, "{server}");
    assert_eq!(std::fs::read_to_string(home.at("started")).unwrap(), "x\n", "what was counted is kept");
    prefix(&home, &["--recount"]);
    assert_eq!(std::fs::read_to_string(home.at("started")).unwrap(), "x\nx\n");
}

#[test]
fn what_a_client_defers_costs_its_names_only() {
    let home = recorded("2.1.325");
    let said = prefix(&home, &["--no-start"]);
    assert!(said.contains("not counted: it was not started yet") && !home.at("started").exists(), "{said}");
    let deferred = data(&home, &[]);
    let server = part(&deferred, "probe");
    assert_eq!((&deferred["defers_tools"], &server["tokens"]), (&json!(true), &json!(22)));
    assert!(server["described_in"].as_u64().unwrap() > 1_000, "{server}");
    assert!(!prefix(&home, &[]).contains("--gateway"));

    write(&home.at(".claude/settings.json"), json!({ "env": { "ENABLE_TOOL_SEARCH": "auto" } }).to_string());
    let inline = data(&home, &[]);
    assert_eq!(inline["inline_because"], "ENABLE_TOOL_SEARCH=auto in ~/.claude/settings.json");
    assert_eq!(part(&inline, "probe")["tokens"], server["described_in"]);
    let said = text(&home.weir(&["doctor"]).stdout);
    let tokens = &server["described_in"];
    let found = format!(
        "✗ Claude Code: ENABLE_TOOL_SEARCH=auto in ~/.claude/settings.json makes it send the descriptions of all tools in every \
         request: {tokens} tokens of probe, and about 6700 tokens of its own tools"
    );
    assert!(said.contains(&found), "{said}");
    assert!(said.contains("fix: remove ENABLE_TOOL_SEARCH from `env` in ~/.claude/settings.json"), "{said}");
}

#[test]
fn a_client_without_transcripts_is_told_by_its_settings() {
    let home = recorded("2.1.325");
    let servers = std::fs::read(home.at(".claude.json")).unwrap();
    write(&home.at(".gemini/settings.json"), text(&servers));
    let said = prefix(&home, &["--client", "gemini"]);
    for text in [
        "Gemini CLI: no transcript says how long its first request is.",
        "It sends the descriptions of MCP tools in every request (tried with 0.61.0).",
        "weir setup gemini --gateway probe",
        "no transcript says which of its tools are used",
    ] {
        assert!(said.contains(text), "no {text} in:\n{said}");
    }
    assert!(!said.contains("Claude Code"), "{said}");
}

#[test]
fn a_foreign_address_counts_only_for_an_old_version() {
    for (version, is_found) in [("2.1.240", true), ("2.1.325", false)] {
        let home = recorded(version);
        let env = json!({ "env": { "ANTHROPIC_BASE_URL": "http://user:secret@127.0.0.1:4000" } });
        write(&home.at(".claude/settings.json"), env.to_string());
        let said = text(&home.weir(&["doctor"]).stdout);
        let found = "ANTHROPIC_BASE_URL in ~/.claude/settings.json makes it send";
        assert_eq!(said.contains(found), is_found, "{said}");
        assert!(!said.contains("secret"), "{said}");
        assert_eq!(said.contains("update Claude Code to 2.1.304 or newer"), is_found, "{said}");
    }
}

#[test]
fn a_new_machine_has_nothing_to_show() {
    let home = Home::new();
    let output = home.weir(&["prefix"]);
    assert!(text(&output.stdout).contains("There is nothing to show yet"), "{output:?}");
}
