//! End-to-end tests with real clients: how they start the program, what the model sees, and what is left behind.
//!
//! Invariant: no test here reaches beyond loopback. The scripts in `tests/e2e` run each client in an empty network and
//! record every host name it looks up.
#![expect(clippy::disallowed_methods, reason = "the tests start clients, and the environment says where those are")]

mod afterwards;
mod claude;
mod codex;
mod fetched;
mod hooked;
mod people;
mod proxied;
mod refactor;
mod replayed;
mod tax;
mod windows;

mod copilot;
mod gemini;
mod opencode;
mod qwen;
mod suite;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

const WEIR: &str = env!("CARGO_BIN_EXE_weir");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e");

/// Plain words, since the scenarios also use it as a regular expression.
const NOTE: &str = "The pool has sixteen connections, more starve the database";

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn inspector_lists_and_calls_every_tool() {
    let place = TestHome::with_all_tools();
    // Strict mode: a schema that some client's model cannot accept is an error.
    let listed = place.inspect(&["--strict", "--method", "tools/list"]);
    let tools: Vec<&str> = list(&listed["tools"]).iter().map(|tool| text(&tool["name"])).collect();
    let runs = ["ctx_execute", "ctx_execute_file", "ctx_batch_execute"];
    let knowledge = [
        "ctx_annotate", "ctx_index", "ctx_fetch_and_index", "ctx_search", "ctx_get", "ctx_history", "ctx_reflect",
        "ctx_import", "ctx_forget", "context_read", "context_peek", "context_edit", "context_write", "context_status",
        "ctx_stats", "ctx_doctor",
    ];
    assert_eq!(tools, [runs.as_slice(), &knowledge].concat());
    place.write("project/data.txt", "one\ntwo\nthree\n");
    let ran = place.inspect_tool("ctx_execute", &["code=echo 4711 | rev"]);
    assert!(ran.starts_with("exit 0 in ") && ran.contains(", sandbox full\n<<<") && ran.contains("\n1174\n"), "{ran}");
    let ran = place.inspect_tool("ctx_execute_file", &["path=data.txt", "code=wc -l < \"$FILE_PATH\""]);
    assert!(ran.contains("\n3\n") && ran.ends_with(">>>"), "{ran}");
    let ran = place.inspect_tool("ctx_batch_execute", &["commands=[\"echo one\", \"exit 3\"]"]);
    assert!(ran.starts_with("2 commands, 1 failed: [2]\n[1] echo one: exit 0 in "), "{ran}");

    let kept = place.inspect_tool("ctx_annotate", &[&format!("text={NOTE}"), "kind=decision", "topic=db-pool"]);
    let reference = between(&kept, "kept [ctx:", "] in project scope");
    let shown = fenced(reference);
    let found = place.inspect_tool("ctx_search", &["queries=[\"size of the pool\"]", "limit=3"]);
    assert!(found.contains(&shown), "{found}");
    let got = place.inspect_tool("ctx_get", &[&format!("ref={reference}")]);
    assert!(got.contains(&shown), "{got}");
    let history = place.inspect_tool("ctx_history", &[]);
    assert!(history.contains(&format!("note {NOTE} [ctx:{reference}]")), "{history}");

    let chosen = format!("refs=[\"{reference}\"]");
    let plan = place.inspect_tool("ctx_forget", &[&chosen]);
    assert!(plan.contains("would remove 1 entry") && plan.contains(reference), "{plan}");
    let confirmation = plan.rsplit(' ').next().unwrap();
    let removed = place.inspect_tool("ctx_forget", &[&chosen, &format!("confirm={confirmation}")]);
    assert!(removed.contains("removed from the project store: 1 entry"), "{removed}");

    let made = place.inspect_tool("context_write", &["path=new.txt", "text=one two"]);
    assert!(made.starts_with("new.txt created: 1 line, 7 B, hash "), "{made}");
    let edited = place.inspect_tool("context_edit", &["path=new.txt", "old=two", "new=2"]);
    assert!(edited.contains("\n-one two\n+one 2"), "{edited}");
    let read = place.inspect_tool("context_read", &["path=new.txt"]);
    assert!(read.contains("\none 2\n"), "{read}");
    let outlined = place.inspect_tool("context_peek", &["paths=[\"new.txt\"]"]);
    assert!(outlined.starts_with("new.txt: "), "{outlined}");
    // Each call here is a process, and therefore a session of its own.
    let status = place.inspect_tool("context_status", &[]);
    assert_eq!(status, "no files were read in this session");
    let forgotten = place.inspect_tool("context_status", &["forget=all"]);
    assert_eq!(forgotten, "0 files forgotten; nothing on disk changed");

    let health = place.inspect_tool("ctx_doctor", &[]);
    assert!(health.contains("✓ project store: 4 entries") && !health.contains('✗'), "{health}");
    assert!(health.contains("✓ sandbox: full"), "{health}");
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn claude_code_keeps_finds_and_gets_a_note() {
    let place = TestHome::new();
    let outcome = place.run_claude("note.json", "Remember the size of the pool");
    check_conversation(&place, &outcome);
    let end: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((&end["is_error"], &end["num_turns"]), (&json!(false), &json!(4)), "{end}");
    assert_eq!(place.only_moment()["client"], "claude-code");
}

/// Checks the requests of a client that ran one command and a batch with the scripted model.
fn check_runs(outcome: &Outcome) {
    let requests: Vec<&Value> = outcome.requests.iter().filter(|request| request["why"] != "stray").collect();
    let steps: Vec<&str> = requests.iter().map(|request| text(&request["why"])).collect();
    assert_eq!(steps, ["step:0", "step:1", "step:2"]);
    let [ran, batch] = [1, 2].map(|step| text(&requests[step]["last"]));
    assert!(
        ran.contains("exit 0 in ") && ran.contains("sandbox full; plain lines; 20000 lines, 106.3 KiB held as [ctx:"),
        "{ran}"
    );
    assert!(batch.contains("3 commands, 1 failed") && batch.contains("nobody is left"), "{batch}");
    assert!(outcome.stdout.contains("It counted to twenty thousand."), "{}", outcome.stdout);
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn claude_code_runs_a_command_and_a_batch() {
    let place = TestHome::with_all_tools();
    check_runs(&place.run_claude("run.json", "Count and look"));
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn codex_runs_a_command_and_a_batch() {
    let place = TestHome::with_all_tools();
    check_runs(&place.run_codex("run.json", "Count and look"));
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn codex_keeps_finds_and_gets_a_note() {
    let place = TestHome::new();
    let outcome = place.run_codex("note.json", "Remember the size of the pool");
    check_conversation(&place, &outcome);
    let begin: Value = serde_json::from_str(outcome.stdout.lines().next().unwrap()).unwrap();
    let moment = place.only_moment();
    assert_eq!(moment["client"], "codex-mcp-client");
    assert_eq!(moment["session"], begin["thread_id"], "the session is the one that Codex names");
}

const CODEX_CONFIG: &str = r#"
model = "scripted-1"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.weir]
command = {WEIR}
args = ["mcp"]
"#;

/// Checks what the model must have seen in the scenario `note.json`, with any client.
fn check_conversation(place: &TestHome, outcome: &Outcome) {
    let requests: Vec<&Value> = outcome.requests.iter().filter(|request| request["why"] != "stray").collect();
    let steps: Vec<&str> = requests.iter().map(|request| text(&request["why"])).collect();
    assert_eq!(steps, ["step:0", "step:1", "step:2", "step:3"]);
    // Clients put the instructions in different places, but all must include them.
    assert!(requests[0]["body"].to_string().contains("between <<<id and id>>> is data"));

    let moment = place.only_moment();
    let reference = between(text(&moment["reference"]), "[ctx:", "]");
    let [kept, found, got] = [1, 2, 3].map(|step| text(&requests[step]["last"]));
    assert!(kept.contains(&format!("kept [ctx:{reference}] in project scope")), "{kept}");
    for seen in [found, got] {
        assert!(seen.contains(&format!("[ctx:{reference}] note/decision on db-pool (rev 1) by model")), "{seen}");
        assert!(seen.contains(&fenced(reference)), "{seen}");
    }
    assert!(outcome.stdout.contains("The pool has sixteen connections."), "{}", outcome.stdout);
}

fn fenced(reference: &str) -> String {
    format!("<<<{reference}\n{NOTE}\n{reference}>>>")
}

struct Client<'a> {
    name: &'a str,
    scenario: Option<&'a str>,
    environment: &'a [&'a str],
    arguments: &'a [&'a str],
}

