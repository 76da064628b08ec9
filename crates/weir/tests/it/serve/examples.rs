//! The programs in `examples`: each with the SDK of its provider, against a server and the scripted model.
#![expect(clippy::disallowed_methods, reason = "the environment says where the SDKs are")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::support::{Home, WEIR, said, text};

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/scripted_model.py");
const SCENARIO: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/scenarios/depot.json");

const QUESTION: &str = "Which depot does order 1777 ship from?";
/// The answer. It is only in the output of the run, of which the model gets a digest.
const DEPOT: u64 = 1_777 * 982_451_653 % 1_000_000_007;

#[derive(Clone, Copy)]
enum Language {
    Python,
    TypeScript,
}

/// The API of a provider, and how its SDKs are told where it is.
struct Api {
    /// The name of the program without its extension.
    program: &'static str,
    key_variable: &'static str,
    url_variable: &'static str,
    /// What the SDKs expect the URL to end with.
    path: &'static str,
}

const ANTHROPIC_MESSAGES: Api = Api {
    program: "anthropic_messages",
    key_variable: "ANTHROPIC_API_KEY",
    url_variable: "ANTHROPIC_BASE_URL",
    path: "",
};
const GEMINI: Api =
    Api { program: "gemini", key_variable: "GEMINI_API_KEY", url_variable: "GOOGLE_GEMINI_BASE_URL", path: "" };
const OPENAI_CHAT: Api =
    Api { program: "openai_chat", key_variable: "OPENAI_API_KEY", url_variable: "OPENAI_BASE_URL", path: "/v1" };
