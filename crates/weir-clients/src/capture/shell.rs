//! Splits shell scripts as far as events need it: into simple commands, those that the exit code covers, and the
//! subject by which two attempts at the same thing are recognised.
//!
//! This has no bearing on safety: anything it does not understand is left as it is. The policy has a real parser.

mod lexer;

use std::path::PathBuf;

use lexer::{Lexer, Token};
use weir_core::event::line;

/// The length of a script that is parsed, in bytes.
const MAX_SCRIPT_BYTES: usize = 16 << 10;
const MAX_COMMANDS: usize = 64;
const MAX_SUBJECT_BYTES: usize = 240;

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimpleCommand {
    /// Its words without quotes, redirections, variables set for it, and wrappers such as `sudo`.
    pub(crate) words: Vec<String>,
    /// How it is joined to the command before it.
    pub(crate) join: Separator,
    /// The text of its here-document.
    pub(crate) here: String,
    /// The files that its output is redirected to.
    pub(crate) writes: Vec<String>,
    /// Whether it runs in the background, so that no exit code covers it.
    background: bool,
    /// How many subshells it is in.
    depth: usize,
}

/// How a command is joined to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Runs if that succeeded; also used for the first command.
    And,
    /// Runs if that failed.
    Or,
    /// Runs in any case.
    Then,
    /// Reads that command's output.
    Pipe,
}

impl SimpleCommand {
    /// Returns the name of the program, without its folder.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        word.rsplit('/').next().unwrap_or(word)
    }

    /// Returns the words after the program.
    pub(crate) fn args(&self) -> impl Iterator<Item = &str> + Clone {
        self.words.iter().skip(1).map(String::as_str)
    }

    /// Returns the first word after the program that is not an option.
    pub(crate) fn verb(&self) -> &str {
        self.args().find(|word| !word.starts_with('-')).unwrap_or_default()
    }

    fn new(join: Separator) -> Self {
        Self { words: Vec::new(), join, here: String::new(), writes: Vec::new(), background: false, depth: 0 }
    }

    fn text(&self) -> String {
        self.words.join(" ")
    }

    /// Returns whether it only prepares for other commands or prints a message.
    pub(crate) fn is_auxiliary(&self) -> bool {
        let auxiliaries =
            ["cd", "echo", "printf", "export", "source", ".", "set", "true", ":", "sleep", "pushd", "popd", "unset"];
        auxiliaries.contains(&self.program())
    }

    /// Returns whether it only feeds text to the next command, and so is not the main command of a pipeline.
    fn is_source(&self) -> bool {
        ["echo", "printf", "cat", "yes"].contains(&self.program())
    }
}

/// Splits a script into simple commands.
pub(crate) fn split(script: &str) -> Vec<SimpleCommand> {
    let mut lexer = Lexer::new(&script[..script.floor_char_boundary(MAX_SCRIPT_BYTES)]);
    let mut parts = Vec::new();
    let mut part = SimpleCommand::new(Separator::And);
    let mut depth: usize = 0;
    while let Some(token) = lexer.token() {
        part.depth = depth;
        match token {
            Token::Subshell { opens } => {
                push(&mut parts, std::mem::replace(&mut part, SimpleCommand::new(Separator::Then)));
                depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
            }
            Token::Word(word) => part.words.push(word),
            Token::Here(text) => part.here = text,
            Token::Write(path) => part.writes.push(path),
            Token::Separator(join) => push(&mut parts, std::mem::replace(&mut part, SimpleCommand::new(join))),
            Token::Background => {
                part.background = true;
                push(&mut parts, std::mem::replace(&mut part, SimpleCommand::new(Separator::Then)));
            }
        }
        if parts.len() >= MAX_COMMANDS {
            return parts;
        }
    }
    part.depth = depth;
    push(&mut parts, part);
    parts
}

/// Returns the folder that a script is in when each of its commands runs, relative to where it began. `None` if it
/// cannot be told. A folder that a subshell or a part of a pipeline enters is left again.
pub(crate) fn folders(parts: &[SimpleCommand]) -> Vec<Option<PathBuf>> {
    let mut stack = vec![Some(PathBuf::new())];
    let mut folders = Vec::with_capacity(parts.len());
    for (at, part) in parts.iter().enumerate() {
        let outer = stack.last().cloned().flatten();
        stack.resize(part.depth + 1, outer);
        let Some(folder) = stack.last_mut() else { continue };
        folders.push(folder.clone());
        let is_piped =
            part.join == Separator::Pipe || parts.get(at + 1).is_some_and(|next| next.join == Separator::Pipe);
        if !is_piped && matches!(part.program(), "cd" | "pushd" | "popd") {
            let to = part.verb();
            let is_known = part.program() != "popd" && !to.is_empty() && !to.starts_with(['~', '-', '$', '`']);
            *folder = folder.take().filter(|_| is_known || to.starts_with('/')).map(|folder| folder.join(to));
        }
    }
    folders
}

