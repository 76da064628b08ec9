//! What clients show of an MCP result: by their own rules, and with Weir's hook.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::contenders::Contender;
use super::set::{Output, Set};

/// The maximum number of tokens of a result that Claude Code shows, in 2.1.325.
const MAX_CLAUDE_TOKENS: usize = 25_000;

pub(crate) type Rule = fn(&str) -> String;

/// The clients' own rules, as read in the programs named.
pub(crate) const RULES: [(&str, Rule); 7] = [
    ("Claude Code 2.1.325 itself: 25,000 tokens, else a path", claude),
    ("Claude Code 2.1.325, as it shows commands: 2,000 of more than 30,000 characters", claude_shell),
    // It counts four bytes as a token.
    ("Codex 0.166.0 itself: 10,000 tokens of both ends", |text| both_ends(text, 40_000, 20_000)),
    ("Codex 0.166.0, models that it does not know: 10,000 bytes", |text| both_ends(text, 10_000, 5_000)),
    ("Gemini CLI 0.61.0 itself: first 8,000 and last 32,000 characters", |text| both_ends(text, 40_000, 8_000)),
    ("OpenCode 1.18.33 itself: first 2,000 lines, 50 KiB", opencode),
    ("Copilot CLI 1.0.102 itself: first 500 characters and a path", |text| {
        format!("Output too large to read at once. Saved to: PATH\nPreview (first 500 chars):\n{}", begin(text, 500))
    }),
];

fn claude(text: &str) -> String {
    if weir_tokens::count(text) > MAX_CLAUDE_TOKENS { saved("PATH", text) } else { text.to_owned() }
}

fn claude_shell(text: &str) -> String {
    if text.chars().count() > 30_000 { begin(text, 2_000).to_owned() } else { text.to_owned() }
}

/// Returns Claude Code's message that replaces a longer result.
fn saved(path: &str, text: &str) -> String {
    let size = text.chars().count();
    format!("Error: result ({size} characters) exceeds maximum allowed tokens. Output has been saved to {path}.\n")
}

fn begin(text: &str, characters: usize) -> &str {
    &text[..text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)]
}

/// Returns both ends of a text: this many characters in total, `first` of them from the beginning.
fn both_ends(text: &str, characters: usize, first: usize) -> String {
    let all = text.chars().count();
    if all <= characters {
        return text.to_owned();
    }
    let end = &text[begin(text, all - (characters - first)).len()..];
    format!("{}\n…\n{end}", begin(text, first))
}

fn opencode(text: &str) -> String {
    let mut bytes = 0;
    let fits = |line: &&str| {
        bytes += line.len();
        bytes <= 51_200
    };
    text.split_inclusive('\n').take(2_000).take_while(fits).collect()
}

pub(crate) struct ClientRule(pub fn(&str) -> String);

impl Contender for ClientRule {
    fn prepare(&mut self, _: &Set) {}

    fn first(&mut self, _: usize, output: &Output, _: &str) -> String {
        (self.0)(&output.text)
    }

    fn second(&mut self, _: usize, _: &str) -> Option<String> {
        None
    }
}

/// A program that is given the file of an output and prints what it shows of it.
pub(crate) struct ProgramContender {
    command: String,
    shown: Vec<String>,
}

impl ProgramContender {
    pub(crate) fn new(command: &str) -> Self {
        Self { command: command.to_owned(), shown: Vec::new() }
    }

    /// Runs it in an empty home, since some programs leave out what they have shown before.
    fn show(&self, path: &Path) -> String {
        let home = tempfile::tempdir().unwrap();
        let mut words = self.command.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        let printed = command.args(words).arg(path).env("HOME", home.path()).stderr(Stdio::null()).output().unwrap();
        assert!(printed.status.success(), "{}: {}", self.command, printed.status);
        String::from_utf8_lossy(&printed.stdout).into_owned()
    }
}

impl Contender for ProgramContender {
    fn prepare(&mut self, set: &Set) {
        self.shown = set.outputs.iter().map(|output| self.show(&set.project.path().join(&output.name))).collect();
    }

    fn first(&mut self, place: usize, _: &Output, _: &str) -> String {
        self.shown[place].clone()
    }

    fn second(&mut self, _: usize, _: &str) -> Option<String> {
        None
    }
}

/// Weir's hook in Claude Code, after the call that returned the output.
pub(crate) struct HookContender {
    weir: PathBuf,
    home: tempfile::TempDir,
    /// Whether the call has the question among its arguments.
    asks: bool,
    /// What it shows of each output, used if it does not depend on the question.
    shown: HashMap<usize, String>,
}

impl HookContender {
    pub(crate) fn new(weir: &str, asks: bool) -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(home.path().join("project")).unwrap();
        std::fs::create_dir_all(home.path().join("session")).unwrap();
        Self { weir: std::fs::canonicalize(weir).unwrap(), home, asks, shown: HashMap::new() }
    }

    fn show(&self, place: usize, output: &Output, question: &str) -> String {
        let call = output.call.as_ref().unwrap();
        let mut input = call.input.clone();
        if self.asks {
            input["prompt"] = json!(question);
        }
        let mut text = output.text.clone();
        if output.tokens > MAX_CLAUDE_TOKENS {
            // It is next to the transcript, where the client saves it.
            let path = self.home.path().join("session").join(format!("{place}.txt"));
            std::fs::write(&path, &text).unwrap();
            text = saved(path.to_str().unwrap(), &text);
        }
        // Each question has its own conversation, in which nothing has been shown before.
        let session = question.replace(|c: char| !c.is_alphanumeric(), "-");
        let event = json!({
            "session_id": format!("{place}-{session}"), "cwd": self.home.path().join("project"), "hook_event_name": "PostToolUse",
            "transcript_path": self.home.path().join("session.jsonl"), "tool_name": call.tool, "tool_input": input,
            "tool_response": [{ "type": "text", "text": text }],
        });
        let mut command = Command::new(&self.weir);
        command.args(["hook", "claude", "PostToolUse"]).env_clear().env("HOME", self.home.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
        let answer = child.wait_with_output().unwrap().stdout;
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let shown = &answer["hookSpecificOutput"]["updatedToolOutput"];
        match (shown.as_str(), shown[0]["text"].as_str()) {
            (Some(shown), _) | (None, Some(shown)) => shown.to_owned(),
            // The hook left the output alone.
            _ => text,
        }
    }
}

impl Contender for HookContender {
    fn prepare(&mut self, _: &Set) {}

    fn first(&mut self, place: usize, output: &Output, question: &str) -> String {
        if self.asks {
            return self.show(place, output, question);
        }
        let shown = self.shown.remove(&place).unwrap_or_else(|| self.show(place, output, question));
        self.shown.insert(place, shown.clone());
        shown
    }

    fn second(&mut self, _: usize, _: &str) -> Option<String> {
        None
    }
}
