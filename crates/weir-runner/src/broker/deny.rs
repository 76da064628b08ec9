//! What is never brokered. Invariant: what is not known is refused.
//!
//! For each program there is a short list of commands that may be brokered, and they only read, or write to nothing but
//! the service. A list of what is forbidden would be longer and would be wrong with the next version of the program: all
//! five have plugins, aliases or hundreds of commands. Refused are, whatever the command:
//!
//! - what hands out a credential, or opens a shell, a tunnel or a way to files;
//! - options that choose who asks or whom: another account, profile, context, server or configuration. What is asked is
//!   the model's choice; the identity is the user's;
//! - options that read files or start programs outside the sandbox, where nothing is masked.
//!
//! Where a word is spelled out in [`Program::refused`], it is for the reason that the user is told, not for the refusal.

use std::ffi::OsString;

mod aws;
mod docker;
mod gcloud;
mod gh;
mod kubectl;

/// Every program that can be brokered.
const PROGRAMS: &[Program] = &[gh::GH, aws::AWS, gcloud::GCLOUD, kubectl::KUBECTL, docker::DOCKER];

/// A program with credentials of its own.
struct Program {
    name: &'static str,
    /// Options with a value that may stand before the command, or between its words.
    globals: &'static [&'static str],
    /// The same without a value.
    switches: &'static [&'static str],
    /// Whether these words are a command that may be brokered.
    command: fn(&[&str]) -> Match,
    /// Words that commands begin with, and why they are refused.
    refused: &'static [(&'static str, &'static str)],
    /// Options that are refused wherever they stand, and why.
    options: &'static [(&'static str, &'static str)],
    /// Whether long options may be abbreviated.
    abbreviates: bool,
    /// The letters of short options that take a value in every command above, so that what follows is no option.
    valued: &'static str,
    /// Why a command that may be brokered is refused for its arguments: the words of the command, and all arguments.
    arguments: fn(&[&str], &[&str]) -> Option<&'static str>,
}

/// What the words so far are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// A command that may be brokered.
    Command,
    /// The beginning of one.
    Beginning,
    Nothing,
}

/// Why something is not brokered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// The reason, for the user and the model.
    pub why: String,
}

/// The names of the programs that can be brokered.
pub fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

/// Whether a program may be run with these arguments, if the policy grants it.
pub fn check(program: &str, arguments: &[OsString]) -> Result<(), Refusal> {
    let refused = |why: String| Err(Refusal { why });
    let Some(known) = PROGRAMS.iter().find(|known| known.name == program) else {
        return refused(format!("`{}` is not a brokered program", program.escape_default()));
    };
    let words: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
    let Some(words) = words else { return refused("an argument is not valid text".to_owned()) };
    let command = command_of(known, &words).map_err(|why| Refusal { why })?;
    for word in &words {
        if let Some((option, why)) = known.options.iter().find(|(option, _)| is_option(known, word, option)) {
            return refused(format!("{program} is not run with `{option}`: {why}"));
        }
    }
    match (known.arguments)(&command, &words) {
        Some(why) => refused(format!("{program} is not run with these arguments: {why}")),
        None => Ok(()),
    }
}

/// Whether a program may have this variable of the user's: a region is a part of the name of the server that it asks.
pub fn may_have(name: &str, value: &str) -> bool {
    !matches!(name, "AWS_REGION" | "AWS_DEFAULT_REGION") || aws::is_region(value)
}

/// The words of the command, past the options before and between them.
fn command_of<'a>(program: &Program, words: &[&'a str]) -> Result<Vec<&'a str>, String> {
    let name = program.name;
    let mut command: Vec<&str> = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if let Some(why) = reason(program, word) {
            return Err(format!("{name} is not run with `{word}`: {why}"));
        }
        if word.starts_with('-') {
            let is_global = |word: &str| program.globals.contains(&word);
            if is_global(word) {
                rest.next();
            } else if !word.split_once('=').is_some_and(|(option, _)| is_global(option))
                && !program.switches.contains(word)
            {
                return Err(format!("{name} is not run with `{}` before the command", word.escape_default()));
            }
            continue;
        }
        command.push(word);
        let said = command.join(" ");
        if let Some((_, why)) = program.refused.iter().find(|(refused, _)| *refused == said) {
            return Err(format!("`{name} {said}` is never brokered: {why}"));
        }
        match (program.command)(&command) {
            Match::Command => return Ok(command),
            Match::Beginning => {}
            Match::Nothing => {
                return Err(format!("`{name} {}` is not a brokered command", said.escape_default()));
            }
        }
    }
    match (&command[..], words) {
        ([], ["--version" | "--help"]) if program.switches.contains(&words[0]) => Ok(command),
        ([], _) => Err(format!("`{name}` alone is not a complete command")),
        _ => Err(format!("`{name} {}` is not a complete command", command.join(" "))),
    }
}

