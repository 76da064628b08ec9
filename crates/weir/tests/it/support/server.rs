//! The program as an MCP server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{TIMEOUT, wait_until};

/// The program as a server. It ends with the test.
pub(crate) struct Server {
    pub(crate) process: Child,
    /// Its input, until that is closed.
    pub(crate) input: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: i64,
}

impl Server {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (sender, lines) = channel();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Self { process, input, lines, last_id: 0 }
    }

    /// Initialises the server as a client without capabilities. Returns its answer.
    pub(crate) fn initialise(&mut self, version: &str) -> Value {
        self.greet("tester", version, &json!({}))
    }

    /// Initialises the server. Returns its answer.
    pub(crate) fn greet(&mut self, client: &str, version: &str, capabilities: &Value) -> Value {
        let client = json!({ "name": client, "version": "1.0.0" });
        let hello = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
        let answer = self.ask("initialize", hello);
        self.notify("notifications/initialized", json!({}));
        answer["result"].clone()
    }

    pub(crate) fn send_line(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(&[line, b"\n"].concat()).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn notify(&mut self, method: &str, parameters: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": parameters });
        self.send_line(message.to_string().as_bytes());
    }

    /// Answers a request of the server's.
    pub(crate) fn reply(&mut self, id: &Value, result: Value) {
        self.send_line(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().as_bytes());
    }

    fn send(&mut self, method: &str, parameters: Value) -> i64 {
        self.last_id += 1;
        let message = json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters });
        self.send_line(message.to_string().as_bytes());
        self.last_id
    }

    /// Calls a tool without waiting for its answer. Returns the ID of the call.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    pub(crate) fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no answer: {error}"));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Returns the answer to a request. Nothing else may arrive before it.
    pub(crate) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.send(method, parameters);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn ask_tool(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Returns the text of a tool's answer, which must not be an error.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask_tool(tool, arguments);
        assert_eq!(answer["result"]["isError"], false, "{tool} {arguments}: {answer}");
        text_of(&answer).to_owned()
    }

    /// Returns the text of a tool's answer, which must be an error.
    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        match self.attempt(tool, arguments) {
            Ok(answer) => panic!("{tool} {arguments} was not refused: {answer}"),
            Err(error) => error,
        }
    }

    /// Returns the text of a tool's answer, as `Err` if it is an error.
    pub(crate) fn attempt(&mut self, tool: &str, arguments: &Value) -> Result<String, String> {
        let answer = self.ask_tool(tool, arguments);
        let text = text_of(&answer).to_owned();
        if answer["result"]["isError"] == true { Err(text) } else { Ok(text) }
    }

    /// Returns the text of a tool's answer, whether it is an error or not.
    pub(crate) fn said(&mut self, tool: &str, arguments: &Value) -> String {
        text_of(&self.ask_tool(tool, arguments)).to_owned()
    }

    /// Reads a file with `context_read`.
    pub(crate) fn read(&mut self, path: &str) -> String {
        self.call("context_read", &json!({ "path": path }))
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn peak_megabytes(&self) -> f64 {
        self.megabytes("VmHWM:")
    }

    /// Returns the memory of file-backed pages, mostly the program's own, in megabytes.
    pub(crate) fn program_megabytes(&self) -> f64 {
        self.megabytes("RssFile:")
    }

    /// Returns the current memory of the program, in megabytes.
    pub(crate) fn resident_megabytes(&self) -> f64 {
        self.megabytes("VmRSS:")
    }

    fn megabytes(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        size.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }

    /// Returns the CPU time of the program itself so far.
    pub(crate) fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // A hundred ticks per second, on every Linux.
        Duration::from_millis(ticks * 10)
    }

    /// Closes the input, after which the program must end within two seconds without further output.
    pub(crate) fn end(&mut self) -> ExitStatus {
        self.input = None;
        let more = self.lines.recv_timeout(Duration::from_secs(2));
        assert_eq!(more, Err(RecvTimeoutError::Disconnected), "neither silent nor at an end");
        self.process.wait().unwrap()
    }

    /// Waits until the program has ended on its own, and returns how long that took.
    pub(crate) fn wait_for_end(&mut self) -> Duration {
        let begun = Instant::now();
        let ended = wait_until(TIMEOUT, || self.process.try_wait().unwrap().is_some());
        assert!(ended, "the program goes on");
        begun.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}
