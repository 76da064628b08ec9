//! Shell commands as far as events need them: the simple commands of a script, what their exit code speaks for, and the
//! words by which two tries of the same thing are known as the same.
//!
//! This decides nothing about safety: what cannot be understood is left as it is. The policy has a real parser.

mod lexer;

use lexer::{Lexer, Token};
use weir_core::event::line;

/// How much of a script is looked at.
const MOST_BYTES: usize = 16 << 10;
/// How many commands of it.
const MOST_PARTS: usize = 64;
/// How long a subject may be.
const LONGEST_SUBJECT: usize = 240;

/// A simple command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its words without their quotes; without redirections, variables set for it, and what only wraps it.
    pub(crate) words: Vec<String>,
    /// How it follows on the one before.
    pub(crate) join: Join,
    /// The text that was given to it in place.
    pub(crate) here: String,
    /// The files that its output goes to.
    pub(crate) writes: Vec<String>,
    /// Whether nobody waits for it, so that no exit code speaks of it.
    background: bool,
}

/// How a command follows on the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// If that succeeded, or as the first.
    And,
    /// If that failed.
    Or,
    /// In any case.
    Then,
    /// With its output.
    Pipe,
}

impl Part {
    /// The program.
    pub(crate) fn program(&self) -> &str {
        let word = self.words.first().map_or("", String::as_str);
        word.rsplit('/').next().unwrap_or(word)
    }

    /// The words after the program.
    pub(crate) fn args(&self) -> impl Iterator<Item = &str> + Clone {
        self.words.iter().skip(1).map(String::as_str)
    }

    /// The first word after the program that is no option.
    pub(crate) fn verb(&self) -> &str {
        self.args().find(|word| !word.starts_with('-')).unwrap_or_default()
    }

    fn new(join: Join) -> Self {
        Self { words: Vec::new(), join, here: String::new(), writes: Vec::new(), background: false }
    }

    fn text(&self) -> String {
        self.words.join(" ")
    }

    /// Whether it only prepares for others or talks.
    pub(crate) fn is_aside(&self) -> bool {
        let asides =
            ["cd", "echo", "printf", "export", "source", ".", "set", "true", ":", "sleep", "pushd", "popd", "unset"];
        asides.contains(&self.program())
    }

    /// Whether it gives a text to the one after it, and so is not what a pipe is about.
    fn is_source(&self) -> bool {
        ["echo", "printf", "cat", "yes"].contains(&self.program())
    }
}

/// The simple commands of a script.
pub(crate) fn split(script: &str) -> Vec<Part> {
    let mut lexer = Lexer::new(&script[..script.floor_char_boundary(MOST_BYTES)]);
    let mut parts = Vec::new();
    let mut part = Part::new(Join::And);
    while let Some(token) = lexer.token() {
        match token {
            Token::Word(word) => part.words.push(word),
            Token::Here(text) => part.here = text,
            Token::Write(path) => part.writes.push(path),
            Token::Join(join) => push(&mut parts, std::mem::replace(&mut part, Part::new(join))),
            Token::Background => {
                part.background = true;
                push(&mut parts, std::mem::replace(&mut part, Part::new(Join::Then)));
            }
        }
        if parts.len() >= MOST_PARTS {
            return parts;
        }
    }
    push(&mut parts, part);
    parts
}

/// Keeps a command that is one once its wrapping is off.
fn push(parts: &mut Vec<Part>, mut part: Part) {
    part.words = unwrapped(std::mem::take(&mut part.words));
    if part.words.is_empty() {
        return;
    }
    if parts.is_empty() {
        part.join = Join::And;
    }
    // After this every failure ends the script.
    let strict = parts.iter().any(|part| part.program() == "set" && part.args().any(|word| word.starts_with("-e")));
    if strict && part.join == Join::Then {
        part.join = Join::And;
    }
    parts.push(part);
}

/// The words of a command without what is put before it: variables, `sudo`, `timeout 5`, a keyword of the shell.
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

/// How many of the words are options, with the number or the name that some take.
fn options(words: &[String]) -> usize {
    let mut count = 0;
    while let Some(word) = words.get(count).filter(|word| word.starts_with('-')) {
        let takes = matches!(word.as_str(), "-n" | "-u" | "-g" | "-c" | "-k" | "-s");
        count += if takes { 2 } else { 1 };
    }
    count.min(words.len())
}

/// Whether a word sets a variable.
pub(crate) fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.trim_end_matches('+').bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// What the exit code of a script speaks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// The commands that all succeeded if the script did.
    pub(crate) commands: Vec<String>,
    /// Whether the output of one went through another, so that its own exit code is lost.
    pub(crate) piped: bool,
}

/// The commands that the exit code speaks for: the last one, and those that it needed.
pub(crate) fn spoken(parts: &[Part]) -> Spoken {
    let from = parts.iter().rposition(|part| matches!(part.join, Join::Then | Join::Or)).unwrap_or(0);
    let pipefail = parts.iter().any(|part| part.program() == "set" && part.args().any(|word| word == "pipefail"));
    if parts.last().is_none_or(|part| part.background) {
        return Spoken::default();
    }
    let mains = mains(&parts[from..]);
    let piped = !pipefail && mains.iter().any(|(_, piped)| *piped);
    Spoken { commands: mains.into_iter().map(|(command, _)| command).collect(), piped }
}

/// The words by which a script is known: its commands without what only prepares, filters or talks.
pub(crate) fn subject(parts: &[Part]) -> String {
    let mains: Vec<String> = mains(parts).into_iter().map(|(command, _)| command).collect();
    line(&mains.join(" && "), LONGEST_SUBJECT)
}

/// The commands that matter, each with whether it is filtered by others.
fn mains(parts: &[Part]) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = Vec::new();
    let mut at = 0;
    while at < parts.len() {
        let end =
            parts[at + 1..].iter().position(|part| part.join != Join::Pipe).map_or(parts.len(), |next| at + 1 + next);
        let pipe = &parts[at..end];
        at = end;
        let place = pipe.iter().position(|part| !part.is_source()).unwrap_or(0);
        let part = &pipe[place];
        if !part.is_aside() {
            found.push((line(&part.text(), LONGEST_SUBJECT), place + 1 < pipe.len()));
        }
    }
    found
}

#[cfg(test)]
mod tests;
