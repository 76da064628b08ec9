//! An MCP server in an empty home, for the benchmarks that call it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"0\"}}}\n";

const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// A server that has answered `initialize`. It ends when this is dropped.
pub(crate) struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Server {
    /// Starts `weir mcp` with `home` as its home and data folder, in `project`.
    pub(crate) fn start(weir: &str, home: &Path, project: &Path) -> Self {
        Self::start_any(&[weir, "mcp"], home, project)
    }

    pub(crate) fn start_any(words: &[&str], home: &Path, project: &Path) -> Self {
        let mut process = Command::new(words[0])
            .args(&words[1..])
            .current_dir(project)
            .env("WEIR_DATA", home.join("data"))
            .env("HOME", home)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        process.stdin.as_mut().unwrap().write_all(INITIALIZE.as_bytes()).unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.contains("serverInfo"), "{answer}");
        process.stdin.as_mut().unwrap().write_all(INITIALIZED.as_bytes()).unwrap();
        Self { process, output, calls: 0 }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        self.calls += 1;
        let params = json!({ "name": tool, "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params });
        self.process.stdin.as_mut().unwrap().write_all(format!("{request}\n").as_bytes()).unwrap();
        loop {
            let mut answer = String::new();
            assert!(self.output.read_line(&mut answer).unwrap() > 0, "the server ended while {tool} was called");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            // Other messages of the server in between are skipped.
            if answer["id"] == self.calls {
                let parts = answer["result"]["content"].as_array().into_iter().flatten();
                let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
                assert!(answer["error"].is_null(), "{tool}: {answer}");
                return texts.join("\n");
            }
        }
    }

    /// Runs code in a shell and returns the answer, which must contain `expected`.
    pub(crate) fn execute(&mut self, code: &str, expected: &str) -> String {
        let answer = self.call("ctx_execute", &json!({ "code": code, "timeout": 600 }));
        assert!(answer.contains(expected), "{answer}");
        answer
    }

    /// Returns a line of its status, in kilobytes.
    pub(crate) fn kilobytes(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Returns the CPU time of the server and of its finished children, in seconds.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let ticks = fields.split_whitespace().skip(11).take(4).map(|ticks| ticks.parse::<f64>().unwrap());
        // A tick is a hundredth of a second on every Linux.
        ticks.sum::<f64>() / 100.0
    }

    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Closes its input and waits for it to end.
    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}
