//! Hooks as a client calls them: a process, JSON in, JSON or nothing out.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod asked;
mod busy;
mod cold;
mod deadline;
mod documented;
mod folders;
mod guides;
mod held;
mod hostile;
mod long;
mod metered;
mod repeats;
mod rewrites;
mod words;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Home, hooked, write};

/// A home with a project and a client's session.
struct Session {
    home: Home,
    key: String,
}

impl Session {
    fn new() -> Self {
        Self { home: Home::new(), key: "s1".to_owned() }
    }

    fn project(&self) -> PathBuf {
        self.home.project()
    }

    fn data(&self) -> PathBuf {
        self.home.data()
    }

    fn weir(&self, arguments: &[&str]) -> Command {
        self.home.weir_command(arguments)
    }

    fn ok(&self, arguments: &[&str]) -> String {
        self.home.ok(arguments)
    }

    /// Calls a hook with bytes. For any input, the hook must succeed and print nothing on the terminal.
    fn raw_hook(&self, client: &str, event: &str, input: &[u8]) -> Vec<u8> {
        self.home.raw_hook(client, event, input)
    }

    fn transcript(&self) -> PathBuf {
        self.home.path().join(format!(".claude/projects/p/{}.jsonl", self.key))
    }

    /// Calls a hook of Claude Code in this session. Returns the answer, or `null` if there is none.
    fn hook(&self, event: &str, more: Value) -> Value {
        // The client has a transcript before it calls a tool.
        if !self.transcript().exists() {
            write(&self.transcript(), "");
        }
        let mut told = json!({ "transcript_path": self.transcript(), "permission_mode": "default" });
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.home.hook(&self.key, event, &told)
    }

    /// Reports a command and its output as Claude Code's Bash tool does.
    fn ran(&self, command: &str, stdout: &str) -> Value {
        self.hook("PostToolUse", bash(command, stdout))
    }

    fn faults(&self) -> String {
        std::fs::read_to_string(self.data().join("hook-faults.log")).unwrap_or_default()
    }

    /// Returns the events of the project as kind and text, oldest first.
    fn events(&self) -> Vec<(String, String)> {
        let history: Value = serde_json::from_str(&self.ok(&["history", "--limit", "1000", "--json"])).unwrap();
        let mut moments = history["moments"].as_array().unwrap().clone();
        moments.reverse();
        let text = |moment: &Value, key: &str| moment[key].as_str().unwrap_or_default().to_owned();
        moments.iter().map(|moment| (text(moment, "kind"), text(moment, "text"))).collect()
    }
}

fn bash(command: &str, stdout: &str) -> Value {
    json!({
        "tool_name": "Bash", "tool_use_id": "t1", "duration_ms": 27, "tool_input": { "command": command },
        "tool_response": { "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false },
    })
}

/// Returns the numbers from 1, one per line.
fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

/// Returns what the model sees instead of an output.
fn shown(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

fn reference(digest: &str) -> &str {
    let at = digest.find("[ctx:").unwrap_or_else(|| panic!("no reference in {digest}"));
    &digest[at..at + "[ctx:k7f2m9q4xz]".len()]
}

fn tokens(text: &str) -> usize {
    // The program counts precisely; a test only needs a bound.
    text.len() / 3
}
