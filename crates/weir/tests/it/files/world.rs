//! A home with a project, and the program there as the server of a session.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Long, because a loaded machine is slow. An answer that never arrives still fails the test.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A home with a project. It is removed on drop.
pub(crate) struct World(TempDir);

impl World {
    pub(crate) fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(world.project()).unwrap();
        world
    }

    pub(crate) fn home(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Writes the user's rules, as Claude Code stores them.
    pub(crate) fn rules(&self, permissions: &Value) {
        self.write("../.claude/settings.json", json!({ "permissions": permissions }).to_string());
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(arguments).current_dir(self.project()).env_clear();
        command.env("HOME", self.home()).env("PATH", "/usr/bin:/bin");
        // The tests run a slow build on a loaded machine. Tests of the deadline set their own value.
        command.env("WEIR_HOOK_SECONDS", "60");
        command
    }

    pub(crate) fn weir(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Calls a hook of Claude Code in a session.
    pub(crate) fn hook(&self, session: &str, event: &str, more: &Value) -> Value {
        let mut payload = json!({ "session_id": session, "cwd": self.project(), "hook_event_name": event });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut command = self.command(&["hook", "claude", event]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        if output.stdout.is_empty() { Value::Null } else { serde_json::from_slice(&output.stdout).unwrap() }
    }

    /// Starts the program as the server of a session of Claude Code.
    pub(crate) fn server(&self, session: &str) -> Server {
        self.server_in(&self.project(), session)
    }

    /// Starts a server in another folder.
    pub(crate) fn server_in(&self, folder: &Path, session: &str) -> Server {
        let mut command = self.command(&["mcp"]);
        command.current_dir(folder).env("CLAUDE_CODE_SESSION_ID", session);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (sender, lines) = channel();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut server = Server { process, input, lines, last: 0 };
        let client = json!({ "name": "claude-code", "version": "1.0.0" });
        server.ask("initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client }));
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized", "params": {} }));
        server
    }
}

/// The program as a server. It ends with the test.
pub(crate) struct Server {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    last: i64,
}

impl Server {
    /// Returns the process ID.
    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters }));
        let line = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no answer: {error}"));
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.last, "{answer}");
        answer
    }

    /// Returns a tool's answer, which is `Err` if it is an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        if answer["result"]["isError"] == json!(true) { Err(text) } else { Ok(text) }
    }

    pub(crate) fn ok(&mut self, tool: &str, arguments: &Value) -> String {
        self.call(tool, arguments).unwrap_or_else(|error| panic!("{tool} {arguments}: {error}"))
    }

    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        match self.call(tool, arguments) {
            Ok(answer) => panic!("{tool} {arguments} was not refused: {answer}"),
            Err(error) => error,
        }
    }

    pub(crate) fn read(&mut self, path: &str) -> String {
        self.ok("context_read", &json!({ "path": path }))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the text between the marks.
pub(crate) fn fenced(answer: &str) -> &str {
    let (_, rest) = answer.split_once("\n<<<").unwrap_or_else(|| panic!("no text in {answer}"));
    let (mark, rest) = rest.split_once('\n').unwrap();
    rest.split_once(&format!("\n{mark}>>>")).unwrap_or_else(|| panic!("no end in {answer}")).0
}

/// Returns a Rust file with this many functions.
pub(crate) fn source(functions: usize) -> String {
    let body =
        "    let total: u64 = (0..n).map(|i| i * i).sum();\n    println!(\"{total} of {n}\");\n    drop(total);\n"
            .repeat(3);
    let function =
        |number| format!("/// Adds up to {number}.\npub fn add_{number}(n: u64) -> u64 {{\n{body}    n\n}}\n\n");
    format!("//! Sums of squares.\n\n{}", (0..functions).map(function).collect::<String>())
}