/// Adds a command unless it is empty without its wrappers.
fn push(parts: &mut Vec<SimpleCommand>, mut part: SimpleCommand) {
    part.words = unwrapped(std::mem::take(&mut part.words));
    if part.words.is_empty() {
        return;
    }
    if parts.is_empty() {
        part.join = Separator::And;
    }
    // After `set -e`, every failure ends the script.
    let strict = parts.iter().any(|part| part.program() == "set" && part.args().any(|word| word.starts_with("-e")));
    if strict && part.join == Separator::Then {
        part.join = Separator::And;
    }
    parts.push(part);
}

/// Strips what precedes a command: variables, `sudo`, `timeout 5`, a shell keyword.
fn unwrapped(words: Vec<String>) -> Vec<String> {
    let mut rest = words.as_slice();
    loop {
        let Some((first, after)) = rest.split_first() else { return Vec::new() };
        let skipped = match first.as_str() {
            "if" | "then" | "else" | "elif" | "while" | "until" | "do" | "!" | "{" | "}" | "fi" | "done" => 0,
            "time" | "nohup" | "command" | "exec" | "builtin" | "sudo" | "doas" | "env" | "stdbuf" | "nice"
            | "ionice" => options(after),
            "timeout" => (options(after) + 1).min(after.len()),
            word if is_assignment(word) => 0,
            _ => return rest.to_vec(),
        };
        rest = &after[skipped..];
    }
}

/// Counts the words that are options, including the number or the name that some of them take.
fn options(words: &[String]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).filter(|word| word.starts_with('-')) {
        let takes = matches!(word.as_str(), "-n" | "-u" | "-g" | "-c" | "-k" | "-s");
        count += if takes { 2 } else { 1 };
    }
    count.min(words.len())
}

/// Returns whether a word sets a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.trim_end_matches('+').bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// The commands that the exit code of a script covers.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct CoveredCommands {
    /// The commands that all succeeded if the script did.
    pub(crate) commands: Vec<String>,
    /// Whether the output of one was piped into another, so that its own exit code is lost.
    pub(crate) piped: bool,
}

/// Returns the commands that the exit code covers: the last one, and those it depends on.
pub(crate) fn covered_commands(parts: &[SimpleCommand]) -> CoveredCommands {
    let from = parts.iter().rposition(|part| matches!(part.join, Separator::Then | Separator::Or)).unwrap_or(0);
    let pipefail = parts.iter().any(|part| part.program() == "set" && part.args().any(|word| word == "pipefail"));
    if parts.last().is_none_or(|part| part.background) {
        return CoveredCommands::default();
    }
    let main_commands = main_commands(&parts[from..]);
    let piped = !pipefail && main_commands.iter().any(|(_, piped)| *piped);
    CoveredCommands { commands: main_commands.into_iter().map(|(command, _)| command).collect(), piped }
}

/// Returns the subject of a script: its commands, without those that only prepare, filter or print messages.
pub(crate) fn subject(parts: &[SimpleCommand]) -> String {
    let main_commands: Vec<String> = main_commands(parts).into_iter().map(|(command, _)| command).collect();
    line(&main_commands.join(" && "), MAX_SUBJECT_BYTES)
}

/// Returns the main commands, each with whether others filter its output.
fn main_commands(parts: &[SimpleCommand]) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let end = parts[at + 1..]
            .iter()
            .position(|part| part.join != Separator::Pipe)
            .map_or(parts.len(), |next| at + 1 + next);
        let pipe = &parts[at..end];
        at = end;
        let place = pipe.iter().position(|part| !part.is_source()).unwrap_or(0);
        let part = &pipe[place];
        if !part.is_auxiliary() {
            found.push((line(&part.text(), MAX_SUBJECT_BYTES), place + 1 < pipe.len()));
        }
    }
    found
}

#[cfg(test)]
mod tests;
