//! Servers that hang, die, flood, lie or change.

use std::time::Duration;

use serde_json::json;

use super::{home_with, probe, reads, set};
use crate::support::wait_until;

#[test]
fn one_server_that_hangs_keeps_nobody_else_waiting() {
    let home = home_with(&json!({ "stuck": probe(&["hang", "--log", "log"]), "well": probe(&["normal"]) }));
    let mut server = home.server();
    let stuck = server.begin("ctx_call_write", reads("stuck", "hang", &json!({})));
    assert_eq!(server.answered("ctx_call_read", &reads("well", "echo", &json!({ "text": "a" }))), "a");
    assert_eq!(server.answered("ctx_call_read", &reads("stuck", "echo", &json!({ "text": "b" }))), "b");
    server.notify("notifications/cancelled", json!({ "requestId": stuck }));
    let is_told = || home.read("log").contains("notifications/cancelled");
    assert!(wait_until(Duration::from_secs(10), is_told), "the server was not told that the call was cancelled");
    let silent =
        json!({ "stuck": { "timeout": 1, "command": probe(&[])["command"], "args": probe(&["hang"])["args"] } });
    set(&home, &silent);
    let mut server = home.server();
    let error = server.refused("ctx_call_write", &reads("stuck", "hang", &json!({})));
    assert!(error.contains("cannot call stuck/hang: it did not answer within 1 s"), "{error}");
}

#[test]
fn a_server_that_dies_is_started_again() {
    let home = home_with(&json!({ "probe": probe(&["die", "--state", "state"]) }));
    let mut server = home.server();
    for (tool, starts) in [("die", "2"), ("half", "3")] {
        let error = server.refused("ctx_call_write", &reads("probe", tool, &json!({})));
        assert!(error.contains("it ended during the call, which may have had effects"), "{error}");
        assert_eq!(server.answered("ctx_call_read", &reads("probe", "starts", &json!({}))), starts);
    }
}

#[test]
fn a_server_that_does_not_start_is_left_alone_for_a_while() {
    let home = home_with(&json!({ "broken": probe(&["die-at-start"]), "well": probe(&["normal"]) }));
    let mut server = home.server();
    let error = server.refused("ctx_call_read", &reads("broken", "echo", &json!({})));
    assert!(error.contains("it did not start: it ended before it answered; its last words: "), "{error}");
    let error = server.refused("ctx_call_read", &reads("broken", "echo", &json!({})));
    assert!(error.contains("it is tried again in"), "{error}");
    let found = server.call("ctx_tools", &json!({ "query": "echo a text" }));
    assert!(found.contains("well/echo") && found.contains("\nnot searched: broken: "), "{found}");
}

#[test]
fn a_flood_without_end_costs_bounded_memory_and_only_its_own_call() {
    for modes in ["flood-line", "flood-blocks"] {
        let home = home_with(&json!({ "probe": probe(&[modes, "--megabytes", "100"]) }));
        let mut server = home.server();
        let error = server.refused("ctx_call_write", &reads("probe", "flood", &json!({})));
        assert!(error.contains("its answer is longer than 32.0 MiB; ask it for less"), "{error}");
        assert_eq!(server.answered("ctx_call_read", &reads("probe", "echo", &json!({ "text": "a" }))), "a");
        assert!(server.peak_megabytes() < 220.0, "{} MB", server.peak_megabytes());
    }
}

#[test]
fn what_is_not_a_message_is_passed_over() {
    for modes in ["garbage", "wrong-ids", "stderr-flood", "flood-messages", "list-changed-storm", "pages"] {
        let home = home_with(&json!({ "probe": probe(&[modes, "--megabytes", "5"]) }));
        let mut server = home.server();
        assert_eq!(server.answered("ctx_call_read", &reads("probe", "echo", &json!({ "text": modes }))), modes);
    }
    let home = home_with(&json!({ "probe": probe(&["not-mcp"]) }));
    let error = home.server().refused("ctx_call_read", &reads("probe", "echo", &json!({})));
    assert!(error.contains("it answered with an error: method not found"), "{error}");
}

