//! Copilot CLI.

use serde_json::json;

use super::suite::{Session, TestedClient, check_guide, check_outputs, check_subagent, says};
use super::{SCRIPTS, TestHome};

const COPILOT: TestedClient = TestedClient {
    name: "copilot",
    environment: &[
        "COPILOT_OFFLINE=true",
        "COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:{PORT}/v1",
        "COPILOT_PROVIDER_API_KEY=made-up",
        "COPILOT_MODEL=scripted-1",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS=50000",
        "COPILOT_AUTO_UPDATE=false",
        // This exact value also makes the client trust the folder.
        "COPILOT_ALLOW_ALL=true",
    ],
    arguments,
    configure,
    shell: |command| json!({ "name": "bash", "args": { "command": command, "description": "x" } }),
    read: |place, path| json!({ "name": "view", "args": { "path": place.path("project").join(path) } }),
    write: |place, path, text| json!({ "name": "create", "args": { "path": place.path("project").join(path), "file_text": text } }),
    mcp: |server, tool, input| json!({ "name": format!("{server}-{tool}"), "args": input }),
    returned_3: "exit code 3",
    holds_failures: true,
    holds_large_files: false,
    full: 49_500,
    forget_start: None,
    tells_sessions: true,
    rules: || {
        let text = "<overview>It was about commas.</overview>\n<checkpoint_title>Commas</checkpoint_title>";
        vec![json!({ "name": "summary", "when": { "last": "<checkpoint_title>" }, "reply": { "text": text } })]
    },
};

fn arguments(prompt: &str, session: Session) -> Vec<String> {
    let resume: &[&str] = if session == Session::Resumed { &["--continue"] } else { &[] };
    ["--prompt", prompt].iter().chain(resume).map(|word| (*word).to_owned()).collect()
}

fn configure(place: &TestHome) {
    let probe = json!({
        "type": "local", "command": "python3", "args": [format!("{SCRIPTS}/probe_mcp.py")], "tools": ["*"],
    });
    let servers = json!({ "mcpServers": { "probe": probe } });
    place.write("home/.copilot/mcp-config.json", &servers.to_string());
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn outputs_come_as_digests_and_small_ones_untouched() {
    check_outputs(&COPILOT);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn a_guide_follows_a_compaction_and_a_resume() {
    check_guide(&COPILOT);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn what_a_subagent_prints_is_held_and_its_prompt_untouched() {
    let task = |prompt: &str| {
        json!({ "name": "task", "args": {
            "description": "count", "prompt": prompt, "agent_type": "general-purpose", "name": "count",
        } })
    };
    check_subagent(&COPILOT, task, &says());
}
