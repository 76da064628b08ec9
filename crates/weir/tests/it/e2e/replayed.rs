//! Transcripts as the real clients write them today, played by `weir replay`.

use std::process::Command;

use serde_json::{Value, json};

use super::{TestHome, WEIR};

/// Plays what a client recorded in a place without Weir, and checks that all of it was understood: this many tool
/// results, one of them from an MCP server.
pub(super) fn check(place: &TestHome, client: &str, results: u64) {
    let mut command = Command::new(WEIR);
    command.args(["replay", "--json"]).current_dir(place.path("project")).env_clear();
    let output = command.env("HOME", place.path("home")).env("PATH", "/usr/bin:/bin").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let is_whole = |session: &Value| {
        session["client"] == client && session["requests"].as_u64() > Some(0) && session["faults"] == json!([])
    };
    assert!(report["sessions"].as_array().unwrap().iter().all(is_whole), "{report}");
    let skipped = (&report["skipped_rows"], &report["not_transcripts"], &report["unreadable"]);
    assert_eq!(skipped, (&json!(0), &json!([]), &json!([])), "{report}");
    let found = (&report["all"]["results"], &report["tools"]["mcp"]["results"], &report["tools"]["other"]);
    assert_eq!(found, (&json!(results), &json!(1), &Value::Null), "{report}");
    // Some clients show and record less than Weir would hold back.
    let of_server = &report["tools"]["mcp"];
    assert!(of_server["touched"] == 1 || of_server["tokens"].as_u64() < Some(2_000), "{report}");
    assert!(report["all"]["cut_by_client"].as_u64() > Some(0), "{report}");
}
