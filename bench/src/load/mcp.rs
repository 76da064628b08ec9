//! A server that is called a few times, and occasionally killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::calls::{note_of, reference};
use super::{CallOutcome, LoadState, WriteKind};
use crate::text::RandomNumbers;

struct LoadServer {
    process: Child,
    output: BufReader<ChildStdout>,
    calls: u64,
}

/// Runs one session: a few calls, the last of which may be cut off by a kill.
pub(super) fn session(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let mut command = state.command(&["mcp"]);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let output = BufReader::new(process.stdout.take().unwrap());
    let mut server = LoadServer { process, output, calls: 0 };
    let client = json!({ "name": "load", "version": "0" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    if server.ask("initialize", hello).is_some() {
        server.tell("notifications/initialized");
        for number in 0..4 {
            one_call(state, &mut server, &format!("{mark}{number}"), numbers);
        }
    }
    drop(server.process.stdin.take());
    if numbers.next().is_multiple_of(5) {
        server.process.kill().unwrap();
    }
    server.process.wait().unwrap();
}

fn one_call(state: &LoadState, server: &mut LoadServer, mark: &str, numbers: &mut RandomNumbers) {
    let (name, tool, arguments, kind) = match numbers.next() % 5 {
        0 | 1 => ("mcp annotate", "ctx_annotate", json!({ "text": note_of(mark) }), Some(WriteKind::Note)),
        2 | 3 => ("mcp search", "ctx_search", json!({ "queries": [mark] }), None),
        _ => ("mcp execute", "ctx_execute", json!({ "code": format!("echo {mark}") }), Some(WriteKind::Run)),
    };
    let started = Instant::now();
    let was_full = state.disk.is_full();
    let kill = numbers.next() % 100 < super::KILLED_PERCENT;
    server.send("tools/call", &json!({ "name": tool, "arguments": arguments }));
    if kill {
        std::thread::sleep(Duration::from_millis(numbers.next() % 120));
        let _ = server.process.kill();
    }
    let answer = server.answer();
    let text = answer.as_ref().and_then(|answer| answer["result"]["content"][0]["text"].as_str()).unwrap_or_default();
    let good = answer.as_ref().is_some_and(|answer| answer["result"]["isError"] != true && answer["error"].is_null());
    let full = was_full || state.disk.was_full_since(started);
    if kind == Some(WriteKind::Run) && good && !text.contains(mark) {
        state.wrong(format!("ctx_execute {mark} does not show what it printed: {text}"));
    }
    if let Some(kind) = kind {
        // A short output is shown in full, without a reference; it is stored anyway, unless the answer says otherwise.
        let kept = match kind {
            WriteKind::Run => good && !text.contains("not kept"),
            _ => good,
        };
        state.remember(mark, kind, kept);
        if let Some(reference) = reference(text).filter(|_| good && kind == WriteKind::Note) {
            state.observations.lock().unwrap().references.push((reference, mark.to_owned()));
        }
    }
    let said = if good { Vec::new() } else { text.as_bytes().to_vec() };
    let output = answer.map(|_| std::process::Output { status: Default::default(), stdout: Vec::new(), stderr: said });
    state.count(name, &CallOutcome { output, stopped: false, full, took: started.elapsed() }, good);
}

impl LoadServer {
    fn ask(&mut self, method: &str, parameters: Value) -> Option<Value> {
        self.send(method, &parameters);
        self.answer()
    }

    fn send(&mut self, method: &str, parameters: &Value) {
        self.calls += 1;
        let line = json!({ "jsonrpc": "2.0", "id": self.calls, "method": method, "params": parameters });
        self.write(&line);
    }

    fn tell(&mut self, method: &str) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method }));
    }

    fn write(&mut self, line: &Value) {
        // A killed server no longer reads.
        if let Some(input) = &mut self.process.stdin {
            let _ = input.write_all(format!("{line}\n").as_bytes());
        }
    }

    /// Returns the answer to the last call, or `None` if the server has ended.
    fn answer(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let answer: Value = serde_json::from_str(&line).ok()?;
            if answer["id"] == self.calls {
                return Some(answer);
            }
        }
    }
}
