//! Decides which commands may be brokered. Invariant: unknown commands are refused.
//!
//! For each program there is a short list of commands that may be brokered. They only read, or write only to the
//! service. A list of forbidden commands would be longer, and outdated with the next version of the program: all five
//! have plugins, aliases or hundreds of commands. The following is refused whatever the command:
//!
//! - Commands that reveal a credential, or open a shell, a tunnel or a way to files.
//! - Options that select another account, profile, context, server or configuration. The model chooses what to ask; the
//!   user chooses the identity.
//! - Options that read files or start programs outside the sandbox, where nothing is masked.
//!
//! Most entries in [`Program::refused`] would be refused anyway and only give the user a reason. Some do refuse: they
//! are exceptions to a rule that covers many commands, such as `describe-…` of `aws` and `describe` of `gcloud`.

use std::ffi::OsString;

mod aws;
mod docker;
mod gcloud;
mod gh;
mod kubectl;

const PROGRAMS: &[Program] = &[gh::GH, aws::AWS, gcloud::GCLOUD, kubectl::KUBECTL, docker::DOCKER];

struct Program {
    name: &'static str,
    /// Options with a value that may come before the command or between its words.
    globals: &'static [&'static str],
    /// Options without a value that may come there.
    switches: &'static [&'static str],
    /// Classifies the words of a command.
    command: fn(&[&str]) -> Match,
    /// Commands and command prefixes that are refused, each with the reason.
    refused: &'static [(&'static str, &'static str)],
    /// Options that are refused in any position, each with the reason.
    options: &'static [(&'static str, &'static str)],
    /// Whether long options may be abbreviated.
    abbreviates: bool,
    /// The letters of short options that take a value in every brokered command, so the rest of the word is not an
    /// option.
    valued: &'static str,
    /// Returns why a brokered command is refused for its arguments, given the words of the command and all arguments.
    arguments: fn(&[&str], &[&str]) -> Option<&'static str>,
}

/// What the words so far are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Match {
    /// A command that may be brokered.
    Command,
    Beginning,
    Nothing,
}

/// Why a command is not brokered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Refusal {
    /// The reason, shown to the user and the model.
    pub why: String,
}

pub fn programs() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

/// Checks whether a program may run with these arguments, if the policy grants it.
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

/// Returns whether the user's environment variable may be passed to a program. A region becomes part of the name of the
/// server that `aws` contacts, so it must have the form of a region.
pub fn may_have(name: &str, value: &str) -> bool {
    !matches!(name, "AWS_REGION" | "AWS_DEFAULT_REGION") || aws::is_region(value)
}

/// Returns the words of the command, without the options before and between them.
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

fn reason(program: &Program, word: &str) -> Option<&'static str> {
    program.options.iter().find(|(option, _)| is_option(program, word, option)).map(|(_, why)| *why)
}

/// Returns whether the word is this option, alone or with its value, abbreviated or in a cluster of short options.
fn is_option(program: &Program, word: &str, option: &str) -> bool {
    if let Some(long) = word.strip_prefix("--") {
        let long = long.split('=').next().unwrap_or_default();
        let Some(option) = option.strip_prefix("--") else { return false };
        return option == long || (program.abbreviates && !long.is_empty() && option.starts_with(long));
    }
    let letter = option.strip_prefix('-').and_then(|letter| letter.chars().next());
    letter.is_some_and(|letter| letter != '-' && has_letter(program.valued, word, letter))
}

/// Returns whether the word is a cluster of short options that contains `letter`. A letter in the value of another
/// option may count too; refusing it is safe.
fn has_letter(valued: &str, word: &str, letter: char) -> bool {
    let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    letters
        .chars()
        .take_while(|other| *other == letter || !(valued.contains(*other) || *other == '='))
        .any(|other| other == letter)
}

/// Returns the values of an option, each given as the next word, after `=`, or right after its letter.
fn values_of<'a>(program: &Program, words: &[&'a str], option: &str) -> Vec<&'a str> {
    let letter = option.chars().nth(1).unwrap_or_default();
    let given = words.iter().enumerate().filter(|(_, word)| is_option(program, word, option));
    let value = |(at, word): (usize, &&'a str)| {
        let attached = if word.starts_with("--") {
            word.split_once('=').map(|(_, value)| value)
        } else {
            let rest = word.split_once(letter).map(|(_, rest)| rest).filter(|rest| !rest.is_empty());
            rest.map(|rest| rest.strip_prefix('=').unwrap_or(rest))
        };
        attached.unwrap_or_else(|| words.get(at + 1).copied().unwrap_or_default())
    };
    given.map(value).collect()
}

/// Returns whether the words are in a list of commands, or begin one.
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

/// Accepts all arguments, for programs whose arguments need no check.
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

/// Returns every entry of [`Program::refused`], for a test that all of them are refused.
#[cfg(test)]
pub(super) fn every_refusal() -> impl Iterator<Item = (&'static str, String)> {
    PROGRAMS.iter().flat_map(|program| program.refused.iter().map(|(said, _)| (program.name, (*said).to_owned())))
}

/// Returns every entry of [`Program::options`], with a command that is accepted without it.
#[cfg(test)]
pub(super) fn every_option() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let fine = |name| every_command().find(|(program, _)| *program == name).map_or("", |(_, command)| command);
    let lines = |program: &'static Program| program.options.iter().map(move |(option, _)| (program.name, *option));
    PROGRAMS.iter().flat_map(lines).map(move |(program, option)| (program, option, fine(program)))
}

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
