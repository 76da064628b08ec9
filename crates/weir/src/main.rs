//! The program's entry point. Invariant: latency-critical modes branch off here, before any setup they do not need.

mod active_runs;
mod context;
mod embedding;
mod engram;
mod faces;
mod fetching;
mod files;
mod hook;
mod identity;
mod importing;
mod indexing;
mod mapping;
mod metering;
mod moved;
mod needs;
mod operations;
mod outlining;
mod outputs;
mod permission;
mod projects;
mod references;
mod replay;
mod run;
mod schema;
mod semantic;
mod sessions;
mod setup;
mod staleness;
mod statusline;
mod team;
mod text;
mod window;

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_runner::survive_file_size_limit();
    // A run's helper is this program started again, and every run waits for it.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == weir_runner::HELPER => weir_runner::helper_main(arguments.next().as_deref()),
        Some(argument) if argument == hook::HOOK => hook::main(&arguments.collect::<Vec<_>>()),
        Some(argument) if argument == statusline::STATUSLINE && arguments.len() == 0 => statusline::main(),
        Some(argument) if argument == hook::rewrite::relay::RELAY => {
            hook::rewrite::relay::main(&arguments.collect::<Vec<_>>())
        }
        Some(argument) if argument == outlining::PARSER => outlining::parser_main(),
        Some(argument) if argument == run::STAND_IN => run::stand_in(&arguments.collect::<Vec<_>>()),
        Some(argument) if argument == run::background::KEEPER => run::background::keeper_main(),
        _ => faces::cli::run(),
    }
}