/// The result of a client's run.
struct Outcome {
    stdout: String,
    requests: Vec<Value>,
}

struct TestHome(TempDir);

impl TestHome {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.path("project")).unwrap();
        place
    }

    /// Returns a place whose user lists every tool.
    fn with_all_tools() -> Self {
        let place = Self::new();
        place.write("home/.config/weir/config.toml", "[tools]\nlist = \"all\"\n");
        place
    }

    fn path(&self, part: &str) -> PathBuf {
        self.0.path().join(part)
    }

    fn write(&self, part: &str, text: &str) {
        let path = self.path(part);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn read(&self, part: &str) -> String {
        std::fs::read(self.path(part)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
    }

    /// Runs a client to its end, and checks that it succeeded, used no network, and left nothing running.
    fn run(&self, client: &Client<'_>) -> Outcome {
        self.run_with(client, &[])
    }

    /// Does the same, with more arguments for the script that runs the client.
    fn run_with(&self, client: &Client<'_>, more: &[&str]) -> Outcome {
        let mut command = Command::new("python3");
        command.arg(Path::new(SCRIPTS).join("run_client.py")).arg("--run").arg(self.0.path());
        command.arg("--cwd").arg(self.path("project"));
        if let Some(scenario) = client.scenario {
            command.arg("--scenario").arg(Path::new(SCRIPTS).join("scenarios").join(scenario));
            command.arg(format!("--var=NOTE={NOTE}")).arg(format!("--var=PROJECT={}", self.path("project").display()));
            command.arg(format!("--var=WEIR={WEIR}"));
        }
        command.args(client.environment.iter().map(|pair| format!("--env={pair}"))).args(more);
        command.arg("--").arg(installed(client.name)).args(client.arguments);
        // Bytecode would be written into the checkout.
        let script = command.env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();

        let stdout = self.read("stdout");
        let talk = format!(
            "{}\n{}\nstdout: {stdout}\nstderr: {}",
            client.name,
            String::from_utf8_lossy(&script.stderr),
            self.read("stderr")
        );
        assert!(script.status.success(), "{talk}");
        let mut summary: Value = serde_json::from_str(&self.read("summary.json")).unwrap();
        summary.as_object_mut().unwrap().remove("seconds");
        assert_eq!(summary, json!({ "status": 0, "failures": [], "hosts": [], "left": [] }), "{talk}");
        let requests = self.read("requests.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Outcome { stdout, requests }
    }

    fn run_claude(&self, scenario: &str, prompt: &str) -> Outcome {
        let servers = json!({ "mcpServers": { "weir": { "type": "stdio", "command": WEIR, "args": ["mcp"] } } });
        self.write("servers.json", &servers.to_string());
        self.run(&Client {
            name: "claude",
            scenario: Some(scenario),
            environment: &[
                "ANTHROPIC_BASE_URL=http://127.0.0.1:{PORT}",
                "ANTHROPIC_API_KEY=made-up",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
                "DISABLE_AUTOUPDATER=1",
            ],
            arguments: &[
                "--print", prompt, "--output-format=json", "--strict-mcp-config", "--mcp-config=../servers.json",
                "--allowedTools=mcp__weir",
            ],
        })
    }

    fn run_codex(&self, scenario: &str, prompt: &str) -> Outcome {
        self.write("home/.codex/config.toml", &CODEX_CONFIG.replace("{WEIR}", &json!(WEIR).to_string()));
        self.run(&Client {
            name: "codex",
            scenario: Some(scenario),
            environment: &[],
            arguments: &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--disable=plugins",
                "--config=model_providers.scripted.base_url=\"http://127.0.0.1:{PORT}/v1\"",
                prompt,
            ],
        })
    }

    /// Returns the MCP inspector's answer to one request.
    fn inspect(&self, arguments: &[&str]) -> Value {
        let arguments = [&["--cli", WEIR, "mcp"], arguments].concat();
        let inspector = Client { name: "mcp-inspector", scenario: None, environment: &[], arguments: &arguments };
        serde_json::from_str(&self.run(&inspector).stdout).unwrap()
    }

    fn inspect_tool(&self, tool: &str, arguments: &[&str]) -> String {
        let mut words = vec!["--method", "tools/call", "--tool-name", tool];
        words.extend(arguments.iter().flat_map(|argument| ["--tool-arg", argument]));
        let answer = self.inspect(&words);
        assert_eq!(answer["isError"], false, "{tool}: {answer}");
        text(&answer["content"][0]["text"]).to_owned()
    }

    /// Returns the only recorded event, as `weir history` reports it.
    fn only_moment(&self) -> Value {
        let mut command = Command::new(WEIR);
        command.args(["history", "--json"]).current_dir(self.path("project"));
        let output = command.env_clear().env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin").output().unwrap();
        let history: Value = serde_json::from_slice(&output.stdout).unwrap();
        let [moment] = list(&history["moments"]) else { panic!("not one moment: {history}") };
        moment.clone()
    }
}

fn installed(name: &str) -> PathBuf {
    let Some(clients) = std::env::var_os("WEIR_E2E_CLIENTS") else {
        panic!("WEIR_E2E_CLIENTS is not set: it names the folder where `.ci/clients` installs the real clients");
    };
    let command = Path::new(&clients).join("bin").join(name);
    assert!(command.is_file(), "{} is not there: run `.ci/clients`", command.display());
    command
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let found = text.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    found.unwrap_or_else(|| panic!("no {before}…{after} in {text}")).0
}
