//! `weir serve --compat engram`: the requests that engram's plugins make, as curl and fetch send them, and its tools.

use serde_json::{Value, json};

use super::support::{Request, Response, Server};
use crate::support::Home;

fn start(home: &Home) -> Server {
    Server::start_with(home, &["--compat", "engram"])
}

/// Sends what a plugin sends: JSON without a token.
fn report(server: &Server, path: &str, body: &Value) -> Response {
    server.send(&Request::post(path, body.to_string()).header("Content-Type", "application/json"))
}

#[track_caller]
fn check(response: &Response, status: u16, body: &Value) {
    assert_eq!((response.status, &response.json()), (status, body), "{}", response.text());
    assert_eq!(response.header("content-type"), Some("application/json"));
}

/// What a plugin would put into a conversation.
fn context(server: &Server, parameters: &str) -> String {
    let response = server.send(&Request::get(&format!("/context{parameters}")));
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["context"].as_str().unwrap().to_owned()
}

const LEARNED: &str = "Done.\n\n## Key Learnings:\n\n1. The **pool** has 16 connections because of `pgbench`\n\
    2. <private>The customer is called Example</private> and needs a port\n3. short\n\n\
    ## Next\n1. This is not one of them, by far\n";

#[test]
fn a_plugin_reports_a_session_and_gets_its_context_back() {
    let home = Home::new();
    let server = start(&home);
    assert_eq!(server.send(&Request::get("/health")).status, 200);
    assert_eq!(context(&server, "?project=project"), "", "there is nothing to say yet");
    let session = json!({ "id": "s1", "project": "project", "directory": home.project() });
    check(&report(&server, "/sessions", &session), 201, &json!({ "id": "s1", "status": "created" }));
    check(&report(&server, "/sessions", &session), 200, &json!({ "id": "s1", "status": "known" }));
    let prompt =
        json!({ "session_id": "s1", "project": "project", "content": "We decided to use argon2 for passwords" });
    let kept = report(&server, "/prompts", &prompt);
    assert_eq!((kept.status, &kept.json()["status"]), (201, &json!("saved")), "{}", kept.text());
    assert!(kept.json()["id"].is_i64(), "{}", kept.text());
    let noise = json!({ "session_id": "s1", "content": "<system-reminder>be brief</system-reminder>" });
    check(&report(&server, "/prompts", &noise), 200, &json!({ "id": null, "status": "skipped" }));
    let output = json!({ "session_id": "s1", "project": "project", "content": LEARNED, "source": "subagent-stop" });
    let learned = |saved: u64| json!({ "extracted": 2, "saved": saved, "duplicates": 2 - saved, "left_out": 0 });
    check(&report(&server, "/observations/passive", &output), 200, &learned(2));
    check(&report(&server, "/observations/passive", &output), 200, &learned(0));
    let text = context(&server, "?project=project&limit=8&compact=1");
    for part in [
        "- s1 20",
        " engram, ",
        "We decided to use argon2 for passwords",
        "- [finding] **The pool has 16 connections because of pgbench** [ctx:",
        "- [finding] **[REDACTED] and needs a port** [ctx:",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let markdown = server.send(&Request::get("/context?limit=8&compact=1").header("Accept", "text/markdown"));
    assert_eq!(markdown.header("content-type"), Some("text/markdown; charset=utf-8"));
    assert_eq!(markdown.text(), format!("{text}\n"));
    // It is stored as hooks store it: what was decided is an event of its own.
    let history = home.ok(&["history", "--kind", "decision"]);
    assert!(history.contains("argon2"), "{history}");
}

#[test]
fn what_a_plugin_sends_goes_to_the_project_that_it_names() {
    let home = Home::new();
    let server = start(&home);
    let harbour = home.at("harbour");
    std::fs::create_dir(&harbour).unwrap();
    let prompt = |project: &str| json!({ "session_id": "s1", "project": project, "content": "Let the ships wait" });
    report(&server, "/prompts", &prompt("harbour")).problem(404);
    server.send(&Request::get("/context?project=harbour")).problem(404);
    // A folder of another name is not that project, and neither is one that does not exist.
    for directory in [home.project(), home.at("elsewhere/harbour")] {
        let session = json!({ "id": "s1", "project": "harbour", "directory": directory });
        report(&server, "/sessions", &session).problem(404);
    }
    let session = json!({ "id": "s1", "project": "harbour", "directory": harbour });
    assert_eq!(report(&server, "/sessions", &session).status, 201);
    assert_eq!(report(&server, "/prompts", &prompt("harbour")).status, 201);
    assert!(context(&server, "?project=harbour").contains("Let the ships wait"));
    assert_eq!(context(&server, ""), "", "the server's own project has nothing");
    assert!(home.weir_in(&harbour, &["history", "--kind", "prompt"]).status.success());
}

#[test]
fn only_plugins_of_this_user_need_no_token_and_only_for_their_requests() {
    let home = Home::new();
    let server = start(&home);
    let prompt = json!({ "session_id": "s1", "content": "Make the pool smaller" }).to_string();
    let asks = [Request::get("/context"), Request::post("/prompts", prompt)];
    for request in &asks {
        server.send(&request.clone().header("Sec-Fetch-Site", "none")).problem(401);
        server.send(&request.clone().token("guessed")).problem(401);
        server.send(&request.clone().header("Origin", "https://example.invalid")).problem(403);
        assert!(server.send(request).status < 300);
    }
    for tool in ["mem_save", "mem_search", "ctx_search"] {
        server.send(&Request::tool(tool, &json!({ "query": "pool" }))).problem(401);
    }
    for path in ["/observations", "/search?q=pool", "/export"] {
        server.get(path).problem(404);
    }
    let plain = Server::start(&home);
    for request in &asks {
        let status = plain.send(request).status;
        assert!(status == 401 || status == 404, "{status}");
    }
    plain.post("mem_search", &json!({ "query": "pool" })).problem(404);
}

#[test]
fn a_body_that_cannot_be_used_is_refused() {
    let home = Home::new();
    let server = start(&home);
    for (path, body) in [
        ("/sessions", "{}"),
        ("/sessions", "[1"),
        ("/sessions", r#"{"id": "a\nb", "project": "project"}"#),
        ("/sessions", r#"{"id": 7}"#),
        ("/prompts", r#"{"content": "no session"}"#),
        ("/prompts", r#"{"session_id": "s1", "content": "  "}"#),
        ("/observations/passive", r#"{"content": "no session"}"#),
    ] {
        server.send(&Request::post(path, body)).problem(400);
    }
    let long = json!({ "id": "x".repeat(201), "project": "project" });
    report(&server, "/sessions", &long).problem(400);
}

#[test]
fn tools_have_the_names_and_arguments_of_engram() {
    let home = Home::new();
    let server = start(&home);
    let saved = server.call(
        "mem_save",
        &json!({
            "title": "Chose argon2 for passwords", "content": "**Why**: bcrypt cuts at 72 bytes",
            "type": "architecture", "topic_key": "decision/passwords", "project": "project", "session_id": "s1",
        }),
    );
    let reference = saved["data"]["reference"].as_str().unwrap().to_owned();
    let found = server.call("mem_search", &json!({ "query": "bcrypt", "limit": 3 }));
    assert_eq!(found["data"]["queries"][0]["hits"][0]["reference"], reference.as_str(), "{found}");
    let got = server.call("mem_get_observation", &json!({ "id": reference }));
    assert_eq!(got["data"]["text"], "Chose argon2 for passwords\n\n**Why**: bcrypt cuts at 72 bytes");
    let shown = server.call("mem_context", &json!({ "limit": 5, "scope": "project" }));
    let line = "- [decision] **Chose argon2 for passwords**: **Why**: bcrypt cuts at 72 bytes [ctx:";
    assert!(shown["text"].as_str().unwrap().contains(line), "{shown}");
    let personal =
        json!({ "title": "I prefer small commits", "content": "always", "type": "preference", "scope": "personal" });
    server.call("mem_save", &personal);
    let notes = home.json(&["context", "--scope", "user"])["notes"].clone();
    assert_eq!((&notes[0]["kind"], &notes[0]["scope"]), (&json!("convention"), &json!("user")), "{notes}");
    for goal in ["Make the pool smaller", "Make the pool smaller, and say why"] {
        let content = format!("## Goal\n{goal}\n\n## Accomplished\n- nothing");
        server.call("mem_session_summary", &json!({ "content": content, "session_id": "s1", "project": "project" }));
    }
    let summaries = home.json(&["context", "--scope", "project"])["notes"].clone();
    assert_eq!(summaries[0]["title"], "Session summary: Make the pool smaller, and say why", "{summaries}");
    assert_eq!(summaries[0]["topic"], "session s1");
    assert_eq!(summaries.as_array().unwrap().len(), 2, "the second summary supersedes the first: {summaries}");
    let topic = server.call("mem_suggest_topic_key", &json!({ "type": "bugfix", "title": "Fixed N+1 query" }));
    assert_eq!(topic["text"], "Suggested topic_key: bugfix/fixed-n-1-query");
    server.call("mem_save_prompt", &json!({ "content": "Make the pool smaller", "session_id": "s2" }));
    server.call("mem_session_start", &json!({ "id": "s3", "project": "project" }));
    let learned = server.call("mem_capture_passive", &json!({ "content": LEARNED, "session_id": "s2" }));
    assert_eq!(learned["text"], "extracted=2 saved=2 duplicates=0", "{learned}");
    let sessions = home.ok(&["history", "--sessions"]);
    assert!(["s1 20", "s2 20", "s3 20"].iter().all(|session| sessions.contains(session)), "{sessions}");
}

#[test]
fn what_a_text_repeats_is_kept_once() {
    let home = Home::new();
    let server = start(&home);
    let content = "## Learnings\n1. The lighthouse needs a new lamp\n2. The lighthouse needs a new lamp\n";
    let output = json!({ "session_id": "s1", "content": content });
    let learned = json!({ "extracted": 2, "saved": 1, "duplicates": 1, "left_out": 0 });
    check(&report(&server, "/observations/passive", &output), 200, &learned);
}

#[test]
fn what_a_tool_cannot_do_is_refused_and_not_ignored() {
    let home = Home::new();
    let server = start(&home);
    for (tool, arguments, status, part) in [
        ("mem_search", json!({ "query": "pool", "type": "decision" }), 422, "`type` is not supported here"),
        ("mem_search", json!({ "query": "pool", "scope": "team" }), 422, "neither `project` nor `personal`"),
        ("mem_search", json!({}), 422, "`query` is missing"),
        ("mem_search", json!({ "query": "pool", "since": "2d" }), 422, "mem_search has no argument `since`"),
        ("mem_context", json!({ "project": "harbour" }), 403, "this server is for the project `project`"),
        ("mem_save", json!({ "title": "a", "content": "b", "project": "harbour" }), 403, "not `harbour`"),
        ("mem_session_end", json!({ "id": "s1" }), 422, "nothing to store"),
        ("mem_update", json!({ "id": 7, "content": "x" }), 404, "mem_update is not supported"),
        ("mem_delete", json!({ "id": 7 }), 404, "mem_delete is not supported"),
        ("mem_get_observation", json!({ "id": 7 }), 422, "`7` is not a reference"),
    ] {
        let problem = server.post(tool, &arguments).problem(status);
        assert!(problem["detail"].as_str().unwrap().contains(part), "{tool} {arguments}: {problem}");
    }
}

#[test]
fn tools_are_listed_and_called_over_mcp() {
    let home = Home::new();
    let server = start(&home);
    let ask = |method: &str, parameters: Value| {
        server.mcp(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": parameters })).json()
    };
    let listed = ask("tools/list", json!({}));
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"ctx_search") && names.contains(&"mem_save"), "{names:?}");
    assert!(!names.contains(&"mem_update"), "it is not supported: {names:?}");
    let arguments = json!({ "title": "The ferry leaves at seven", "content": "and returns at nine" });
    let kept = ask("tools/call", json!({ "name": "mem_save", "arguments": arguments }));
    assert!(kept["result"]["content"][0]["text"].as_str().unwrap().starts_with("kept [ctx:"), "{kept}");
    let refused = ask("tools/call", json!({ "name": "mem_timeline", "arguments": {} }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(home.context(&["--compact"]).contains("**The ferry leaves at seven**"));
}
