//! Splits a shell script into every command that it could run, including those in wrappers and nested scripts.
//!
//! Invariant: input that is not understood is returned as [`Unclear`], never dropped. A syntax tree is not understood
//! if it contains unknown node kinds, or if its tokens do not account for every byte.

mod checks;
mod code;
mod gaps;
mod git;
mod globals;
mod heredocs;
mod kinds;
mod quotes;
mod sed;
mod unwrap;
mod variables;
mod walk;
mod words;
mod wrappers;
mod xargs;

use std::collections::HashSet;

pub(crate) use git::paths_shown as paths_shown_by_git;
pub(crate) use globals::without_globals;
pub use words::{Piece, Word};

/// Maximum length of a script. A longer one is not parsed and is [`Unclear`].
pub const MAX_CHARACTERS: usize = 10_000;

/// Maximum nesting depth of commands, substitutions and scripts.
pub const MAX_DEPTH: usize = 32;

/// Maximum number of commands in one script, including those inside wrappers.
pub const MAX_COMMANDS: usize = 2_000;

/// Maximum size of all commands together in bytes, which bounds the time to judge them.
const MAX_TOTAL_CHARACTERS: usize = 6 * MAX_CHARACTERS;

/// Everything that a script could run, as far as its text shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// Every simple command, with those inside a wrapper after the wrapper.
    pub commands: Vec<Command>,
    /// The parts that were not understood or not inspected.
    pub unclear: Vec<Unclear>,
}

/// One simple command: its name and its arguments, without assignments and redirections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Command {
    /// The name and the arguments; never empty.
    pub words: Vec<Word>,
    /// The wrappers around the command, outermost first: `env`, `bash -c`.
    pub inside: Vec<String>,
    /// The standard input of the command, if the script contains it.
    pub input: Option<String>,
}

impl Command {
    /// Returns the command as written, with one space between the words.
    pub fn source(&self) -> String {
        self.words.iter().map(Word::source).collect::<Vec<_>>().join(" ")
    }

    /// Returns the name, if it is known before the script runs.
    pub fn name(&self) -> Option<&str> {
        self.words.first().and_then(Word::literal)
    }

    /// Returns the last component of the name: `sudo` for `/usr/bin/sudo`.
    pub fn program(&self) -> Option<&str> {
        self.name().map(base_name)
    }
}

/// Returns the last component of a path in command position.
pub(crate) fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A part of a script whose effect its text does not show.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unclear {
    /// Why it is unclear.
    pub kind: UnclearKind,
    /// The part of the script, shortened.
    pub text: String,
    /// The explanation, as the rest of a sentence.
    pub why: String,
}

/// The reasons why a part of a script is unclear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnclearKind {
    /// The script, or a part of it, is not understood.
    Script,
    /// The name of a command is known only at run time.
    Name,
    /// Code that can start programs and cannot be inspected.
    Opaque,
}

/// Finds every command in a script.
pub fn split(script: &str) -> Split {
    let mut collector = Collector::default();
    collector.script(script, &[]);
    Split { commands: collector.commands, unclear: collector.unclear }
}

/// Returns the words of the script if it is one simple command of literal words and nothing else: no redirection,
/// assignment, expansion, second command or comment.
pub fn simple_literal(script: &str) -> Option<Vec<String>> {
    let found = walk::walk(script).ok()?;
    let [walk::ScriptPart::Command { words, .. }] = &found.found[..] else { return None };
    if !found.plain {
        return None;
    }
    words.iter().map(|word| word.literal().map(str::to_owned)).collect()
}

#[derive(Default)]
struct Collector {
    commands: Vec<Command>,
    unclear: Vec<Unclear>,
    seen: HashSet<Vec<Word>>,
    total: usize,
}

impl Collector {
    fn script(&mut self, script: &str, inside: &[String]) {
        if inside.len() > MAX_DEPTH {
            return self.unclear(UnclearKind::Script, script, "is nested too deep");
        }
        let walked = match walk::walk(script) {
            Ok(walked) => walked,
            Err(problem) => return self.unclear(UnclearKind::Script, &problem.text, problem.why),
        };
        for found in walked.found {
            match found {
                walk::ScriptPart::Command { words, input } => {
                    self.command(Command { words, inside: inside.to_vec(), input });
                }
                walk::ScriptPart::Script { text, inside: name } => {
                    let inside: Vec<String> = inside.iter().cloned().chain([name]).collect();
                    self.script(&text, &inside);
                }
                walk::ScriptPart::Unclear(kind, text, why) => self.unclear(kind, &text, why),
            }
        }
    }

    fn command(&mut self, command: Command) {
        if command.words.is_empty() || !self.seen.insert(command.words.clone()) {
            return;
        }
        self.total += command.words.iter().map(|word| word.source().len() + 1).sum::<usize>();
        if self.commands.len() >= MAX_COMMANDS || self.total > MAX_TOTAL_CHARACTERS || command.inside.len() > MAX_DEPTH
        {
            return self.unclear(UnclearKind::Script, &command.source(), "holds too many commands");
        }
        self.commands.push(command.clone());
        if command.name().is_none() {
            return self.unclear(UnclearKind::Name, &command.source(), "has a name that is only known when it runs");
        }
        for inner in unwrap::inner(&command) {
            if self.total > MAX_TOTAL_CHARACTERS {
                break;
            }
            let inside: Vec<String> =
                command.inside.iter().cloned().chain(command.program().map(str::to_owned)).collect();
            match inner {
                unwrap::CarriedCommand::Words(words) => {
                    self.command(Command { words, inside, input: command.input.clone() });
                }
                unwrap::CarriedCommand::Script(text) => self.script(&text, &inside),
                unwrap::CarriedCommand::Unclear(kind, why) => self.unclear(kind, &command.source(), why),
            }
        }
    }

    fn unclear(&mut self, kind: UnclearKind, text: &str, why: &str) {
        let unclear = Unclear { kind, text: shorten(text), why: why.to_owned() };
        if !self.unclear.contains(&unclear) && self.unclear.len() < MAX_COMMANDS {
            self.unclear.push(unclear);
        }
    }
}

/// Returns the beginning of a text on one line, for reports.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_SHOWN_CHARS: usize = 80;
    let line: String =
        text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(MAX_SHOWN_CHARS + 1).collect();
    if line.chars().count() > MAX_SHOWN_CHARS {
        line.chars().take(MAX_SHOWN_CHARS).chain(['…']).collect()
    } else {
        line
    }
}
