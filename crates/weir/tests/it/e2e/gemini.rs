//! Gemini CLI.

use serde_json::{Value, json};

use super::suite::{COUNTED, Session, TestedClient, check_guide, check_outputs, check_subagent};
use super::{SCRIPTS, TestHome};

const GEMINI: TestedClient = TestedClient {
    name: "gemini",
    environment: &[
        "GEMINI_API_KEY=made-up",
        "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:{PORT}",
        "GEMINI_CLI_TRUST_WORKSPACE=true",
    ],
    arguments,
    configure,
    shell: |command| json!({ "name": "run_shell_command", "args": { "command": command } }),
    read: |_, path| json!({ "name": "read_file", "args": { "file_path": path } }),
    write: |_, path, text| json!({ "name": "write_file", "args": { "file_path": path, "content": text } }),
    mcp: |server, tool, input| json!({ "name": format!("mcp_{server}_{tool}"), "args": input }),
    returned_3: "Exit Code: 3",
    holds_failures: true,
    holds_large_files: true,
    full: 900_000,
    forget_start: Some(|place| {
        let mut settings: Value = serde_json::from_str(&place.read("home/.gemini/settings.json")).unwrap();
        settings["hooks"].as_object_mut().unwrap().remove("SessionStart").unwrap();
        place.write("home/.gemini/settings.json", &settings.to_string());
    }),
    tells_sessions: true,
    rules: || {
        let text = "<state_snapshot>It was about commas.</state_snapshot>"; // tidy: allow(snapshot): the client's word
        vec![json!({ "name": "summary", "when": { "last": "state_snapshot" }, "reply": { "text": text } })] // tidy: allow(snapshot): the client's word
    },
};

fn arguments(prompt: &str, session: Session) -> Vec<String> {
    let resume: &[&str] = if session == Session::Resumed { &["--resume=latest"] } else { &[] };
    let fixed = ["--approval-mode=yolo", "--model=gemini-2.5-pro", "--prompt", prompt];
    fixed.iter().chain(resume).map(|word| (*word).to_owned()).collect()
}

fn configure(place: &TestHome) {
    let probe: Value = json!({ "command": "python3", "args": [format!("{SCRIPTS}/probe_mcp.py")] });
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "mcpServers": { "probe": probe },
    });
    place.write("home/.gemini/settings.json", &settings.to_string());
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn outputs_come_as_digests_and_small_ones_untouched() {
    check_outputs(&GEMINI);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn a_guide_follows_a_compaction_and_a_resume() {
    check_guide(&GEMINI);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn what_a_subagent_prints_is_held_and_its_prompt_untouched() {
    let task =
        |prompt: &str| json!({ "name": "invoke_agent", "args": { "agent_name": "generalist", "prompt": prompt } });
    let result = json!({ "name": "complete_task", "args": { "result": { "response": COUNTED } } });
    check_subagent(&GEMINI, task, &json!({ "tools": [result] }));
}
