//! The program as an MCP server, for the tests.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;
use tempfile::TempDir;

use super::{TIMEOUT, text_of};

/// The program as a server, in an empty home. It ends with the test.
pub(super) struct Server {
    pub(super) process: Child,
    pub(super) input: Option<ChildStdin>,
    pub(super) lines: Receiver<String>,
    last_id: i64,
    pub(super) home: TempDir,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::start_by(Command::new(env!("CARGO_BIN_EXE_weir")))
    }

    /// Starts a server through a command that takes the program to start as its last arguments.
    pub(super) fn start_by(command: Command) -> Self {
        Self::start_with(command, None)
    }

    fn start_with(mut command: Command, config: Option<&str>) -> Self {
        let home = tempfile::tempdir().unwrap();
        if let Some(config) = config {
            std::fs::create_dir_all(home.path().join(".config/weir")).unwrap();
            std::fs::write(home.path().join(".config/weir/config.toml"), config).unwrap();
        }
        let project = home.path().join("project");
        std::fs::create_dir(&project).unwrap();
        command.arg("mcp").current_dir(project).env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (sender, lines) = channel();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { process, input, lines, last_id: 0, home }
    }

    /// Starts and initialises a server.
    pub(super) fn ready() -> Self {
        let mut server = Self::start();
        server.initialise("2025-11-25");
        server
    }

    /// Starts and initialises a server with a configuration.
    pub(super) fn ready_with(config: &str) -> Self {
        let mut server = Self::start_with(Command::new(env!("CARGO_BIN_EXE_weir")), Some(config));
        server.initialise("2025-11-25");
        server
    }

    pub(super) fn initialise(&mut self, version: &str) -> Value {
        let client = json!({ "name": "tester", "version": "1.0.0" });
        let parameters = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.ask("initialize", parameters);
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    pub(super) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line, b"\n"].concat()).unwrap();
        input.flush().unwrap();
    }

    pub(super) fn notify(&mut self, method: &str, parameters: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": parameters });
        self.send_line(message.to_string().as_bytes());
    }

    pub(super) fn send(&mut self, method: &str, parameters: Value) -> i64 {
        self.last_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters });
        self.send_line(message.to_string().as_bytes());
        self.last_id
    }

    pub(super) fn send_call(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    pub(super) fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no answer: {error}"));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Returns the answer to a request. Nothing else may arrive before it.
    pub(super) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Returns the text of a tool's answer, which must not be an error.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        text_of(&answer).to_owned()
    }

    /// Closes the input, after which the program must end within two seconds without further output.
    pub(super) fn end(&mut self) -> ExitStatus {
        self.input = None;
        let more = self.lines.recv_timeout(Duration::from_secs(2));
        assert_eq!(more, Err(RecvTimeoutError::Disconnected), "neither silent nor at an end");
        self.process.wait().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
