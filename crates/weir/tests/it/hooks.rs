//! Hooks as a client calls them: a process, JSON in, JSON or nothing out.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod asked;
mod busy;
mod deadline;
mod guides;
mod held;
mod hostile;
mod long;
mod metered;
mod repeats;
mod rewrites;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A home with a project and a client's session.
struct Session {
    home: TempDir,
    key: String,
}

impl Session {
    fn new() -> Self {
        let session = Self { home: tempfile::tempdir().unwrap(), key: "s1".to_owned() };
        std::fs::create_dir(session.project()).unwrap();
        session
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn data(&self) -> PathBuf {
        self.home.path().join(".local/share/weir")
    }

    fn weir(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(arguments).current_dir(self.project()).env_clear();
        command.env("HOME", self.home.path()).env("PATH", "/usr/bin:/bin");
        // The tests run a slow build on a loaded machine. Tests of the deadline set their own value.
        command.env("WEIR_HOOK_SECONDS", "60");
        command
    }

    /// Runs a command that must succeed, and returns its output.
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.weir(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Calls a hook with bytes. For any input, the hook must succeed and print nothing on the terminal.
    fn raw_hook(&self, client: &str, event: &str, input: &[u8]) -> Vec<u8> {
        feed(self.weir(&["hook", client, event]), input)
    }

    /// Calls a hook of Claude Code in this session. Returns the answer, or `null` if there is none.
    fn hook(&self, event: &str, more: Value) -> Value {
        let mut payload = json!({
            "session_id": self.key, "cwd": self.project(), "hook_event_name": event,
            "transcript_path": self.home.path().join(format!(".claude/projects/p/{}.jsonl", self.key)),
            "permission_mode": "default",
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.raw_hook("claude", event, payload.to_string().as_bytes());
        if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() }
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

fn feed(mut command: Command, input: &[u8]) -> Vec<u8> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A hook that does not read all of its input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    assert!(status.success() && stderr.is_empty(), "{status}: {}", String::from_utf8_lossy(&stderr));
    stdout
}

/// Returns the numbers from 1, one per line.
fn numbers(to: u32) -> String {
    (1..=to).map(|number| format!("{number}\n")).collect()
}

/// Returns what the model sees instead of an output.
fn shown(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

/// Returns the reference in a digest.
fn reference(digest: &str) -> &str {
    let at = digest.find("[ctx:").unwrap_or_else(|| panic!("no reference in {digest}"));
    &digest[at..at + "[ctx:k7f2m9q4xz]".len()]
}

fn tokens(text: &str) -> usize {
    // The program counts precisely; a test only needs a bound.
    text.len() / 3
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}