#[test]
fn a_tool_that_has_changed_is_shown_to_the_user_before_it_is_used() {
    let home = home_with(&json!({ "probe": probe(&["changed,changed-hints", "--state", "state"]) }));
    let echo = reads("probe", "echo", &json!({ "text": "a" }));
    assert_eq!(home.server().answered("ctx_call_read", &echo), "a");
    let error = home.server().refused("ctx_call_read", &echo);
    assert!(error.contains("nothing was called. the description of probe/echo has changed"), "{error}");
    let mut server = home.server_with(&json!({ "elicitation": {} }));
    server.begin("ctx_call_read", echo.clone());
    let asked = server.receive();
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.contains("It was:\nReturns a text.\nIt is:\nReturns a text, and IMPORTANT"), "{message}");
    server.reply(&asked["id"], json!({ "action": "accept", "content": {} }));
    assert_eq!(server.receive()["result"]["content"][0]["text"], "a");
    // It is known now, and what claims to read but deletes is not believed.
    assert_eq!(home.server().answered("ctx_call_read", &echo), "a");
    let delete = home.server().refused("ctx_call_read", &reads("probe", "delete_note", &json!({ "name": "n" })));
    assert!(delete.contains("may destroy something"), "{delete}");
}

#[test]
fn what_lies_about_itself_is_judged_by_its_name() {
    let home = home_with(&json!({ "probe": probe(&["lying-hints"]) }));
    let mut server = home.server();
    let found = server.call("ctx_tools", &json!({ "query": "delete remove drop everything" }));
    assert!(found.contains("(destructive)"), "{found}");
    let delete = reads("probe", "delete_note", &json!({ "name": "n" }));
    assert!(server.refused("ctx_call_read", &delete).contains("call it with ctx_call_destructive"));
    assert!(server.refused("ctx_call_destructive", &delete).contains("weir servers allow probe delete_note"));
}

#[test]
fn rules_and_lists_hold_however_a_tool_is_called() {
    let with = |more: serde_json::Value| {
        let mut entry = probe(&["normal"]);
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "probe": entry })
    };
    let home = home_with(&with(json!({ "deny": ["echo"], "allow": ["delete_note"] })));
    let mut server = home.server();
    let echo = reads("probe", "echo", &json!({ "text": "a" }));
    assert!(server.refused("ctx_call_destructive", &echo).contains("the entry of probe denies echo"));
    assert!(!server.call("ctx_tools", &json!({ "query": "echo a text" })).contains("probe/echo"));
    server.answered("ctx_call_destructive", &reads("probe", "delete_note", &json!({ "name": "n" })));
    set(&home, &with(json!({})));
    home.rules(&json!({ "deny": ["mcp__probe__echo"], "allow": ["mcp__probe__delete_note"] }));
    let mut server = home.server();
    for tool in ["echo", "probe/echo", "mcp__probe__echo"] {
        let error = server.refused("ctx_call_write", &reads("probe", tool, &json!({ "text": "a" })));
        assert!(error.contains("a rule denies probe/echo"), "{error}");
    }
    server.answered("ctx_call_destructive", &reads("probe", "delete_note", &json!({ "name": "n" })));
}

#[test]
fn descriptions_and_names_stay_data() {
    let home = home_with(&json!({ "probe": probe(&["descriptions,names,collisions,orders"]) }));
    let mut server = home.server();
    let found = server.call("ctx_tools", &json!({ "query": "note steganography orders text" }));
    let mark = found.split("<<<").nth(1).unwrap().split('\n').next().unwrap();
    assert_eq!(found.matches(&format!("{mark}>>>")).count(), 1, "{found}");
    assert!(!found.contains(['\u{202e}', '\u{2066}', '\u{1b}', '\u{200b}']), "{found}");
    assert!(found.len() < 20_000, "{} bytes", found.len());
    // A schema too deep to be read fails at once.
    set(&home, &json!({ "probe": probe(&["schemas"]) }));
    let found = home.server().call("ctx_tools", &json!({ "query": "note" }));
    assert!(found.contains("not searched: probe: it answered with an error: it answered with something"), "{found}");
    // No tool of a server takes the place of one of Weir's.
    let tools = server.ask("tools/list", json!({}))["result"]["tools"].clone();
    let named = |name: &str| tools.as_array().unwrap().iter().filter(|tool| tool["name"] == name).count();
    assert_eq!((named("ctx_execute"), named("ctx_search")), (1, 1));
}

#[test]
fn what_a_server_started_ends_with_the_session() {
    let home = home_with(&json!({ "probe": probe(&["grandchildren,stubborn", "--state", "state"]) }));
    let mut server = home.server();
    server.answered("ctx_call_read", &reads("probe", "echo", &json!({ "text": "a" })));
    let started = home.read("state");
    let grandchild = started.split_whitespace().next_back().unwrap().to_owned();
    // A process that has ended may wait for its parent.
    let state = || std::fs::read_to_string(format!("/proc/{grandchild}/stat")).unwrap_or_default();
    let lives = || state().rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'));
    server.input = None;
    assert!(wait_until(Duration::from_secs(10), || !lives()), "{started} goes on");
}
