//! Costs with other windows, from recorded sessions.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// Returns a session whose window grows by `grown` tokens with every request.
fn session(requests: u64, grown: u64) -> String {
    let row = |request: u64| {
        let window = 30_000 + request * grown;
        let new = if request == 0 { window } else { grown };
        let usage = json!({
            "cache_creation_input_tokens": new, "cache_read_input_tokens": window - new, "output_tokens": 100,
        });
        let content = json!([{ "type": "text", "text": "on" }]);
        let message =
            json!({ "id": format!("m{request}"), "model": "claude-opus-5-5", "content": content, "usage": usage });
        json!({ "type": "assistant", "sessionId": "s", "message": message }).to_string() + "\n"
    };
    (0..requests).map(row).collect()
}

fn weir(home: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
    command.arg("window").args(arguments).current_dir(home).env_clear().stdin(Stdio::null());
    let output = command.env("HOME", home).env("PATH", "/usr/bin:/bin").output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_long_session_is_cheaper_in_a_smaller_window() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/p");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("long.jsonl"), session(300, 1_500)).unwrap();
    std::fs::write(folder.join("short.jsonl"), session(5, 1_500)).unwrap();
    let (code, said) = weir(home.path(), &["--against", "967000"]);
    assert_eq!(code, Some(0), "{said}");
    for text in [
        "1 session of 30 requests or more: 300 requests, the longest window 478,500 tokens",
        "Cheapest at 100,000 tokens: −",
        "\"autoCompactWindow\": 133000 in ~/.claude/settings.json",
        "assumed, since these sessions have none",
        "1 shorter session was left out",
        "too small for 1 session",
    ] {
        assert!(said.contains(text), "no {text} in:\n{said}");
    }
    assert!(said.lines().all(|line| line.chars().count() <= 200), "{said}");
    let data: Value = serde_json::from_str(&weir(home.path(), &["--json"]).1).unwrap();
    assert_eq!((&data["least"], &data["against"]), (&json!(100_000), &json!(167_000)));
    let lengths = data["lengths"].as_array().unwrap();
    let cost = |at: usize| lengths[at]["cost"].as_f64().unwrap();
    assert!(cost(2) < cost(4) && cost(4) < cost(8), "{data}");
}

#[test]
fn without_a_long_session_there_is_nothing_to_say() {
    let home = tempfile::tempdir().unwrap();
    let (code, said) = weir(home.path(), &[]);
    assert_eq!((code, said.contains("There is no session of 30 requests or more")), (Some(3), true), "{said}");
}
