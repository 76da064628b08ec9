//! The program of a team's server: creates teams, issues and revokes tokens, and serves their notes and records.
//!
//! Invariant: what it does is in the crates below; here are its command line, its places and its signals.

mod audit;
mod cells;
mod command_line;
mod database;
mod delete;
mod erase;
mod failure;
mod migrate;
mod serving;
mod storage;
mod texts;
mod tokens;
mod traces;

use std::process::ExitCode;

use clap::ArgMatches;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Reader;
use weir_host::paint;

fn main() -> ExitCode {
    weir_runner::survive_file_size_limit();
    let matches = command_line::command().get_matches();
    match run(&matches) {
        Ok(code) => code,
        Err(error) => {
            paint::show_error(&error);
            ExitCode::from(error.kind.exit_code())
        }
    }
}

fn run(matches: &ArgMatches) -> Result<ExitCode, CommandError> {
    let Some((name, arguments)) = matches.subcommand() else { return Err(CommandError::usage("no command")) };
    let env = Env::capture()?;
    if name == command_line::SERVE {
        return serving::serve(&env, arguments).map(|()| ExitCode::SUCCESS);
    }
    let answer = tokens::run(&env, name, arguments)?;
    paint::clear_progress();
    let printed = match arguments.get_flag("json") {
        true => paint::print_json(&answer.data),
        false => paint::print(&answer.text, &[], Reader::Person),
    };
    let printed = paint::written(printed)?;
    Ok(if answer.found { printed } else { ExitCode::from(ErrorKind::NotFound.exit_code()) })
}
