//! `weir mcp` in an empty home, for the benchmarks that call it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"0\"}}}\n";

/// A server that has answered `initialize`. It ends when this is dropped.
pub(crate) struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    calls: u64,
}

impl Server {
    /// Starts it with `home` as its home and data folder, in `project`.
    pub(crate) fn start(weir: &str, home: &Path, project: &Path) -> Self {
        let mut process = Command::new(weir)
            .arg("mcp")
            .current_dir(project)
            .env("WEIR_DATA", home.join("data"))
            .env("HOME", home)
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        process.stdin.as_mut().unwrap().write_all(INITIALIZE.as_bytes()).unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.contains("serverInfo"), "{answer}");
        Self { process, output, calls: 0 }
    }

    /// Runs code in a shell and returns the whole answer, which must say `expected`.
    pub(crate) fn execute(&mut self, code: &str, expected: &str) -> String {
        self.calls += 1;
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\"ctx_execute\",\"arguments\":{{\"code\":\"{code}\",\"timeout\":600}}}}}}\n",
            self.calls
        );
        self.process.stdin.as_mut().unwrap().write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        assert!(answer.contains(expected), "{answer}");
        answer
    }

    /// A line of its status, in kilobytes.
    pub(crate) fn kilobytes(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// Closes its input and waits for its end.
    pub(crate) fn end(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}