const OPENAI_RESPONSES: Api = Api { program: "openai_responses", ..OPENAI_CHAT };

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn anthropic_messages_in_python_finds_what_was_held_back() {
    check(Language::Python, &ANTHROPIC_MESSAGES);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn anthropic_messages_in_typescript_finds_what_was_held_back() {
    check(Language::TypeScript, &ANTHROPIC_MESSAGES);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn gemini_in_python_finds_what_was_held_back() {
    check(Language::Python, &GEMINI);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn gemini_in_typescript_finds_what_was_held_back() {
    check(Language::TypeScript, &GEMINI);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn openai_chat_in_python_finds_what_was_held_back() {
    check(Language::Python, &OPENAI_CHAT);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn openai_chat_in_typescript_finds_what_was_held_back() {
    check(Language::TypeScript, &OPENAI_CHAT);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn openai_responses_in_python_finds_what_was_held_back() {
    check(Language::Python, &OPENAI_RESPONSES);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn openai_responses_in_typescript_finds_what_was_held_back() {
    check(Language::TypeScript, &OPENAI_RESPONSES);
}

#[test]
#[ignore = "needs the SDKs that .ci/runtimes installs"]
fn the_typescript_examples_have_no_type_errors() {
    let home = Home::new();
    let programs = [ANTHROPIC_MESSAGES, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES].map(|api| typescript(&home, &api));
    let compiler = installed("WEIR_ORACLE_TYPESCRIPT").join("node_modules/typescript/lib/tsc.js");
    let options = ["--noEmit", "--strict", "--skipLibCheck", "--erasableSyntaxOnly", "--module", "nodenext"];
    let mut command = home.command(node(), &[]);
    command.arg(compiler).args(options).args(["--target", "es2022"]).args(programs).current_dir(home.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
}

/// Runs an example, which must run code, search for its output and get the part that was held back.
fn check(language: Language, api: &Api) {
    let mut home = Home::new();
    home.programs.push(Path::new(WEIR).parent().unwrap().to_owned());
    let token = home.ok(&["serve", "--print-token", "--scope", "run"]);
    let server = RunningServer::start(&home);
    let mut model = Model::start(&home);

    let mut command = match language {
        Language::Python => {
            let mut command = home.command(installed("WEIR_SDKS").join("python/bin/python"), &[]);
            // Bytecode would be written into the checkout.
            command.env("PYTHONDONTWRITEBYTECODE", "1");
            command.arg(Path::new(EXAMPLES).join("python").join(api.program).with_extension("py"));
            command
        }
        Language::TypeScript => {
            let mut command = home.command(node(), &[]);
            command.arg(typescript(&home, api));
            command
        }
    };
    command.env("WEIR_URL", &server.url).env("WEIR_TOKEN", token.trim());
    command.env(api.key_variable, "made-up").env(api.url_variable, format!("{}{}", model.url, api.path));
    let output = command.arg(QUESTION).output().unwrap();

    let (failures, requests) = model.finish();
    assert!(output.status.success(), "{failures:#}\n{}", said(&output));
    assert_eq!(failures, json!([]), "{}", said(&output));
    assert_eq!(text(&output.stdout), format!("Order 1777 ships from depot {DEPOT}.\n"));
    // The examples print each call.
    let printed = text(&output.stderr);
    let calls: Vec<&str> = printed.lines().filter_map(|line| line.split_once(' ')).map(|(name, _)| name).collect();
    assert_eq!(calls, ["ctx_execute", "ctx_search", "ctx_get"], "{printed}");

    let [first, ran, found, got] = requests.as_slice() else { panic!("not four requests: {requests:?}") };
    assert!(first["body"]["tools"].to_string().contains("ctx_execute"), "{first}");
    let last = |request: &Value| request["last"].as_str().unwrap().to_owned();
    let depot = DEPOT.to_string();
    assert!(!last(ran).contains(&depot), "the depot was not held back: {}", last(ran));
    assert!(last(found).contains("[ctx:") && last(got).contains(&depot), "{}\n{}", last(found), last(got));
}

/// Copies a TypeScript example to a place where its SDK is installed. Returns its path there.
fn typescript(home: &Home, api: &Api) -> PathBuf {
    let source = Path::new(EXAMPLES).join("typescript");
    let program = format!("{}.ts", api.program);
    for file in [program.as_str(), "package.json"] {
        std::fs::copy(source.join(file), home.at(file)).unwrap();
    }
    let modules = home.at("node_modules");
    if !modules.exists() {
        std::os::unix::fs::symlink(installed("WEIR_SDKS").join("typescript/node_modules"), modules).unwrap();
    }
    home.at(&program)
}

/// Returns the Node that is installed next to the SDKs, which runs TypeScript. The machine's own may be too old.
fn node() -> PathBuf {
    installed("WEIR_SDKS").canonicalize().unwrap().parent().unwrap().join("bin/node")
}

fn installed(variable: &str) -> PathBuf {
    let folder = std::env::var_os(variable);
    PathBuf::from(
        folder.unwrap_or_else(|| {
            panic!("{variable} is not set: `.ci/run tests` sets it to what `.ci/runtimes` installed")
        }),
    )
}

/// The program as an HTTP server. It ends with the test.
struct RunningServer {
    process: Child,
    url: String,
}

impl RunningServer {
    fn start(home: &Home) -> Self {
        let mut command = home.weir_command(&["serve", "--bind", "127.0.0.1:0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.split_once("listening on ")?.1.trim().to_owned()));
        // A full pipe would stop the server. The thread ends with it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url: url.expect("the server ended before it listened") }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The scripted model. It ends when its input is closed.
struct Model {
    process: Child,
    output: BufReader<ChildStdout>,
    url: String,
    log: PathBuf,
}

impl Model {
    fn start(home: &Home) -> Self {
        let log = home.at("requests.jsonl");
        let mut command = home.command("python3", &[MODEL, SCENARIO]);
        let mut process = command.arg(&log).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut port = String::new();
        output.read_line(&mut port).unwrap();
        Self { process, output, url: format!("http://127.0.0.1:{}", port.trim()), log }
    }

    /// Ends the model. Returns what was wrong, and the requests.
    fn finish(&mut self) -> (Value, Vec<Value>) {
        drop(self.process.stdin.take());
        let mut failures = String::new();
        self.output.read_to_string(&mut failures).unwrap();
        self.process.wait().unwrap();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let requests = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        (serde_json::from_str(&failures).unwrap(), requests)
    }
}
