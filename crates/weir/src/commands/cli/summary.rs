//! What `weir -h` prints: the commands that are used most, on one screen.

use std::ffi::OsString;

use super::order::without_folder;

/// The summary. `weir --help` describes all of it.
pub(super) const SUMMARY: &str = "\
A context layer for AI coding agents: runs code, holds back output, keeps notes.

Usage: weir [OPTIONS] [COMMAND]

Set up:
  setup, teardown     connect your clients to Weir, or disconnect them
  doctor, config      check everything and say how to fix it; show the settings
  off, on             turn Weir off in a project or everywhere, and on again
Run and read:
  run, batch, runs    run commands in a sandbox; list those in the background
  get, history        read an entry by its reference; list what happened
  map, outline        show the project's main files, or what a file declares
Remember and find:
  note, notes         store a note; list the notes and which are out of date
  index, fetch        make files and web pages searchable
  search, forget      search everything that is stored; remove some of it
See what it saves:
  demo, replay        see what it does in an example, or in your past sessions
  stats, ui           count what was held back; browse all of it

Options: --json prints JSON, -C FOLDER starts there, -V prints the version

weir alone shows the next step. weir --help lists all commands, and
weir COMMAND --help describes one of them, with examples.
";

/// Whether the arguments ask for the summary: `-h` without a command.
pub(super) fn is_asked_for(arguments: &[OsString]) -> bool {
    without_folder(arguments).find(|word| *word != "--json").is_some_and(|word| word == "-h")
}

#[cfg(test)]
mod tests {
    use super::super::command;
    use super::*;

    fn check(arguments: &[&str], expected: bool) {
        let arguments: Vec<OsString> = ["weir"].iter().chain(arguments).map(OsString::from).collect();
        assert_eq!(is_asked_for(&arguments), expected, "{arguments:?}");
    }

    #[test]
    fn only_the_short_option_without_a_command_asks_for_the_summary() {
        check(&["-h"], true);
        check(&["--json", "-C", "run", "-h"], true);
        check(&["-C/tmp", "--folder=/tmp", "-h"], true);
        check(&["--help"], false);
        check(&["run", "-h"], false);
        check(&["--", "-h"], false);
        check(&[], false);
    }

    #[test]
    fn the_summary_fits_a_screen_and_names_commands_that_exist() {
        assert!(SUMMARY.lines().count() <= 24 && SUMMARY.lines().all(|line| line.chars().count() <= 80));
        let command = command();
        let lines = SUMMARY.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
        let names: Vec<&str> = lines.flat_map(|(names, _)| names.split(", ")).collect();
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            assert!(command.find_subcommand(name).is_some(), "{name}");
        }
    }
}