/// Why this option is refused wherever it stands.
fn reason(program: &Program, word: &str) -> Option<&'static str> {
    program.options.iter().find(|(option, _)| is_option(program, word, option)).map(|(_, why)| *why)
}

/// Whether the word is this option, alone or with its value, abbreviated or in a cluster of short ones.
fn is_option(program: &Program, word: &str, option: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or_default();
        let Some(option) = option.strip_prefix("--") else { return false };
        return option == long || (program.abbreviates && !long.is_empty() && option.starts_with(long));
    }
    let letter = option.strip_prefix('-').and_then(|letter| letter.chars().next());
    letter.is_some_and(|letter| letter != '-' && has_letter(program.valued, word, letter))
}

/// Whether the word is short options together, this one among them. The letter may also be in the value of another: it is
/// refused then too, which is safe.
fn has_letter(valued: &str, word: &str, letter: char) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    letters
        .chars()
        .take_while(|other| *other == letter || !(valued.contains(*other) || *other == '='))
        .any(|other| other == letter)
}

/// The values that an option is given, each as the next word, after `=`, or right after its letter.
fn values_of<'a>(program: &Program, words: &[&'a str], option: &str) -> Vec<&'a str> {
    let given = words.iter().enumerate().filter(|(_, word)| is_option(program, word, option));
    let value = |(at, word): (usize, &&'a str)| match word.split_once('=') {
        Some((_, value)) => value,
        None if !word.starts_with("--") && word.len() > 2 => &word[2..],
        None => words.get(at + 1).copied().unwrap_or_default(),
    };
    given.map(value).collect()
}

/// Whether the words are in a list of commands, or begin one.
fn listed(commands: &[&str], words: &[&str]) -> Match {
    let said = words.join(" ");
    if commands.contains(&said.as_str()) {
        Match::Command
    } else if commands.iter().any(|command| command.strip_prefix(said.as_str()).is_some_and(|end| end.starts_with(' ')))
    {
        Match::Beginning
    } else {
        Match::Nothing
    }
}

/// For programs whose arguments need no look of their own.
fn no_objection(_: &[&str], _: &[&str]) -> Option<&'static str> {
    None
}

const HANDS_OUT: &str = "it hands out credentials";
const IDENTITY: &str = "only the user chooses the account and the server";
const FILES: &str = "it reads or writes files outside the sandbox";
const STARTS: &str = "it starts programs outside the sandbox";
const SHELL: &str = "it gives access to another machine";
const ELSEWHERE: &str = "it contacts another server";
const STARTED_WITH: &str = "it prints the startup settings of machines, which may include credentials";
const REVEALS: &str = "it prints credentials with the requests";

/// Every line of [`Program::refused`], for the test that says it is refused.
#[cfg(test)]
pub(super) fn every_refusal() -> impl Iterator<Item = (&'static str, String)> {
    PROGRAMS.iter().flat_map(|program| program.refused.iter().map(|(said, _)| (program.name, (*said).to_owned())))
}

/// Every line of [`Program::options`], with a command that is fine without it.
#[cfg(test)]
pub(super) fn every_option() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let fine = |name| every_command().find(|(program, _)| *program == name).map_or("", |(_, command)| command);
    let lines = |program: &'static Program| program.options.iter().map(move |(option, _)| (program.name, *option));
    PROGRAMS.iter().flat_map(lines).map(move |(program, option)| (program, option, fine(program)))
}

/// Every command that is listed by its words.
#[cfg(test)]
pub(super) fn every_command() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lists = [
        ("gh", gh::COMMANDS),
        ("aws", aws::COMMANDS),
        ("gcloud", gcloud::COMMANDS),
        ("kubectl", kubectl::COMMANDS),
        ("docker", docker::COMMANDS),
    ];
    lists.into_iter().flat_map(|(program, commands)| commands.iter().map(move |command| (program, *command)))
}
