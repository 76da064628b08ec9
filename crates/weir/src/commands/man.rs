//! `weir man`: prints man pages, made from the declaration of the command line.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_mangen::Man;
use weir_host::error::{CommandError, ErrorKind};

pub(crate) const MAN: &str = "man";

pub(crate) fn command() -> Command {
    Command::new(MAN)
        .about("Print man pages")
        .after_long_help("Examples:\n  weir man run | man -l -\n  weir man --into ~/.local/share/man/man1")
        .arg(Arg::new("command").value_name("COMMAND").help("Command to describe [default: weir itself]"))
        .arg(
            Arg::new("into")
                .long("into")
                .value_name("FOLDER")
                .value_parser(value_parser!(PathBuf))
                .conflicts_with("command")
                .help("Write the pages of all commands to this folder"),
        )
}

/// Prints a page, or writes all of them. A path is relative to the folder that the command starts in, if one is given.
pub(crate) fn run(program: Command, arguments: &ArgMatches, start: Option<&Path>) -> Result<(), CommandError> {
    let cannot = |what: &str, error: std::io::Error| {
        CommandError::new(ErrorKind::Failed, format!("cannot write {what}: {error}"))
    };
    if let Some(folder) = arguments.get_one::<PathBuf>("into") {
        let folder = start.map_or_else(|| folder.clone(), |start| start.join(folder));
        return std::fs::create_dir_all(&folder)
            .and_then(|()| clap_mangen::generate_to(program, &folder))
            .map_err(|error| cannot(&folder.display().to_string(), error));
    }
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let page = match arguments.get_one::<String>("command") {
        Some(name) => program.find_subcommand(name).cloned().ok_or_else(|| {
            CommandError::usage(format!("unknown command `{name}`")).hint("`weir --help` lists the commands")
        })?,
        None => program,
    };
    let mut text = Vec::new();
    Man::new(page).render(&mut text).map_err(|error| cannot("the page", error))?;
    match std::io::stdout().write_all(&text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(cannot("the page", error)),
        _ => Ok(()),
    }
}
