//! Parses the command line, with options anywhere on it.
//!
//! `weir run` and `weir policy check` take the words of another command, whose options are its own. If the first word
//! is a whole script, with blanks in it, no words of a command can follow, so what follows are options of Weir.

use std::ffi::OsString;

use clap::{ArgMatches, Command};

pub(super) fn parse(command: fn() -> Command, arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let arguments = &json_first(arguments);
    let matches = command().try_get_matches_from(arguments)?;
    let Some(ordered) = options_first(arguments, &words(&matches)) else { return Ok(matches) };
    let other = command().try_get_matches_from(ordered)?;
    // An option that Weir does not have would be taken for the script.
    Ok(if words(&other).len() == 1 { other } else { matches })
}

/// Returns the arguments with a last `--json` first, if they ask for a verdict: `weir policy check ls --json` is about
/// `ls`. Behind `--`, everything belongs to the command.
fn json_first(arguments: &[OsString]) -> Vec<OsString> {
    let mut ordered = arguments.to_vec();
    let is_check = is_named(arguments, "policy") && !arguments.iter().any(|word| word == "--");
    if is_check && arguments.last().is_some_and(|word| word == "--json") {
        ordered.rotate_right(1);
        ordered.swap(0, 1);
    }
    ordered
}

pub(super) fn is_named(arguments: &[OsString], command: &str) -> bool {
    without_folder(arguments)
        .find(|word| !word.as_encoded_bytes().starts_with(b"-"))
        .is_some_and(|word| word == command)
}

/// Returns the arguments after the program's name, without the option that names a folder.
pub(super) fn without_folder(arguments: &[OsString]) -> impl Iterator<Item = &OsString> {
    let mut words = arguments.iter().skip(1);
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            let text = word.as_encoded_bytes();
            if word == "-C" || word == "--folder" {
                words.next();
            } else if !text.starts_with(b"-C") && !text.starts_with(b"--folder=") {
                return Some(word);
            }
        }
    })
}

/// Returns the words of the command that Weir is given.
fn words(matches: &ArgMatches) -> Vec<String> {
    let (of, id) = match matches.subcommand() {
        Some(("run", run)) => (run, "code"),
        Some(("policy", policy)) => match policy.subcommand() {
            Some((_, check)) => (check, "command"),
            None => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    of.try_get_many::<String>(id).ok().flatten().into_iter().flatten().cloned().collect()
}

/// Returns the arguments with the options after a script before it, if that is how they are meant.
fn options_first(arguments: &[OsString], words: &[String]) -> Option<Vec<OsString>> {
    let (script, options) = words.split_first()?;
    let is_script = script.contains(char::is_whitespace);
    if !is_script || !options.first().is_some_and(|word| word.starts_with('-')) {
        return None;
    }
    let (before, given) = arguments.split_at_checked(arguments.len().checked_sub(words.len())?)?;
    let is_explicit = before.last().is_some_and(|word| word == "--");
    if is_explicit || given.first().is_none_or(|word| word != script.as_str()) {
        return None;
    }
    let mut ordered = before.to_vec();
    ordered.extend(options.iter().map(OsString::from));
    ordered.extend([OsString::from("--"), OsString::from(script)]);
    Some(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(arguments: &[&str], words: &[&str], expected: Option<&[&str]>) {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let ordered = options_first(&arguments, &own(words));
        let ordered: Option<Vec<String>> =
            ordered.map(|words| words.iter().map(|word| word.to_string_lossy().into_owned()).collect());
        assert_eq!(ordered, expected.map(own), "{arguments:?}");
    }

    #[test]
    fn a_folder_is_not_a_command() {
        let named = |arguments: &[&str]| is_named(&arguments.iter().map(OsString::from).collect::<Vec<_>>(), "run");
        assert!(named(&["weir", "--json", "-C", "get", "run"]) && named(&["weir", "run", "get"]));
        assert!(!named(&["weir", "-C", "run", "get"]) && !named(&["weir", "--folder", "run"]));
    }

    #[test]
    fn a_verdict_as_json_is_about_the_command_without_the_option() {
        for (given, expected) in [
            (["weir", "policy", "check", "ls", "--json"], ["weir", "--json", "policy", "check", "ls"]),
            (["weir", "policy", "check", "--", "--json"], ["weir", "policy", "check", "--", "--json"]),
            (["weir", "run", "ls", "-l", "--json"], ["weir", "run", "ls", "-l", "--json"]),
        ] {
            assert_eq!(json_first(&given.map(OsString::from)), expected.map(OsString::from));
        }
    }

    #[test]
    fn options_after_a_script_are_of_weir_and_those_of_a_command_its_own() {
        let script = ["weir", "run", "echo hi", "--json"];
        check(&script, &["echo hi", "--json"], Some(&["weir", "run", "--json", "--", "echo hi"]));
        check(&["weir", "run", "ls", "--json"], &["ls", "--json"], None);
        check(&["weir", "run", "--", "my tool", "--json"], &["my tool", "--json"], None);
        check(&["weir", "run", "echo hi"], &["echo hi"], None);
    }
}
