//! Qwen Code.

use serde_json::json;

use super::suite::{Session, TestedClient, check_guide, check_outputs, check_subagent, says};
use super::{SCRIPTS, TestHome};

const QWEN: TestedClient = TestedClient {
    name: "qwen",
    environment: &["OPENAI_API_KEY=made-up", "OPENAI_BASE_URL=http://127.0.0.1:{PORT}/v1", "OPENAI_MODEL=scripted-1"],
    arguments,
    configure,
    shell: |command| json!({ "name": "run_shell_command", "args": { "command": command, "is_background": false } }),
    read: |place, path| json!({ "name": "read_file", "args": { "file_path": place.path("project").join(path) } }),
    write: |place, path, text| json!({ "name": "write_file", "args": { "file_path": place.path("project").join(path), "content": text } }),
    mcp: |server, tool, input| json!({ "name": format!("mcp__{server}__{tool}"), "args": input }),
    returned_3: "Exit Code: 3",
    // The client accepts no replacement for the output of a failed command, and shows a part of it.
    holds_failures: false,
    holds_large_files: false,
    full: 172_000,
    forget_start: None,
    tells_sessions: true,
    rules: || {
        let text = "<state_snapshot>It was about commas.</state_snapshot>"; // tidy: allow(snapshot): the client's word
        vec![
            json!({ "name": "summary", "when": { "last": "state_snapshot" }, "reply": { "text": text, "usage": 171_000 } }), // tidy: allow(snapshot): the client's word
        ]
    },
};

fn arguments(prompt: &str, session: Session) -> Vec<String> {
    let resume: &[&str] = if session == Session::Resumed { &["--continue"] } else { &[] };
    ["--yolo", "--prompt", prompt].iter().chain(resume).map(|word| (*word).to_owned()).collect()
}

fn configure(place: &TestHome) {
    let probe = json!({ "command": "python3", "args": [format!("{SCRIPTS}/probe_mcp.py")] });
    let settings = json!({
        "security": { "auth": { "selectedType": "openai" } },
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        "mcpServers": { "probe": probe },
    });
    place.write("home/.qwen/settings.json", &settings.to_string());
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn outputs_come_as_digests_and_small_ones_untouched() {
    check_outputs(&QWEN);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn a_guide_follows_a_compaction_and_a_resume() {
    check_guide(&QWEN);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn what_a_subagent_prints_is_held_and_its_prompt_untouched() {
    let task = |prompt: &str| {
        json!({ "name": "agent", "args": {
            "description": "count", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false,
        } })
    };
    check_subagent(&QWEN, task, &says());
}
