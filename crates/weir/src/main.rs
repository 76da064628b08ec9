//! The program's entry point. Invariant: latency-critical modes branch off here, before any setup they do not need.

mod faces;
mod statusline;

use std::process::ExitCode;

fn main() -> ExitCode {
    weir_runner::survive_file_size_limit();
    // A run's helper is this program started again, and every run waits for it.
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(argument) if argument == weir_runner::HELPER => weir_runner::helper_main(arguments.next().as_deref()),
        Some(argument) if argument == weir_hook::HOOK => weir_hook::main(&arguments.collect::<Vec<_>>()),
        Some(argument) if argument == statusline::STATUSLINE && arguments.len() == 0 => statusline::main(),
        Some(argument) if argument == weir_hook::rewrite::relay::RELAY => {
            weir_hook::rewrite::relay::main(&arguments.collect::<Vec<_>>())
        }
        Some(argument) if argument == weir_files::outlining::PARSER => weir_files::outlining::parser_main(),
        Some(argument) if argument == weir_run::STAND_IN => weir_run::stand_in(&arguments.collect::<Vec<_>>()),
        Some(argument) if argument == weir_run::background::KEEPER => weir_run::background::keeper_main(),
        _ => faces::cli::run(),
    }
}
