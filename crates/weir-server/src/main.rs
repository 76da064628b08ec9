//! The program of a team's server: creates teams, issues and revokes tokens, and serves their notes and records.
//!
//! Invariant: what it does is in the crates below; here are its command line, its places and its signals.

mod command_line;
mod delete;
mod migrate;
mod serving;
mod storage;
mod texts;
mod tokens;
mod traces;

use std::io::Write as _;
use std::process::ExitCode;

use clap::ArgMatches;
use weir_host::answer::Answer;
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
    let env = Env::capture().map_err(|error| {
        CommandError::new(ErrorKind::Failed, format!("cannot use the current folder: {error}"))
            .hint("cd to a folder that exists")
    })?;
    if name == command_line::SERVE {
        return serving::serve(&env, arguments).map(|()| ExitCode::SUCCESS);
    }
    let answer = tokens::run(&env, name, arguments)?;
    print(&answer, arguments.get_flag("json"))?;
    Ok(if answer.found { ExitCode::SUCCESS } else { ExitCode::from(ErrorKind::NotFound.exit_code()) })
}

/// Prints an answer for a person, or as JSON. A closed pipe (`| head`) is not an error.
fn print(answer: &Answer, is_json: bool) -> Result<(), CommandError> {
    paint::clear_progress();
    let printed = if is_json {
        let text = serde_json::to_string_pretty(&answer.data).unwrap_or_default();
        writeln!(std::io::stdout(), "{}", paint::safe_json(&text))
    } else {
        paint::print(&answer.text, &[], Reader::Person)
    };
    match printed {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(CommandError::new(ErrorKind::Failed, format!("cannot write the answer: {error}")))
        }
        _ => Ok(()),
    }
}
