//! OpenCode.

use serde_json::json;

use super::suite::{Session, TestedClient, check_guide, check_outputs, check_subagent, says};
use super::{SCRIPTS, TestHome};

const OPENCODE: TestedClient = TestedClient {
    name: "opencode",
    environment: &[
        "MODEL_URL=http://127.0.0.1:{PORT}/v1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
    ],
    arguments,
    configure,
    shell: |command| json!({ "name": "bash", "args": { "command": command, "description": "x" } }),
    read: |place, path| json!({ "name": "read", "args": { "filePath": place.path("project").join(path) } }),
    write: |place, path, text| json!({ "name": "write", "args": { "filePath": place.path("project").join(path), "content": text } }),
    mcp: |server, tool, input| json!({ "name": format!("{server}_{tool}"), "args": input }),
    // The client does not report it to its model.
    returned_3: "",
    holds_failures: true,
    holds_large_files: true,
    full: 99_000,
    forget_start: None,
    // The plugin does not pass that on.
    tells_sessions: true,
    rules: || {
        let title = json!({ "name": "title", "when": { "last": "Generate a title" }, "reply": { "text": "Commas" } });
        let text = "It was about commas.";
        let summary =
            json!({ "name": "summary", "when": { "last": "summary|summari[sz]e" }, "reply": { "text": text } });
        vec![title, summary]
    },
};

fn arguments(prompt: &str, session: Session) -> Vec<String> {
    let resume: &[&str] = if session == Session::Resumed { &["--continue"] } else { &[] };
    ["run"].iter().chain(resume).chain(&[prompt]).map(|word| (*word).to_owned()).collect()
}

fn configure(place: &TestHome) {
    let model = json!({ "name": "Scripted", "tool_call": true, "limit": { "context": 100_000, "output": 8_000 } });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible", "options": { "baseURL": "{env:MODEL_URL}", "apiKey": "made-up" },
        "models": { "scripted-1": model },
    });
    let probe = json!({ "type": "local", "command": ["python3", format!("{SCRIPTS}/probe_mcp.py")], "enabled": true });
    let settings = json!({
        "model": "scripted/scripted-1", "small_model": "scripted/scripted-1", "autoupdate": false, "share": "disabled",
        "permission": "allow", "provider": { "scripted": provider }, "mcp": { "probe": probe },
    });
    place.write("home/.config/opencode/opencode.json", &settings.to_string());
    // The client would fetch this package for any plugin, and waits long for the missing network. Our plugin does not
    // use it.
    let locked = json!({ "packages": { "": { "dependencies": { "@opencode-ai/plugin": "1.18.33" } } } });
    place.write("home/.config/opencode/package-lock.json", &locked.to_string());
    std::fs::create_dir(place.path("home/.config/opencode/node_modules")).unwrap();
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn outputs_come_as_digests_and_small_ones_untouched() {
    check_outputs(&OPENCODE);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn a_guide_follows_a_compaction_and_a_resume() {
    check_guide(&OPENCODE);
}

#[test]
#[ignore = "needs all real clients; WEIR_ALL_CLIENTS=1 .ci/run installs them"]
fn what_a_subagent_prints_is_held_and_its_prompt_untouched() {
    let task = |prompt: &str| json!({ "name": "task", "args": { "description": "count", "prompt": prompt, "subagent_type": "general" } });
    check_subagent(&OPENCODE, task, &says());
}
